"""What a haptic device lets a hand feel: walls, lines, boxes and whatever else keeps it somewhere.

A fixture looks where the effector is, x (e,) from rest [m, rad], and says which directions n (e,) are not free, and how far
along each the effector is to go: n . (goal - x) = way. Nothing that is said is free space. Fixtures compose: `a + b` is both.

Each such `Limit` is rigid, or a spring and a damper, k s + b ds/dt = push, by whose stretch s the goal stays behind; it holds
on both sides, or on one (a wall), and then only while the effector is beyond it or about to be, were it let go.

    class Ramp(Fixture):                                    # a fixture of your own: a floor that rises with x
        def limits(self, x):
            n = np.array([-0.3, 1.0, 0.0, 0.0, 0.0]) / np.hypot(0.3, 1.0)
            return [Limit(n, -(n @ x), one_sided=True)]
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import as_numbers, number
from pliant.control.trajectory import plane_axes
from pliant.errors import InputError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Limit:
    """One direction that is not free: n (e,), a unit vector in metres or in radians; way: how far along it the effector is to
    go, positive where it is beyond a wall; one_sided: whether it only pushes along n; stiffness [N/m, N m/rad] and damping [N
    s/m, N m s/rad] of the spring in between, inf and 0 for a rigid one."""

    n: Array
    way: float
    one_sided: bool = False
    stiffness: float = np.inf
    damping: float = 0.0


class Fixture(ABC):
    """Something that keeps an effector somewhere. Always says as many limits, in the same order."""

    @abstractmethod
    def limits(self, x: Array) -> Sequence[Limit]:
        """What is not free at x (e,) [m, rad], from rest."""

    def __add__(self, other: Fixture) -> Fixture:
        return All(self, other)


class FreeSpace(Fixture):
    """Nothing: the device follows the hand."""

    def limits(self, x: Array) -> Sequence[Limit]:
        return ()


class All(Fixture):
    """Several at once."""

    def __init__(self, *fixtures: Fixture) -> None:
        self.fixtures = fixtures

    def limits(self, x: Array) -> Sequence[Limit]:
        return [limit for fixture in self.fixtures for limit in fixture.limits(x)]


class _Soft(Fixture):
    """A fixture of limits that are all as stiff."""

    def __init__(self, stiffness: float, damping: float) -> None:
        self.stiffness = number(stiffness, "stiffness", above=0.0, endless=True)
        self.damping = number(damping, "damping", least=0.0)

    def _limit(self, n: Array, way: float, one_sided: bool = False) -> Limit:
        return Limit(n, way, one_sided, self.stiffness, self.damping)


class Point(_Soft):
    """A place, in some rows or in all of them."""

    def __init__(
        self, place: ArrayLike, *, rows: Sequence[int] | None = None, stiffness: float = np.inf, damping: float = 0.0
    ) -> None:
        """place (e,): [m, rad]; rows: numbers of those that are held, all by default."""
        super().__init__(stiffness, damping)
        self.place = as_numbers(place)
        self.rows = list(range(len(self.place))) if rows is None else list(rows)
        if not set(self.rows) <= set(range(len(self.place))):
            raise InputError(f"rows {rows} of {len(self.place)}", remedy="give numbers from 0 on")
        self._units = np.eye(len(self.place))

    def limits(self, x: Array) -> Sequence[Limit]:
        return [self._limit(self._units[k], float(self.place[k] - x[k])) for k in self.rows]


class Wall(_Soft):
    """A wall: n . x >= offset, in places or in angles."""

    def __init__(self, n: ArrayLike, offset: float, *, stiffness: float = np.inf, damping: float = 0.0) -> None:
        """n (e,): out of the wall, of rows in metres or of rows in radians; offset [m or rad]: of its surface along n."""
        super().__init__(stiffness, damping)
        given = as_numbers(n)
        size = float(np.linalg.norm(given))
        if given.ndim != 1 or not (np.isfinite(size) and size > 0):
            raise InputError(f"n of a wall is {n!r}", remedy="give one number per effector row, not all zero")
        self.n, self.offset = given / size, number(offset, "offset")

    def limits(self, x: Array) -> Sequence[Limit]:
        return [self._limit(self.n, float(self.offset - self.n @ x), one_sided=True)]


class Line(_Soft):
    """A straight line in space: the effector moves along it only, and tilts as it likes, or not at all."""

    def __init__(
        self, point: ArrayLike, direction: ArrayLike, *, tilts: ArrayLike | None = None, size: int = 5,
        stiffness: float = np.inf, damping: float = 0.0
    ) -> None:  # fmt: skip
        """point, direction (3,): of the line [m]; tilts (e - 3,): rotations that are held [rad], None: free; size: e."""
        super().__init__(stiffness, damping)
        self.point, along = as_numbers(point), as_numbers(direction)
        self._across = _wide(plane_axes(along), size)
        self._tilts = None if tilts is None else Point(
            np.concatenate([np.zeros(3), as_numbers(tilts)]), rows=range(3, size)
        )  # fmt: skip

    def limits(self, x: Array) -> Sequence[Limit]:
        own = [self._limit(n, float(n[:3] @ (self.point - x[:3]))) for n in self._across]
        return own if self._tilts is None else [*own, *self._tilts.limits(x)]


class Circle(_Soft):
    """A circle in space."""

    def __init__(
        self, center: ArrayLike, radius: float, normal: ArrayLike, *, tilts: ArrayLike | None = None, size: int = 5,
        stiffness: float = np.inf, damping: float = 0.0
    ) -> None:  # fmt: skip
        """center, normal (3,) [m], radius [m]; tilts, size: as of a `Line`."""
        super().__init__(stiffness, damping)
        self.center, self.radius = as_numbers(center), number(radius, "radius", unit="m", above=0.0)
        self.normal = as_numbers(normal) / np.linalg.norm(as_numbers(normal))
        self._size, self._start = size, plane_axes(self.normal)[0]
        self._tilts = None if tilts is None else Point(
            np.concatenate([np.zeros(3), as_numbers(tilts)]), rows=range(3, size)
        )  # fmt: skip

    def limits(self, x: Array) -> Sequence[Limit]:
        off = x[:3] - self.center
        height = float(self.normal @ off)
        level = off - height * self.normal
        distance = float(np.linalg.norm(level))
        outward = level / distance if distance > 1e-9 else self._start
        across = _wide((outward, self.normal), self._size)
        own = [self._limit(across[0], self.radius - distance), self._limit(across[1], -height)]
        return own if self._tilts is None else [*own, *self._tilts.limits(x)]


class Box(All):
    """Inside a box: a wall on each side of the first three rows."""

    def __init__(
        self, center: ArrayLike, half: ArrayLike, *, size: int = 5, stiffness: float = np.inf, damping: float = 0.0
    ) -> None:
        """center, half (3,) [m]: the middle, and how far it is to each side."""
        middle, reach = as_numbers(center), np.broadcast_to(as_numbers(half), (3,))
        walls = []
        for k in range(3):
            for sign in (1.0, -1.0):
                n = np.zeros(size)
                n[k] = sign
                walls.append(Wall(n, sign * middle[k] - reach[k], stiffness=stiffness, damping=damping))
        super().__init__(*walls)


def _wide(directions: Sequence[Array], size: int) -> list[Array]:
    """Directions (3,) as ones of all rows (e,)."""
    return [np.concatenate([np.asarray(n, float), np.zeros(size - 3)]) for n in directions]
