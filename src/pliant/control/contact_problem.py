"""One decision of a robot that touches something, as a QP with complementarity.

    delta = W lambda + delta_free  over  [sought efforts; ports with a given displacement; contacts],   W = tau sigma H A^-1 H^T

    min  1/2 |S (W_e lambda + d_e - wanted)|^2 + 1/2 eps lambda^T W lambda

with the efforts of actuators within their limits and the contacts and given displacements in one of their pieces
(coevoet2019, eq. 6; `pliant.algebra.qpcc`). The energy is that of all efforts, those of contacts too.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.condensed import Condensed
from pliant.algebra.qpcc import Qpcc
from pliant.control.question import Question
from pliant.motion.touching import Touching

Array = NDArray[np.float64]
Ids = NDArray[np.int64]
Mask = NDArray[np.bool_]

HEAVY = 10.0
"""What a newton that a force lacks of what was asked for counts, beside the farthest that a newton on a contact moves the
effectors: where no actuation gives it, as much of it as there is."""
NO_WORK = 1e-24
"""Efforts that can do less than this between their limits [J] are left as they are (a modulus without strain)."""


@dataclass(frozen=True)
class Wishes:
    """What of the asked is insisted upon: cones of which contacts (c,), forces of touches (else they are wishes); which
    actuators hang slack (n,), and which contacts slide (c,), with which forces across (c, 2) [N]."""

    cones: Mask
    forces: bool
    slack: Mask
    slides: Mask
    across: Array


class ContactProblem:
    """The arrays of one decision: rows (N,) of the model, n sought ones, h of ports with a given displacement, and contacts.

    W (N, N), d (N,), J (E, N), e (E,) as in `Qpcc`, in SI units; low, high (N,): limits of efforts, now (n,): the sought ones.
    """

    def __init__(
        self,
        question: Question,
        model: Condensed,
        touching: Touching,
        goal: Array,
        limits: Mapping[str, tuple[float, float]],
        interval: float | None,
        rows_per_contact: int,
    ) -> None:
        """goal (e,): wanted displacements of effector rows; limits: of the sum of the normal forces of touches [N]; interval
        [s]: for rates of efforts; rows_per_contact: 1 without friction, else 3."""
        m, extra = len(question.row_names), touching.extra
        self.question, self.model, self.touching, self._limits = question, model, touching, limits
        self.n, self.h, self.contacts = len(question.sought), len(question.given.rows), len(extra.friction)
        of_contacts = m + np.arange(3 * self.contacts).reshape(-1, 3)[:, :rows_per_contact].reshape(-1)
        self.rows: Ids = np.concatenate([question.sought, question.given.rows, of_contacts])
        self.sizes = np.concatenate([np.ones(self.h, np.int64), np.full(self.contacts, rows_per_contact)])
        mu = extra.friction if rows_per_contact == 3 else np.full(self.contacts, np.inf)
        self._cone = np.concatenate([np.full(self.h, np.inf), mu])
        imposed = model.efforts.copy()
        imposed[self.rows] = imposed[m:] = 0.0
        d = model.delta_free + model.W @ imposed if imposed.any() else model.delta_free
        wanted, S = question.wanted.rows, question.weights
        self.W, self.d = model.W[np.ix_(self.rows, self.rows)], d[self.rows]
        self.J, self.e = S[:, None] * model.W[np.ix_(wanted, self.rows)], S * (d[wanted] - goal)
        if self.h:
            self.d[self.n : self.n + self.h] -= question.goal_of_given(model.references)
        self.d[self.n + self.h :] -= extra.displacement[of_contacts - m]
        self.now = model.efforts[question.sought]
        self._limit_efforts(interval, rows_per_contact)
        self._leave_idle()
        self.normals = self.n + self.h + rows_per_contact * np.arange(self.contacts)
        """Where the normals of contacts are among the rows (c,)."""
        self.sums = np.zeros((len(limits), len(self.rows)))
        at = 0
        for name, own in touching.contacts.items():
            if name in limits:
                self.sums[list(limits).index(name), self.normals[at : at + len(own)]] = 1.0
            at += len(own)

    def _limit_efforts(self, interval: float | None, size: int) -> None:
        """Limits of all efforts: of the sought ones cut to what can be reached, one that is past is approached."""
        question, now, N = self.question, self.now, len(self.rows)
        self.low, self.high = np.full(N, -np.inf), np.full(N, np.inf)
        low, high = question.effort.T
        way = np.full(self.n, np.inf) if interval is None else question.effort_rate * interval
        trust = question.trust(self.model.efforts)
        for reach in (way, trust):
            low = np.minimum(np.maximum(low, now - reach), now + reach)
            high = np.maximum(np.minimum(high, now + reach), now - reach)
        self.low[: self.n], self.high[: self.n] = low, high
        self.low[self.n : self.n + self.h], self.high[self.n : self.n + self.h] = question.given_limits.T
        self.low[self.n + self.h :: size] = 0.0

    def _leave_idle(self) -> None:
        """Sought efforts that do no work stay as they are."""
        n, own = self.n, np.diag(self.W)[: self.n]
        self.idle = ~(np.abs(own) > 0.0) | (np.abs(own) * (self.high[:n] - self.low[:n]) ** 2 < NO_WORK)
        for k in np.flatnonzero(self.idle):
            self.W[k] = self.W[:, k] = 0.0
            self.W[k, k], self.J[:, k], self.d[k] = 1.0, 0.0, 0.0
            self.low[k] = self.high[k] = self.now[k]

    def qpcc(self, course: Array, wishes: Wishes, energy: float) -> Qpcc:
        """With displacements of the sought within a course (n, 2). Contacts that slide keep their normals only."""
        low, high, n, slack = self.low.copy(), self.high.copy(), self.n, wishes.slack
        nothing = np.clip(0.0, low[:n], high[:n])
        low[:n], high[:n] = np.where(slack, nothing, low[:n]), np.where(slack, nothing, high[:n])
        course = np.where(self.idle[:, None], (-np.inf, np.inf), course)
        cone = self._cone.copy()
        cone[self.h :][~wishes.cones] = np.inf
        J, e, sums, bounds = self.J, self.e, self.sums, np.array(list(self._limits.values())).reshape(-1, 2)
        if not wishes.forces and len(sums):
            J, e, energy = self._with_wished_forces(bounds, energy)
            sums, bounds = sums[:0], bounds[:0]
        if not wishes.slides.any():
            return Qpcc(self.W, self.d, J, e, low, high, course, self.sizes, cone, sums, bounds, energy)
        own, given = self.kept(wishes.slides), self.sideways(wishes)
        sizes = self.sizes.copy()
        sizes[self.h :][wishes.slides] = 1
        return Qpcc(
            self.W[np.ix_(own, own)], (self.d + self.W @ given)[own], J[:, own], e + J @ given, low[own], high[own], course,
            sizes, cone, sums[:, own], bounds, energy
        )  # fmt: skip

    def kept(self, slides: Mask) -> Ids:
        """Rows that are left to decide about where some contacts slide."""
        out = np.ones(len(self.rows), bool)
        for k in (1, 2):
            out[self.normals[slides] + k] = False
        return np.flatnonzero(out)

    def sideways(self, wishes: Wishes) -> Array:
        """Efforts (N,) across the normals of contacts that slide, and nothing else."""
        out = np.zeros(len(self.rows))
        for k in (1, 2):
            out[self.normals[wishes.slides] + k] = wishes.across[wishes.slides, k - 1]
        return out

    def _with_wished_forces(self, bounds: Array, energy: float) -> tuple[Array, Array, float]:
        """Forces that no actuation gives as effectors that count for much, with the same weight of the energy beside the
        others."""
        farthest = float(np.abs(self.J[:, self.n :]).max(initial=0.0)) or 1.0
        aim = np.clip(self.sums @ self.model.efforts[self.rows], *bounds.T)
        J = np.concatenate([self.J, HEAVY * farthest * self.sums])
        e = np.concatenate([self.e, -HEAVY * farthest * aim])
        compliance = np.abs(np.diag(self.W))
        per = 1.0 / np.where(compliance > 0.0, compliance, 1.0)
        before, after = (float(((own * own).sum(axis=0) * per).max()) for own in (self.J, J))
        return J, e, energy * before / max(after, 1e-300)

    def efforts(self, found: Array) -> Array:
        """All efforts of the model (m + k,) with those of the rows (N,) in their places, within limits whatever rounding does;
        of contacts no others."""
        out: Array = self.model.efforts.copy()
        found = np.clip(found, self.low, self.high)
        out[len(self.question.row_names) :] = 0.0
        out[self.rows] = found
        return out

    def now_in_pieces(self) -> Ids:
        """The pieces in which blocks were in the last step: contacts that bore stick, given displacements are held."""
        bears = self.model.efforts[self.rows[self.normals]] > 0.0
        return np.concatenate([np.zeros(self.h, np.int64), np.where(bears, 0, 1)])
