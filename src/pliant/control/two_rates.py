"""A controller at two rates: commands at a fixed, high rate; models as fast as they come, in another process.

    model loop (a process of its own)    efforts applied -> linearize -> condense -> W, delta_free
    control loop (here)                  newest target, newest model -> QP -> guard -> drive, every millisecond

A late, stuck or dead model loop does not stop the control loop: it decides by the last model as long as the guard allows, and
then goes to the safe command (largilliere2015, section III; the guard is ours).
"""

from __future__ import annotations

import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import FrameType
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pliant.body.body import Tangent
from pliant.control._decision_kernels import UNSOLVED
from pliant.control._tick_kernels import VERDICTS, tick
from pliant.control.controller import Controller, Verdict
from pliant.control.correction import Correction
from pliant.control.model_process import ModelLink
from pliant.control.pace import Pace, Rights, Timing, real_time
from pliant.control.trajectory import Trajectory
from pliant.device import Drive, Guard
from pliant.device.guard import event_words
from pliant.device.wiring import Kind
from pliant.errors import NotConvergedError
from pliant.exchange import usable_cores
from pliant.motion import Statics
from pliant.robot import Robot

Array = NDArray[np.float64]

_VERDICTS = tuple(Verdict)
EARLY = 400e-6
"""Seconds before a deadline that the control loop wakes, where it has a core of its own: time for a rehearsal."""


class Targets(Protocol):
    """Where the effectors should be."""

    def fill(self, seconds: float, out: Array) -> None:
        """Write the target [e] at this time since the start [s]."""


class PathTargets:
    """A trajectory of one effector as a table, so that the control loop only looks it up; over and over."""

    def __init__(self, path: Trajectory, rate: float) -> None:
        """rate [Hz]: of the table."""
        self._rate = rate
        self._table = np.array(list(path.sampled(rate)))

    def fill(self, seconds: float, out: Array) -> None:
        """See `Targets`."""
        out[:] = self._table[int(seconds * self._rate) % len(self._table)]


@dataclass(frozen=True)
class Run:
    """What a run of the control loop was like.

    timing: of every period; models: how many came; verdicts: how often each `Verdict`; events: how often each of the guard's
    words; rights: what the system gave; interrupted: whether it was ended by an emergency stop.
    """

    timing: Timing
    models: int
    verdicts: dict[str, int]
    events: dict[str, int]
    rights: Rights
    interrupted: bool


