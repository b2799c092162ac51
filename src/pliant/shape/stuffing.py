"""Isosurface stuffing: a solid given by its surface, filled with the tets of a body-centred cubic lattice.

Labelle and Shewchuk 2007. The lattice points inside keep their tets; edges of the lattice that cross the surface are
cut there; lattice points too close to a cut are moved ("warped") onto the surface, which keeps angles good; the pieces
of cut tets are prisms and pyramids, split so that neighbours agree.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.shape import _fill_kernels as kernels
from pliant.shape.surface import SurfaceMesh
from pliant.shape.topology import (
    PRISM_FACES,
    PYRAMID_FACES,
    FloatArray,
    IntArray,
    oriented_tets,
    smallest_index_split,
    unique_edges,
)

WARP_LONG, WARP_SHORT = 0.24999, 0.41189
"""A cut nearer to a lattice point than this share of a long or short edge warps the point (the paper's Table 1)."""

_MEAN_EDGE = 0.923
"""Mean edge of a body-centred lattice of unit cells: 6 edges of length 1 and 8 of length 0.866 meet at each point."""

_EDGES = np.array([[0, 1], [2, 3], [0, 2], [0, 3], [1, 2], [1, 3]])
"""Edges of a lattice tet: the first two are long (between like points), the other four short."""

_ROOT_STEPS = 3

_FLAT = np.sin(np.radians(10.0))


@dataclass(frozen=True, eq=False)
class Lattice:
    """Points (n, 3) [m] and tets (m, 4) of a body-centred lattice around a box; corners and centres in one list."""

    points: FloatArray
    tets: IntArray
    cell: FloatArray

    @classmethod
    def around(cls, lower: FloatArray, upper: FloatArray, size: float) -> Lattice:
        """Cover a box [m] with mean edge `size` [m], cells stretched so that lattice planes lie on the box's faces.

        Flat faces that are the outermost ones of a part are then met exactly.
        """
        extent = upper - lower
        counts = np.maximum(1, np.round(extent / (size / _MEAN_EDGE))).astype(int)
        cell = extent / counts
        corner_counts = counts + 3
        corners = _grid(corner_counts) - 1.0
        centers = _grid(corner_counts - 1) - 0.5
        points = lower + np.vstack([corners, centers]) * cell
        return cls(points, _lattice_tets(corner_counts), cell)


def _grid(counts: NDArray[np.int64]) -> FloatArray:
    return np.stack(np.meshgrid(*(np.arange(c, dtype=np.float64) for c in counts), indexing="ij"), axis=-1).reshape(
        -1, 3
    )


def _lattice_tets(corner_counts: NDArray[np.int64]) -> IntArray:
    """Each face between two cells joins their centres and, one after the other, its four edges: four tets."""
    corners = np.arange(np.prod(corner_counts)).reshape(corner_counts)
    centers = corners.size + np.arange(np.prod(corner_counts - 1)).reshape(corner_counts - 1)
    tets = []
    for axis in range(3):
        c = np.moveaxis(centers, axis, 0)
        q = np.moveaxis(corners, axis, 0)[1:-1]
        ring = [q[:, :-1, :-1], q[:, 1:, :-1], q[:, 1:, 1:], q[:, :-1, 1:]]
        for a, b in ((0, 1), (1, 2), (2, 3), (3, 0)):
            tets.append(np.stack([c[:-1].ravel(), c[1:].ravel(), ring[a].ravel(), ring[b].ravel()], axis=1))
    return np.vstack(tets).astype(np.int32)


def stuffed(surface: SurfaceMesh, size: float) -> tuple[FloatArray, IntArray]:
    """Nodes [m] and positive tets of the solid inside a closed surface, with mean edge about `size` [m]."""
    lattice = Lattice.around(surface.bounds[0], surface.bounds[1], size)
    points = lattice.points.copy()
    tiny = 1e-9 * surface.diameter
    distance = _signed_distance(surface, points, tiny)
    sign = np.sign(distance).astype(np.int8)
    inside = (sign[lattice.tets] > 0).any(axis=1)
    edges, tet_edges = unique_edges(lattice.tets[inside], _EDGES)
    is_long = np.zeros(len(edges), dtype=bool)
    is_long[tet_edges[:, :2]] = True
    cut = np.flatnonzero(sign[edges[:, 0]] * sign[edges[:, 1]] < 0)
    place = _cut_places(surface, points, distance, edges[cut], tiny)
    cut_edges, alive = edges[cut].astype(np.int64), np.ones(len(cut), dtype=bool)
    reach = np.where(is_long[cut], WARP_LONG, WARP_SHORT)
    kernels.warp(points, sign, cut_edges, reach, place, *_incidence(cut_edges, len(points)), alive)
    inside = (sign[lattice.tets] > 0).any(axis=1)
    tets = np.vstack([lattice.tets[inside], _between_walls(surface, points, sign, lattice.tets)])
    return _pieces(points, sign, tets, cut_edges[alive], place[alive])


def _signed_distance(surface: SurfaceMesh, points: FloatArray, tiny: float) -> FloatArray:
    """Distance to the surface [m], positive inside, exactly zero on it."""
    distance, face, place = surface.tree.closest(points)
    height = np.einsum("ij,ij->i", points - place, surface.normals[face])
    inside = height < 0.0
    # Straight below or above a face its side decides; where an edge or a corner is nearest, the winding number does.
    unclear = np.flatnonzero(np.abs(height) < (1.0 - 1e-6) * distance)
    inside[unclear] = surface.tree.winding(points[unclear]) > 0.5
    return np.where(distance < tiny, 0.0, np.where(inside, distance, -distance))


def _cut_places(
    surface: SurfaceMesh, points: FloatArray, distance: FloatArray, edges: IntArray, tiny: float
) -> FloatArray:
    """Where edges from inside to outside cross the surface [m], shape (k, 3): regula falsi, kept inside a bracket."""
    a, b = points[edges[:, 0]], points[edges[:, 1]]
    da, db = distance[edges[:, 0]], distance[edges[:, 1]]
    low, high = np.zeros(len(edges)), np.ones(len(edges))
    middle = np.zeros(len(edges))
    for _ in range(_ROOT_STEPS):
        middle = low + (high - low) * da / (da - db)
        d = _signed_distance(surface, a + middle[:, None] * (b - a), tiny)
        same = np.sign(d) == np.sign(da)
        done = d == 0.0
        low = np.where(same | done, middle, low)
        high = np.where(same & ~done, high, middle)
        da, db = np.where(same, d, da), np.where(same | done, db, d)
        da, db = np.where(done, 1e-300, da), np.where(done, -1e-300, db)
    middle = low + (high - low) * da / (da - db)
    return np.asarray(a + middle[:, None] * (b - a))


def _between_walls(surface: SurfaceMesh, points: FloatArray, sign: NDArray[np.int8], tets: IntArray) -> IntArray:
    """Tets with all corners warped onto the surface that are inside: a wall one tet thick has only those."""
    tets = tets[(sign[tets] == 0).all(axis=1)]
    tets = oriented_tets(points, tets)
    quality = np.empty(len(tets))
    kernels.sine_qualities(points, tets, 0.0, quality)
    tets = tets[quality > _FLAT]
    middle = points[tets].mean(axis=1)
    return tets[surface.tree.winding(middle) > 0.5]


def _incidence(edges: NDArray[np.int64], count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Edges at each point as (starts, ids)."""
    ends = edges.ravel()
    order = np.argsort(ends, kind="stable")
    starts = np.concatenate([[0], np.cumsum(np.bincount(ends, minlength=count))])
    return starts, order // 2


def _pieces(
    points: FloatArray, sign: NDArray[np.int8], tets: IntArray, cut_edges: NDArray[np.int64], place: FloatArray
) -> tuple[FloatArray, IntArray]:
    """The parts of the lattice tets on the positive side, as tets."""
    count = len(points)
    keys = cut_edges.min(axis=1) * count + cut_edges.max(axis=1)
    rank = np.argsort(keys)

    def cut(a: NDArray[np.int64], b: NDArray[np.int64]) -> NDArray[np.int64]:
        key = np.minimum(a, b) * count + np.maximum(a, b)
        return np.asarray(count + rank[np.searchsorted(keys, key, sorter=rank)])

    order = np.argsort(-sign[tets], axis=1, kind="stable")
    ranked = np.take_along_axis(tets, order, axis=1).astype(np.int64)
    plus, minus = (sign[tets] > 0).sum(axis=1), (sign[tets] < 0).sum(axis=1)
    found = [ranked[minus == 0]]

    def case(positive: int, negative: int) -> tuple[NDArray[np.int64], ...]:
        a, b, c, d = ranked[(plus == positive) & (minus == negative)].T
        return a, b, c, d

    a, b, c, d = case(1, 3)
    found.append(np.column_stack([a, cut(a, b), cut(a, c), cut(a, d)]))
    a, b, c, d = case(1, 2)
    found.append(np.column_stack([a, b, cut(a, c), cut(a, d)]))
    a, b, c, d = case(1, 1)
    found.append(np.column_stack([a, b, c, cut(a, d)]))
    a, b, c, d = case(2, 2)
    prism = np.column_stack([a, cut(a, c), cut(a, d), b, cut(b, c), cut(b, d)])
    found.append(_split(prism, PRISM_FACES))
    a, b, c, d = case(3, 1)
    found.append(_split(np.column_stack([a, b, c, cut(a, d), cut(b, d), cut(c, d)]), PRISM_FACES))
    a, b, c, d = case(2, 1)
    found.append(_split(np.column_stack([a, b, cut(b, d), cut(a, d), c]), PYRAMID_FACES))
    all_tets = np.vstack(found)
    used, compact = np.unique(all_tets, return_inverse=True)
    nodes = np.vstack([points, place])[used]
    return nodes, oriented_tets(nodes, compact.reshape(-1, 4).astype(np.int32))


def _split(cells: NDArray[np.int64], faces: tuple[tuple[int, ...], ...]) -> IntArray:
    # Lattice points have lower numbers than cuts, so every diagonal inside the solid starts at a lattice point.
    return smallest_index_split(cells.astype(np.int32), faces)[0] if len(cells) else np.empty((0, 4), dtype=np.int32)
