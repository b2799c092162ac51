"""The QP of one decision, built from a condensed model and solved in memory that is there.

With a: actuators, e: effectors, and delta = W lambda + delta_free of the condensed model in which given displacements are held:

    min  1/2 |S (W_ea lambda_a + d_e - wanted)|^2 + 1/2 eps lambda_a^T W_aa lambda_a
    s.t. lambda_min <= lambda_a <= lambda_max,    d_min <= W_aa lambda_a + d_a <= d_max,    rate limits on both

where d are the displacements with imposed efforts and no actuation. eps is relative (1e-8 of the ratio of the two matrices'
norms): it makes the answer unique and of least work where actuators are redundant, and costs no accuracy that shows.
Variables are scaled, lambda_a = scale y with scale = diag(W_aa)^-1/2, and the objective by the norm of its first part, both of
the whole model: so objectives of two pieces of one problem can be compared.

A port with a given displacement is held exactly, unless that takes an effort beyond its limits: then it is let go at the limit
(a cable that would have to push hangs slack). Which ones are let go is a piece of the problem; from one decision to the next
it is nearly always the same.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.algebra._qp_kernels import audit_solution
from pliant.algebra.limited import inverse_of, limited_efforts
from pliant.algebra.qp import PUSHES, QpStatus, QuadraticSolution, QuadraticSolver
from pliant.checks import number
from pliant.control._decision_kernels import SOLVED, agrees, decide, fill, hold, invert_held, predict, take_over
from pliant.control.desk import Desk
from pliant.control.question import ModelNumbers, Question
from pliant.control.status import DecisionStatus

Array = NDArray[np.float64]

RELAXATION = ("displacement rate", "effort rate", "displacement")
"""Kinds of limits in the order in which they are dropped where they contradict; effort limits never are."""


class Decider:
    """Answers one question again and again, each time by another model and for other wishes.

    What is wanted is written to `desk.course.wanted` (e,), what is given to `desk.holding.wanted` (h,), and from where rates
    count to `efforts` and `displacements` (n,), where the answer is afterwards. No arrays are made and nothing raises.
    """

    def __init__(self, question: Question, energy: float = 1e-8) -> None:
        """energy: weight of the actuators' work relative to the tracking error."""
        self.question = question
        self.energy = number(energy, "energy", above=0.0, remedy="give a small positive weight, such as 1e-8")
        self.desk = desk = Desk(question)
        n, k = len(question.sought), len(desk.asked.limited)
        self._solver = QuadraticSolver(n, k)
        self._solver.x, self._solver.multipliers, self._solver.work = desk.course.x, desk.course.multipliers, desk.work
        self._elastic, self._predicted = _Elastic(n, k), np.zeros(len(question.wanted.rows))
        self.efforts: Array = desk.course.efforts
        self.displacements: Array = desk.course.displacements
        limited = [question.labels[i] for i in desk.asked.limited]
        self._limits = [f"{name} effort" for name in question.labels] + [f"{name} displacement" for name in limited]

    def decide(self, model: ModelNumbers, interval: float) -> DecisionStatus:
        """By a model; interval [s]: over which rates count, negative for none. SOLVED, RELAXED or FAILED: then the answer is as
        before."""
        W, free, efforts, _, trust = model
        if decide(W, free, efforts, trust, interval, self.energy, *self.desk.arrays, False) == SOLVED:
            return DecisionStatus.SOLVED
        return self.search(model, interval)

    def search(self, model: ModelNumbers, interval: float) -> DecisionStatus:
        """The long way, where `decide` does not end: another piece of the problem, a QP that takes more than a few guesses,
        limits that contradict."""
        desk, held, agreed = self.desk, self.desk.holding, False
        for _ in range(2 * len(held.rows) + 2):
            if not invert_held(model.W, held):
                self._invert_dependent(model.W)
            hold(model.W, model.delta_free, held)
            if not self._solved(model, interval):
                return DecisionStatus.FAILED
            if agreed := agrees(model.W, model.delta_free, desk.asked, desk.course, desk.problem, held):
                break
        if not agreed:
            self._hold_within_limits(model)
        take_over(desk.asked, desk.course, desk.problem, held)
        return DecisionStatus.RELAXED if desk.reach.dropped.any() else DecisionStatus.SOLVED

    def _solved(self, model: ModelNumbers, interval: float) -> bool:
        """The QP of a piece; where limits contradict, without those that do."""
        W, _, efforts, _, trust = model
        asked, reach, course, problem, holding = self.desk.parts[:5]
        P, q, A, low, high = problem[:5]
        n = len(q)
        while True:
            fill(W, efforts, trust, interval, self.energy, asked, reach, course, problem, holding)
            status = self._solver.solve(P, q, low[:n], high[:n], A, low[n:], high[n:])
            if status is not QpStatus.INFEASIBLE or not self._drop_some(interval):
                return status is QpStatus.OPTIMAL

    def _drop_some(self, interval: float) -> bool:
        """Drop the next kind of limit of every actuator whose limits contradict; False where there is nothing left to drop."""
        reach, found = self.desk.reach, False
        limits = reach.displacement_rate, reach.effort_rate, reach.course
        for k in self._elastic.contradicting(self.desk.problem):
            i = self.desk.asked.limited[k]
            for kind in range(3):
                counts = np.isfinite(limits[kind][i]).any() and (kind == 2 or interval >= 0.0)
                if counts and not reach.dropped[i, kind]:
                    reach.dropped[i, kind] = found = True
                    break
        return found

    def _invert_dependent(self, W: Array) -> None:
        """The inverse over held rows some of which do the same: they share the effort."""
        held = self.desk.holding
        own = np.flatnonzero(held.let_go == 0)
        rows = held.rows[own]
        held.inverse[:] = 0.0
        held.inverse[np.ix_(own, own)] = inverse_of(W[np.ix_(rows, rows)])

    def _hold_within_limits(self, model: ModelNumbers) -> None:
        """Efforts of the held rows that go with the answer, where no piece agrees with itself."""
        held = self.desk.holding
        others: Array = held.imposed.copy()
        others[held.rows] = 0.0
        off = model.W[held.rows] @ others + model.delta_free[held.rows] - held.wanted
        held.efforts[:] = limited_efforts(model.W[np.ix_(held.rows, held.rows)], off, held.limits, held.efforts)

    @property
    def relaxed(self) -> tuple[str, ...]:
        """Limits that contradicted in the last decision and were dropped, such as "tendon displacement rate"."""
        pairs = zip(*np.nonzero(self.desk.reach.dropped), strict=True)
        return tuple(f"{self.question.labels[i]} {RELAXATION[kind]}" for i, kind in pairs)

    def active(self, solution: QuadraticSolution) -> tuple[str, ...]:
        """Limits that hold the robot back in a solution, such as "tendon effort"."""
        return tuple(
            name for name, push in zip(self._limits, solution.multipliers.tolist(), strict=True) if abs(push) > PUSHES
        )

    def all_efforts(self, efforts: Array) -> Array:
        """Efforts of all rows (m,): the model's, the decided ones, and those that hold what is given."""
        out: Array = efforts.copy()
        out[self.desk.asked.a] = self.efforts
        out[self.desk.holding.rows] = self.desk.holding.efforts
        return out

    def compliance(self) -> Array:
        """From scaled efforts of the actuators to the effectors, (e, n), in the model that the last decision was made with."""
        asked = self.desk.asked
        return np.asarray(self.desk.holding.W[asked.e[:, None], asked.a] * self.desk.problem.scale)

    def predicted(self) -> Array:
        """Where the model of the last decision says that it brings the effectors, (e,) (the same array each time)."""
        predict(*self.desk.arrays, self._predicted)
        return self._predicted

    def solution(self) -> QuadraticSolution:
        """The QP's answer of the last decision, with the residuals of its optimality conditions."""
        x, y = self.desk.course.x.copy(), self.desk.course.multipliers.copy()
        primal, dual, gap = audit_solution(*self.desk.problem[:5], x, y)
        return QuadraticSolution(QpStatus.OPTIMAL, x, y, primal, dual, gap, 0.0)


class _Elastic:
    """Which rows of a QP contradict its bounds: min 1/2 |s|^2 + tiny |y|^2, low <= A y + s <= high."""

    def __init__(self, n: int, k: int) -> None:
        self._solver = QuadraticSolver(n + k, k)
        self._P, self._q = np.diag(np.concatenate([np.full(n, 1e-9), np.ones(k)])), np.zeros(n + k)
        self._A = np.concatenate([np.zeros((k, n)), np.eye(k)], axis=1)
        self._low, self._high = np.full(n + k, -np.inf), np.full(n + k, np.inf)

    def contradicting(self, problem: tuple[Array, ...]) -> NDArray[np.intp]:
        """Numbers of the rows that cannot all hold; all of them where that cannot be told."""
        _, q, A, low, high = problem[:5]
        n = len(q)
        self._A[:, :n] = A
        self._low[:n], self._high[:n] = low[:n], high[:n]
        self._solver.multipliers[:] = 0.0
        status = self._solver.solve(self._P, self._q, self._low, self._high, self._A, low[n:], high[n:])
        slack = np.abs(self._solver.x[n:])
        if status is not QpStatus.OPTIMAL or not slack.any():
            return np.arange(len(A))
        return np.flatnonzero(slack > 1e-6 * slack.max())
