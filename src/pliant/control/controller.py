"""The fast loop of a two-rate controller: the newest target and the newest condensed model give a command."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.qp import QpStatus, QuadraticSolver
from pliant.checks import number, single
from pliant.control._decision_kernels import UNSOLVED, Course, decide, desk_size, lay_out, predict, take_over
from pliant.control.decision import RELAXATION, DecisionProblem
from pliant.device.wiring import Kind
from pliant.errors import InputError
from pliant.robot import Robot, Role

Array = NDArray[np.float64]


class Verdict(IntEnum):
    """How a decision ended, as a number that can be recorded."""

    SOLVED = 0
    RELAXED = 1
    """Limits contradicted each other; kinds of them were dropped in the order of `RELAXATION`, effort limits never."""
    NOT_A_NUMBER = 2
    """The target was none: the last command is held."""
    FAILED = 3
    """The QP has no answer: the last command is held."""


class Controller:
    """Decides by condensed models that somebody else makes: no clocks, no allocation of arrays, nothing raises.

    The command is in `efforts` and `displacements` [n], of all actuator rows. Rates count from the last command. Targets that
    jump are approached: the goal that is handed to the QP moves by at most `speed` units per second (of a robot in metres,
    its size by default).
    """

    def __init__(self, robot: Robot, *, energy: float = 1e-8, speed: float | None = None) -> None:
        """energy: weight of the actuators' work; speed: of the goal, per second, in the effectors' unit."""
        energy = single(energy, "energy")
        if not 0 <= energy < np.inf:
            raise InputError(f"energy is {energy}", remedy="give a weight that is not negative, such as 1e-8")
        speed = None if speed is None else number(speed, "speed", above=0.0, endless=True)
        self._problem = DecisionProblem(robot, energy)
        _require_plain(robot, self._problem.effector_names)
        self.speed = robot.size if speed is None else speed
        self.energy = energy
        self._solver = QuadraticSolver(len(self._problem.actuators), len(self._problem.arrays.A))
        course = self._set_desk()
        self.goal: Array = course.goal
        self.efforts: Array = course.efforts
        self.displacements: Array = course.displacements
        self.efforts[:] = np.clip(0.0, self._problem.effort[:, 0], self._problem.effort[:, 1])
        self.goal[:] = np.nan
        self.rows = self._problem.actuators
        self._predicted = np.zeros(len(self.goal))
        self.effector_rows = tuple(robot.row_names[k] for k in self._problem.effectors)
        self._warm_up(len(robot.row_names))

    def _warm_up(self, rows: int) -> None:
        """Load all that a decision may need, now and not in a loop; nothing is changed."""
        before, W, nothing = self.desk.copy(), np.eye(rows), np.zeros(rows)
        self.decide(W, nothing, nothing, np.zeros(len(self.goal)), 1.0)
        self.search(W, nothing, nothing, 1.0)
        self.predicted(W)
        self.desk[:] = before

    def _set_desk(self) -> Course:
        """Move all arrays of the problem and of its solver to one, which takes a kernel less time to be handed; returns what
        goes on from one decision to the next."""
        problem, solver = self._problem, self._solver
        n, e, k = len(problem.actuators), len(problem.effectors), len(problem.arrays.A)
        self.sizes, m = (n, e, k), len(problem.arrays.d)
        self.desk = np.zeros(desk_size(n, e, k, m))
        self.ids = np.concatenate([*problem.rows[:2], problem.rows.limited, np.zeros(n + k)]).astype(np.int64)
        rows, course, reach, arrays, work = lay_out(self.desk, self.ids, n, e, k, m)
        for there, here in (
            (rows.S, problem.rows.S),
            (course.anywhere, problem.anywhere),
            *zip(reach, problem.reach, strict=True),
        ):
            there[:] = here
        problem.rows, problem.reach, problem.arrays, problem.anywhere = rows, reach, arrays, course.anywhere
        solver.x, solver.multipliers, solver.work = course.x, course.multipliers, work
        return Course(*course)

    def start(self, delta: Array, efforts: Array) -> None:
        """Begin from a robot whose ports are at delta [m] under efforts [m]: commands and goals go on from there."""
        self.efforts[:] = np.clip(efforts[self.rows], self._problem.effort[:, 0], self._problem.effort[:, 1])
        self.displacements[:] = delta[self.rows]
        self.goal[:] = delta[self._problem.effectors]

    def decide(self, W: Array, delta_free: Array, efforts: Array, target: Array, interval: float) -> Verdict:
        """A command for a target [e] by a model: W [m, m], delta_free [m], and the efforts [m] it was made with; `interval`
        [s] since the last command."""
        ended = decide(
            W, delta_free, efforts, target, interval, self.speed, self.energy, self.desk, self.ids, *self.sizes, False
        )
        return self.search(W, delta_free, efforts, interval) if ended == UNSOLVED else Verdict(ended)

    def search(self, W: Array, free: Array, efforts: Array, interval: float) -> Verdict:
        """The second part of a decision whose QP took more than a few guesses, or has no answer: then without some kinds of
        limits."""
        problem, solver = self._problem, self._solver
        P, q, A, low, high = problem.arrays[:5]
        n = len(q)
        for k in range(len(RELAXATION) + 1):
            problem.fill(
                W, free, efforts, self.goal, now_efforts=self.efforts, now_delta=self.displacements, interval=interval,
                drop=RELAXATION[:k]
            )  # fmt: skip
            if solver.solve(P, q, low[:n], high[:n], A, low[n:], high[n:]) is QpStatus.OPTIMAL:
                take_over(W, problem.rows, problem.arrays, solver.x, self.efforts, self.displacements)
                return Verdict.SOLVED if k == 0 else Verdict.RELAXED
        return Verdict.FAILED

    def predicted(self, W: Array) -> Array:
        """Where the model W [m, m] that the last decision was made with says that it brings the effectors, [e] (the same array
        each time): not at the goal where limits keep them from it."""
        predict(W, self.desk, self.ids, *self.sizes, len(W), self._predicted)
        return self._predicted

    def command(self, kind: Kind) -> Array:
        """The efforts or the displacements [n] (the same array each time); a guard that sends others writes them here, so
        that rates count from what was sent."""
        return self.efforts if kind == "effort" else self.displacements


def _require_plain(robot: Robot, effectors: tuple[str, ...]) -> None:
    """Raise an InputError for ports that this controller does not know how to treat."""
    for name in robot.named(Role.DRIVEN):
        raise InputError(
            f"{name!r} has an imposed displacement, which a controller at two rates does not know",
            remedy="impose its effort, or use Inverse",
        )
    for name in (*effectors, *robot.named(Role.ACTUATOR)):
        port = robot.ports[name].attachment.port
        if port.relative or port.trusted_change(robot.ports[name].effort) is not None:
            raise InputError(
                f"{name!r} is a {type(port).__name__}, which a controller at two rates does not know",
                remedy="use Inverse, or ports whose displacement is measured from rest (Point, Center, Cable, Cavity, Force)",
            )
