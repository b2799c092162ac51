"""The product of a symmetric block matrix with vectors."""

from __future__ import annotations

from pliant.algebra.compiled import kernel
from pliant.algebra.sparse.arrays import FloatArray, IntArray


@kernel
def multiply(rows: IntArray, cols: IntArray, values: FloatArray, x: FloatArray, out: FloatArray) -> None:
    """out <- out + A x for the symmetric matrix A of 3x3 blocks values[t] at (rows[t], cols[t]), mirrored.

    values: shape [t, 3, 3]; x, out: flat, shape [3 n]. Off-diagonal blocks also act transposed at (cols[t], rows[t]).
    What belongs to one column is summed before it is stored: blocks mostly come by columns.
    """
    column, a, b, c, u, v, w = -1, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for t in range(len(rows)):
        i = 3 * rows[t]
        j = 3 * cols[t]
        if j != column:
            if column >= 0:
                out[column] += a
                out[column + 1] += b
                out[column + 2] += c
            column, a, b, c, u, v, w = j, 0.0, 0.0, 0.0, x[j], x[j + 1], x[j + 2]
        B = values[t]
        if i != j:
            out[i] += B[0, 0] * u + B[0, 1] * v + B[0, 2] * w
            out[i + 1] += B[1, 0] * u + B[1, 1] * v + B[1, 2] * w
            out[i + 2] += B[2, 0] * u + B[2, 1] * v + B[2, 2] * w
            a += B[0, 0] * x[i] + B[1, 0] * x[i + 1] + B[2, 0] * x[i + 2]
            b += B[0, 1] * x[i] + B[1, 1] * x[i + 1] + B[2, 1] * x[i + 2]
            c += B[0, 2] * x[i] + B[1, 2] * x[i + 1] + B[2, 2] * x[i + 2]
        else:
            a += B[0, 0] * u + B[0, 1] * v + B[0, 2] * w
            b += B[1, 0] * u + B[1, 1] * v + B[1, 2] * w
            c += B[2, 0] * u + B[2, 1] * v + B[2, 2] * w
    if column >= 0:
        out[column] += a
        out[column + 1] += b
        out[column + 2] += c
