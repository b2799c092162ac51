"""Facets: triangles on nodes that move, and how far points are from them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.shape import _facet_kernels as kernels
from pliant.shape.topology import FloatArray, IntArray
from pliant.shape.tree import BoxTree

Ids = NDArray[np.int64]

ALMOST = 0.05
"""Points of a surface that are closer than this share of the mean edge to an edge or a corner meet the triangle there that
looks against them: stacked blocks hold each other to the rim."""


FLAT = 1e-6
"""A node around which no normal differs from the mean by more than this is within a flat part of the surface."""


class Hits(NamedTuple):
    """Of points: signed distances (p,) [m], infinite where nothing is near; the way out (p, 3); the triangle of the nearest
    place (p,), -1 where there is none, and the weights of its corners (p, 3)."""

    distances: FloatArray
    normals: FloatArray
    triangles: Ids
    shares: FloatArray


class Facets:
    """Triangles (t, 3) of a surface, outward, in a tree of boxes that is built once and fitted to the nodes wherever they are.

    Behind or in front of the surface is told by the normal of the feature that the nearest place is on: of a triangle its own,
    of an edge and of a corner the mean of those around it, weighted by their angles there, which is right wherever the point is
    (Baerentzen and Aanaes 2005). Where an open surface ends, nothing is behind it.
    """

    def __init__(self, nodes: FloatArray, triangles: IntArray) -> None:
        """nodes (n, 3) [m]: where they are now; the tree is good as long as the surface keeps its shape about."""
        own, corners = np.asarray(triangles, np.int64), nodes[triangles]
        tree = BoxTree.of(corners.min(axis=1), corners.max(axis=1))
        self.order, self.starts, self.size = tree.order, tree.starts, len(tree.lower)
        self.triangles = np.ascontiguousarray(own[tree.order])
        """In the order of the tree."""
        self.edge = float(np.linalg.norm(corners - corners[:, [1, 2, 0]], axis=2).mean())
        """Mean length of the edges [m]."""
        self.beside = _beside(self.triangles)
        flat = self.triangles.reshape(-1)
        self.around = np.argsort(flat, kind="stable") // 3
        self.begin = np.concatenate([[0], np.cumsum(np.bincount(flat, minlength=len(nodes)))]).astype(np.int64)

    @property
    def is_closed(self) -> bool:
        """Whether every edge is between two triangles."""
        return bool((self.beside >= 0).all())

    def at(self, nodes: FloatArray) -> PlacedFacets:
        """The surface with its nodes elsewhere, (n, 3) [m]."""
        count, nodes = len(self.triangles), np.ascontiguousarray(nodes)
        placed = PlacedFacets(
            self, np.empty((self.size, 3)), np.empty((self.size, 3)), np.empty((count, 3, 3)), np.empty((count, 3)),
            np.empty((len(nodes), 3))
        )  # fmt: skip
        kernels.fit(
            nodes, self.triangles, self.starts, placed.lower, placed.upper, placed.corners, placed.normals,
            placed.node_areas
        )  # fmt: skip
        return placed


def _beside(triangles: Ids) -> Ids:
    """The triangle beside each edge, opposite to the corners, (t, 3); -1 where there is none, or more than one."""
    ends = np.sort(triangles[:, [[1, 2], [2, 0], [0, 1]]], axis=2).reshape(-1, 2)
    _, edge, count = np.unique(ends, axis=0, return_inverse=True, return_counts=True)
    edge = edge.reshape(-1)
    by_edge = np.argsort(edge, kind="stable")
    first = np.concatenate([[0], np.cumsum(count)])[:-1]
    pairs = first[count == 2]
    out = np.full(len(ends), -1)
    a, b = by_edge[pairs], by_edge[pairs + 1]
    out[a], out[b] = b // 3, a // 3
    return out.reshape(-1, 3).astype(np.int64)


@dataclass(frozen=True, eq=False)
class PlacedFacets:
    """Facets where they are: boxes of the tree (k, 3), corners (t, 3, 3) and normals (t, 3) of the triangles in its order, and
    twice the area vectors around the nodes (n, 3) [m^2]."""

    facets: Facets
    lower: FloatArray
    upper: FloatArray
    corners: FloatArray
    normals: FloatArray
    node_areas: FloatArray

    @property
    def node_normals(self) -> FloatArray:
        """Unit normals at the nodes (n, 3), by the areas around them."""
        return np.asarray(self.node_areas / np.maximum(np.linalg.norm(self.node_areas, axis=1), 1e-300)[:, None])

    @property
    def flat(self) -> NDArray[np.bool_]:
        """Which nodes are within flat parts of the surface (n,)."""
        flat, lengths, triangles = (
            np.ones(len(self.node_areas), bool),
            np.linalg.norm(self.node_areas, axis=1),
            self.facets.triangles,
        )
        for corner in triangles.T:
            along = np.einsum("ti,ti->t", self.node_areas[corner], self.normals)
            flat[corner[along < (1.0 - FLAT) * lengths[corner]]] = False
        rim = self.facets.beside < 0
        flat[triangles[:, [1, 2, 0]][rim]] = flat[triangles[:, [2, 0, 1]][rim]] = False
        return flat

    def hits(self, points: FloatArray, own: FloatArray | None = None, reach: FloatArray | None = None) -> Hits:
        """How far points (p, 3) [m] are, and from where. own (p, 3): normals of the surface that they are on, with which they
        do not touch what looks the same way; reach (p,) [m]: how far to look."""
        f, count = self.facets, len(points)
        out = Hits(np.empty(count), np.empty((count, 3)), np.empty(count, np.int64), np.empty((count, 3)))
        kernels.signed_distances(
            np.ascontiguousarray(points),
            np.zeros((count, 3)) if own is None else own,
            np.full(count, np.inf) if reach is None else reach,
            ALMOST * f.edge, f.starts, self.lower, self.upper, self.corners, f.triangles, self.normals,
            f.around, f.begin, f.beside, *out
        )  # fmt: skip
        return out

    def crossed(self, points: FloatArray, steps: FloatArray, which: Ids) -> tuple[Ids, FloatArray]:
        """The triangles (q,) that the points (p, 3) [m] numbered `which` (q,) run into first from the front when they go by
        steps (p, 3) [m], -1 where there are none, and weights of the corners (q, 3) there."""
        found, shares = np.empty(len(which), np.int64), np.zeros((len(which), 3))
        kernels.first_crossings(
            np.ascontiguousarray(points), np.ascontiguousarray(steps), which, self.facets.starts, self.lower, self.upper,
            self.corners, self.normals, found, shares
        )  # fmt: skip
        return found, shares

    def places(self, triangles: Ids, shares: FloatArray) -> FloatArray:
        """Where places on triangles are, (p, 3) [m]."""
        return np.asarray(np.einsum("pa,pai->pi", shares, self.corners[triangles]))

    def shares_of(self, triangles: Ids, points: FloatArray) -> FloatArray:
        """Weights of the corners (p, 3) of the places of the planes of triangles (p,) that are nearest to points (p, 3)."""
        a, b, c = self.corners[triangles].transpose(1, 0, 2)
        u, v, w = b - a, c - a, points - a
        uu, uv, vv, uw, vw = (np.einsum("pi,pi->p", *pair) for pair in ((u, u), (u, v), (v, v), (u, w), (v, w)))
        det = np.maximum(uu * vv - uv * uv, 1e-300)
        s, r = (vv * uw - uv * vw) / det, (uu * vw - uv * uw) / det
        return np.stack([1.0 - s - r, s, r], axis=1)
