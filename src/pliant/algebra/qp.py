"""Small dense quadratic programs, and solutions that audit themselves.

    min 1/2 x^T P x + q^T x    subject to    lower <= x <= upper,   row_lower <= A x <= row_upper

solved by a few guesses of the active constraints, which is all it takes from one decision to the next, and where those do not
end by the dual active-set method of DAQP (Arnström, Bemporad and Axehill 2022).
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from pliant.algebra._qp_kernels import ActiveSetWork, audit_solution, solve_by_active_set

Array = NDArray[np.float64]

LARGEST = 1e30
"""No number of a (scaled) problem is larger; the solvers would not come to an end."""
PRIMAL_TOLERANCE = 1e-9
"""How far a bound may be passed, in the units of the (scaled) problem."""
PUSHES = 1e-10
"""A multiplier beyond this, without sign, is one of a constraint that holds the answer back."""


class QpStatus(Enum):
    """How a quadratic program ended."""

    OPTIMAL = "optimal"
    INFEASIBLE = "no x meets all bounds"
    FAILED = "the solver gave up"


@dataclass(frozen=True)
class QuadraticProgram:
    """The data; P symmetric positive definite [n, n], A [m, n], bounds may be infinite."""

    P: Array
    q: Array
    lower: Array
    upper: Array
    A: Array = field(default_factory=lambda: np.empty((0, 0)))
    row_lower: Array = field(default_factory=lambda: np.empty(0))
    row_upper: Array = field(default_factory=lambda: np.empty(0))

    def value(self, x: Array) -> float:
        """The objective at x."""
        return float(0.5 * x @ self.P @ x + self.q @ x)


@dataclass(frozen=True)
class QuadraticSolution:
    """x, its multipliers (bounds first, then rows; positive at upper, negative at lower limits), and the audit.

    primal: largest violation of a bound; dual: largest entry of P x + q + G^T y; gap: largest |y| times distance from the
    bound that it belongs to. All absolute, in the units of the problem, so scale the problem first.
    """

    status: QpStatus
    x: Array
    multipliers: Array
    primal: float
    dual: float
    gap: float
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether x is the optimum."""
        return self.status is QpStatus.OPTIMAL

    def active(self, tolerance: float = PUSHES) -> NDArray[np.intp]:
        """Numbers of the constraints that push (bounds first, then rows)."""
        return np.flatnonzero(np.abs(self.multipliers) > tolerance)


def solve_qp(problem: QuadraticProgram, guess: Array | None = None) -> QuadraticSolution:
    """The optimum, or a status that says why there is none; `guess` [n + m]: multipliers of a problem like it (warm start)."""
    begin = time.perf_counter()
    n, m = len(problem.q), len(problem.row_lower)
    A = np.ascontiguousarray(problem.A) if m else np.empty((0, n))
    solver = QuadraticSolver(n, m)
    if guess is not None:
        solver.multipliers[:] = guess
    status = solver.solve(
        np.ascontiguousarray(problem.P),
        problem.q,
        problem.lower,
        problem.upper,
        A,
        problem.row_lower,
        problem.row_upper,
    )
    seconds = time.perf_counter() - begin
    if status is not QpStatus.OPTIMAL:
        nothing = np.full(n, np.nan)
        return QuadraticSolution(status, nothing, np.zeros(n + m), np.inf, np.inf, np.inf, seconds)
    primal, dual, gap = audit_solution(problem.P, problem.q, A, solver.low, solver.high, solver.x, solver.multipliers)
    return QuadraticSolution(status, solver.x, solver.multipliers, primal, dual, gap, seconds)


class QuadraticSolver:
    """Solves one quadratic program of the same size after the other, in memory that is there: for loops with a deadline.

    The answer is in `x` and `multipliers` (see `QuadraticSolution`), which is where the next problem starts; `low` and `high`
    [n + m] are its bounds. Nothing raises: what cannot be solved is a status.
    """

    def __init__(self, variables: int, rows: int) -> None:
        """variables: n; rows: m of A."""
        import daqp

        self._solve = daqp.solve
        self._variables = variables
        self._q = np.zeros(variables)
        self._sense = np.zeros(variables + rows, np.intc)
        self.low, self.high = np.zeros(variables + rows), np.zeros(variables + rows)
        self.x, self.multipliers = np.zeros(variables), np.zeros(variables + rows)
        self.work = ActiveSetWork(
            np.zeros(variables + rows, np.int64),
            np.zeros((variables, variables)),
            np.zeros((rows, rows)),
            np.zeros((3, variables + rows)),
        )

    def solve(
        self, P: Array, q: Array, lower: Array, upper: Array, A: Array, row_lower: Array, row_upper: Array
    ) -> QpStatus:
        """The optimum goes to `x`; on anything else than OPTIMAL, `x` is as it was. P and A C-contiguous."""
        n = self._variables
        self.low[:n], self.low[n:], self.high[:n], self.high[n:] = lower, row_lower, upper, row_upper
        if not (self.low <= self.high).all():  # also where one is not a number
            return QpStatus.INFEASIBLE
        if not (np.abs(q).max(initial=0.0) < LARGEST and np.abs(P).max(initial=0.0) < LARGEST):
            return QpStatus.FAILED  # also where one is not a number: DAQP would not come back
        if solve_by_active_set(P, q, A, self.low, self.high, self.x, self.multipliers, self.work):
            return QpStatus.OPTIMAL
        np.not_equal(self.multipliers, 0.0, out=self._sense, casting="unsafe")
        status = self._attempt(P, q, A, 0.0)
        if status is not QpStatus.OPTIMAL and self.multipliers.any():
            self._sense[:] = 0
            status = self._attempt(P, q, A, 0.0)
        if status is QpStatus.FAILED:
            # On a nearly singular P the direct method may cycle or miss a bound; proximal iterations do not.
            self._sense[:] = 0
            status = self._attempt(P, q, A, 1e-6 * float(np.abs(P).max()))
        return status

    def _attempt(self, P: Array, q: Array, A: Array, proximal: float) -> QpStatus:
        """DAQP from the working set in `_sense`."""
        self._q[:] = q
        x, _, flag, info = self._solve(
            P, self._q, A, self.high, self.low, self._sense, primal_tol=PRIMAL_TOLERANCE, eps_prox=proximal
        )
        if flag == -1:
            return QpStatus.INFEASIBLE
        y = info["lam"]
        primal, dual, _ = audit_solution(P, q, A, self.low, self.high, x, y)
        if flag != 1 or not (primal <= 10 * PRIMAL_TOLERANCE and dual < math.inf):
            return QpStatus.FAILED
        self.x[:], self.multipliers[:] = x, y
        return QpStatus.OPTIMAL


def audit(problem: QuadraticProgram, x: Array, y: Array) -> tuple[float, float, float]:
    """Residuals of the optimality conditions at x with multipliers y: primal, dual, gap (see `QuadraticSolution`)."""
    A = problem.A if len(problem.row_lower) else np.empty((0, len(x)))
    low, high = np.concatenate([problem.lower, problem.row_lower]), np.concatenate([problem.upper, problem.row_upper])
    primal, dual, gap = audit_solution(problem.P, problem.q, A, low, high, x, y)
    return float(primal), float(dual), float(gap)
