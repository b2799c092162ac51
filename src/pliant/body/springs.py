"""The body of springs: a lattice of points that stands for a solid."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.body import _spring_kernels as kernels
from pliant.body.body import Array, Body, Ids, Supports, rayleigh_coefficients, warn_of_unused
from pliant.body.fields import Fields, spring_fields
from pliant.body.surface import CarriedSurface
from pliant.checks import as_numbers
from pliant.errors import InputError, MaterialError
from pliant.shape import Lattice

PerCell: TypeAlias = "float | Mapping[int, float] | ArrayLike | Callable[[Array], Any]"
"""A number, one per region label, one per cell, or a function of the cells' middles (c, 3) [m]."""


class SpringBody(Body):
    """A lattice of springs, each with the energy k (l - L)^2 / 2.

    It behaves like a solid of Young's modulus E and Poisson's ratio 1/4 at small strains; at large ones like its springs.
    Masses sit on the points. Tangents: with n the direction of a spring, t its tension and l its length, the exact one has
    the blocks k n n^T + t / l (I - n n^T); the "warped" one has k n n^T only, which is never negative (a spring under
    pressure has a negative t) and turns with the spring. Springs inside one rigid part never stretch, and are left out.
    """

    def __init__(
        self,
        lattice: Lattice,
        E: PerCell,
        density: PerCell = 1070.0,
        *,
        mass: Literal["cells", "uniform"] = "cells",
        constants: ArrayLike | None = None,
        lengths: ArrayLike | None = None,
        fixed: ArrayLike | None = None,
        prescribed: ArrayLike | None = None,
        sliding: Sequence[tuple[ArrayLike, ArrayLike]] = (),
        rigid: Mapping[str, ArrayLike] | None = None,
        damping: tuple[float, float] = (0.0, 0.0),
    ) -> None:
        """Build the body at rest on `lattice`.

        E [Pa], density [kg/m^3]: a number, one per region label, one per cell, or a function of the cells' middles. mass:
        that of the cells around each point, or the same for all. constants [N/m], lengths [m]: of the springs, (m,), in
        place of those that the lattice and E give. fixed, prescribed, sliding, rigid, damping: see `TetBody`.
        """
        if not isinstance(lattice, Lattice):
            raise InputError(
                f"a SpringBody needs a Lattice, not a {type(lattice).__name__}",
                remedy="make one: Lattice.voxels(surface, size) or Lattice.scattered(surface, spacing)",
            )
        self.lattice = lattice
        self.cell_size = lattice.grid.size if lattice.grid else float(lattice.lengths.mean())
        self.rest, self.springs = lattice.points, lattice.springs
        self.spring_constants = self._constants(E, constants)
        self.lengths = lattice.lengths if lengths is None else self._per_spring(lengths, "length", "m")
        self.supports = Supports.checked(len(self.rest), fixed, prescribed, sliding, rigid)
        self.supports.require_extended_parts(self.rest)
        self._leave_out_rigid_springs()
        self._make_blocks()
        self._make_mass(density, mass)
        self.mass_damping, self.stiffness_damping = rayleigh_coefficients(damping)

    def _constants(self, E: PerCell, constants: ArrayLike | None) -> Array:
        self.moduli = per_cell(self.lattice, E, "E", "Pa")
        if constants is not None:
            return self._per_spring(constants, "stiffness", "N/m")
        return np.asarray(self.lattice.stiffness_shares @ self.moduli)

    def cell_parts(self) -> Any:
        """Which part of each spring belongs to each cell, sparse [m, c], rows sum to one: by stiffness."""
        shares = self.lattice.stiffness_shares
        total = np.maximum(shares @ self.moduli, 1e-300)
        parts = shares.copy()
        parts.data = shares.data * self.moduli[shares.indices] / np.repeat(total, np.diff(shares.indptr))
        return parts

    def _per_spring(self, values: ArrayLike, name: str, unit: str) -> Array:
        array = np.ascontiguousarray(values, dtype=float)
        if array.shape != (len(self.springs),):
            raise InputError(
                f"the springs' {name} has shape {array.shape}", remedy=f"give one per spring, ({len(self.springs)},)"
            )
        wrong = np.flatnonzero(~(np.isfinite(array) & (array >= 0)))
        if len(wrong):
            a, b = self.springs[wrong[0]]
            raise MaterialError(
                f"spring {wrong[0]} between points {a} and {b} has the {name} {array[wrong[0]]} {unit} "
                f"({len(wrong)} such springs)",
                remedy="give finite values >= 0",
                springs=wrong,
            )
        return array

    def _leave_out_rigid_springs(self) -> None:
        """The springs that can stretch at all: the ends of the others are on one rigid part."""
        part = np.full(len(self.rest), -1)
        for number, ids in enumerate(self.supports.rigid.values()):
            part[ids] = number
        a, b = part[self.springs].T
        live = (a < 0) | (a != b)
        self._strained = self.springs, self.spring_constants, self.lengths
        if not live.all():
            self._strained = self.springs[live], self.spring_constants[live], self.lengths[live]

    def _make_blocks(self) -> None:
        """Blocks by column, the diagonal first: spring s, sorted by its first point i, has the block s + i + 1."""
        springs = self._strained[0]
        n, first = len(self.rest), springs[:, 0].astype(np.int64)
        before = np.searchsorted(first, np.arange(n))
        self._diagonal = np.arange(n) + before
        count = n + len(first)
        self.rows, self.cols = np.empty(count, np.int64), np.empty(count, np.int64)
        self.rows[self._diagonal] = self.cols[self._diagonal] = np.arange(n)
        apart = np.arange(len(first)) + first + 1
        self.rows[apart], self.cols[apart] = springs[:, 1], first

    def _make_mass(self, density: PerCell, kind: str) -> None:
        self.masses = np.asarray(self.lattice.volume_shares @ per_cell(self.lattice, density, "density", "kg/m^3"))
        if kind == "uniform":
            self.masses = np.full(len(self.rest), self.masses.mean())
        elif kind != "cells":
            raise InputError(f"mass is {kind!r}", remedy="choose 'cells' or 'uniform'")
        empty = np.flatnonzero(~(self.masses > 0))
        if len(empty):
            raise InputError(f"point {empty[0]} has no mass", remedy="give every point a cell, or mass='uniform'")
        self.mass_weights = np.zeros(len(self.rows))
        self.mass_weights[self._diagonal] = self.masses
        self.load_masses = self.masses

    def accumulate(self, x: Array, force: Array, blocks: Array, *, exact: float = 0.0, warped: float = 0.0) -> float:
        """See `Body.accumulate`."""
        springs, constants, lengths = self._strained
        energy: float = kernels.assemble_springs(
            springs, self._diagonal, constants, lengths, x, exact, warped, force, blocks
        )
        return energy

    def embed(self, points: ArrayLike, max_distance: float | None = None) -> tuple[Ids, Array]:
        """See `Body.embed`: trilinear weights in a cube, barycentric ones in a tet."""
        return self.lattice.embed(points, max_distance)

    def contains(self, points: Array) -> NDArray[np.bool_]:
        """See `Body.contains`."""
        return self.lattice.contains(points)

    def deformation_gradients(self, x: Array) -> Array:
        """Mean F of every cell, [c, 3, 3]."""
        return self.lattice.deformation_gradients(x)

    def inverted_elements(self, x: Array) -> Ids:
        """See `Body.inverted_elements`; numbers of cells of the lattice whose mean F turns them inside out."""
        return np.flatnonzero(np.linalg.det(self.deformation_gradients(self._positions(x))) <= 0)

    def surface(self) -> CarriedSurface:
        """See `Body.surface`: the hull of the cells."""
        return CarriedSurface.of_nodes(self.lattice.boundary_triangles())

    def fields(self, x: ArrayLike) -> Fields:
        """See `Body.fields`; the energies are those of the springs, [m]."""
        return spring_fields(self, self._positions(x))

    def __repr__(self) -> str:
        return f"SpringBody({len(self.springs)} springs, {self.node_count} points)"


