"""An obstacle as a wall, where it is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.algebra.rotation import from_quaternion, to_quaternion
from pliant.checks import as_numbers
from pliant.contact.edges import SharpEdges
from pliant.contact.obstacles import Gaps, Obstacle
from pliant.contact.side import Carried, Hits
from pliant.errors import InputError
from pliant.shape.facets import PlacedFacets

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class ObstacleSide:
    """An obstacle at a pose, position (3,) [m] and rotation (3, 3): a wall (`PlacedWall`) wherever the nodes of a robot are. A
    material point is a place (3,) [m] as seen from the obstacle's own origin."""

    obstacle: Obstacle
    position: Array = field(default_factory=lambda: np.zeros(3))
    rotation: Array = field(default_factory=lambda: np.eye(3))

    edge, radius, margin, keeps_points = np.inf, 0.0, 0.0, True

    @property
    def count(self) -> int:
        """See `Side`: corners of a solid touch what comes over them."""
        return len(self.obstacle.corners)

    @property
    def is_bounded(self) -> bool:
        """See `PlacedSide`."""
        return self.obstacle.bounded

    @property
    def points(self) -> Array:
        """See `PlacedSide`."""
        return np.asarray(self.position + self.obstacle.corners @ self.rotation.T)

    @property
    def normals(self) -> Array:
        """See `PlacedSide`."""
        return np.asarray(self.obstacle.corner_normals @ self.rotation.T)

    def moved(self, ahead: Array) -> Array:
        """See `PlacedSide`: it does not."""
        return self.points

    def touching(self, ids: Ids, normals: Array, ahead: Array) -> tuple[Carried, Array]:
        """See `PlacedSide`: no node carries its points."""
        none = np.empty((len(ids), 0))
        return Carried(none.astype(np.int64), none, self.points[ids]), none

    @property
    def edges(self) -> SharpEdges | None:
        """See `Side`."""
        return self.obstacle.edges

    @cached_property
    def surface(self) -> PlacedFacets:
        """See `PlacedTriangles`."""
        return self.obstacle.facets.facets.at(self.nodes)

    @cached_property
    def nodes(self) -> Array:
        """See `PlacedTriangles`."""
        return np.asarray(self.position + self.obstacle.nodes @ self.rotation.T)

    def nodes_at(self, ahead: Array) -> Array:
        """See `PlacedTriangles`: it does not move."""
        return self.nodes

    def on_triangles(self, faces: Ids, shares: Array) -> Carried:
        """See `PlacedTriangles`: no node carries them."""
        none = np.empty((len(faces), 0))
        return Carried(none.astype(np.int64), none, self.surface.places(faces, shares))

    @property
    def is_flat(self) -> bool:
        """See `Wall`."""
        return self.obstacle.is_flat

    def to(self, position: ArrayLike, quaternion: ArrayLike, who: str) -> ObstacleSide:
        """The same elsewhere: position (3,) [m] and quaternion wxyz of its origin; who: whose it is, for errors."""
        p, q = as_numbers(position), as_numbers(quaternion)
        if p.shape != (3,) or q.shape != (4,) or not (np.isfinite(p).all() and np.linalg.norm(q) > 1e-9):
            raise InputError(
                f"obstacle {who!r} is moved to {position!r}, {quaternion!r}",
                remedy="give a position of three numbers [m] and a quaternion wxyz",
            )
        return replace(self, position=p, rotation=from_quaternion(q / np.linalg.norm(q)))

    @property
    def pose(self) -> Array:
        """Position [m] and quaternion wxyz (7,)."""
        return np.concatenate([self.position, to_quaternion(self.rotation)])

    def at(self, x: Array) -> ObstacleSide:
        """See `Wall`: it is where it is."""
        return self

    def drift(self, ahead: Array) -> tuple[Array, float]:
        """See `PlacedWall`."""
        return np.zeros(3), 0.0

    def hits(self, points: Array, normals: Array | None, reach: Array, ids: Ids | None = None) -> Hits:
        """See `PlacedWall`."""
        own = None if normals is None else normals @ self.rotation
        return self._hits(self.obstacle.gaps((points - self.position) @ self.rotation, own))

    def crossed(self, points: Array, steps: Array) -> Hits:
        """See `PlacedWall`."""
        return self._hits(self.obstacle.crossed((points - self.position) @ self.rotation, steps @ self.rotation))

    def _hits(self, gaps: Gaps) -> Hits:
        return Hits(
            gaps.distances, gaps.normals @ self.rotation.T, np.zeros(len(gaps.distances), np.int64), gaps.places
        )

    def carried(self, faces: Ids, materials: Array) -> Carried:
        """See `PlacedWall`: no node carries them."""
        none = np.empty((len(faces), 0))
        return Carried(none.astype(np.int64), none, self.position + materials @ self.rotation.T)

    def material(self, faces: Ids, points: Array) -> Array:
        """See `PlacedWall`."""
        return np.asarray((points - self.position) @ self.rotation)
