"""The QP of a decision, filled into arrays that are already there."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math

from pliant.algebra.compiled import inlined, kernel


@kernel
def fill_decision(
    W, free, efforts, a, e, S, target, energy, limits, course, now_efforts, now_delta, slew, pace, trust, limited,
    P, q, lower, upper, A, row_lower, row_upper, scale, d, J
):  # fmt: skip
    """See `DecisionProblem.fill`. W [m, m], free and efforts [m]: the condensed model; a, e: rows of the n actuators and of
    the effectors; S, target [e]; limits, course [n, 2]; slew, pace, trust [n]: how far effort and displacement may go from
    now_efforts and now_delta, and effort from the model's, inf for anywhere; limited: actuators whose displacement has
    limits. d [m] and J [e, n] are work space."""
    n = a.shape[0]
    _without_actuation(W, free, efforts, a, d)
    for i in range(n):
        diagonal = W[a[i], a[i]]
        scale[i] = 1.0 / math.sqrt(diagonal) if diagonal > 0.0 else 1.0
    tracking, work = _fill_objective(W, a, e, S, target, scale, d, P, q, J)
    weight = 1.0 / max(tracking, 1e-300)
    epsilon = energy * max(tracking, 1e-300) / work
    for i in range(n):
        q[i] *= weight
        for j in range(n):
            P[i, j] = weight * (P[i, j] + epsilon * scale[i] * W[a[i], a[j]] * scale[j])
        if W[a[i], a[i]] <= 0.0:  # an effort that does nothing here (a modulus without strain) stays as it is
            P[i, i] = 1.0
            q[i] = -efforts[a[i]] / scale[i]
    for i in range(n):
        low, high = _within_reach(limits[i, 0], limits[i, 1], now_efforts[i], slew[i])
        low, high = _within_reach(low, high, efforts[a[i]], trust[i])
        lower[i], upper[i] = low / scale[i], high / scale[i]
    for k in range(limited.shape[0]):
        i = limited[k]
        low, high = _within_reach(course[i, 0], course[i, 1], now_delta[i], pace[i])
        row_lower[k], row_upper[k] = (low - d[a[i]]) * scale[i], (high - d[a[i]]) * scale[i]
        for j in range(n):
            A[k, j] = scale[i] * W[a[i], a[j]] * scale[j]


@kernel
def _without_actuation(W, free, efforts, a, d):
    """d [m]: the displacements with imposed efforts and no actuation."""
    m = free.shape[0]
    for i in range(m):
        d[i] = free[i]
    for j in range(m):
        actuated = False
        for k in range(a.shape[0]):
            actuated = actuated or a[k] == j
        if not actuated and efforts[j] != 0.0:
            for i in range(m):
                d[i] += W[i, j] * efforts[j]


@kernel
def _fill_objective(W, a, e, S, target, scale, d, P, q, J):
    """P <- J^T J and q <- J^T S (d_e - target) with J = S W_ea scale; returns the norms of P and of the scaled W_aa."""
    n = a.shape[0]
    tracking, work = 0.0, 0.0
    for i in range(n):
        q[i] = 0.0
        for r in range(e.shape[0]):
            J[r, i] = S[r] * W[e[r], a[i]] * scale[i]
            q[i] += J[r, i] * S[r] * (d[e[r]] - target[r])
    for i in range(n):
        for j in range(n):
            total = 0.0
            for r in range(e.shape[0]):
                total += J[r, i] * J[r, j]
            P[i, j] = total
            tracking += total * total
            work += (scale[i] * W[a[i], a[j]] * scale[j]) ** 2
    return math.sqrt(tracking), max(math.sqrt(work), 1e-300)


@inlined
def _within_reach(low, high, now, reach):
    """Limits cut to what can be reached from `now`; a limit already passed is approached, not jumped to."""
    if reach == math.inf:
        return low, high
    first = min(max(low, now - reach), max(now, low))
    first = min(first, now + reach)
    last = max(min(high, now + reach), now - reach)
    return first, max(last, first)


@kernel
def predict_actuators(W, d, a, efforts, out):
    """out [n] <- d_a + W_aa efforts: the displacements of the actuators at these efforts [n]."""
    for i in range(a.shape[0]):
        total = d[a[i]]
        for j in range(a.shape[0]):
            total += W[a[i], a[j]] * efforts[j]
        out[i] = total
