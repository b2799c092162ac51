"""Keeping time: absolute deadlines, real-time rights, and how well they were kept."""

from __future__ import annotations

import gc
import os
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.checks import number
from pliant.exchange import usable_cores

Array = NDArray[np.float64]

SWITCH = 200e-6
"""Seconds after which another thread of this process must let the real-time one go on; Python's own 5 ms are five periods."""


@dataclass(frozen=True)
class Rights:
    """What the system gave: a priority (0: none) and cores, and how many there are."""

    priority: int
    cores: tuple[int, ...]
    all_cores: int

    def __str__(self) -> str:
        priority = f"SCHED_FIFO {self.priority}" if self.priority else "no real-time priority"
        return f"{priority}, core {', '.join(map(str, self.cores))} of {self.all_cores}"


@contextmanager
def real_time(priority: int = 80, core: int | None = None) -> Iterator[Rights]:
    """Run the block with real-time priority, on one core, without garbage collection, and with other threads of this process
    made to give way soon, as far as the system allows; all is as before afterwards. Nothing is raised where it does not: the
    rights say what was given."""
    if not hasattr(os, "sched_setscheduler"):
        yield Rights(0, usable_cores(), len(usable_cores()))
        return
    before = os.sched_getscheduler(0), os.sched_getparam(0)
    allowed = os.sched_getaffinity(0)
    given = 0
    try:
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(priority))
        given = priority
    except OSError:
        pass
    if core is not None and core in allowed:
        os.sched_setaffinity(0, {core})
    collecting, patience = gc.isenabled(), sys.getswitchinterval()
    sys.setswitchinterval(SWITCH)
    gc.collect()
    gc.freeze()
    gc.disable()
    try:
        yield Rights(given, usable_cores(), len(allowed))
    finally:
        gc.unfreeze()
        if collecting:
            gc.enable()
        sys.setswitchinterval(patience)
        os.sched_setaffinity(0, allowed)
        os.sched_setscheduler(0, *before)


class Pace:
    """Absolute deadlines at a rate: `wait` returns at the next, which does not move because one was missed.

    A process that sleeps until its deadline wakes late by as long as the system takes (here 50 us in the middle, 300 us at
    worst of a hundred). With `early` it wakes that much before, may get ready, and then watches the clock: that keeps a core
    busy for early / period of the time.
    """

    def __init__(self, rate: float, early: float = 0.0) -> None:
        """rate [Hz]; early [s]: how long before a deadline to wake."""
        self.period = 1.0 / number(rate, "rate", unit="Hz", above=0.0)
        self.early = min(early, self.period / 2)
        self._next = time.monotonic() + self.period
        self.missed = 0
        self._dozed = False

    def doze(self) -> None:
        """Sleep until shortly before the next deadline. Those that are past already are counted and left out."""
        now = time.monotonic()
        if now > self._next:
            self._miss(int((now - self._next) / self.period) + 1)
        time.sleep(max(0.0, self._next - self.early - now))
        self._dozed = True

    def wait(self) -> float:
        """Return at the next deadline, with the time [s]; at once where that has passed since `doze`."""
        if not self._dozed:
            self.doze()
        self._dozed = False
        now = time.monotonic()
        while now < self._next:
            now = time.monotonic()
        self._miss(int((now - self._next) / self.period))
        self._next += self.period
        return now

    def _miss(self, deadlines: int) -> None:
        """Count so many, and leave them out."""
        self.missed += deadlines
        self._next += deadlines * self.period


class Timing:
    """When a loop woke and when its command was out, for a given number of periods: written without allocation."""

    def __init__(self, periods: int, period: float) -> None:
        """periods: how many at most; period [s] as it should be."""
        self.period = period
        self._woke, self._done, self._age = np.zeros(periods), np.zeros(periods), np.zeros(periods)
        self.count = 0

    def note(self, woke: float, done: float, model_age: float) -> None:
        """One period: times [s] of waking and of the command, and how old the model was [s]. Those beyond the room are lost."""
        k = self.count
        if k < len(self._woke):
            self._woke[k], self._done[k], self._age[k] = woke, done, model_age
            self.count = k + 1

    def __repr__(self) -> str:
        return f"<Timing of {self.count} periods of {1e3 * self.period:.3g} ms: {self.in_words()}>"

    def in_words(self) -> str:
        """The figures that one wants, in one line."""
        if not self.count:
            return "no command"
        median, most = (1e3 * float(np.percentile(self.latencies, p)) for p in (50, 99.9))
        age = 1e3 * float(np.median(self.model_ages))
        return (
            f"latency {median:.3f} ms median, {most:.3f} ms p99.9, {1e3 * float(self.latencies.max()):.3f} ms max; "
            f"{100 * self.outside():.2f} % of periods off by more than 20 %; models {age:.1f} ms old"
        )

    @property
    def duration(self) -> float:
        """Seconds from the first waking to the last."""
        return float(self._woke[self.count - 1] - self._woke[0]) if self.count else 0.0

    @property
    def periods(self) -> Array:
        """Seconds from one waking to the next."""
        return np.diff(self._woke[: self.count])

    @property
    def latencies(self) -> Array:
        """Seconds from waking to the command."""
        return self._done[: self.count] - self._woke[: self.count]

    @property
    def model_ages(self) -> Array:
        """How old the model was at each command [s]."""
        return self._age[: self.count]

    def outside(self, share: float = 0.2) -> float:
        """Share of periods that are off by more than this share of the period."""
        return float((np.abs(self.periods - self.period) > share * self.period).mean()) if self.count > 1 else 0.0

    def histogram(self, edges: int = 20) -> tuple[NDArray[np.int64], Array]:
        """Counts of periods between edges [s], from none to twice the period (the last holds all beyond)."""
        bins = np.linspace(0.0, 2.0 * self.period, edges + 1)
        counts, _ = np.histogram(np.clip(self.periods, 0.0, bins[-1]), bins)
        return counts.astype(np.int64), bins
