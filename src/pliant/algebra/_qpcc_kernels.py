"""Pieces of a QP with complementarity: elimination of what is held, the QP of a piece, and the search among pieces."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from pliant.algebra._dual_qp_kernels import FAILED, OPTIMAL, WORSE, backward, dual_qp, forward, lowest
from pliant.algebra.compiled import kernel

HELD, LOW, HIGH, IDLE, SOUGHT = 0, 1, 2, 3, 4
"""What a row is in a piece: held at 0 by its effort; its effort at the low limit (and its displacement above 0) or at the high
one (below 0); without an effort; or a variable of the QP."""
UNDECIDED = -1
"""A block both of whose pieces are allowed at once, without the rule that excludes one or the other: a lower bound."""
BETTER = 1e-9
"""Share of the objective by which a piece has to be better to be taken."""


class Pieced(NamedTuple):
    """A scaled problem (see `qpcc`): rows are n sought efforts and then those of the blocks, N in all.

    W [N, N], d [N]; J [E, N], e [E]: weighted effectors; low, high [N]: of efforts; course [n, 2]: of displacements of the
    sought; first, size [B]: rows of the blocks; cone [B]: coefficients, infinite for none; facets [F, 2]: directions, with
    inner [F]: the share of the radius that is inside; sums [s, N], least, most [s]; eps: weight of the energy.
    """

    W: Any
    d: Any
    J: Any
    e: Any
    low: Any
    high: Any
    course: Any
    first: Any
    size: Any
    cone: Any
    facets: Any
    inner: Any
    sums: Any
    least: Any
    most: Any
    eps: Any


@kernel
def rows_of(p, pieces, codes, given):
    """What every row is in a piece [N], and the efforts of those that are given [N]."""
    n = p.course.shape[0]
    given[:] = 0.0
    for i in range(n):
        codes[i] = SOUGHT
    for b in range(p.first.shape[0]):
        _rows_of_block(p, b, pieces[b], codes, given)


@kernel
def _rows_of_block(p, b, piece, codes, given):
    for k in range(p.size[b]):
        i = p.first[b] + k
        code = SOUGHT if piece == UNDECIDED else piece
        if k > 0 and piece > 0:
            code = IDLE
        codes[i] = code
        given[i] = p.low[i] if code == LOW else p.high[i] if code == HIGH else 0.0


@kernel
def eliminate(p, codes, given, whole, held, L, V, C, r):
    """What each row does in the variables x of a piece: C [N + E, n] x + r [N + E]: displacements of the rows that are not
    held, efforts of those that are, and the errors of the effectors; of rows without an effort only where it is to be whole.
    held [N]: the numbers of the held rows, L: the Cholesky factor of W over them, V [N + E, N]: what their efforts do to all;
    returns how many they are, or -1 where some do the same."""
    N, E = p.W.shape[0], p.e.shape[0]
    h, n = 0, 0
    sought = np.empty(N, np.int64)
    for i in range(N):
        if codes[i] == HELD:
            held[h] = i
            h += 1
        elif codes[i] == SOUGHT:
            sought[n] = i
            n += 1
    if not factor_rows(p.W, held, h, L):
        return -1
    X = np.empty((n + 1, h))
    for k in range(h):
        i = held[k]
        for j in range(n):
            X[j, k] = p.W[i, sought[j]]
        X[n, k] = p.d[i]
    given_count = 0
    for f in range(N):
        if given[f] != 0.0:
            given_count += 1
            for k in range(h):
                X[n, k] += p.W[held[k], f] * given[f]
    for j in range(n + 1):
        forward(L, X[j], h)
        backward(L, X[j], h)
    for k in range(h):
        for j in range(n):
            C[held[k], j] = -X[j, k]
        r[held[k]] = -X[n, k]
    for i in range(N + E):
        if i < N and (codes[i] == HELD or (codes[i] == IDLE and not whole)):
            continue
        row = p.W[i] if i < N else p.J[i - N]
        own = V[i]
        for k in range(h):
            own[k] = row[held[k]]
        r[i] = (p.d[i] if i < N else p.e[i - N]) - _dot(own, X[n], h)
        if given_count:
            for f in range(N):
                if given[f] != 0.0:
                    r[i] += row[f] * given[f]
        for j in range(n):
            C[i, j] = row[sought[j]] - _dot(own, X[j], h)
    return h


@kernel
def _dot(a, b, count):
    """Of the first entries."""
    total = 0.0
    for k in range(count):
        total += a[k] * b[k]
    return total


@kernel
def factor_rows(W, held, h, L):
    """L L^T = W over held rows; False where it is not positive definite."""
    for a in range(h):
        for b in range(a + 1):
            total = W[held[a], held[b]]
            for k in range(b):
                total -= L[a, k] * L[b, k]
            if b < a:
                L[a, b] = total / L[b, b]
            elif total > 1e-13:
                L[a, a] = math.sqrt(total)
            else:
                return False
    return True


@kernel
def fill_objective(p, codes, given, C, r, P, q):
    """The objective of a piece: P [n, n], q [n]; returns its constant."""
    N, E, n = p.W.shape[0], p.e.shape[0], q.shape[0]
    P[:], q[:], constant, half = 0.0, 0.0, 0.0, 0.5 * p.eps
    for i in range(N, N + E):
        constant += 0.5 * r[i] * r[i]
        for a in range(n):
            q[a] += C[i, a] * r[i]
            for b in range(a + 1):
                P[a, b] += C[i, a] * C[i, b]
    k = 0
    for i in range(N):
        if codes[i] == SOUGHT:
            for b in range(k + 1):
                P[k, b] += half * C[i, b]
            for b in range(k, n):
                P[b, k] += half * C[i, b]
            q[k] += half * (r[i] - p.d[i])
            k += 1
        elif codes[i] == HELD:
            constant -= half * p.d[i] * r[i]
            for a in range(n):
                q[a] -= half * p.d[i] * C[i, a]
        elif given[i] != 0.0:
            constant += half * given[i] * (r[i] - p.d[i])
            for a in range(n):
                q[a] += half * given[i] * C[i, a]
    for a in range(n):
        for b in range(a):
            P[b, a] = P[a, b]
    return constant


@kernel
def fill_rows(p, codes, given, C, r, G, low, high, owner):
    """Rows of the QP of a piece, their bounds and to which block each belongs (-1: to none): limits of efforts and
    displacements, what a piece asks of its blocks, cones and sums; returns how many they are."""
    N, m, n = p.W.shape[0], 0, G.shape[1]
    k = 0
    for i in range(N):
        if codes[i] != SOUGHT:
            continue
        if p.low[i] > -math.inf or p.high[i] < math.inf:
            G[m] = 0.0
            G[m, k], low[m], high[m], owner[m] = 1.0, p.low[i], p.high[i], -1
            m += 1
        k += 1
        if i < p.course.shape[0] and (p.course[i, 0] > -math.inf or p.course[i, 1] < math.inf):
            G[m], low[m], high[m], owner[m] = C[i, :n], p.course[i, 0] - r[i], p.course[i, 1] - r[i], -1
            m += 1
    for b in range(p.first.shape[0]):
        i = p.first[b]
        code = codes[i]
        if code == HELD and (p.low[i] > -math.inf or p.high[i] < math.inf):
            G[m], low[m], high[m], owner[m] = C[i, :n], p.low[i] - r[i], p.high[i] - r[i], b
            m += 1
        elif code == LOW or (code == SOUGHT and p.size[b] > 1) or (code == SOUGHT and p.high[i] == math.inf):
            G[m], low[m], high[m], owner[m] = C[i, :n], -r[i], math.inf, b
            m += 1
        elif code == HIGH:
            G[m], low[m], high[m], owner[m] = C[i, :n], -math.inf, -r[i], b
            m += 1
        if p.cone[b] < math.inf and code == HELD and p.size[b] > 1:
            for f in range(p.facets.shape[0]):
                u, v, w = p.facets[f, 0], p.facets[f, 1], p.cone[b] * p.inner[f]
                for a in range(n):
                    G[m, a] = u * C[i + 1, a] + v * C[i + 2, a] - w * C[i, a]
                low[m], high[m], owner[m] = -math.inf, w * r[i] - u * r[i + 1] - v * r[i + 2], -1
                m += 1
    return _fill_sums(p, codes, given, C, r, G, low, high, owner, m)


@kernel
def _fill_sums(p, codes, given, C, r, G, low, high, owner, m):
    N, n = p.W.shape[0], G.shape[1]
    for s in range(p.sums.shape[0]):
        G[m] = 0.0
        offset, k = 0.0, 0
        for i in range(N):
            share = p.sums[s, i]
            if share != 0.0:
                if codes[i] == HELD:
                    offset += share * r[i]
                    for a in range(n):
                        G[m, a] += share * C[i, a]
                elif codes[i] == SOUGHT:
                    G[m, k] += share
                else:
                    offset += share * given[i]
            k += codes[i] == SOUGHT
        low[m], high[m], owner[m] = p.least[s] - offset, p.most[s] - offset, -1
        m += 1
    return m


@kernel
def room_for(p, n):
    """Memory for the QP of a piece with n variables: P, q, G, low, high, y, owner."""
    cones = 0
    for b in range(p.cone.shape[0]):
        cones += p.cone[b] < math.inf
    rows = 2 * p.W.shape[0] + p.first.shape[0] + cones * p.facets.shape[0] + p.sums.shape[0]
    return (
        np.empty((n, n)), np.empty(n), np.empty((rows, n)), np.empty(rows), np.empty(rows), np.empty(rows),
        np.empty(rows, np.int64)
    )  # fmt: skip


@kernel
def solve_piece(p, pieces, most, efforts, push):
    """The QP of one piece from the beginning: how it ended and the value of the objective; efforts [N] of all rows, and push
    [B]: how hard each block's own condition holds the answer back. Blocks may be undecided."""
    N, E = p.W.shape[0], p.e.shape[0]
    codes, given, held = np.empty(N, np.int64), np.empty(N), np.empty(N, np.int64)
    rows_of(p, pieces, codes, given)
    n = 0
    for i in range(N):
        n += codes[i] == SOUGHT
    C, r, L, V = np.empty((N + E, n)), np.empty(N + E), np.empty((N, N)), np.empty((N + E, N))
    if eliminate(p, codes, given, False, held, L, V, C, r) < 0:
        return FAILED, math.inf
    x = np.empty(n)
    ended, value = _solve_filled(p, codes, given, C, r, most, x, push, room_for(p, n))
    if ended == OPTIMAL:
        spread(codes, given, C, r, x, efforts)
    return ended, value


