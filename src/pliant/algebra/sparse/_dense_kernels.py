"""Dense linear algebra on column-major pieces of flat arrays, made of register tiles.

Row counts are multiples of LANES, column counts multiples of 3. Rows above a diagonal and rows of padding may be
written: nobody reads them.
"""

# mypy: disable-error-code=no-any-return
from __future__ import annotations

import numpy as np

from pliant.algebra.compiled import kernel
from pliant.algebra.sparse._move import add_multiple, copy_flat, copy_middle, copy_slim, copy_tall, copy_wide
from pliant.algebra.sparse._pivot_kernels import factor_pivots
from pliant.algebra.sparse._tile import (
    LANES,
    MIDDLE,
    TALL,
    WIDE,
    negate_flat_slim,
    negate_flat_wide,
    negate_middle_slim,
    negate_middle_wide,
    negate_tall_slim,
    negate_tall_wide,
    solve_flat_slim,
    solve_flat_wide,
    solve_middle_slim,
    solve_middle_wide,
    solve_tall_slim,
    solve_tall_wide,
    subtract_flat_slim,
    subtract_flat_wide,
    subtract_middle_slim,
    subtract_middle_wide,
    subtract_tall_slim,
    subtract_tall_wide,
)
from pliant.algebra.sparse.arrays import FloatArray

PACK_DEPTH = 144
"""Inner dimension of a packed product: a strip of TALL rows of A (27 kB) stays in the first-level cache."""

PACK_COLUMNS = 240
"""Columns of a packed piece of B: with PACK_DEPTH (276 kB) it stays in the second-level cache."""

PACK_SIZE = (PACK_COLUMNS + TALL) * PACK_DEPTH
"""Doubles of work space of a packed product."""

BLOCK = 24
"""Columns of the narrowest piece of a large panel."""

SMALL_PANEL = 24_000
"""Doubles; panels below it are eliminated without packing, since they stay in the second-level cache."""


@kernel
def subtract_product(c: int, ldc: int, a: int, lda: int, b: int, ldb: int, rows: int, columns: int, depth: int) -> None:
    """C <- C - A B^T, C of shape (rows, columns), A (rows, depth), B (columns, depth)."""
    for j in range(0, columns, WIDE):
        i = 0
        if columns - j >= WIDE:
            while rows - i >= TALL:
                subtract_tall_wide(c + 8 * (i + j * ldc), ldc, a + 8 * i, lda, b + 8 * j, ldb, depth)
                i += TALL
            if rows - i >= MIDDLE:
                subtract_middle_wide(c + 8 * (i + j * ldc), ldc, a + 8 * i, lda, b + 8 * j, ldb, depth)
                i += MIDDLE
            if i < rows:
                subtract_flat_wide(c + 8 * (i + j * ldc), ldc, a + 8 * i, lda, b + 8 * j, ldb, depth)
        else:
            while rows - i >= TALL:
                subtract_tall_slim(c + 8 * (i + j * ldc), ldc, a + 8 * i, lda, b + 8 * j, ldb, depth)
                i += TALL
            if rows - i >= MIDDLE:
                subtract_middle_slim(c + 8 * (i + j * ldc), ldc, a + 8 * i, lda, b + 8 * j, ldb, depth)
                i += MIDDLE
            if i < rows:
                subtract_flat_slim(c + 8 * (i + j * ldc), ldc, a + 8 * i, lda, b + 8 * j, ldb, depth)


