"""A controller at two rates: commands at a fixed, high rate; models as fast as they come, in another process.

    model loop (a process of its own)    efforts applied -> linearize -> condense -> W, delta_free
    control loop (here)                  newest target, newest model -> QP -> guard -> drive, every millisecond

A late, stuck or dead model loop does not stop the control loop: it decides by the last model as long as the guard allows, and
then goes to the safe command (largilliere2015, section III; the guard is ours).
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from contextlib import closing

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.body.body import Tangent
from pliant.checks import number, require_importable, require_kind_of, shown, single, whole
from pliant.control.commander import Commander
from pliant.control.controller import Controller
from pliant.control.correction import Correction
from pliant.control.measured import Measured
from pliant.control.model_box import ModelBox
from pliant.control.model_link import ModelLink
from pliant.control.model_loop import ModelLoop
from pliant.control.model_process import ModelPlan
from pliant.control.pace import real_time
from pliant.control.run import Run
from pliant.control.targets import Targets, as_targets
from pliant.control.trajectory import Trajectory
from pliant.control.turns import Turns
from pliant.device import Drive, Guard
from pliant.device.wiring import Kind, Wiring, require_kind
from pliant.errors import InputError, NotConvergedError, PliantWarning
from pliant.exchange import stop_signals, usable_cores
from pliant.robot import Robot
from pliant.robot.equations import require_tangent

Array = NDArray[np.float64]

TOO_MANY = 0.5
"""A run that misses more than this share of its periods is told about."""


class TwoRates(Commander):
    """The controller at two rates of one robot; use it in a `with` block.

    While it runs: drive, and measured, what that says of the effectors. See `Commander` for what there is of the last period.
    """

    def __init__(
        self,
        build: Callable[[], Robot],
        *,
        rate: float = 1000.0,
        model_rate: float | None = None,
        kind: Kind = "effort",
        tangent: Tangent = "exact",
        guard: Guard | None = None,
        energy: float = 1e-8,
        speed: float | None = None,
        standby: bool = False,
        restarts: int = 1,
        patience: float = 5.0,
    ) -> None:
        """build: a function of a module that makes the robot, called here and in the model's process; rate, model_rate [Hz]: of
        commands, and of models (None: as fast as they go); kind: whether the drive is told efforts or displacements; tangent:
        of the model, as in `Robot.linearize`; guard: by default one with the robot's limits;
        energy, speed: as in `Controller`; standby, restarts, patience: as in `ModelPlan`."""
        require_importable(build, "robot")
        require_kind(kind)
        require_tangent(tangent)
        rate = number(rate, "rate", unit="Hz", above=0.0)
        patience = number(patience, "patience", unit="s", above=0.0, endless=True)
        model_rate = None if model_rate is None else number(model_rate, "model_rate", unit="Hz", above=0.0)
        restarts = whole(restarts, "restarts", least=0)
        robot, self.build = build(), build
        if not isinstance(robot, Robot):
            raise InputError(f"build made {shown(robot)}", remedy="give a function that makes a Robot")
        controller = Controller(robot, energy=energy, speed=speed)
        box = ModelBox(controller.question)
        try:
            super().__init__(controller, box, kind=kind, rate=rate, model_rate=model_rate, guard=guard)
            hanging = ModelLoop(controller.question, kind=kind, tangent=tangent, energy=energy)
        except BaseException:
            box.close()
            raise
        self.start(hanging.model.delta, hanging.model.efforts, controller.question.targets_at(hanging.state))
        available = usable_cores()
        self.core = available[0] if len(available) > 1 else None
        plan = ModelPlan(build, kind, tangent, energy, model_rate, available[1:], standby, restarts, patience)
        self.link = ModelLink(plan, controller.question, box, self.guard.command)
        self.drive: Drive | None = None
        self.measured: Measured | None = None

    def __enter__(self) -> TwoRates:
        try:
            if not self.link.wait():
                raise NotConvergedError(
                    "the model's process gave no model",
                    remedy="look at its errors above; `build` must be a function of a module",
                )
            self.controller.start(self.box.delta, self.box.model.efforts, self.box.targets)
            self.get_ready()  # loads the kernel
        except BaseException:  # an interrupt, too: who does not get in does not get out
            self.close()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def run(
        self,
        seconds: float,
        targets: Targets | Trajectory | ArrayLike,
        drive: Drive,
        *,
        correction: Correction | None = None,
        lag: float = 0.0,
        watch: Callable[[float, TwoRates], bool | None] | None = None,
        priority: int = 80,
    ) -> Run:
        """Control for so long (infinite: until an emergency stop), with real-time priority where the system allows it.

        targets: a place (t,), the path of one effector, over and over, or `Targets`. correction: of the targets by what the
        drive measures of the effectors, off by default; it stands still while the guard does something, and where the last
        measurement is older than a model may be (the guard's `hold`). lag [s]: how late the robot follows its commands (its
        motors, its mass): targets are looked ahead by so much, as far as they know the future. watch: called after every
        command with the time since the start [s] (to record, to adjust; it counts as part of the period); the run is over when
        it returns True.

        An emergency stop is Ctrl-C, SIGTERM or SIGHUP, `guard.stop()` from anywhere, or an exception from targets or watch: the
        command goes to the safe one at the guard's rates, the drive is told, and then the run ends, behind its time if need be;
        nothing else leaves until `guard.release()`. A run that ends by itself leaves its last command standing, and the next
        goes on from it.
        """
        self._require_fits(seconds, drive, correction)
        if watch is not None and not callable(watch):
            raise InputError(f"watch is {shown(watch)}", remedy="give a function of the time [s] and the controller")
        priority, lag = whole(priority, "priority", most=99), number(lag, "lag", unit="s", least=0.0)
        aims = as_targets(targets, self.target_rows, self.rate)
        self.link.revive()
        self.box.newest()
        self.drive = drive
        turns = None
        try:
            with (
                stop_signals(self.guard.stop),
                closing(self.link.watchman()) as watchman,
                real_time(priority, self.core) as rights,
            ):
                turns = Turns(self, seconds, aims, drive, correction, watch, watchman.tell, lag)
                turns.take()
        finally:
            if turns is not None and self.guard.stopped and not turns.halted:  # it came at the very last moment
                with stop_signals(self.guard.stop):
                    turns.take_to_safety()
        run = turns.report(rights)
        if run.missed > TOO_MANY * (run.missed + run.timing.count):
            latency, period = (float(some.max(initial=0.0)) for some in (run.timing.latencies, run.timing.periods))
            warnings.warn(
                f"{run.missed} of {run.missed + run.timing.count} periods had no command; a command took up to "
                f"{latency:.3g} s with its {type(drive).__name__}, a period {period:.3g} s: choose a lower rate, or targets, a "
                "drive and a watch that do not wait "
                "(a plant in this process must be faster than the clock; PlantProcess has one elsewhere)",
                PliantWarning,
                stacklevel=2,
            )
        return run

    def _require_fits(self, seconds: float, drive: Drive, correction: Correction | None) -> None:
        """Raise an InputError for what cannot be run."""
        if not single(seconds, "seconds", unit="s") > 0:
            raise InputError(f"a run of {seconds} s", remedy="give a positive time, np.inf for one without end")
        require_kind_of(drive, "drive", Drive)
        self.controller.question.require_current("controller")
        wanted, wiring = Wiring.of_robot(self.robot, self.kind), drive.wiring
        if (wiring.kind, wiring.commands) != (self.kind, wanted.commands):
            raise InputError(
                f"the drive takes {wiring.kind}s of {', '.join(wiring.commands)}; this controller commands {self.kind}s of "
                f"{', '.join(wanted.commands)}",
                remedy="make the drive of Wiring.of_robot(robot, kind) or of a plant of the same kind and ports",
            )
        self.controller.question.require_correctable(correction)

    @property
    def has_spare(self) -> bool:
        """Whether a second model process is warm and waits to take over (`standby`)."""
        return self.link.has_spare

    @property
    def is_safe(self) -> bool:
        """Whether the safe command is out."""
        return bool(np.abs(self.guard.command - self.guard.safe).max() < 1e-12)

    def close(self) -> None:
        """End the model's process. May be called twice."""
        self.link.close()
