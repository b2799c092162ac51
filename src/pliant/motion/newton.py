"""Newton's method: for equilibria, for steps of backward Euler, with held rows or without."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.body import Pose
from pliant.body.body import Tangent
from pliant.errors import PliantError
from pliant.motion.held import Held, HeldStep
from pliant.motion.increment import Increment
from pliant.motion.result import Status, StepResult
from pliant.robot import State
from pliant.robot.diagnosis import diagnosis, hardest_load
from pliant.robot.distortion import Distortion
from pliant.robot.equations import BY_HALVES, Loads, Times
from pliant.robot.factored import Factored

Array = NDArray[np.float64]


@dataclass(frozen=True)
class _Point:
    """Where the iteration is: the factorized equations, value and gradient on the nodes (n, 3) of what is minimized, and the
    force out of balance that counts as none [N], (nc, 1)."""

    at: Factored
    value: float
    gradient: Array
    allowed: Array


class Newton:
    """Newton's method from a pose and efforts on; no held rows is the plain case.

    Every equilibrium is a minimum, so the line search looks at the value: steps that raise it are shortened (Armijo), and near
    the minimum, where differences of the value drown in rounding, a step that lowers what is out of balance is good as well.
    With held rows it looks at the exact penalty M = Pi0 + sum max(-low s, -high s), s = delta - d, of which every step is a
    direction downhill; there a step that halves what is off (forces and displacements, each over its tolerance) is good too, so
    that curved constraints do not hold up the last iterations. Either way it comes to an end.
    """

    def __init__(
        self,
        held: Held,
        times: Times,
        *,
        tangent: Tangent,
        tolerance: float,
        max_iterations: int,
        search: bool = True,
        weight: float = 1.0,
        increment: Increment | None = None,
    ) -> None:
        """tolerance: force out of balance that counts as none, relative to the largest at work; weight: a share of gravity;
        increment: the step through time, where an equilibrium is not what is sought."""
        self.held, self.search, self.tolerance, self.max_iterations = held, search, tolerance, max_iterations
        self._tangent, self._weight, self._times = tangent, weight, times
        self._increment, self._h = increment, None if increment is None else increment.h
        self._equations, self._size = held.robot.equations, held.robot.size

    def run(
        self,
        state: State,
        efforts: Array,
        pose: Pose | None = None,
        *,
        offset: Array | float = 0.0,
        prescribed: Array | None = None,
    ) -> StepResult:
        """From a state, with efforts (m + k,) and another pose to begin with where there is one.

        offset (k,): how far from the given displacements to stop (load steps); prescribed (p, 3): where those nodes go, in the
        first iteration.
        """
        pose = state.pose if pose is None else pose
        held, warped, best = self.held, 0, np.inf
        status, history, cause = Status.NOT_CONVERGED, [], None
        for _ in range(self.max_iterations):
            point = self._point(pose, efforts)
            at = point.at
            if not at.report.ok:
                status, cause = Status.FAILED, diagnosis(at)
                break
            warped += not at.definite
            force, moving = -point.gradient, False
            if prescribed is not None:
                shift = prescribed - pose.x[at.equations.assembly.prescribed]
                if moving := bool(shift.any()):
                    force -= at.force_of_prescribed(shift) / at.scale
            history.append(float(np.abs(at.on_coordinates(point.gradient)).max()))
            imbalance = at.imbalance(point.gradient, point.allowed)
            if not held and not moving and imbalance <= 1.0:
                status = Status.CONVERGED
                break
            move = held.linear_step(at, at.scale * force, efforts, offset)
            close = self._close(move, efforts, point.allowed)
            short = held.shortfall(pose.x) - offset
            off = self._off(imbalance, short, efforts, move, close)
            if not moving and (off <= 1.0 or at.is_rounding(move.step)):
                status = Status.CONVERGED
                efforts = held.with_efforts(efforts, np.clip(efforts[held.rows], *held.limits.T))
                break
            best = min(best, off)
            if moving or not self.search:
                pose, efforts = at.moved(move.step, prescribed), held.with_efforts(efforts, move.efforts)
            else:
                found = self._search(point, efforts, move, short, offset, close, off, best)
                if found is None:
                    status = Status.STALLED
                    break
                pose, efforts = found
            if not Distortion.of(at.equations.assembly, pose.x, pose.x).is_material:
                break
        if cause is None:
            status, cause = self._judged(status, state, pose, efforts)
        after = state.moved(pose, efforts, self._h) if cause is None else state
        residual = history[-1] if history else np.nan
        return StepResult(status, after, residual, len(history), self._times.seconds, tuple(history), cause, warped)

    def _judged(self, status: Status, state: State, pose: Pose, efforts: Array) -> tuple[Status, PliantError | None]:
        """The status, and why, where that is not to be believed."""
        distortion = Distortion.of(self._equations.assembly, state.x, pose.x)
        if distortion.is_material:
            return status, None
        load = hardest_load(self._equations, state.pose, self._loads(efforts))
        what = load if self._h is None else f"a step of {self._h:.3g} s under {load}"
        return Status.DIVERGED, distortion.error(what)

    def _loads(self, efforts: Array) -> Loads:
        return self.held.robot.loads(efforts, extra=self.held.extra, weight=self._weight)

    def _point(self, pose: Pose, efforts: Array) -> _Point:
        """Linearized at a pose under efforts (m + k,)."""
        self._times.mark("solve")
        damping = None if self._increment is None else self._increment.damping
        at = self._equations.factor(
            pose, self._loads(efforts), tangent=self._tangent, fallback=BY_HALVES, h=self._h, damping=damping, times=self._times
        )  # fmt: skip
        if self._increment is None:
            value, gradient, largest = at.here.potential, at.here.gradient, at.largest_force()
        else:
            value, gradient, largest = self._increment.at(pose, at.here)
        return _Point(at, value, gradient, np.maximum(self.tolerance * largest, at.force_rounding()))

    def _evaluated(self, pose: Pose, efforts: Array, near: Factored) -> tuple[float, Array]:
        """Value and gradient on the nodes next to a point, measured as there."""
        here = self._equations.evaluate(pose, self._loads(efforts), near.placed)
        value, gradient = here.potential, here.gradient
        if self._increment is not None:
            value, gradient, _ = self._increment.at(pose, here)
        self._times.mark("search")
        return value, gradient

    def _close(self, move: HeldStep, efforts: Array, allowed: Array) -> Array:
        """Displacements that count as none, (k,): a share of what the efforts do, what the force that counts as none does,
        and rounding."""
        compliance = np.diag(move.W)
        reach = compliance * np.maximum(np.abs(efforts[self.held.rows]), np.abs(move.efforts))
        rounding = 16 * np.finfo(float).eps * self._size
        return np.asarray(max(self.tolerance, 1e-12) * reach + compliance * allowed.max() + rounding)

    def _off(self, imbalance: float, short: Array, efforts: Array, move: HeldStep, close: Array) -> float:
        """What is out of balance or not where it is held, over what counts as none."""
        if not self.held:
            return imbalance if np.isfinite(imbalance) else np.inf
        violation = self.held.violation(short, efforts[self.held.rows], move.W)
        parts = np.append(violation / close, imbalance)
        return float(parts.max()) if np.isfinite(parts).all() else np.inf

    def _search(
        self,
        point: _Point,
        efforts: Array,
        move: HeldStep,
        short: Array,
        offset: Array | float,
        close: Array,
        off: float,
        best: float,
    ) -> tuple[Pose, Array] | None:
        """What the longest good step leads to, of length 1, 1/2, 1/4 ...; None where none is good."""
        held, at = self.held, point.at
        now = efforts[held.rows]
        held.penalty = np.maximum(held.penalty, 2 * np.maximum(np.abs(now), np.abs(move.efforts)))
        merit = point.value + self._of_held(at.pose, efforts, short, at)
        slope = float(np.vdot(at.on_coordinates(point.gradient), move.step) + now @ move.moved)
        slope += held.barrier(short + move.moved) - held.barrier(short) if held else 0.0
        rounding = 1e-9 * (abs(merit) + abs(slope))
        change = held.with_efforts(np.zeros_like(efforts), move.efforts - now)
        for length in 0.5 ** np.arange(30):
            pose, trial = at.moved(length * move.step), efforts + length * change
            value, gradient = self._evaluated(pose, trial, at)
            there = held.shortfall(pose.x) - offset
            reached = value + self._of_held(pose, trial, there, at)
            its_off = self._off(at.imbalance(gradient, point.allowed), there, trial, move, close)
            if (
                reached <= merit + 1e-4 * length * slope
                or (abs(reached - merit) <= rounding and its_off < off)
                or (held and its_off <= 0.5 * best)
            ):
                return pose, trial
        return None

    def _of_held(self, pose: Pose, efforts: Array, short: Array, near: Factored) -> float:
        """What the penalty has in place of the work of the held rows."""
        if not self.held:
            return 0.0
        work = efforts[self.held.rows] @ self.held.displacement(pose.x, near.placed)
        return float(work) + self.held.barrier(short)
