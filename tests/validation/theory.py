"""Closed forms and small ordinary problems that the validation compares with, and loads as theory means them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.integrate import solve_bvp, trapezoid
from scipy.linalg import expm
from scipy.optimize import brentq

from pliant.shape import TetMesh, make


@dataclass(frozen=True)
class Beam:
    """A straight beam of rectangular section along x, bending in the xz plane; SI units."""

    length: float
    width: float
    height: float
    E: float
    nu: float
    density: float = 1000.0

    @property
    def area(self) -> float:
        return self.width * self.height

    @property
    def bending(self) -> float:
        """E I [N m^2]."""
        return self.E * self.width * self.height**3 / 12

    @property
    def shear(self) -> float:
        """k G A [N] with k = 10 (1 + nu) / (12 + 11 nu) (Cowper 1966, rectangle)."""
        return 10 * (1 + self.nu) / (12 + 11 * self.nu) * self.E / (2 * (1 + self.nu)) * self.area

    def mesh(self, along: int, through: int) -> TetMesh:
        """The beam with its axis on y = z = 0 and its root at x = 0."""
        return make.box(
            (self.length, self.width, self.height),
            (along, through, through),
            origin=(0, -self.width / 2, -self.height / 2),
        )

    def turned(self) -> Beam:
        """The same beam bending in the other plane."""
        return Beam(self.length, self.height, self.width, self.E, self.nu, self.density)

    def tip_deflection(self, force: float) -> float:
        """F L^3 / (3 E I) + F L / (k G A) [m] (Timoshenko)."""
        return force * self.length**3 / (3 * self.bending) + force * self.length / self.shear

    def elastica(self, force: float, weight: float) -> tuple[float, float, float]:
        """Reach, drop [m] and rotation [rad] of the tip under a dead force [N] at the tip and a weight [N/m], both down:
        E I theta'' = -(F + w (L - s)) cos theta, theta(0) = 0, theta'(L) = 0, theta downwards from the x axis."""
        scale = self.bending / self.length**2
        a, b = force / scale, weight * self.length / scale  # lengths in L from here on
        s = np.linspace(0, 1, 101)

        def slope(s, y):
            return np.array([y[1], -(a + b * (1 - s)) * np.cos(y[0])])

        solution = solve_bvp(slope, lambda y0, y1: np.array([y0[0], y1[1]]), s, np.zeros((2, len(s))), tol=1e-8)
        assert solution.success
        s = np.linspace(0, 1, 2001)
        theta = solution.sol(s)[0]
        return self.length * trapezoid(np.cos(theta), s), self.length * trapezoid(np.sin(theta), s), theta[-1]

    def frequencies(self, count: int) -> np.ndarray:
        """The first cantilever frequencies [Hz] of Timoshenko's beam (with shear and rotary inertia).

        With deflection w, rotation p, shear force Q = k G A (w' - p), moment M = E I p' and time factor exp(i om t):
        Q' = -rho A om^2 w, M' = -rho I om^2 p - Q. For y = (w, p, Q, M), y' = B(om) y, and the fixed-free conditions
        w = p = 0 at 0, Q = M = 0 at L ask for det exp(B L)[QM, QM] = 0.
        """
        length, scale = self.length, self.bending / self.length**2
        rho_A, rho_I = self.density * self.area, self.density * self.bending / self.E

        def determinant(f):
            squared = (2 * np.pi * f) ** 2
            # Lengths in L, forces in E I / L^2, so that the entries are of order one.
            B = np.array(
                [
                    [0, 1, scale / self.shear, 0],
                    [0, 0, 0, 1],
                    [-rho_A * squared * length**2 / scale, 0, 0, 0],
                    [0, -rho_I * squared / scale, -1, 0],
                ]
            )
            return np.linalg.det(expm(B)[2:, 2:])

        euler = 1.875104**2 / (2 * np.pi * length**2) * np.sqrt(self.bending / rho_A)
        grid = np.linspace(0.3, 40, 800) * euler
        values = np.array([determinant(f) for f in grid])
        changes = np.flatnonzero(values[1:] * values[:-1] < 0)[:count]
        return np.array([brentq(determinant, grid[k], grid[k + 1], rtol=1e-12) for k in changes])


def beam_root(mesh: TetMesh) -> list[tuple[np.ndarray, tuple[int, int, int]]]:
    """Supports that hold the section x = 0 as beam theory does, for `sliding`: plane, but free to change its shape.

    The section stays in its plane, its middle line at half height does not move up or down, and that at half width not
    sideways. A section that is glued cannot contract, which stiffens the root.
    """
    x, y, z = mesh.nodes.T
    root = np.isclose(x, 0.0)
    level, centre = root & np.isclose(z, 0.0), root & np.isclose(y, 0.0)
    return [(np.flatnonzero(m), n) for m, n in ((root, (1, 0, 0)), (level, (0, 0, 1)), (centre, (0, 1, 0)))]


def traction_points(mesh: TetMesh, inside, order: int) -> np.ndarray:
    """Points for a `Force` that is a uniform traction on the flat boundary where inside(points) says yes.

    The integral of a shape function over a triangle is a third of its area at the corners (order 1), or a third at the
    middles of the edges and nothing at the corners (order 2). All these triangles must be of one size.
    """
    corners = mesh.nodes[mesh.boundary_triangles()[0]]
    corners = corners[inside(corners.reshape(-1, 3)).reshape(-1, 3).all(axis=1)]
    areas = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    assert np.allclose(areas, areas[0])
    points = corners if order == 1 else (corners + np.roll(corners, 1, axis=1)) / 2
    return points.reshape(-1, 3)


def fitted_slope(sizes, errors) -> float:
    """Exponent p of error = c size^p, by least squares on logarithms."""
    return float(np.polyfit(np.log(sizes), np.log(errors), 1)[0])
