"""Stress and stiffness of any law Psi(I1, I2, J), from its derivatives by the invariants, lane by lane.

I1 = F:F,  I2 = (I1^2 - |F^T F|^2) / 2,  J = det F, with

    dI1/dF = 2 F                       d2I1 : H = 2 H
    dI2/dF = 2 (I1 F - F F^T F)        d2I2 : H = 2 (2 (F:H) F + I1 H - H F^T F - F H^T F - F F^T H)
    dJ/dF  = cof F                     d2J  : H = derivative of the cofactor, linear in F

so that a law's file holds nothing but its own derivatives: the rows DERIVATIVES are Psi_1, Psi_2, Psi_J, Psi_11, Psi_12,
Psi_1J, Psi_22, Psi_2J, Psi_JJ.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from pliant.algebra.compiled import inlined, kernel
from pliant.material._lanes import COFACTOR, DERIVATIVES, INVARIANTS, LANES, SCALE, SECOND, C, F, P


@kernel
def find_invariants(work, count):
    """Fill the invariants and their slopes: cofactor, dI2/dF."""
    count = min(count, LANES)
    _cofactor_rows(work, count, 0, 1, 2)
    _cofactor_rows(work, count, 1, 2, 0)
    _cofactor_rows(work, count, 2, 0, 1)
    for l in range(count):
        f0, f1, f2 = work[F * LANES + l], work[(F + 1) * LANES + l], work[(F + 2) * LANES + l]
        f3, f4, f5 = work[(F + 3) * LANES + l], work[(F + 4) * LANES + l], work[(F + 5) * LANES + l]
        f6, f7, f8 = work[(F + 6) * LANES + l], work[(F + 7) * LANES + l], work[(F + 8) * LANES + l]
        bxx, byy, bzz = f0 * f0 + f1 * f1 + f2 * f2, f3 * f3 + f4 * f4 + f5 * f5, f6 * f6 + f7 * f7 + f8 * f8
        bxy, bxz = f0 * f3 + f1 * f4 + f2 * f5, f0 * f6 + f1 * f7 + f2 * f8
        byz = f3 * f6 + f4 * f7 + f5 * f8
        I1 = bxx + byy + bzz
        square = bxx * bxx + byy * byy + bzz * bzz + 2.0 * (bxy * bxy + bxz * bxz + byz * byz)
        work[INVARIANTS * LANES + l] = I1
        work[(INVARIANTS + 1) * LANES + l] = 0.5 * (I1 * I1 - square)
        work[(INVARIANTS + 2) * LANES + l] = (
            f0 * work[COFACTOR * LANES + l]
            + f1 * work[(COFACTOR + 1) * LANES + l]
            + f2 * work[(COFACTOR + 2) * LANES + l]
        )
        for j in range(3):
            x, y, z = work[(F + j) * LANES + l], work[(F + 3 + j) * LANES + l], work[(F + 6 + j) * LANES + l]
            work[(SECOND + j) * LANES + l] = 2.0 * (I1 * x - bxx * x - bxy * y - bxz * z)
            work[(SECOND + 3 + j) * LANES + l] = 2.0 * (I1 * y - bxy * x - byy * y - byz * z)
            work[(SECOND + 6 + j) * LANES + l] = 2.0 * (I1 * z - bxz * x - byz * y - bzz * z)


@inlined
def _cofactor_rows(work, count, i, i1, i2):
    """The row i of the cofactor, the cross product of rows i1 and i2; (i, i1, i2) is cyclic."""
    for l in range(count):
        x1, y1, z1 = (
            work[(F + 3 * i1) * LANES + l],
            work[(F + 3 * i1 + 1) * LANES + l],
            work[(F + 3 * i1 + 2) * LANES + l],
        )
        x2, y2, z2 = (
            work[(F + 3 * i2) * LANES + l],
            work[(F + 3 * i2 + 1) * LANES + l],
            work[(F + 3 * i2 + 2) * LANES + l],
        )
        work[(COFACTOR + 3 * i) * LANES + l] = y1 * z2 - z1 * y2
        work[(COFACTOR + 3 * i + 1) * LANES + l] = z1 * x2 - x1 * z2
        work[(COFACTOR + 3 * i + 2) * LANES + l] = x1 * y2 - y1 * x2


@kernel
def from_invariants(work, count, level):
    """Fill the stress and, at level 2, the stiffness."""
    count = min(count, LANES)
    for l in range(count):
        d1, d2 = work[DERIVATIVES * LANES + l], work[(DERIVATIVES + 1) * LANES + l]
        dJ = work[(DERIVATIVES + 2) * LANES + l]
        work[SCALE * LANES + l] = dJ
        for t in range(9):
            work[(P + t) * LANES + l] = (
                2.0 * d1 * work[(F + t) * LANES + l]
                + d2 * work[(SECOND + t) * LANES + l]
                + dJ * work[(COFACTOR + t) * LANES + l]
            )
    if level > 1:
        _stiffness_rows(work, count, 0)
        _stiffness_rows(work, count, 1)
        _stiffness_rows(work, count, 2)
        add_cofactor_slope(work, count)


@inlined
def _stiffness_rows(work, count, i):
    """The rows (i, .) of C: products of the invariants' slopes, and the curvatures that are multiples of the identity."""
    for l in range(count):
        d11, d12 = work[(DERIVATIVES + 3) * LANES + l], work[(DERIVATIVES + 4) * LANES + l]
        d1J, d22 = work[(DERIVATIVES + 5) * LANES + l], work[(DERIVATIVES + 6) * LANES + l]
        d2J, dJJ = work[(DERIVATIVES + 7) * LANES + l], work[(DERIVATIVES + 8) * LANES + l]
        diagonal = work[DERIVATIVES * LANES + l] + work[(DERIVATIVES + 1) * LANES + l] * work[INVARIANTS * LANES + l]
        for j in range(3):
            f, g = 2.0 * work[(F + 3 * i + j) * LANES + l], work[(SECOND + 3 * i + j) * LANES + l]
            h = work[(COFACTOR + 3 * i + j) * LANES + l]
            a, b = 2.0 * (d11 * f + d12 * g + d1J * h), d12 * f + d22 * g + d2J * h
            c = d1J * f + d2J * g + dJJ * h
            for t in range(9):
                value = a * work[(F + t) * LANES + l] + b * work[(SECOND + t) * LANES + l]
                value += c * work[(COFACTOR + t) * LANES + l] + (2.0 * diagonal if t == 3 * i + j else 0.0)
                work[(C + 9 * (3 * i + j) + t) * LANES + l] = value


