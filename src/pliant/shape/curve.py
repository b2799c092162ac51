"""Curves in space: the centrelines of rods."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from pliant.checks import as_numbers, number, whole
from pliant.errors import InputError
from pliant.shape.files import metres
from pliant.shape.topology import FloatArray

FINEST = 0.01
"""Angle [rad] by which a smooth curve turns between its knots at most: as far apart, cubics are exact to 1e-11."""
FEWEST, MOST = 64, 20000
"""Knots of a smooth curve."""
CORNER = 1e-6
"""Angle [rad] above which two pieces of a curve meet in a corner."""


class Sections(NamedTuple):
    """Places along a curve: points (n + 1, 3) [m]; frames (n + 1, 3, 3), whose columns are the tangent and the two axes of a
    section; and where they are along the curve, (n + 1,) [m]."""

    points: FloatArray
    frames: FloatArray
    places: FloatArray


class Curve:
    """A curve with a frame at each of its places: columns x (along), y and z (across).

    The frames do not turn about the curve on their way (rotation-minimizing, by double reflection: Wang et al. 2008); `up` says
    where z points at the start. Between knots the curve is a cubic in its length; straight pieces meet in corners.

    >>> from pliant.shape import Curve
    >>> arc = Curve.arc(center=(0, 0, 0), start=(0.1, 0, 0), axis=(0, 0, 1), angle=np.pi / 2)
    >>> round(arc.length, 6)
    0.15708
    >>> arc.sampled(count=4).points[-1].round(9) + 0.0
    array([0. , 0.1, 0. ])
    """

    def __init__(self, points: ArrayLike, *, up: ArrayLike | None = None) -> None:
        """Straight pieces through points (n, 3) [m]; up (3,): where z of the first section points, as far as the curve lets it;
        by default up in space (x where the curve begins that way)."""
        knots = _checked(points)
        ways = np.diff(knots, axis=0)
        tangents = ways / np.linalg.norm(ways, axis=1, keepdims=True)
        self._lay(knots, np.repeat(tangents[:, None], 2, axis=1), np.linalg.norm(ways, axis=1), up)

    def _lay(self, knots: FloatArray, tangents: FloatArray, lengths: FloatArray, up: ArrayLike | None) -> None:
        """knots (k + 1, 3), and of the pieces between them the tangents at both ends (k, 2, 3) and the lengths (k,)."""
        self._knots, self._tangents, self._lengths = knots, tangents, lengths
        self._places = np.concatenate([[0.0], np.cumsum(lengths)])
        between = np.einsum("ki,ki->k", tangents[:-1, 1], tangents[1:, 0])
        if (between < np.cos(np.pi - 1e-3)).any():
            at = knots[1 + int(between.argmin())]
            raise InputError(f"the curve turns back on itself at {at.tolist()} m", remedy="leave out that point")
        self._corners = 1 + np.flatnonzero(between < np.cos(CORNER))
        self._up = self._start(up)

    def _start(self, up: ArrayLike | None) -> FloatArray:
        along = self._tangents[0, 0]
        if up is None:
            up = (0.0, 0.0, 1.0) if abs(along[2]) < 0.99 else (1.0, 0.0, 0.0)
        wanted = as_numbers(up)
        across = wanted - (wanted @ along) * along if wanted.shape == (3,) else np.zeros(3)
        if not float(np.linalg.norm(across)) > 1e-6 * float(np.linalg.norm(wanted)):
            raise InputError(f"up is {up!r}", remedy="give a direction (3,) across the beginning of the curve")
        return np.asarray(across / np.linalg.norm(across))

    @classmethod
    def _smooth(cls, way: Callable[[FloatArray, int], FloatArray], turn: float, up: ArrayLike | None) -> Curve:
        """From way(t, order): places (order 0) or their first derivative at t (n,), 0 <= t <= 1; turn: its angle [rad]."""
        count = int(np.clip(np.ceil(turn / FINEST), FEWEST, MOST))
        t = np.linspace(0.0, 1.0, count + 1)
        places, weights = np.polynomial.legendre.leggauss(5)
        inner = t[:-1, None] + (0.5 + 0.5 * places) / count
        speeds = np.linalg.norm(way(inner.ravel(), 1), axis=1).reshape(inner.shape)
        slopes = way(t, 1)
        lengths = np.linalg.norm(slopes, axis=1)
        if not (lengths > 1e-9 * lengths.max()).all():
            raise InputError("the curve stands still somewhere", remedy="leave out repeated points")
        tangents = slopes / lengths[:, None]
        out = cls.__new__(cls)
        ends = np.stack([tangents[:-1], tangents[1:]], axis=1)
        out._lay(_checked(way(t, 0)), ends, speeds @ weights / (2 * count), up)
        return out

    @classmethod
    def arc(
        cls, center: ArrayLike, start: ArrayLike, axis: ArrayLike, angle: float, *, up: ArrayLike | None = None
    ) -> Curve:
        """Part of a circle about an axis (3,) through a centre (3,) [m], from `start` (3,) [m] on, by an angle [rad]."""
        return cls.helix(center, start, axis, turns=number(angle, "angle", unit="rad") / (2 * np.pi), pitch=0.0, up=up)

    @classmethod
    def helix(
        cls,
        center: ArrayLike,
        start: ArrayLike,
        axis: ArrayLike,
        *,
        turns: float,
        pitch: float,
        up: ArrayLike | None = None,
    ) -> Curve:
        """About an axis (3,) through a point (3,) [m], from `start` (3,) [m] on; pitch: rise along the axis per turn [m]."""
        middle, first, e = (_vector(v, name) for v, name in ((center, "center"), (start, "start"), (axis, "axis")))
        turns, pitch = number(turns, "turns"), number(pitch, "pitch", unit="m")
        e = e / max(float(np.linalg.norm(e)), 1e-300)
        lift = (first - middle) @ e * e
        a = first - middle - lift
        if not (np.linalg.norm(a) > 0 and np.linalg.norm(e) > 0.5 and turns != 0.0):
            raise InputError(
                "an arc without radius, axis or angle", remedy="start it away from its axis, by some angle"
            )
        b, angle = np.cross(e, a), 2 * np.pi * turns

        def way(t: FloatArray, order: int) -> FloatArray:
            s, c = np.sin(angle * t)[:, None], np.cos(angle * t)[:, None]
            if order == 0:
                return np.asarray(middle + lift + c * a + s * b + (turns * pitch * t)[:, None] * e)
            return np.asarray(angle * (c * b - s * a) + turns * pitch * e)

        return cls._smooth(way, abs(angle), up)

    @classmethod
    def spline(cls, points: ArrayLike, *, up: ArrayLike | None = None) -> Curve:
        """A smooth curve through points (n, 3) [m]: the cubic spline over the lengths of the chords, straight at its ends."""
        from scipy.interpolate import CubicSpline

        knots = _checked(points)
        if len(knots) == 2:
            return cls(knots, up=up)
        lengths = np.linalg.norm(np.diff(knots, axis=0), axis=1)
        found = CubicSpline(np.concatenate([[0.0], np.cumsum(lengths)]) / lengths.sum(), knots, bc_type="natural")
        slopes = found(np.linspace(0, 1, 50 * len(knots)), 1)
        slopes /= np.linalg.norm(slopes, axis=1, keepdims=True)
        turn = float(np.linalg.norm(np.diff(slopes, axis=0), axis=1).sum())
        return cls._smooth(lambda t, order: np.asarray(found(t, order)), turn + FINEST * 20 * len(knots), up)

    @classmethod
    def read(
        cls, path: str | Path, unit: str | float = "m", *, smooth: bool = True, up: ArrayLike | None = None
    ) -> Curve:
        """From a CSV file with a point x, y, z per line; unit: see `read`; smooth: a spline, or straight pieces. Lines that
        begin with # and one line of names are left out."""
        scale = metres(unit)
        lines = [line.strip() for line in Path(path).read_text().splitlines()]
        rows = [line.replace(";", ",").split(",") for line in lines if line and not line.startswith("#")]
        if rows and any(_is_name(word) for word in rows[0]):
            rows = rows[1:]
        try:
            points = scale * np.array([[float(word) for word in row[:3]] for row in rows])
        except ValueError as error:
            raise InputError(f"{path} has a line that is no point ({error})", remedy="give x, y, z per line") from error
        return (cls.spline if smooth else cls)(points, up=up)

    @property
    def length(self) -> float:
        """Length [m]."""
        return float(self._places[-1])

    def at(self, places: ArrayLike) -> FloatArray:
        """Points (n, 3) [m] at places (n,) [m] along the curve."""
        s = np.clip(np.atleast_1d(as_numbers(places)), 0.0, self.length)
        k = self._piece(s)
        h = self._lengths[k][:, None]
        t = (s - self._places[k])[:, None] / h
        a, b, ends = self._knots[k], self._knots[k + 1], h[:, :, None] * self._tangents[k]
        mixed = t * (1 - t) ** 2 * ends[:, 0] - t * t * (1 - t) * ends[:, 1]
        return np.asarray(a + (3 - 2 * t) * t * t * (b - a) + mixed)

    def tangents(self, places: ArrayLike) -> FloatArray:
        """Unit tangents (n, 3) at places (n,) [m]; at a corner the mean of both sides."""
        s = np.clip(np.atleast_1d(as_numbers(places)), 0.0, self.length)
        k = self._piece(s)
        h = self._lengths[k][:, None]
        t = (s - self._places[k])[:, None] / h
        rise = (self._knots[k + 1] - self._knots[k]) / h
        out = (
            6 * t * (1 - t) * rise
            + (1 - t) * (1 - 3 * t) * self._tangents[k, 0]
            - t * (2 - 3 * t) * self._tangents[k, 1]
        )
        for c in self._corners:
            out[np.abs(s - self._places[c]) < 1e-9 * self.length] = self._tangents[c - 1, 1] + self._tangents[c, 0]
        return np.asarray(out / np.linalg.norm(out, axis=1, keepdims=True))

    def _piece(self, s: FloatArray) -> FloatArray:
        return np.clip(np.searchsorted(self._places, s, side="right") - 1, 0, len(self._lengths) - 1)

    def nearest(self, point: ArrayLike) -> tuple[float, float]:
        """The place [m] along the curve that is nearest to a point (3,) [m], and how far it is [m]."""
        p = _vector(point, "point")
        fine = np.linspace(self._places[:-1], self._places[1:], 4, endpoint=False).T.ravel()
        fine = np.append(fine, self.length)
        k = int(np.linalg.norm(self.at(fine) - p, axis=1).argmin())
        low, high = fine[max(k - 1, 0)], fine[min(k + 1, len(fine) - 1)]
        for _ in range(60):  # thirds: the distance has one minimum there
            s = np.array([low + (high - low) / 3, high - (high - low) / 3])
            near = np.linalg.norm(self.at(s) - p, axis=1)
            low, high = (low, s[1]) if near[0] < near[1] else (s[0], high)
        found = np.array([fine[k], 0.5 * (low + high)])
        far = np.linalg.norm(self.at(found) - p, axis=1)
        return float(found[far.argmin()]), float(far.min())

    @cached_property
    def _ups(self) -> FloatArray:
        """z of the frames at the knots, (k + 1, 3)."""
        out, tangents = np.empty_like(self._knots), self.tangents(self._places)
        out[0] = self._up
        for k in range(len(self._lengths)):
            out[k + 1] = _carried(out[k], self._knots[k], tangents[k], self._knots[k + 1], tangents[k + 1])
        return out

    def frames(self, places: ArrayLike) -> FloatArray:
        """Frames (n, 3, 3) at places (n,) [m]; columns: x along the curve, y and z across."""
        s = np.atleast_1d(as_numbers(places))
        points, tangents, k = self.at(s), self.tangents(s), self._piece(s)
        ahead = self.tangents(self._places)
        z = np.array(
            [
                _carried(self._ups[j], self._knots[j], ahead[j], p, t)
                for j, p, t in zip(k, points, tangents, strict=True)
            ]
        )
        z -= np.einsum("ni,ni->n", z, tangents)[:, None] * tangents
        z /= np.linalg.norm(z, axis=1, keepdims=True)
        return np.stack([tangents, np.cross(z, tangents), z], axis=2)

    @cached_property
    def _measure(self) -> FloatArray:
        """What sections are spread evenly over, at the knots (k + 1,): length and angle, half each where the curve turns
        much."""
        turned = np.linalg.norm(np.diff(self._tangents, axis=1)[:, 0], axis=1)
        return np.concatenate([[0.0], np.cumsum(self._lengths / self.length + turned / max(turned.sum(), 1.0))])

    def sampled(
        self, *, count: int | None = None, spacing: float | None = None, through: Sequence[float] = ()
    ) -> Sections:
        """Sections along the curve, closer where it bends: `count` elements, or as many as keep them within `spacing` [m].

        Corners are among them, and the places `through` [m]."""
        if (count is None) == (spacing is None):
            raise InputError("a curve is cut by count or by spacing", remedy="give one of count= and spacing=")
        stops = np.unique(np.concatenate([[0.0, self.length], self._places[self._corners], through]))
        stops = stops[np.concatenate([[True], np.diff(stops) > 1e-9 * self.length])]
        stops[-1] = self.length
        if count is not None:
            places = self._cut(stops, whole(count, "count", least=1))
        else:
            spacing = number(spacing, "spacing", unit="m", above=0.0)
            cells = max(int(np.ceil(self.length / spacing * (1 - 1e-9))), len(stops) - 1)
            while np.diff(places := self._cut(stops, cells)).max() > spacing * (1 + 1e-9):
                cells += 1
        return Sections(self.at(places), self.frames(places), places)

    def _cut(self, stops: FloatArray, count: int) -> FloatArray:
        """Places of count + 1 sections, with stops among them."""
        if count < len(stops) - 1:
            raise InputError(
                f"{count} elements for a curve of {len(stops) - 1} pieces", remedy=f"give at least {len(stops) - 1}"
            )
        ends = np.interp(stops, self._places, self._measure)
        shares = np.diff(ends) / ends[-1] * count
        cells = np.maximum(np.floor(shares).astype(int), 1)
        while cells.sum() != count:
            step = 1 if cells.sum() < count else -1
            left = np.where((cells > 1) | (step > 0), shares - cells, np.inf)
            cells[int(left.argmax() if step > 0 else left.argmin())] += step
        grid = [np.linspace(a, b, n, endpoint=False) for a, b, n in zip(ends[:-1], ends[1:], cells, strict=True)]
        places = np.interp(np.append(np.concatenate(grid), ends[-1]), self._measure, self._places)
        places[np.concatenate([[0], np.cumsum(cells)])] = stops
        return np.asarray(places)

    def __repr__(self) -> str:
        return f"Curve({self.length:.4g} m)"


