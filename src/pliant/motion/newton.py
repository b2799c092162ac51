"""Newton's method: for equilibria, for steps of backward Euler, with held rows or without."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from pliant.body import Pose
from pliant.motion.held import Held, HeldStep
from pliant.motion.result import Status
from pliant.robot.distortion import Distortion
from pliant.robot.factored import Factored

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Point:
    """Where the iteration is: the factorized equations, and value and gradient on the nodes (n, 3) of what is minimized."""

    at: Factored
    value: float
    gradient: Array


class Objective(Protocol):
    """An equilibrium, or a step of backward Euler, as something to minimize."""

    def point(self, pose: Pose, efforts: Array) -> Point:
        """Linearized at a pose under efforts (m + k,)."""

    def evaluate(self, pose: Pose, efforts: Array, near: Factored) -> tuple[float, Array]:
        """Value and gradient on the nodes next to a point, measured as there."""

    def allowed(self, point: Point) -> Array:
        """Force out of balance that counts as none [N], (nc, 1)."""


@dataclass(frozen=True)
class Arrival:
    """Where the iteration ended and why; failed: the factorization that could not be made, where that was the reason."""

    status: Status
    pose: Pose
    efforts: Array
    history: tuple[float, ...]
    warped: int
    failed: Factored | None = None

    @property
    def residual(self) -> float:
        """Largest force out of balance at the end [N], [N m] for rigid parts."""
        return self.history[-1] if self.history else np.nan


@dataclass(frozen=True)
class _Try:
    pose: Pose
    efforts: Array
    merit: float
    off: float


class Newton:
    """Newton's method from a pose and efforts on; no held rows is the plain case.

    Every equilibrium is a minimum, so the line search looks at the value: steps that raise it are shortened (Armijo), and near
    the minimum, where differences of the value drown in rounding, a step that lowers what is out of balance is good as well.
    With held rows it looks at the exact penalty M = Pi0 + sum max(-low s, -high s), s = delta - d, of which every step is a
    direction downhill; there a step that halves what is off (forces and displacements, each over its tolerance) is good too, so
    that curved constraints do not hold up the last iterations. Either way it comes to an end.
    """

    def __init__(
        self, held: Held, objective: Objective, *, tolerance: float, max_iterations: int, search: bool = True
    ) -> None:
        self.held, self.objective, self.search = held, objective, search
        self.tolerance, self.max_iterations = tolerance, max_iterations
        self._size = held.robot.size

    def run(
        self, pose: Pose, efforts: Array, *, offset: Array | float = 0.0, prescribed: Array | None = None
    ) -> Arrival:
        """offset (k,): how far from the given displacements to stop (load steps); prescribed (p, 3): where those nodes go, in
        the first iteration."""
        held, warped, best = self.held, 0, np.inf
        history: list[float] = []
        for _ in range(self.max_iterations):
            point = self.objective.point(pose, efforts)
            at = point.at
            if not at.report.ok:
                return Arrival(Status.FAILED, pose, efforts, tuple(history), warped, at)
            warped += not at.definite
            force, moving = -point.gradient, False
            if prescribed is not None:
                shift = prescribed - pose.x[at.equations.assembly.prescribed]
                if moving := bool(shift.any()):
                    force -= at.force_of_prescribed(shift) / at.scale
            on_coordinates = at.on_coordinates(point.gradient)
            history.append(float(np.abs(on_coordinates).max()))
            allowed = self.objective.allowed(point)
            imbalance = at.imbalance(point.gradient, allowed)
            if not held and not moving and imbalance <= 1.0:
                return Arrival(Status.CONVERGED, pose, efforts, tuple(history), warped)
            move = self._step(at, at.scale * force, efforts, offset)
            close = self._close(move, efforts, allowed)
            short = held.shortfall(pose.x) - offset if held else np.empty(0)
            off = self._off(imbalance, short, efforts, move, close)
            if not moving and (off <= 1.0 or at.is_rounding(move.step)):
                settled = held.with_efforts(efforts, np.clip(efforts[held.rows], *held.limits.T))
                return Arrival(Status.CONVERGED, pose, settled, tuple(history), warped)
            best = min(best, off)
            if moving or not self.search:
                pose, efforts = at.moved(move.step, prescribed), held.with_efforts(efforts, move.efforts)
            else:
                found = self._search(point, efforts, move, short, offset, allowed, close, off, best)
                if found is None:
                    return Arrival(Status.STALLED, pose, efforts, tuple(history), warped)
                pose, efforts = found.pose, found.efforts
            if not Distortion.of(at.equations.assembly, pose.x, pose.x).is_material:
                break
        return Arrival(Status.NOT_CONVERGED, pose, efforts, tuple(history), warped)

    def _step(self, at: Factored, force: Array, efforts: Array, offset: Array | float) -> HeldStep:
        if self.held:
            return self.held.linear_step(at, force, efforts, offset)
        return HeldStep(at.solve(force), np.empty(0), np.empty((0, 0)), np.empty(0))

    def _close(self, move: HeldStep, efforts: Array, allowed: Array) -> Array:
        """Displacements that count as none, (k,): a share of what the efforts do, what the force that counts as none does,
        and rounding."""
        compliance = np.diag(move.W)
        reach = compliance * np.maximum(np.abs(efforts[self.held.rows]), np.abs(move.efforts))
        rounding = 16 * np.finfo(float).eps * self._size
        return np.asarray(max(self.tolerance, 1e-12) * reach + compliance * allowed.max() + rounding)

    def _off(self, imbalance: float, short: Array, efforts: Array, move: HeldStep, close: Array) -> float:
        """What is out of balance or not where it is held, over what counts as none."""
        violation = self.held.violation(short, efforts[self.held.rows], move.W) if self.held else np.empty(0)
        parts = np.append(violation / close, imbalance)
        return float(parts.max()) if np.isfinite(parts).all() else np.inf

    def _search(
        self,
        point: Point,
        efforts: Array,
        move: HeldStep,
        short: Array,
        offset: Array | float,
        allowed: Array,
        close: Array,
        off: float,
        best: float,
    ) -> _Try | None:
        """What the longest good step leads to, of length 1, 1/2, 1/4 ...; None where none is good."""
        held, at = self.held, point.at
        now = efforts[held.rows]
        held.penalty = np.maximum(held.penalty, 2 * np.maximum(np.abs(now), np.abs(move.efforts)))
        merit = point.value + self._of_held(at.pose, efforts, short, at)
        slope = float(np.vdot(at.on_coordinates(point.gradient), move.step) + now @ move.moved)
        slope += held.barrier(short + move.moved) - held.barrier(short) if held else 0.0
        rounding = 1e-9 * (abs(merit) + abs(slope))
        change = held.with_efforts(np.zeros_like(efforts), move.efforts - now)
        length = 1.0
        for _ in range(30):
            pose, trial = at.moved(length * move.step), efforts + length * change
            value, gradient = self.objective.evaluate(pose, trial, at)
            there = held.shortfall(pose.x) - offset if held else short
            tried = _Try(
                pose,
                trial,
                value + self._of_held(pose, trial, there, at),
                self._off(at.imbalance(gradient, allowed), there, trial, move, close),
            )
            if tried.merit <= merit + 1e-4 * length * slope:
                return tried
            if abs(tried.merit - merit) <= rounding and tried.off < off:
                return tried
            if held and tried.off <= 0.5 * best:
                return tried
            length *= 0.5
        return None

    def _of_held(self, pose: Pose, efforts: Array, short: Array, near: Factored) -> float:
        """What the penalty has in place of the work of the held rows."""
        held = self.held
        if not held:
            return 0.0
        work = efforts[held.rows] @ held.displacement(pose.x, near.references)
        return float(work) + held.barrier(short)