@kernel
def negate_product(c: int, ldc: int, a: int, lda: int, b: int, ldb: int, rows: int, columns: int, depth: int) -> None:
    """C <- - A B^T, shapes as in `subtract_product`; C is not read."""
    for j in range(0, columns, WIDE):
        i = 0
        if columns - j >= WIDE:
            while rows - i >= TALL:
                negate_tall_wide(c + 8 * (i + j * ldc), ldc, a + 8 * i, lda, b + 8 * j, ldb, depth)
                i += TALL
            if rows - i >= MIDDLE:
                negate_middle_wide(c + 8 * (i + j * ldc), ldc, a + 8 * i, lda, b + 8 * j, ldb, depth)
                i += MIDDLE
            if i < rows:
                negate_flat_wide(c + 8 * (i + j * ldc), ldc, a + 8 * i, lda, b + 8 * j, ldb, depth)
        else:
            while rows - i >= TALL:
                negate_tall_slim(c + 8 * (i + j * ldc), ldc, a + 8 * i, lda, b + 8 * j, ldb, depth)
                i += TALL
            if rows - i >= MIDDLE:
                negate_middle_slim(c + 8 * (i + j * ldc), ldc, a + 8 * i, lda, b + 8 * j, ldb, depth)
                i += MIDDLE
            if i < rows:
                negate_flat_slim(c + 8 * (i + j * ldc), ldc, a + 8 * i, lda, b + 8 * j, ldb, depth)


@kernel
def solve_columns(
    c: int, ldc: int, a: int, lda: int, b: int, ldb: int, rows: int, columns: int, depth: int, triangle: int
) -> None:
    """C <- (C - A B^T) T^-T for 6 or 3 columns; T is the triangle that `factor_pivots` (for L S) or `copy_triangle` (for L)
    left."""
    i = 0
    if columns == WIDE:
        while rows - i >= TALL:
            solve_tall_wide(c + 8 * i, ldc, a + 8 * i, lda, b, ldb, depth, triangle)
            i += TALL
        if rows - i >= MIDDLE:
            solve_middle_wide(c + 8 * i, ldc, a + 8 * i, lda, b, ldb, depth, triangle)
            i += MIDDLE
        if i < rows:
            solve_flat_wide(c + 8 * i, ldc, a + 8 * i, lda, b, ldb, depth, triangle)
    else:
        while rows - i >= TALL:
            solve_tall_slim(c + 8 * i, ldc, a + 8 * i, lda, b, ldb, depth, triangle)
            i += TALL
        if rows - i >= MIDDLE:
            solve_middle_slim(c + 8 * i, ldc, a + 8 * i, lda, b, ldb, depth, triangle)
            i += MIDDLE
        if i < rows:
            solve_flat_slim(c + 8 * i, ldc, a + 8 * i, lda, b, ldb, depth, triangle)


@kernel
def add_negatives(
    c: int, ldc: int, a: int, lda: int, b: int, ldb: int, rows: int, columns: int, depth: int, signs: FloatArray,
    first: int,
) -> None:  # fmt: skip
    """C <- C + 2 A_p B_p^T for the columns p of A and B with a negative pivot: it makes a - A B^T a - A S B^T."""
    for p in range(depth):
        if signs[first + p] < 0.0:
            for j in range(columns):
                add_multiple(c + 8 * j * ldc, a + 8 * p * lda, b + 8 * (j + p * ldb), rows)


