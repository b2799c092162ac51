"""The slow loop of whoever observes: the model is made where sensors say that the robot is (koehler2023, section VII-A)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.condensed import Condensed
from pliant.control.model_box import ModelBox
from pliant.control.observer import Observer, ObserverStatus
from pliant.control.question import Question
from pliant.errors import PliantError
from pliant.motion import beginning
from pliant.robot import Linearization, Robot, Role, State

Array = NDArray[np.float64]


class SensingLoop:
    """The model of a robot that others move, too: one linearization per cycle, where the efforts lead that explain what was
    measured, the wrench on its effectors among them. No clocks: whoever calls it keeps the time.

    It has no radius of trust as `ModelLoop` has, since it decides nothing: it follows what is there. A cycle moves no node by
    more than `largest_move` of the robot's size, so after a gap it comes back within a few."""

    def __init__(
        self, robot: Robot, observer: Observer, state: State | None = None, *, largest_move: float = 0.05
    ) -> None:
        """robot: with its effectors as effectors; observer: of its own, of the same robot."""
        self.question = Question(robot)
        # what pushes the effectors bends the robot, and their curvature counts: in here they are loads
        self.robot = robot.with_roles(dict.fromkeys(robot.named(Role.EFFECTOR), Role.IMPOSED))
        self.observer, self._reach = observer, largest_move * robot.size
        self.here: Linearization = self.robot.linearize(beginning(self.robot) if state is None else state)
        self.failures = 0
        self.cycles = 0

    @property
    def state(self) -> State:
        """Where the robot is by the model."""
        return self.here.state

    @property
    def model(self) -> Condensed:
        """The condensed model there."""
        return self.here.model

    def cycle(self, measured: Array, known: Array | None = None) -> Linearization | None:
        """The model after something was measured (k,), in the order of the observer's labels; known: as in `Observer.observe`.
        None where nothing can be told, or no model made there: then the state is as before."""
        before = self.state
        try:
            status = self.observer.explain(self.question.numbers(self.model), measured, known=known)
            if status is ObserverStatus.BLIND:
                raise PliantError(f"nothing is observed: {status.name}", remedy=status.value)
            followed = self.here.follow(self.observer.efforts(), largest_move=self._reach)
            if followed.balance == 0.0:
                raise PliantError("what was measured would tear the robot", remedy="look at the sensors")
            here = self.robot.linearize(followed.state)
            if not (np.isfinite(here.model.W).all() and np.isfinite(here.model.delta_free).all()):
                raise PliantError("the model is not a number", remedy="start again from the last good state")
        except PliantError:
            self.failures += 1
            self.here = self.robot.linearize(before)
            return None
        self.here, self.cycles = here, self.cycles + 1
        return here

    def settle(self, measured: Array, known: Array | None = None, cycles: int = 40) -> None:
        """Go to where it was measured, from wherever the model is."""
        for _ in range(cycles):
            before = self.state
            if self.cycle(measured, known) is None or np.abs(self.state.x - before.x).max() < 1e-3 * self._reach:
                return

    def put(self, box: ModelBox, here: Linearization, *, stamp: float, cycle: float = 0.0) -> None:
        """Publish a model that was true at `stamp` [s] and took `cycle` [s]."""
        targets = self.question.targets_at(here.state)
        box.put(here.model, targets, stamp=stamp, cycle=cycle, failures=self.failures)
