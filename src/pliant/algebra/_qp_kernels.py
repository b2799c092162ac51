"""Quadratic programs by their optimality conditions: a few guesses of what is active, and the audit of an answer."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math
from typing import Any, NamedTuple

from pliant.algebra.compiled import kernel


class ActiveSetWork(NamedTuple):
    """Room for `solve_by_active_set`: at which of its bounds each constraint is, side [n + m] (-1, 0, 1), the factors L [n, n]
    and S [m, m], and x, y and a vector [3, n + m]."""

    side: Any
    L: Any
    S: Any
    vectors: Any


INDEPENDENT = 1e-10
"""Smallest square of a pivot, of rows scaled to compliance 1, that tells them from rows that do the same."""
ATTEMPTS = 20
"""Active sets that are tried; from one decision to the next the first is nearly always right."""


@kernel
def solve_by_active_set(P, q, A, low, high, x, y, room):
    """Try to solve min 1/2 x^T P x + q^T x, low <= [x; A x] <= high; True where x and y are the optimum.

    A primal-dual active-set method (Hintermüller, Ito and Kunisch 2003): with the constraints that are taken to be active as
    equations,

        P x + q + G^T y = 0,    G_active x = bound,    y = 0 elsewhere,      G = [1; A],

    is linear; what is violated becomes active, what has a multiplier of the wrong sign does not stay so: all of them the first
    time, then the one that is most in the wrong, until none is. It need not end: then the answer is False, and x and y are as
    they were. It starts at the signs of y [n + m] (positive at upper bounds). room: an `ActiveSetWork`.
    """
    n, m = P.shape[0], A.shape[0]
    side, L, S, work = room
    for k in range(n + m):
        side[k] = (y[k] > 0.0) - (y[k] < 0.0)
        if high[k] - low[k] <= 0.0:
            side[k] = 1
    for attempt in range(ATTEMPTS):
        if not _solve_equations(P, q, A, low, high, side, L, S, work):
            return False
        if not _change_sides(A, low, high, side, work, attempt == 0):
            primal, dual, _gap = audit_solution(P, q, A, low, high, work[0, :n], work[1])
            if not (primal <= 1e-9 and dual <= 1e-10):
                return False
            for k in range(n + m):
                y[k] = work[1, k]
            for k in range(n):
                x[k] = work[0, k]
            return True
    return False


@kernel
def _change_sides(A, low, high, side, work, all_at_once):
    """Let the constraints change sides by the values and multipliers in `work`, all or only the one that is most in the wrong;
    whether any did."""
    n, m = A.shape[1], A.shape[0]
    worst, place, place_side = 0.0, -1, 0
    for k in range(n + m):
        if high[k] - low[k] <= 0.0:
            continue
        wrong, other = 0.0, side[k]
        if side[k] != 0:
            wrong, other = -work[1, k] * side[k], 0
        else:
            value = 0.0
            if k < n:
                value = work[0, k]
            else:
                for j in range(n):
                    value += A[k - n, j] * work[0, j]
            wrong, other = (value - high[k], 1) if value - high[k] > low[k] - value else (low[k] - value, -1)
            wrong -= 1e-10
        if wrong > worst:
            worst, place, place_side = wrong, k, other
        if wrong > 0.0 and all_at_once:
            side[k] = other
    if place >= 0:
        side[place] = place_side
    return place >= 0


@kernel
def _solve_equations(P, q, A, low, high, side, L, S, work):
    """x in work[0], the multipliers in work[1], with the constraints of `side` as equations; False where there is no answer.

    By L L^T = P of the free variables and the Schur complement S = A P^-1 A^T of the active rows.
    """
    n, m = A.shape[1], A.shape[0]
    x, y, z = work[0], work[1], work[2]
    for i in range(n + m):
        y[i] = 0.0
    for i in range(n):
        x[i] = 0.0 if side[i] == 0 else (high[i] if side[i] > 0 else low[i])
        if not abs(x[i]) < math.inf:
            return False
    if not _factor_free(P, side, L):
        return False
    for i in range(n):  # free variables without rows
        if side[i] == 0:
            total = -q[i]
            for j in range(n):
                if side[j] != 0:
                    total -= P[i, j] * x[j]
            x[i] = total
    _solve_free(L, side, x)
    active = 0
    for a in range(m):
        if side[n + a] == 0:
            continue
        bound = high[n + a] if side[n + a] > 0 else low[n + a]
        if not abs(bound) < math.inf:
            return False
        for j in range(n):
            z[j] = A[a, j] if side[j] == 0 else 0.0
        _solve_free(L, side, z)
        column, total = 0, -bound
        for b in range(a + 1):
            if side[n + b] != 0:
                entry = 0.0
                for j in range(n):
                    entry += A[b, j] * z[j]
                S[active, column] = entry
                column += 1
        for j in range(n):
            total += A[a, j] * x[j]
        y[n + active] = total
        active += 1
    return _solve_rows(P, q, A, side, L, S, work, active)


@kernel
def _solve_rows(P, q, A, side, L, S, work, active):
    """Multipliers of the `active` rows by S, what they change in the free variables, multipliers of the bounds."""
    n, m = A.shape[1], A.shape[0]
    x, y, z = work[0], work[1], work[2]
    for i in range(active):
        diagonal = S[i, i]
        for j in range(i + 1):
            total = S[i, j]
            for k in range(j):
                total -= S[i, k] * S[j, k]
            if j < i:
                S[i, j] = total / S[j, j]
            elif total > 1e-12 * diagonal:
                S[i, i] = math.sqrt(total)
            else:
                return False
    for i in range(active):
        for k in range(i):
            y[n + i] -= S[i, k] * y[n + k]
        y[n + i] /= S[i, i]
    for i in range(active - 1, -1, -1):
        for k in range(i + 1, active):
            y[n + i] -= S[k, i] * y[n + k]
        y[n + i] /= S[i, i]
    place = active - 1
    for a in range(m - 1, -1, -1):  # from the packed places to the rows that they belong to
        value = 0.0
        if side[n + a] != 0:
            value = y[n + place]
            place -= 1
        y[n + a] = value
    for j in range(n):
        z[j] = 0.0
        if side[j] == 0:
            for a in range(m):
                z[j] += A[a, j] * y[n + a]
    if active:
        _solve_free(L, side, z)
    for j in range(n):
        if side[j] == 0:
            x[j] -= z[j]
    for i in range(n):
        if side[i] != 0:
            total = -q[i]
            for j in range(n):
                total -= P[i, j] * x[j]
            for a in range(m):
                total -= A[a, i] * y[n + a]
            y[i] = total
    return True


@kernel
def _factor_free(P, side, L):
    """L L^T = P of the free variables, in place of their rows and columns; False where it is not positive definite."""
    n = P.shape[0]
    for i in range(n):
        if side[i] != 0:
            continue
        for j in range(i + 1):
            if side[j] != 0:
                continue
            total = P[i, j]
            for k in range(j):
                if side[k] == 0:
                    total -= L[i, k] * L[j, k]
            if j < i:
                L[i, j] = total / L[j, j]
            elif total > 0.0:
                L[i, i] = math.sqrt(total)
            else:
                return False
    return True


@kernel
def _solve_free(L, side, b):
    """b <- P^-1 b of the free variables."""
    n = L.shape[0]
    for i in range(n):
        if side[i] == 0:
            for k in range(i):
                if side[k] == 0:
                    b[i] -= L[i, k] * b[k]
            b[i] /= L[i, i]
    for i in range(n - 1, -1, -1):
        if side[i] == 0:
            for k in range(i + 1, n):
                if side[k] == 0:
                    b[i] -= L[k, i] * b[k]
            b[i] /= L[i, i]


@kernel
def audit_solution(P, q, A, low, high, x, y):
    """Residuals of the optimality conditions: primal, dual, gap (see `QuadraticSolution`); all infinite where x or y is not a
    number."""
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
            if not abs(slope) < math.inf:  # no number: no comparison holds
                return math.inf, math.inf, math.inf
            dual = max(dual, abs(slope))
        else:
            for j in range(n):
                value += A[k - n, j] * x[j]
        if not abs(value) < math.inf:
            return math.inf, math.inf, math.inf
        primal = max(primal, low[k] - value, value - high[k])
        if y[k] != 0.0:
            gap = max(gap, abs(y[k] * (high[k] - value if y[k] > 0 else value - low[k])))
    return primal, dual, gap