@kernel
def factor_panel(
    L: FloatArray,
    at: int,
    stride: int,
    row: int,
    columns: int,
    triangle: FloatArray,
    inverse: FloatArray,
    signs: FloatArray,
    first: int,
    report: FloatArray,
) -> int:
    """Signed Cholesky of the columns of a panel, two nodes at a time, each looking left at those before it.

    Entry (i, j) is L[at + i + j * stride]; the pivot of column j is in row `row + j`, and the rows end at `stride`.
    inverse[first:] holds the diagonal of A and receives the reciprocals of the diagonal of L, signs[first:] the signs of
    the pivots. For `report` see `factor_fronts`. Returns -1, or the first column with a bad pivot.

    The rows of the pivots themselves are substituted too: A_jj L_jj^-T = L_jj.
    """
    base = L.ctypes.data
    coefficients = triangle.ctypes.data
    for j in range(0, columns, WIDE):
        w = min(WIDE, columns - j)
        pivot = row + j
        start = pivot // LANES * LANES
        below = (pivot + w + LANES - 1) // LANES * LANES
        a = base + 8 * at
        column = a + 8 * j * stride
        if report[5] != 0.0:
            add_negatives(
                column + 8 * start, stride, a + 8 * start, stride, a + 8 * pivot, stride, stride - start, w, j, signs,
                first,
            )  # fmt: skip
        subtract_product(column + 8 * start, stride, a + 8 * start, stride, a + 8 * pivot, stride, below - start, w, j)
        bad = factor_pivots(L, at + pivot + j * stride, stride, w, triangle)
        if bad >= 0:
            return j + bad
        for q in range(w):
            reciprocal = triangle[WIDE * q + q]
            ratio = abs(inverse[first + j + q]) * reciprocal * reciprocal
            inverse[first + j + q] = abs(reciprocal)
            signs[first + j + q] = np.copysign(1.0, reciprocal)
            if reciprocal < 0.0:
                if report[3] == 0.0:
                    report[4] = first + j + q
                report[3] += 1.0
                report[5] = 1.0
            if not ratio <= report[1]:
                report[1] = ratio
                report[2] = first + j + q
        nothing = j - j  # a variable: a literal would make numba compile another copy of the callee
        solve_columns(column + 8 * start, stride, a, stride, a, stride, below - start, w, nothing, coefficients)
        if below < stride:
            a_below = a + 8 * below
            rows = stride - below
            solve_columns(column + 8 * below, stride, a_below, stride, a + 8 * pivot, stride, rows, w, j, coefficients)
    return -1


@kernel
def pack_rows(to: int, a: int, lda: int, rows: int, depth: int) -> None:
    """Copy TALL, MIDDLE or LANES rows of A to contiguous memory."""
    if rows == TALL:
        copy_tall(to, a, lda, depth)
    elif rows == MIDDLE:
        copy_middle(to, a, lda, depth)
    else:
        copy_flat(to, a, lda, depth)


@kernel
def pack_columns(to: int, b: int, ldb: int, columns: int, depth: int) -> None:
    """Copy B (columns, depth) to contiguous memory in strips of WIDE, the last perhaps of 3."""
    for j in range(0, columns, WIDE):
        if columns - j >= WIDE:
            copy_wide(to + 8 * j * depth, b + 8 * j, ldb, depth)
        else:
            copy_slim(to + 8 * j * depth, b + 8 * j, ldb, depth)


@kernel
def packed_product(
    C: FloatArray,
    c: int,
    ldc: int,
    A: FloatArray,
    a: int,
    lda: int,
    B: FloatArray,
    b: int,
    ldb: int,
    rows: int,
    columns: int,
    depth: int,
    diagonal: int,
    fresh: int,
    buffer: FloatArray,
) -> None:
    """C <- C - A B^T (or - A B^T, if fresh) in packed pieces: B in the second-level cache, a strip of A in the first.

    Tiles that lie wholly above the diagonal are skipped: those of rows i < j + diagonal for all their columns j.
    """
    at_a = PACK_COLUMNS * PACK_DEPTH
    base = buffer.ctypes.data
    for k in range(0, depth, PACK_DEPTH):
        kc = min(PACK_DEPTH, depth - k)
        for j0 in range(0, columns, PACK_COLUMNS):
            j1 = min(columns, j0 + PACK_COLUMNS)
            pack_columns(base, B.ctypes.data + 8 * (b + j0 + k * ldb), ldb, j1 - j0, kc)
            for i in range(max(0, (j0 + diagonal) // TALL * TALL), rows, TALL):
                h = min(TALL, rows - i)
                pack_rows(base + 8 * at_a, A.ctypes.data + 8 * (a + i + k * lda), lda, h, kc)
                for j in range(j0, min(j1, i + h - diagonal), WIDE):
                    w = min(WIDE, j1 - j)
                    to = C.ctypes.data + 8 * (c + i + j * ldc)
                    from_b = base + 8 * (j - j0) * kc
                    if fresh != 0 and k == 0:
                        negate_product(to, ldc, base + 8 * at_a, h, from_b, w, h, w, kc)
                    else:
                        subtract_product(to, ldc, base + 8 * at_a, h, from_b, w, h, w, kc)
