"""Efforts that hold displacements as far as their limits let them.

    min 1/2 lambda^T P lambda + lambda^T r    subject to    low <= lambda <= high

so that P lambda + r = 0 in every row that no limit holds. With P = W and r = delta_free - d these are the efforts of motors
that hold given displacements d: a cable with low = 0 is slack where it would have to push (P lambda + r > 0), a motor at its
largest effort gives way (< 0).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.qp import QuadraticProgram, QuadraticSolution, solve_qp

Array = NDArray[np.float64]


def limited_efforts(P: Array, r: Array, limits: Array, now: Array) -> Array:
    """The answer lambda [k] for P [k, k], positive semidefinite, and limits [k, 2] (low, high); where there is none, `now` [k]
    put within the limits."""
    if not (np.isfinite(P).all() and np.isfinite(r).all()):
        return now
    diagonal = np.diag(P)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    P = scale[:, None] * P * scale
    low, high = limits.T / scale
    # rows that do the same leave P singular; a small share of the unit matrix makes the QP one with a single answer
    solution = solve_qp(QuadraticProgram(P + 1e-9 * np.eye(len(P)), scale * r, low, high))
    if not solution.ok:
        return np.asarray(np.clip(now, *limits.T))
    return np.asarray(np.clip(_polished(P, scale * r, low, high, solution) * scale, *limits.T))


def _polished(P: Array, q: Array, low: Array, high: Array, solution: QuadraticSolution) -> Array:
    """The answer of the QP without the share of the unit matrix: rows that no limit holds solve P y = -q, least in norm."""
    push = solution.multipliers[: len(q)]
    free = push == 0.0
    if not free.any():
        return solution.x
    exact = np.where(push > 0.0, high, np.where(push < 0.0, low, 0.0))
    rest = q[free] + P[np.ix_(free, ~free)] @ exact[~free]
    exact[free] = np.linalg.lstsq(P[np.ix_(free, free)], -rest, rcond=1e-11)[0]
    return exact if ((exact >= low) & (exact <= high)).all() else solution.x
