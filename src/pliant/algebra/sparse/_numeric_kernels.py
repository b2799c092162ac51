"""Multifrontal signed Cholesky (Duff and Reid 1983): one dense front per supernode, children before parents.

The front of a supernode with pivots 1 and further rows 2 gathers the blocks of A that start in its columns and the
update matrices of its children ("extend-add"), then

    L_11 S L_11^T = F_11,     L_21 = F_21 L_11^-T S,     U = F_22 - L_21 S L_21^T

S = +-1 are the signs of the pivots, which are taken as they come: by Sylvester's law A has as many negative eigenvalues as
S. Where all are positive this is Cholesky's factorization, at its cost; products are made without signs, and those of the
few negative pivots added twice afterwards.

(L_11; L_21) is a panel of the factor; U is the update that its parent gathers. Because F_22 consists of updates of
children only, U is first *written* as - L_21 S L_21^T and the children are added afterwards: it is never zeroed.
"""

# mypy: disable-error-code=no-any-return
from __future__ import annotations

from pliant.algebra.compiled import kernel
from pliant.algebra.sparse._dense_kernels import (
    BLOCK,
    SMALL_PANEL,
    add_negatives,
    factor_panel,
    negate_product,
    packed_product,
)
from pliant.algebra.sparse._move import add_rectangle
from pliant.algebra.sparse._solve_kernels import forward_front
from pliant.algebra.sparse._tile import LANES, WIDE
from pliant.algebra.sparse.arrays import FloatArray, IntArray, RecordArray


@kernel
def scatter_blocks(
    L: FloatArray,
    panel: int,
    stride: int,
    start: int,
    flipped: int,
    end: int,
    source: IntArray,
    place: IntArray,
    values: FloatArray,
) -> None:
    """Add the blocks start ... end to a panel, those from `flipped` on transposed."""
    for t in range(start, flipped):
        B = values[source[t]]
        o = panel + place[t]
        L[o] += B[0, 0]
        L[o + 1] += B[1, 0]
        L[o + 2] += B[2, 0]
        o += stride
        L[o] += B[0, 1]
        L[o + 1] += B[1, 1]
        L[o + 2] += B[2, 1]
        o += stride
        L[o] += B[0, 2]
        L[o + 1] += B[1, 2]
        L[o + 2] += B[2, 2]
    for t in range(flipped, end):
        B = values[source[t]]
        o = panel + place[t]
        L[o] += B[0, 0]
        L[o + 1] += B[0, 1]
        L[o + 2] += B[0, 2]
        o += stride
        L[o] += B[1, 0]
        L[o + 1] += B[1, 1]
        L[o + 2] += B[1, 2]
        o += stride
        L[o] += B[2, 0]
        L[o + 1] += B[2, 1]
        L[o + 2] += B[2, 2]


@kernel
def extend_add(
    to: int, stride: int, source: int, source_stride: int, runs: IntArray, begin: int, end: int, last: int
) -> None:
    """Add the columns of the runs begin ... end of a child's update, lower triangle, to its parent.

    A run (from, to, length) is a range of rows of the child that are neighbours in the parent as well. `to` and
    `source` are the addresses of entry (0, 0) of parent and child; the runs of the child end at `last`.
    """
    for q in range(begin, end):
        column = runs[q, 0]
        column_to = runs[q, 1]
        length = runs[q, 2]
        a = source + 8 * column * source_stride
        c = to + 8 * column_to * stride
        for d in range(0, length, 3):
            three = length - length + 3
            add_rectangle(
                c + 8 * (column_to + d + d * stride), stride, a + 8 * (column + d + d * source_stride), source_stride,
                length - d, three,
            )  # fmt: skip
        for p in range(q + 1, last):
            add_rectangle(c + 8 * runs[p, 1], stride, a + 8 * runs[p, 0], source_stride, runs[p, 2], length)


