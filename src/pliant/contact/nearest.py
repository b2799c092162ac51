"""Signed distance from a surface of triangles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.shape.topology import FloatArray, IntArray
from pliant.shape.tree import TriangleTree

Array = NDArray[np.float64]

ON_EDGE = 1e-9
"""A barycentric coordinate below this is zero: the place is on an edge or at a corner."""


class NearestOnSurface:
    """Distance from the nearest place of a surface, negative behind it.

    Behind or in front is told by the normal of the feature that the place is on: of a triangle its own, of an edge and of a
    corner the mean of those around it, weighted by their angles there, which is right wherever the point is (Baerentzen and
    Aanaes 2005).
    """

    def __init__(self, nodes: FloatArray, triangles: IntArray) -> None:
        self._nodes, self._triangles = np.asarray(nodes, float), np.asarray(triangles, np.int64)
        self._tree = TriangleTree.of(self._nodes, triangles)
        corners = self._nodes[self._triangles]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        self._normals = normals / np.linalg.norm(normals, axis=1)[:, None]
        self._corner_normals = self._summed_by_angle(corners)
        self._edge_normals = self._summed_by_edge()

    def _summed_by_angle(self, corners: Array) -> Array:
        """Normals of the nodes, (n, 3), of any length."""
        out = np.zeros_like(self._nodes)
        for k in range(3):
            a, b = corners[:, (k + 1) % 3] - corners[:, k], corners[:, (k + 2) % 3] - corners[:, k]
            angle = np.arctan2(np.linalg.norm(np.cross(a, b), axis=1), np.einsum("ti,ti->t", a, b))
            np.add.at(out, self._triangles[:, k], angle[:, None] * self._normals)
        return out

    def _summed_by_edge(self) -> Array:
        """Normals of the edges opposite to the corners of every triangle, (t, 3, 3), of any length."""
        ends = np.sort(self._triangles[:, [[1, 2], [2, 0], [0, 1]]], axis=2).reshape(-1, 2)
        _, edge = np.unique(ends, axis=0, return_inverse=True)
        edge = edge.reshape(-1)
        sums = np.zeros((edge.max() + 1, 3))
        np.add.at(sums, edge, np.repeat(self._normals, 3, axis=0))
        return np.asarray(sums[edge].reshape(-1, 3, 3))

    def gaps(self, points: Array) -> tuple[Array, Array, Array]:
        """Distances (p,) [m], the way out (p, 3) and the nearest places (p, 3) [m]."""
        far, triangle, places = self._tree.closest(points)
        facing = self._facing(triangle, places)
        away = points - places
        behind = np.einsum("pi,pi->p", away, facing) < 0.0
        distances = np.where(behind, -far, far)
        # right at the surface the way there says nothing
        sure = far > 1e-9 * np.ptp(self._nodes, axis=0).max()
        normals = np.where(sure[:, None], away / np.where(sure, distances, 1.0)[:, None], facing)
        return distances, normals, places

    def _facing(self, triangle: NDArray[np.int64], places: Array) -> Array:
        """Unit normals (p, 3) of the features that places on triangles (p,) are on."""
        a, b, c = self._nodes[self._triangles[triangle]].transpose(1, 0, 2)
        area = np.einsum("pi,pi->p", np.cross(b - a, c - a), self._normals[triangle])
        shares = np.stack(
            [
                np.einsum("pi,pi->p", np.cross(c - b, places - b), self._normals[triangle]) / area,
                np.einsum("pi,pi->p", np.cross(a - c, places - c), self._normals[triangle]) / area,
            ],
            axis=1,
        )
        weights = np.concatenate([shares, 1.0 - shares.sum(axis=1, keepdims=True)], axis=1)
        zero = weights < ON_EDGE
        count = zero.sum(axis=1)
        edge = self._edge_normals[triangle, zero.argmax(axis=1)]
        corner = self._corner_normals[self._triangles[triangle, weights.argmax(axis=1)]]
        out = np.where((count == 0)[:, None], self._normals[triangle], np.where((count == 1)[:, None], edge, corner))
        return np.asarray(out / np.linalg.norm(out, axis=1)[:, None])
