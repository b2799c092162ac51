"""Rows whose effort is not given but follows: displacements that are held, friction, rows that come and go.

    min Pi0(q)   subject to   delta_i(q) = d_i,   as far as   low_i <= lambda_i <= high_i

The multipliers are the efforts. Where one is at its limit the row is let go: a cable with low = 0 is slack (delta > d), a
motor at its largest effort gives way (delta < d). One linearization leaves a small QP in the efforts,

    min 1/2 lambda^T W lambda + lambda^T (delta_free - d)   subject to   low <= lambda <= high

and with its answer lambda+ the step K_t dq = -dPi0/dq + H^T lambda+. The same, with A and the step's potential in place of
K_t and Pi0, is a step of backward Euler. Friction is an `InnerLaw`: held at an anchor, with a compliance c that adds
1/2 c lambda^2 to the QP.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.limited import limited_efforts
from pliant.body import Pose
from pliant.port import PlacedPort
from pliant.robot import ExtraRows, Robot, Role, State
from pliant.robot.equations import Equations, Selection
from pliant.robot.factored import Factored

Array = NDArray[np.float64]


@dataclass(frozen=True)
class HeldStep:
    """A linearized step of the coordinates (nc, 3), the efforts of the held rows after it (k,), how those rows respond W
    (k, k), and how far the step moves them, H dq (k,)."""

    step: Array
    efforts: Array
    W: Array
    moved: Array


class _Layout:
    """Which rows of a robot's ports are held: found once for its equations, which are others after a port was added."""

    def __init__(self, robot: Robot) -> None:
        ports, order = robot.ports, list(robot.ports)
        self.given: Selection = tuple(
            (name, 0, ports[name].attachment.port.given_rows) for name in robot.named(Role.HELD)
        )
        self.slipping: Selection = tuple(
            (name, ports[name].attachment.port.given_rows, ports[name].attachment.row_count)
            for name in robot.remembering
        )
        self.selection: Selection = (*self.given, *self.slipping)
        self.numbers = [order.index(name) for name, _, _ in self.selection]
        rows = [ports[name].rows.start + np.arange(first, end) for name, first, end in self.selection]
        self.rows = np.concatenate([np.empty(0, np.intp), *rows]).astype(np.intp)
        self.limits = np.concatenate([np.empty((0, 2)), *(ports[name].able for name, _, _ in self.given)])


_layouts: WeakKeyDictionary[Equations, _Layout] = WeakKeyDictionary()


