"""A cable (tendon) through a body."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError
from pliant.port.port import Array, Port, as_points


class Cable(Port):
    """A cable that slides without friction through points of a body: tension [N] and the length taken in [m].

    delta = L_rest - L with L = sum |p_(k+1) - p_k|, the way from the pull point (where there is one, fixed in space) through
    the points to the last, where the cable is tied. Positive tension pulls; a cable cannot push, so bound its effort below by
    zero. The same tension acts along the whole cable.
    """

    effort_unit: ClassVar[str] = "N"
    displacement_unit: ClassVar[str] = "m"

    def __init__(self, points: ArrayLike, pull: ArrayLike | None = None) -> None:
        """points [k, 3]: material points at rest [m], in order from the motor to the tied end; pull [3]: the place in
        space that the cable comes from, None where it runs between points of the body only (at least two)."""
        self.points = as_points(points, "cable points")
        self.pull = None if pull is None else as_points(pull, "pull")[0]
        if self.pull is None and len(self.points) < 2:
            raise InputError(
                "a cable with one point and no pull point has no length", remedy="give pull= or more points"
            )
        lengths = np.linalg.norm(self._segments(self.points), axis=1)
        short = np.flatnonzero(lengths < 1e-9)
        if len(short):
            raise InputError(
                f"segment {short[0]} of the cable has length zero",
                remedy="leave out repeated points",
                segment=int(short[0]),
            )
        self.rest_length = float(lengths.sum())
        k = np.arange(len(self.points))
        self.curved_pairs = np.concatenate([np.stack([k, k], axis=1), np.stack([k[1:], k[:-1]], axis=1)])

    def _segments(self, p: Array) -> Array:
        way = p if self.pull is None else np.concatenate([self.pull[None], p])
        return np.diff(way, axis=0)

    def length(self, p: Array) -> float:
        """Length of the cable [m] with its points at p [k, 3]."""
        return float(np.linalg.norm(self._segments(p), axis=1).sum())

    def displacement(self, p: Array) -> Array:
        return np.array([self.rest_length - self.length(p)])

    def slope(self, p: Array) -> Array:
        segments = self._segments(p)
        directions = segments / np.linalg.norm(segments, axis=1)[:, None]
        out = np.zeros_like(p)
        if self.pull is None:
            out[:-1] += directions
            out[1:] -= directions
        else:
            out -= directions
            out[:-1] += directions[1:]
        return out[None]

    def curvature(self, p: Array, efforts: Array) -> Array:
        """d2 delta = -(I - t t^T) / l on both ends of each segment, the opposite between them."""
        segments = self._segments(p)
        lengths = np.linalg.norm(segments, axis=1)
        t = segments / lengths[:, None]
        bend = -efforts[0] * (np.eye(3) - t[:, :, None] * t[:, None, :]) / lengths[:, None, None]
        own = np.zeros((len(p), 3, 3))
        between = bend if self.pull is None else bend[1:]
        own[:-1] += between
        own[1:] += between
        if self.pull is not None:
            own[0] += bend[0]
        return np.concatenate([own, -between])
