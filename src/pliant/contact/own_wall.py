"""A body as a wall to its own points: legs that close on each other, a tube that is pressed flat, a rod that coils."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pliant.contact import _self_kernels as kernels
from pliant.contact.mesh_side import MeshSide, PlacedMesh
from pliant.contact.side import Carried, Hits
from pliant.shape.facets import ALMOST

Array = NDArray[np.float64]
Ids = NDArray[np.int64]

APART = 2.0
"""What is closer at rest than this many edges, and not in front of the point, belongs to it: neighbours on the surface, and
the other face of what is thin."""
DEEP = 0.5
"""What is deeper than this share of the edge is no contact: it is the other face of the same part. What is closer at rest
belongs to the point, also where it is in front of it."""


class OwnWall:
    """What a surface of triangles is to its own points: the parts of it that look against them and are apart from them at rest.

    A point on a part of the body has the part's other face behind it, as a point that has gone in has the face that it went
    through. How far behind tells them apart: faces that are farther than `APART` at rest are not closer than `DEEP` afterwards,
    unless the part is pressed to a quarter of its thickness.
    """

    is_flat, radius, count, keeps_points, edges = False, 0.0, 0, True, None

    def __init__(self, side: MeshSide) -> None:
        self.side, self.edge = side, side.edge

    @cached_property
    def rest(self) -> tuple[Array, Array, Array]:
        """Places and normals of the points (v, 3) and places of the corners of the triangles (t, 3, 3) at rest [m]."""
        positions, which = self.side.rest_positions, self.side.chosen
        placed = self.side.facets.at(positions)
        return positions[which], placed.node_normals[which], placed.corners

    def at(self, x: Array) -> PlacedOwnWall:
        """See `Side`."""
        return PlacedOwnWall(self, PlacedMesh(self.side, x))


class PlacedOwnWall:
    """See `PlacedSide`; it has no points besides those of the surface, which are the other side."""

    def __init__(self, wall: OwnWall, mesh: PlacedMesh) -> None:
        self._wall, self._mesh = wall, mesh
        self.is_bounded, self.margin, self.points = True, mesh.margin, mesh.points
        self.drift, self.carried, self.material, self.moved = mesh.drift, mesh.carried, mesh.material, mesh.moved

    @property
    def normals(self) -> Array:
        """See `PlacedSide`."""
        return self._mesh.normals

    def touching(self, ids: Ids, normals: Array, ahead: Array) -> tuple[Carried, Array]:
        """See `PlacedSide`."""
        return self._mesh.touching(ids, normals, ahead)

    def hits(self, points: Array, normals: Array | None, reach: Array, ids: Ids | None = None) -> Hits:
        """See `PlacedWall`: points of the surface itself, no farther than one edge."""
        surface, wall = self._mesh.surface, self._wall
        f, count, (rest, rest_own, rest_corners) = surface.facets, len(points), wall.rest
        out = Hits(np.empty(count), np.empty((count, 3)), np.empty(count, np.int64), np.empty((count, 3)))
        normals = self.normals if normals is None else normals
        if ids is not None:
            rest, rest_own = rest[ids], rest_own[ids]
        kernels.own_distances(
            np.ascontiguousarray(points), normals, np.minimum(reach, wall.edge), rest, rest_own, rest_corners,
            APART * wall.edge, DEEP * wall.edge, ALMOST * f.edge, f.starts, surface.lower, surface.upper,
            surface.corners, f.triangles, surface.normals, f.around, f.begin, f.beside, *out
        )  # fmt: skip
        return out

    def crossed(self, points: Array, steps: Array) -> Hits:
        """See `PlacedWall`: what goes farther than an edge in a step is not looked for."""
        count = len(points)
        return Hits(np.full(count, np.inf), np.zeros((count, 3)), np.full(count, -1), np.zeros((count, 3)))
