"""A body and what it may touch: an obstacle, or another body."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.contact.contacts import Contacts, Remembered
from pliant.contact.edges import EdgeWay
from pliant.contact.obstacle_side import ObstacleSide
from pliant.contact.one_way import AHEAD, CLOSE, OneWay
from pliant.contact.own_wall import OwnWall
from pliant.contact.side import PlacedSide, PlacedTriangles, Side
from pliant.errors import InputError

Array = NDArray[np.float64]
Ids = NDArray[np.int64]

LAST = np.iinfo(np.int64).max
SAME = 0.1
"""Contacts of two bodies that are closer to each other than this share of the edge are one."""


@dataclass(frozen=True)
class Seen:
    """Points of a touch: numbers (p,), where they are (p, 3) [m], gaps (p,) [m] and ways out of the other body (p, 3)."""

    ids: Ids
    points: Array
    gaps: Array
    normals: Array


@dataclass(frozen=True, eq=False)
class Touch:
    """A side of a body (its name) against an obstacle or a side of another body, and, where that has points, also the other way
    round; or against itself, as a wall to its own points; with Coulomb's friction."""

    name: str
    body: str
    side: Side
    against: Side
    friction: float
    other: str | None = None

    @property
    def _way(self) -> OneWay:
        return OneWay(self.side, self.against)

    @property
    def _back(self) -> OneWay:
        return OneWay(self.against, self.side)

    @property
    def edge(self) -> float:
        """Mean distance of neighbouring points [m]: what is small beside it is no matter."""
        return self._way.edge

    @property
    def obstacle(self) -> ObstacleSide | None:
        """The obstacle where it is, None for a body."""
        return self.against if isinstance(self.against, ObstacleSide) else None

    def moved(self, position: ArrayLike, quaternion: ArrayLike) -> Touch:
        """The same with the obstacle elsewhere: position (3,) [m] and quaternion wxyz of its origin."""
        if self.obstacle is None:
            raise InputError(
                f"touch {self.name!r} is with a body of the robot",
                remedy="its own motion moves it; move obstacles only",
            )
        return replace(self, against=self.obstacle.to(position, quaternion, self.name))

    def contacts(self, x: Array, ahead: Array, memory: Remembered) -> Contacts:
        """The points that may touch in a step, with the nodes at x (n, 3) before it and at `ahead` (n, 3) where nothing stops
        them, on from what is remembered."""
        here, there, count = self.side.at(x), self.against.at(x), self.side.count
        if not _may_meet(here, there, ahead, self.close):
            return Contacts.nothing()
        ours = self._way.contacts(here, there, x, ahead, memory.between(0, count), self.friction)
        if isinstance(self.against, OwnWall):
            return ours.chosen(_first_ones(here.points[ours.ids], SAME * self.edge))
        if not self.against.count:
            return ours
        known = memory.between(count, count + self.against.count)
        theirs = self._back.contacts(there, here, x, ahead, known, self.friction)
        if len(ours) and len(theirs):
            same = SAME * self._way.edge
            p = here.points[ours.ids] - self.side.radius * ours.frames[:, 0]
            q = there.points[theirs.ids] - self.against.radius * theirs.frames[:, 0]
            if self.side.keeps_points:
                theirs = theirs.chosen(_apart(q, p, same))
            else:  # a point that can stick is worth more than one that cannot
                ours = ours.chosen(_apart(p, q, same))
        points = ours.with_others(theirs.counted_from(count))
        way = self._edges
        if way is None:
            return points
        a, b = cast(PlacedTriangles, here), cast(PlacedTriangles, there)
        found = way.crossings(a, b, ahead, self.close)
        if not len(found.ids):
            return points
        known = memory.between(self._first_edge, LAST)
        crossing = way.contacts(a, b, x, found, known, self.friction)
        if len(points):
            near = np.concatenate([here.points[ours.ids], there.points[theirs.ids]])
            crossing = crossing.chosen(_apart(way.points(a, found), near, SAME * self._way.edge))
        return points.with_others(crossing.counted_from(self._first_edge))

    def remembered(self, contacts: Contacts, forces: Array, x: Array) -> Remembered:
        """After a step that ended with the nodes at x (n, 3) and forces (c, 3) [N] along the frames (`OneWay.remembered`)."""
        if not len(contacts):
            return Remembered.nothing()
        here, there = self.side.at(x), self.against.at(x)
        count, last = self.side.count, self._first_edge
        ours, edges = contacts.ids < count, contacts.ids >= last
        out = self._way.remembered(here, there, contacts.chosen(ours), forces[ours])
        theirs = ~(ours | edges)
        if theirs.any():
            own = contacts.chosen(theirs).counted_from(-count)
            out = out.with_others(self._back.remembered(there, here, own, forces[theirs]).counted_from(count))
        if edges.any() and self._edges is not None:
            own = contacts.chosen(edges).counted_from(-last)
            out = out.with_others(self._edges.remembered(own, forces[edges]).counted_from(last))
        return out

    def seen(self, x: Array, reach: float = 0.0, ids: Ids | None = None, normals: Array | None = None) -> Seen:
        """Points of both sides that are inside the other or as near as that [m], or those of some numbers (c,) wherever they
        are, with normals (c, 3), with the nodes at x (n, 3); normals lead out of what `body` touches."""
        here, there, count = self.side.at(x), self.against.at(x), self.side.count
        if ids is None and not _may_meet(here, there, x, reach):
            ids = np.empty(0, np.int64)
        ours = _seen(self._way, here, there, reach, None if ids is None else ids[ids < count])
        if not self.against.count:
            return ours
        last = self._first_edge
        theirs = _seen(
            self._back, there, here, reach, None if ids is None else ids[(ids >= count) & (ids < last)] - count
        )
        parts = [ours, Seen(count + theirs.ids, theirs.points, theirs.gaps, -theirs.normals)]
        way = self._edges
        if way is not None:
            a, b = cast(PlacedTriangles, here), cast(PlacedTriangles, there)
            if ids is None:
                found = way.crossings(a, b, x, reach)
            else:
                edges = ids >= last
                out = np.zeros((len(ids), 3)) if normals is None else normals
                found = way.known(a, b, ids[edges] - last, out[edges])
            parts.append(Seen(last + found.ids, way.points(a, found), found.gaps, found.normals))
        return Seen(
            *(np.concatenate([getattr(part, name) for part in parts]) for name in ("ids", "points", "gaps", "normals"))
        )

    @property
    def close(self) -> float:
        """Points as near as that may touch, however slow they are [m]."""
        return CLOSE * self._way.edge

    def sign(self, ids: Ids) -> Array:
        """1 for points and edges of `body`, -1 for points of what it touches, (c,)."""
        return np.where((ids < self.side.count) | (ids >= self._first_edge), 1.0, -1.0)

    @property
    def _first_edge(self) -> int:
        """Where the numbers of pairs of edges begin."""
        return self.side.count + self.against.count

    @property
    def _edges(self) -> EdgeWay | None:
        first, second = self.side.edges, self.against.edges
        return None if first is None or second is None else EdgeWay(first, second, self._way.edge)


