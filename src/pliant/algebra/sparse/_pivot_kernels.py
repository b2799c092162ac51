"""Signed Cholesky, A = L S L^T with S = +-1, of the 6x6 and 3x3 blocks on the diagonal, in scalars."""

# mypy: disable-error-code=no-any-return
from __future__ import annotations

import numpy as np

from pliant.algebra.compiled import inlined, kernel
from pliant.algebra.sparse._tile import WIDE
from pliant.algebra.sparse.arrays import FloatArray


@inlined
def _eliminate_three(
    a00: float, a10: float, a20: float, a11: float, a21: float, a22: float
) -> tuple[float, float, float, float, float, float, float]:
    """M D M^T of a symmetric 3x3 matrix: reciprocals of D, the unit triangle M, and the entry M_21 D_1."""
    r0 = 1 / a00
    m10 = a10 * r0
    m20 = a20 * r0
    r1 = 1 / (a11 - a10 * m10)
    e21 = a21 - a20 * m10
    m21 = e21 * r1
    r2 = 1 / (a22 - a20 * m20 - e21 * m21)
    return r0, r1, r2, m10, m20, m21, e21


@inlined
def _store_three(
    triangle: FloatArray, at: int, r0: float, r1: float, r2: float, a10: float, a20: float, e21: float
) -> int:
    """The factor S L^T that belongs to `_eliminate_three`; returns -1 or the first column with a bad pivot."""
    i0 = np.sqrt(abs(r0))
    i1 = np.sqrt(abs(r1))
    i2 = np.sqrt(abs(r2))
    triangle[at] = np.copysign(i0, r0)
    triangle[at + 1] = a10 * i0
    triangle[at + 2] = a20 * i0
    triangle[at + WIDE + 1] = np.copysign(i1, r1)
    triangle[at + WIDE + 2] = e21 * i1
    triangle[at + 2 * WIDE + 2] = np.copysign(i2, r2)
    if not (i0 > 0.0 and i0 < np.inf):
        return 0
    if not (i1 > 0.0 and i1 < np.inf):
        return 1
    if not (i2 > 0.0 and i2 < np.inf):
        return 2
    return -1


@kernel
def factor_pivots(L: FloatArray, at: int, stride: int, columns: int, triangle: FloatArray) -> int:
    """Signed Cholesky factor of the 6x6 or 3x3 block at L[at], the transpose of S L^T, into `triangle` by columns of WIDE.

    Its diagonal holds reciprocals, with the sign of the pivot. Returns -1, or the first column whose pivot is zero or not a
    number. The roots are taken at the end (M D M^T first), since one after the other they would take most of the time.
    """
    a10 = L[at + 1]
    a20 = L[at + 2]
    r0, r1, r2, m10, m20, m21, e21 = _eliminate_three(
        L[at], a10, a20, L[at + stride + 1], L[at + stride + 2], L[at + 2 * stride + 2]
    )
    bad = _store_three(triangle, 0, r0, r1, r2, a10, a20, e21)
    if bad >= 0 or columns == 3:
        return bad
    o = at + 3
    p = o + stride
    q = p + stride
    x0 = L[o]
    x1 = L[p] - x0 * m10
    x2 = L[q] - x0 * m20 - x1 * m21
    y0 = L[o + 1]
    y1 = L[p + 1] - y0 * m10
    y2 = L[q + 1] - y0 * m20 - y1 * m21
    z0 = L[o + 2]
    z1 = L[p + 2] - z0 * m10
    z2 = L[q + 2] - z0 * m20 - z1 * m21
    i0 = abs(triangle[0])
    i1 = abs(triangle[WIDE + 1])
    i2 = abs(triangle[2 * WIDE + 2])
    triangle[3] = x0 * i0
    triangle[WIDE + 3] = x1 * i1
    triangle[2 * WIDE + 3] = x2 * i2
    triangle[4] = y0 * i0
    triangle[WIDE + 4] = y1 * i1
    triangle[2 * WIDE + 4] = y2 * i2
    triangle[5] = z0 * i0
    triangle[WIDE + 5] = z1 * i1
    triangle[2 * WIDE + 5] = z2 * i2
    u0 = x0 * r0
    u1 = x1 * r1
    u2 = x2 * r2
    v0 = y0 * r0
    v1 = y1 * r1
    v2 = y2 * r2
    o = q + stride
    p = o + stride
    a10 = L[o + 1] - y0 * u0 - y1 * u1 - y2 * u2
    a20 = L[o + 2] - z0 * u0 - z1 * u1 - z2 * u2
    r0, r1, r2, m10, m20, m21, e21 = _eliminate_three(
        L[o] - x0 * u0 - x1 * u1 - x2 * u2,
        a10,
        a20,
        L[p + 1] - y0 * v0 - y1 * v1 - y2 * v2,
        L[p + 2] - z0 * v0 - z1 * v1 - z2 * v2,
        L[p + stride + 2] - z0 * z0 * r0 - z1 * z1 * r1 - z2 * z2 * r2,
    )
    bad = _store_three(triangle, 3 * WIDE + 3, r0, r1, r2, a10, a20, e21)
    return bad + 3 if bad >= 0 else -1
