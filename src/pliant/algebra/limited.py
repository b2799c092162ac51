"""Efforts that hold displacements as far as their limits let them.

    min 1/2 lambda^T P lambda + lambda^T r    subject to    low <= lambda <= high

so that P lambda + r = 0 in every row that no limit holds. With P = W and r = delta_free - d these are the efforts of motors
that hold given displacements d: a cable with low = 0 is slack where it would have to push (P lambda + r > 0), a motor at its
largest effort gives way (< 0).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.algebra._qp_kernels import INDEPENDENT
from pliant.algebra.qp import QuadraticProgram, QuadraticSolution, solve_qp

Array = NDArray[np.float64]


def limited_efforts(P: Array, r: Array, limits: Array, now: Array) -> Array:
    """The answer lambda (k,) for P (k, k), positive semidefinite, and limits (k, 2) (low, high); where there is none, `now`
    (k,) put within the limits."""
    if not (np.isfinite(P).all() and np.isfinite(r).all()):
        return now
    P, scale = scaled(P)
    q, (low, high) = scale * r, limits.T / scale
    if are_independent(P):
        y = np.linalg.solve(P, -q)
        if ((y >= low) & (y <= high)).all():
            return np.asarray(y * scale)
    # rows that do the same leave P singular; a small share of the unit matrix makes the QP one with a single answer
    solution = solve_qp(QuadraticProgram(P + 1e-9 * np.eye(len(P)), q, low, high))
    if not solution.ok:
        return np.asarray(np.clip(now, *limits.T))
    return np.asarray(np.clip(_polished(P, q, low, high, solution) * scale, *limits.T))


def scaled(P: Array) -> tuple[Array, Array]:
    """S P S with ones on its diagonal, and the diagonal of S (k,)."""
    diagonal = np.diag(P)
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    return scale[:, None] * P * scale, scale


def are_independent(P: Array) -> bool:
    """Whether no row of a scaled P does what others do, by its Cholesky factor."""
    try:
        L = np.linalg.cholesky(P)
    except np.linalg.LinAlgError:
        return False
    return bool((np.diag(L) ** 2 > INDEPENDENT).all())


def inverse_of(W: Array) -> Array:
    """W^-1, and where rows do the same the least inverse, by which they share the effort."""
    P, scale = scaled(W)
    inverse = np.linalg.inv(P) if are_independent(P) else np.linalg.pinv(P, rcond=1e-11, hermitian=True)
    return np.asarray(scale[:, None] * inverse * scale)


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
