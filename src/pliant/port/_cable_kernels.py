"""A polyline through points of a body, after those that it comes from in space (pull, none or one): its length, slope and
curvature."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math

import numpy as np

from pliant.algebra.compiled import kernel
from pliant.port._chain_kernels import carry, spread, spread_curvature


@kernel
def _segment(pull, p, k):
    """Vector and length of segment k."""
    ahead = pull.shape[0]
    a = pull[k] if k < ahead else p[k - ahead]
    b = p[k + 1 - ahead]
    x, y, z = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    return (x, y, z), math.sqrt(x * x + y * y + z * z)


@kernel
def polyline_length(pull, p):
    """Sum of the lengths of the segments."""
    total = 0.0
    for k in range(pull.shape[0] + p.shape[0] - 1):
        total += _segment(pull, p, k)[1]
    return total


@kernel
def add_shortening_slope(pull, p, out):
    """out [points, 3] += -dL/dp: each segment pulls its ends together."""
    ahead = pull.shape[0]
    for k in range(ahead + p.shape[0] - 1):
        way, length = _segment(pull, p, k)
        for c in range(3):
            t = way[c] / length
            if k >= ahead:
                out[k - ahead, c] += t
            out[k + 1 - ahead, c] -= t


@kernel
def add_shortening_curvature(pull, p, scale, own, between):
    """own [points, 3, 3], between [points - 1, 3, 3] += scale d2(-L): -(I - t t^T) / l at both ends, the opposite between."""
    ahead = pull.shape[0]
    for k in range(ahead + p.shape[0] - 1):
        way, length = _segment(pull, p, k)
        for i in range(3):
            for j in range(3):
                t = way[i] * way[j] / (length * length)
                bend = -scale * ((1.0 if i == j else 0.0) - t) / length
                own[k + 1 - ahead, i, j] += bend
                if k >= ahead:
                    own[k - ahead, i, j] += bend
                    between[k - ahead, i, j] -= bend


@kernel
def place_cable(begin, nodes, weights, slots, pull, rest_length, x, p, delta, slopes):
    """All of a cable with the nodes at x: its points p [k, 3], delta [1] and H on the entry nodes, slopes [1, e, 3]."""
    carry(begin, nodes, weights, x, p)
    delta[0] = rest_length - polyline_length(pull, p)
    own = np.zeros((1, p.shape[0], 3))
    add_shortening_slope(pull, p, own[0])
    slopes[:] = 0.0
    spread(begin, slots, weights, own, slopes)


@kernel
def curve_cable(pairs, slots, weights, pull, p, scale, out):
    """out [b, 3, 3] <- scale d2 delta on the pairs of nodes."""
    count = p.shape[0]
    blocks = np.zeros((2 * count - 1, 3, 3))
    add_shortening_curvature(pull, p, scale, blocks[:count], blocks[count:])
    out[:] = 0.0
    spread_curvature(pairs, slots, weights, blocks, out)
