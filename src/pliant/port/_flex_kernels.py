"""Rotations of parts as seen from a base, weighted and summed, and how they go with the points of the parts."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math

import numpy as np

from pliant.algebra.compiled import kernel
from pliant.material._polar_kernels import rotation_by_eigenvector
from pliant.port._chain_kernels import carry, spread


@kernel
def place_flex(begin, nodes, weights, slots, ends, arms, axis, coefficients, offset, x, p, delta, slopes):
    """All of a flex sensor with the nodes at x: its points p [k, 3], delta [1] and H on the entry nodes, slopes [1, e, 3]."""
    carry(begin, nodes, weights, x, p)
    own = np.zeros((1, p.shape[0], 3))
    delta[0] = offset + flex(p, ends, arms, axis, coefficients, own[0])
    slopes[:] = 0.0
    spread(begin, slots, weights, own, slopes)


@kernel
def flex(p, ends, arms, axis, coefficients, slope):
    """sum c_i a . log(R_b^T R_i) of points p [k, 3], and slope [k, 3] by them.

    Part i has the points from ends[i] to ends[i + 1], with arms [k, 3] (X - C) / count at rest; one part more than coefficients
    is the base, the last.
    """
    count = coefficients.shape[0]
    based = ends.shape[0] - 1 > count
    base, turned, seen = np.eye(3), np.empty((3, 3)), np.empty((3, 3))
    theta, row, share, whole = np.empty(3), np.empty(3), np.empty(3), np.zeros(3)
    if based:
        _fit(p, ends[count], ends[count + 1], arms, base)
    total = 0.0
    for i in range(count):
        _fit(p, ends[i], ends[i + 1], arms, turned)
        for a in range(3):
            for b in range(3):
                seen[a, b] = base[0, a] * turned[0, b] + base[1, a] * turned[1, b] + base[2, a] * turned[2, b]
        _logarithm(seen, theta)
        total += coefficients[i] * (axis[0] * theta[0] + axis[1] * theta[1] + axis[2] * theta[2])
        _along(axis, theta, row)
        for a in range(3):
            share[a] = coefficients[i] * (base[a, 0] * row[0] + base[a, 1] * row[1] + base[a, 2] * row[2])
            whole[a] -= share[a]
        _spread_spin(p, ends[i], ends[i + 1], arms, turned, share, slope)
    if based:
        _spread_spin(p, ends[count], ends[count + 1], arms, base, whole, slope)
    return total


@kernel
def _moments(p, first, end, arms, A):
    """A [3, 3] <- sum of x_j (X_j - C)^T / count."""
    A[:] = 0.0
    for j in range(first, end):
        for a in range(3):
            for b in range(3):
                A[a, b] += p[j, a] * arms[j, b]


@kernel
def _fit(p, first, end, arms, R):
    """R [3, 3] <- the rotation that fits best."""
    A = np.empty((3, 3))
    _moments(p, first, end, arms, A)
    size = 0.0
    for a in range(3):
        for b in range(3):
            size = max(size, abs(A[a, b]))
    if not 0.0 < size < math.inf:  # a NaN, or all points in one place: found by the step that led there
        R[:] = math.nan
        return
    A /= size
    rotation_by_eigenvector(A.reshape(9), R.reshape(9))


@kernel
def _logarithm(R, theta):
    """theta [3] <- the rotation vector of R, by its quaternion (divided by the largest component)."""
    trace = R[0, 0] + R[1, 1] + R[2, 2]
    if trace >= R[0, 0] and trace >= R[1, 1] and trace >= R[2, 2]:
        w, x, y, z = 1.0 + trace, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    elif R[0, 0] >= R[1, 1] and R[0, 0] >= R[2, 2]:
        w, x, y, z = R[2, 1] - R[1, 2], 1.0 + 2.0 * R[0, 0] - trace, R[1, 0] + R[0, 1], R[2, 0] + R[0, 2]
    elif R[1, 1] >= R[2, 2]:
        w, x, y, z = R[0, 2] - R[2, 0], R[1, 0] + R[0, 1], 1.0 + 2.0 * R[1, 1] - trace, R[2, 1] + R[1, 2]
    else:
        w, x, y, z = R[1, 0] - R[0, 1], R[2, 0] + R[0, 2], R[2, 1] + R[1, 2], 1.0 + 2.0 * R[2, 2] - trace
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    size = math.sqrt(w * w + x * x + y * y + z * z)
    sine = math.sqrt(x * x + y * y + z * z)
    factor = 2.0 * math.atan2(sine, w) / sine if sine > 1e-12 * size else 2.0 / size
    theta[0], theta[1], theta[2] = factor * x, factor * y, factor * z


@kernel
def _along(axis, theta, row):
    """row [3] <- a^T J(theta) = a - 1/2 a x theta + c (a x theta) x theta (see `logarithm_slope`)."""
    t = math.sqrt(theta[0] ** 2 + theta[1] ** 2 + theta[2] ** 2)
    near = 1.0 / 12.0 + t * t / 720.0 + t**4 / 30240.0
    c = near if t < 0.05 else (1.0 - 0.5 * t / math.tan(0.5 * t)) / (t * t)
    u0 = axis[1] * theta[2] - axis[2] * theta[1]
    u1 = axis[2] * theta[0] - axis[0] * theta[2]
    u2 = axis[0] * theta[1] - axis[1] * theta[0]
    row[0] = axis[0] - 0.5 * u0 + c * (u1 * theta[2] - u2 * theta[1])
    row[1] = axis[1] - 0.5 * u1 + c * (u2 * theta[0] - u0 * theta[2])
    row[2] = axis[2] - 0.5 * u2 + c * (u0 * theta[1] - u1 * theta[0])


@kernel
def _spread_spin(p, first, end, arms, R, share, slope):
    """slope [k, 3] += d(share . w) of the part's points: m x y_j, m = (tr V I - V)^-1 share, V = A R^T, y_j = R arm_j."""
    A, V = np.empty((3, 3)), np.empty((3, 3))
    _moments(p, first, end, arms, A)
    for a in range(3):
        for b in range(3):
            V[a, b] = A[a, 0] * R[b, 0] + A[a, 1] * R[b, 1] + A[a, 2] * R[b, 2]
    trace = V[0, 0] + V[1, 1] + V[2, 2]
    a, d, f = trace - V[0, 0], trace - V[1, 1], trace - V[2, 2]
    b, c, e = -0.5 * (V[0, 1] + V[1, 0]), -0.5 * (V[0, 2] + V[2, 0]), -0.5 * (V[1, 2] + V[2, 1])
    c00, c01, c02 = d * f - e * e, c * e - b * f, b * e - c * d
    determinant = a * c00 + b * c01 + c * c02
    inverse = 1.0 / determinant if determinant != 0.0 else math.nan
    s0, s1, s2 = share[0], share[1], share[2]
    m0 = inverse * (c00 * s0 + c01 * s1 + c02 * s2)
    m1 = inverse * (c01 * s0 + (a * f - c * c) * s1 + (b * c - a * e) * s2)
    m2 = inverse * (c02 * s0 + (b * c - a * e) * s1 + (a * d - b * b) * s2)
    for j in range(first, end):
        y0 = R[0, 0] * arms[j, 0] + R[0, 1] * arms[j, 1] + R[0, 2] * arms[j, 2]
        y1 = R[1, 0] * arms[j, 0] + R[1, 1] * arms[j, 1] + R[1, 2] * arms[j, 2]
        y2 = R[2, 0] * arms[j, 0] + R[2, 1] * arms[j, 1] + R[2, 2] * arms[j, 2]
        slope[j, 0] += m1 * y2 - m2 * y1
        slope[j, 1] += m2 * y0 - m0 * y2
        slope[j, 2] += m0 * y1 - m1 * y0
