"""The slow loop of a two-rate controller: it keeps the condensed model of a robot up to date (largilliere2015, section III)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.condensed import Condensed
from pliant.body.body import Tangent
from pliant.control.footing import Footing
from pliant.control.inverse import Inverse
from pliant.control.model_box import ModelBox
from pliant.control.motors import Motors
from pliant.control.question import Question
from pliant.control.standing import Standing
from pliant.device.wiring import Kind
from pliant.errors import PliantError
from pliant.motion import beginning, small_shift
from pliant.robot import Linearization, State

Array = NDArray[np.float64]

LONG = 30.0
"""A robot that no support holds is modelled over a time so much longer than the one in which its mass matters little: what
holds it then are its given displacements."""

CAUGHT_UP = 0.2
"""How far the effectors may be, by a command that is to lead again, from where the model has them, or by the model from where
they are to be, over how far they may go in a cycle."""


class ModelLoop:
    """The model of a robot, quasi-static, one linearization per cycle: the state goes where the last model says that the
    efforts applied since lead, and the model is made anew there. No clocks: whoever calls it keeps the time."""

    def __init__(
        self,
        question: Question,
        state: State | None = None,
        *,
        kind: Kind = "effort",
        tangent: Tangent = "exact",
        largest_move: float = 0.05,
        energy: float = 1e-8,
    ) -> None:
        """question: that is decided by the models; state: where the robot is now (default: in balance under its efforts);
        tangent: "warped" is the paper's way, one linearization per cycle whatever comes of it; kind: what the motors hold, and
        so what `cycle` is told; largest_move: how far a node may move in a cycle, as a share of the
        robot's size; energy: as in `Inverse`."""
        self.question, self.robot = question, question.robot
        self._tangent, self.kind, self._motors = tangent, kind, Motors(question, kind)
        self._reach = largest_move * self.robot.size
        first = beginning(self.robot) if state is None else state
        self._footing: Footing | None = None
        self._h: float | None = None
        if self.robot.is_supported and tangent == "warped":
            self.here = self._linearized(first)
        elif self.robot.is_supported:
            self._leader = Inverse(self.robot, kind=kind, tangent=tangent, largest_move=largest_move, energy=energy)
            self._footing = Footing(question, kind=kind, tangent=tangent, largest_move=largest_move, returns=True)
            self.here = self._footing.arrive(first)
        else:
            self._h = LONG / np.sqrt(small_shift(self.robot, first))
            self.here = self._linearized(first)
        self.failures = 0
        self._leads = self._is_there = False

    def _linearized(self, state: State) -> Linearization:
        at = state if self._h is None else state.at_rest()
        return self.robot.linearize(at, tangent=self._tangent, h=self._h, scheme="euler")

    @property
    def state(self) -> State:
        """Where the robot is by the model."""
        return self.here.state

    @property
    def model(self) -> Condensed:
        """The condensed model there."""
        return self.here.model

    def command(self) -> Array:
        """What the motors hold where the model is, efforts or displacements (n,)."""
        model = self.model
        return np.asarray((model.efforts if self.kind == "effort" else model.delta)[self.question.sought])

    def settle(self, command: Array, cycles: int = 40) -> None:
        """Go to where a command (n,) leads, from wherever the model is: a start in the middle of a run. Ends when no node moves
        by more than 1e-4 of the robot's size in a cycle."""
        for _ in range(cycles):
            before = self.state
            if self.cycle(command) is None or np.abs(self.state.x - before.x).max() < 2e-3 * self._reach:
                return

    def cycle(self, command: Array, goal: Array | None = None, interval: float | None = None) -> Linearization | None:
        """The model after a command was applied, efforts or displacements of all actuator rows (n,), with what the robot's
        ports are given now; None where it cannot be made there: then the state is as before, and the next cycle tries
        again from it. goal (t,): where effectors are to be, as targets, where that is known: by it a step is judged. interval
        [s]: since the last cycle.

        Motors that hold a displacement (the length of a cable) have whatever effort that takes by the model, within their
        limits: a robot that would buckle under given tensions need not under given lengths. A command that leads out of
        balance, or to where the robot is not stable, is followed as far as it is good (`Footing`). While steps must be short,
        this loop decides them itself, as `Inverse` does, and whoever commands is told to follow: next to the loss of stability
        a decision by the model of one cycle ago is a mistake.
        """
        before = self.state
        try:
            if not np.isfinite(command).all():
                raise PliantError("the command is not a number", remedy="give one number per actuator row")
            here = self._led(self._motors.led_by(self.model, command), goal, interval)
            if not (np.isfinite(here.model.W).all() and np.isfinite(here.model.delta_free).all()):
                raise PliantError("the model is not a number", remedy="start again from the last good state")
        except PliantError:
            self.failures += 1
            self.here = self._linearized(before)  # as it was
            return None
        self.here = here
        return here

    def _led(self, efforts: Array, goal: Array | None, interval: float | None) -> Linearization:
        """The robot linearized where efforts lead, or a decision of its own."""
        footing = self._footing
        if footing is None:
            followed = self.here.follow(efforts, largest_move=self._reach)
            self._require_whole(followed.balance)
            return self._linearized(followed.state)
        aims = None if goal is None or not np.isfinite(goal).all() else self.question.aims_of(goal.copy())
        handed_over = self._is_there or self._is_caught_up(efforts)
        self._leads = aims is not None and (footing.is_held_back or (self._leads and not handed_over))
        if aims is not None and self._leads:
            step = self._leader.decide(footing, self.here, aims, interval)
            if not step.ok:
                raise step.cause or PliantError("there is no decision", remedy="look at the limits of the actuators")
            # a command that follows is late by a cycle: behind a fast target it would never catch up
            off = np.concatenate([step.error[name] for name in self.question.wanted.parts])
            self._is_there = bool(np.linalg.norm(self.question.weights * off) <= CAUGHT_UP * self._reach)
            return footing.arrive(step.state, aims)
        followed = footing.leave(self.here, efforts, aims, told=True)
        self._require_whole(followed.balance)
        return footing.arrive(followed.state, aims)

    def _is_caught_up(self, efforts: Array) -> bool:
        """Whether the efforts that a command comes to leave the effectors about where the model has them."""
        shift = (self.model.W @ (efforts - self.model.efforts))[self.question.wanted.rows]
        return bool(np.linalg.norm(self.question.weights * shift) <= CAUGHT_UP * self._reach)

    @staticmethod
    def _require_whole(balance: float) -> None:
        if balance == 0.0:
            raise PliantError("the command would tear the robot", remedy="start again from the last good state")

    def put(self, box: ModelBox, here: Linearization, *, stamp: float, cycle: float = 0.0) -> None:
        """Publish a model that was true at `stamp` [s] and took `cycle` [s], with how far it is to be trusted."""
        model, trust, standing, footing = here.model, None, Standing.FIRM, self._footing
        if footing is not None:
            model, trust, standing = footing.motors.for_decisions(model), footing.box(model), footing.standing
            if self._leads or footing.is_held_back:
                trust, standing = np.zeros_like(trust), max(standing, Standing.HOLDING)
        targets = self.question.targets_at(here.state)
        box.put(model, targets, stamp=stamp, cycle=cycle, failures=self.failures, trust=trust, standing=standing)
