"""Triangular solves with the panels of a multifrontal factor, for one or two right-hand sides at a time.

Each front gathers its unknowns in a dense vector z (pivots first, padded like the panel) and works on six columns at a
time. Reading the factor is the cost, so the second right-hand side comes almost for free.
"""

from __future__ import annotations

from pliant.algebra.compiled import kernel
from pliant.algebra.sparse._tile import WIDE
from pliant.algebra.sparse._vector import (
    STEP,
    dot_six_with_one,
    dot_six_with_two,
    dot_three_with_one,
    dot_three_with_two,
    subtract_six_from_one,
    subtract_six_from_two,
    subtract_three_from_one,
    subtract_three_from_two,
)
from pliant.algebra.sparse.arrays import FloatArray, IntArray, RecordArray


@kernel
def gather(b: FloatArray, column: int, count: int, order: IntArray, X: FloatArray) -> None:
    """X[v] <- column `column + v` of b (3 n, m) in elimination order, for v < count."""
    for j in range(len(order)):
        i = 3 * order[j]
        for d in range(3):
            for v in range(count):
                X[v, 3 * j + d] = b[i + d, column + v]


@kernel
def scatter(X: FloatArray, order: IntArray, column: int, count: int, out: FloatArray) -> None:
    """The converse of `gather`."""
    for j in range(len(order)):
        i = 3 * order[j]
        for d in range(3):
            for v in range(count):
                out[i + d, column + v] = X[v, 3 * j + d]


@kernel
def subtract_columns(
    z: int, z_step: int, p: int, stride: int, x: int, x_step: int, rows: int, w: int, count: int
) -> None:
    """z <- z - P x for w = 6 or 3 columns and 1 or 2 vectors."""
    if rows <= 0:
        return
    if w == WIDE:
        if count == 1:
            subtract_six_from_one(z, z_step, p, stride, x, x_step, rows)
        else:
            subtract_six_from_two(z, z_step, p, stride, x, x_step, rows)
    elif count == 1:
        subtract_three_from_one(z, z_step, p, stride, x, x_step, rows)
    else:
        subtract_three_from_two(z, z_step, p, stride, x, x_step, rows)


@kernel
def dot_columns(z: int, z_step: int, p: int, stride: int, x: int, x_step: int, rows: int, w: int, count: int) -> None:
    """x <- P^T z for w = 6 or 3 columns and 1 or 2 vectors."""
    if w == WIDE:
        if count == 1:
            dot_six_with_one(z, z_step, p, stride, x, x_step, rows)
        else:
            dot_six_with_two(z, z_step, p, stride, x, x_step, rows)
    elif count == 1:
        dot_three_with_one(z, z_step, p, stride, x, x_step, rows)
    else:
        dot_three_with_two(z, z_step, p, stride, x, x_step, rows)


@kernel
def forward(
    fronts: RecordArray, rows: IntArray, L: FloatArray, inverse: FloatArray, X: FloatArray, Z: FloatArray, count: int
) -> None:
    """X[v] <- L^-1 X[v] in place."""
    for s in range(len(fronts)):
        forward_front(s, fronts, rows, L, inverse, X, Z, count)


@kernel
def forward_front(
    s: int, fronts: RecordArray, rows: IntArray, L: FloatArray, inverse: FloatArray, X: FloatArray, Z: FloatArray,
    count: int,
) -> None:  # fmt: skip
    """One front of `forward`. Entries of z above the current columns are spoilt and not used again."""
    x_step = X.shape[1]
    z_step = Z.shape[1]
    front = fronts[s]
    K = 3 * front.width
    stride = front.stride
    first = 3 * front.column
    for v in range(count):
        for i in range(K):
            Z[v, i] = X[v, first + i]
        for i in range(K, stride):
            Z[v, i] = 0.0
    for j in range(0, K, WIDE):
        w = min(WIDE, K - j)
        o = front.panel + j * stride
        for v in range(count):
            for q in range(w):
                t = Z[v, j + q] * inverse[first + j + q]
                X[v, first + j + q] = t
                for i in range(q + 1, w):
                    Z[v, j + i] -= L[o + q * stride + j + i] * t
        start = (j + w) // STEP * STEP
        z = Z.ctypes.data + 8 * start
        x = X.ctypes.data + 8 * (first + j)
        subtract_columns(z, z_step, L.ctypes.data + 8 * (o + start), stride, x, x_step, stride - start, w, count)
    for a in range(front.below):
        g = 3 * rows[front.rows + a]
        for v in range(count):
            for d in range(3):
                X[v, g + d] += Z[v, K + 3 * a + d]


