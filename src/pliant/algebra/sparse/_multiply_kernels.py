"""The product of a symmetric block matrix with vectors."""

from __future__ import annotations

from pliant.algebra.compiled import kernel
from pliant.algebra.sparse.arrays import FloatArray, IntArray


@kernel
def multiply(rows: IntArray, cols: IntArray, values: FloatArray, x: FloatArray, out: FloatArray) -> None:
    """out <- out + A x for the symmetric matrix A of 3x3 blocks values[t] at (rows[t], cols[t]), mirrored.

    values: shape [t, 3, 3]; x, out: flat, shape [3 n]. Off-diagonal blocks also act transposed at (cols[t], rows[t]).
    """
    for t in range(len(rows)):
        i = 3 * rows[t]
        j = 3 * cols[t]
        B = values[t]
        out[i] += B[0, 0] * x[j] + B[0, 1] * x[j + 1] + B[0, 2] * x[j + 2]
        out[i + 1] += B[1, 0] * x[j] + B[1, 1] * x[j + 1] + B[1, 2] * x[j + 2]
        out[i + 2] += B[2, 0] * x[j] + B[2, 1] * x[j + 1] + B[2, 2] * x[j + 2]
        if i != j:
            out[j] += B[0, 0] * x[i] + B[1, 0] * x[i + 1] + B[2, 0] * x[i + 2]
            out[j + 1] += B[0, 1] * x[i] + B[1, 1] * x[i + 1] + B[2, 1] * x[i + 2]
            out[j + 2] += B[0, 2] * x[i] + B[1, 2] * x[i + 1] + B[2, 2] * x[i + 2]
