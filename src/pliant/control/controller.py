"""The fast loop of a two-rate controller: the newest target and the newest condensed model give a command."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.checks import number
from pliant.control._goal_kernels import approach, ask
from pliant.control.decider import Decider
from pliant.control.question import ModelNumbers, Question
from pliant.control.status import DecisionStatus
from pliant.device.wiring import Kind
from pliant.robot import Robot

Array = NDArray[np.float64]


class Controller:
    """Decides by condensed models that somebody else makes: no clocks, no allocation of arrays, nothing raises.

    The command is in `efforts` and `displacements` (n,), of all actuator rows. Rates count from the last command. Targets that
    jump are approached: the goal (t,), itself a target, moves by at most `speed` units per second (of a robot in metres, its
    size by default; a radian counts as half the robot's size). What is given (imposed displacements) is in `given`, as targets.
    """

    def __init__(self, robot: Robot, *, energy: float = 1e-8, speed: float | None = None) -> None:
        """energy: weight of the actuators' work; speed: of the goal, per second, in the effectors' unit."""
        speed = None if speed is None else number(speed, "speed", above=0.0, endless=True)
        self.question = question = Question(robot)
        question.require_known_goals()
        self.decider = Decider(question, energy)
        self.speed = robot.size if speed is None else speed
        self.lever = 0.5 * robot.size
        course, self._holding = self.decider.desk.course, self.decider.desk.holding
        self.goal: Array = course.goal
        self.efforts: Array = course.efforts
        self.displacements: Array = course.displacements
        self.efforts[:] = np.clip(0.0, *question.effort.T)
        self.goal[:] = np.nan
        self.given: Array = self._holding.given
        question.take_given(self.given)
        self.rows = question.sought
        self._warm_up()

    def _warm_up(self) -> None:
        """Load all that a decision may need, now and not in a loop; nothing is changed."""
        desk, zeros = self.decider.desk, np.zeros(len(self.question.row_names))
        before, whole = desk.numbers.copy(), desk.whole.copy()
        references = np.tile(np.eye(3).ravel(), len(self.question.reference_places))
        model = ModelNumbers(np.eye(len(zeros)), zeros, zeros, references, np.full(len(self.rows), np.inf))
        target = np.zeros(len(self.goal))
        target[desk.asked.turns] = 1.0
        self.decide(model, target, 1.0)
        self.decider.search(model, 1.0)
        self.decider.predicted()
        desk.numbers[:], desk.whole[:] = before, whole

    def start(self, delta: Array, efforts: Array, targets: Array) -> None:
        """Begin from a robot whose ports are at delta (m,) under efforts (m,), its effectors at targets (t,): commands
        and goals go on from there."""
        self.efforts[:] = np.clip(efforts[self.rows], *self.question.effort.T)
        self.displacements[:] = delta[self.rows]
        self.goal[:] = targets

    def decide(self, model: ModelNumbers, target: Array, interval: float) -> DecisionStatus:
        """A command for a target (t,) by a model; `interval` [s] since the last command."""
        desk = self.decider.desk
        course, turns = desk.course, desk.asked.turns
        if not approach(target, self.speed * interval, self.lever, turns, self.goal, course.moved):
            return DecisionStatus.HELD
        ask(course.moved, model.references, desk.asked.sources, course.wanted)
        ask(self.given, model.references, self._holding.sources, self._holding.wanted)
        self.goal[:] = course.moved
        return self.decider.decide(model, interval)

    def command(self, kind: Kind) -> Array:
        """The efforts or the displacements (n,) (the same array each time); a guard that sends others writes them here, so
        that rates count from what was sent."""
        return self.efforts if kind == "effort" else self.displacements