@kernel
def _solve_filled(p, codes, given, C, r, most, x, push, room):
    """The QP of a piece whose rows are known."""
    P, q, G, low, high, y, owner = room
    constant = fill_objective(p, codes, given, C, r, P, q)
    if most < math.inf and lowest(P, q, x) + constant > most:
        return WORSE, math.inf
    m = fill_rows(p, codes, given, C, r, G, low, high, owner)
    ended, value = dual_qp(P, q, G, low, high, m, most - constant, x, y)
    push[:] = 0.0
    if ended == OPTIMAL:
        for i in range(m):
            if owner[i] >= 0:
                push[owner[i]] = abs(y[i])
    return ended, value + constant


@kernel
def spread(codes, given, C, r, x, efforts):
    """The efforts of all rows [N] for the variables x of a piece."""
    k = 0
    for i in range(efforts.shape[0]):
        if codes[i] == SOUGHT:
            efforts[i] = x[k]
            k += 1
        elif codes[i] == HELD:
            total = r[i]
            for j in range(x.shape[0]):
                total += C[i, j] * x[j]
            efforts[i] = total
        else:
            efforts[i] = given[i]


@kernel
def begin(p, now, pieces, efforts, attempts):
    """The contact problem with the sought efforts as they are, now [n]: pieces [B] from those that are given on, by exchange of
    all that are in the wrong and, where that goes in circles, of the one that is most so; whether it came to an end."""
    N, n, B = p.W.shape[0], now.shape[0], p.first.shape[0]
    codes, given, held = np.empty(N, np.int64), np.empty(N), np.empty(N, np.int64)
    L, x = np.empty((N, N)), np.empty(N)
    fewest, patience = B + 1, 3
    for _ in range(attempts):
        rows_of(p, pieces, codes, given)
        h = 0
        for i in range(n, N):
            if codes[i] == HELD:
                held[h] = i
                h += 1
        if not factor_rows(p.W, held, h, L):
            return False
        for i in range(n):
            given[i] = now[i]
        for k in range(h):
            total = -p.d[held[k]]
            for f in range(N):
                if given[f] != 0.0:
                    total -= p.W[held[k], f] * given[f]
            x[k] = total
        forward(L, x, h)
        backward(L, x, h)
        for i in range(N):
            efforts[i] = given[i]
        for k in range(h):
            efforts[held[k]] = x[k]
        worst, place, wrong = VAGUE, -1, 0
        for b in range(B):
            by, _other = _in_the_wrong(p, b, pieces[b], efforts)
            if by > VAGUE:
                wrong += 1
            if by > worst:
                worst, place = by, b
        if place < 0:
            return True
        patience = 3 if wrong < fewest else patience - 1
        fewest = min(fewest, wrong)
        for b in range(B):
            by, other = _in_the_wrong(p, b, pieces[b], efforts)
            if by > VAGUE and (patience > 0 or b == place):
                pieces[b] = other
    return False


