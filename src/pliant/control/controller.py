"""The fast loop of a two-rate controller: the newest target and the newest condensed model give a command."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.qp import QpStatus, QuadraticSolver
from pliant.control._decision_kernels import UNSOLVED, decide, take_over
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
        self._problem = DecisionProblem(robot, energy)
        _require_plain(robot, self._problem.effector_names)
        self.speed = robot.size if speed is None else speed
        n = len(self._problem.actuators)
        self._solver = QuadraticSolver(n, len(self._problem.arrays.A))
        self.efforts = np.clip(0.0, self._problem.effort[:, 0], self._problem.effort[:, 1])
        self.displacements = np.zeros(n)
        self.goal = np.full(len(self._problem.effectors), np.nan)
        self._moved = np.zeros(len(self._problem.effectors))
        self._arrays = (
            self.efforts, self.displacements, self._solver.x, self._solver.multipliers, *self._problem.rows,
            *self._problem.reach, self._problem.anywhere, *self._problem.arrays, *self._solver.work
        )  # fmt: skip
        self.rows = self._problem.actuators
        self.effector_rows = tuple(robot.system.row_names[k] for k in self._problem.effectors)

    @property
    def effort_limits(self) -> Array:
        """Bounds (low, high) of the efforts, [n, 2]."""
        return self._problem.effort

    @property
    def effort_rates(self) -> Array:
        """How fast the efforts may change, per second, [n]."""
        return self._problem.effort_rate

    def start(self, delta: Array, efforts: Array) -> None:
        """Begin from a robot whose ports are at delta [m] under efforts [m]: commands and goals go on from there."""
        self.efforts[:] = np.clip(efforts[self.rows], self._problem.effort[:, 0], self._problem.effort[:, 1])
        self.displacements[:] = delta[self.rows]
        self.goal[:] = delta[self._problem.effectors]

    def decide(self, W: Array, delta_free: Array, efforts: Array, target: Array, interval: float) -> Verdict:
        """A command for a target [e] by a model: W [m, m], delta_free [m], and the efforts [m] it was made with; `interval`
        [s] since the last command."""
        ended = self._decide(W, delta_free, efforts, target, interval, False)
        return Verdict(ended) if ended != UNSOLVED else self._solve(W, delta_free, efforts, interval)

    def rehearse(self, W: Array, delta_free: Array, efforts: Array, interval: float) -> None:
        """Do the work of a decision and change nothing: shortly before a deadline it fetches code and numbers that others have
        driven out of the processor's caches."""
        self._decide(W, delta_free, efforts, self.goal, interval, True)

    def _decide(self, W: Array, free: Array, efforts: Array, target: Array, interval: float, rehearsal: bool) -> int:
        ended: int = decide(
            W, free, efforts, target, interval, self.speed, self._problem.energy, rehearsal, self.goal, self._moved,
            *self._arrays
        )  # fmt: skip
        return ended

    def _solve(self, W: Array, free: Array, efforts: Array, interval: float) -> Verdict:
        """The QP that took more than a few guesses, or has no answer: then without some kinds of limits."""
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
        port = robot.system.attachments[name].port
        if port.relative or port.trusted_change(robot.efforts[robot.system.slices[name]]) is not None:
            raise InputError(
                f"{name!r} is a {type(port).__name__}, which a controller at two rates does not know",
                remedy="use Inverse, or ports whose displacement is measured from rest (Point, Center, Cable, Cavity, Force)",
            )
