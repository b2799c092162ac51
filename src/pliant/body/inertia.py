"""Mass, centre and inertia of a rigid body, and the same on four nodes."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant.body.body import Array
from pliant.checks import as_numbers, number
from pliant.errors import InputError
from pliant.shape import SurfaceMesh


@dataclass(frozen=True)
class Inertia:
    """The ten inertial numbers: mass [kg], centre (3,) [m], and the moments of inertia (3, 3) [kg m^2] about the centre along
    the axes of space."""

    mass: float
    center: Array
    moments: Array

    @classmethod
    def of_solid(cls, surface: SurfaceMesh, density: float) -> Inertia:
        """Of what a closed surface encloses, at a density [kg/m^3]: the sum over the tets between a point and the triangles.

        Of a tet with corners 0, a, b, c, with s = a + b + c: V = a . (b x c) / 6, int r = V s / 4, and
        int r r^T = V (s s^T + a a^T + b b^T + c c^T) / 20.
        """
        surface.require_closed()
        middle = surface.bounds.mean(axis=0)
        corners = surface.nodes[surface.triangles] - middle
        a, b, c = corners.transpose(1, 0, 2)
        volumes = np.einsum("ti,ti->t", a, np.cross(b, c)) / 6
        s = corners.sum(axis=1)
        mass = density * float(volumes.sum())
        if not mass > 0:
            raise InputError(
                f"the surface encloses {volumes.sum():.3g} m^3", remedy="turn it right side out: surface.oriented()"
            )
        center = density * (volumes @ s) / 4 / mass
        spread = np.einsum("t,ti,tj->ij", volumes, s, s) + np.einsum("t,tki,tkj->ij", volumes, corners, corners)
        second = density * spread / 20 - mass * np.outer(center, center)
        return cls(mass, middle + center, np.trace(second) * np.eye(3) - second)

    @classmethod
    def given(cls, mass: float, center: ArrayLike, inertia: ArrayLike) -> Inertia:
        """From user input: inertia is (3,) about x, y and z, or (3, 3)."""
        mass = number(mass, "mass", unit="kg", above=0.0)
        point, moments = as_numbers(center), as_numbers(inertia)
        if point.shape != (3,) or not np.isfinite(point).all():
            raise InputError(f"center is {center!r}", remedy="give three finite coordinates [m]")
        if moments.shape == (3,):
            moments = np.diag(moments)
        if moments.shape != (3, 3) or not np.isfinite(moments).all() or not np.allclose(moments, moments.T, rtol=1e-6):
            raise InputError(f"inertia is {inertia!r}", remedy="give (3,), or a symmetric (3, 3) [kg m^2]")
        return cls(mass, point, 0.5 * (moments + moments.T))

    @property
    def second(self) -> Array:
        """int r r^T dm about the centre (3, 3) [kg m^2]: J = tr(I) / 2 - I."""
        return np.asarray(0.5 * np.trace(self.moments) * np.eye(3) - self.moments)

    def require_real(self) -> None:
        """Refuse moments that no body has: one larger than the two others together, or none about an axis."""
        principal = np.linalg.eigvalsh(self.moments)
        if not principal[0] > 1e-9 * principal[-1]:
            raise InputError(
                f"the moments of inertia are {principal} kg m^2",
                remedy="a body that turns needs all three positive; a point mass is RigidBody(..., turns=False)",
            )
        if principal[-1] > (1 + 1e-9) * (principal[0] + principal[1]):
            raise InputError(
                f"the moments of inertia are {principal} kg m^2",
                remedy="of a real body the largest is at most the sum of the two others: check axes and units",
            )

    def on_frame(self, size: float) -> Array:
        """The scalar masses M_ab (4, 4) [kg] of a frame at the centre with tips at `size` [m] along x, y and z.

        A point of the body is p = sum_a w_a x_a, with w_i = r_i / size for the tips and the rest for the centre, so that
        M_ab = int w_a w_b dm gives the kinetic energy sum M_ab v_a . v_b / 2 of any motion of the whole, exactly.
        """
        M = np.empty((4, 4))
        M[1:, 1:] = self.second / size**2
        M[0, 1:] = M[1:, 0] = -M[1:, 1:].sum(axis=0)
        M[0, 0] = self.mass + M[1:, 1:].sum()
        return M