VAGUE = 1e-11
"""By how much a condition is missed that counts where it is only asked where to begin."""


@kernel
def _in_the_wrong(p, b, piece, efforts):
    """By how much the condition of a block is missed, and the piece that it should be in then."""
    i = p.first[b]
    if piece == HELD:
        below, above = p.low[i] - efforts[i], efforts[i] - p.high[i]
        return (below, LOW) if below > above else (above, HIGH)
    off = p.d[i]
    for j in range(efforts.shape[0]):
        off += p.W[i, j] * efforts[j]
    return (-off, HELD) if piece == LOW else (off, HELD)


@kernel
def follow_duals(p, pieces, efforts, budget):
    """The paper's rule: pivot the block whose condition holds the answer back most, again and again, until none does, a piece
    comes again or has no answer. pieces [B] and efforts [N] become those of the best that was visited; the value at the start
    and at the end, and how many QPs that took."""
    B, N = p.first.shape[0], p.W.shape[0]
    here, push, found = pieces.copy(), np.empty(B), np.empty(N)
    start, best, count = math.inf, math.inf, 0
    seen = np.empty((budget, B), np.int64)
    while count < budget:
        again = False
        for k in range(count):
            same = True
            for b in range(B):
                same = same and seen[k, b] == here[b]
            again = again or same
        if again:
            break
        seen[count] = here
        ended, value = solve_piece(p, here, math.inf, found, push)
        count += 1
        if count == 1:
            start = value
        if ended != OPTIMAL:
            break
        if value < best:
            best = value
            pieces[:] = here
            efforts[:] = found
        place, hardest = -1, 1e-9
        for b in range(B):
            if push[b] > hardest:
                place, hardest = b, push[b]
        if place < 0:
            break
        i = p.first[place]
        if here[place] != HELD:
            here[place] = HELD
        else:
            is_low = p.high[i] == math.inf or found[i] - p.low[i] < p.high[i] - found[i]
            here[place] = LOW if is_low else HIGH
    return start, best, count


