"""One period of the control loop, whoever keeps the time."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.checks import number, require_kind_of
from pliant.control._decision_kernels import UNSOLVED
from pliant.control._tick_kernels import SLOWEST, STATUSES, STILL, tick
from pliant.control.controller import Controller
from pliant.control.footing import THERE
from pliant.control.model_box import ModelBox
from pliant.control.standing import Standing
from pliant.control.status import DecisionStatus
from pliant.device import Guard
from pliant.device.wiring import Kind
from pliant.errors import InputError

Array = NDArray[np.float64]

_STATUSES = tuple(DecisionStatus)
MODELS_HELD = 6.0
"""A guard holds the command of a model for at least so many intervals of models: one that comes at 15 Hz is 0.13 s old when the
next is there."""


class Commander:
    """The newest model and a target give a command that may leave for a drive: a QP, then the guard, in one compiled kernel.

    Of the last period: woke [s], target (t,), status, and events (the guard's flags). It makes no arrays and raises nothing.
    """

    def __init__(
        self,
        controller: Controller,
        box: ModelBox,
        *,
        kind: Kind,
        rate: float,
        model_rate: float | None = None,
        guard: Guard | None = None,
    ) -> None:
        """controller: who decides; box: where models come, of the same question; kind: what is commanded; rate, model_rate
        [Hz]: of commands, and of models where that is set; guard: by default one with the robot's limits."""
        self.controller, self.robot, self.box = controller, controller.question.robot, box
        self.kind, self.rate, robot = kind, number(rate, "rate", unit="Hz", above=0.0), self.robot
        if guard is not None:
            require_kind_of(guard, "guard", Guard)
        hold = 0.2 if model_rate is None else max(0.2, MODELS_HELD / model_rate)
        self.guard = Guard.of_robot(robot, kind, hold=hold) if guard is None else guard
        if self.guard.kind not in (None, kind):
            raise InputError(
                f"the guard is for {self.guard.kind}s, and {kind}s are commanded",
                remedy=f"give Guard.of_robot(robot, {kind!r})",
            )
        rows = len(self.controller.rows)
        if len(self.guard.low) != rows:
            raise InputError(
                f"the guard has {len(self.guard.low)} rows and the robot {rows} actuator rows",
                remedy="make it from the robot: Guard.of_robot(robot, kind)",
            )
        self.target = np.full(len(self.controller.goal), np.nan)
        self._size = robot.size
        self.target_rows, self.effector_rows = controller.question.wanted.labels, controller.question.effector_rows
        self.woke = 0.0
        self.status = DecisionStatus.SOLVED
        self.events = 0

    def start(self, delta: Array, efforts: Array, targets: Array) -> None:
        """Begin from a robot whose ports are at delta (m,) under efforts (m,), its effectors at targets (t,)."""
        self.controller.start(delta, efforts, targets)
        self.guard.command[:] = np.clip(self.controller.command(self.kind), self.guard.low, self.guard.high)

    def tick(self, now: float, target: Array, interval: float) -> Array:
        """One command [n] by the model that is in the box: what may leave for a drive (the same array each time). interval [s]:
        since the last."""
        self.woke = now
        self.controller.question.take_given(self.controller.given)
        ended = self._tick(now, target, interval, False)
        code, self.events = ended % STATUSES, ended // STATUSES
        if code == UNSOLVED:
            self._search(now, interval)
        elif code == STILL:
            self.status = DecisionStatus.SOLVED if self.events else self._at_rest()
        else:
            self.status = _STATUSES[code]
        if self.status is DecisionStatus.SOLVED and self.box.standing is not Standing.FIRM:
            self.status = DecisionStatus.SLOWED
        return self.guard.command

    def _at_rest(self) -> DecisionStatus:
        """In a word, where the robot rests, or SOLVED where its model is still on the way."""
        standing, decider = self.box.standing, self.controller.decider
        if standing is Standing.HOLDING:
            return DecisionStatus.SOLVED
        question = self.controller.question
        off = float(np.linalg.norm(question.weights * (decider.predicted() - decider.desk.course.wanted)))
        if off <= THERE * self._size:
            return DecisionStatus.REACHED
        if standing is Standing.FIRM:
            model, course = self.box.model, decider.desk.course
            if (np.abs(course.efforts - model.efforts[question.sought]) > 0.999 * model.trust).any():
                return DecisionStatus.SOLVED  # it waits for the next model, which reaches farther
            return DecisionStatus.LIMITED if course.multipliers.any() else DecisionStatus.CLOSEST
        return DecisionStatus.LIMITED if standing is Standing.UNSTABLE_BEYOND else DecisionStatus.CLOSEST

    def _search(self, now: float, interval: float) -> None:
        """The rest of a period whose QP was not guessed."""
        box, guard = self.box, self.guard
        self.status = self.controller.decider.search(box.model, interval)
        if self.status is DecisionStatus.SOLVED and self.controller.decider.desk.course.pace[0] <= SLOWEST:
            self.status = self._at_rest()
        wanted = self.controller.command(self.kind)
        self.events = guard.check(wanted, now, now - box.stamp)
        if self.events:
            wanted[:] = guard.command

    def get_ready(self) -> None:
        """Take the newest model, and do the work of a period without commanding anything: so shortly before a deadline it
        fetches code and numbers that others have driven out of the processor's caches."""
        self.box.newest()
        self._tick(self.woke, self.controller.goal, 1 / self.rate, True)

    def _tick(self, now: float, target: Array, interval: float, rehearsal: bool) -> int:
        box, controller = self.box, self.controller
        ended: int = tick(
            box.numbers, box.places, len(box.delta), target, now, interval, controller.speed, controller.lever,
            controller.decider.energy, *controller.decider.desk.arrays, self.guard.block, self.guard.stopped,
            self.kind == "displacement", rehearsal
        )  # fmt: skip
        return ended

    def predicted(self) -> Array:
        """Where the model says that the last decision brings the effectors, (e,) (the same array each time): not at the goal
        where limits keep them from it."""
        return self.controller.decider.predicted()
