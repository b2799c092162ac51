"""Efforts that hold rows within their limits, and contacts within Coulomb's cones.

With r = W lambda + b, of rows with limits (low, high): r = 0 unless a limit holds, as in `limited`; and of contacts, three rows
each, the gap r_n and the slip r_t at the end of a step:

    0 <= lambda_n,  r_n >= 0,  lambda_n r_n = 0
    |lambda_t| <= mu lambda_n,  and where there is slip, r_t = - s lambda_t, s > 0, |lambda_t| = mu lambda_n

The cone is round, and the law not associated: sliding does not open the gap. Such problems need not have an answer, nor only
one (Klarbring 1990); what is found is told by its residual. With projections on the cones (Alart and Curnier 1991)

    F_n = lambda_n - max(0, lambda_n - rho r_n),    F_t = lambda_t - P(lambda_t - rho r_t),  P on the disc of radius mu lambda_n

is zero where the conditions hold: Newton's method on F, from what held at the last step on, and where that does not help
Gauss-Seidel contact by contact, which takes many sweeps and nearly always arrives.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.algebra._coulomb_kernels import sweep

Array = NDArray[np.float64]

SHARED = 1e-7
"""Share of the mean compliance that is added to the diagonal of W: rows that do the same share their effort by it."""
GOOD = 1e-9
"""Residual, over the largest effort, at which the search ends."""
ENOUGH = 1e-7
"""Where it does not get there in two rounds, and this will do."""
NEWTONS, SWEEPS, ROUNDS = 12, 20, 12
"""Newton steps at most between sweeps, sweeps between Newton steps, and how often."""


class Coulomb(NamedTuple):
    """Efforts (k,), and by how much they miss the conditions: the largest |F| over the largest effort."""

    efforts: Array
    residual: float


def coulomb_efforts(W: Array, b: Array, limits: Array, mu: Array, now: Array) -> Coulomb:
    """The answer for W (k, k), b (k,), rows with limits (p, 2) and then contacts with coefficients mu (c,), k = p + 3 c, from
    the efforts `now` (k,) on."""
    problem = _Problem(W, b, limits, mu)
    best = problem.judged(problem.within(now))
    for count in range(ROUNDS):
        best = problem.newton(best)
        if best.residual <= (GOOD if count < 2 else ENOUGH):
            break
        best = problem.swept(best, SWEEPS << min(count, 4))
    return best


class _Problem:
    """Scaled so that every row has compliance 1."""

    def __init__(self, W: Array, b: Array, limits: Array, mu: Array) -> None:
        own = np.abs(np.diag(W))
        shared = own + SHARED * own.mean() if len(own) else own
        self.W = W + np.diag(shared - own)
        self.b, self.limits, self.mu, self.plain = b, limits, mu, len(limits)
        rho = 1.0 / np.where(shared > 0.0, shared, 1.0)
        contacts = rho[self.plain :].reshape(-1, 3)
        contacts[:, 1:] = contacts[:, 1:].min(axis=1, keepdims=True)  # one for both tangents: a disc stays a disc
        self.rho = rho

    def within(self, efforts: Array) -> Array:
        """Efforts put within limits and cones."""
        return self._projected(efforts)[0]

    def _projected(self, y: Array) -> tuple[Array, NDArray[np.bool_], NDArray[np.bool_]]:
        """The projection of y (k,), which rows it leaves as they are, (k,), and which contacts slide, (c,)."""
        p = self.plain
        out = y.copy()
        np.clip(y[:p], self.limits[:, 0], self.limits[:, 1], out=out[:p])
        contacts = out[p:].reshape(-1, 3)
        touching = contacts[:, 0] > 0.0
        contacts[~touching] = 0.0
        length, most = np.linalg.norm(contacts[:, 1:], axis=1), self.mu * contacts[:, 0]
        slides = touching & (length > most)
        contacts[slides, 1:] *= (most[slides] / length[slides])[:, None]
        free = np.concatenate([out[:p] == y[:p], np.repeat(touching, 3)])
        return out, free, slides

    def judged(self, efforts: Array) -> Coulomb:
        """Efforts with their residual."""
        F = self._missing(efforts)[0]
        return Coulomb(
            efforts, float(np.abs(F).max(initial=0.0)) / max(float(np.abs(efforts).max(initial=0.0)), 1e-300)
        )

    def _missing(self, efforts: Array) -> tuple[Array, Array, NDArray[np.bool_], NDArray[np.bool_]]:
        """F (k,), y = lambda - rho r (k,), and what the projection of y says (`_projected`). The disc is that of the projected
        normal effort."""
        y = efforts - self.rho * (self.W @ efforts + self.b)
        projected, free, slides = self._projected(y)
        return efforts - projected, y, free, slides

    def newton(self, best: Coulomb) -> Coulomb:
        """Newton steps from the best efforts so far, as long as they are better; the whole step or parts of it."""
        for _ in range(NEWTONS):
            if best.residual <= GOOD:
                break
            step = self._newton_step(best.efforts)
            if step is None:
                break
            for share in (1.0, 0.5, 0.25):
                tried = self.judged(best.efforts + share * step)
                if tried.residual < 0.9 * best.residual:
                    break
            else:
                break
            best = tried
        return best

    def _newton_step(self, efforts: Array) -> Array | None:
        """The zero of F linearized, with the pieces of the projection as they are."""
        F, y, free, slides = self._missing(efforts)
        rows = np.flatnonzero(free)
        out = -F
        if not len(rows):
            return out
        # rows that the projection leaves alone: rho r = 0; the others go to where it puts them
        J = self.rho[rows, None] * self.W[np.ix_(rows, rows)]
        right = -self.rho[rows] * (self.W[rows] @ (efforts + np.where(free, 0.0, out)) + self.b[rows])
        place = np.full(len(efforts), -1)
        place[rows] = np.arange(len(rows))
        slopes, t = self._slopes_of_sliding(np.flatnonzero(slides), y)
        J[place[t]] = slopes[:, rows]
        right[place[t]] = -F[t] - slopes @ np.where(free, 0.0, out)
        try:
            solved = np.linalg.solve(J, right)
        except np.linalg.LinAlgError:
            return None
        out[rows] = solved
        return out if np.isfinite(out).all() else None

    def _slopes_of_sliding(self, contacts: NDArray[np.integer], y: Array) -> tuple[Array, NDArray[np.integer]]:
        """d F_t / d lambda (2 s, k) of contacts that slide, F_t = lambda_t - mu y_n e with y = lambda - rho r, e = y_t / |y_t|,
        and which rows these are (2 s,)."""
        n = self.plain + 3 * contacts
        t = n[:, None] + [1, 2]
        length = np.linalg.norm(y[t], axis=1)
        e, mu, unit = y[t] / length[:, None], self.mu[contacts], np.eye(2)
        across = (mu * y[n] / length)[:, None, None] * (unit - e[:, :, None] * e[:, None, :])
        # d F_t = d lambda_t - mu e d y_n - across d y_t,  d y = d lambda - rho W d lambda
        pushed = mu[:, None] * e
        slopes = pushed[:, :, None] * (self.rho[n, None] * self.W[n])[:, None] + across @ (
            self.rho[t, None] * self.W[t]
        )
        each = np.arange(len(n))
        slopes[each, :, n] -= pushed
        slopes[each[:, None, None], [[[0], [1]]], t[:, None, :]] += unit - across
        return slopes.reshape(2 * len(n), len(y)), t.reshape(-1).astype(np.int64)

    def swept(self, best: Coulomb, count: int) -> Coulomb:
        """After so many sweeps of Gauss-Seidel."""
        efforts = best.efforts.copy()
        r = self.W @ efforts + self.b
        for _ in range(count):
            if sweep(self.W, r, efforts, self.limits, self.mu) == 0.0:
                break
        found = self.judged(efforts)
        return found if found.residual < best.residual else best
