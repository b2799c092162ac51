"""Rows whose effort is not given but follows: displacements that are held, friction, rows that come and go.

    min Pi0(q)   subject to   delta_i(q) = d_i,   as far as   low_i <= lambda_i <= high_i

The multipliers are the efforts. Where one is at its limit the row is let go: a cable with low = 0 is slack (delta > d), a
motor at its largest effort gives way (delta < d). One linearization leaves a small QP in the efforts,

    min 1/2 lambda^T W lambda + lambda^T (delta_free - d)   subject to   low <= lambda <= high

and with its answer lambda+ the step K_t dq = -dPi0/dq + H^T lambda+. The same, with A and the step's potential in place of
K_t and Pi0, is a step through time. A spring that holds a row gives way by its compliance c, delta = d - c lambda, which adds
1/2 c lambda^2 to the QP; friction is an `InnerLaw`: held at an anchor, with a compliance of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.coulomb import coulomb_efforts, displaced_by, within_cones
from pliant.algebra.limited import count_negatives, inverse_of, limited_efforts
from pliant.body import Pose
from pliant.port import PlacedPort
from pliant.robot import ExtraRows, Robot, Role, State
from pliant.robot.equations import Equations
from pliant.robot.factored import Factored
from pliant.robot.rows import CompressedRows, Rows

Array = NDArray[np.float64]


@dataclass(frozen=True)
class HeldStep:
    """A linearized step of the coordinates (nc, 3), the efforts of the held rows after it (k,), how those rows respond W
    (k, k), how far the step moves them, H dq (k,), and along how many independent ways of motion that keep the rows where they
    are held the potential is curved downwards, by the inertia rule

        excess = n-(K) - n-(W_hh + diag c),

    n- the count of negative eigenvalues, h the rows that no limit lets go, c their own compliance. missed: by how much contacts
    miss Coulomb's law, over the largest effort.
    """

    step: Array
    efforts: Array
    W: Array
    moved: Array
    excess: int
    missed: float = 0.0


class _Layout:
    """Which rows of a robot's ports are held: found once for its equations, which are others after a port was added."""

    def __init__(self, robot: Robot) -> None:
        ports = robot.ports
        self.given, self.slipping = robot.named(Role.HELD), robot.remembering
        chosen = [(name, slice(None, ports[name].port.given_rows)) for name in self.given]
        chosen += [(name, slice(ports[name].port.given_rows, None)) for name in self.slipping]
        self.attachments = [ports[name].attachment for name, _ in chosen]
        self.parts = [part for _, part in chosen]
        self.numbers = [list(ports).index(name) for name, _ in chosen]
        self.H = Rows(robot.equations.assembly, list(zip(self.attachments, self.parts, strict=True)))
        all_rows = np.arange(len(robot.row_names))
        self.rows = np.concatenate([all_rows[:0], *(all_rows[ports[name].rows][part] for name, part in chosen)])
        self.limits = np.concatenate([np.empty((0, 2)), *(ports[name].able for name in self.given)])


_layouts: WeakKeyDictionary[Equations, _Layout] = WeakKeyDictionary()


