"""Paths for targets: position as a function of time, at a given speed.

>>> circle = Circle(center=(0.1, 0, 0), radius=0.01, speed=0.02)
>>> round(circle.duration, 4)
3.1416
>>> len(list(circle.sampled(rate=50)))
158
"""

from __future__ import annotations

import csv
from abc import ABC, abstractmethod
from collections.abc import Iterator
from os import PathLike

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import as_numbers, number
from pliant.errors import FileError, InputError

Array = NDArray[np.float64]


class Trajectory(ABC):
    """A position [m], [3] (or a pose, [7]), for every time from 0 to `duration` [s]; before and after it stays at its ends."""

    duration: float

    @abstractmethod
    def position(self, time: float) -> Array:
        """Where the target is at `time` [s]."""

    def sampled(self, rate: float) -> Iterator[Array]:
        """Positions at `rate` [Hz], from the first to the one at the end."""
        rate = number(rate, "rate", unit="Hz", above=0.0, remedy="give a positive rate")
        steps = int(np.floor(self.duration * rate * (1 + 1e-12)))
        for k in range(steps + 1):
            yield self.position(k / rate)


class Waypoints(Trajectory):
    """Straight lines through points [k, 3] at constant speed [m/s], corners rounded by arcs of parabolas.

    corner [m]: how far before and after a point its corner is rounded (at most half of either side); 0: sharp.
    """

    def __init__(self, points: ArrayLike, speed: float, *, corner: float = 0.0, closed: bool = False) -> None:
        way = as_numbers(points)
        if way.ndim != 2 or way.shape[1] != 3 or len(way) < 2 or not np.isfinite(way).all():
            raise InputError(
                f"waypoints have shape {way.shape}", remedy="give at least two finite points of three numbers"
            )
        speed = number(speed, "speed", unit="m/s", above=0.0, remedy="give a positive speed")
        corner = number(corner, "corner", unit="m", least=0.0)
        way = np.concatenate([way, way[:1]]) if closed else way
        if (np.linalg.norm(np.diff(way, axis=0), axis=1) == 0).any():
            raise InputError("two waypoints in a row are equal", remedy="leave out repeated points")
        self._line = _rounded(way, corner, closed) if corner else way
        lengths = np.linalg.norm(np.diff(self._line, axis=0), axis=1)
        self._arrival = np.concatenate([[0.0], np.cumsum(lengths)]) / speed
        self.duration = float(self._arrival[-1])

    def position(self, time: float) -> Array:
        return np.array([np.interp(time, self._arrival, self._line[:, axis]) for axis in range(3)])


class Line(Waypoints):
    """From start to end at a speed [m/s].

    >>> way = Line((0, 0, 0), (0.1, 0, 0), speed=0.05)
    >>> way.duration, way.position(1.0)
    (2.0, array([0.05, 0.  , 0.  ]))
    """

    def __init__(self, start: ArrayLike, end: ArrayLike, speed: float) -> None:
        super().__init__([_place(start, "start"), _place(end, "end")], speed)


class Square(Waypoints):
    """A square of a given side [m] around a centre, in the plane with this normal, once round."""

    def __init__(
        self,
        center: ArrayLike,
        side: float,
        speed: float,
        *,
        normal: ArrayLike = (0.0, 0.0, 1.0),
        corner: float = 0.0,
    ) -> None:
        u, v = plane_axes(normal)
        c, side = _place(center, "center"), number(side, "side", unit="m", above=0.0)
        corners = [c + side / 2 * (a * u + b * v) for a, b in ((1, -1), (1, 1), (-1, 1), (-1, -1))]
        super().__init__(corners, speed, corner=corner, closed=True)


class Circle(Trajectory):
    """A circle around a centre [m] in the plane with this normal, at a speed [m/s], `turns` times.

    >>> places = list(Circle((0.1, 0, 0), radius=0.01, speed=0.01).sampled(rate=10))  # one every 0.1 s
    >>> len(places), places[0]
    (63, array([0.11, 0.  , 0.  ]))
    """

    def __init__(
        self, center: ArrayLike, radius: float, speed: float, *, normal: ArrayLike = (0.0, 0.0, 1.0), turns: float = 1.0
    ) -> None:
        radius, speed = number(radius, "radius", unit="m", above=0.0), number(speed, "speed", unit="m/s", above=0.0)
        turns = number(turns, "turns", above=0.0)
        self._center, self._radius = _place(center, "center"), radius
        self._u, self._v = plane_axes(normal)
        self._rate = speed / radius
        self.duration = float(2 * np.pi * turns / self._rate)

    def position(self, time: float) -> Array:
        angle = self._rate * min(max(time, 0.0), self.duration)
        out: Array = self._center + self._radius * (np.cos(angle) * self._u + np.sin(angle) * self._v)
        return out


