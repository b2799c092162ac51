"""Motion through time: backward Euler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.algebra.sparse import Report
from pliant.body import Pose
from pliant.body.body import Tangent
from pliant.errors import InputError
from pliant.motion.line_search import longest_good_step
from pliant.motion.result import Status, StepResult
from pliant.motion.statics import as_positions
from pliant.robot import Robot, State
from pliant.robot.system import Times

Array = NDArray[np.float64]


class Dynamics:
    """Backward Euler steps of h seconds: M (v+ - v) + h (f(q+) - g + D v+) = h H^T lambda, x+ = x + h v+.

    method="linearized": one linearization per step, A v+ = M v + h (g - f) + h H^T lambda with A = M + h D + h^2 K_t (the
    papers' way, real time). method="newton": iterated until the equation holds to `tolerance`, relative to the largest
    impulse at work. First order in h, damps high frequencies, never unstable in the linear case.
    """

    def __init__(
        self,
        robot: Robot,
        step: float,
        *,
        method: str = "linearized",
        tangent: Tangent = "exact",
        tolerance: float = 1e-8,
        max_iterations: int = 25,
    ) -> None:
        if not (np.isfinite(step) and step > 0):
            raise InputError(f"the time step is {step} s", remedy="give a positive step, such as 0.01")
        if max_iterations < 1 or not tolerance > 0:
            raise InputError(f"tolerance {tolerance}, max_iterations {max_iterations}", remedy="both must be positive")
        if method not in ("linearized", "newton"):
            raise InputError(f"method is {method!r}", remedy="choose 'linearized' or 'newton'")
        self.robot = robot
        self.h = float(step)
        self.method = method
        self.tangent: Tangent = tangent
        self.tolerance = tolerance
        self.max_iterations = max_iterations

    def step(self, state: State, *, prescribed: ArrayLike | None = None) -> StepResult:
        """The state one time step later, under the robot's imposed efforts.

        prescribed [k, 3]: positions [m] of the prescribed nodes at the end of the step (default: they stay).
        """
        assembly = self.robot.system.assembly
        self.robot.system.require_fits(state)
        held = state.x[assembly.prescribed]
        target = held if prescribed is None else as_positions(prescribed, held.shape)
        times = Times()
        first = self._linearized(state, target, times)
        if self.method == "linearized" or not first.ok:
            return first
        return self._newton(replace(state, efforts=self.robot.efforts), target, first, times)

    def _linearized(self, state: State, target: Array, times: Times) -> StepResult:
        """The tangent is taken at the state with its own efforts, so that the step does what `robot.linearize` says."""
        system, h = self.robot.system, self.h
        _, gradient, report, definite = system.linearize_safely(
            state.pose, state.efforts, tangent=self.tangent, step=h, times=times
        )
        if not report.ok:
            cause = system.diagnosis(report, state.pose, moving=True)
            return StepResult(Status.FAILED, state, np.nan, 0, times.seconds, cause=cause)
        efforts = self.robot.efforts
        force = system.port_force(state.pose, efforts - state.efforts) - gradient
        residual = system.residual(force)
        impulse = system.momentum(state.v) + h * force
        shift = target - state.x[system.assembly.prescribed]
        if shift.any():
            impulse -= system.force_of_prescribed(shift / h)
        pose = system.assembly.moved(state.pose, h * system.solve(impulse), target)
        times.mark("solve")
        if not np.isfinite(pose.x).all():
            cause = system.diagnosis(report, pose, moving=True)
            return StepResult(Status.FAILED, state, np.nan, 1, times.seconds, cause=cause)
        status = Status.STEPPED if definite else Status.WARPED
        after = self._arrived(replace(state, efforts=efforts), pose)
        return StepResult(status, after, residual, 1, times.seconds, (residual,))

    def _newton(self, state: State, target: Array, first: StepResult, times: Times) -> StepResult:
        """Minimize the potential of the step from the linearized step on (see `_Increment`)."""
        system = self.robot.system
        increment = _Increment(self.robot, state, self.h)
        pose, warped = first.state.pose, int(first.status is Status.WARPED)
        history: list[float] = []
        for iteration in range(1, self.max_iterations + 1):
            merit, force, report, definite = increment.linearize(pose, self.tangent, times)
            if not report.ok:
                cause = system.diagnosis(report, pose, moving=True)
                return StepResult(Status.FAILED, state, np.nan, iteration, times.seconds, tuple(history), cause)
            warped += not definite
            history.append(system.residual(force))
            step = self.h**2 * system.solve(-force)
            allowed = max(self.tolerance * increment.scale, system.force_rounding(pose) / self.h**2)
            if history[-1] <= allowed or system.is_rounding(pose, step):
                return self._finished(Status.CONVERGED, state, pose, history, warped, times)
            slope = float(np.vdot(system.assembly.force_on_coordinates(force), step))
            times.mark("solve")
            moved = longest_good_step(increment.attempt(pose, step, target, times), merit, history[-1], slope)
            if moved is None:
                return self._finished(Status.STALLED, state, pose, history, warped, times)
            pose = moved
        return self._finished(Status.NOT_CONVERGED, state, pose, history, warped, times)

    def _finished(
        self, status: Status, state: State, pose: Pose, history: list[float], warped: int, times: Times
    ) -> StepResult:
        after = self._arrived(state, pose)
        return StepResult(
            status, after, history[-1], len(history), times.seconds, tuple(history), warped_iterations=warped
        )

    def _arrived(self, state: State, pose: Pose) -> State:
        return replace(state, pose=pose, v=(pose.x - state.x) / self.h, time=state.time + self.h)


class _Increment:
    """A step of backward Euler as a minimum, for line searches that cannot go wrong:

    Phi(x) = Pi(x) + 1/(2 h^2) |x - x0 - h v0|^2_M + 1/(2 h) |x - x0|^2_D,    D taken at the start.
    """

    def __init__(self, robot: Robot, state: State, h: float) -> None:
        self.system, self.state, self.h = robot.system, state, h
        self.damping = self.system.damping_blocks(state.pose)
        self.scale = 0.0

    def linearize(self, pose: Pose, tangent: Tangent, times: Times) -> tuple[float, Array, Report, bool]:
        """Phi, its gradient, and the factorized A = h^2 d2Phi."""
        potential, gradient, report, definite = self.system.linearize_safely(
            pose, self.state.efforts, tangent=tangent, step=self.h, damping=self.damping, times=times, patience=True
        )
        merit, force = self._with_motion(pose, potential, gradient)
        return merit, force, report, definite

    def attempt(
        self, pose: Pose, step: Array, target: Array, times: Times
    ) -> Callable[[float], tuple[Pose, float, float]]:
        """What a step of some length leads to, for the line search."""

        def at(length: float) -> tuple[Pose, float, float]:
            there = self.system.assembly.moved(pose, length * step, target)
            merit, force = self._with_motion(there, *self.system.evaluate(there, self.state.efforts))
            times.mark("search")
            return there, merit, self.system.residual(force)

        return at

    def _with_motion(self, pose: Pose, potential: float, gradient: Array) -> tuple[float, Array]:
        moved = pose.x - self.state.x
        jump = moved - self.h * self.state.v
        inertia = self.system.momentum(jump) / self.h**2
        drag = self.system.times_blocks(self.damping, moved) / self.h
        self.scale = max(float(np.abs(part).max()) for part in (inertia, gradient, drag))
        return potential + 0.5 * float(np.vdot(jump, inertia) + np.vdot(moved, drag)), gradient + inertia + drag
