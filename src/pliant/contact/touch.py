"""A body and what it may touch: an obstacle, or another body."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.contact.contacts import Contacts, Remembered
from pliant.contact.obstacle_side import ObstacleSide
from pliant.contact.one_way import CLOSE, OneWay
from pliant.contact.side import PlacedSide, PlacedWall, Side
from pliant.errors import InputError

Array = NDArray[np.float64]
Ids = NDArray[np.int64]

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
    """A side of a body (its name) against an obstacle, or against a side of another body, and then also the other way round;
    with Coulomb's friction."""

    name: str
    body: str
    side: Side
    against: Side | ObstacleSide
    friction: float
    other: str | None = None

    @property
    def _way(self) -> OneWay:
        return OneWay(self.side, self.against)

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
        other, count, here = self.against, self.side.count, self.side.at(x)
        if isinstance(other, ObstacleSide):
            return self._way.contacts(here, other, x, ahead, memory, self.friction)
        there = other.at(x)
        ours = self._way.contacts(here, there, x, ahead, memory.between(0, count), self.friction)
        known = memory.between(count, count + other.count)
        theirs = OneWay(other, self.side).contacts(there, here, x, ahead, known, self.friction)
        if len(ours) and len(theirs):
            same = SAME * self._way.edge
            p, q = here.points[ours.ids] - self.side.radius * ours.frames[:, 0], there.points[theirs.ids]
            if self.side.keeps_points:
                theirs = theirs.chosen(_apart(q, p, same))
            else:  # a point that can stick is worth more than one that cannot
                ours = ours.chosen(_apart(p, q, same))
        return ours.with_others(theirs.counted_from(count))

    def remembered(self, contacts: Contacts, forces: Array, x: Array) -> Remembered:
        """After a step that ended with the nodes at x (n, 3) and forces (c, 3) [N] along the frames (`OneWay.remembered`)."""
        other = self.against
        if isinstance(other, ObstacleSide):
            return self._way.remembered(other, contacts, forces, x)
        ours = contacts.ids < self.side.count
        first = self._way.remembered(other.at(x), contacts.chosen(ours), forces[ours], x)
        back = OneWay(other, self.side)
        return first.with_others(back.remembered(self.side.at(x), contacts.chosen(~ours), forces[~ours], x))

    def seen(self, x: Array, reach: float = 0.0, ids: Ids | None = None) -> Seen:
        """Points of both sides that are inside the other or as near as that [m], or those of some numbers (c,) wherever they
        are, with the nodes at x (n, 3); normals lead out of what `body` touches."""
        other, count, here = self.against, self.side.count, self.side.at(x)
        mine = None if ids is None else ids[ids < count]
        if isinstance(other, ObstacleSide):
            return _seen(self._way, here, other, reach, mine)
        there = other.at(x)
        ours = _seen(self._way, here, there, reach, mine)
        theirs = _seen(OneWay(other, self.side), there, here, reach, None if ids is None else ids[ids >= count] - count)
        return Seen(
            np.concatenate([ours.ids, count + theirs.ids]),
            np.concatenate([ours.points, theirs.points]),
            np.concatenate([ours.gaps, theirs.gaps]),
            np.concatenate([ours.normals, -theirs.normals]),
        )

    @property
    def close(self) -> float:
        """Points as near as that may touch, however slow they are [m]."""
        return CLOSE * self._way.edge

    def sign(self, ids: Ids) -> Array:
        """1 for points of `body`, -1 for those of the other body, (c,)."""
        return np.where(ids < self.side.count, 1.0, -1.0)


def _seen(way: OneWay, here: PlacedSide, there: PlacedWall, reach: float, ids: Ids | None) -> Seen:
    points, radius, normals = here.points, way.side.radius, None if way.wall.is_flat else here.normals
    if ids is not None:
        points, normals, reach = points[ids], None if normals is None else normals[ids], np.inf
    hits = there.hits(points, normals, np.full(len(points), reach + radius))
    gaps = hits.distances - radius
    which = np.flatnonzero(gaps <= reach)
    return Seen(
        which if ids is None else ids[which], (points - radius * hits.normals)[which], gaps[which], hits.normals[which]
    )


def _apart(points: Array, others: Array, distance: float) -> NDArray[np.bool_]:
    """Which points (p, 3) are farther than that [m] from all others (q, 3)."""
    from scipy.spatial import cKDTree

    return np.asarray(np.isinf(cKDTree(others).query(points, distance_upper_bound=distance)[0]))
