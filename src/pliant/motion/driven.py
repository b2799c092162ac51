"""Ports whose displacement is given: the efforts that hold them there.

    min Pi0(q)   subject to   delta_i(q) = d_i,   as far as   low_i <= lambda_i <= high_i

The multipliers are the efforts. Where one is at its limit the port is let go: a cable with low = 0 is slack (delta > d), a
motor at its largest effort gives way (delta < d). One linearization (see `robot/system.py`) leaves a small QP in the efforts,

    min 1/2 lambda^T W lambda + lambda^T (delta_free - d)   subject to   low <= lambda <= high

and with its answer lambda+ the step K_t dq = -dPi0/dq + H^T lambda+. The same, with A and the step's potential in place of
K_t and Pi0, is a step of backward Euler.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.limited import limited_efforts
from pliant.algebra.sparse import Report
from pliant.body import Pose
from pliant.robot import Robot, Role, State

Array = NDArray[np.float64]


class Driven:
    """The rows of a robot whose efforts are not given: those of driven ports, and those with a law of their own (friction).

    A law of its own is `InnerLaw`: held at an anchor, with a compliance c, so that it adds 1/2 c lambda^2 to the QP above.
    """

    def __init__(self, robot: Robot, memory: Mapping[str, Array]) -> None:
        self.robot, self.memory = robot, memory
        system = robot.system
        self._held = robot.named(Role.DRIVEN)
        self._parts: list[tuple[str, slice]] = []
        for name in self._held:
            self._parts.append((name, slice(0, robot.ports[name].given_rows)))
        for name in system.remembering:
            self._parts.append((name, slice(robot.ports[name].given_rows, system.attachments[name].row_count)))
        firsts = [system.slices[name].start for name, _ in self._parts]
        rows = [np.arange(p.start, p.stop) + first for first, (_, p) in zip(firsts, self._parts, strict=True)]
        self.rows = np.concatenate([np.empty(0, np.intp), *rows])
        self.given = np.concatenate([np.empty((0, 2)), *(robot.limits[name].effort for name in self._held)])
        self.limits, self.compliance = self.given, np.zeros(len(self.given))
        self.anchors: dict[str, Array] = {}
        self.penalty = np.zeros(len(self.rows))

    def __bool__(self) -> bool:
        return bool(self._parts)

    def efforts(self, now: Array) -> Array:
        """The robot's efforts [m], for driven rows those of `now`."""
        out = self.robot.efforts
        out[self.rows] = now[self.rows]
        return out

    def update(self, pose: Pose, efforts: Array) -> None:
        """Take the laws of friction as they are at a pose and efforts [m]."""
        system = self.robot.system
        if not system.remembering:
            return
        laws = []
        for name in system.remembering:
            attachment = system.attachments[name]
            own = efforts[system.slices[name]]
            laws.append(attachment.port.inner_law(attachment.positions(pose.x), own, self.memory[name]))
            self.anchors[name] = laws[-1].anchor
        limits = [np.stack([law.low, law.high], axis=1) for law in laws]
        self.limits = np.concatenate([self.given, *limits])
        self.compliance = np.concatenate([np.zeros(len(self.given)), *(law.compliance for law in laws)])

    def remembered(self, x: Array) -> Mapping[str, Array]:
        """The memory after a step to node positions x that was accepted."""
        ports = self.robot.system.attachments
        return {name: ports[name].port.remembered(ports[name].positions(x), old) for name, old in self.memory.items()}

    def displacement(self, x: Array) -> Array:
        """delta at node positions x, measured as at the last linearization, [k]."""
        parts = [self.robot.system.attachments[name].displacement(x)[part] for name, part in self._parts]
        return np.concatenate([np.empty(0), *parts])

    def shortfall(self, x: Array) -> Array:
        """delta - d at node positions x, and slip since the anchors, [k]."""
        ports, aims = self.robot.system.attachments, self.robot.displacements
        held = [ports[name].shortfall(x, aims[name])[part] for name, part in self._parts[: len(self._held)]]
        slips = [
            ports[name].displacement(x)[part] - self.anchors[name] for name, part in self._parts[len(self._held) :]
        ]
        return np.concatenate([np.empty(0), *held, *slips])

    def way_to_go(self, x: Array) -> Array:
        """delta - d at node positions x, zero for friction, [k]: what load steps bring on in parts."""
        ports, aims = self.robot.system.attachments, self.robot.displacements
        held = [ports[name].shortfall(x, aims[name])[part] for name, part in self._parts[: len(self._held)]]
        return np.concatenate([*held, np.zeros(len(self.rows) - len(self.given))])

    def respond(self, pose: Pose, scale: float = 1.0) -> tuple[Array, Array, Array]:
        """H [k, 3 nc], the motions X = scale A^-1 H^T [k, 3 nc] per unit of effort, and W = H X, by the last factorization."""
        system = self.robot.system
        H = np.zeros((len(self.rows), 3 * system.assembly.coordinate_count))
        first = 0
        for name, part in self._parts:
            attachment = system.attachments[name]
            force = np.zeros((system.assembly.node_count, 3))
            for slope in attachment.slopes(pose.x)[part]:
                force[:] = 0.0
                force[attachment.entry_nodes] = slope
                H[first] = system.assembly.force_on_coordinates(force).reshape(-1)
                first += 1
        X = H.copy()
        for row in X:
            system.cholesky.solve_into(row, row)
        X *= scale
        return H, X, H @ X.T

    def linear_step(
        self, state: State, rest: Array, efforts: Array, scale: float = 1.0, offset: Array | None = None
    ) -> tuple[Array, Array]:
        """A linearized step [nc, 3] and the efforts [m] that hold the driven ports after it.

        rest [nc, 3]: the step with the driven efforts as they are in `efforts`; scale: of the factorized matrix (see
        `Problem`); offset [k]: how far from the given displacements to stay.
        """
        self.update(state.pose, efforts)
        H, X, W = self.respond(state.pose, scale)
        now = efforts[self.rows]
        short = self.shortfall(state.x) if offset is None else self.shortfall(state.x) - offset
        target = self.decide(W, short + H @ rest.reshape(-1) - W @ now, now)
        after = efforts.copy()
        after[self.rows] = target
        return rest + ((target - now) @ X).reshape(-1, 3), after

    def decide(self, W: Array, free: Array, now: Array) -> Array:
        """Efforts [k] that bring W lambda + c lambda + free [k] to zero, within limits."""
        return limited_efforts(W + np.diag(self.compliance), free, self.limits, now)

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
        """How far each row is from where its law has it, or from its limit where that holds it, [k], in its unit."""
        stiffness = np.diag(W) + self.compliance
        per = np.where(stiffness > 0.0, stiffness, 1.0)
        off = short + self.compliance * efforts
        return np.asarray(np.abs(efforts - np.clip(efforts - off / per, *self.limits.T)) * per)


