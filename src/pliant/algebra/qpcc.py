"""Quadratic programs with complementarity: efforts that are sought, beside blocks of rows that are in one of several pieces.

With delta = W lambda + d over all rows, n sought efforts first and then those of the blocks (coevoet2019, eq. 6):

    min  1/2 |J lambda + e|^2 + 1/2 eps lambda^T W lambda
    s.t. low <= lambda <= high,    course_low <= delta <= course_high  of the sought,    least <= sums lambda <= most,

and every block in one of its pieces. A block of one row is held (delta = 0, low <= lambda <= high), at its low limit (lambda =
low, delta >= 0) or at its high one (lambda = high, delta <= 0): a port with a given displacement, or a contact without friction
with the limits (0, infinity). A block of three rows is a contact: open (lambda = 0, delta_n >= 0) or sticking (delta = 0,
lambda_n >= 0, and within an inscribed polygon of the cone |lambda_t| <= mu lambda_n where it has one).

Within a piece the held rows are eliminated by Cholesky, lambda_h = -W_hh^-1 (W_ha lambda_a + d_h + ...), which leaves a convex
QP in the sought efforts. The energy is that of all efforts, with its constant d_h^T W_hh^-1 d_h, so that pieces compare.

Which piece? "flips": from where one begins, the best single flip of a block, or where none is better the best pair of flips, as
long as the QP has an answer and a better value; a flip is a principal pivot on the rows of a block, no new elimination. Where
there are few blocks, the rest of the budget goes to branch and bound.
"paper": the block whose condition has the largest multiplier is flipped, again and again (coevoet2019, III-D); the best visited
counts. "exact": branch and bound; undecided blocks may be open and bear at once, which is a lower bound.

Sticking pieces do not join (lambda_n = 0 does not give lambda_t = 0), so "flips" and "paper" are local.
"""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field
from enum import Enum
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pliant.algebra._dual_qp_kernels import INFEASIBLE, OPTIMAL, WORSE
from pliant.algebra._qpcc_kernels import (
    HELD,
    HIGH,
    LOW,
    UNDECIDED,
    Pieced,
    begin,
    flip,
    follow_duals,
    solve_piece,
    worst_violation,
)
from pliant.checks import one_of, whole
from pliant.errors import InputError

Array = NDArray[np.float64]
Pieces = NDArray[np.int64]
Search = Literal["flips", "paper", "exact"]

SHARED = 1e-10
"""Share of its compliance that a row of a block is given besides, by which rows that do the same share their effort."""
FACETS = 12
"""Of the polygon in a friction cone."""
BUDGET = 400
"""QPs of one search, at most."""
FEW = 8
"""With so many blocks what flips leave of the budget goes to branch and bound."""
NEAR = 20
"""Blocks that flips are tried with: those whose conditions are closest to their ends."""
NODES = 200_000
"""Of the tree of the exact search, at most."""


class QpccStatus(Enum):
    """How a search ended."""

    LOCAL = "no flip that was tried is better"
    EXACT = "no piece is better"
    STOPPED = "the budget of QPs is spent; the best piece so far"
    INFEASIBLE = "no piece that was tried meets all limits"


@dataclass(frozen=True)
class Qpcc:
    """The data: N rows, n of them sought; B blocks whose rows follow one after the other.

    W (N, N) symmetric positive definite, d (N,); J (E, N), e (E,); low, high (N,); course (n, 2); sizes (B,): 1 or 3 rows;
    cone (B,): coefficients of friction, infinite for no cone; sums (s, N) with limits (s, 2); energy: eps over the largest
    |J_i|^2 / W_ii."""

    W: Array
    d: Array
    J: Array
    e: Array
    low: Array
    high: Array
    course: Array
    sizes: Pieces
    cone: Array
    sums: Array = field(default_factory=lambda: np.empty((0, 0)))
    limits: Array = field(default_factory=lambda: np.empty((0, 2)))
    energy: float = 1e-8
    facets: int = FACETS

    def __post_init__(self) -> None:
        """An InputError where numbers of rows do not fit."""
        rows, n = len(self.d), len(self.course)
        fits = self.W.shape == (rows, rows) and self.J.shape[1:] == (rows,) and len(self.low) == len(self.high) == rows
        if not fits or not np.isin(self.sizes, (1, 3)).all() or n + self.sizes.sum() != rows:
            raise InputError(
                f"W is {self.W.shape}, J {self.J.shape}, with {n} sought rows and blocks of {self.sizes.tolist()}",
                remedy="give the sought rows first, and then blocks of one row or of three, all in W, J, d, low and high",
            )
        if self.facets < 8:
            raise InputError(f"a cone of {self.facets} facets", remedy="give 8 or more: fewer cut off too much of it")

    def scaled(self) -> tuple[Pieced, Array]:
        """In units in which every sought row and every block has a compliance of 1 and the objective is of its largest
        response; and the scale (N,): efforts are scale times what is solved for."""
        n, N = len(self.course), len(self.W)
        first = n + np.concatenate([[0], np.cumsum(self.sizes)[:-1]]).astype(np.int64)[: len(self.sizes)]
        compliance = np.abs(np.diag(self.W)).copy()
        if len(first):
            means = np.add.reduceat(compliance, first) / self.sizes
            compliance[n:] = np.repeat(means, self.sizes)
        scale = 1.0 / np.sqrt(np.where(compliance > 0.0, compliance, 1.0))
        W = np.ascontiguousarray(scale[:, None] * (0.5 * (self.W + self.W.T)) * scale)
        W.reshape(-1)[n * (N + 1) :: N + 1] += SHARED
        J = self.J * scale
        norm = math.sqrt(max(float((J * J).sum(axis=0).max(initial=0.0)), 1e-300))
        angles = 2 * np.pi * np.arange(self.facets) / self.facets
        sums = self.sums.reshape(-1, N) * scale
        return Pieced(
            W, scale * self.d, np.ascontiguousarray(J / norm), self.e / norm, self.low / scale, self.high / scale,
            self.course * scale[:n, None], first, self.sizes.astype(np.int64), self.cone.astype(float),
            np.stack([np.cos(angles), np.sin(angles)], axis=1), np.full(self.facets, math.cos(math.pi / self.facets)), sums,
            self.limits[:, 0].copy(), self.limits[:, 1].copy(), self.energy
        ), scale  # fmt: skip


