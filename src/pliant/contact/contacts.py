"""Contacts in a step, and what is remembered of them."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Remembered:
    """What a state knows of the contacts of one touch after a step: numbers of the points (c,), forces on them (c, 3) [N], the
    ways out of the other side (c, 3), where they stick, a material point of the other side: its face (c,) and three numbers
    (c, 3), and which slide (c,)."""

    ids: Ids
    forces: Array
    normals: Array
    faces: Ids
    anchors: Array
    slides: NDArray[np.bool_]

    @classmethod
    def nothing(cls) -> Remembered:
        """Before anything was touched."""
        none, ids = np.empty((0, 3)), np.empty(0, np.int64)
        return cls(ids, none, none, ids, none, np.empty(0, bool))

    def counted_from(self, first: int) -> Remembered:
        """The same with other numbers of the points."""
        return replace(self, ids=self.ids + first)

    def between(self, first: int, end: int) -> Remembered:
        """Those of points from one number to another, counted from the first."""
        own = (self.ids >= first) & (self.ids < end)
        return Remembered(*(getattr(self, name.name)[own] for name in fields(self))).counted_from(-first)

    def with_others(self, other: Remembered) -> Remembered:
        """These, and then others."""
        both = ((getattr(own, name.name) for own in (self, other)) for name in fields(self))
        return Remembered(*(np.concatenate(list(pair)) for pair in both))


@dataclass(frozen=True)
class Contacts:
    """Points of one touch that are close to its other side, in one step.

    ids (c,): which points, in rising order; gaps (c,) [m]; frames (c, 3, 3): rows are the way out of the other side and two
    tangents. nodes (c, j) carry the points and, where it moves with the robot, the other side; with lifting (c, j) the gap is
    n . sum l x - o_n, with weights (c, j) the slips are t . sum w x - o_t, origins o (c, 3) [m]. depths (c,) [m]: gaps below
    zero that are left to the next steps. faces (c,): of the other side, next to the points; stuck_to (c,) and anchors (c, 3):
    the material points of it that they stick to. forces (c, 3) [N]: at the last step, along the rows of the frames; fresh (c,):
    did not touch then; friction (c,).
    """

    ids: Ids
    nodes: Ids
    weights: Array
    lifting: Array
    gaps: Array
    frames: Array
    origins: Array
    depths: Array
    faces: Ids
    stuck_to: Ids
    anchors: Array
    forces: Array
    fresh: NDArray[np.bool_]
    friction: Array

    @classmethod
    def nothing(cls) -> Contacts:
        """Where nothing is close."""
        ids, some, none = np.empty(0, np.int64), np.empty((0, 3)), np.empty(0)
        wide, free = np.empty((0, 0)), np.empty(0, bool)
        return cls(
            ids, wide.astype(np.int64), wide, wide, none, np.empty((0, 3, 3)), some, none, ids, ids, some, some, free, none
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.ids)

    def holding(self, forces: Array) -> tuple[Contacts, Array, NDArray[np.bool_]]:
        """Those with a normal force, their forces (c, 3) [N] along the frames, and which slide (c,)."""
        holds = forces[:, 0] > 0.0
        own, forces = self.chosen(holds), forces[holds]
        return own, forces, np.linalg.norm(forces[:, 1:], axis=1) >= (1.0 - 1e-9) * own.friction * forces[:, 0]

    def chosen(self, which: NDArray[np.bool_] | slice) -> Contacts:
        """Some of them."""
        return Contacts(*(getattr(self, name.name)[which] for name in fields(self)))

    def counted_from(self, first: int) -> Contacts:
        """The same with other numbers of the points."""
        return replace(self, ids=self.ids + first)

    def with_others(self, other: Contacts) -> Contacts:
        """These, and then others."""
        if not len(self) or not len(other):
            return self if len(self) else other
        width = max(self.nodes.shape[1], other.nodes.shape[1])
        parts = []
        for name in fields(self):
            both = [getattr(own, name.name) for own in (self, other)]
            if name.name in ("nodes", "weights", "lifting"):
                both = [np.pad(own, ((0, 0), (0, width - own.shape[1]))) for own in both]
            parts.append(np.concatenate(both))
        return Contacts(*parts)
