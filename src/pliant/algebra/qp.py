"""Small dense quadratic programs, and solutions that audit themselves.

    min 1/2 x^T P x + q^T x    subject to    lower <= x <= upper,   row_lower <= A x <= row_upper

solved by the dual active-set method of DAQP (Arnström, Bemporad and Axehill 2022).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.compiled import kernel

Array = NDArray[np.float64]

_ACTIVE = 1
"""DAQP's mark for a constraint that is in the first working set."""

PRIMAL_TOLERANCE = 1e-9
"""How far a bound may be passed, in the units of the (scaled) problem."""


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
    iterations: int
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether x is the optimum."""
        return self.status is QpStatus.OPTIMAL

    def active(self, tolerance: float = 1e-10) -> NDArray[np.intp]:
        """Numbers of the constraints that push (bounds first, then rows)."""
        return np.flatnonzero(np.abs(self.multipliers) > tolerance)


def solve_qp(problem: QuadraticProgram, guess: NDArray[np.intp] | None = None) -> QuadraticSolution:
    """The optimum, or a status that says why there is none; `guess`: constraints expected to be active (warm start)."""
    import daqp

    begin = time.perf_counter()
    n = len(problem.q)
    A = problem.A if len(problem.row_lower) else np.empty((0, n))
    low, high = np.concatenate([problem.lower, problem.row_lower]), np.concatenate([problem.upper, problem.row_upper])
    if (low > high).any():
        return _without_answer(problem, QpStatus.INFEASIBLE, len(low), begin)
    data = np.ascontiguousarray(problem.P), problem.q.copy(), np.ascontiguousarray(A), high, low
    for proximal in (False, True):
        sense = np.zeros(len(low), np.intc)
        if guess is not None and not proximal:
            sense[guess] = _ACTIVE
        prox = 1e-6 * float(np.abs(problem.P).max()) if proximal else 0.0
        x, _, flag, info = daqp.solve(*data, sense, primal_tol=PRIMAL_TOLERANCE, eps_prox=prox)
        if flag == -1:
            return _without_answer(problem, QpStatus.INFEASIBLE, len(low), begin)
        x, y = np.array(x), np.array(info["lam"])
        primal, dual, gap = _audit(problem.P, problem.q, A, low, high, x, y)
        # On a nearly singular P the direct method may cycle or miss a bound; proximal iterations do not.
        if flag == 1 and primal <= 10 * PRIMAL_TOLERANCE:
            seconds = time.perf_counter() - begin
            return QuadraticSolution(QpStatus.OPTIMAL, x, y, primal, dual, gap, int(info["iterations"]), seconds)
    return _without_answer(problem, QpStatus.FAILED, len(low), begin)


def audit(problem: QuadraticProgram, x: Array, y: Array) -> tuple[float, float, float]:
    """Residuals of the optimality conditions at x with multipliers y: primal, dual, gap (see `QuadraticSolution`)."""
    A = problem.A if len(problem.row_lower) else np.empty((0, len(x)))
    low, high = np.concatenate([problem.lower, problem.row_lower]), np.concatenate([problem.upper, problem.row_upper])
    primal, dual, gap = _audit(problem.P, problem.q, A, low, high, x, y)
    return float(primal), float(dual), float(gap)


@kernel
def _audit(P, q, A, low, high, x, y):  # type: ignore[no-untyped-def]
    n, m = A.shape[1], A.shape[0]
    primal = dual = gap = 0.0
    for k in range(n + m):
        value = 0.0
        if k < n:
            value = x[k]
            slope = q[k] + y[k]
            for j in range(n):
                slope += P[k, j] * x[j]
            for j in range(m):
                slope += A[j, k] * y[n + j]
            dual = max(dual, abs(slope))
        else:
            for j in range(n):
                value += A[k - n, j] * x[j]
        primal = max(primal, low[k] - value, value - high[k])
        if y[k] != 0.0:
            gap = max(gap, abs(y[k] * (high[k] - value if y[k] > 0 else value - low[k])))
    return primal, dual, gap


def _without_answer(problem: QuadraticProgram, status: QpStatus, count: int, begin: float) -> QuadraticSolution:
    nothing = np.full(len(problem.q), np.nan)
    return QuadraticSolution(status, nothing, np.zeros(count), np.inf, np.inf, np.inf, 0, time.perf_counter() - begin)
