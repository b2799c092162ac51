"""The position of points: what effectors and markers are made of."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError
from pliant.port.port import Array, Port, as_points


class Point(Port):
    """Position of one or several material points [m]; the effort is the force on them [N].

    The displacement is the position itself; targets are subtracted by whoever has one.
    """

    effort_unit: ClassVar[str] = "N"
    displacement_unit: ClassVar[str] = "m"
    straight = True

    def __init__(self, near: ArrayLike, axes: str = "xyz") -> None:
        """near [3] or [k, 3]: where the points are at rest [m]; axes: which coordinates count, such as "xy"."""
        self.points = as_points(near, "near")
        if not axes or not set(axes) <= set("xyz") or len(set(axes)) < len(axes):
            raise InputError(f"axes is {axes!r}", remedy="give some of the letters x, y, z, each once")
        self._axes = np.array(["xyz".index(axis) for axis in axes])
        count = len(self.points)
        self.row_names = tuple(axis if count == 1 else f"{k}.{axis}" for k in range(count) for axis in axes)

    def displacement(self, p: Array) -> Array:
        return np.asarray(p[:, self._axes]).ravel()

    def slope(self, p: Array) -> Array:
        count, rows = len(p), len(self._axes)
        out = np.zeros((count, rows, count, 3))
        for k in range(count):
            out[k, np.arange(rows), k, self._axes] = 1.0
        return out.reshape(count * rows, count, 3)
