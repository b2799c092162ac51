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
    A = np.ascontiguousarray(problem.A if len(problem.row_lower) else np.empty((0, n)))
    low = np.concatenate([problem.lower, problem.row_lower])
    high = np.concatenate([problem.upper, problem.row_upper])
    crossed = low > high
    if crossed.any():
        return _without_answer(problem, QpStatus.INFEASIBLE, len(low), begin)
    sense = np.zeros(len(low), np.intc)
    if guess is not None:
        sense[guess] = _ACTIVE
    data = np.ascontiguousarray(problem.P), problem.q.copy(), A, np.minimum(high, 1e30), np.maximum(low, -1e30)
    proximity = 1e-6 * float(np.abs(problem.P).max())
    for prox, first_set in ((0.0, sense), (proximity, np.zeros_like(sense))):
        x, _, flag, info = daqp.solve(*data, first_set.copy(), primal_tol=PRIMAL_TOLERANCE, eps_prox=prox)
        if flag == -1:
            return _without_answer(problem, QpStatus.INFEASIBLE, len(low), begin)
        x, y = np.array(x), np.array(info["lam"])
        primal, dual, gap = audit(problem, x, y)
        # On a nearly singular P the direct method may cycle or miss a bound; proximal iterations do not.
        if flag == 1 and primal <= 10 * PRIMAL_TOLERANCE:
            seconds = time.perf_counter() - begin
            return QuadraticSolution(QpStatus.OPTIMAL, x, y, primal, dual, gap, int(info["iterations"]), seconds)
    return _without_answer(problem, QpStatus.FAILED, len(low), begin)


def audit(problem: QuadraticProgram, x: Array, y: Array) -> tuple[float, float, float]:
    """Residuals of the optimality conditions at x with multipliers y: primal, dual, gap (see `QuadraticSolution`)."""
    n = len(x)
    rows = problem.A @ x if len(problem.row_lower) else np.empty(0)
    value = np.concatenate([x, rows])
    low = np.concatenate([problem.lower, problem.row_lower])
    high = np.concatenate([problem.upper, problem.row_upper])
    primal = float(np.maximum(np.maximum(low - value, value - high), 0.0).max(initial=0.0))
    force = y[:n] + (problem.A.T @ y[n:] if len(rows) else 0.0)
    dual = float(np.abs(problem.P @ x + problem.q + force).max(initial=0.0))
    pushing = np.flatnonzero(y)
    distance = np.where(y > 0, high - value, value - low)[pushing]
    gap = float(np.abs(y[pushing] * distance).max(initial=0.0))
    return primal, dual, gap


def _without_answer(problem: QuadraticProgram, status: QpStatus, count: int, begin: float) -> QuadraticSolution:
    nothing = np.full(len(problem.q), np.nan)
    return QuadraticSolution(status, nothing, np.zeros(count), np.inf, np.inf, np.inf, 0, time.perf_counter() - begin)
