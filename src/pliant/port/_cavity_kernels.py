"""The volume inside a wall as a cubic form of its points: V = sum_t s_t det [p_a, p_b, p_c] over triples (a, b, c)."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from pliant.algebra.compiled import kernel


@kernel
def enclosed_volume(triples, factors, p):
    """V [m^3]."""
    total = 0.0
    for t in range(triples.shape[0]):
        a, b, c = triples[t, 0], triples[t, 1], triples[t, 2]
        total += factors[t] * (
            p[a, 0] * (p[b, 1] * p[c, 2] - p[b, 2] * p[c, 1])
            + p[a, 1] * (p[b, 2] * p[c, 0] - p[b, 0] * p[c, 2])
            + p[a, 2] * (p[b, 0] * p[c, 1] - p[b, 1] * p[c, 0])
        )
    return total


@kernel
def add_volume_slope(triples, factors, p, out):
    """out [k, 3] += dV/dp: the derivative of a determinant by one column is the cross product of the others."""
    for t in range(triples.shape[0]):
        for turn in range(3):
            a, b, c = triples[t, turn], triples[t, (turn + 1) % 3], triples[t, (turn + 2) % 3]
            out[a, 0] += factors[t] * (p[b, 1] * p[c, 2] - p[b, 2] * p[c, 1])
            out[a, 1] += factors[t] * (p[b, 2] * p[c, 0] - p[b, 0] * p[c, 2])
            out[a, 2] += factors[t] * (p[b, 0] * p[c, 1] - p[b, 1] * p[c, 0])


@kernel
def add_volume_curvature(triples, factors, p, slots, signs, scale, out):
    """out [pairs, 3, 3] += scale d2V / dp_a dp_b = -scale s [p_c]; slots, signs [t, 3]: the pair of (a, b), (b, c), (c, a),
    and -1 where it is stored the other way round (the transpose of a cross matrix)."""
    for t in range(triples.shape[0]):
        for turn in range(3):
            c = triples[t, (turn + 2) % 3]
            w = scale * factors[t] * signs[t, turn]
            block = out[slots[t, turn]]
            block[0, 1] += w * p[c, 2]
            block[1, 0] -= w * p[c, 2]
            block[0, 2] -= w * p[c, 1]
            block[2, 0] += w * p[c, 1]
            block[1, 2] += w * p[c, 0]
            block[2, 1] -= w * p[c, 0]