@kernel
def eliminate_pivots(
    L: FloatArray,
    panel: int,
    stride: int,
    K: int,
    inverse: FloatArray,
    signs: FloatArray,
    first: int,
    triangle: FloatArray,
    buffer: FloatArray,
    report: FloatArray,
) -> int:
    """L_11 and L_21 of one front in place; returns -1 or the first column with a bad pivot.

    A large panel is halved recursively: factor the left half, update the right half by it, factor that. Unrolled: after
    block number n, the last 2^p blocks update the next 2^p, with 2^p the largest power of two that divides n.
    """
    if K * stride <= SMALL_PANEL:
        return factor_panel(L, panel, stride, K - K, K, triangle, inverse, signs, first, report)
    for j in range(0, K, BLOCK):
        w = min(BLOCK, K - j)
        bad = factor_panel(L, panel + j * stride, stride, j, w, triangle, inverse, signs, first + j, report)
        if bad >= 0:
            return j + bad
        done = j + w
        piece = (done // BLOCK & -(done // BLOCK)) * BLOCK
        if done < K:
            start = done // LANES * LANES
            if report[5] != 0.0:
                base = L.ctypes.data + 8 * panel
                left = base + 8 * (done - piece) * stride
                add_negatives(
                    base + 8 * (start + done * stride), stride, left + 8 * start, stride, left + 8 * done, stride,
                    stride - start, min(piece, K - done), piece, signs, first + done - piece,
                )  # fmt: skip
            packed_product(
                L, panel + start + done * stride, stride, L, panel + start + (done - piece) * stride, stride,
                L, panel + done + (done - piece) * stride, stride,
                stride - start, min(piece, K - done), piece, done - start, w - w, buffer,
            )  # fmt: skip
    return -1


@kernel
def write_update(
    U: FloatArray,
    update: int,
    ustride: int,
    shift: int,
    L: FloatArray,
    panel: int,
    stride: int,
    K: int,
    R: int,
    buffer: FloatArray,
) -> None:
    """U <- - L_21 L_21^T, lower triangle; row i of the front is row i - shift of U."""
    if K * stride <= SMALL_PANEL:
        base = L.ctypes.data + 8 * panel
        for j in range(0, R, WIDE):
            w = min(WIDE, R - j)
            start = (K + j) // LANES * LANES
            to = U.ctypes.data + 8 * (update + start - shift + j * ustride)
            negate_product(to, ustride, base + 8 * start, stride, base + 8 * (K + j), stride, stride - start, w, K)
    else:
        one = K // K
        packed_product(
            U, update, ustride, L, panel + shift, stride, L, panel + K, stride,
            stride - shift, R, K, K - shift, one, buffer,
        )  # fmt: skip


@kernel
def factor_fronts(
    task: IntArray,
    fronts: RecordArray,
    runs: IntArray,
    block_source: IntArray,
    block_place: IntArray,
    values: FloatArray,
    L: FloatArray,
    U: FloatArray,
    inverse: FloatArray,
    signs: FloatArray,
    work: FloatArray,
    report: FloatArray,
    b: FloatArray,
    order: IntArray,
    rows: IntArray,
    X: FloatArray,
    Z: FloatArray,
) -> None:
    """Factor the fronts listed in `task` (children before parents), and take b (3 n,), where it is not empty, along:
    X[0] += b and X[0] <- L^-1 X[0] in their columns, in elimination order, while each panel is at hand.

    report [6] = column of the first bad pivot or -1; largest ratio of a diagonal entry of A to its pivot, and its column;
    count of negative pivots, and the column of the first; whether the front at hand has one. Columns are scalar ones of the
    elimination order.
    """
    triangle = work[: WIDE * WIDE + 4]
    buffer = work[WIDE * WIDE + 4 :]
    report[0] = -1.0
    report[1] = 0.0
    report[2] = -1.0
    report[3] = 0.0
    report[4] = -1.0
    for s in task:
        front = fronts[s]
        K = 3 * front.width
        R = 3 * front.below
        stride = front.stride
        panel = front.panel
        first = 3 * front.column
        for i in range(panel, panel + K * stride):
            L[i] = 0.0
        scatter_blocks(
            L, panel, stride, front.blocks, front.flipped, front.blocks_end, block_source, block_place, values
        )
        for j in range(K):  # kept until the pivots are known
            inverse[first + j] = L[panel + j * stride + j]
        c = s - 1
        while c >= front.first:
            child = fronts[c]
            update = U.ctypes.data + 8 * (child.update + child.offset)
            to = L.ctypes.data + 8 * panel
            extend_add(to, stride, update, child.update_stride, runs, child.runs, child.runs_split, child.runs_end)
            c = child.first - 1
        report[5] = 0.0
        bad = eliminate_pivots(L, panel, stride, K, inverse, signs, first, triangle, buffer, report)
        if bad >= 0:
            report[0] = first + bad
            return
        if len(b):
            for j in range(front.width):
                i = 3 * order[front.column + j]
                for d in range(3):
                    X[0, first + 3 * j + d] += b[i + d]
            forward_front(s, fronts, rows, L, inverse, X, Z, X.shape[0])
        if R == 0:
            continue
        write_update(U, front.update, front.update_stride, front.shift, L, panel, stride, K, R, buffer)
        if report[5] != 0.0:
            base = L.ctypes.data + 8 * panel
            add_negatives(
                U.ctypes.data + 8 * front.update, front.update_stride, base + 8 * front.shift, stride,
                base + 8 * K, stride, stride - front.shift, R, K, signs, first,
            )  # fmt: skip
        to = U.ctypes.data + 8 * (front.update - front.shift - K * front.update_stride)
        c = s - 1
        while c >= front.first:
            child = fronts[c]
            update = U.ctypes.data + 8 * (child.update + child.offset)
            extend_add(
                to,
                front.update_stride,
                update,
                child.update_stride,
                runs,
                child.runs_split,
                child.runs_end,
                child.runs_end,
            )
            c = child.first - 1
