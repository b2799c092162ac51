"""Compiled: the angle of joints (see `joint_motion.py` for the mathematics)."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from math import atan2

import numpy as np

from pliant.algebra.compiled import kernel


@kernel
def add_product(p, a, b, slope):
    """s = (p_1 - p_0) . (p_a - p_b) of nodes p [8, 3]; fills its slope [8, 3]."""
    s = 0.0
    slope[:] = 0.0
    for i in range(3):
        u, v = p[1, i] - p[0, i], p[a, i] - p[b, i]
        s += u * v
        slope[1, i] += v
        slope[0, i] -= v
        slope[a, i] += u
        slope[b, i] -= u
    return s


@kernel
def find_angles(frames, angles, slopes, curvatures):
    """theta = atan2(s, c) [j] of frames [j, 8, 3] with its slopes [j, 8, 3] and, where there is memory for them, its curvatures
    [j, 8, 3, 8, 3]; s and c are products of the first tip of a with the second and the first of b."""
    ds, dc = np.empty((8, 3)), np.empty((8, 3))
    for j in range(frames.shape[0]):
        s = add_product(frames[j], 6, 4, ds)
        c = add_product(frames[j], 5, 4, dc)
        N = s * s + c * c
        angles[j] = atan2(s, c)
        for n in range(8):
            for i in range(3):
                slopes[j, n, i] = (c * ds[n, i] - s * dc[n, i]) / N
        if curvatures.shape[0] == 0:
            continue
        same, mixed = 2.0 * s * c / (N * N), (s * s - c * c) / (N * N)
        for n in range(8):
            for i in range(3):
                for m in range(8):
                    for k in range(3):
                        curvatures[j, n, i, m, k] = same * (dc[n, i] * dc[m, k] - ds[n, i] * ds[m, k]) + mixed * (
                            ds[n, i] * dc[m, k] + dc[n, i] * ds[m, k]
                        )
        for i in range(3):
            for n in range(2):  # p_0 and p_1 with the ends of the other side's differences
                one = 1.0 if n == 1 else -1.0
                add_both(curvatures[j], n, i, 6, one * c / N)
                add_both(curvatures[j], n, i, 5, -one * s / N)
                add_both(curvatures[j], n, i, 4, -one * (c - s) / N)


@kernel
def add_both(curvature, n, i, m, value):
    """Add a value between nodes n and m, and the other way round."""
    curvature[n, i, m, i] += value
    curvature[m, i, n, i] += value
