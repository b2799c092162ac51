"""A polyline through points: its length, slope and curvature. The first `ahead` points are fixed in space, not the body's."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math

from pliant.algebra.compiled import kernel


@kernel
def polyline_length(way):
    """Sum of |way[k + 1] - way[k]|."""
    total = 0.0
    for k in range(way.shape[0] - 1):
        x, y, z = way[k + 1, 0] - way[k, 0], way[k + 1, 1] - way[k, 1], way[k + 1, 2] - way[k, 2]
        total += math.sqrt(x * x + y * y + z * z)
    return total


@kernel
def add_shortening_slope(way, ahead, out):
    """out [points, 3] += -dL/dp: each segment pulls its ends together."""
    for k in range(way.shape[0] - 1):
        length = 0.0
        for c in range(3):
            length += (way[k + 1, c] - way[k, c]) ** 2
        length = math.sqrt(length)
        for c in range(3):
            t = (way[k + 1, c] - way[k, c]) / length
            if k >= ahead:
                out[k - ahead, c] += t
            out[k + 1 - ahead, c] -= t


@kernel
def add_shortening_curvature(way, ahead, scale, own, between):
    """own [points, 3, 3], between [points - 1, 3, 3] += scale d2(-L): -(I - t t^T) / l at both ends, the opposite between."""
    for k in range(way.shape[0] - 1):
        length = 0.0
        for c in range(3):
            length += (way[k + 1, c] - way[k, c]) ** 2
        length = math.sqrt(length)
        for i in range(3):
            for j in range(3):
                t = (way[k + 1, i] - way[k, i]) * (way[k + 1, j] - way[k, j]) / (length * length)
                bend = -scale * ((1.0 if i == j else 0.0) - t) / length
                own[k + 1 - ahead, i, j] += bend
                if k >= ahead:
                    own[k - ahead, i, j] += bend
                    between[k - ahead, i, j] -= bend
