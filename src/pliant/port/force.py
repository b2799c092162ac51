"""Linear actuation: a force on a point along a fixed direction, or between two points."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.checks import as_numbers
from pliant.errors import InputError
from pliant.port.port import Array, Port, as_direction, as_points


class Force(Port):
    """A force [N] and the displacement along it [m].

    With a direction d: the force acts on the point at `at` along d, delta = d . (p - p_rest). Several points share the
    force equally (a load on a region), or by `shares`: lengths make it a load per length. With `towards`: the force pulls the
    two points together along the line between them, delta = |p_rest| - |p|, the shortening of their distance.
    """

    effort_unit: ClassVar[str] = "N"
    displacement_unit: ClassVar[str] = "m"

    def __init__(
        self,
        at: ArrayLike,
        shares: ArrayLike | None = None,
        *,
        direction: ArrayLike | None = None,
        towards: ArrayLike | None = None,
    ) -> None:
        """at (3,) or (k, 3) [m]: points at rest; shares (k,): how much of the force each has, over their sum."""
        points = as_points(at, "at")
        self._shares = _shares(shares, len(points))
        if (direction is None) == (towards is None):
            raise InputError("Force needs a direction or a second point", remedy="give either direction= or towards=")
        self._direction = None if direction is None else as_direction(direction, "direction")
        self.straight = direction is not None
        if towards is None:
            self.points = points
            return
        self.points = np.concatenate([points, as_points(towards, "towards")])
        if len(self.points) != 2:
            raise InputError(f"Force between {len(self.points)} points", remedy="give one point at each end")
        self._length = float(np.linalg.norm(self.points[0] - self.points[1]))
        if self._length == 0:
            raise InputError(
                "Force between two equal points has no direction", remedy="move one of them, or use direction="
            )
        self.curved_pairs = np.array([[0, 0], [1, 1], [1, 0]])

    def displacement(self, p: Array) -> Array:
        if self._direction is not None:
            return np.array([self._shares @ (p - self.points) @ self._direction])
        return np.array([self._length - np.linalg.norm(p[1] - p[0])])

    def slope(self, p: Array) -> Array:
        if self._direction is not None:
            return np.outer(self._shares, self._direction)[None]
        d = (p[1] - p[0]) / np.linalg.norm(p[1] - p[0])
        return np.array([[d, -d]])

    def curvature(self, p: Array, efforts: Array) -> Array:
        if self._direction is not None:
            return np.empty((0, 3, 3))
        length = np.linalg.norm(p[1] - p[0])
        d = (p[1] - p[0]) / length
        block = -efforts[0] * (np.eye(3) - np.outer(d, d)) / length
        return np.array([block, block, -block])


def _shares(given: ArrayLike | None, count: int) -> Array:
    """Parts of a force on so many points, (count,), which sum to one."""
    shares = np.ones(count) if given is None else as_numbers(given)
    if shares.shape != (count,) or not (np.isfinite(shares).all() and (shares >= 0).all() and shares.sum() > 0):
        raise InputError(f"shares of a force are {given!r}", remedy=f"give {count} numbers >= 0, not all zero")
    return np.asarray(shares / shares.sum())
