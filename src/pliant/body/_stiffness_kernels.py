"""The stiffness of every pair of nodes of tet elements at one integration point, K_ab += w grad N_a . C . grad N_b.

Where all of C is made of a rotation (the corotational law, and the warped tangent of every law) it is never written down.
With y_a = R grad N_a and [y] the matrix of the cross product,

    K_ab += w (k y_a y_b^T + 2 mu (y_a . y_b) I + [y_a] G [y_b]^T)

G: the corotational law's resistance against turning times k theta - 2 mu; for R K0 R^T simply - mu I, since
[y_a] [y_b]^T = (y_a . y_b) I - y_b y_a^T.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from pliant.algebra.compiled import inlined, kernel
from pliant.body._tet_rows import BACK, BULK, CONTRACTED, FORE, GRADIENTS, PAIRS, WEIGHT, bring, take
from pliant.material._lanes import LANES, PARAMETERS, SCALE, C, G, R
from pliant.material._polar_kernels import resist_turning, rotate
from pliant.material._respond_kernels import COROTATIONAL, LINEAR


@kernel
def add_stiffness(count, k, factor, work):
    """K_ab += factor w grad N_a . C . grad N_b for all pairs a >= b.

    For four nodes every row is a literal; for ten, gradients are first brought to rows whose place is known.
    """
    count = min(count, LANES)
    if k == 4:
        _contract(count, factor, work, GRADIENTS)
        _add_pair(count, work, GRADIENTS, PAIRS)
        _add_pair(count, work, GRADIENTS + 3, PAIRS + 9)
        _add_pair(count, work, GRADIENTS + 6, PAIRS + 27)
        _add_pair(count, work, GRADIENTS + 9, PAIRS + 54)
        _contract(count, factor, work, GRADIENTS + 3)
        _add_pair(count, work, GRADIENTS + 3, PAIRS + 18)
        _add_pair(count, work, GRADIENTS + 6, PAIRS + 36)
        _add_pair(count, work, GRADIENTS + 9, PAIRS + 63)
        _contract(count, factor, work, GRADIENTS + 6)
        _add_pair(count, work, GRADIENTS + 6, PAIRS + 45)
        _add_pair(count, work, GRADIENTS + 9, PAIRS + 72)
        _contract(count, factor, work, GRADIENTS + 9)
        _add_pair(count, work, GRADIENTS + 9, PAIRS + 81)
        return
    for b in range(k):
        bring(count, GRADIENTS + 3 * b, work, BACK)
        _contract(count, factor, work, BACK)
        for a in range(b, k):
            bring(count, GRADIENTS + 3 * a, work, FORE)
            _add_pair_at(count, work, work[(PAIRS + 9 * (a * (a + 1) // 2 + b)) * LANES :])


@inlined
def _contract(count, factor, work, gradient):
    """CONTRACTED = factor w C . g for the gradient g in these rows: sum_n C_ijmn g_n."""
    _contract_rows(count, factor, work, gradient, 0)
    _contract_rows(count, factor, work, gradient, 1)
    _contract_rows(count, factor, work, gradient, 2)


@inlined
def _contract_rows(count, factor, work, gradient, i):
    """The rows (i, .) of `_contract`."""
    for l in range(count):
        w = factor * work[WEIGHT * LANES + l]
        x, y = w * work[gradient * LANES + l], w * work[(gradient + 1) * LANES + l]
        z = w * work[(gradient + 2) * LANES + l]
        for j in range(3):
            for m in range(3):
                work[(CONTRACTED + 9 * i + 3 * j + m) * LANES + l] = (
                    work[(C + 27 * i + 9 * j + 3 * m) * LANES + l] * x
                    + work[(C + 27 * i + 9 * j + 3 * m + 1) * LANES + l] * y
                    + work[(C + 27 * i + 9 * j + 3 * m + 2) * LANES + l] * z
                )


@inlined
def _add_pair(count, work, gradient, pair):
    """K_ab += g . CONTRACTED for the gradient g and the pair in these rows."""
    for l in range(count):
        x, y = work[gradient * LANES + l], work[(gradient + 1) * LANES + l]
        z = work[(gradient + 2) * LANES + l]
        for i in range(3):
            for m in range(3):
                work[(pair + 3 * i + m) * LANES + l] += (
                    work[(CONTRACTED + 9 * i + m) * LANES + l] * x
                    + work[(CONTRACTED + 9 * i + 3 + m) * LANES + l] * y
                    + work[(CONTRACTED + 9 * i + 6 + m) * LANES + l] * z
                )


@kernel
def _add_pair_at(count, work, pair):
    """As `_add_pair` for the gradient in FORE, to a pair whose place the compiler does not know."""
    count = min(count, LANES)
    for l in range(count):
        x, y, z = work[FORE * LANES + l], work[(FORE + 1) * LANES + l], work[(FORE + 2) * LANES + l]
        for i in range(3):
            for m in range(3):
                pair[(3 * i + m) * LANES + l] += (
                    work[(CONTRACTED + 9 * i + m) * LANES + l] * x
                    + work[(CONTRACTED + 9 * i + 3 + m) * LANES + l] * y
                    + work[(CONTRACTED + 9 * i + 6 + m) * LANES + l] * z
                )


@kernel
def find_rotation(law, count, work):
    """Fill R: of the linear law, whose frame does not turn, and of those that have not done so themselves."""
    count = min(count, LANES)
    if law == LINEAR:
        for l in range(count):
            for t in range(9):
                work[(R + t) * LANES + l] = 1.0 if t % 4 == 0 else 0.0
    elif law != COROTATIONAL:
        rotate(work, count)


@kernel
def turn_gradients(count, k, work):
    """GRADIENTS <- y_a = R grad N_a."""
    count = min(count, LANES)
    for a in range(k):
        bring(count, GRADIENTS + 3 * a, work, BACK)
        for l in range(count):
            x, y, z = work[BACK * LANES + l], work[(BACK + 1) * LANES + l], work[(BACK + 2) * LANES + l]
            for i in range(3):
                work[(FORE + i) * LANES + l] = (
                    work[(R + 3 * i) * LANES + l] * x
                    + work[(R + 3 * i + 1) * LANES + l] * y
                    + work[(R + 3 * i + 2) * LANES + l] * z
                )
        take(count, FORE, work, GRADIENTS + 3 * a)


@kernel
def resist_as_law(count, work):
    """What makes `add_turned_stiffness` give the corotational law's own tangent; it has left the scale of G itself."""
    count = min(count, LANES)
    resist_turning(work, count)
    for l in range(count):
        work[BULK * LANES + l] = work[(PARAMETERS + 2) * LANES + l]


