"""The periods of one run of the control loop."""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.control.correction import Correction
from pliant.control.measured import Measured
from pliant.control.pace import Pace, Rights, Timing
from pliant.control.run import Run
from pliant.control.status import DecisionStatus
from pliant.control.targets import Targets
from pliant.device import Drive
from pliant.device.drive import FOREIGN
from pliant.device.guard import EVENT_WORDS

if TYPE_CHECKING:
    from pliant.control.two_rates import TwoRates

EARLY = 400e-6
"""Seconds before a deadline that the control loop wakes, where it has a core of its own: time for a rehearsal."""
LONGEST = 3600.0
"""Seconds of a run whose periods are kept for its report."""
HALTING = 10.0
"""Seconds that a stopped guard has to bring the command to the safe one, before the drive is told to stop all the same."""


class Turns:
    """The periods of one run: until the time is over or whoever watches says so, and, where the guard was stopped, in any case
    until the safe command is out and the drive was told to stop."""

    def __init__(
        self,
        two: TwoRates,
        seconds: float,
        targets: Targets,
        drive: Drive,
        correction: Correction | None,
        watch: Callable[[float, TwoRates], bool | None] | None,
        tell: Callable[[str], None],
        lag: float,
    ) -> None:
        self._two, self._seconds, self._targets, self._drive = two, seconds, targets, drive
        self._correction, self._watch, self._tell = correction, watch, tell
        self._lag, self._asked = lag, two.target if lag == 0.0 else two.target.copy()
        self._foreign = drive.status.foreign
        self._measured = two.measured = Measured(drive.wiring, two.effector_rows)
        self._period = 1.0 / two.rate
        room = min(1.2 * seconds, LONGEST) + HALTING
        self.timing = Timing(int(room * two.rate) + 100, self._period)
        self._statuses: Counter[DecisionStatus] = Counter()
        self._events: Counter[int] = Counter()
        self._first, self._process, self._processes = two.box.number, two.box.process, 1
        self._keepers = two.link.keepers_lost
        self._commands = self._unsent = 0
        self._pace = Pace(two.rate, EARLY if two.core is not None else 0.0)
        self._begin = self._last = time.monotonic()
        self._stopped_at = np.inf
        self.halted = False
        """Whether the drive was told to stop."""

    def take(self) -> None:
        """All of them. What targets, drive or watch raise stops the guard."""
        try:
            self._follow()
        except BaseException:
            self._two.guard.stop()
            self.take_to_safety()
            raise

    def _follow(self) -> None:
        two, pace, begin = self._two, self._pace, self._begin
        while True:
            pace.doze()
            self._measured.take(self._drive.read())
            if self._drive.status.foreign > self._foreign:
                self._foreign = sys.maxsize  # it is told once
                self._tell(FOREIGN)
            self._targets.fill(self._last + self._period - begin, two.target)
            two.get_ready()
            woke = pace.wait()
            # a stop comes before all that could end the run: it is not over until the robot is safe
            if two.guard.stopped:
                if self._has_halted(woke):
                    return
            elif woke - begin > self._seconds:
                return
            self._targets.fill(woke - begin, two.target)
            self._targets.fill(woke - begin + self._lag, self._asked)
            command = self._decide(woke)
            self._unsent += not self._drive.send(command, woke)
            self._note(woke)
            if self._watch is not None and self._watch(woke - begin, two):
                if not two.guard.stopped:
                    return
                self._watch = None

    def take_to_safety(self) -> None:
        """The same without anybody who might raise, until the safe command is out."""
        self._correction = None
        while not self._has_halted(woke := self._pace.wait()):
            command = self._decide(woke)
            try:
                self._unsent += not self._drive.send(command, woke)
            except Exception as error:
                self._drive.status.fail(error)
                self._unsent += 1
            self._note(woke)

    def _has_halted(self, now: float) -> bool:
        """Whether a stopped guard has brought the command to the safe one; then the drive is told to stop."""
        if self.halted:
            return True
        self._stopped_at = min(self._stopped_at, now)
        if not (self._two.is_safe or now - self._stopped_at > HALTING):
            return False
        self.halted = True
        self._drive.stop()
        return True

    def _decide(self, woke: float) -> NDArray[np.float64]:
        """The command of this period [n]."""
        two = self._two
        interval = min(woke - self._last, 10 * self._period)
        target = self._asked
        if self._correction is not None:
            held = two.events != 0 or not self._measured.age(woke) < two.guard.hold
            target = self._correction.adjust(
                target, self._measured.values, interval, predicted=two.predicted(), held=held
            )
        return two.tick(woke, target, interval)

    def _note(self, woke: float) -> None:
        """What there is to do and to count when the command has left."""
        two, box = self._two, self._two.box
        self.timing.note(woke, time.monotonic(), woke - box.stamp)
        two.link.send(two.guard.command, two.controller.given, two.controller.goal)
        self._last = woke
        self._commands += 1
        self._statuses[two.status] += 1
        self._events[two.events] += 1
        if box.process != self._process:
            self._process = box.process
            self._processes += 1

    def report(self, rights: Rights) -> Run:
        """What there is to say afterwards."""
        events = {
            word: sum(count for flags, count in self._events.items() if flags & flag)
            for flag, word in EVENT_WORDS.items()
        }
        return Run(
            self.timing,
            self._commands,
            self._pace.missed,
            self._unsent,
            self._two.box.number - self._first,
            self._processes,
            self._two.link.keepers_lost - self._keepers,
            {status.name: self._statuses[status] for status in DecisionStatus},
            {word: count for word, count in events.items() if count},
            rights,
            self._two.guard.stopped,
        )
