"""The QP of one decision: built from a condensed model by a compiled kernel, without allocation.

With a: actuators, e: effectors, and delta = W lambda + delta_free of the condensed model:

    min  1/2 |S (W_ea lambda_a + d_e - target)|^2 + 1/2 eps lambda_a^T W_aa lambda_a
    s.t. lambda_min <= lambda_a <= lambda_max,    d_min <= W_aa lambda_a + d_a <= d_max,    rate limits on both

where d are the displacements with imposed efforts and no actuation. eps is relative (1e-8 of the ratio of the two matrices'
norms): it makes the answer unique and of least work where actuators are redundant, and costs no accuracy that shows.
Variables are scaled, lambda_a = scale y with scale = diag(W_aa)^-1/2, and the objective by the norm of its first part.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.condensed import Condensed
from pliant.algebra.qp import QuadraticProgram
from pliant.checks import number
from pliant.control._decision_kernels import Problem, Reach, Rows, fill_decision
from pliant.errors import InputError
from pliant.robot import Robot, Role

Array = NDArray[np.float64]

RELAXATION = ("displacement rate", "effort rate", "displacement")
"""Kinds of limits in the order in which they are dropped where they contradict; effort limits never are."""


@dataclass(frozen=True)
class Decision:
    """The QP of one decision in scaled variables y, and how to read its answer: efforts = scale * y.

    actuators, effectors: rows of the condensed model; limit_names: what each constraint of the QP is, bounds first.
    """

    problem: QuadraticProgram
    scale: Array
    actuators: NDArray[np.intp]
    effectors: NDArray[np.intp]
    limit_names: tuple[str, ...]


class DecisionProblem:
    """The QP of a robot's decisions, in arrays that are made once: `arrays` (P, q, A, low and high with bounds before rows,
    scale, and d, the displacements of all rows with imposed efforts only); `rows` and `reach` say what it is about."""

    def __init__(self, robot: Robot, energy: float = 1e-8) -> None:
        """energy: weight of the actuators' work relative to the tracking error."""
        self.actuator_names, self.effector_names = robot.named(Role.ACTUATOR), robot.named(Role.EFFECTOR)
        if not self.actuator_names or not self.effector_names:
            missing = "actuator" if not self.actuator_names else "effector"
            raise InputError(
                f"the robot has no {missing}", remedy="add one with robot.actuate(...) or robot.effect(...)"
            )
        self.energy = number(energy, "energy", above=0.0, remedy="give a small positive weight, such as 1e-8")
        rows, ports = np.arange(len(robot.row_names)), robot.ports
        self.actuators = np.concatenate([rows[ports[name].rows] for name in self.actuator_names])
        self.effectors = np.concatenate([rows[ports[name].rows] for name in self.effector_names])
        self._weights = np.concatenate([ports[name].weight for name in self.effector_names])
        limits = [ports[name].limits for name in self.actuator_names]
        self.effort = np.concatenate([limit.effort for limit in limits])
        self.course = np.concatenate([limit.displacement for limit in limits])
        self.effort_rate = np.concatenate([limit.effort_rate for limit in limits])
        self.displacement_rate = np.concatenate([limit.displacement_rate for limit in limits])
        names = [robot.row_names[k] for k in self.actuators]
        bounded = np.isfinite(self.course).any(axis=1) | np.isfinite(self.displacement_rate)
        limited = np.flatnonzero(bounded)
        self.limit_names = tuple([f"{name} effort" for name in names] + [f"{names[k]} displacement" for k in limited])
        n, k, e = len(self.actuators), len(limited), len(self.effectors)
        self.anywhere = np.full(n, np.inf)
        self._nowhere_limited = np.tile([-np.inf, np.inf], (n, 1))
        self.rows = Rows(self.actuators, self.effectors, self._weights, limited)
        self.reach = Reach(self.effort, self.course, self.effort_rate, self.displacement_rate)
        self.arrays = Problem(
            P=np.zeros((n, n)), q=np.zeros(n), A=np.zeros((k, n)), low=np.zeros(n + k), high=np.zeros(n + k),
            scale=np.ones(n), d=np.zeros(len(rows)), J=np.zeros((e, n))
        )  # fmt: skip

    def reach_without(self, drop: tuple[str, ...]) -> Reach:
        """The limits that are left when these kinds (see `RELAXATION`) are dropped."""
        return Reach(
            self.effort,
            self._nowhere_limited if "displacement" in drop else self.course,
            self.anywhere if "effort rate" in drop else self.effort_rate,
            self.anywhere if "displacement rate" in drop else self.displacement_rate,
        )

    def fill(
        self,
        W: Array,
        free: Array,
        efforts: Array,
        target: Array,
        *,
        now_efforts: Array,
        now_delta: Array,
        interval: float | None = None,
        drop: tuple[str, ...] = (),
        trust: Array | None = None,
    ) -> None:
        """Build the QP for a model W [m, m], delta_free and efforts [m], and the displacements asked of effectors [e].

        now_efforts, now_delta [n]: of the actuators, from which rates count; interval [s]: since then, None for no rates;
        drop: kinds of limits to leave out (see `RELAXATION`); trust [n]: largest change from the model's efforts.
        """
        if interval is None:
            drop = (*drop, "effort rate", "displacement rate")
        reach = self.reach_without(drop) if drop else self.reach
        fill_decision(
            W, free, efforts, target, self.energy, now_efforts, now_delta, interval or 0.0, self.rows, reach,
            self.anywhere if trust is None else trust, self.arrays
        )  # fmt: skip

    def of(
        self,
        model: Condensed,
        target: Array,
        *,
        interval: float | None = None,
        drop: tuple[str, ...] = (),
        trust: Array | None = None,
    ) -> Decision:
        """The QP for a model, to keep; rates count from where the model was made."""
        self.fill(
            model.W, model.delta_free, model.efforts, target, now_efforts=model.efforts[self.actuators],
            now_delta=model.delta[self.actuators], interval=interval, drop=drop, trust=trust
        )  # fmt: skip
        P, q, A, low, high, scale, _, _ = (array.copy() for array in self.arrays)
        n = len(q)
        problem = QuadraticProgram(P, q, low[:n], high[:n], A, low[n:], high[n:])
        return Decision(problem, scale, self.actuators, self.effectors, self.limit_names)
