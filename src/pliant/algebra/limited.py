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


NEGATIVE = 1e-9
"""How far below zero an eigenvalue of rows scaled to compliance 1 is more than rounding."""


def limited_efforts(P: Array, r: Array, limits: Array, now: Array) -> Array:
    """The answer lambda (k,) for P (k, k) and limits (k, 2) (low, high); where there is none, `now` (k,) put within the limits.

    Where P is not positive semidefinite (past a limit point) the answer is no minimum, but it holds the same rows: P lambda +
    r = 0 where no limit holds, and its sign at the others.
    """
    if not (np.isfinite(P).all() and np.isfinite(r).all()):
        return now
    P, scale = scaled(P)
    q, (low, high) = scale * r, limits.T / scale
    if are_independent(P):
        y = np.linalg.solve(P, -q)
        if ((y >= low) & (y <= high)).all():
            return np.asarray(y * scale)
    elif np.linalg.eigvalsh(P)[0] < -NEGATIVE:
        held = _complementary(P, q, low, high, now / scale)
        return np.asarray(np.clip(now if held is None else held * scale, *limits.T))
    # rows that do the same leave P singular; a small share of the unit matrix makes the QP one with a single answer
    solution = solve_qp(QuadraticProgram(P + 1e-9 * np.eye(len(P)), q, low, high))
    if not solution.ok:
        return np.asarray(np.clip(now, *limits.T))
    return np.asarray(np.clip(_polished(P, q, low, high, solution) * scale, *limits.T))


def _complementary(P: Array, q: Array, low: Array, high: Array, now: Array) -> Array | None:
    """y within its limits with P y + q = 0 in the rows that no limit holds, by exchanging rows from those that hold `now`;
    None where no exchange comes to an end."""
    y = np.clip(now, low, high)
    off = P @ y + q
    held = ((y > low) & (y < high)) | ((y <= low) & (off < 0.0)) | ((y >= high) & (off > 0.0))
    seen: set[bytes] = set()
    for _ in range(4 * len(y) + 8):
        rows = held.tobytes() + y[~held].tobytes()
        if rows in seen:  # the exchange goes in a circle
            return None
        seen.add(rows)
        inner = P[np.ix_(held, held)]
        rest = q[held] + P[np.ix_(held, ~held)] @ y[~held]
        y[held] = np.linalg.lstsq(inner, -rest, rcond=INDEPENDENT)[0]
        beyond = (y < low) | (y > high)
        if beyond.any():
            y = np.clip(y, low, high)
            held = held & ~beyond
            continue
        off = P @ y + q
        back = ~held & (((y <= low) & (off < -1e-12)) | ((y >= high) & (off > 1e-12)))
        if not back.any():
            return y
        held = held | back
    return None


def scaled(P: Array) -> tuple[Array, Array]:
    """S P S with ones (or minus ones) on its diagonal, and the diagonal of S (k,)."""
    diagonal = np.abs(np.diag(P))
    scale = 1.0 / np.sqrt(np.where(diagonal > 0.0, diagonal, 1.0))
    return scale[:, None] * P * scale, scale


def count_negatives(P: Array) -> int:
    """Negative eigenvalues of P (k, k); rows that do the same have some that are zero but for rounding."""
    return int((np.linalg.eigvalsh(scaled(P)[0]) < -NEGATIVE).sum())


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