@kernel
def flip(p, pieces, efforts, budget, near):
    """Single flips of blocks, and where none is better pair flips, each taken only if its QP has an answer and a better value:
    the best of a round. Tried are the `near` blocks whose conditions are closest to their ends. pieces and efforts become
    those of the answer; the value at the start and at the end, and how many QPs that took."""
    N, E, n, B = p.W.shape[0], p.e.shape[0], p.course.shape[0], p.first.shape[0]
    codes, given, held = np.empty(N, np.int64), np.empty(N), np.empty(N, np.int64)
    C, r, L, V = np.empty((N + E, n)), np.empty(N + E), np.empty((N, N)), np.empty((N + E, N))
    D, s, room = np.empty((N + E, n)), np.empty(N + E), room_for(p, n)
    others, values = np.empty(N, np.int64), np.empty(N)
    x, push = np.empty(n), np.empty(B)
    near = min(near, B)
    T, known, order = np.empty((near, 3, N + E)), np.empty(near, np.bool_), np.empty(B, np.int64)
    start, value, count = math.inf, math.inf, 0
    pair = np.empty(2, np.int64)
    to = np.empty(2, np.int64)
    best_to = np.empty(2, np.int64)
    best_pair = np.empty(2, np.int64)
    best_many, fresh, last = 0, True, pieces.copy()
    while count < budget:
        rows_of(p, pieces, codes, given)
        h = eliminate(p, codes, given, True, held, L, V, C, r)
        ended, found = FAILED, math.inf
        if h >= 0:
            ended, found = _solve_filled(p, codes, given, C, r, math.inf, x, push, room)
        count += 1
        if not fresh and not (ended == OPTIMAL and found < value):  # better by rounding only
            pieces[:] = last
            break
        if ended == OPTIMAL:
            value = found
            spread(codes, given, C, r, x, efforts)
        if fresh:
            start, fresh = value, False
        if h < 0 or near == 0:
            break
        last[:] = pieces
        _sort_by_closeness(p, codes, C, r, x if ended == OPTIMAL else np.zeros(n), push, order)
        known[:] = False
        better = math.inf
        for many in range(1, 3):
            for a in range(near):
                for b in range(a + 1 if many == 2 else near - 1, near):
                    pair[0], pair[1] = order[a], order[b]
                    for way in range(1 << many):
                        if not _other_pieces(p, pieces, pair, many, way, to) or count >= budget - 1:
                            continue
                        for k in range(many):
                            place = a if k == 0 else b
                            if not known[place]:
                                _columns(p, pair[k], codes, held, h, L, V, T[place])
                                known[place] = True
                        count += 1
                        if not _flipped(p, pair, to, many, codes, given, C, r, T[a], T[b], D, s, others, values):
                            continue
                        limit = min(better, value - BETTER * abs(value)) if value < math.inf else better
                        ended, found = _solve_filled(p, others, values, D, s, limit, x, push, room)
                        if ended == OPTIMAL and found < limit:
                            better = found
                            best_pair[:], best_to[:] = pair, to
                            best_many = many
            if better < math.inf:
                break
        if better == math.inf:
            break
        for k in range(best_many):
            pieces[best_pair[k]] = best_to[k]
    return start, value, count


