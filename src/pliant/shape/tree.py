"""BoxTree: a balanced tree of bounding boxes, to find triangles or tets near a point without asking all of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.shape import _tree_kernels as kernels
from pliant.shape.topology import FloatArray, IntArray

LEAF = 4
"""Boxes per leaf, at most."""


@dataclass(frozen=True, eq=False)
class BoxTree:
    """A complete binary tree over boxes: node k has the children 2 k + 1 and 2 k + 2; the last level are the leaves.

    Leaf j holds the boxes `order[starts[j]:starts[j + 1]]`.
    """

    order: NDArray[np.int64]
    starts: NDArray[np.int64]
    lower: FloatArray
    upper: FloatArray

    @classmethod
    def of(cls, lower: FloatArray, upper: FloatArray) -> BoxTree:
        """Build over boxes with corners (m, 3): halve by the median along the widest side, level by level."""
        count = len(lower)
        depth = max(0, int(np.ceil(np.log2(count / LEAF))))
        middle = 0.5 * (lower + upper)
        order = np.arange(count)
        for level in range(depth):
            starts = _starts(count, level)
            inside = np.repeat(np.arange(2**level), np.diff(starts))
            sorted_middle = middle[order]
            spread = np.maximum.reduceat(sorted_middle, starts[:-1]) - np.minimum.reduceat(sorted_middle, starts[:-1])
            key = sorted_middle[np.arange(count), spread.argmax(axis=1)[inside]]
            order = order[np.lexsort((key, inside))]
        starts = _starts(count, depth)
        levels_low = [np.minimum.reduceat(lower[order], starts[:-1])]
        levels_high = [np.maximum.reduceat(upper[order], starts[:-1])]
        for _ in range(depth):
            levels_low.append(levels_low[-1].reshape(-1, 2, 3).min(axis=1))
            levels_high.append(levels_high[-1].reshape(-1, 2, 3).max(axis=1))
        return cls(order, starts, np.vstack(levels_low[::-1]), np.vstack(levels_high[::-1]))


def _starts(count: int, level: int) -> NDArray[np.int64]:
    """Where the 2^level equal parts of `count` boxes begin; parts of one level nest in those of the level above."""
    return np.asarray(np.arange(2**level + 1, dtype=np.int64) * count // 2**level)


@dataclass(frozen=True, eq=False)
class TriangleTree:
    """Nearest points and winding numbers with respect to triangles (t, 3) on nodes (n, 3) [m]."""

    tree: BoxTree
    corners: FloatArray
    """Corners of the triangles in the order of the tree, shape (t, 3, 3)."""
    centers: FloatArray
    normals: FloatArray
    radii: FloatArray
    """Area-weighted centre [m] (k, 3), summed area vector [m^2] (k, 3) and radius [m] (k,) of the tree's nodes."""

    @classmethod
    def of(cls, nodes: FloatArray, triangles: IntArray) -> TriangleTree:
        corners = nodes[triangles]
        tree = BoxTree.of(corners.min(axis=1), corners.max(axis=1))
        corners = np.ascontiguousarray(corners[tree.order])
        vectors = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2.0
        areas = np.linalg.norm(vectors, axis=1)[:, None]
        sums = np.add.reduceat(np.hstack([vectors, areas, areas * corners.mean(axis=1)]), tree.starts[:-1])
        levels = [sums]
        while len(levels[-1]) > 1:
            levels.append(levels[-1].reshape(-1, 2, 7).sum(axis=1))
        total = np.vstack(levels[::-1])
        centers = total[:, 4:] / np.maximum(total[:, 3:4], 1e-300)
        # The farthest corner of the box bounds the distance of everything in it.
        reach = np.maximum(tree.upper - centers, centers - tree.lower)
        return cls(tree, corners, centers, np.ascontiguousarray(total[:, :3]), np.linalg.norm(reach, axis=1))

    def closest(self, points: FloatArray) -> tuple[FloatArray, NDArray[np.int64], FloatArray]:
        """Distance [m] (p,), triangle (p,) and place [m] (p, 3) of the point of the surface nearest to each point."""
        points = np.ascontiguousarray(points, dtype=np.float64)
        squared = np.empty(len(points))
        triangle = np.empty(len(points), dtype=np.int64)
        place = np.empty((len(points), 3))
        t = self.tree
        kernels.closest_on_triangles(points, t.starts, t.lower, t.upper, self.corners, squared, triangle, place)
        return np.sqrt(squared), t.order[triangle], place

    def winding(self, points: FloatArray) -> FloatArray:
        """Generalized winding number (p,): 1 inside a closed outward surface, 0 outside and in cavities.

        Jacobson et al. 2013, with far groups of triangles replaced by their dipoles (Barill et al. 2018): exact near
        the surface, within a few hundredths elsewhere.
        """
        points = np.ascontiguousarray(points, dtype=np.float64)
        number = np.empty(len(points))
        kernels.winding_numbers(points, self.tree.starts, self.corners, self.centers, self.normals, self.radii, number)
        return number
