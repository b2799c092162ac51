"""A haptic device in real time: periods at a fixed, high rate here, models as fast as they come in another process."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.checks import number, require_importable, require_kind_of, single
from pliant.control.haptics import Haptics
from pliant.control.observer import ObserverStatus, measured_rows
from pliant.control.pace import Pace, Rights, Timing, real_time
from pliant.control.sensing_process import SensingPlan, SensingProcess
from pliant.control.turns import EARLY, HALTING
from pliant.device import Drive
from pliant.errors import InputError, NotConvergedError
from pliant.exchange import stop_signals, usable_cores
from pliant.robot import Robot


@dataclass(frozen=True)
class HapticReport:
    """What there is to say of a run: its timing, models that came, periods that were missed, how often observations ended
    how, in how many periods the fixture was not rendered, commands that did not leave, and what the system gave."""

    timing: Timing
    models: int
    missed: int
    observed: Mapping[str, int]
    faults: int
    unsent: int
    rights: Rights


class HapticLoop:
    """Haptics of a robot that drives move and measure; use it in a `with` block. `haptics` is what it runs: couple another
    fixture at any time. When its model's process ends, models grow old and the guard takes the command to the safe one."""

    def __init__(
        self,
        build: Callable[[], Robot],
        deviations: Mapping[str, float],
        *,
        rate: float = 1000.0,
        model_rate: float | None = None,
        rates: Mapping[str, float] | None = None,
        **options: Any,
    ) -> None:
        """build: a function of a module that makes the robot, called here and in the model's process; deviations, rates: as of
        `Observer`; rate, model_rate [Hz]: of commands, and of models (None: as fast as they go); options: of `Haptics`."""
        require_importable(build, "robot")
        self.rate = number(rate, "rate", unit="Hz", above=0.0)
        self.haptics = Haptics(build(), deviations, rates=rates, **options)
        available = usable_cores()
        self.core = available[0] if len(available) > 1 else None
        plan = SensingPlan(build, dict(deviations), dict(rates or {}), model_rate, available[1:])
        self._sensing = SensingProcess(plan, self.haptics.box, len(self.haptics.observer.labels))

    def __enter__(self) -> HapticLoop:
        try:
            end = time.monotonic() + 120.0
            while not self.haptics.box.newest():
                if time.monotonic() > end or not self._sensing.lives:
                    raise NotConvergedError(
                        "the model's process gave no model",
                        remedy="look at its errors above; `build` must be a function of a module",
                    )
                time.sleep(0.01)
            self._get_warm()
        except BaseException:
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _get_warm(self) -> None:
        """Load what a period needs, now and not in it."""
        model, haptics = self.haptics.box.model, self.haptics
        delta = np.array(haptics.box.delta)
        haptics.start(delta[haptics.controller.question.sought])
        haptics.observer.observe(model, delta[haptics.observer.question.wanted.rows], interval=1.0)
        haptics.observer.forget()
        haptics.guard.check(haptics.guard.command, time.monotonic(), 0.0)

    @property
    def process(self) -> int:
        """Number of the model's process."""
        return self._sensing.process.pid or 0

    def run(
        self,
        seconds: float,
        drive: Drive,
        *,
        watch: Callable[[float, HapticLoop], bool | None] | None = None,
        priority: int = 80,
    ) -> HapticReport:
        """Render for so long on a drive that takes displacements and measures all that is observed; watch: called after every
        command with the time since the start [s]; the run is over when it returns True. Ctrl-C, SIGTERM, SIGHUP and
        `guard.stop()` lead the command to the safe one first, and tell the drive."""
        require_kind_of(drive, "drive", Drive)
        if drive.wiring.kind != "displacement":
            raise InputError(
                "the drive takes efforts", remedy="haptics commands displacements: make a drive of that kind"
            )
        rows = measured_rows(self.haptics.observer.labels, drive.wiring.measurements)
        haptics, period = self.haptics, 1.0 / self.rate
        timing = Timing(int(1.2 * single(seconds, "seconds", unit="s") * self.rate) + 10_000, period)
        observed: Counter[ObserverStatus] = Counter()
        faults = unsent = 0
        measured, arrived = np.full(len(rows), np.nan), -np.inf
        with stop_signals(haptics.guard.stop), real_time(priority, self.core) as rights:
            pace = Pace(self.rate, EARLY if self.core is not None else 0.0)
            begin = last = time.monotonic()
            first, stopped = haptics.box.number, np.inf
            while True:
                pace.doze()
                said = drive.read()
                if said is not None:
                    measured, arrived = said.values[rows], said.arrived
                haptics.box.newest()
                woke = pace.wait()
                if haptics.guard.stopped:
                    stopped = min(stopped, woke)
                    safe = np.abs(haptics.guard.command - haptics.guard.safe).max() < 1e-12
                    if safe or woke - stopped > HALTING:
                        drive.stop()
                        break
                elif woke - begin > seconds:
                    break
                interval = min(woke - last, 10 * period)
                command = haptics.tick(woke, measured, interval, age=woke - arrived)
                unsent += not drive.send(command, woke)
                timing.note(woke, time.monotonic(), woke - haptics.box.stamp)
                self._sensing.tell(measured)
                last = woke
                observed[haptics.observer.status] += 1
                faults += bool(haptics.fault)
                if watch is not None and watch(woke - begin, self) and not haptics.guard.stopped:
                    break
        names = {status.name: observed[status] for status in ObserverStatus if observed[status]}
        return HapticReport(timing, haptics.box.number - first, pace.missed, names, faults, unsent, rights)

    def close(self) -> None:
        """End the model's process. May be called twice."""
        self._sensing.close()
        self.haptics.close()
