"""Lattice: points joined by springs that stand for a solid, and the cells that tell how much each spring carries."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import as_array, number
from pliant.errors import InputError
from pliant.shape import lattice_hull as hull
from pliant.shape import lattice_scatter as scatter
from pliant.shape import lattice_voxels as voxels
from pliant.shape.lattice_checks import require_good_springs, require_matrices, warn_of_parts
from pliant.shape.lattice_embedding import contained, deformation_gradients, embedded
from pliant.shape.lattice_solid import SolidLike, as_solid
from pliant.shape.lattice_springs import corner_shares, springs_of_cells
from pliant.shape.mesh import NodeSet, checked_cells, checked_nodes, vector
from pliant.shape.tetmesh import TetMesh
from pliant.shape.topology import (
    TET_EDGES,
    FloatArray,
    IntArray,
    connected_parts,
    tet_volumes,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array


@dataclass(frozen=True, eq=False)
class Grid:
    """Where the points of a voxel lattice are: point (i, j, k) at origin + size (i, j, k).

    `node_of.reshape(shape)[i, j, k]` is its number in the lattice, -1 where there is none; numbers rise along the flat
    array, so the last axis is the fastest.
    """

    origin: FloatArray
    """Place of point (0, 0, 0) [m], (3,)."""
    size: float
    """Edge of a cell [m]."""
    shape: tuple[int, int, int]
    """Points along each axis."""
    node_of: IntArray
    """Number of every point of the grid, flat."""


@dataclass(frozen=True, eq=False, repr=False)
class Lattice(NodeSet):
    """Points, springs between them, and the cells (cubes or tets) that they stand for.

    What a lattice means as a solid is in two sparse matrices: a spring's constant is `stiffness_shares @ E` with Young's
    modulus of every cell [Pa], a point's mass is `volume_shares @ density` [kg/m^3]. Such a lattice behaves like a solid of
    modulus E and Poisson's ratio 1/4, the only one that central forces have.

    >>> block = Lattice.block((4, 2, 2), size=0.01)
    >>> len(block.points), len(block.springs), round(block.volume * 1e6, 9)
    (45, 296, 16.0)
    """

    points: FloatArray
    """Places at rest [m], (n, 3)."""
    springs: IntArray
    """Points that each spring joins, (m, 2), the lower first, sorted, each pair once."""
    cells: IntArray
    """Corners of the cells, (c, 8) for cubes (see `lattice_voxels.CORNERS`) or (c, 4) for tets."""
    labels: IntArray
    """Region of each cell, (c,)."""
    stiffness_shares: csr_array
    """Constant of a spring per modulus of a cell [m], (m, c)."""
    volume_shares: csr_array
    """Volume of a point per cell [m^3], (n, c)."""
    grid: Grid | None = None
    """Of a voxel lattice."""

    def __post_init__(self) -> None:
        points = checked_nodes(self.points)
        corners = np.asarray(self.cells).shape[-1]
        if corners not in (4, 8):
            raise InputError(f"cells have {corners} corners", remedy="give cubes (c, 8) or tets (c, 4)")
        cells = checked_cells(self.cells, corners, len(points), "cell")
        springs = checked_cells(self.springs, 2, len(points), "spring")
        labels = np.array(self.labels, dtype=np.int32)
        labels.setflags(write=False)
        for name, value in (("points", points), ("cells", cells), ("springs", springs), ("labels", labels)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "nodes", points)
        require_good_springs(self)
        require_matrices(self)
        warn_of_parts(self)

    def __repr__(self) -> str:
        kind = "voxels" if self.cells.shape[1] == 8 else "tets"
        size = " x ".join(f"{s:.3g}" for s in self.size)
        return f"Lattice({len(self.points)} points, {len(self.springs)} springs, {len(self.cells)} {kind}, {size} m)"

    @classmethod
    def voxels(
        cls,
        solid: SolidLike,
        size: float,
        *,
        bounds: ArrayLike | None = None,
        whole: bool = False,
        body_diagonals: float = 0.05,
    ) -> Lattice:
        """Cubes of one size [m] in a solid, joined along edges, face diagonals and body diagonals.

        solid: a closed surface, a tet mesh, or a function (a `Region`) points -> bool together with its `bounds`, (lower,
        upper) [m]. The grid lies in the middle of the solid's box. A cell is kept when its middle is inside or on the
        surface, so that the volume is right on average; with whole=True only when all its corners are, so that no point is
        outside.
        body_diagonals: k3 / (E a), see `lattice_voxels`; 0 leaves out these springs (18 neighbours instead of 26).
        """
        shape = as_solid(solid, bounds)
        pairs, shares = voxels.voxel_springs(body_diagonals)
        origin, inside = voxels.voxels_inside(shape, size, whole)
        inside = voxels.without_loose_cells(inside)
        node_of, places, cells = voxels.numbered(inside)
        volumes = np.full(len(cells), size**3)
        voxels.warn_of_lost_volume(shape, float(volumes.sum()), size)
        springs, stiffness = springs_of_cells(cells, pairs, size * shares, len(places))
        counts = tuple(int(n) + 1 for n in inside.shape)
        grid = Grid(origin, float(size), counts, node_of)  # type: ignore[arg-type]
        masses = corner_shares(cells, volumes, len(places))
        labels = np.zeros(len(cells), np.int32)
        return cls(origin + size * places, springs, cells, labels, stiffness, masses, grid)

    @classmethod
    def scattered(
        cls,
        solid: SolidLike,
        spacing: float | None = None,
        *,
        count: int | None = None,
        bounds: ArrayLike | None = None,
        seed: int = 0,
        candidates: int = 100,
        neighbours: int = 1,
        longest: float = 2.5,
    ) -> Lattice:
        """Best-candidate points on and in a solid, about `spacing` [m] apart or about `count` of them, and the edges of
        their Delaunay tets as springs.

        solid, bounds: see `voxels`. candidates: random points of which the one farthest from the others is taken, each
        time. neighbours: to how many nearest points that distance is meant. longest: tets with an edge of more than so many
        spacings are left out. Constants per tet, divided by the relaxation factor; for strains up to about 10 % (voxels stand
        more), see `lattice_scatter`.
        """
        shape = as_solid(solid, bounds)
        if (spacing is None) == (count is None):
            raise InputError("a scattered lattice needs a spacing or a count", remedy="give one of them")
        for name, value in (("candidates", candidates), ("neighbours", neighbours)):
            if not isinstance(value, (int, np.integer)) or value < 1:
                raise InputError(f"{name} is {value}", remedy="give a whole number >= 1")
        step = scatter.spacing_for(shape, count, seed) if count is not None else scatter.checked_spacing(shape, spacing)
        points = scatter.scattered_points(shape, step, seed, candidates, neighbours)
        points, tets = scatter.tets_inside(shape, points, longest * step)
        voxels.warn_of_lost_volume(shape, float(tet_volumes(points, tets).sum()), step)
        return cls.from_tets(points, tets, relaxation=scatter.RELAXATION)

    @classmethod
    def from_tets(cls, points: ArrayLike, tets: ArrayLike, *, relaxation: float = 1.0) -> Lattice:
        """The edges of given tets as springs, with constants per tet; relaxation: see `lattice_scatter`."""
        mesh = TetMesh(points, tets, orient=True)
        if not (np.isfinite(relaxation) and relaxation > 0):
            raise InputError(f"relaxation is {relaxation}", remedy="give a factor > 0, such as 0.923")
        shares = scatter.tet_shares(mesh.nodes, mesh.tets, relaxation)
        springs, stiffness = springs_of_cells(mesh.tets, TET_EDGES, shares, len(mesh.nodes))
        masses = corner_shares(mesh.tets, mesh.volumes, len(mesh.nodes))
        return cls(mesh.nodes, springs, mesh.tets, mesh.labels, stiffness, masses)

    @classmethod
    def block(
        cls,
        cells: tuple[int, int, int],
        size: float,
        *,
        origin: ArrayLike = (0.0, 0.0, 0.0),
        body_diagonals: float = 0.05,
    ) -> Lattice:
        """A box of so many cubes of a size [m] along each axis, its lower corner at `origin` [m]."""
        counts = as_array(cells)
        size = number(size, "size", unit="m", above=0.0, remedy="give a positive cell size in metres")
        if counts.shape != (3,) or not np.issubdtype(counts.dtype, np.integer) or (counts < 1).any():
            raise InputError(f"cells are {cells!r}", remedy="give three whole numbers >= 1")
        corner = vector(origin, "origin")
        return cls.voxels(
            lambda points: np.ones(len(points), bool),
            size,
            bounds=(corner, corner + counts * size),
            body_diagonals=body_diagonals,
        )

    @cached_property
    def lengths(self) -> FloatArray:
        """Lengths of the springs at rest [m], (m,)."""
        a, b = self.springs.T
        return np.asarray(np.linalg.norm(self.points[b] - self.points[a], axis=1))

    @property
    def centers(self) -> FloatArray:
        """Middles of the cells [m], (c, 3)."""
        return np.asarray(self.points[self.cells].mean(axis=1))

    @cached_property
    def volumes(self) -> FloatArray:
        """Volumes of the cells [m^3], (c,)."""
        return np.asarray(self.volume_shares.sum(axis=0)).ravel()

    @property
    def volume(self) -> float:
        """Volume of the whole lattice [m^3]."""
        return float(self.volumes.sum())

    def labelled(self, where: Callable[[FloatArray], Any] | Sequence[SolidLike]) -> Lattice:
        """The same lattice with other regions.

        where: a function from the middles of the cells (c, 3) [m] to whole numbers (c,), or a list of solids: cells whose
        middle is in the first get label 1, in the second 2, and so on (the last one wins), all others 0.
        """
        if callable(where):
            labels = np.asarray(where(self.centers))
            if labels.dtype == bool:
                labels = labels.astype(np.int32)
            if labels.shape != (len(self.cells),) or not np.issubdtype(labels.dtype, np.integer):
                raise InputError(
                    f"labels have shape {labels.shape} and type {labels.dtype}",
                    remedy=f"return one whole number per cell, shape ({len(self.cells)},)",
                )
            return replace(self, labels=labels)
        labels = np.zeros(len(self.cells), np.int32)
        for k, solid in enumerate(where):
            chosen = as_solid(solid, self.bounds).inside(self.centers)
            if not chosen.any():
                raise InputError(f"solid {k} has no cell of the lattice", remedy="check its place and its units")
            labels[chosen] = k + 1
        return replace(self, labels=labels)

    def connected_parts(self) -> IntArray:
        """Number of the part that each point belongs to, (n,): points hang together where springs join them."""
        return connected_parts(len(self.points), self.springs)

    def embed(self, points: ArrayLike, max_distance: float | None = None) -> tuple[NDArray[np.int64], FloatArray]:
        """Points [p, 3] [m] as means of lattice points: numbers and weights, [p, 8] in cubes, [p, 4] in tets.

        A point outside is carried on from the nearest cell, up to `max_distance` [m] (default: the size of a cube, or half
        the mean edge of the tets).
        """
        return embedded(self, points, max_distance)

    def contains(self, points: FloatArray) -> NDArray[np.bool_]:
        """Whether each of the points [p, 3] [m] is in a cell, [p]."""
        return contained(self, points)

    def deformation_gradients(self, x: FloatArray) -> FloatArray:
        """Mean deformation gradient of every cell, (c, 3, 3), with the points at x (n, 3) [m]."""
        return deformation_gradients(self, x)

    @cached_property
    def _boundary(self) -> tuple[IntArray, NDArray[np.intp]]:
        return hull.outer_triangles(self.cells)

    def boundary_triangles(self) -> IntArray:
        """The hull of the cells as triangles of points, outward, (b, 3)."""
        return self._boundary[0]

    def boundary_cells(self) -> NDArray[np.intp]:
        """The cell that each triangle of the hull belongs to, (b,)."""
        return self._boundary[1]

    def _surface_nodes(self) -> NDArray[np.intp]:
        return np.unique(self._boundary[0]).astype(np.intp)

    def _labelled_nodes(self, label: int) -> NDArray[np.intp]:
        return np.unique(self.cells[self.labels == label]).astype(np.intp)
