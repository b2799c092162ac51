"""What takes part in contact: one side has points that may touch, the other is a wall to them; bodies are both."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pliant.shape.facets import PlacedFacets

if TYPE_CHECKING:
    from pliant.contact.edges import SharpEdges

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


class Hits(NamedTuple):
    """Of points: signed distances from a wall (p,) [m], infinite where it is out of sight; the way out of it (p, 3); and what
    is there: a face (p,) and three numbers (p, 3), a material point of the wall in its own terms (`PlacedSide.carried`)."""

    distances: Array
    normals: Array
    faces: Ids
    materials: Array

    def chosen(self, which: Ids | NDArray[np.bool_]) -> Hits:
        """Some of them."""
        return Hits(self.distances[which], self.normals[which], self.faces[which], self.materials[which])


class Carried(NamedTuple):
    """Points p = sum_j w_j x_j + o, by nodes of the robot (c, j), weights (c, j) and offsets o (c, 3) [m]."""

    nodes: Ids
    weights: Array
    offsets: Array

    def at(self, x: Array) -> Array:
        """Where they are with the nodes at x (n, 3), (c, 3) [m]."""
        return np.asarray(np.einsum("cj,cji->ci", self.weights, x[self.nodes]) + self.offsets)


class PlacedWall(Protocol):
    """What points look at, with the nodes of the robot where they are."""

    def drift(self, ahead: Array) -> tuple[Array, float]:
        """How far the wall goes as a whole (3,) [m] with the nodes of the robot at `ahead` (n, 3), and how far at most a place
        of it goes besides [m]."""

    def hits(self, points: Array, normals: Array | None, reach: Array, ids: Ids | None = None) -> Hits:
        """How far points (p, 3), on surfaces with normals (p, 3), are from the wall, as far as reach (p,) [m]; ids (p,): which
        of the points of their side they are, where they are not all of them."""

    def crossed(self, points: Array, steps: Array) -> Hits:
        """Where points (p, 3) that go by steps (p, 3) relative to the wall run into it."""

    def carried(self, faces: Ids, materials: Array) -> Carried:
        """Material points of the wall (c,), (c, 3), by what carries them."""

    def material(self, faces: Ids, points: Array) -> Array:
        """The material points (c, 3) of faces (c,) next to points (c, 3) [m]."""


class PlacedSide(PlacedWall, Protocol):
    """A body with the nodes of the robot where they are: a wall, and points of its own."""

    @property
    def points(self) -> Array:
        """Where its points are (v, 3) [m]."""

    @property
    def is_bounded(self) -> bool:
        """Whether all of it is around its points, and `margin` tells how far at most."""

    @property
    def margin(self) -> float:
        """How far around the box of its points the surface may be [m]."""

    @property
    def normals(self) -> Array | None:
        """Of the surface at the points (v, 3), where that is known."""

    def moved(self, ahead: Array) -> Array:
        """Where the points go with the nodes of the robot at `ahead` (n, 3), (v, 3) [m]."""

    def touching(self, ids: Ids, normals: Array, ahead: Array) -> tuple[Carried, Array]:
        """Points ids (c,) that touch something with these normals (c, 3), by what carries them, in a step in which nodes go to
        `ahead` (n, 3); and weights (c, j) of the same nodes for what must not slip there."""


class PlacedTriangles(Protocol):
    """The triangles of a side that has edges, with the nodes of the robot where they are."""

    @property
    def surface(self) -> PlacedFacets:
        """The triangles."""

    @property
    def nodes(self) -> Array:
        """Where their nodes are, (v, 3) [m]."""

    def nodes_at(self, ahead: Array) -> Array:
        """The same with the nodes of the robot at `ahead` (n, 3)."""

    def on_triangles(self, faces: Ids, shares: Array) -> Carried:
        """Places on triangles (c,) by the weights of their corners (c, 3), by what carries them."""


class Wall(Protocol):
    """What points may touch."""

    @property
    def edge(self) -> float:
        """Mean distance of neighbouring points [m]: what is small beside it is no matter."""

    @property
    def is_flat(self) -> bool:
        """Whether it is a plane: the nearest place tells all of it."""

    def at(self, x: Array) -> PlacedWall:
        """With the nodes of the robot at x (n, 3) [m]."""


class Side(Wall, Protocol):
    """A body in contact: a wall, and points of its own."""

    @property
    def radius(self) -> float:
        """How far around its points the surface is [m]."""

    @property
    def count(self) -> int:
        """Number of points."""

    @property
    def keeps_points(self) -> bool:
        """Whether a point is the same piece of material at every step, so that it can stick to a place."""

    @property
    def edges(self) -> SharpEdges | None:
        """Where its triangles turn outwards; None for what has none."""

    def at(self, x: Array) -> PlacedSide:
        """With the nodes of the robot at x (n, 3) [m]."""
