"""Decisions of robots that touch something: the search among pieces, and what gives way where no piece has an answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.coulomb import coulomb_efforts
from pliant.algebra.qpcc import Qpcc, QpccSolution, Search, solve_qpcc
from pliant.checks import number, one_of
from pliant.control.contact_decision import ContactDecision
from pliant.control.contact_problem import ContactProblem, Wishes
from pliant.control.question import Question
from pliant.control.releases import Releases
from pliant.errors import InputError

Array = NDArray[np.float64]
Mask = NDArray[np.bool_]

SAME = 1e-6
"""Share of the largest normal force by which those of sliding contacts may differ from one turn to the next."""
TURNS = 20
"""In which forces across follow normal ones, at most."""
AT_LIMIT = 1e-6
"""What is this close to a limit, over its range or the largest effort or way, is at it."""


@dataclass(frozen=True)
class _Found:
    """An answer (or none): efforts of the rows (N,), and what was insisted upon."""

    problem: Qpcc
    solution: QpccSolution
    efforts: Array
    wishes: Wishes


class ContactDecider:
    """Answers one question again and again, from the contacts that there are with the actuation frozen on.

    Where limits contradict, what gives way, in this order: cones of friction, of contacts that are outside theirs without (or
    these slide, with forces on the cone against the slip); the forces that touches were to have, of which there is as much as
    can be; the displacement limits of single actuators, that first which frozen efforts miss most
    (`Releases`). Limits of efforts never do. `relaxed` names what did. Where that does not help either, efforts stay as they
    are and contacts slip.
    """

    def __init__(
        self,
        question: Question,
        *,
        energy: float,
        search: Search,
        forces: Mapping[str, tuple[float, float]],
        frictionless: bool,
        sliding: bool,
    ) -> None:
        """energy: weight of the work of all efforts beside the tracking error; forces: limits of the sum of the normal forces
        of touches [N]; frictionless: contacts have one row; sliding: those that cannot stick may slide."""
        self.question, self.search = question, one_of(search, "search", ("flips", "paper", "exact"))
        self.energy = number(energy, "energy", above=0.0, remedy="give a small positive weight, such as 1e-8")
        for name in forces:
            if name not in question.robot.touches:
                raise InputError(
                    f"there is no touch {name!r} to press with",
                    remedy=f"choose among {', '.join(question.robot.touches)}",
                )
        self.forces, self.rows_per_contact, self._sliding = forces, 1 if frictionless else 3, sliding
        self.releases = Releases(question.course, question.displacement_rate)
        self.relaxed: tuple[str, ...] = ()
        self.problem: ContactProblem
        self._reach: Array = np.empty((0, 2))
        self._qps, self._seconds = 0, 0.0

    def decide(self, problem: ContactProblem, interval: float | None) -> tuple[Array, ContactDecision]:
        """Efforts of all rows of the model (m + k,), and how they were found; interval [s]: for rates."""
        self.problem, self._qps, self._seconds = problem, 0, 0.0
        a, releases = self.question.sought, self.releases
        now, before = problem.model.delta[a], releases.motors.copy()
        self._reach = releases.reach(now, interval)
        found = self._found(now)
        ok = found.solution.ok
        efforts = problem.efforts(found.efforts) if ok else self._slipping()
        after = problem.model.predicted(efforts)[a]
        self.relaxed = self._given_way(found.wishes, after, ok)
        began = np.where(releases.released & np.isnan(before), releases.motors, before)
        releases.hold(began, after, self._reach)
        return efforts, self._told(found, efforts)

    def _found(self, now: Array) -> _Found:
        """An answer, with as little as possible that gives way; actuators are released on the way."""
        problem, releases = self.problem, self.releases
        predicted = problem.model.predicted(problem.model.efforts)[self.question.sought]
        slack = self._slack(predicted)
        for strict in (True, False) if len(self.forces) else (True,):
            found = self._loosened(self._with_friction(strict, slack))
            if found.solution.ok:
                return found
        low, high = self._reach.T
        miss, bounded = np.maximum(low - predicted, predicted - high), np.isfinite(low) | np.isfinite(high)
        for k in np.argsort(-miss, kind="stable").tolist():
            if bounded[k] and not releases.released[k]:
                releases.release(k, now)
                found = self._loosened(self._with_friction(not self.forces, self._slack(predicted)))
                if found.solution.ok:
                    break
        return found

    def _loosened(self, found: _Found) -> _Found:
        """The same, but for released cables that pull although their motors are behind: they hang slack."""
        if not (found.solution.ok and self.releases.released.any()):
            return found
        efforts = self.problem.efforts(found.efforts)
        after = self.problem.model.predicted(efforts)[self.question.sought]
        slack = found.wishes.slack | self._slack(after)
        if (slack == found.wishes.slack).all():
            return found
        other = self._with_friction(found.wishes.forces, slack)
        return other if other.solution.ok else found

    def _with_friction(self, strict: bool, slack: Mask) -> _Found:
        """An answer with all contacts within their cones; or with some without, or sliding. strict: forces of touches are
        insisted upon; slack (n,): actuators that have no effort."""
        problem = self.problem
        mu, nothing = problem.touching.extra.friction, np.zeros((problem.contacts, 2))
        has_cone = np.isfinite(mu) & (self.rows_per_contact == 3)
        none = np.zeros(problem.contacts, bool)
        wishes = Wishes(has_cone, strict, slack, none, nothing)
        found = self._solved(wishes)
        if found.solution.ok or not has_cone.any():
            return found
        glued = self._solved(replace(wishes, cones=none))
        if not glued.solution.ok:
            return glued
        forces = self._contact_forces(glued)
        outside = has_cone & (np.linalg.norm(forces[:, 1:], axis=1) > mu * forces[:, 0])
        slid = self._slid(wishes, outside, forces) if self._sliding else None
        if slid is not None:
            return slid
        found = self._solved(replace(wishes, cones=has_cone & ~outside))
        return found if found.solution.ok else glued

    def _slid(self, wishes: Wishes, slides: Mask, forces: Array) -> _Found | None:
        """An answer in which some contacts slide, their forces on the cone against the last slip, or against the one that is
        kept from being by forces (c, 3); None where there is none. Forces across follow the normal ones, in turns."""
        problem = self.problem
        mu, last = problem.touching.extra.friction, problem.model.efforts[len(self.question.row_names) :].reshape(-1, 3)
        slid = (last[:, 0] > 0.0) & (np.linalg.norm(last[:, 1:], axis=1) >= (1.0 - SAME) * mu * last[:, 0])
        ways = np.where(slid[:, None], last[:, 1:], forces[:, 1:])
        ways = ways / np.maximum(np.linalg.norm(ways, axis=1), 1e-300)[:, None]
        normal = forces[:, 0]
        for _ in range(TURNS):
            across = (mu * normal)[:, None] * ways
            found = self._solved(replace(wishes, cones=wishes.cones & ~slides, slides=slides, across=across))
            if not found.solution.ok:
                return None
            before, normal = normal, self._contact_forces(found)[:, 0]
            if np.abs(normal - before)[slides].max(initial=0.0) <= SAME * max(float(normal.max()), 1e-300):
                return found
        return None

    def _contact_forces(self, found: _Found) -> Array:
        """Forces (c, 3) [N] along the frames."""
        return self.problem.efforts(found.efforts)[len(self.question.row_names) :].reshape(-1, 3)

    def _solved(self, wishes: Wishes) -> _Found:
        """By the search, from the contacts with the actuation frozen on."""
        problem, releases = self.problem, self.releases
        course = np.where(releases.released[:, None], (-np.inf, np.inf), self._reach)
        qpcc = problem.qpcc(course, wishes, self.energy)
        found = solve_qpcc(qpcc, problem.now, pieces=problem.now_in_pieces(), search=self.search)
        self._qps, self._seconds = self._qps + found.qps, self._seconds + found.seconds
        if not wishes.slides.any():
            return _Found(qpcc, found, found.efforts, wishes)
        efforts = problem.sideways(wishes)
        efforts[problem.kept(wishes.slides)] = found.efforts
        return _Found(qpcc, found, efforts, wishes)

    def _slack(self, after: Array) -> Mask:
        """Released cables that motors cannot take in as fast as they come, to displacements `after` (n,): without effort."""
        pulls = self.question.effort[:, 0] >= 0.0
        return np.asarray(self.releases.released & pulls & (after > self._reach[:, 1]))

    def _slipping(self) -> Array:
        """Efforts (m + k,) with the sought ones as they are, by Coulomb's law: whatever sticks or slips then."""
        problem, robot, n, h = self.problem, self.question.robot, self.problem.n, self.problem.h
        m, model = len(self.question.row_names), problem.model
        rows = np.concatenate([self.question.given.rows, m + np.arange(3 * problem.contacts)])
        out: Array = model.efforts.copy()
        out[self.question.sought] = np.clip(problem.now, problem.low[:n], problem.high[:n])
        out[rows] = 0.0
        b = model.predicted(out)[rows]
        b[:h] -= self.question.goal_of_given(model.references) if h else 0.0
        b[h:] -= problem.touching.extra.displacement
        mu = [np.full(len(own), robot.touches[name].friction) for name, own in problem.touching.contacts.items()]
        W = model.W[np.ix_(rows, rows)]
        out[rows] = coulomb_efforts(W, b, self.question.given_limits, np.concatenate(mu), model.efforts[rows]).efforts
        return out

    def _given_way(self, wishes: Wishes, after: Array, ok: bool) -> tuple[str, ...]:
        """Names of what was asked and is not so."""
        mu, said = self.problem.touching.extra.friction, []
        if (np.isfinite(mu) & ~wishes.cones & ~wishes.slides).any() and self.rows_per_contact == 3:
            said.append("friction cones")
        if not wishes.forces:
            said += [f"{name} force" for name in self.forces]
        kinds = zip(self.releases.released, self.releases.missed(after, self._reach), strict=True)
        said += [f"{self.question.labels[k]} {kind}" for k, (own, kind) in enumerate(kinds) if own and kind is not None]
        return (*said, *(() if ok else ("sticking",)))

    def _told(self, found: _Found, efforts: Array) -> ContactDecision:
        """The search and the contacts in each piece."""
        problem, solution, ok = self.problem, found.solution, found.solution.ok
        forces = efforts[len(self.question.row_names) :].reshape(-1, 3)
        bears = solution.pieces[problem.h :] == 0 if ok else forces[:, 0] > 0.0
        slips = bears & (found.wishes.slides if self.rows_per_contact == 3 and ok else np.ones(len(bears), bool))
        sticking: dict[str, NDArray[np.int64]] = {}
        is_open, sliding, grip, at = dict(sticking), dict(sticking), {}, 0
        for name, own in problem.touching.contacts.items():
            part = slice(at, at + len(own))
            at += len(own)
            sticking[name], sliding[name] = own.ids[(bears & ~slips)[part]], own.ids[slips[part]]
            is_open[name] = own.ids[~bears[part]]
            grip[name] = float(forces[part, 0].sum())
        given = [self.question.row_names[k] for k in self.question.given.rows]
        let_go = tuple(label for label, piece in zip(given, solution.pieces, strict=False) if piece != 0)
        return ContactDecision(
            solution.status, solution.start, solution.value, sticking, is_open, sliding, let_go, grip,
            self._qps, solution.violation, self._seconds, found.problem, problem.now,
            problem.now_in_pieces()
        )  # fmt: skip

    def active(self, efforts: Array, delta: Array) -> tuple[str, ...]:
        """Limits that the answer is at, such as "tendon effort", with displacements (m,)."""
        question, problem, n = self.question, self.problem, self.problem.n
        own, way = efforts[question.sought], delta[question.sought]
        most = max(float(np.abs(own).max()), 1e-300)
        labels = []
        for what, value, low, high, scale in (
            ("effort", own, problem.low[:n], problem.high[:n], most),
            ("displacement", way, *self._reach.T, question.robot.size),
        ):
            near = (value - low <= AT_LIMIT * scale) | (high - value <= AT_LIMIT * scale)
            labels += [f"{question.labels[k]} {what}" for k in np.flatnonzero(near)]
        forces, at = efforts[len(question.row_names) :].reshape(-1, 3), 0
        for name, touched in problem.touching.contacts.items():
            own = forces[at : at + len(touched)]
            at += len(touched)
            idle = own[:, 0] <= AT_LIMIT * most
            if (idle & own[:, 1:].any(axis=1)).any() or own[:, 0].sum() in self.forces.get(name, ()):
                labels.append(f"{name} contact")
        return tuple(labels)

    def compliance(self, found_efforts: Array) -> Array:
        """From scaled sought efforts to the effectors (e, n), with all held and bearing rows held."""
        problem, n = self.problem, self.problem.n
        bears = found_efforts[problem.rows] != 0.0
        held = n + np.flatnonzero(bears[n:])
        W = problem.W
        gain = np.linalg.lstsq(W[np.ix_(held, held)], W[held][:, :n], rcond=1e-12)[0] if len(held) else np.empty((0, n))
        own = np.diag(W)[:n]
        scale = 1.0 / np.sqrt(np.where(own > 0.0, own, 1.0))
        return np.asarray((problem.J[:, :n] - problem.J[:, held] @ gain) * scale)
