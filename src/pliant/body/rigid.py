"""The body that does not deform."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.body.body import Array, Body, Ids, Supports
from pliant.body.inertia import Inertia
from pliant.body.surface import NO_SURFACE, CarriedSurface
from pliant.checks import as_numbers, number, require_kind_of
from pliant.errors import InputError
from pliant.shape import SurfaceMesh
from pliant.shape.lattice_solid import inside_surface

WHOLE = "whole"
"""The name of the rigid part that a rigid body is."""


class RigidBody(Body):
    """A rigid body: a frame of four nodes, its centre of mass and three tips, that moves as one rigid part, "whole".

    Points of it, wherever they are, are carried by the four nodes with barycentric weights, exactly; so ports work on it as on
    any other body. The mass on the nodes is that of the body's ten inertial numbers (`Inertia.on_frame`).

    >>> import pliant as pl
    >>> ball = pl.RigidBody(pl.solids.sphere(0.02), density=1000.0)
    >>> round(ball.mass_total, 4)  # [kg]; 4/3 pi r^3 rho is 0.0335, and the surface has flat triangles
    0.0333
    """

    deforms: ClassVar[bool] = False

    def __init__(
        self,
        surface: SurfaceMesh | None = None,
        density: float | None = None,
        *,
        mass: float | None = None,
        center: ArrayLike | None = None,
        inertia: ArrayLike | None = None,
        turns: bool = True,
        fixed: bool = False,
        damping: float = 0.0,
    ) -> None:
        """A closed surface and a density [kg/m^3]; or mass [kg], center (3,) [m] and inertia about it, (3,) or (3, 3) [kg m^2],
        where a surface is only drawn.

        turns: False for a body that only shifts (a fingertip on a stage), which needs no inertia. fixed: held in space.
        damping: of velocities relative to the world [1/s], in proportion to mass.
        """
        self._surface = surface
        if surface is not None:
            require_kind_of(surface, "surface", SurfaceMesh)
        self.inertia = _inertia(surface, density, mass, center, inertia, turns)
        if turns and not fixed:
            self.inertia.require_real()
        spread = float(np.trace(self.inertia.second)) / self.inertia.mass
        around = 0.25 * float(surface.size.max()) if surface is not None else 0.0
        self.size = float(np.sqrt(spread)) if spread > 0 else (around or 1e-2)
        """Distance of the tips from the centre [m]: the radius of gyration."""
        self.rest = self.inertia.center + self.size * np.concatenate([np.zeros((1, 3)), np.eye(3)])
        ids = np.arange(4)
        self.supports = (
            Supports(fixed=ids) if fixed else Supports(rigid={WHOLE: ids}, unturned=frozenset(() if turns else {WHOLE}))
        )
        rows, cols = np.tril_indices(4)
        self.rows, self.cols = rows.astype(np.int64), cols.astype(np.int64)
        M = self.inertia.on_frame(self.size)
        self.mass_weights, self.load_masses = M[rows, cols], M.sum(axis=1)
        self.mass_damping, self.stiffness_damping = number(damping, "damping", unit="1/s", least=0.0), 0.0

    @property
    def mass_total(self) -> float:
        """Mass [kg]."""
        return self.inertia.mass

    def accumulate(self, x: Array, force: Array, blocks: Array, *, exact: float = 0.0, warped: float = 0.0) -> float:
        """See `Body.accumulate`: nothing strains."""
        return 0.0

    def embed(self, points: ArrayLike, max_distance: float | None = None) -> tuple[Ids, Array]:
        """See `Body.embed`: any point moves with the four nodes."""
        p = np.atleast_2d(as_numbers(points))
        if p.ndim != 2 or p.shape[1] != 3 or not np.isfinite(p).all():
            raise InputError(f"points have shape {p.shape}", remedy="give finite points (p, 3) [m]")
        tips = (p - self.rest[0]) / self.size
        weights = np.concatenate([1.0 - tips.sum(axis=1, keepdims=True), tips], axis=1)
        return np.tile(np.arange(4), (len(p), 1)), weights

    def contains(self, points: Array) -> NDArray[np.bool_]:
        """See `Body.contains`; without a surface, nothing is known to be inside."""
        if self._surface is None:
            return np.zeros(len(points), bool)
        return inside_surface(self._surface, points)

    def inverted_elements(self, x: Array) -> Ids:
        """See `Body.inverted_elements`: there are none."""
        return np.empty(0, np.int64)

    @property
    def outline(self) -> Array:
        """See `Body.outline`: of the surface, where there is one."""
        return self.rest if self._surface is None else np.asarray(self._surface.nodes)

    def surface(self) -> CarriedSurface:
        """See `Body.surface`: what was given, carried by the four nodes."""
        if self._surface is None:
            return NO_SURFACE
        return CarriedSurface(*self.embed(self._surface.nodes), self._surface.triangles.astype(np.int64))

    def __repr__(self) -> str:
        return f"RigidBody({self.mass_total:.4g} kg)"


def _inertia(
    surface: SurfaceMesh | None,
    density: float | None,
    mass: float | None,
    center: ArrayLike | None,
    inertia: ArrayLike | None,
    turns: bool,
) -> Inertia:
    given = [value is not None for value in (mass, center, inertia)]
    if density is not None:
        if surface is None or any(given):
            raise InputError(
                "a rigid body of a density needs a surface, and nothing else that weighs",
                remedy="give surface and density=, or mass=, center= and inertia=",
            )
        return Inertia.of_solid(surface, number(density, "density", unit="kg/m^3", above=0.0))
    if mass is None or center is None or (inertia is None and turns):
        raise InputError(
            "a rigid body without a density needs mass, centre and inertia",
            remedy="give mass=, center= and inertia=; one that does not turn (turns=False) needs no inertia",
        )
    return Inertia.given(mass, center, np.zeros(3) if inertia is None else inertia)
