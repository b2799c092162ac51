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

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.algebra._qp_kernels import audit_solution
from pliant.algebra.limited import inverse_of, limited_efforts
from pliant.algebra.qp import QpStatus, QuadraticSolution, QuadraticSolver
from pliant.checks import number
from pliant.control._decision_kernels import SOLVED, agrees, decide, fill, hold, invert_held, predict, take_over
from pliant.control.desk import Desk
from pliant.control.question import Question
from pliant.control.status import DecisionStatus

Array = NDArray[np.float64]

RELAXATION = ("displacement rate", "effort rate", "displacement")
"""Kinds of limits in the order in which they are dropped where they contradict; effort limits never are."""


@dataclass(frozen=True, eq=False)
class Decided:
    """What a decision was made with: the model W (m, m) in which what is given is held, and the scales of the efforts (n,)."""

    W: Array
    scale: Array
    question: Question

    def compliance(self) -> Array:
        """From scaled efforts of the actuators to the effectors, (e, n)."""
        return np.asarray(self.W[np.ix_(self.question.wanted.rows, self.question.sought)] * self.scale)


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
        self._elastic = _Elastic(n, k)
        self.efforts: Array = desk.course.efforts
        self.displacements: Array = desk.course.displacements
        limited = [question.labels[i] for i in desk.asked.limited]
        self.limit_names = tuple(
            [f"{name} effort" for name in question.labels] + [f"{name} displacement" for name in limited]
        )
        self._relaxed = np.zeros_like(desk.reach.dropped)
        """Limits that were dropped in the last decision (n, 3); on the desk they are dropped only while it is made."""

    def decide(self, W: Array, free: Array, efforts: Array, trust: Array, interval: float) -> DecisionStatus:
        """By a model W (m, m), delta_free (m,) and the efforts (m,) it was made with; trust (n,): how far from those it
        reaches; interval [s]: over which rates count, negative for none. SOLVED, RELAXED or
        FAILED: then the answer is as before."""
        ended = decide(W, free, efforts, trust, interval, self.energy, *self.desk.arrays, False)
        if ended == SOLVED:
            self._relaxed[:] = 0
            return DecisionStatus.SOLVED
        return self.search(W, free, efforts, trust, interval)

    def search(self, W: Array, free: Array, efforts: Array, trust: Array, interval: float) -> DecisionStatus:
        """The long way: another piece of the problem, a QP that takes more than a few guesses, limits that contradict."""
        try:
            return self._searched(W, free, efforts, trust, interval)
        finally:
            self.desk.reach.dropped[:] = 0

    def _searched(self, W: Array, free: Array, efforts: Array, trust: Array, interval: float) -> DecisionStatus:
        desk, held, agreed = self.desk, self.desk.holding, False
        self._relaxed[:] = 0
        left = (held.W, held.free) if len(held.rows) else (W, free)
        for _ in range(2 * len(held.rows) + 2):
            if not invert_held(W, held):
                self._invert_dependent(W)
            hold(W, free, efforts, held)
            if not self._solved(W, left[0], left[1], efforts, trust, interval):
                return DecisionStatus.FAILED
            if agreed := agrees(W, free, desk.asked, desk.course, desk.problem, held):
                break
        if not agreed:
            self._hold_within_limits(W, free)
        take_over(W, left[0], desk.asked, desk.course, desk.problem, held)
        return DecisionStatus.RELAXED if self._relaxed.any() else DecisionStatus.SOLVED

    def _solved(self, W: Array, left_W: Array, left_free: Array, efforts: Array, trust: Array, interval: float) -> bool:
        """The QP of a piece; where limits contradict, without those that do."""
        desk, n = self.desk, len(self.efforts)
        P, q, A, low, high = desk.problem[:5]
        while True:
            fill(
                W, left_W, left_free, efforts, trust, interval, self.energy, desk.asked, desk.reach, desk.course,
                desk.problem, desk.holding
            )  # fmt: skip
            status = self._solver.solve(P, q, low[:n], high[:n], A, low[n:], high[n:])
            if status is QpStatus.OPTIMAL:
                return True
            if status is not QpStatus.INFEASIBLE or not self._drop_some(interval):
                return False

    def _drop_some(self, interval: float) -> bool:
        """Drop the next kind of limit of every actuator whose limits contradict; False where there is nothing left to drop."""
        desk, reach = self.desk, self.desk.reach
        found = False
        for k in self._elastic.contradicting(desk.problem, len(self.efforts)):
            i = desk.asked.limited[k]
            for kind in range(3):
                if reach.dropped[i, kind]:
                    continue
                reach.dropped[i, kind] = 1
                if self._counts(i, kind, interval):
                    self._relaxed[i, kind] = found = True
                    break
        return found

    def _counts(self, i: int, kind: int, interval: float) -> bool:
        """Whether a kind of limit of an actuator limits anything."""
        reach = self.desk.reach
        if kind == 2:
            return bool(np.isfinite(reach.course[i]).any())
        rate = reach.displacement_rate[i] if kind == 0 else reach.effort_rate[i]
        return interval >= 0.0 and bool(np.isfinite(rate))

    def _invert_dependent(self, W: Array) -> None:
        """The inverse over held rows some of which do the same: they share the effort."""
        held = self.desk.holding
        own = np.flatnonzero(held.let_go == 0)
        rows = held.rows[own]
        held.inverse[:] = 0.0
        held.inverse[np.ix_(own, own)] = inverse_of(W[np.ix_(rows, rows)])

    def _hold_within_limits(self, W: Array, free: Array) -> None:
        """Efforts of the held rows that go with the answer, where no piece agrees with itself."""
        held, problem, course = self.desk.holding, self.desk.problem, self.desk.course
        every: Array = held.imposed.copy()
        every[self.desk.asked.a] = np.clip(course.x, problem.low[: len(course.x)], problem.high[: len(course.x)])
        every[self.desk.asked.a] *= problem.scale
        every[held.rows] = 0.0
        off = W[held.rows] @ every + free[held.rows] - held.wanted
        held.efforts[:] = limited_efforts(W[np.ix_(held.rows, held.rows)], off, held.limits, held.efforts)

    @property
    def relaxed(self) -> tuple[str, ...]:
        """Limits that contradicted in the last decision and were dropped, such as "tendon displacement rate"."""
        pairs = zip(*np.nonzero(self._relaxed), strict=True)
        return tuple(f"{self.question.labels[i]} {RELAXATION[kind]}" for i, kind in pairs)

    @property
    def active(self) -> tuple[str, ...]:
        """Limits that hold the robot back in the last decision, such as "tendon effort"."""
        pushing = np.flatnonzero(np.abs(self.desk.course.multipliers) > 1e-10)
        return tuple(self.limit_names[k] for k in pushing)

    def all_efforts(self, efforts: Array) -> Array:
        """Efforts of all rows (m,): the model's, the decided ones, and those that hold what is given."""
        out: Array = efforts.copy()
        out[self.desk.asked.a] = self.efforts
        out[self.desk.holding.rows] = self.desk.holding.efforts
        return out

    def predicted(self, W: Array, out: Array) -> Array:
        """out (e,) <- where the model W (m, m) of the last decision says that it brings the effectors."""
        predict(W, *self.desk.arrays, out)
        return out

    def objective(self, W: Array) -> float:
        """What the last decision, by a model W (m, m), minimized: the same function for every piece of one problem."""
        asked, course, problem = self.desk.asked, self.desk.course, self.desk.problem
        error = asked.S * (self.predicted(W, np.empty(len(asked.e))) - course.wanted)
        work = self.efforts @ W[np.ix_(asked.a, asked.a)] @ self.efforts
        return float(
            0.5 * (error @ error + self.energy * problem.norms[0] / problem.norms[1] * work) / problem.norms[0]
        )

    def decided(self, W: Array) -> Decided:
        """The model W (m, m) of the last decision as it was left with what is given held, and its scales; to keep."""
        held = self.desk.holding
        left = held.W.copy() if len(held.rows) else W
        return Decided(left, self.desk.problem.scale.copy(), self.question)

    def solution(self) -> QuadraticSolution:
        """The QP's answer of the last decision, with the residuals of its optimality conditions."""
        problem, x, y = self.desk.problem, self.desk.course.x.copy(), self.desk.course.multipliers.copy()
        primal, dual, gap = audit_solution(problem.P, problem.q, problem.A, problem.low, problem.high, x, y)
        return QuadraticSolution(QpStatus.OPTIMAL, x, y, float(primal), float(dual), float(gap), 0.0)


class _Elastic:
    """Which rows of a QP contradict its bounds: min 1/2 |s|^2 + tiny |y|^2, low <= A y + s <= high."""

    def __init__(self, n: int, k: int) -> None:
        self._solver = QuadraticSolver(n + k, k)
        self._P, self._q = np.diag(np.concatenate([np.full(n, 1e-9), np.ones(k)])), np.zeros(n + k)
        self._A = np.concatenate([np.zeros((k, n)), np.eye(k)], axis=1)
        self._low, self._high = np.full(n + k, -np.inf), np.full(n + k, np.inf)

    def contradicting(self, problem: tuple[Array, ...], n: int) -> NDArray[np.intp]:
        """Numbers of the rows that cannot all hold; all of them where that cannot be told."""
        _, _, A, low, high = problem[:5]
        self._A[:, :n] = A
        self._low[:n], self._high[:n] = low[:n], high[:n]
        self._solver.multipliers[:] = 0.0
        status = self._solver.solve(self._P, self._q, self._low, self._high, self._A, low[n:], high[n:])
        slack = np.abs(self._solver.x[n:])
        if status is not QpStatus.OPTIMAL or not slack.any():
            return np.arange(len(A))
        return np.flatnonzero(slack > 1e-6 * slack.max())