class Recorded(Trajectory):
    """Positions at given times, straight between them; or poses, position and quaternion wxyz (7,), as a `Frame` takes them."""

    def __init__(self, times: ArrayLike, positions: ArrayLike) -> None:
        self._times, self._positions = np.atleast_1d(as_numbers(times)), as_numbers(positions)
        if self._times.ndim != 1 or self._positions.shape not in ((len(self._times), 3), (len(self._times), 7)):
            raise InputError(
                f"times have shape {self._times.shape} and positions {self._positions.shape}",
                remedy="give a list of times [s], and three coordinates [m], or those of a pose, for each",
            )
        if len(self._times) < 2 or not (np.isfinite(self._times).all() and np.isfinite(self._positions).all()):
            raise InputError(
                f"{len(self._times)} times, or numbers that are not finite",
                remedy="give two or more times and finite coordinates",
            )
        falls = np.flatnonzero(~(np.diff(self._times) > 0))
        if len(falls):
            k = int(falls[0])
            raise InputError(
                f"time {k + 2} is {self._times[k + 1]:g} s and the one before {self._times[k]:g} s",
                remedy="give times that rise",
            )
        self._times = self._times - self._times[0]
        self.duration = float(self._times[-1])

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Recorded:
        """From a CSV file with the columns time [s], x, y, z [m]; a first line of names is skipped."""
        remedy = "give two lines or more of time [s], x, y, z [m], times rising"
        try:
            with open(path, newline="", encoding="utf-8") as file:
                rows = [(k, row) for k, row in enumerate(csv.reader(file), start=1) if row]
        except OSError as error:
            raise FileError(f"{path}: {(error.strerror or str(error)).lower()}", remedy="check the path") from error
        except (ValueError, csv.Error) as error:
            raise FileError(f"{path} is no text with columns ({error})", remedy=remedy) from error
        numbers = []
        for line, row in rows[0 if rows and _is_number(rows[0][1][0]) else 1 :]:
            if len(row) < 4 or not all(_is_number(cell) for cell in row[:4]):
                raise FileError(f"{path}, line {line} is {','.join(row)!r}", remedy=remedy)
            numbers.append([float(cell) for cell in row[:4]])
        table = np.array(numbers, dtype=float).reshape(-1, 4)
        try:
            return cls(table[:, 0], table[:, 1:])
        except InputError as error:
            raise FileError(f"{path} holds no trajectory: {error.what}", remedy=remedy) from error

    def position(self, time: float) -> Array:
        found = np.array([np.interp(time, self._times, column) for column in self._positions.T])
        found[3:] /= np.linalg.norm(found[3:]) if len(found) > 3 else 1.0
        return found


def plane_axes(normal: ArrayLike) -> tuple[Array, Array]:
    """Two unit vectors that span the plane with this normal, right-handed; for z these are x and y."""
    n = as_numbers(normal)
    length = float(np.linalg.norm(n)) if n.shape == (3,) else 0.0
    if not (np.isfinite(length) and length > 0):
        raise InputError(f"normal is {normal!r}", remedy="give three numbers, not all zero")
    n = n / length
    start = np.array([1.0, 0.0, 0.0]) if abs(n[0]) < 0.9 else np.array([0.0, 1.0, 0.0])
    u = start - (start @ n) * n
    u /= np.linalg.norm(u)
    return u, np.cross(n, u)


def _place(value: ArrayLike, name: str) -> Array:
    place = as_numbers(value)
    if place.shape != (3,) or not np.isfinite(place).all():
        raise InputError(f"{name} is {value!r}", remedy="give three finite numbers [m]")
    return place


def _rounded(way: Array, corner: float, closed: bool) -> Array:
    """The polyline with parabolas in its corners, each of 16 pieces."""
    count = len(way) - 1 if closed else len(way)
    out = [] if closed else [way[0][None]]
    for k in range(0 if closed else 1, count if closed else count - 1):
        before, here, after = way[k - 1 if k else count - 1], way[k], way[k + 1]
        reach = min(corner, np.linalg.norm(here - before) / 2, np.linalg.norm(after - here) / 2)
        a = here + reach * (before - here) / np.linalg.norm(before - here)
        b = here + reach * (after - here) / np.linalg.norm(after - here)
        t = np.linspace(0, 1, 17)[:, None]
        out.append((1 - t) ** 2 * a + 2 * t * (1 - t) * here + t**2 * b)
    out.append(out[0][:1] if closed else way[-1][None])
    line: Array = np.concatenate(out)
    kept = np.concatenate([[True], np.linalg.norm(np.diff(line, axis=0), axis=1) > 1e-15])
    return np.asarray(line[kept])


def _is_number(text: str) -> bool:
    try:
        float(text)
        return True
    except ValueError:
        return False
