"""A body that touches with a surface of triangles."""

from __future__ import annotations

from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.body.surface import CarriedSurface
from pliant.contact.edges import SharpEdges
from pliant.contact.side import Carried, Hits
from pliant.errors import InputError
from pliant.shape.facets import Facets, PlacedFacets

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


class SixNodePatches(NamedTuple):
    """What triangles (t, 3) are parts of, on ten-node bodies: patches of six nodes (t, 6), corners and then the middles of
    edges 01, 12, 20; and their corners' barycentric coordinates there (t, 3, 3)."""

    nodes: Ids
    corners: Array

    def weights(self, faces: Ids, shares: Array) -> Array:
        """Of the six nodes (c, 6), for places on triangles: N_i = L_i (2 L_i - 1), N_ij = 4 L_i L_j."""
        L = np.einsum("ca,cal->cl", shares, self.corners[faces])
        return np.concatenate([L * (2.0 * L - 1.0), 4.0 * L * L[:, [1, 2, 0]]], axis=1)


class MeshSide:
    """Points of the surface of a body, each carried by nodes of the robot, and the triangles between them."""

    keeps_points, is_flat, radius = True, False, 0.0

    def __init__(
        self,
        surface: CarriedSurface,
        rest: Array,
        first_node: int,
        spacing: float | None = None,
        *,
        flat_points: bool = True,
        patches: SixNodePatches | None = None,
    ) -> None:
        """rest (n, 3): the nodes of the body at rest; first_node: of the body among those of the robot; spacing [m]: points
        closer to one that is there already are left out; flat_points: False leaves out those within flat parts of the surface,
        where the corners around them tell all (rigid bodies); patches: of the triangles on a ten-node body, by its nodes."""
        used, own = np.unique(surface.triangles, return_inverse=True)
        if not len(used):
            raise InputError("the body has no surface to touch with", remedy="give surface=, or choose another body")
        positions = surface.positions(rest)[used]
        self.facets = Facets(positions, own.reshape(-1, 3).astype(np.int32))
        self.nodes, self.weights = first_node + surface.nodes[used], surface.weights[used]
        self.edge, self.chosen = self.facets.edge, np.arange(len(used))
        if spacing is not None:
            self.edge, self.chosen = max(self.edge, spacing), _thinned(positions, spacing)
        if not flat_points:
            self.chosen = self.chosen[~self.facets.at(positions).flat[self.chosen]]
        self.count, self.rest_positions = len(self.chosen), positions
        self.margin = 0.0 if self.count == len(used) else self.edge
        self.is_rigid = bool((self.nodes == self.nodes[0]).all())
        """Whether the same nodes carry all points."""
        self.corners = self.nodes[self.facets.triangles], self.weights[self.facets.triangles]
        """Nodes and weights of the corners of all triangles, (t, 3, k) each, in the order of the tree."""
        order = self.facets.order
        self.patches = patches and SixNodePatches(first_node + patches.nodes[order], patches.corners[order])

    @cached_property
    def edges(self) -> SharpEdges:
        """See `Side`: as they are at rest."""
        return SharpEdges.of(self.facets.at(self.rest_positions))

    def at(self, x: Array) -> PlacedMesh:
        """See `Side`."""
        return PlacedMesh(self, x)

    def positions(self, x: Array) -> Array:
        """Where all points of the surface are with the nodes of the robot at x (n, 3), (v, 3) [m]."""
        if self.nodes.shape[1] == 1:
            return np.asarray(x[self.nodes[:, 0]])
        return np.asarray(np.einsum("va,vai->vi", self.weights, x[self.nodes]))


class PlacedMesh:
    """See `PlacedSide`. A material point is a face and the weights of its corners."""

    is_bounded = True

    def __init__(self, side: MeshSide, x: Array) -> None:
        self._side, self.nodes = side, side.positions(x)
        self.margin = side.margin
        self.points = self.nodes if side.count == len(self.nodes) else self.nodes[side.chosen]

    @property
    def normals(self) -> Array:
        """See `PlacedSide`."""
        return self.surface.node_normals[self._side.chosen]

    @cached_property
    def surface(self) -> PlacedFacets:
        """See `PlacedSide`."""
        return self._side.facets.at(self.nodes)

    def nodes_at(self, ahead: Array) -> Array:
        """See `PlacedSide`."""
        return self._side.positions(ahead)

    def moved(self, ahead: Array) -> Array:
        """See `PlacedSide`."""
        return self._side.positions(ahead)[self._side.chosen]

    def touching(self, ids: Ids, normals: Array, ahead: Array) -> tuple[Carried, Array]:
        """See `PlacedSide`: gaps and slips are those of the same point."""
        which = self._side.chosen[ids]
        weights = self._side.weights[which]
        return Carried(self._side.nodes[which], weights, np.zeros((len(ids), 3))), weights

    def drift(self, ahead: Array) -> tuple[Array, float]:
        """See `PlacedSide`."""
        ways = self._side.positions(ahead) - self.nodes
        mean = ways.mean(axis=0)
        return mean, float(np.sqrt(((ways - mean) ** 2).sum(axis=1).max()))

    def hits(self, points: Array, normals: Array | None, reach: Array, ids: Ids | None = None) -> Hits:
        """See `PlacedSide`."""
        return Hits(*self.surface.hits(points, normals, reach))

    def crossed(self, points: Array, steps: Array) -> Hits:
        """See `PlacedSide`."""
        found, shares = self.surface.crossed(points, steps, np.arange(len(points)))
        ways = self.surface.normals[found]
        high = np.einsum("pi,pi->p", ways, points - self.surface.places(found, shares))
        return Hits(np.where(found >= 0, high, np.inf), ways, found, shares)

    def carried(self, faces: Ids, materials: Array) -> Carried:
        """See `PlacedSide`."""
        patches = self._side.patches
        if patches is not None:
            return Carried(patches.nodes[faces], patches.weights(faces, materials), np.zeros((len(faces), 3)))
        nodes, weights = self._side.corners[0][faces], self._side.corners[1][faces]
        mixed, count = materials[:, :, None] * weights, len(faces)
        offsets = np.zeros((count, 3))
        if self._side.is_rigid:
            return Carried(nodes[:, 0], mixed.sum(axis=1), offsets)
        width = 3 * nodes.shape[2]
        return Carried(nodes.reshape(count, width), mixed.reshape(count, width), offsets)

    def on_triangles(self, faces: Ids, shares: Array) -> Carried:
        """See `PlacedTriangles`."""
        return self.carried(faces, shares)

    def material(self, faces: Ids, points: Array) -> Array:
        """See `PlacedSide`: in the plane of the face."""
        return self.surface.shares_of(faces, points)


def _thinned(points: Array, spacing: float) -> Ids:
    """Numbers of points that are at least so far from each other, the first come first."""
    from scipy.spatial import cKDTree

    tree, left = cKDTree(points), np.ones(len(points), bool)
    for k in range(len(points)):
        if left[k]:
            close = tree.query_ball_point(points[k], spacing)
            left[close] = False
            left[k] = True
    return np.flatnonzero(left)