@kernel
def _other_pieces(p, pieces, pair, many, way, to):
    """Where the blocks of a pair go in one of the ways that there are; False for a way that is none."""
    for k in range(many):
        b = pair[k]
        i, second = p.first[b], (way >> k) & 1
        if pieces[b] != HELD:
            to[k] = HELD
            if second:
                return False
        else:
            to[k] = HIGH if second else LOW
            if (p.low[i] if to[k] == LOW else -p.high[i]) == -math.inf:
                return False
    return True


@kernel
def _sort_by_closeness(p, codes, C, r, x, push, order):
    """Numbers of the blocks [B], those first whose conditions hold the answer back, then by how far they are from doing so."""
    B = order.shape[0]
    far = np.empty(B)
    for b in range(B):
        i, value = p.first[b], 0.0
        for j in range(x.shape[0]):
            value += C[i, j] * x[j]
        value += r[i]
        if codes[i] == HELD:
            far[b] = min(value - p.low[i], p.high[i] - value)
        else:
            far[b] = abs(value)
        if push[b] > 0.0:
            far[b] = -push[b]
    order[:] = np.argsort(far)


@kernel
def _columns(p, b, codes, held, h, L, V, T):
    """How all rows and effectors change with what is given of a block's own: its displacements where it is held, else its
    efforts; T [3, N + E]."""
    N, E = p.W.shape[0], p.e.shape[0]
    y = np.empty(h)
    for c in range(p.size[b]):
        j = p.first[b] + c
        is_held = codes[j] == HELD
        for k in range(h):
            y[k] = (1.0 if held[k] == j else 0.0) if is_held else -p.W[held[k], j]
        forward(L, y, h)
        backward(L, y, h)
        for i in range(N + E):
            if i < N and codes[i] == HELD:
                continue
            T[c, i] = _dot(V[i], y, h)
            if not is_held:
                T[c, i] += p.W[i, j] if i < N else p.J[i - N, j]
        for k in range(h):
            T[c, held[k]] = y[k]


