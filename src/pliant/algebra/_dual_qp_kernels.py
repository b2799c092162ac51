"""Small strictly convex quadratic programs with many rows, by the dual method (Goldfarb and Idnani 1983)."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math

import numpy as np

from pliant.algebra.compiled import kernel

OPTIMAL, INFEASIBLE, FAILED, WORSE = 0, 1, 2, 3
"""How it ended: solved, no x meets all rows, no end found, or given up because the value is above what was asked for."""
VIOLATED = 1e-10
"""By how much a row is passed that counts, in the units of the (scaled) problem."""
SAME = 1e-13
"""A row whose part beside the active ones, over its square, is below this does what they do."""


@kernel
def factor(P, L):
    """L L^T = P [n, n]; False where P is not positive definite."""
    n = P.shape[0]
    for i in range(n):
        for j in range(i + 1):
            total = P[i, j]
            for k in range(j):
                total -= L[i, k] * L[j, k]
            if j < i:
                L[i, j] = total / L[j, j]
            elif total > 0.0:
                L[i, i] = math.sqrt(total)
            else:
                return False
    return True


@kernel
def forward(L, b, n):
    """b <- L^-1 b, of the first n rows."""
    for i in range(n):
        total = b[i]
        for k in range(i):
            total -= L[i, k] * b[k]
        b[i] = total / L[i, i]


@kernel
def backward(L, b, n):
    """b <- L^-T b, of the first n rows."""
    for i in range(n - 1, -1, -1):
        b[i] /= L[i, i]
        for k in range(i):
            b[k] -= L[i, k] * b[i]


@kernel
def lowest(P, q, x):
    """The minimum of 1/2 x^T P x + q^T x without rows; minus infinity where P is not positive definite. x [n] is
    overwritten."""
    n, value = q.shape[0], 0.0
    L = np.empty((n, n))
    if not factor(P, L):
        return -math.inf
    x[:] = q
    forward(L, x, n)
    for i in range(n):
        value -= 0.5 * x[i] * x[i]
    return value


@kernel
def worst_row(G, low, high, rows, x):
    """The row that is passed most, by how much, and at which side (-1: low, 1: high)."""
    place, worst, side = -1, VIOLATED, 0
    for i in range(rows):
        value = 0.0
        for j in range(x.shape[0]):
            value += G[i, j] * x[j]
        if low[i] - value > worst:
            place, worst, side = i, low[i] - value, -1
        if value - high[i] > worst:
            place, worst, side = i, value - high[i], 1
    return place, worst, side


@kernel
def dual_qp(P, q, G, low, high, rows, most, x, y):
    """min 1/2 x^T P x + q^T x, low <= G x <= high of the first rows; how it ended, and the value.

    x [n] and the multipliers y (positive at high, negative at low bounds) are filled. It begins at the minimum without rows and
    takes in the row that is passed most; the value only rises, so that it can be given up as soon as it is above `most`.
    """
    n = q.shape[0]
    L, S = np.empty((n, n)), np.empty((n, n))
    N, u, share = np.empty((n, n)), np.empty(n + 1), np.empty(n + 1)
    which, sides, z, way = np.empty(n, np.int64), np.empty(n, np.int64), np.empty(n), np.empty(n)
    for i in range(rows):
        y[i] = 0.0
        if not low[i] <= high[i]:
            return INFEASIBLE, math.inf
    if not factor(P, L):
        return FAILED, math.inf
    for i in range(n):
        x[i] = -q[i]
    forward(L, x, n)
    value = 0.0
    for i in range(n):
        value -= 0.5 * x[i] * x[i]
    backward(L, x, n)
    count = 0
    for _ in range(20 * (n + 5)):
        if value > most:
            return WORSE, value
        place, violation, side = worst_row(G, low, high, rows, x)
        if place < 0:
            for k in range(count):
                y[which[k]] += sides[k] * u[k]
            return OPTIMAL, value
        own = 0.0
        for j in range(n):
            z[j] = -side * G[place, j]
        forward(L, z, n)
        square = 0.0
        for j in range(n):
            square += z[j] * z[j]
        while True:
            for k in range(count):
                share[k] = 0.0
                for j in range(n):
                    share[k] += N[k, j] * z[j]
            if count and not _shares(N, S, share, count):
                return FAILED, math.inf
            length = 0.0
            for j in range(n):
                way[j] = z[j]
                for k in range(count):
                    way[j] -= N[k, j] * share[k]
                length += way[j] * way[j]
            first, leaves = math.inf, -1
            for k in range(count):
                if share[k] > 0.0 and u[k] < first * share[k]:
                    first, leaves = u[k] / share[k], k
            full = violation / length if length > SAME * square and count < n else math.inf
            t = min(first, full)
            if t == math.inf:
                return INFEASIBLE, math.inf
            for k in range(count):
                u[k] -= t * share[k]
            if full < math.inf:
                value += t * length * (0.5 * t + own)
                violation -= t * length
                backward(L, way, n)
                for j in range(n):
                    x[j] += t * way[j]
            own += t
            if full <= first:
                for j in range(n):
                    N[count, j] = z[j]
                which[count], sides[count], u[count] = place, side, own
                count += 1
                break
            count -= 1
            for k in range(leaves, count):
                which[k], sides[k], u[k] = which[k + 1], sides[k + 1], u[k + 1]
                for j in range(n):
                    N[k, j] = N[k + 1, j]
    return FAILED, math.inf


@kernel
def _shares(N, S, share, count):
    """share <- (N N^T)^-1 share of the active rows."""
    for i in range(count):
        for j in range(i + 1):
            total = 0.0
            for k in range(N.shape[1]):
                total += N[i, k] * N[j, k]
            diagonal = total
            for k in range(j):
                total -= S[i, k] * S[j, k]
            if j < i:
                S[i, j] = total / S[j, j]
            elif total > 0.01 * SAME * diagonal:
                S[i, i] = math.sqrt(total)
            else:
                return False
    forward(S, share, count)
    backward(S, share, count)
    return True