def _seen(way: OneWay, here: PlacedSide, there: PlacedSide, reach: float, ids: Ids | None) -> Seen:
    points, radius, normals = here.points, way.side.radius, None if way.wall.is_flat else here.normals
    if ids is not None:
        points, normals, reach = points[ids], None if normals is None else normals[ids], np.inf
    hits = there.hits(points, normals, np.full(len(points), reach + radius), ids)
    gaps = hits.distances - radius
    which = np.flatnonzero(gaps <= reach)
    return Seen(
        which if ids is None else ids[which], (points - radius * hits.normals)[which], gaps[which], hits.normals[which]
    )


def _may_meet(here: PlacedSide, there: PlacedSide, ahead: Array, close: float) -> bool:
    """Whether the boxes around two sides and their ways to where nodes go (n, 3), looked ahead of, are as close as that [m]."""
    boxes = []
    for side in (here, there):
        if not side.is_bounded:
            return True
        p, q = side.points, side.moved(ahead)
        further = p + AHEAD * (q - p)
        boxes.append(
            (np.minimum(p, further).min(axis=0) - side.margin, np.maximum(p, further).max(axis=0) + side.margin)
        )
    (low, high), (least, most) = boxes
    return bool((low - close <= most).all() and (least - close <= high).all())


def _first_ones(points: Array, distance: float) -> NDArray[np.bool_]:
    """Which points (p, 3) are farther than that [m] from all that come before them and are kept."""
    from scipy.spatial import cKDTree

    keep = np.ones(len(points), bool)
    for a, b in sorted(cKDTree(points).query_pairs(distance)) if len(points) else ():
        keep[b] &= not keep[a]
    return keep


def _apart(points: Array, others: Array, distance: float) -> NDArray[np.bool_]:
    """Which points (p, 3) are farther than that [m] from all others (q, 3)."""
    from scipy.spatial import cKDTree

    return np.asarray(np.isinf(cKDTree(others).query(points, distance_upper_bound=distance)[0]))