@kernel
def resist_as_hooke(count, work):
    """What makes `add_turned_stiffness` give R K0 R^T."""
    count = min(count, LANES)
    for l in range(count):
        for t in range(9):
            work[(G + t) * LANES + l] = 1.0 if t % 4 == 0 else 0.0
        work[SCALE * LANES + l] = -work[(PARAMETERS + 1) * LANES + l]
        work[BULK * LANES + l] = work[PARAMETERS * LANES + l]


@kernel
def add_turned_stiffness(count, k, factor, work):
    """K_ab += factor w (k y_a y_b^T + 2 mu (y_a . y_b) I + scale [y_a] G [y_b]^T) for all pairs a >= b."""
    count = min(count, LANES)
    if k == 4:
        _contract_turned(count, factor, work, GRADIENTS)
        _add_turned_pair(count, work, GRADIENTS, PAIRS)
        _add_turned_pair(count, work, GRADIENTS + 3, PAIRS + 9)
        _add_turned_pair(count, work, GRADIENTS + 6, PAIRS + 27)
        _add_turned_pair(count, work, GRADIENTS + 9, PAIRS + 54)
        _contract_turned(count, factor, work, GRADIENTS + 3)
        _add_turned_pair(count, work, GRADIENTS + 3, PAIRS + 18)
        _add_turned_pair(count, work, GRADIENTS + 6, PAIRS + 36)
        _add_turned_pair(count, work, GRADIENTS + 9, PAIRS + 63)
        _contract_turned(count, factor, work, GRADIENTS + 6)
        _add_turned_pair(count, work, GRADIENTS + 6, PAIRS + 45)
        _add_turned_pair(count, work, GRADIENTS + 9, PAIRS + 72)
        _contract_turned(count, factor, work, GRADIENTS + 9)
        _add_turned_pair(count, work, GRADIENTS + 9, PAIRS + 81)
        return
    for b in range(k):
        bring(count, GRADIENTS + 3 * b, work, BACK)
        _contract_turned(count, factor, work, BACK)
        for a in range(b, k):
            bring(count, GRADIENTS + 3 * a, work, FORE)
            _add_turned_pair_at(count, work, work[(PAIRS + 9 * (a * (a + 1) // 2 + b)) * LANES :])


@inlined
def _contract_turned(count, factor, work, gradient):
    """CONTRACTED = scale factor w G [y]^T (9 rows), k factor w y (3) and 2 mu factor w y (3) for the y in these rows."""
    for l in range(count):
        w = factor * work[WEIGHT * LANES + l]
        s, k = w * work[SCALE * LANES + l], w * work[BULK * LANES + l]
        m = 2.0 * w * work[(PARAMETERS + 1) * LANES + l]
        x, y = work[gradient * LANES + l], work[(gradient + 1) * LANES + l]
        z = work[(gradient + 2) * LANES + l]
        for i in range(3):
            g0, g1 = s * work[(G + 3 * i) * LANES + l], s * work[(G + 3 * i + 1) * LANES + l]
            g2 = s * work[(G + 3 * i + 2) * LANES + l]
            work[(CONTRACTED + 3 * i) * LANES + l] = g2 * y - g1 * z
            work[(CONTRACTED + 3 * i + 1) * LANES + l] = g0 * z - g2 * x
            work[(CONTRACTED + 3 * i + 2) * LANES + l] = g1 * x - g0 * y
        work[(CONTRACTED + 9) * LANES + l], work[(CONTRACTED + 10) * LANES + l] = k * x, k * y
        work[(CONTRACTED + 11) * LANES + l], work[(CONTRACTED + 12) * LANES + l] = k * z, m * x
        work[(CONTRACTED + 13) * LANES + l], work[(CONTRACTED + 14) * LANES + l] = m * y, m * z


@inlined
def _turned_pair(work, gradient, l):
    """The nine entries of the pair of CONTRACTED with the y in these rows, in lane l."""
    x, y, z = work[gradient * LANES + l], work[(gradient + 1) * LANES + l], work[(gradient + 2) * LANES + l]
    n0, n1, n2 = work[CONTRACTED * LANES + l], work[(CONTRACTED + 1) * LANES + l], work[(CONTRACTED + 2) * LANES + l]
    n3, n4 = work[(CONTRACTED + 3) * LANES + l], work[(CONTRACTED + 4) * LANES + l]
    n5, n6 = work[(CONTRACTED + 5) * LANES + l], work[(CONTRACTED + 6) * LANES + l]
    n7, n8 = work[(CONTRACTED + 7) * LANES + l], work[(CONTRACTED + 8) * LANES + l]
    kx, ky = work[(CONTRACTED + 9) * LANES + l], work[(CONTRACTED + 10) * LANES + l]
    kz = work[(CONTRACTED + 11) * LANES + l]
    dot = x * work[(CONTRACTED + 12) * LANES + l] + y * work[(CONTRACTED + 13) * LANES + l]
    dot += z * work[(CONTRACTED + 14) * LANES + l]
    return (
        dot + x * kx + y * n6 - z * n3, x * ky + y * n7 - z * n4, x * kz + y * n8 - z * n5,
        y * kx + z * n0 - x * n6, dot + y * ky + z * n1 - x * n7, y * kz + z * n2 - x * n8,
        z * kx + x * n3 - y * n0, z * ky + x * n4 - y * n1, dot + z * kz + x * n5 - y * n2,
    )  # fmt: skip


@inlined
def _add_turned_pair(count, work, gradient, pair):
    """K_ab += the pair of CONTRACTED with the y in these rows."""
    for l in range(count):
        k = _turned_pair(work, gradient, l)
        for t in range(9):
            work[(pair + t) * LANES + l] += k[t]


@kernel
def _add_turned_pair_at(count, work, pair):
    """As `_add_turned_pair` for the y in FORE, to a pair whose place the compiler does not know."""
    count = min(count, LANES)
    for l in range(count):
        k = _turned_pair(work, FORE, l)
        for t in range(9):
            pair[t * LANES + l] += k[t]