class Problem(Protocol):
    """An equilibrium, or a step of backward Euler, as something to minimize."""

    scale: float
    """The factorized matrix is scale x the Hessian of the value."""

    def linearize(self, pose: Pose, efforts: Array) -> tuple[float, Array, Report, bool]:
        """Value, gradient on the nodes, how the factorization went, and whether with the whole exact tangent."""

    def evaluate(self, pose: Pose, efforts: Array) -> tuple[float, Array]:
        """Value and gradient on the nodes."""

    def allowed(self, pose: Pose) -> Array:
        """Force out of balance that counts as none [N], [nc, 1]."""


@dataclass(frozen=True)
class Arrival:
    """Where the iteration ended; how: the name of a `Status`; report: of the factorization that failed."""

    how: str
    pose: Pose
    efforts: Array
    history: tuple[float, ...]
    warped: int
    report: Report | None = None


@dataclass(frozen=True)
class _Try:
    pose: Pose
    efforts: Array
    merit: float
    off: float


class DrivenNewton:
    """Newton's method with driven ports, from a pose and efforts.

    The line search looks at the exact penalty M = Pi0 + sum max(-low s, -high s), s = delta - d, of which every step is a
    direction downhill; a step that halves the smallest residual (forces and displacements, each over its tolerance) so far is
    good as well, so that curved constraints do not hold up the last iterations. Either way it comes to an end.
    """

    def __init__(
        self, driven: Driven, problem: Problem, *, tolerance: float, max_iterations: int, search: bool = True
    ) -> None:
        self.driven, self.problem, self.search = driven, problem, search
        self.tolerance, self.max_iterations = tolerance, max_iterations
        self._system = driven.robot.system
        self._size = driven.robot.size

    def run(self, pose: Pose, efforts: Array, offset: Array) -> Arrival:
        """offset [k]: how far from the given displacements to stop (load steps), else zero."""
        system, driven = self._system, self.driven
        rows, warped, best = driven.rows, 0, np.inf
        history: list[float] = []
        efforts = efforts.copy()
        for _ in range(self.max_iterations):
            value, gradient, report, definite = self.problem.linearize(pose, efforts)
            if not report.ok:
                return Arrival("FAILED", pose, efforts, tuple(history), warped, report)
            warped += not definite
            driven.update(pose, efforts)
            residual, allowed = system.residual(gradient), self.problem.allowed(pose)
            own_gradient = system.assembly.force_on_coordinates(gradient).reshape(-1)
            rest = self.problem.scale * system.solve(-gradient).reshape(-1)
            H, X, W = driven.respond(pose, self.problem.scale)
            short = driven.shortfall(pose.x) - offset
            now = efforts[rows]
            target = driven.decide(W, short + H @ rest - W @ now, now)
            close = self._close(W, now, target, allowed)
            off = self._off(system.imbalance(gradient, allowed), driven.violation(short, now, W), close)
            history.append(residual)
            step = rest + (target - now) @ X
            if off <= 1.0 or system.is_rounding(pose, step.reshape(-1, 3)):
                settled = efforts.copy()
                settled[rows] = np.clip(now, *driven.limits.T)
                return Arrival("CONVERGED", pose, settled, tuple(history), warped)
            best = min(best, off)
            driven.penalty = np.maximum(driven.penalty, 2 * np.maximum(np.abs(now), np.abs(target)))
            merit = value + float(now @ driven.displacement(pose.x)) + driven.barrier(short)
            slope = float((own_gradient + now @ H) @ step) + driven.barrier(short + H @ step) - driven.barrier(short)
            attempt = self._attempts(pose, efforts, step, target, offset, W, allowed, close)
            found = _longest(attempt, merit, slope, best) if self.search else attempt(1.0)
            if found is None:
                return Arrival("STALLED", pose, efforts, tuple(history), warped)
            pose, efforts = found.pose, found.efforts
            if not system.distortion(pose, pose).is_material:
                break
        return Arrival("NOT_CONVERGED", pose, efforts, tuple(history), warped)

    def _close(self, W: Array, now: Array, target: Array, allowed: Array) -> Array:
        """Displacements that count as none, [k]: a share of what the efforts do, what the force that counts as none does, and
        rounding."""
        reach = np.diag(W) * np.maximum(np.abs(now), np.abs(target))
        rounding = 16 * np.finfo(float).eps * self._size
        return np.asarray(max(self.tolerance, 1e-12) * reach + np.diag(W) * allowed.max() + rounding)

    @staticmethod
    def _off(imbalance: float, violation: Array, close: Array) -> float:
        parts = np.append(violation / close, imbalance)
        return float(parts.max()) if np.isfinite(parts).all() else np.inf

    def _attempts(
        self,
        pose: Pose,
        efforts: Array,
        step: Array,
        target: Array,
        offset: Array,
        W: Array,
        allowed: Array,
        close: Array,
    ) -> Callable[[float], _Try]:
        system, driven = self._system, self.driven
        change = np.zeros_like(efforts)
        change[driven.rows] = target - efforts[driven.rows]

        def at(length: float) -> _Try:
            there = system.assembly.moved(pose, length * step)
            trial = efforts + length * change
            value, gradient = self.problem.evaluate(there, trial)
            short = driven.shortfall(there.x) - offset
            own = trial[driven.rows]
            merit = value + float(own @ driven.displacement(there.x)) + driven.barrier(short)
            off = self._off(system.imbalance(gradient, allowed), driven.violation(short, own, W), close)
            return _Try(there, trial, merit, off)

        return at


def _longest(attempt: Callable[[float], _Try], merit: float, slope: float, best: float) -> _Try | None:
    """The first of the steps of length 1, 1/2, 1/4 ... that lowers the merit enough (Armijo) or halves the residual."""
    length = 1.0
    for _ in range(30):
        found = attempt(length)
        if found.merit <= merit + 1e-4 * length * slope or found.off <= 0.5 * best:
            return found
        length *= 0.5
    return None