def per_cell(lattice: Lattice, value: PerCell, name: str, unit: str) -> Array:
    """A positive number for every cell of a lattice, (c,), or an error that names the cell that has none."""
    count = len(lattice.cells)
    if callable(value) and not isinstance(value, type):
        value = value(lattice.centers)
    if isinstance(value, Mapping):
        missing = sorted(set(np.unique(lattice.labels).tolist()) - set(value))
        if missing:
            raise MaterialError(
                f"the cells with label {missing[0]} have no {name}",
                remedy=f"give one per label [{unit}]; the lattice has {np.unique(lattice.labels)}",
            )
        warn_of_unused(value, lattice.labels, name, "cell")
        labels, number = np.unique(lattice.labels, return_inverse=True)
        value = as_numbers([value[int(label)] for label in labels])
        value = value[number] if value.shape else value
    array = as_numbers(value)  # type: ignore[arg-type]
    if array.shape == () and np.isnan(array) and not isinstance(value, float):
        raise MaterialError(f"{name} is {value!r}", remedy=f"give numbers in {unit}")
    if array.shape not in ((), (count,)):
        raise InputError(f"{name} has shape {array.shape}", remedy=f"give one number, or one per cell ({count},)")
    array = np.broadcast_to(array, (count,))
    wrong = np.flatnonzero(~(np.isfinite(array) & (array > 0)))
    if len(wrong):
        place = np.round(lattice.points[lattice.cells[wrong[0]]].mean(axis=0), 6).tolist()
        raise MaterialError(
            f"{name} of cell {wrong[0]} at {place} m is {array[wrong[0]]} {unit} ({len(wrong)} such cells)",
            remedy=f"give a positive {name} in {unit}",
            cells=wrong,
        )
    return array
