"""Cantilever beams of springs: the first bending frequency beside tets and beam theories (clay2021, fig. 5).

A beam is told by its shape alone, L/H and W/H; cells are cubes, so many through the height. Bending up and down is symmetric
about the plane y = 0 and antisymmetric about z = 0, so a quarter of the beam has the same frequency: there the middle plane
keeps to itself (u_y = 0 on y = 0) and points at half height move up and down only (u_x = u_y = 0 on z = 0). A quarter
also has no sideways bending, which comes first in beams that are higher than wide.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.body import Body, SpringBody, TetBody
from pliant.material import Linear
from pliant.motion import natural_modes
from pliant.robot import Robot
from pliant.shape import Lattice, TetMesh, make

HEIGHT, MODULUS, DENSITY = 0.02, 1e5, 1000.0
"""Of all beams: height [m], Young's modulus [Pa] and density [kg/m^3]; ratios do not depend on them."""
NU = 0.25
"""Poisson's ratio of lattices of central springs, hence of the tets beside them."""
FINE = 8
"""Cells through the height."""
TETS = 4
"""Ten-node tets through the height of the reference."""


@dataclass(frozen=True)
class Beam:
    """A cantilever along x, clamped (glued) at x = 0, with L/H = slenderness and W/H = width."""

    slenderness: float
    width: float = 1.0

    @property
    def length(self) -> float:
        """L [m]."""
        return self.slenderness * HEIGHT

    def whole(self, through: int) -> SpringBody:
        """All of it as springs, its axis on y = z = 0, with so many cells through the height."""
        cells = self.cells(through)
        size = HEIGHT / through
        lattice = Lattice.block(cells, size, origin=(0.0, -cells[1] * size / 2, -HEIGHT / 2))
        return SpringBody(lattice, MODULUS, DENSITY, fixed=lattice.where(x_below=size / 4))

    def cells(self, through: int) -> tuple[int, int, int]:
        """Cells along x, y and z."""
        return round(self.slenderness * through), round(self.width * through), through


def lattice_frequency(beam: Beam, through: int = FINE) -> float:
    """First bending frequency [Hz] of the beam of springs: the eigenvalue of its lattice (of a quarter or, with an odd number
    of cells across, of the upper half)."""
    along, across, up = beam.cells(through)
    half = across % 2 == 0
    lattice = Lattice.block((along, across // 2 if half else across, up // 2), HEIGHT / through)
    return _first(SpringBody(lattice, MODULUS, DENSITY, **_symmetric(lattice, half)))


def tet_frequency(beam: Beam, through: int = TETS) -> float:
    """The same of ten-node tets with nu = 1/4."""
    counts = round(beam.slenderness * through), max(1, round(beam.width * through / 2)), through // 2
    mesh = make.box((beam.length, beam.width * HEIGHT / 2, HEIGHT / 2), counts)
    return _first(TetBody(mesh, Linear(E=MODULUS, nu=NU), density=DENSITY, order=2, **_symmetric(mesh, True)))


def _symmetric(shape: Lattice | TetMesh, half: bool) -> dict[str, Any]:
    """Supports of the part z > 0 of a beam, and y > 0 (half): glued at x = 0, symmetric in y, antisymmetric in z."""
    x, y, z = shape.nodes.T
    root = np.isclose(x, 0.0)
    level = np.flatnonzero(np.isclose(z, 0.0) & ~root)
    sliding: list[tuple[NDArray[Any], tuple[int, int, int]]] = [(level, (1, 0, 0)), (level, (0, 1, 0))]
    if half:
        sliding.append((np.flatnonzero(np.isclose(y, 0.0) & ~root), (0, 1, 0)))
    return {"fixed": np.flatnonzero(root), "sliding": sliding}


def _first(body: Body) -> float:
    return float(natural_modes(Robot(body), 1).frequencies[0])


def euler_bernoulli(beam: Beam) -> float:
    """1.8751^2 / (2 pi L^2) sqrt(E I / (rho A)) [Hz], with a mass density (the paper's g is there for a weight density)."""
    return float(1.87510407**2 / (2 * np.pi * beam.length**2) * np.sqrt(MODULUS / DENSITY / 12) * HEIGHT)


def timoshenko(beam: Beam) -> float:
    """First frequency [Hz] of a beam with shear and rotary inertia; it does not see the width either.

    Deflection w, rotation p, shear force Q = k G A (w' - p) and moment M = E I p' obey Q' = -rho A om^2 w and
    M' = -rho I om^2 p - Q; fixed and free ends ask for det exp(B L)[QM, QM] = 0 with (w, p, Q, M)' = B (w, p, Q, M). Lengths
    in L and forces in E I / L^2, so that s = E I / (k G A L^2), r = I / (A L^2); k = 10 (1 + nu) / (12 + 11 nu).
    """
    from scipy.linalg import expm
    from scipy.optimize import brentq

    r = 1 / (12 * beam.slenderness**2)
    s = r * 2 * (1 + NU) * (12 + 11 * NU) / (10 * (1 + NU))

    def determinant(ratio: float) -> float:
        q = (ratio * 1.87510407**2) ** 2
        B = np.array([[0, 1, s, 0], [0, 0, 0, 1], [-q, 0, 0, 0], [0, -q * r, -1, 0]])
        return float(np.linalg.det(expm(B)[2:, 2:]))

    return float(brentq(determinant, 0.3, 1.05)) * euler_bernoulli(beam)


LENGTHS = tuple(Beam(slenderness) for slenderness in (5.0, 7.5, 10.0, 15.0, 20.0))
WIDTHS = tuple(Beam(10.0, width) for width in (0.5, 1.0, 2.0, 3.0, 4.0))
HEIGHTS = tuple(Beam(20.0 / height, 2.0 / height) for height in (1.0, 4 / 3, 2.0, 8 / 3, 4.0))
"""The sweeps of fig. 5; the last has a fixed length and width and heights 1 to 4 (in units of the least)."""
CORNERS = tuple(Beam(slenderness, width) for slenderness in (5.0, 20.0) for width in (0.5, 4.0))
"""What else is in the range L/H 5 to 20, W/H 0.5 to 4."""


def all_shapes() -> tuple[Beam, ...]:
    """The beams of the sweeps and the corners, each once."""
    rounded = {(round(b.slenderness, 6), round(b.width, 6)): b for b in (*LENGTHS, *WIDTHS, *HEIGHTS, *CORNERS)}
    return tuple(rounded[key] for key in sorted(rounded))


@dataclass(frozen=True)
class Frequencies:
    """First bending frequencies of one beam [Hz]."""

    beam: Beam
    springs: float
    tets: float
    timoshenko: float
    euler: float

    @property
    def error(self) -> float:
        """Of the springs, relative to the tets."""
        return self.springs / self.tets - 1


def frequencies(beam: Beam) -> Frequencies:
    """By eigenvalue of the lattice with 8 cells through the height, by ten-node tets, and by both theories."""
    return Frequencies(beam, lattice_frequency(beam), tet_frequency(beam), timoshenko(beam), euler_bernoulli(beam))
