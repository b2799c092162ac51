"""Contacts in a step, and what is remembered of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Remembered:
    """What a state knows of the contacts of one touch after a step: numbers of the points (c,), forces on them (c, 3) [N], the
    ways out of the other side (c, 3), anchors (c, 3) [m] where they stick, as seen from the obstacle, and which slide (c,)."""

    ids: Ids
    forces: Array
    normals: Array
    anchors: Array
    slides: NDArray[np.bool_]

    @classmethod
    def nothing(cls) -> Remembered:
        """Before anything was touched."""
        none = np.empty((0, 3))
        return cls(np.empty(0, np.int64), none, none, none, np.empty(0, bool))


@dataclass(frozen=True)
class Contacts:
    """Points of one touch that are close to its obstacle, in one step.

    ids (c,), nodes and weights (c, j): which points, and what carries them; lifting (c, j): weights of the points that the gaps
    are measured from; gaps (c,) [m]; frames (c, 3, 3): rows are the way
    out and two tangents; heights (c,) [m]: n . p of the points that the gaps are measured from;
    depths (c,) [m]: gaps below zero that are left to the next steps;
    anchors (c, 3) [m]: where the points stick, or
    are; forces (c, 3) [N]: at the last step, along the rows of the frames; fresh (c,): did not touch then; friction (c,)
    """

    ids: Ids
    nodes: Ids
    weights: Array
    lifting: Array
    gaps: Array
    frames: Array
    heights: Array
    depths: Array
    anchors: Array
    forces: Array
    fresh: NDArray[np.bool_]
    friction: Array

    def __len__(self) -> int:
        return len(self.ids)


def tangent_frames(normals: Array) -> Array:
    """Right-handed frames (c, 3, 3) whose first rows are the normals (c, 3): they turn with those as little as possible."""
    least = np.abs(normals).argmin(axis=1)
    help_ = np.eye(3)[least]
    first = np.cross(normals, help_)
    first /= np.linalg.norm(first, axis=1)[:, None]
    return np.stack([normals, first, np.cross(normals, first)], axis=1)
