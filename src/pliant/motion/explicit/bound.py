"""The longest stable step: from the highest frequency that a lattice can have."""

from __future__ import annotations

import numpy as np

from pliant.motion.explicit import _spring_sums as kernels
from pliant.motion.explicit.springs import Array, Springs

REACH = {"verlet": 2.0, "semi-implicit": 2.0, "forward": 2.0, "rk4": 2.0 * np.sqrt(2.0)}
"""Largest omega h of an undamped oscillator at which the integrator is stable. Forward Euler never is: it takes Verlet's."""

ITERATIONS = 30


def highest_frequency(springs: Springs, extra: Array, steepness: Array | None = None) -> float:
    """The highest angular frequency [rad/s] about rest, to about a percent and not below.

    By Lanczos' method on M^-1/2 (K + D) M^-1/2, D = `extra` [n] [N/m] (contact, motors): the largest Ritz value plus its
    residual, or Gershgorin's bound where that is smaller: max over nodes of (2 sum of k + D) / m. steepness [m]: factor on
    the constants where a law is steeper than linear. Supports are left out; they lower frequencies only.
    """
    k = springs.constants if steepness is None else springs.constants * steepness
    ends = springs.springs
    d = springs.points[ends[:, 1]] - springs.points[ends[:, 0]]
    direction = d / np.maximum(np.linalg.norm(d, axis=1), 1e-300)[:, None]
    sums = np.bincount(ends.ravel(), np.repeat(k, 2), minlength=len(springs.points))
    crude = float(np.max((2.0 * sums + extra) / springs.masses))
    return float(np.sqrt(min(crude, _largest_eigenvalue(springs, k, direction, extra))))


def _largest_eigenvalue(springs: Springs, k: Array, direction: Array, extra: Array) -> float:
    root = 1.0 / np.sqrt(springs.masses)[:, None]
    v = np.random.default_rng(0).normal(size=springs.points.shape)
    v /= np.linalg.norm(v)
    before, product = np.zeros_like(v), np.empty_like(v)
    alpha, beta = [], [0.0]
    for _ in range(min(ITERATIONS, v.size)):
        kernels.times_stiffness(springs.springs, k, direction, extra, root * v, product)
        w = root * product - beta[-1] * before
        alpha.append(float(np.vdot(v, w)))
        w -= alpha[-1] * v
        beta.append(float(np.linalg.norm(w)))
        if beta[-1] <= 1e-12 * abs(alpha[0]):
            break
        before, v = v, w / beta[-1]
    off = np.array(beta[1 : len(alpha)])
    values, vectors = np.linalg.eigh(np.diag(alpha) + np.diag(off, 1) + np.diag(off, -1))
    return float(values[-1] + beta[-1] * abs(vectors[-1, -1]))