class Held:
    """The held rows of a robot, from a state on: those of ports with a given displacement, of friction, and extra ones."""

    def __init__(self, robot: Robot, state: State, extra: ExtraRows) -> None:
        self.robot, self.extra, self.memory = robot, extra, state.memory
        self._own_extra = state.extra if len(state.extra) == len(extra) else np.zeros(len(extra))
        if robot.equations not in _layouts:
            _layouts[robot.equations] = _Layout(robot)
        layout = _layouts[robot.equations]
        self._held, self._slipping, self._selection = layout.given, layout.slipping, layout.selection
        self._numbers, self._given = layout.numbers, layout.limits
        self.rows = np.concatenate([layout.rows, len(robot.row_names) + np.arange(len(extra))])
        """Where the held rows are among those of all ports and then of the extra ones."""
        self.limits = np.concatenate([self._given, extra.limits])
        self.compliance = np.zeros(len(self.limits))
        self._anchors: list[Array] = []
        self.penalty = np.zeros(len(self.rows))

    def __bool__(self) -> bool:
        return len(self.rows) > 0

    def own(self, state: State) -> Array:
        """The efforts of a state, with those of extra rows, (m + k,)."""
        return np.concatenate([state.efforts, self._own_extra])

    def efforts(self, now: Array) -> Array:
        """The efforts that the robot is given (m + k,); held rows have those of `now` (m + k,)."""
        out = np.concatenate([self.robot.efforts, self._own_extra])
        out[self.rows] = now[self.rows]
        return out

    def update(self, pose: Pose, efforts: Array) -> None:
        """Take the laws of friction as they are at a pose and efforts (m + k,)."""
        if not self._slipping:
            return
        laws = []
        for name, _, _ in self._slipping:
            mounted = self.robot.ports[name]
            p = mounted.attachment.positions(pose.x)
            laws.append(mounted.attachment.port.inner_law(p, efforts[mounted.rows], self.memory[name]))
        self._anchors = [law.anchor for law in laws]
        limits = [np.stack([law.low, law.high], axis=1) for law in laws]
        self.limits = np.concatenate([self._given, *limits, self.extra.limits])
        stiff = np.zeros(len(self._given)), np.zeros(len(self.extra))
        self.compliance = np.concatenate([stiff[0], *(law.compliance for law in laws), stiff[1]])

    def remembered(self, x: Array) -> Mapping[str, Array]:
        """The memory after a step to node positions x that was accepted."""
        ports = self.robot.ports
        return {
            name: ports[name].attachment.port.remembered(ports[name].attachment.positions(x), old)
            for name, old in self.memory.items()
        }

    def displacement(self, x: Array, references: Sequence[Array | None]) -> Array:
        """delta at node positions x, (k,); relative ports measured from references of all ports."""
        ports = self.robot.ports
        parts = [
            ports[name].attachment.at(x, references[number]).displacement[first:end]
            for number, (name, first, end) in zip(self._numbers, self._selection, strict=True)
        ]
        return np.concatenate([np.empty(0), *parts, self.extra.at(x)])

    def placed(self, x: Array) -> list[PlacedPort]:
        """The ports of the held rows with the nodes at x, relative ones measured from there."""
        return [self.robot.ports[name].attachment.faced(x) for name, _, _ in self._selection]

    def shortfall(self, x: Array, placed: Sequence[PlacedPort] | None = None) -> Array:
        """delta - d at node positions x, and slip since the anchors, (k,); placed: the ports there, where they are known."""
        here = self.placed(x) if placed is None else placed
        slips = [
            port.displacement[first:end] - anchor
            for port, (_, first, end), anchor in zip(
                here[len(self._held) :], self._slipping, self._anchors, strict=True
            )
        ]
        extra = self.extra.at(x) - self.extra.displacement if len(self.extra) else np.empty(0)
        return np.concatenate([self._short_of_given(here), *slips, extra])

    def way_to_go(self, x: Array) -> Array:
        """delta - d of given displacements at node positions x, zero for other rows, (k,): what load steps bring on in
        parts."""
        return np.concatenate([self._short_of_given(self.placed(x)), np.zeros(len(self.rows) - len(self._given))])

    def _short_of_given(self, placed: Sequence[PlacedPort]) -> Array:
        ports, parts = self.robot.ports, [np.empty(0)]
        for port, (name, _, end) in zip(placed, self._held, strict=False):
            parts.append(port.shortfall(ports[name].displacement)[:end])
        return np.concatenate(parts)

    def linear_step(self, at: Factored, force: Array, efforts: Array, offset: Array | float = 0.0) -> HeldStep:
        """The step A^-1 (f + scale H^T (lambda+ - lambda)) with the efforts lambda+ that hold the rows after it.

        force f (n, 3): such that A^-1 f is the step with the efforts (m + k,) as they are; offset (k,): how far from the given
        displacements to stay.
        """
        self.update(at.pose, efforts)
        now = efforts[self.rows]
        placed = [at.placed[number] for number in self._numbers]
        rows = at.equations.rows_of(self._selection).at(placed, at.T, self.extra)
        found = at.condense(rows, force)
        W = at.scale * found.W
        short = self.shortfall(at.pose.x, placed) - offset
        if not np.isfinite(W).all():  # a row without a direction leads nowhere, and whoever takes the step sees it
            return HeldStep(np.full((at.equations.assembly.coordinate_count, 3), np.nan), now, W, found.shift)
        target = limited_efforts(W + np.diag(self.compliance), short + found.shift - W @ now, self.limits, now)
        step = found.resume(at.scale * (target - now))
        return HeldStep(step, target, W, found.shift + W @ (target - now))

    def with_efforts(self, efforts: Array, held: Array) -> Array:
        """Efforts (m + k,) with those of the held rows (k,) in their places."""
        out: Array = efforts.copy()
        out[self.rows] = held
        return out

    def barrier(self, short: Array) -> float:
        """sum max over lambda of (-lambda s - 1/2 c lambda^2), limits without compliance cut at the penalty: what holding
        the rows costs when they are off by s."""
        stiff = self.compliance == 0.0
        cut = np.where(stiff, self.penalty, np.inf)
        low, high = np.maximum(self.limits[:, 0], -cut), np.minimum(self.limits[:, 1], cut)
        soft = np.clip(-short / np.where(stiff, 1.0, self.compliance), low, high)
        best = np.where(stiff, np.where(short > 0, low, high), soft)
        return float((-best * short - 0.5 * self.compliance * best**2).sum())

    def violation(self, short: Array, efforts: Array, W: Array) -> Array:
        """How far each row is from where its law has it, or from its limit where that holds it, (k,), in its unit."""
        stiffness = np.diag(W) + self.compliance
        per = np.where(stiffness > 0.0, stiffness, 1.0)
        off = short + self.compliance * efforts
        return np.asarray(np.abs(efforts - np.clip(efforts - off / per, *self.limits.T)) * per)