class TwoRates:
    """The controller at two rates of one robot; use it in a `with` block.

    Of the last period: woke [s], target [e], verdict, and events (the guard's flags). While it runs: drive, and measured, what
    that says of the effectors.
    """

    def __init__(
        self,
        build: Callable[[], Robot],
        *,
        rate: float = 1000.0,
        model_rate: float | None = None,
        kind: Kind = "effort",
        tangent: Tangent = "warped",
        guard: Guard | None = None,
        energy: float = 1e-8,
        speed: float | None = None,
        standby: bool = False,
        restarts: int = 1,
    ) -> None:
        """build: a function of a module that makes the robot, called here and in the model's process; rate, model_rate [Hz]: of
        commands, and of models (None: as fast as they go); kind: whether the drive is told efforts or displacements; tangent:
        of the model, by default the one that is always positive definite; guard: by default one with the robot's limits;
        energy, speed: as in `Controller`; standby, restarts: as in `ModelPlan`."""
        self.robot, self.build = build(), build
        self.rate = rate
        self.controller = Controller(self.robot, energy=energy, speed=speed)
        self.kind: Kind = kind
        self.guard = Guard.of_robot(self.robot, kind) if guard is None else guard
        available = usable_cores()
        self.core = available[0] if len(available) > 1 else None
        hanging = self.robot.linearize(Statics(self.robot).solve().require().state)
        self.controller.start(hanging.delta, hanging.efforts)
        self.guard.command[:] = np.clip(self.controller.command(kind), self.guard.low, self.guard.high)
        self.link = ModelLink(
            build, self.robot, self.guard.command, kind=kind, tangent=tangent, rate=model_rate, cores=available[1:],
            standby=standby, restarts=restarts
        )  # fmt: skip
        self.target = np.full(len(self.controller.goal), np.nan)
        self.effector_rows = self.controller.effector_rows
        self.drive: Drive | None = None
        self.measured: Measured | None = None
        self.woke = 0.0
        self.verdict = Verdict.SOLVED
        self.events = 0

    def __enter__(self) -> TwoRates:
        if not self.link.wait():
            self.close()
            raise NotConvergedError(
                "the model's process gave no model",
                remedy="look at its errors above; `build` must be a function of a module",
            )
        box, controller = self.link.box, self.controller
        controller.start(box.delta, box.efforts)
        self.get_ready()  # loads the kernel
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def tick(self, now: float, target: Array, interval: float) -> Array:
        """One command [n] by the model that `get_ready` found: what may leave for a drive (the same array each time). Then
        `tell_model`."""
        self.woke = now
        ended = self._tick(now, target, interval, False)
        verdict, self.events = ended % VERDICTS, ended // VERDICTS
        if verdict == UNSOLVED:
            self._search(now, interval)
        else:
            self.verdict = _VERDICTS[verdict]
        return self.guard.command

    def _search(self, now: float, interval: float) -> None:
        """The rest of a period whose QP was not guessed."""
        box, guard = self.link.box, self.guard
        self.verdict = self.controller.search(box.W, box.delta_free, box.efforts, interval)
        wanted = self.controller.command(self.kind)
        self.events = guard.check(wanted, now, now - box.stamp)
        if self.events:
            wanted[:] = guard.command

    def get_ready(self) -> None:
        """Take the newest model, and do the work of a period without commanding anything: so shortly before a deadline it
        fetches code and numbers that others have driven out of the processor's caches."""
        self.link.box.newest()
        self._tick(self.woke, self.controller.goal, 1 / self.rate, True)

    def _tick(self, now: float, target: Array, interval: float, rehearsal: bool) -> int:
        box, controller = self.link.box, self.controller
        ended: int = tick(
            box.numbers, box.head, len(box.delta), target, now, interval, controller.speed, controller.energy,
            controller.desk, controller.ids, *controller.sizes, self.guard.block, self.guard.stopped,
            self.kind == "displacement", rehearsal
        )  # fmt: skip
        return ended

    def tell_model(self) -> None:
        """Let the model's process know what was commanded."""
        self.link.send(self.guard.command, self.woke)

    def run(
        self,
        seconds: float,
        targets: Targets,
        drive: Drive,
        *,
        correction: Correction | None = None,
        watch: Callable[[float, TwoRates], None] | None = None,
        priority: int = 80,
    ) -> Run:
        """Control for so long, with real-time priority where the system allows it.

        correction: of the targets by what the drive measures of the effectors, off by default; it stands still while the guard
        does something, and where the last measurement is older than a model may be (the guard's `hold`). watch: called after
        every command with the time since the start [s] (to record, to adjust; it counts as part of the period). Ctrl-C is an
        emergency stop: the command goes to the safe one at the guard's rates, and the drive is told.
        """
        period = 1.0 / self.rate
        timing = Timing(int(1.2 * seconds * self.rate) + 100, period)
        self.link.box.newest()
        verdicts, events, models = np.zeros(len(Verdict), np.int64), np.zeros(16, np.int64), self.link.box.number
        self.drive, self.measured = drive, (measured := Measured(drive, self.effector_rows))
        with _EmergencyStop(self.guard) as stop, real_time(priority, self.core) as rights:
            pace, begin = Pace(self.rate, EARLY if self.core is not None else 0.0), time.monotonic()
            last = begin
            while True:
                pace.doze()
                measured.update()
                targets.fill(last + period - begin, self.target)
                self.get_ready()
                woke = pace.wait()
                if woke - begin > seconds or (stop.asked and self._is_safe(woke - stop.since)):
                    break
                interval = min(woke - last, 10 * period)
                targets.fill(woke - begin, self.target)
                target = self.target
                if correction is not None:
                    held = self.events != 0 or not measured.age(woke) < self.guard.hold
                    target = correction.adjust(target, measured.values, interval, held=held)
                command = self.tick(woke, target, interval)
                drive.send(command, woke)
                timing.note(woke, time.monotonic(), woke - self.link.box.stamp)
                self.tell_model()
                last = woke
                verdicts[self.verdict] += 1
                if self.events:
                    _count(self.events, events)
                if watch is not None:
                    watch(woke - begin, self)
        if stop.asked:
            drive.stop()
        return Run(
            timing,
            self.link.box.number - models,
            {verdict.name: int(verdicts[verdict]) for verdict in Verdict},
            {word: int(events[k]) for k in range(len(events)) if events[k] for word in event_words(1 << k)},
            rights,
            stop.asked,
        )

    def _is_safe(self, since: float) -> bool:
        """Whether the safe command is out, or has had ten seconds to get there."""
        return since > 10.0 or bool(np.abs(self.guard.command - self.guard.safe).max() < 1e-12)

    def close(self) -> None:
        """End the model's process. May be called twice."""
        self.link.close()


class Measured:
    """The effectors as a drive measured them last: values [e], NaN before it ever did and in rows that it does not measure."""

    def __init__(self, drive: Drive, rows: tuple[str, ...]) -> None:
        names = drive.wiring.measurements
        self._drive = drive
        self._places = [(k, names.index(row)) for k, row in enumerate(rows) if row in names]
        self._arrived = -np.inf
        self.values = np.full(len(rows), np.nan)

    def update(self) -> None:
        """Take over what has come since."""
        measurement = self._drive.read()
        if measurement is not None:
            self._arrived = measurement.arrived
            for k, place in self._places:
                self.values[k] = measurement.values[place]

    def age(self, now: float) -> float:
        """Seconds since the last measurement came, infinite before the first."""
        return now - self._arrived


def _count(flags: int, counts: NDArray[np.int64]) -> None:
    """Add one to the count of every flag that is set."""
    for k in range(len(counts)):
        if flags >> k & 1:
            counts[k] += 1


class _EmergencyStop:
    """While in force, Ctrl-C stops the guard instead of raising."""

    def __init__(self, guard: Guard) -> None:
        self._guard = guard
        self.asked, self.since = False, 0.0

    def __enter__(self) -> _EmergencyStop:
        try:
            self._before = signal.signal(signal.SIGINT, self._stop)
        except ValueError:  # not the main thread: Ctrl-C goes elsewhere
            self._before = None
        return self

    def _stop(self, number: int, frame: FrameType | None) -> None:
        self._guard.stop()
        self.asked, self.since = True, time.monotonic()

    def __exit__(self, *_: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
