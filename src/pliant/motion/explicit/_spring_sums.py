"""Sums over springs in the order of the user: energy, and the stiffness at rest times a vector."""

from __future__ import annotations

import math
from typing import Any

from pliant.algebra.compiled import kernel
from pliant.motion.explicit._node_kernels import looked_up


@kernel
def elastic_energy(x: Any, springs: Any, k: Any, lengths: Any) -> float:
    """Sum of k (l - L)^2 / 2 [J]."""
    total = 0.0
    for s in range(springs.shape[0]):
        i, j = springs[s, 0], springs[s, 1]
        dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        stretch = math.sqrt(dx * dx + dy * dy + dz * dz) - lengths[s]
        total += 0.5 * k[s] * stretch * stretch
    return total


@kernel
def tabulated_energy(x: Any, springs: Any, k: Any, lengths: Any, strain: Any, tension: Any) -> float:
    """Sum of k L^2 times the integral of tension / (k L) over the strain from 0 [J]."""
    total = 0.0
    for s in range(springs.shape[0]):
        i, j = springs[s, 0], springs[s, 1]
        dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        end = math.sqrt(dx * dx + dy * dy + dz * dz) / lengths[s] - 1.0
        total += k[s] * lengths[s] ** 2 * area(strain, tension, end)
    return total


@kernel
def area(strain: Any, tension: Any, end: float) -> Any:
    """Integral of a table, linear between its entries and beyond, from 0 to `end`."""
    low, high, sign = (0.0, end, 1.0) if end >= 0.0 else (end, 0.0, -1.0)
    total, left, at_left = 0.0, low, looked_up(strain, tension, low)
    for e in range(strain.size):
        if low < strain[e] < high:
            total += 0.5 * (strain[e] - left) * (at_left + tension[e])
            left, at_left = strain[e], tension[e]
    total += 0.5 * (high - left) * (at_left + looked_up(strain, tension, high))
    return sign * total


@kernel
def times_stiffness(springs: Any, k: Any, direction: Any, diagonal: Any, u: Any, out: Any) -> None:
    """out = (K + D) u with K = sum of k n n^T over the springs and D = diagonal; u, out [n, 3]."""
    for i in range(u.shape[0]):
        for a in range(3):
            out[i, a] = diagonal[i] * u[i, a]
    for s in range(springs.shape[0]):
        i, j = springs[s, 0], springs[s, 1]
        a, b, c = direction[s, 0], direction[s, 1], direction[s, 2]
        t = k[s] * (a * (u[j, 0] - u[i, 0]) + b * (u[j, 1] - u[i, 1]) + c * (u[j, 2] - u[i, 2]))
        out[i, 0] -= t * a
        out[i, 1] -= t * b
        out[i, 2] -= t * c
        out[j, 0] += t * a
        out[j, 1] += t * b
        out[j, 2] += t * c
