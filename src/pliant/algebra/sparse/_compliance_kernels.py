"""W = H A^-1 H^T for a sparse H, front by front.

With A = L S L^T (in elimination order) and Y = L^-1 H^T, W = Y^T S Y: no back substitution is needed. A row of H reaches
only the fronts on the paths from its nodes to the root of the elimination tree (Gilbert 1994), so each front works on
the rows of H that reach it, and Y is kept front by front, with these rows only: it stays in the cache.
"""

from __future__ import annotations

from pliant.algebra.compiled import kernel
from pliant.algebra.sparse._dense_kernels import add_negatives, negate_product, solve_columns
from pliant.algebra.sparse._tile import LANES, WIDE
from pliant.algebra.sparse.arrays import FloatArray, IntArray, RecordArray


@kernel
def mark_reach(
    indptr: IntArray, indices: IntArray, position: IntArray, member: IntArray, fronts: RecordArray, rank: IntArray
) -> bool:
    """rank[s m + c] <- 0 where row c of m of H has an entry in the subtree of front s, else -1. False if H has a column too
    many."""
    m = len(indptr) - 1
    rank[: len(fronts) * m] = -1
    for c in range(m):
        for t in range(indptr[c], indptr[c + 1]):
            if not 0 <= indices[t] < 3 * len(position):
                return False
            s = member[position[indices[t] // 3]]
            while s >= 0 and rank[s * m + c] < 0:
                rank[s * m + c] = 0
                s = fronts[s].parent
    return True


@kernel
def lay_out(fronts: RecordArray, m: int, rank: IntArray, count: IntArray, base: IntArray) -> None:
    """Give each front a piece of Y: its pivots by the rows of H that reach it, padded to whole vectors.

    rank[s m + c] <- place of row c among those that reach front s (-1: it does not); count[s]: how many do; base[s]: where
    the piece begins, base[-1] where the last one ends.
    """
    base[0] = 0
    for s in range(len(fronts)):
        reaching = 0
        for c in range(s * m, s * m + m):
            if rank[c] >= 0:
                rank[c] = reaching
                reaching += 1
        count[s] = reaching
        base[s + 1] = base[s] + 3 * fronts[s].width * padded_to_lanes(reaching)


@kernel
def padded_to_lanes(count: int) -> int:
    """`count`, rounded up to whole vectors."""
    return (count + LANES - 1) // LANES * LANES


@kernel
def scatter_rows(
    indptr: IntArray, indices: IntArray, data: FloatArray, position: IntArray, member: IntArray, fronts: RecordArray,
    rank: IntArray, count: IntArray, base: IntArray, Y: FloatArray,
) -> None:  # fmt: skip
    """Y <- H^T, in elimination order, each entry in the piece of its front."""
    Y[: base[len(fronts)]] = 0.0
    m = len(indptr) - 1
    for c in range(m):
        for t in range(indptr[c], indptr[c + 1]):
            node = position[indices[t] // 3]
            s = member[node]
            pivot = 3 * (node - fronts[s].column) + indices[t] % 3
            Y[base[s] + pivot * padded_to_lanes(count[s]) + rank[s * m + c]] += data[t]


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
    b: int, padded: int, L: FloatArray, panel: int, stride: int, K: int, inverse: FloatArray, first: int,
    triangle: FloatArray,
) -> None:  # fmt: skip
    """B <- B L_11^-T, B at the address b."""
    for j in range(0, K, WIDE):
        w = min(WIDE, K - j)
        copy_triangle(L, panel + j + j * stride, stride, w, inverse, first + j, triangle)
        rows = L.ctypes.data + 8 * (panel + j)
        solve_columns(b + 8 * j * padded, padded, b, padded, rows, stride, padded, w, j, triangle.ctypes.data)


@kernel
def add_squares(
    b: int, padded: int, K: int, chosen: IntArray, count: int, signs: FloatArray, first: int, V: FloatArray,
    W: FloatArray,
) -> None:  # fmt: skip
    """W <- W + B S B^T at the chosen rows and columns, lower triangle in the order of `chosen`; B at the address b; signs
    from `first` on, or empty where all are positive."""
    slim = WIDE // 2
    for j in range(0, count, WIDE):
        start = j // LANES * LANES
        to = V.ctypes.data + 8 * (start + j * padded)
        columns = slim if count - j <= slim else slim + slim
        negate_product(to, padded, b + 8 * start, padded, b + 8 * j, padded, padded - start, columns, K)
    if len(signs) > 0:
        add_negatives(V.ctypes.data, padded, b, padded, b, padded, padded, count, K, signs, first)
    for j in range(count):
        for a in range(j, count):
            W[chosen[a], chosen[j]] -= V[j * padded + a]


@kernel
def below_pivots(
    b: int, padded: int, count: int, L: FloatArray, panel: int, stride: int, K: int, R: int, Z: FloatArray
) -> tuple[int, int, int]:
    """Z <- - B L_21^T; returns where it begins and the strides from one row of L_21, and one row of H, to the next.

    Vectors run along the rows of H, or, where only a few rows of H reach the front, along those of L.
    """
    if count > WIDE:
        below = L.ctypes.data + 8 * (panel + K)
        negate_product(Z.ctypes.data, padded, b, padded, below, stride, padded, R, K)
        return 0, padded, 1
    start = K // LANES * LANES
    rows = stride - start
    slim = WIDE // 2
    columns = slim if count <= slim else slim + slim
    negate_product(Z.ctypes.data, rows, L.ctypes.data + 8 * (panel + start), stride, b, padded, rows, columns, K)
    return K - start, 1, rows


@kernel
def pass_on(
    Z: FloatArray, at: int, down: int, across: int, rows: IntArray, nodes: int, start: int, member: IntArray,
    fronts: RecordArray, m: int, rank: IntArray, counts: IntArray, base: IntArray, chosen: IntArray, count: int,
    place: IntArray, Y: FloatArray,
) -> None:  # fmt: skip
    """Y <- Y + Z at the rows of the front below its pivots, which are pivots of fronts further up the tree."""
    above = -1
    padded = origin = 0
    for k in range(nodes):
        node = rows[start + k]
        if member[node] != above:
            above = member[node]
            padded = padded_to_lanes(counts[above])
            origin = base[above] - 3 * fronts[above].column * padded
            for a in range(count):
                place[a] = rank[above * m + chosen[a]]
        for i in range(3 * k, 3 * k + 3):
            y = origin + (3 * node + i - 3 * k) * padded
            z = at + i * down
            for a in range(count):
                Y[y + place[a]] += Z[z + a * across]


@kernel
def accumulate_compliance(
    indptr: IntArray, indices: IntArray, data: FloatArray, position: IntArray, member: IntArray, fronts: RecordArray,
    rows: IntArray, L: FloatArray, inverse: FloatArray, signs: FloatArray, rank: IntArray, counts: IntArray, base: IntArray,
    chosen: IntArray, place: IntArray, Y: FloatArray, Z: FloatArray, V: FloatArray, triangle: FloatArray,
    W: FloatArray,
) -> bool:  # fmt: skip
    """W <- H A^-1 H^T, H in compressed rows (caller's numbering); signs are empty where all are positive. False if H has a
    column too many."""
    m = len(indptr) - 1
    W[:] = 0.0
    if not mark_reach(indptr, indices, position, member, fronts, rank):
        return False
    lay_out(fronts, m, rank, counts, base)
    scatter_rows(indptr, indices, data, position, member, fronts, rank, counts, base, Y)
    for s in range(len(fronts)):
        count = counts[s]
        if count == 0:
            continue
        for c in range(m):
            if rank[s * m + c] >= 0:
                chosen[rank[s * m + c]] = c
        front = fronts[s]
        K, R = 3 * front.width, 3 * front.below
        padded = padded_to_lanes(count)
        b = Y.ctypes.data + 8 * base[s]
        substitute(b, padded, L, front.panel, front.stride, K, inverse, 3 * front.column, triangle)
        add_squares(b, padded, K, chosen, count, signs, 3 * front.column, V, W)
        at, down, across = below_pivots(b, padded, count, L, front.panel, front.stride, K, R, Z)
        pass_on(
            Z, at, down, across, rows, front.below, front.rows, member, fronts, m, rank, counts, base, chosen, count,
            place, Y,
        )  # fmt: skip
    for a in range(m):
        for c in range(a):
            W[c, a] = W[a, c]
    return True


@kernel
def project(
    fronts: RecordArray, rank: IntArray, counts: IntArray, base: IntArray, Y: FloatArray, z: FloatArray, out: FloatArray
) -> None:
    """out [m] <- Y^T z with the Y = L^-1 H^T that `accumulate_compliance` left: for z = S L^-1 r it is H A^-1 r."""
    m = len(out)
    out[:] = 0.0
    for s in range(len(fronts)):
        padded = padded_to_lanes(counts[s])
        first = 3 * fronts[s].column
        for c in range(m):
            if rank[s * m + c] >= 0:
                y = base[s] + rank[s * m + c]
                total = 0.0
                for j in range(3 * fronts[s].width):
                    total += Y[y + j * padded] * z[first + j]
                out[c] += total


@kernel
def add_expanded(
    fronts: RecordArray,
    rank: IntArray,
    counts: IntArray,
    base: IntArray,
    Y: FloatArray,
    efforts: FloatArray,
    z: FloatArray,
) -> None:
    """z <- z + Y efforts with the Y = L^-1 H^T that `accumulate_compliance` left: L^-1 (r + H^T efforts)."""
    m = len(efforts)
    for s in range(len(fronts)):
        padded = padded_to_lanes(counts[s])
        first = 3 * fronts[s].column
        for c in range(m):
            if rank[s * m + c] >= 0 and efforts[c] != 0.0:
                y = base[s] + rank[s * m + c]
                for j in range(3 * fronts[s].width):
                    z[first + j] += efforts[c] * Y[y + j * padded]