class Held:
    """The held rows of a robot, from a state on: those of ports with a given displacement, of friction, and extra ones."""

    def __init__(self, robot: Robot, state: State, extra: ExtraRows) -> None:
        self.robot, self.extra, self.memory = robot, extra, state.memory
        if robot.equations not in _layouts:
            _layouts[robot.equations] = _Layout(robot)
        self._layout = _layouts[robot.equations]
        self.rows = np.concatenate([self._layout.rows, len(robot.row_names) + np.arange(len(extra))])
        """Where the held rows are among those of all ports and then of the extra ones."""
        self.limits = np.concatenate([self._layout.limits, extra.limits])
        springs = [robot.ports[name].compliance for name in self._layout.given]
        self._springs = np.concatenate([np.empty(0), *springs])
        self.compliance = np.concatenate([self._springs, np.zeros(len(self.limits) - len(self._springs))])
        self._anchors: list[Array] = []
        self.penalty = np.zeros(len(self.rows))
        self._contacts = len(self.rows) - 3 * len(extra.friction)
        """The first row of contacts."""
        self._discs = np.zeros(len(extra.friction))

    def __bool__(self) -> bool:
        return len(self.rows) > 0

    def efforts(self, now: Array) -> Array:
        """The efforts that the robot is given (m + k,); held rows have those of `now` (m + k,)."""
        given = np.concatenate([self.robot.efforts, np.empty(len(self.extra))])
        return self.with_efforts(given, now[self.rows])

    def with_efforts(self, efforts: Array, held: Array) -> Array:
        """Efforts (m + k,) with those of the held rows (k,) in their places."""
        out: Array = efforts.copy()
        out[self.rows] = held
        return out

    def update(self, pose: Pose, efforts: Array) -> None:
        """Take the laws of friction as they are at a pose and efforts (m + k,)."""
        layout, laws = self._layout, []
        if not layout.slipping:
            return
        for name in layout.slipping:
            mounted = self.robot.ports[name]
            p = mounted.attachment.positions(pose.x)
            laws.append(mounted.attachment.port.inner_law(p, efforts[mounted.rows], self.memory[name]))
        self._anchors = [law.anchor for law in laws]
        limits = [np.stack([law.low, law.high], axis=1) for law in laws]
        self.limits = np.concatenate([layout.limits, *limits, self.extra.limits])
        own = (law.compliance for law in laws)
        self.compliance = np.concatenate([self._springs, *own, np.zeros(len(self.extra))])

    def remembering(self, state: State) -> State:
        """A state at the end of a step that was accepted, with the memory that it leaves."""
        if not self.memory:
            return state
        ports = self.robot.ports
        memory = {
            name: ports[name].attachment.port.remembered(ports[name].attachment.positions(state.x), old)
            for name, old in self.memory.items()
        }
        return replace(state, memory=memory)

    def displacement(self, x: Array, near: Sequence[PlacedPort]) -> Array:
        """delta at node positions x, (k,); relative ports are measured as those placed `near`, of all ports."""
        layout = self._layout
        placed = [a.at(x, near[k].reference) for a, k in zip(layout.attachments, layout.numbers, strict=True)]
        parts = [port.displacement[part] for port, part in zip(placed, layout.parts, strict=True)]
        return np.concatenate([*parts, self.extra.at(x)])

    def shortfall(self, x: Array, placed: Sequence[PlacedPort] | None = None) -> Array:
        """delta - d at node positions x, and slip since the anchors, (k,); placed: the ports there, where they are known."""
        if not self:
            return np.empty(0)
        layout, ports = self._layout, self.robot.ports
        here = [a.faced(x) for a in layout.attachments] if placed is None else placed
        aims = [ports[name].displacement for name in layout.given]
        short = [port.shortfall(aim)[part] for port, aim, part in zip(here, aims, layout.parts, strict=False)]
        slipped = zip(here[len(aims) :], self._anchors, layout.parts[len(aims) :], strict=True)
        slips = [port.displacement[part] - anchor for port, anchor, part in slipped]
        return np.concatenate([*short, *slips, self.extra.at(x) - self.extra.displacement])

    def way_to_go(self, pose: Pose, efforts: Array) -> Array:
        """delta - d at a pose under efforts (m + k,), (k,): what load steps bring on in parts. Zero for friction and contacts,
        and for rows that their limits let go there: a slack cable and a gap that is open have nowhere to go."""
        self.update(pose, efforts)
        now, short, (low, high) = efforts[self.rows], self.shortfall(pose.x), self.limits.T
        is_loose = ((short > 0) & (now <= low)) | ((short < 0) & (now >= high))
        is_loose[len(self._layout.limits) : len(self._layout.rows)] = True
        is_loose[self._contacts :] = True
        return np.where(is_loose, 0.0, short)

    def closes(self, state: State, efforts: Array) -> bool:
        """Whether a row that was let go at a state holds with these efforts (m + k,) after a step: a gap that closes, a rope
        that goes taut. Not so for friction, which gives way a little."""
        before, firm = state.efforts_with(len(self.extra))[self.rows], np.ones(len(self.rows), bool)
        firm[len(self._layout.limits) : len(self._layout.rows)] = False
        firm[self._contacts :] = np.tile([True, False, False], len(self._discs))
        was = self.holding(before)
        was[len(self._layout.rows) :] &= len(state.extra) == len(self.extra)
        return bool((firm & ~was & self.holding(efforts[self.rows])).any())

    def linear_step(self, at: Factored, force: Array, efforts: Array, offset: Array | float = 0.0) -> HeldStep:
        """The step A^-1 (f + scale H^T (lambda+ - lambda)) with the efforts lambda+ that hold the rows after it.

        force f (n, 3): such that A^-1 f is the step with the efforts (m + k,) as they are; offset (k,): how far from the given
        displacements to stay.
        """
        if not self:
            return HeldStep(at.solve(force), np.empty(0), np.empty((0, 0)), np.empty(0), at.report.negatives)
        self.update(at.pose, efforts)
        now = efforts[self.rows]
        placed = [at.placed[number] for number in self._layout.numbers]
        rows = self._layout.H.at(placed, at.T, self.extra)
        short = self.shortfall(at.found_at, placed) + at.led(placed, self.extra, self._layout.parts) - offset
        asked = self._likely(now, short)
        while True:
            found = self._asked_step(at, rows, force, now, short, asked)
            if asked.all():
                return found
            joins = self._closing(short + rows.times(found.step), asked)
            if not joins.any():
                return found
            asked |= joins

    def _asked_step(
        self, at: Factored, rows: CompressedRows, force: Array, now: Array, short: Array, asked: NDArray[np.bool_]
    ) -> HeldStep:
        """The step with only some of the rows (k,); the others have no effort, and no response."""
        whole, count = bool(asked.all()), len(asked)
        found = at.condense(rows if whole else rows.chosen(asked), force)
        W, now = at.scale * found.W, now[asked]
        if not np.isfinite(W).all():  # a row without a direction leads nowhere, and whoever takes the step sees it
            nowhere = np.full((at.equations.assembly.coordinate_count, 3), np.nan)
            return HeldStep(nowhere, np.zeros(count), np.full((count, count), np.nan), np.zeros(count), 0)
        own, give = W, self.compliance[asked]
        if give.any():
            own = W + np.diag(give)
        target, missed = self._answer(own, displaced_by(W, -now, short[asked] + found.shift), now, asked)
        step = found.resume(at.scale * (target - now))
        efforts = np.zeros(count)
        efforts[asked] = target
        if whole:
            response, moved = W, displaced_by(W, target - now, found.shift)
        else:
            response, moved = np.zeros((count, count)), rows.times(step)
            response[np.ix_(asked, asked)] = W
        excess = at.report.negatives and at.report.negatives - self._negatives(response, efforts)
        return HeldStep(step, efforts, response, moved, excess, missed)

    def _likely(self, now: Array, short: Array) -> NDArray[np.bool_]:
        """Rows (k,) to begin with: all but those of contacts that are open and bear nothing."""
        asked, first = np.ones(len(now), bool), self._contacts
        asked[first:] = np.repeat((now[first::3] != 0.0) | (short[first::3] <= 0.0), 3)
        return asked

    def _closing(self, short: Array, asked: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Rows (k,) of contacts that were not asked and whose gap is closed after a step."""
        joins, first = np.zeros(len(short), bool), self._contacts
        joins[first:] = np.repeat(~asked[first::3] & (short[first::3] < 0.0), 3)
        return joins

    def _answer(self, W: Array, r: Array, now: Array, asked: NDArray[np.bool_]) -> tuple[Array, float]:
        """Efforts of the rows that are asked within limits and cones, and by how much they miss Coulomb's law."""
        limits, mu = self.limits[: self._contacts], self.extra.friction[asked[self._contacts :: 3]]
        return coulomb_efforts(W, r, limits, mu, now) if len(mu) else (limited_efforts(W, r, limits, now), 0.0)

    def holding(self, efforts: Array) -> NDArray[np.bool_]:
        """Which held rows no limit lets go with these efforts of theirs (k,): of contacts that touch the normal, of those that
        stick all three."""
        holds = (efforts > self.limits[:, 0]) & (efforts < self.limits[:, 1])
        n, t, u = efforts[self._contacts :].reshape(-1, 3).T
        sticks = np.hypot(t, u) < (1.0 - 1e-9) * self.extra.friction * n
        holds[self._contacts + 1 :: 3] = holds[self._contacts + 2 :: 3] = sticks
        return np.asarray(holds)

    def _negatives(self, W: Array, efforts: Array) -> int:
        """n-(W_hh + diag c)."""
        hold = self.holding(efforts)
        return count_negatives((W + np.diag(self.compliance))[np.ix_(hold, hold)])

    def descents(self, at: Factored, efforts: Array) -> Array:
        """Directions of the coordinates, (count, 3 nc), that keep the rows where they are held and along which the potential is
        curved downwards: d^T K d = -1 each, conjugate, the steepest first.

        From the negative pivots' U = L^-T e_j by the projection P u = u - K^-1 H^T W_hh^-1 H u on H d = 0 that is orthogonal in
        K: there U^T P^T K P U = -I - (H U)^T W_hh^-1 (H U) is a small matrix whose negative eigenvectors are what is sought.
        """
        from scipy.sparse import csr_matrix

        U = at.equations.cholesky.descents()
        hold = self.holding(efforts[self.rows]) if self else np.empty(0, bool)
        if not hold.any():
            return U
        placed = [at.placed[number] for number in self._layout.numbers]
        rows = self._layout.H.at(placed, at.T, self.extra)
        found = at.condense(rows, np.zeros_like(at.here.gradient))
        W = (found.W + np.diag(self.compliance) / at.scale)[np.ix_(hold, hold)]
        HU = (csr_matrix((rows.data, rows.indices, rows.indptr), shape=(len(rows), U.shape[1])) @ U.T)[hold]
        weights = inverse_of(W) @ HU
        curvatures, vectors = np.linalg.eigh(-np.eye(len(U)) - HU.T @ weights)
        down = vectors[:, curvatures < 0.0] / np.sqrt(-curvatures[curvatures < 0.0])
        efforts_of = np.zeros((down.shape[1], len(hold)))
        efforts_of[:, hold] = (weights @ down).T
        back = [found.resume(own).reshape(-1) for own in efforts_of]
        return np.asarray(down.T @ U) - np.reshape(back, (-1, U.shape[1]))

    def bear(self, efforts: Array) -> None:
        """Take what friction can bear from the normal efforts of contacts (k,), as discs for the `barrier`."""
        self._discs = self.extra.friction * efforts[self._contacts :: 3]

    def barrier(self, short: Array) -> float:
        """sum max over lambda of (-lambda s - 1/2 c lambda^2), limits without compliance cut at the penalty: what holding
        the rows costs when they are off by s; of slips the work of friction, with the normal efforts as `bear` has them."""
        stiff = self.compliance == 0.0
        cut = np.where(stiff, self.penalty, np.inf)
        low, high = np.maximum(self.limits[:, 0], -cut), np.minimum(self.limits[:, 1], cut)
        soft = np.clip(-short / np.where(stiff, 1.0, self.compliance), low, high)
        best = np.where(stiff, np.where(short > 0, low, high), soft)
        best[self._contacts + 1 :: 3] = best[self._contacts + 2 :: 3] = 0.0
        slips = np.hypot(short[self._contacts + 1 :: 3], short[self._contacts + 2 :: 3])
        return float((-best * short - 0.5 * self.compliance * best**2).sum() + self._discs @ slips)

    def violation(self, short: Array, efforts: Array, W: Array) -> Array:
        """How far each row is from where its law has it, or from its limit where that holds it, (k,), in its unit."""
        stiffness = np.abs(np.diag(W)) + self.compliance
        per = np.where(stiffness > 0.0, stiffness, 1.0)
        sideways = per[self._contacts :].reshape(-1, 3)[:, 1:]
        sideways[:] = sideways.max(axis=1, keepdims=True)  # one for both tangents: a disc stays a disc
        wanted = efforts - (short + self.compliance * efforts) / per
        return np.asarray(np.abs(efforts - self.within(wanted)) * per)

    def within(self, efforts: Array) -> Array:
        """Efforts of the held rows (k,) put within limits and cones."""
        return within_cones(efforts, self.limits[: self._contacts], self.extra.friction)