@kernel
def backward(
    fronts: RecordArray, rows: IntArray, L: FloatArray, inverse: FloatArray, X: FloatArray, Z: FloatArray, count: int
) -> None:
    """X[v] <- L^-T X[v] in place. Entries of z that are not known yet are zero, so that they do not count."""
    z_step = Z.shape[1]
    sums = Z[2]
    for s in range(len(fronts) - 1, -1, -1):
        front = fronts[s]
        K = 3 * front.width
        stride = front.stride
        first = 3 * front.column
        for v in range(count):
            for i in range(K):
                Z[v, i] = 0.0
            for i in range(K + 3 * front.below, stride):
                Z[v, i] = 0.0
            for a in range(front.below):
                g = 3 * rows[front.rows + a]
                for d in range(3):
                    Z[v, K + 3 * a + d] = X[v, g + d]
        for j in range((K - 1) // WIDE * WIDE, -1, -WIDE):
            w = min(WIDE, K - j)
            o = front.panel + j * stride
            start = min(j + w, stride - STEP) // STEP * STEP
            z = Z.ctypes.data + 8 * start
            p = L.ctypes.data + 8 * (o + start)
            dot_columns(z, z_step, p, stride, sums.ctypes.data, WIDE, stride - start, w, count)
            for v in range(count):
                for q in range(w - 1, -1, -1):
                    t = X[v, first + j + q] - sums[WIDE * v + q]
                    for i in range(q + 1, w):
                        t -= L[o + q * stride + j + i] * Z[v, j + i]
                    t *= inverse[first + j + q]
                    Z[v, j + q] = t
                    X[v, first + j + q] = t


@kernel
def apply_signs(signs: FloatArray, X: FloatArray, count: int) -> None:
    """X[v] <- S X[v]."""
    for v in range(count):
        for j in range(len(signs)):
            X[v, j] *= signs[j]


@kernel
def solve_all(
    b: FloatArray,
    fronts: RecordArray,
    order: IntArray,
    rows: IntArray,
    L: FloatArray,
    inverse: FloatArray,
    signs: FloatArray,
    X: FloatArray,
    Z: FloatArray,
    out: FloatArray,
) -> None:
    """out <- A^-1 b for b (3 n, m), caller's numbering; signs are empty where all are positive.

    Work space: X (2, 3 n), Z (3, longest stride, at least 12)."""
    for column in range(0, b.shape[1], 2):
        count = min(2, b.shape[1] - column)
        gather(b, column, count, order, X)
        forward(fronts, rows, L, inverse, X, Z, count)
        apply_signs(signs, X, count)
        backward(fronts, rows, L, inverse, X, Z, count)
        scatter(X, order, column, count, out)


@kernel
def solve_forward(
    b: FloatArray, fronts: RecordArray, order: IntArray, rows: IntArray, L: FloatArray, inverse: FloatArray, X: FloatArray,
    Z: FloatArray,
) -> None:  # fmt: skip
    """X[0] <- L^-1 b for b (3 n, 1), caller's numbering, X in elimination order."""
    one = len(b[0])
    gather(b, one - one, one, order, X)
    forward(fronts, rows, L, inverse, X, Z, one)


@kernel
def solve_backward(
    fronts: RecordArray, order: IntArray, rows: IntArray, L: FloatArray, inverse: FloatArray, X: FloatArray,
    signs: FloatArray, Z: FloatArray, out: FloatArray,
) -> None:  # fmt: skip
    """out (3 n, 1) <- L^-T S X[0], caller's numbering; X is spoilt; signs are empty where all are positive."""
    one = len(out[0])
    apply_signs(signs, X, one)
    backward(fronts, rows, L, inverse, X, Z, one)
    scatter(X, order, one - one, one, out)