@kernel
def _flipped(p, pair, to, many, codes, given, C, r, T, U, D, s, others, values):
    """C and r after one or two blocks have changed their pieces, by a principal pivot on their rows: D, s, and what rows are
    then; False where that has no answer."""
    n, count = C.shape[1], 0
    rows, old = np.empty(6, np.int64), np.empty(6)
    others[:], values[:] = codes, given
    for k in range(many):
        _rows_of_block(p, pair[k], to[k], others, values)
        for c in range(p.size[pair[k]]):
            rows[count] = p.first[pair[k]] + c
            old[count] = given[rows[count]]
            count += 1
    split = p.size[pair[0]]
    M = np.empty((count, count + n + 1))
    for a in range(count):
        i, known = rows[a], r[rows[a]]
        for b in range(count):
            M[a, b] = T[b, i] if b < split else U[b - split, i]
            known -= M[a, b] * old[b]
        for j in range(n):
            M[a, count + j] = -C[i, j]
        M[a, count + n] = values[i] - known if others[i] != HELD else -known
    if not _solve_many(M):
        return False
    for i in range(C.shape[0]):
        if i < others.shape[0] and others[i] == IDLE:
            continue
        for j in range(n):
            D[i, j] = C[i, j]
        s[i] = r[i]
        for b in range(count):
            share = T[b, i] if b < split else U[b - split, i]
            for j in range(n):
                D[i, j] += share * M[b, count + j]
            s[i] += share * (M[b, count + n] - old[b])
    for b in range(count):
        for j in range(n):
            D[rows[b], j] = M[b, count + j]
        s[rows[b]] = M[b, count + n]
    return True


@kernel
def _solve_many(M):
    """M [m, m + k]: the right sides become the answers, by elimination with pivots; False where M is singular."""
    m, width = M.shape
    for k in range(m):
        best = k
        for i in range(k + 1, m):
            if abs(M[i, k]) > abs(M[best, k]):
                best = i
        if not abs(M[best, k]) > 1e-12:
            return False
        if best != k:
            for j in range(width):
                M[k, j], M[best, j] = M[best, j], M[k, j]
        for i in range(m):
            if i != k:
                share = M[i, k] / M[k, k]
                for j in range(k, width):
                    M[i, j] -= share * M[k, j]
    for i in range(m):
        for j in range(m, width):
            M[i, j] /= M[i, i]
    return True


@kernel
def worst_violation(p, efforts, pieces):
    """The largest violation of a condition by the efforts of all rows [N] in some pieces [B], in scaled units."""
    N, n = efforts.shape[0], p.course.shape[0]
    off, worst = p.d.copy(), 0.0
    for i in range(N):
        for j in range(N):
            off[i] += p.W[i, j] * efforts[j]
        worst = max(worst, p.low[i] - efforts[i], efforts[i] - p.high[i])
        if i < n:
            worst = max(worst, p.course[i, 0] - off[i], off[i] - p.course[i, 1])
    for b in range(pieces.shape[0]):
        i = p.first[b]
        for k in range(p.size[b]):
            if pieces[b] == HELD:
                worst = max(worst, abs(off[i + k]))
            elif k > 0:
                worst = max(worst, abs(efforts[i + k]))
        if pieces[b] != HELD:
            worst = max(worst, -off[i] if pieces[b] == LOW else off[i])
            worst = max(worst, abs(efforts[i] - (p.low[i] if pieces[b] == LOW else p.high[i])))
        elif p.size[b] > 1 and p.cone[b] < math.inf:
            for f in range(p.facets.shape[0]):
                across = p.facets[f, 0] * efforts[i + 1] + p.facets[f, 1] * efforts[i + 2]
                worst = max(worst, across - p.cone[b] * p.inner[f] * efforts[i])
    for s in range(p.sums.shape[0]):
        total = 0.0
        for j in range(N):
            total += p.sums[s, j] * efforts[j]
        worst = max(worst, p.least[s] - total, total - p.most[s])
    return worst
