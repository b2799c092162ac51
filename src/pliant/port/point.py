"""The position of points: what effectors and markers are made of."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError
from pliant.port.port import Array, Port, as_points


class Point(Port):
    """Position of one or several material points [m]; the effort is the force on them [N].

    The displacement is the position itself; targets are subtracted by whoever has one. With `against`, it is the position of
    one point as seen from another, p - p', and the force acts on both in opposite senses: held at zero, it pins two bodies
    together.
    """

    effort_unit: ClassVar[str] = "N"
    displacement_unit: ClassVar[str] = "m"
    straight = True

    def __init__(self, near: ArrayLike, axes: str = "xyz", *, against: ArrayLike | None = None) -> None:
        """near [3] or [k, 3]: where the points are at rest [m]; axes: which coordinates count, such as "xy"; against [3]: the
        point [m] that a single one is seen from."""
        self.points = as_points(near, "near")
        count = len(self.points)
        self._places = np.eye(count)
        if against is not None:
            self.points = np.concatenate([self.points, as_points(against, "against")])
            if len(self.points) != 2:
                raise InputError(f"Point with {len(self.points)} places", remedy="give one point, and one against it")
            self._places = np.array([[1.0, -1.0]])
        if not axes or not set(axes) <= set("xyz") or len(set(axes)) < len(axes):
            raise InputError(f"axes is {axes!r}", remedy="give some of the letters x, y, z, each once")
        self._axes = np.array(["xyz".index(axis) for axis in axes])
        self.row_names = tuple(axis if count == 1 else f"{k}.{axis}" for k in range(count) for axis in axes)

    def displacement(self, p: Array) -> Array:
        return np.asarray((self._places @ p)[:, self._axes]).ravel()

    def slope(self, p: Array) -> Array:
        slopes = np.einsum("qk,rc->qrkc", self._places, np.eye(3)[self._axes])
        return np.asarray(slopes.reshape(len(self.row_names), len(p), 3))
