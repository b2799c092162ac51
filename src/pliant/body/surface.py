"""The surface of a body: points that its nodes carry, and triangles of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.body.body import Array, Ids


@dataclass(frozen=True, eq=False)
class CarriedSurface:
    """Points p = sum_a w_a x_a, carried by nodes (v, k) of a body with weights (v, k), and outward triangles of points (t, 3).

    What is drawn of every body, and what others may touch. Of a mesh the points are nodes themselves, one each.
    """

    nodes: Ids
    weights: Array
    triangles: Ids

    @classmethod
    def of_nodes(cls, triangles: NDArray[np.integer]) -> CarriedSurface:
        """From triangles of nodes (t, 3)."""
        nodes, own = np.unique(triangles, return_inverse=True)
        return cls(nodes.astype(np.int64)[:, None], np.ones((len(nodes), 1)), own.reshape(-1, 3).astype(np.int64))

    def positions(self, x: Array) -> Array:
        """Where the points are with the body's nodes at x (n, 3), (v, 3) [m]; any field (n, k) on the nodes works."""
        if self.nodes.shape[1] == 1:
            return np.asarray(x[self.nodes[:, 0]])
        return np.asarray(np.einsum("va,va...->v...", self.weights, x[self.nodes]))


NO_SURFACE = CarriedSurface(np.empty((0, 1), np.int64), np.empty((0, 1)), np.empty((0, 3), np.int64))
