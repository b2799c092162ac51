"""W = H A^-1 H^T for a sparse H, front by front.

With A = L L^T (in elimination order) and Y = L^-1 H^T, W = Y^T Y: no back substitution is needed. A row of H reaches
only the fronts on the paths from its nodes to the root of the elimination tree (Gilbert 1994), so each front works on
the rows of H that reach it. Vectors run along the rows of H: Y is kept as (unknowns, rows of H).
"""

from __future__ import annotations

from pliant.algebra.compiled import kernel
from pliant.algebra.sparse._dense_kernels import negate_product, solve_columns
from pliant.algebra.sparse._tile import LANES, WIDE
from pliant.algebra.sparse.arrays import BoolArray, FloatArray, IntArray, RecordArray


@kernel
def mark_reach(
    indptr: IntArray, indices: IntArray, position: IntArray, member: IntArray, fronts: RecordArray, reached: BoolArray
) -> bool:
    """reached[s, c] <- does row c of H have an entry in the subtree of front s? False if H has a column too many."""
    for s in range(reached.shape[0]):
        for c in range(reached.shape[1]):
            reached[s, c] = False
    for c in range(len(indptr) - 1):
        for t in range(indptr[c], indptr[c + 1]):
            if not 0 <= indices[t] < 3 * len(position):
                return False
            s = member[position[indices[t] // 3]]
            while s >= 0 and not reached[s, c]:
                reached[s, c] = True
                s = fronts[s].parent
    return True


@kernel
def scatter_rows(
    indptr: IntArray, indices: IntArray, data: FloatArray, position: IntArray, Y: FloatArray, width: int
) -> None:
    """Y <- Y + H^T, in elimination order; Y is flat with `width` doubles per unknown."""
    for c in range(len(indptr) - 1):
        for t in range(indptr[c], indptr[c + 1]):
            unknown = 3 * position[indices[t] // 3] + indices[t] % 3
            Y[unknown * width + c] += data[t]


@kernel
def take_pivots(
    Y: FloatArray, width: int, first: int, K: int, chosen: IntArray, count: int, padded: int, B: FloatArray
) -> None:
    """Move the pivot unknowns of a front, for the chosen rows of H, to B; leaves zeros in Y for the next call."""
    for j in range(K):
        y = (first + j) * width
        for a in range(count):
            B[j * padded + a] = Y[y + chosen[a]]
            Y[y + chosen[a]] = 0.0
        for a in range(count, padded):
            B[j * padded + a] = 0.0


@kernel
def copy_triangle(
    L: FloatArray, at: int, stride: int, columns: int, inverse: FloatArray, first: int, triangle: FloatArray
) -> None:
    """A diagonal block of L as `solve_columns` wants it: by columns of WIDE, reciprocals on the diagonal."""
    for q in range(columns):
        triangle[WIDE * q + q] = inverse[first + q]
        for i in range(q + 1, columns):
            triangle[WIDE * q + i] = L[at + i + q * stride]


@kernel
def substitute(
    B: FloatArray,
    padded: int,
    L: FloatArray,
    panel: int,
    stride: int,
    K: int,
    inverse: FloatArray,
    first: int,
    triangle: FloatArray,
) -> None:
    """B <- B L_11^-T."""
    b = B.ctypes.data
    for j in range(0, K, WIDE):
        w = min(WIDE, K - j)
        copy_triangle(L, panel + j + j * stride, stride, w, inverse, first + j, triangle)
        rows = L.ctypes.data + 8 * (panel + j)
        solve_columns(b + 8 * j * padded, padded, b, padded, rows, stride, padded, w, j, triangle.ctypes.data)


@kernel
def add_squares(B: FloatArray, padded: int, K: int, chosen: IntArray, count: int, V: FloatArray, W: FloatArray) -> None:
    """W <- W + B B^T at the chosen rows and columns, lower triangle in the order of `chosen`."""
    b = B.ctypes.data
    for j in range(0, count, WIDE):
        start = j // LANES * LANES
        to = V.ctypes.data + 8 * (start + j * padded)
        w = j - j + WIDE
        negate_product(to, padded, b + 8 * start, padded, b + 8 * j, padded, padded - start, w, K)
    for j in range(count):
        for a in range(j, count):
            W[chosen[a], chosen[j]] -= V[j * padded + a]


@kernel
def pass_on(
    B: FloatArray, padded: int, L: FloatArray, panel: int, stride: int, K: int, R: int, Z: FloatArray,
    rows: IntArray, start: int, chosen: IntArray, count: int, Y: FloatArray, width: int,
) -> None:  # fmt: skip
    """Y <- Y - B L_21^T at the rows of the front below its pivots."""
    below = L.ctypes.data + 8 * (panel + K)
    negate_product(Z.ctypes.data, padded, B.ctypes.data, padded, below, stride, padded, R, K)
    for i in range(R):
        y = (3 * rows[start + i // 3] + i % 3) * width
        for a in range(count):
            Y[y + chosen[a]] += Z[i * padded + a]


@kernel
def accumulate_compliance(
    indptr: IntArray, indices: IntArray, data: FloatArray, position: IntArray, member: IntArray, fronts: RecordArray,
    rows: IntArray, L: FloatArray, inverse: FloatArray, reached: BoolArray, chosen: IntArray, Y: FloatArray,
    B: FloatArray, Z: FloatArray, V: FloatArray, triangle: FloatArray, W: FloatArray,
) -> bool:  # fmt: skip
    """W <- H A^-1 H^T, H in compressed rows (caller's numbering). False if H has a column too many.

    Y must be zero, and is zero again afterwards.
    """
    m = len(indptr) - 1
    for a in range(m):
        for c in range(m):
            W[a, c] = 0.0
    if not mark_reach(indptr, indices, position, member, fronts, reached):
        return False
    scatter_rows(indptr, indices, data, position, Y, m)
    for s in range(len(fronts)):
        count = 0
        for c in range(m):
            if reached[s, c]:
                chosen[count] = c
                count += 1
        if count == 0:
            continue
        front = fronts[s]
        K = 3 * front.width
        first = 3 * front.column
        padded = (count + LANES - 1) // LANES * LANES
        take_pivots(Y, m, first, K, chosen, count, padded, B)
        substitute(B, padded, L, front.panel, front.stride, K, inverse, first, triangle)
        add_squares(B, padded, K, chosen, count, V, W)
        pass_on(B, padded, L, front.panel, front.stride, K, 3 * front.below, Z, rows, front.rows, chosen, count, Y, m)
    for a in range(m):
        for c in range(a):
            W[c, a] = W[a, c]
    return True
