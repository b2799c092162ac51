"""What the explicit engine works on: masses and springs as plain arrays, checked once."""

from __future__ import annotations

import warnings
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.body import SpringBody, Supports
from pliant.errors import InputError, MaterialError, PliantWarning

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells that springs stand for: what there is to see of them."""

    corners: NDArray[np.int32]
    """Points at the corners of cubes [c, 8] or tets [c, 4]."""
    labels: NDArray[np.integer]
    """Material or region of each cell, [c]."""


@dataclass(frozen=True, eq=False, repr=False)
class Springs:
    """Masses on points and springs between them.

    A spring pulls with k (l - L), l its length now and L at rest. `parts` says of which materials it consists: entry (s, c)
    is the part [N/m] of its constant that belongs to the material `labels[c]`, side by side with the other parts.
    """

    points: Array
    """Places at rest [m], [n, 3]."""
    springs: Ids
    """Points that each spring joins, [m, 2]."""
    constants: Array
    """Stiffness [N/m], [m]."""
    lengths: Array
    """Rest lengths [m], [m]."""
    masses: Array
    """Of the points [kg], [n]."""
    supports: Supports = field(default_factory=Supports)
    grid: tuple[tuple[int, int, int], NDArray[np.integer]] | None = None
    """Of a voxel lattice: points along each axis, and the number of every point of the grid (-1: none), flat."""
    labels: Ids = field(default_factory=lambda: np.zeros(1, np.int64))
    """Materials, [c]."""
    parts: csr_array | None = None
    """[m, c] [N/m]; none: all springs are of the first material."""

    def __repr__(self) -> str:
        return f"Springs({len(self.springs)} springs, {len(self.points)} points)"

    @classmethod
    def of(cls, body: SpringBody, *, materials: bool = False) -> Springs:
        """The springs of a body; `materials`: with what its regions contribute to each of them."""
        if not isinstance(body, SpringBody):
            raise InputError(
                f"the explicit engine moves springs, not a {type(body).__name__}",
                remedy="give a SpringBody, or Springs from your own arrays (Springs.checked)",
            )
        if body.supports.rigid:
            raise InputError(
                f"rigid part {next(iter(body.supports.rigid))!r} in an explicit run",
                remedy="give that region a larger E instead, or use Dynamics",
            )
        if body.mass_damping or body.stiffness_damping:
            raise InputError(
                f"a body with Rayleigh's damping ({body.mass_damping:g} 1/s, {body.stiffness_damping:g} s) in an explicit run",
                remedy=f"make the body without; its first number is the rate of Explicit(damping={body.mass_damping:g}), the "
                "second needs Dynamics",
            )
        grid = body.lattice.grid
        labels, parts = np.zeros(1, np.int64), None
        if materials:
            labels, parts = _parts_of_regions(body)
        return cls(
            body.rest,
            body.springs.astype(np.int64),
            body.spring_constants,
            body.lengths,
            body.masses,
            body.supports,
            None if grid is None else (grid.shape, grid.node_of),
            labels,
            parts,
        )

    @classmethod
    def checked(
        cls,
        points: ArrayLike,
        springs: ArrayLike,
        constants: ArrayLike,
        masses: ArrayLike,
        *,
        lengths: ArrayLike | None = None,
        fixed: ArrayLike | None = None,
        prescribed: ArrayLike | None = None,
        materials: ArrayLike | None = None,
    ) -> Springs:
        """Springs from arrays of your own: points [n, 3] [m], springs [m, 2], constants [m] [N/m], masses [n] [kg].

        lengths [m]: at rest (default: as they are). materials: label of every spring, [m].
        """
        from scipy.sparse import csr_array

        x = np.array(points, dtype=float)
        pairs = np.array(springs)
        if x.ndim != 2 or x.shape[1] != 3 or not np.isfinite(x).all():
            raise InputError(f"points have shape {x.shape}", remedy="give finite points, [n, 3] in metres")
        if pairs.ndim != 2 or pairs.shape[1] != 2 or not np.issubdtype(pairs.dtype, np.integer):
            raise InputError(f"springs have shape {pairs.shape}", remedy="give pairs of point numbers, [m, 2]")
        n, pairs = len(x), pairs.astype(np.int64)
        wrong = np.flatnonzero((pairs < 0).any(1) | (pairs >= n).any(1) | (pairs[:, 0] == pairs[:, 1]))
        if len(wrong):
            raise InputError(
                f"spring {wrong[0]} joins {pairs[wrong[0]].tolist()}", remedy=f"there are points 0 to {n - 1}"
            )
        k = np.broadcast_to(np.asarray(constants, float), len(pairs)).copy()
        m = np.broadcast_to(np.asarray(masses, float), n).copy()
        now = np.linalg.norm(x[pairs[:, 1]] - x[pairs[:, 0]], axis=1)
        rest = now if lengths is None else np.broadcast_to(np.asarray(lengths, float), len(pairs)).copy()
        _require_positive(m, "point", "mass", "kg")
        _require_positive(rest, "spring", "length", "m", pairs)
        if not (np.isfinite(k).all() and (k >= 0).all()):
            worst = int(np.flatnonzero(~(np.isfinite(k) & (k >= 0)))[0])
            raise MaterialError(
                f"spring {worst} between points {pairs[worst, 0]} and {pairs[worst, 1]} has the stiffness {k[worst]} N/m",
                remedy="give finite values >= 0",
            )
        loose = np.flatnonzero(np.bincount(pairs.ravel(), minlength=n) == 0)
        if len(loose):
            warnings.warn(
                f"{len(loose)} points have no spring, the first is {loose[0]}: each moves alone",
                PliantWarning,
                stacklevel=2,
            )
        supports = Supports.checked(n, fixed, prescribed)
        if materials is None:
            return cls(x, pairs, k, rest, m, supports)
        labels, column = np.unique(np.asarray(materials), return_inverse=True)
        if column.shape != k.shape:
            raise InputError(f"materials have shape {column.shape}", remedy=f"give one label per spring, ({len(k)},)")
        parts = csr_array((k, (np.arange(len(k)), column)), shape=(len(k), len(labels)))
        return cls(x, pairs, k, rest, m, supports, None, labels.astype(np.int64), parts)

    @property
    def node_stiffness(self) -> Array:
        """Mean stiffness [N/m] of each point when its neighbours are held, [n]: a third of the sum of its constants."""
        ends = self.springs.ravel()
        return np.bincount(ends, np.repeat(self.constants, 2), minlength=len(self.points)) / 3.0


def _require_positive(values: Array, what: str, name: str, unit: str, pairs: Ids | None = None) -> None:
    wrong = np.flatnonzero(~(np.isfinite(values) & (values > 0)))
    if len(wrong):
        where = "" if pairs is None else f" between points {pairs[wrong[0], 0]} and {pairs[wrong[0], 1]}"
        raise InputError(
            f"{what} {wrong[0]}{where} has the {name} {values[wrong[0]]} {unit} ({len(wrong)} such)",
            remedy=f"give a positive {name} in {unit}",
        )


def _parts_of_regions(body: SpringBody) -> tuple[Ids, csr_array]:
    """What each region contributes to the constant of each spring."""
    from scipy.sparse import csr_array, diags_array

    labels, column = np.unique(body.lattice.labels, return_inverse=True)
    region = csr_array((np.ones(len(column)), (np.arange(len(column)), column)), shape=(len(column), len(labels)))
    return labels.astype(np.int64), csr_array(diags_array(body.spring_constants) @ body.cell_parts() @ region)