@dataclass(frozen=True)
class QpccSolution:
    """efforts (N,), the piece of each block (B,): 0 held or sticking, 1 open or at the low limit, 2 at the high one; the
    objective where it began (infinite where that piece has no answer) and in the end, in units of the largest response; QPs
    that were solved; violation: the largest of any condition, scaled; seconds it took. Not a number where it is INFEASIBLE."""

    status: QpccStatus
    efforts: Array
    pieces: Pieces
    start: float
    value: float
    qps: int
    violation: float
    seconds: float

    @property
    def ok(self) -> bool:
        """Whether there is an answer."""
        return self.status is not QpccStatus.INFEASIBLE


def beginning(problem: Qpcc, now: Array, pieces: Pieces | None = None) -> Pieces:
    """The pieces (B,) in which the blocks are with the sought efforts as they are, now (n,): the contact problem alone;
    pieces: those to begin with. Where the exchange of pieces does not end, those that it got to."""
    scaled, scale = problem.scaled()
    return _beginning(scaled, scale, now, pieces)


def _beginning(scaled: Pieced, scale: Array, now: Array, pieces: Pieces | None) -> Pieces:
    idle = np.where(np.isfinite(scaled.low[scaled.first]), LOW, HELD)
    out = (idle if pieces is None else pieces).astype(np.int64)
    efforts: Array = np.empty(len(scaled.d))
    if not begin(scaled, now / scale[: len(now)], out, efforts, 4 * len(out) + 8) and pieces is not None:
        out = idle.astype(np.int64)
        begin(scaled, now / scale[: len(now)], out, efforts, 4 * len(out) + 8)
    return out


def solve_qpcc(
    problem: Qpcc,
    now: Array,
    *,
    pieces: Pieces | None = None,
    search: Search = "flips",
    budget: int = BUDGET,
    near: int = NEAR,
) -> QpccSolution:
    """The answer, from the contact problem with the sought efforts `now` (n,) on; pieces: where that is begun. budget: of QPs;
    near: how many blocks flips are tried with."""
    clock = time.perf_counter()
    one_of(search, "search", ("flips", "paper", "exact"))
    whole(budget, "budget")
    scaled, scale = problem.scaled()
    out = _beginning(scaled, scale, now, pieces)
    efforts: Array = np.full(len(scale), np.nan)
    if search == "paper":
        start, value, count = follow_duals(scaled, out, efforts, budget)
    else:
        start, value, count = flip(scaled, out, efforts, budget, near)
    status = QpccStatus.LOCAL if count < budget else QpccStatus.STOPPED
    nodes = NODES if search == "exact" else budget - count if search == "flips" and len(out) <= FEW else 0
    if nodes > 0:
        value, more, ended = _branch(scaled, out, efforts, value, nodes)
        status, count = QpccStatus.EXACT if ended else QpccStatus.STOPPED, count + more
    if not value < math.inf:
        status, violation = QpccStatus.INFEASIBLE, math.nan
    else:
        violation = float(worst_violation(scaled, efforts, out))
    return QpccSolution(status, scale * efforts, out, start, value, count, violation, time.perf_counter() - clock)


def _branch(p: Pieced, pieces: Pieces, efforts: Array, best: float, most: int) -> tuple[float, int, bool]:
    """Branch and bound from the best that is known; pieces and efforts become those of the best. Its value, how many QPs it
    took, at most that many, and whether it came to its end."""
    blocks, count = len(pieces), 0
    found, push = np.empty_like(efforts), np.empty(blocks)
    stack: list[Pieces] = [np.full(blocks, UNDECIDED, np.int64)]
    while stack and count < most:
        node = stack.pop()
        limit = best - 1e-10 * abs(best) if best < math.inf else math.inf
        ended, value = solve_piece(p, node, limit, found, push)
        count += 1
        if ended in (INFEASIBLE, WORSE):
            continue
        undecided = np.flatnonzero(node == UNDECIDED)
        if not len(undecided):
            if ended == OPTIMAL and value < limit:
                best, pieces[:], efforts[:] = value, node, found
            continue
        place = undecided[_most_mixed(p, found, undecided)] if ended == OPTIMAL else undecided[0]
        for piece in _choices(p, place):
            child = node.copy()
            child[place] = piece
            stack.append(child)
    return best, count, not stack


def _choices(p: Pieced, block: int) -> list[int]:
    """The pieces of a block."""
    i = p.first[block]
    return [HELD, *([LOW] if np.isfinite(p.low[i]) else []), *([HIGH] if np.isfinite(p.high[i]) else [])]


def _most_mixed(p: Pieced, efforts: Array, blocks: Pieces) -> int:
    """Which of some blocks is least in one of its pieces."""
    off = p.W @ efforts + p.d
    mixed = []
    for b in blocks:
        rows = slice(p.first[b], p.first[b] + p.size[b])
        lam, i = efforts[rows], p.first[b]
        away = min(lam[0] - p.low[i], p.high[i] - lam[0])
        mixed.append(min(max(away, *np.abs(lam[1:]), 0.0), float(np.abs(off[rows]).max())))
    return int(np.argmax(mixed))