def _carried(up: FloatArray, a: FloatArray, along: FloatArray, b: FloatArray, after: FloatArray) -> FloatArray:
    """A direction across the curve carried from a to b, from tangent to tangent, without turning (two reflections)."""
    way = b - a
    square = float(way @ way)
    if square > 0.0:
        up, along = up - 2 * (way @ up) / square * way, along - 2 * (way @ along) / square * way
    turn = after - along
    square = float(turn @ turn)
    return up - 2 * (turn @ up) / square * turn if square > 0.0 else up


def _checked(points: ArrayLike) -> FloatArray:
    p = as_numbers(points)
    if p.ndim != 2 or p.shape[1] != 3 or len(p) < 2:
        raise InputError(f"a curve through points of shape {p.shape}", remedy="give two points or more, (n, 3) [m]")
    bad = np.flatnonzero(~np.isfinite(p).all(axis=1))
    if len(bad):
        raise InputError(f"point {bad[0]} of the curve is {p[bad[0]]}", remedy="give finite coordinates [m]")
    lengths = np.linalg.norm(np.diff(p, axis=0), axis=1)
    if lengths.min() <= 1e-12 * lengths.max():
        k = int(lengths.argmin())
        raise InputError(f"points {k} and {k + 1} of the curve are equal", remedy="leave out repeated points")
    return p


def _vector(value: ArrayLike, name: str) -> FloatArray:
    vector = as_numbers(value)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InputError(f"{name} is {value!r}", remedy="give three finite numbers")
    return vector


def _is_name(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return True
    return False
