"""The drawn surface of a body, smooth on its faces and crisp at its edges."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pliant.body import Body, CarriedSurface
from pliant.robot import Robot

Array = NDArray[np.float64]
Ids = NDArray[np.int64]

CREASE = 0.8
"""Triangles whose normals have a smaller cosine than this between them meet at a crisp edge."""


class Hull:
    """Triangles of points that nodes carry; those at crisp edges have a vertex for each side, so that shading does not round
    them."""

    def __init__(self, rest: Array, surface: CarriedSurface, first_node: int = 0) -> None:
        """rest: of the nodes [n, 3] [m]; first_node: number of the first of them among those of the robot."""
        points, self.faces = creased(surface.positions(rest), surface.triangles)
        self.carried = CarriedSurface(surface.nodes[points], surface.weights[points], self.faces)
        self._own = slice(first_node, first_node + len(rest))

    def vertices(self, x: Array) -> NDArray[np.float32]:
        """Where the vertices are for node positions x of the robot, [v, 3]."""
        return np.asarray(self.carried.positions(x[self._own]), np.float32)


class Skin(Hull):
    """The hull of a body, and the stress on it."""

    def __init__(self, body: Body, first_node: int) -> None:
        """first_node: number of the body's first node among those of the robot."""
        super().__init__(body.rest, body.surface(), first_node)
        self.body = body
        self.moves = body.deforms or not len(body.supports.fixed)
        """False for a rigid body that is fixed in space."""

    def stress(self, x: Array) -> Array:
        """Von Mises stress [Pa] at the vertices, [v]; none in what does not deform."""
        if not self.body.deforms:
            return np.zeros(len(self.carried.nodes))
        return self.carried.positions(self.body.fields(x[self._own]).von_mises)


def skins_of(robot: Robot) -> list[Skin]:
    """One for every body that has a surface."""
    bodies = zip(robot.body_names, robot.bodies, strict=True)
    return [Skin(body, robot.nodes_of(name).start) for name, body in bodies if len(body.surface().triangles)]


def creased(x: Array, triangles: Ids) -> tuple[Ids, Ids]:
    """Nodes of vertices [v] and triangles of vertices [t, 3] such that triangles share vertices across smooth edges only."""
    corners = np.arange(3 * len(triangles)).reshape(-1, 3)
    a, b = corners[:, [0, 1, 2]].ravel(), corners[:, [1, 2, 0]].ravel()
    flat = triangles.ravel()
    low, high = np.minimum(flat[a], flat[b]), np.maximum(flat[a], flat[b])
    order = np.lexsort((high, low))
    same = (low[order[1:]] == low[order[:-1]]) & (high[order[1:]] == high[order[:-1]])
    one, other = order[:-1][same], order[1:][same]
    normals = _normals(x, triangles)
    smooth = np.einsum("ij,ij->i", normals[one // 3], normals[other // 3]) > CREASE
    one, other = one[smooth], other[smooth]
    # Two triangles run along their common edge in opposite senses: the end of one is the start of the other.
    rows, cols = np.concatenate([a[one], b[one]]), np.concatenate([b[other], a[other]])
    agree = flat[rows] == flat[cols]
    graph: Any = coo_array((np.ones(int(agree.sum())), (rows[agree], cols[agree])), shape=(corners.size, corners.size))
    count, vertex = connected_components(graph, directed=False)
    nodes = np.empty(count, np.int64)
    nodes[vertex] = flat
    return nodes, vertex.reshape(-1, 3).astype(np.int64)


def _normals(x: Array, triangles: Ids) -> Array:
    p, q, r = (x[triangles[:, k]] for k in range(3))
    normal = np.cross(q - p, r - p)
    return np.asarray(normal / np.maximum(np.linalg.norm(normal, axis=1), 1e-300)[:, None])