@kernel
def add_second_curvature(work, count):
    """C += Psi_2 d2I2 beyond its multiple of the identity, for the laws that have I2 (not written for vector units)."""
    for l in range(count):
        d2 = 2.0 * work[(DERIVATIVES + 1) * LANES + l]
        f = work[F * LANES + l : (F + 9) * LANES : LANES]
        for i in range(3):
            for k in range(3):
                product = f[3 * i] * f[3 * k] + f[3 * i + 1] * f[3 * k + 1] + f[3 * i + 2] * f[3 * k + 2]
                for j in range(3):
                    for m in range(3):
                        value = 2.0 * f[3 * i + j] * f[3 * k + m] - f[3 * i + m] * f[3 * k + j]
                        if i == k:  # the metric F^T F
                            value -= f[j] * f[m] + f[3 + j] * f[3 + m] + f[6 + j] * f[6 + m]
                        if j == m:  # F F^T
                            value -= product
                        work[(C + 9 * (3 * i + j) + 3 * k + m) * LANES + l] += d2 * value


@kernel
def add_cofactor_slope(work, count):
    """C += scale d2J/dF2 with the factor in the row SCALE: d cof_ij / dF_kl = eps_ikm eps_jln F_mn."""
    count = min(count, LANES)
    _add_cofactor_rows(work, count, 0, 1, 2)
    _add_cofactor_rows(work, count, 1, 2, 0)
    _add_cofactor_rows(work, count, 2, 0, 1)


@inlined
def _add_cofactor_rows(work, count, i, i1, i2):
    """The rows (i, .) of `add_cofactor_slope`; (i, i1, i2) is a cyclic permutation of the axes."""
    _add_cofactor_row(work, count, i, i1, i2, 0, 1, 2)
    _add_cofactor_row(work, count, i, i1, i2, 1, 2, 0)
    _add_cofactor_row(work, count, i, i1, i2, 2, 0, 1)


@inlined
def _add_cofactor_row(work, count, i, i1, i2, j, j1, j2):
    for l in range(count):
        scale = work[SCALE * LANES + l]
        work[(C + 27 * i + 9 * j + 3 * i1 + j1) * LANES + l] += scale * work[(F + 3 * i2 + j2) * LANES + l]
        work[(C + 27 * i + 9 * j + 3 * i2 + j2) * LANES + l] += scale * work[(F + 3 * i1 + j1) * LANES + l]
        work[(C + 27 * i + 9 * j + 3 * i1 + j2) * LANES + l] -= scale * work[(F + 3 * i2 + j1) * LANES + l]
        work[(C + 27 * i + 9 * j + 3 * i2 + j1) * LANES + l] -= scale * work[(F + 3 * i1 + j2) * LANES + l]
