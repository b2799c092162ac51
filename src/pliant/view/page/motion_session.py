"""Free motion in slices, in a thread of its own: play, pause, reset, another gait, other settings."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pliant.checks import as_numbers, number
from pliant.errors import InputError
from pliant.view.moving import InMotion
from pliant.view.page.paced import Paced

Array = NDArray[np.float64]
Build = Callable[[str, Mapping[str, float]], InMotion]
"""A robot and its engine at rest, for a gait and the values of all settings."""

RATE = 30.0
"""Slices per second of simulated time."""


@dataclass(frozen=True)
class Setting:
    """A number that a slider sets."""

    name: str
    unit: str
    low: float
    high: float
    value: float

    def __post_init__(self) -> None:
        numbers = as_numbers([self.low, self.value, self.high])
        if not (isinstance(self.name, str) and isinstance(self.unit, str)):
            raise InputError(f"a setting {self.name!r} in {self.unit!r}", remedy="give its name and its unit as text")
        if (
            numbers.shape != (3,)
            or not np.isfinite(numbers).all()
            or not self.low <= self.value <= self.high > self.low
        ):
            raise InputError(
                f"{self.name} is {self.value!r} of {self.low!r} to {self.high!r}", remedy="give low <= value <= high"
            )


@dataclass(frozen=True, eq=False)
class Moment:
    """What there is to see: positions [n, 3] [m], the time [s], how it goes, the distance gone [m], seconds of motion per
    second of work."""

    x: Array
    time: float
    running: bool
    fault: str
    distance: Array
    """Of the center of mass from where it began, [3]."""
    pace: float


class MotionSession(Paced):
    """The motion behind a page. Every method may be called from any thread; nothing raises while it runs.

    A setting or a gait that changes starts the robot anew, so that what is seen is what a run from rest gives.
    """

    def __init__(self, build: Build, gaits: Sequence[str], settings: Sequence[Setting] = (), gait: str | None = None):
        """gaits: at least one; gait: the one to begin with (default: the first)."""
        super().__init__(RATE)
        if not callable(build):
            raise InputError(f"build is {build!r}", remedy="give a function of a gait and settings that makes a Moving")
        self._build, self.gaits = build, _several(gaits, str, "gaits", "give at least one name, in a list")
        self.settings = _several(settings, Setting, "settings", "give a list of Setting")
        if not self.gaits:
            raise InputError("there are no gaits", remedy="give at least one name, in a list")
        self._values = {setting.name: setting.value for setting in self.settings}
        self._gait = self._checked(self.gaits[0] if gait is None else gait)
        self._stale = False
        self._make_anew()

    def _checked(self, gait: str) -> str:
        if not isinstance(gait, str) or gait not in self.gaits:
            raise InputError(f"there is no gait {gait!r}", remedy=f"choose one of: {', '.join(self.gaits)}")
        return gait

    def _make_anew(self) -> None:
        with self._turn:
            self._stale = False
            moving = self._build(self._gait, dict(self._values))
            if not isinstance(moving, InMotion):
                raise InputError(f"build gave a {type(moving).__name__}", remedy="return Moving(body, engine)")
            self.moving = moving
            self._home = self.moving.middle(self.moving.engine.x)
            self._pace, self._fault = 0.0, ""
            self._publish()

    def _publish(self) -> Moment:
        x = self.moving.engine.x
        gone = self.moving.middle(x) - self._home
        self.moment = Moment(x, self.moving.engine.time, self._running, self._fault, gone, self._pace)
        return self.moment

    @property
    def gait(self) -> str:
        """How it moves now."""
        return self._gait

    @property
    def values(self) -> dict[str, float]:
        """The settings now."""
        return dict(self._values)

    def choose(self, gait: str) -> None:
        """Another gait, from rest."""
        self._gait = self._checked(gait)
        self._start_anew()

    def set(self, name: str, value: float) -> None:
        """Another value of a setting, from rest."""
        found = next((each for each in self.settings if isinstance(name, str) and each.name == name), None)
        if found is None:
            names = ", ".join(self._values) or "none"
            raise InputError(f"there is no setting {name!r}", remedy=f"choose one of: {names}")
        remedy = f"give {found.low} to {found.high}"
        self._values[name] = number(value, name, unit=found.unit, least=found.low, most=found.high, remedy=remedy)
        self._start_anew()

    def reset(self) -> None:
        """Back to rest at time zero; goes on running if it did."""
        self._start_anew()

    def _start_anew(self) -> None:
        with self._changed:
            self._stale = True
            self._changed.notify_all()
        if self._thread is None:
            self._make_anew()

    def pause(self) -> None:
        """No slice from now on; waits for the one under way."""
        with self._turn:
            super().pause()
            self._publish()

    def advance(self) -> Moment:
        """One slice now, in this thread; where it fails, the last good state is held and the fault is told."""
        with self._turn:
            try:
                if self._stale:
                    self._make_anew()
                begin = time.perf_counter()
                run = self.moving.engine.run(1.0 / RATE, progress=False)
                now = 1.0 / RATE / max(time.perf_counter() - begin, 1e-9)
                self._pace = now if self._pace == 0 else 0.9 * self._pace + 0.1 * now
                self._fault = "" if run.ok else run.status.value
            except Exception as error:  # a page must outlive whatever a robot of yours does
                self._fault = f"{type(error).__name__}: {error}"
            if self._fault:
                self._running = False
            return self._publish()

    def _has_work(self) -> bool:
        return self._running or self._stale

    def _take_turn(self) -> None:
        if self._running:
            self.advance()
        elif self._stale:
            try:
                self._make_anew()
            except Exception as error:  # as in `advance`: the thread must outlive it
                self._fault = f"{type(error).__name__}: {error}"
                self._publish()


T = TypeVar("T")


def _several(given: Sequence[T], kind: type[T], name: str, remedy: str) -> tuple[T, ...]:
    """Some things of a kind, checked."""
    if isinstance(given, str) or not isinstance(given, Sequence) or not all(isinstance(item, kind) for item in given):
        raise InputError(f"{name} are {given!r}", remedy=remedy)
    return tuple(given)
