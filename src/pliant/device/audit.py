"""Whether commands that arrive kept their limits, as the side that receives them sees it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import per_row, row_of_numbers
from pliant.errors import InputError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Verdict:
    """What an audit found: commands seen, how many were outside the bounds, too fast, or no numbers, and the largest
    excess over a bound [command unit] and over a rate [per second]."""

    commands: int
    out_of_bounds: int
    too_fast: int
    not_numbers: int
    worst_excess: float
    worst_rate_excess: float

    @property
    def clean(self) -> bool:
        """Whether every command kept every limit."""
        return self.out_of_bounds == self.too_fast == self.not_numbers == 0


class Audit:
    """Checks commands [rows] against bounds and rates, by the sender's own times, knowing nothing of how they were guarded.

    Rates are judged from the last command that kept all limits: what was refused once is refused again, until the rate
    has had the time for it. What single precision and microseconds on the wire can do is allowed for: 1e-6 of the larger
    bound, and 2 microseconds of rate.
    """

    def __init__(self, low: ArrayLike, high: ArrayLike, rate: ArrayLike) -> None:
        self.low = row_of_numbers(low, "low")
        rows = len(self.low)
        self.high, self.rate = per_row(high, "high", rows, like="low"), per_row(rate, "rate", rows, like="low")
        finite = all((np.abs(values) < 1e300).all() for values in (self.low, self.high, self.rate))
        if not (rows and finite and (self.low <= self.high).all() and (self.rate > 0).all()):
            raise InputError(
                "an audit needs finite low <= high and positive rates", remedy="give the limits of the guard"
            )
        self._tolerance = 1e-6 * np.maximum(np.abs(self.low), np.abs(self.high))
        self._last: Array | None = None
        self._time = 0.0
        self._kept = False
        self._counts = [0, 0, 0, 0]
        self._worst = [0.0, 0.0]

    def see(self, command: Array, time: float) -> bool:
        """Take a command that was sent at this time [s]; True where it kept all limits."""
        self._counts[0] += 1
        if not np.isfinite(command).all():
            self._counts[3] += 1
            return False
        excess = float(np.maximum(self.low - command, command - self.high).max())
        inside = bool((command >= self.low - self._tolerance).all() and (command <= self.high + self._tolerance).all())
        if not inside:
            self._counts[1] += 1
            self._worst[0] = max(self._worst[0], excess)
        slow = True
        if self._last is not None:
            elapsed = max(0.0, time - self._time)
            over = np.abs(command - self._last) - self.rate * (elapsed + 2e-6) - 2 * self._tolerance
            if (over > 0).any():
                slow = not self._kept
                self._counts[2] += 1
                self._worst[1] = max(self._worst[1], float(over.max()) / max(elapsed, 1e-6))
        kept = inside and slow
        if kept or not self._kept:
            # before the first one that kept all limits there is only what was seen, to count by
            self._last, self._time, self._kept = command.copy(), time, kept
        return kept

    def begin_anew(self) -> None:
        """Judge the next command as the first: its sender has started anew, with another clock."""
        self._last, self._kept = None, False

    @property
    def verdict(self) -> Verdict:
        """What was found so far."""
        return Verdict(*self._counts, *self._worst)
