"""Limits of single actuators that contact has made impossible, let go for as long as the motor needs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


class Releases:
    """Displacements of n actuators between limits (n, 2), which motors change by at most `rate` (n,) per second.

    Contact and inertia can carry a robot past what its motors can follow: a cable then hangs slack, or is stretched, until its
    motor has caught up (coevoet2019, fig. 3). Where a decision would have no answer for it, such an actuator is released: its
    displacement is free, and a motor is followed in its place.
    """

    def __init__(self, limits: Array, rate: Array) -> None:
        self._limits, self._rate = limits, rate
        self.motors: Array = np.full(len(rate), np.nan)
        """Where motors of released actuators are (n,); not a number for the others."""

    def forget(self) -> None:
        """A new beginning: motors are where displacements are."""
        self.motors[:] = np.nan

    @property
    def released(self) -> NDArray[np.bool_]:
        """Which are (n,)."""
        return ~np.isnan(self.motors)

    def reach(self, now: Array, interval: float | None) -> Array:
        """Where motors can be after an interval [s], (n, 2), from displacements `now` (n,) on, or from where released ones are.

        A displacement past its limit may stay, and come back as fast as the motor goes:
        lo = min(max(d_min, c - r), c), hi = max(min(d_max, c + r), c)."""
        c = np.where(self.released, self.motors, now)
        way = np.full(len(now), np.inf) if interval is None else self._rate * interval
        low, high = self._limits.T
        return np.stack([np.minimum(np.maximum(low, c - way), c), np.maximum(np.minimum(high, c + way), c)], axis=1)

    def release(self, which: int, now: Array) -> None:
        """From now on, with the motor where the displacement is."""
        self.motors[which] = now[which]

    def hold(self, before: Array, after: Array, reach: Array) -> None:
        """At the end of a step that was decided with these motors before it (n,) and led to displacements `after` (n,): motors
        go after them as far as they reach, and those that have caught up are released no longer."""
        there = np.clip(after, reach[:, 0], reach[:, 1])
        self.motors[:] = np.where(np.isnan(before) | (there == after), np.nan, there)

    def missed(self, after: Array, reach: Array) -> tuple[str | None, ...]:
        """Which kind of limit each displacement misses (n,)."""
        past = (after < self._limits[:, 0]) | (after > self._limits[:, 1])
        fast = (after < reach[:, 0]) | (after > reach[:, 1])
        return tuple(
            "displacement" if own and quick else "displacement rate" if quick else None
            for own, quick in zip(past, fast, strict=True)
        )
