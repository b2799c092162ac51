"""Efforts that hold rows within their limits, and contacts within Coulomb's cones.

With r = W lambda + b, of rows with limits (low, high): r = 0 unless a limit holds, as in `limited`; and of contacts, three rows
each, the gap r_n and the slip r_t at the end of a step:

    0 <= lambda_n,  r_n >= 0,  lambda_n r_n = 0
    |lambda_t| <= mu lambda_n,  and where there is slip, r_t = - s lambda_t, s > 0, |lambda_t| = mu lambda_n

The cone is round, and the law not associated: sliding does not open the gap. Such problems need not have an answer, nor only
one (Klarbring 1990); what is found is told by its residual. With projections on the cones (Alart and Curnier 1991)

    F_n = lambda_n - max(0, lambda_n - rho r_n),    F_t = lambda_t - P(lambda_t - rho r_t),  P on the disc of radius mu lambda_n

is zero where the conditions hold. Newton's method on F, from what held at the last step on, gets there in a step or two. Where
it does not, rows are given a compliance of their own that is large at first and then smaller and smaller: from answer to
answer, by Newton's method and, where that does not help, Gauss-Seidel contact by contact.

Where rows do the same (a rigid body on more than three points), `SHARED` of that compliance is left, by which they share their
effort. Where such rows stick, they may ask for what no motion can do: anchors that are apart by rounding, or by the square of a
small turn. No effort changes that part of r_t, so it is no part of the law: anchors are met as well as motions can, in least
squares, and gaps likewise as long as that is a matter of rounding (`NOTHING`).

All of it in units in which every plain row and every contact has a compliance of about 1: efforts are roots of energies, and
comparable.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.algebra._coulomb_kernels import (
    FREE,
    SLIDING,
    displaced,
    independent_part,
    lay_out,
    newton_system,
    project,
    spread,
    sweeps,
)
from pliant.algebra._elimination_kernels import solve_square, solve_symmetric

Array = NDArray[np.float64]
Pieces = NDArray[np.int8]

SHARED = 1e-7
"""Share of its compliance that every row is given besides where rows do the same: they share their effort by it."""
GOOD = 1e-9
"""Residual at which the search ends."""
PATHS = (
    ((1e-2, 1e-4, 1e-6), 1e-7),
    (tuple(0.6**k for k in range(31)), 3e-7),
    (tuple(0.1 * 0.43**k for k in range(16)), 3e-7),
)
"""The same on the way from an easy problem to the one that is asked, in long strides and in short ones, and the residual from
which on such a way is taken."""
WATCHED = 6
"""How many Newton steps in a row may lead to nothing better."""
LENGTHS = (0.5, 0.25, 0.1, 0.03)
"""Parts of a Newton step that are tried."""
SWEEPS, FEW, MANY = 20, 2, 4
"""Sweeps between Newton steps, twice as many in every round, and rounds at most: at first, and on the path."""
REANCHORED = 3
"""How often it is asked again which contacts stick, for their anchors."""
NOTHING = 1e-7
"""What a gap may miss, over what the largest effort does to a contact, where rows do the same."""
SAME = 1e-11
"""A row whose compliance beside the others, over its own, is below this does what they do."""


class Coulomb(NamedTuple):
    """Efforts (k,), and by how much they miss the conditions: the largest |F| over the largest effort, scaled."""

    efforts: Array
    residual: float


def coulomb_efforts(W: Array, b: Array, limits: Array, mu: Array, now: Array) -> Coulomb:
    """The answer for W (k, k), b (k,), rows with limits (p, 2) and then contacts with coefficients mu (c,), k = p + 3 c, from
    the efforts `now` (k,) on. Contacts that no effort can move are let go."""
    p, own = len(limits), np.abs(np.diag(W))
    of_contacts = own[p:].reshape(-1, 3).mean(axis=1)
    compliance = np.concatenate([own[:p], np.repeat(of_contacts, 3)])
    scale = np.exp2(np.round(-0.5 * np.log2(np.where(compliance > 0.0, compliance, 1.0))))  # without rounding
    alike = np.concatenate([own[:p], np.full(3 * len(mu), of_contacts.mean() if len(mu) else 1.0)])
    given = _Given(
        scale[:, None] * W * scale, np.where(compliance > 0.0, scale * b, 0.0), limits / scale[:p, None], mu, scale**2 * alike
    )  # fmt: skip
    found = _answer(given, now / scale)
    return Coulomb(scale * found.efforts, found.residual)


def displaced_by(W: Array, efforts: Array, b: Array) -> Array:
    """W lambda + b (k,), in this thread."""
    r = np.empty_like(efforts)
    displaced(W, efforts, b, r)
    return r


def within_cones(efforts: Array, limits: Array, mu: Array) -> Array:
    """Efforts (k,) put within limits (p, 2) and, three each, within the cones of contacts (c,): the normal, then the disc."""
    out, pieces = np.empty_like(efforts), np.empty(len(efforts), np.int8)
    project(efforts, limits, mu, out, pieces)
    return out


def _answer(given: _Given, now: Array) -> Coulomb:
    """The same for rows with compliances of about 1."""
    problem = _Problem(given, 0.0)
    best = problem.newton(problem.within(now))
    if best.residual <= GOOD and not problem.has_doubles:
        return best
    doubles = problem.has_doubles or _independent(given.W).shape[1] < len(now)
    least, search = (SHARED, _Problem.on_from) if doubles else (0.0, _Problem.searched)
    best = search(_Problem(given, least), now, FEW)
    for path, enough in PATHS:
        if best.residual <= enough:
            break
        efforts = now
        for share in (*path, least):
            found = search(_Problem(given, share), efforts, MANY)
            efforts = found.efforts
        best = min(best, found, key=lambda one: one.residual)
    return best


class _Given(NamedTuple):
    """W (k, k), b (k,), limits (p, 2) and friction (c,), scaled, and a compliance of each row's own that is the same for all
    contacts, (k,)."""

    W: Array
    b: Array
    limits: Array
    mu: Array
    own: Array


class _Judged(NamedTuple):
    """Efforts (k,), their residual, r (k,), y = lambda - rho r (k,), F (k,), and the pieces of the projection (k,)."""

    efforts: Array
    residual: float
    r: Array
    y: Array
    missing: Array
    pieces: Pieces


class _Problem:
    """With a share of the rows' own compliances besides."""

    def __init__(self, given: _Given, share: float) -> None:
        self._given, self.b, self.limits, self.mu, self.plain = (
            given,
            given.b,
            given.limits,
            given.mu,
            len(given.limits),
        )
        self.W = given.W.copy()
        self.W.reshape(-1)[:: len(self.W) + 1] += share * given.own
        own = np.diag(self.W)
        self.rho = 1.0 / np.where(own > 0.0, own, 1.0)
        contacts = self.rho[self.plain :].reshape(-1, 3)
        contacts[:, 1:] = contacts[:, 1:].min(axis=1, keepdims=True)  # one for both tangents: a disc stays a disc
        self.has_doubles = False
        """Whether a Newton step met rows that do the same."""

    def within(self, efforts: Array) -> Array:
        """Efforts put within limits and cones."""
        return within_cones(efforts, self.limits, self.mu)

    def _projected(self, y: Array) -> tuple[Array, Pieces]:
        """The projection of y (k,), and what it does to each row (k,)."""
        out, pieces = np.empty_like(y), np.empty(len(y), np.int8)
        project(y, self.limits, self.mu, out, pieces)
        return out, pieces

    def on_from(self, efforts: Array, rounds: int) -> Coulomb:
        """Found from some efforts on, with anchors that motions can meet, of the contacts that stick in the end; with so many
        rounds of Gauss-Seidel at most."""
        holds = self._holding(efforts)
        for _ in range(REANCHORED):
            self.b = self._reachable(holds, NOTHING * float(np.abs(efforts).max(initial=0.0)))
            found = self.searched(efforts, rounds)
            efforts, before, holds = found.efforts, holds, self._holding(found.efforts)
            if found.residual > GOOD or (holds == before).all():
                break
        return found

    def _holding(self, efforts: Array) -> NDArray[np.bool_]:
        """Rows of contacts that the efforts hold (k,): normals that bear, and tangents that stick."""
        holds, first = np.zeros(len(efforts), bool), self.plain
        n, *t = efforts[first:].reshape(-1, 3).T
        holds[first::3] = n > 0.0
        holds[first + 1 :: 3] = holds[first + 2 :: 3] = np.hypot(*t) < (1.0 - 1e-9) * self.mu * n
        return holds

    def _reachable(self, holds: NDArray[np.bool_], nothing: float) -> Array:
        """b (k,) without what no motion can undo in rows that are held (k,); of gaps no more than counts as nothing."""
        rows = np.flatnonzero(holds)
        if not len(rows):
            return self._given.b
        L = _independent(self._given.W[np.ix_(rows, rows)])
        if L.shape[1] == len(rows):
            return self._given.b
        Q = np.linalg.qr(L)[0]
        missed = self._given.b[rows] - Q @ (Q.T @ self._given.b[rows])
        gaps = (rows - self.plain) % 3 == 0
        missed[gaps] = np.clip(missed[gaps], -nothing, nothing)
        out: Array = self._given.b.copy()
        out[rows] -= missed
        return out

    def searched(self, efforts: Array, rounds: int) -> Coulomb:
        """By Newton's method, and rounds of Gauss-Seidel and Newton where that is not enough."""
        best = self.newton(self.within(efforts))
        for count in range(rounds):
            if best.residual <= GOOD:
                break
            best = min(best, self.newton(self._swept(best.efforts, SWEEPS << count)), key=lambda one: one.residual)
        return best

    def newton(self, efforts: Array) -> Coulomb:
        """The best that Newton steps lead to: of a whole step and parts of it the longest that is better, else the whole."""
        here = best = self._judged(efforts)
        waited = 0
        while best.residual > GOOD and waited <= WATCHED:
            step = self._newton_step(here)
            if step is None:
                break
            tried = [self._judged(self.within(here.efforts + step))]
            for length in LENGTHS:
                if tried[-1].residual < 0.9 * here.residual:
                    break
                tried.append(self._judged(self.within(here.efforts + length * step)))
            here = tried[-1] if tried[-1].residual < 0.9 * here.residual else tried[0]
            waited = 0 if here.residual < 0.9 * best.residual else waited + 1
            best = min(best, here, key=lambda one: one.residual)
        return Coulomb(best.efforts, best.residual)

    def _judged(self, efforts: Array) -> _Judged:
        """Efforts with their residual."""
        r = self._displaced(efforts)
        y = efforts - self.rho * r
        projected, pieces = self._projected(y)
        missing = efforts - projected
        largest = max(float(np.abs(efforts).max(initial=0.0)), 1e-300)
        return _Judged(efforts, float(np.abs(missing).max(initial=0.0)) / largest, r, y, missing, pieces)

    def _newton_step(self, here: _Judged) -> Array | None:
        """The zero of F linearized, with the pieces of the projection as they are; None where there is none."""
        efforts, _, r, y, missing, pieces = here
        most = len(y)
        step = np.where(pieces == FREE, 0.0, -missing)
        rows = np.empty((most, 2), np.int64), np.empty((most, 2))
        columns = np.empty((most, 3), np.int64), np.empty((most, 3))
        extra, right = np.empty(most), np.empty(most)
        count = lay_out(y, efforts, self.rho, self.mu, pieces, step, rows, columns, extra, right)
        J = np.empty((count, count + 1))
        system = self.W, r, step, rows, columns, extra, right, J
        pivot = 0.0
        if not (pieces == SLIDING).any():
            newton_system(*system)
            pivot = solve_symmetric(J)
        if not pivot:  # it slides, or W is indefinite
            newton_system(*system)
            pivot = solve_square(J)
        if pivot < SAME:
            self.has_doubles = True
            return None
        spread(J[:, count], columns, step)
        return step if np.isfinite(step).all() else None

    def _swept(self, efforts: Array, count: int) -> Array:
        """After so many sweeps of Gauss-Seidel."""
        out: Array = efforts.copy()
        sweeps(self.W, self._displaced(out), out, self.limits, self.mu, count)
        return out

    def _displaced(self, efforts: Array) -> Array:
        return displaced_by(self.W, efforts, self.b)


def _independent(W: Array) -> Array:
    """L (k, r) with W = L L^T (k, k) but for rounding: r of the rows are independent."""
    L = np.empty_like(W)
    return L[:, : independent_part(W, SAME, L)]
