"""The rotation in a deformation: polar decomposition F = R S, and its derivative, lane by lane.

R is the rotation that maximizes tr(R^T F). It comes without memory of earlier steps, so the same F gives the same R
bit for bit, by the scaled Newton iteration X <- (g X + X^-T / g) / 2 of Higham (1986), whose speed depends on the stretch
only, not on the rotation: four iterations at 10 % strain. Where det F <= 0 (an inverted element) Newton would find a
reflection; there R comes from the largest eigenvector of Davenport's 4x4 matrix (Horn 1987).
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math

import numpy as np

from pliant.algebra.compiled import inlined, kernel
from pliant.material._lanes import LANES, SCALE, TURN, C, F, G, R

FLAT = 1e-7
"""Below det F = FLAT |F|^3 the Newton iteration is not trusted."""
FAR = 0.3
"""Where |F|^2 is farther from the 3 of a rotation, the Newton iteration is scaled."""


@kernel
def rotate(work, count):
    """Fill R with the rotation nearest to F, in every lane."""
    count = min(count, LANES)
    far = 0.0
    for l in range(count):
        size = -3.0
        for t in range(9):
            work[(R + t) * LANES + l] = work[(F + t) * LANES + l]
            size += work[(F + t) * LANES + l] * work[(F + t) * LANES + l]
        far += 1.0 if abs(size) > FAR else 0.0
    for _ in range(14):
        if far > 0.0:
            change, distrusted, far = _scaled_newton_step(work, count)
        else:
            change, distrusted = _newton_step(work, count)
        if not change > 1e-15 * count:  # quadratic convergence: the remaining error is about change / 2
            break
    if distrusted > 0.0 or change > 1e-15 * count:
        gradient, rotation = np.empty(9), np.empty(9)
        for l in range(count):
            for t in range(9):
                gradient[t] = work[(F + t) * LANES + l]
            if not _is_rotation(work, l):
                rotation_by_eigenvector(gradient, rotation)
                for t in range(9):
                    work[(R + t) * LANES + l] = rotation[t]


@inlined
def _load_rotation(work, l):
    """X = R of lane l, its cofactors and its determinant."""
    x0, x1, x2 = work[R * LANES + l], work[(R + 1) * LANES + l], work[(R + 2) * LANES + l]
    x3, x4, x5 = work[(R + 3) * LANES + l], work[(R + 4) * LANES + l], work[(R + 5) * LANES + l]
    x6, x7, x8 = work[(R + 6) * LANES + l], work[(R + 7) * LANES + l], work[(R + 8) * LANES + l]
    c0, c1, c2 = x4 * x8 - x5 * x7, x5 * x6 - x3 * x8, x3 * x7 - x4 * x6
    c3, c4, c5 = x2 * x7 - x1 * x8, x0 * x8 - x2 * x6, x1 * x6 - x0 * x7
    c6, c7, c8 = x1 * x5 - x2 * x4, x2 * x3 - x0 * x5, x0 * x4 - x1 * x3
    det = x0 * c0 + x1 * c1 + x2 * c2
    return (x0, x1, x2, x3, x4, x5, x6, x7, x8), (c0, c1, c2, c3, c4, c5, c6, c7, c8), det


@inlined
def _square(x):
    """Sum of squares."""
    return (
        x[0] * x[0] + x[1] * x[1] + x[2] * x[2] + x[3] * x[3] + x[4] * x[4]
        + x[5] * x[5] + x[6] * x[6] + x[7] * x[7] + x[8] * x[8]
    )  # fmt: skip


@inlined
def _store_rotation(work, l, a, x, b, c):
    """R <- a X + b C in lane l; returns the square of the change."""
    y0, y1, y2 = a * x[0] + b * c[0], a * x[1] + b * c[1], a * x[2] + b * c[2]
    y3, y4, y5 = a * x[3] + b * c[3], a * x[4] + b * c[4], a * x[5] + b * c[5]
    y6, y7, y8 = a * x[6] + b * c[6], a * x[7] + b * c[7], a * x[8] + b * c[8]
    work[R * LANES + l], work[(R + 1) * LANES + l], work[(R + 2) * LANES + l] = y0, y1, y2
    work[(R + 3) * LANES + l], work[(R + 4) * LANES + l], work[(R + 5) * LANES + l] = y3, y4, y5
    work[(R + 6) * LANES + l], work[(R + 7) * LANES + l], work[(R + 8) * LANES + l] = y6, y7, y8
    d0, d1, d2, d3, d4 = y0 - x[0], y1 - x[1], y2 - x[2], y3 - x[3], y4 - x[4]
    d5, d6, d7, d8 = y5 - x[5], y6 - x[6], y7 - x[7], y8 - x[8]
    return _square((d0, d1, d2, d3, d4, d5, d6, d7, d8))


@kernel
def _newton_step(work, count):
    """One step of X <- (X + X^-T) / 2 in every lane: the summed square of the change, and how many lanes stood still because
    they are too flat or inverted."""
    count = min(count, LANES)
    total, distrusted = 0.0, 0.0
    for l in range(count):
        x, c, det = _load_rotation(work, l)
        size = _square(x)
        trusted = det > 0.0 and det * det > FLAT * FLAT * size * size * size
        b = 0.5 / det if trusted else 0.0
        total += _store_rotation(work, l, 0.5 if trusted else 1.0, x, b, c)
        distrusted += 0.0 if trusted else 1.0
    return total, distrusted


@kernel
def _scaled_newton_step(work, count):
    """As `_newton_step`, with X <- (g X + X^-T / g) / 2 where X is far from a rotation; also how many lanes were far."""
    count = min(count, LANES)
    total, distrusted, far = 0.0, 0.0, 0.0
    for l in range(count):
        x, c, det = _load_rotation(work, l)
        size, cosize = _square(x), _square(c)
        trusted = det > FLAT * size * math.sqrt(size)
        safe = det if trusted else 1.0
        g = math.sqrt(math.sqrt(cosize / size) / safe) if abs(size - 3.0) > FAR else 1.0
        far += 1.0 if abs(size - 3.0) > FAR else 0.0
        b = 0.5 / (safe * g) if trusted else 0.0
        total += _store_rotation(work, l, 0.5 * g if trusted else 1.0, x, b, c)
        distrusted += 0.0 if trusted else 1.0
    return total, distrusted, far


@kernel
def _is_rotation(work, l):
    """Whether the rows R of lane l are orthonormal and right-handed."""
    for i in range(3):
        for j in range(3):
            product = 0.0
            for k in range(3):
                product += work[(R + 3 * i + k) * LANES + l] * work[(R + 3 * j + k) * LANES + l]
            if not abs(product - (1.0 if i == j else 0.0)) < 1e-12:
                return False
    x = work[(R + 4) * LANES + l] * work[(R + 8) * LANES + l] - work[(R + 5) * LANES + l] * work[(R + 7) * LANES + l]
    return abs(x - work[R * LANES + l]) < 1e-6


@kernel
def rotation_by_eigenvector(gradient, rotation):
    """The rotation [9] nearest to any gradient [9]: tr(R^T F) = q^T N q, largest for the top eigenvector q of N [4, 4]."""
    N, V = np.empty((4, 4)), np.empty((4, 4))
    f = gradient
    N[0, 0], N[1, 1] = f[0] + f[4] + f[8], f[0] - f[4] - f[8]
    N[2, 2], N[3, 3] = f[4] - f[0] - f[8], f[8] - f[0] - f[4]
    N[0, 1], N[0, 2], N[0, 3] = f[7] - f[5], f[2] - f[6], f[3] - f[1]
    N[1, 2], N[1, 3], N[2, 3] = f[1] + f[3], f[2] + f[6], f[5] + f[7]
    for i in range(4):
        for j in range(4):
            V[i, j] = 1.0 if i == j else 0.0
            if j < i:
                N[i, j] = N[j, i]
    for _ in range(12):  # cyclic Jacobi sweeps
        for i in range(3):
            for j in range(i + 1, 4):
                if abs(N[i, j]) < 1e-200:
                    continue
                tau = (N[j, j] - N[i, i]) / (2.0 * N[i, j])
                t = (1.0 if tau >= 0.0 else -1.0) / (abs(tau) + math.sqrt(1.0 + tau * tau))
                c = 1.0 / math.sqrt(1.0 + t * t)
                s = t * c
                for k in range(4):
                    N[k, i], N[k, j] = c * N[k, i] - s * N[k, j], s * N[k, i] + c * N[k, j]
                for k in range(4):
                    N[i, k], N[j, k] = c * N[i, k] - s * N[j, k], s * N[i, k] + c * N[j, k]
                    V[k, i], V[k, j] = c * V[k, i] - s * V[k, j], s * V[k, i] + c * V[k, j]
    top = 0
    for i in range(1, 4):
        if N[i, i] > N[top, top]:
            top = i
    w, x, y, z = V[0, top], V[1, top], V[2, top], V[3, top]
    rotation[0], rotation[1], rotation[2] = 1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)
    rotation[3], rotation[4], rotation[5] = 2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)
    rotation[6], rotation[7], rotation[8] = 2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)


@kernel
def resist_turning(work, count):
    """Fill G = (tr(S) I - S)^-1 with the spatial stretch S = sym(F R^T).

    Its eigenvalues are 1 / (s_i + s_j) for the signed stretches s. Where they vanish (an element inverted beyond a
    reflection, where R jumps) they are kept finite.
    """
    count = min(count, LANES)
    for l in range(count):
        f0, f1, f2 = work[F * LANES + l], work[(F + 1) * LANES + l], work[(F + 2) * LANES + l]
        f3, f4, f5 = work[(F + 3) * LANES + l], work[(F + 4) * LANES + l], work[(F + 5) * LANES + l]
        f6, f7, f8 = work[(F + 6) * LANES + l], work[(F + 7) * LANES + l], work[(F + 8) * LANES + l]
        r0, r1, r2 = work[R * LANES + l], work[(R + 1) * LANES + l], work[(R + 2) * LANES + l]
        r3, r4, r5 = work[(R + 3) * LANES + l], work[(R + 4) * LANES + l], work[(R + 5) * LANES + l]
        r6, r7, r8 = work[(R + 6) * LANES + l], work[(R + 7) * LANES + l], work[(R + 8) * LANES + l]
        sxx, syy, szz = f0 * r0 + f1 * r1 + f2 * r2, f3 * r3 + f4 * r4 + f5 * r5, f6 * r6 + f7 * r7 + f8 * r8
        sxy = 0.5 * (f0 * r3 + f1 * r4 + f2 * r5 + f3 * r0 + f4 * r1 + f5 * r2)
        sxz = 0.5 * (f0 * r6 + f1 * r7 + f2 * r8 + f6 * r0 + f7 * r1 + f8 * r2)
        syz = 0.5 * (f3 * r6 + f4 * r7 + f5 * r8 + f6 * r3 + f7 * r4 + f8 * r5)
        a, b, c = syy + szz, sxx + szz, sxx + syy
        k0, k1, k2 = b * c - syz * syz, sxy * c + sxz * syz, sxy * syz + sxz * b
        det = a * k0 - sxy * k1 - sxz * k2
        i = 1.0 / (det if abs(det) > 1e-9 else 1e-9)
        work[G * LANES + l], work[(G + 1) * LANES + l], work[(G + 2) * LANES + l] = k0 * i, k1 * i, k2 * i
        work[(G + 3) * LANES + l], work[(G + 4) * LANES + l] = k1 * i, (a * c - sxz * sxz) * i
        work[(G + 5) * LANES + l], work[(G + 6) * LANES + l] = (a * syz + sxy * sxz) * i, k2 * i
        work[(G + 7) * LANES + l], work[(G + 8) * LANES + l] = (a * syz + sxy * sxz) * i, (a * b - sxy * sxy) * i


@kernel
def add_rotation_slope(work, count):
    """C += scale dR/dF with the factor in the row SCALE.

    Turning the frame about the spatial axis m moves R by T_m = [e_m] R, and dR = sum_m T_m (U_m : dF) with
    U_m = sum_n G_mn T_n. Row i of T_m holds R_(i+2) for m = i+1 and -R_(i+1) for m = i+2.
    """
    count = min(count, LANES)
    _turn_about(work, count, 0, 1, 2)
    _turn_about(work, count, 1, 2, 0)
    _turn_about(work, count, 2, 0, 1)
    _add_slope_rows(work, count, 0, 1, 2)
    _add_slope_rows(work, count, 1, 2, 0)
    _add_slope_rows(work, count, 2, 0, 1)


@inlined
def _turn_about(work, count, k, k1, k2):
    """The entries (k, .) of scale U_m for m = 0, 1, 2 in `add_rotation_slope`; (k, k1, k2) is cyclic."""
    for l in range(count):
        for m in range(3):
            g1 = work[SCALE * LANES + l] * work[(G + 3 * m + k1) * LANES + l]
            g2 = work[SCALE * LANES + l] * work[(G + 3 * m + k2) * LANES + l]
            for j in range(3):
                u = g1 * work[(R + 3 * k2 + j) * LANES + l] - g2 * work[(R + 3 * k1 + j) * LANES + l]
                work[(TURN + 9 * m + 3 * k + j) * LANES + l] = u


@inlined
def _add_slope_rows(work, count, i, i1, i2):
    """The rows (i, .) of C in `add_rotation_slope`; (i, i1, i2) is a cyclic permutation of the axes."""
    for l in range(count):
        for j in range(3):
            a, b = work[(R + 3 * i2 + j) * LANES + l], work[(R + 3 * i1 + j) * LANES + l]
            for t in range(9):
                change = a * work[(TURN + 9 * i1 + t) * LANES + l] - b * work[(TURN + 9 * i2 + t) * LANES + l]
                work[(C + 9 * (3 * i + j) + t) * LANES + l] += change
