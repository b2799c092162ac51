"""Motion through time: backward Euler."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.algebra.sparse import Report
from pliant.body import Pose
from pliant.body.body import Tangent
from pliant.checks import number, one_of, require_kind_of, whole
from pliant.errors import NotConvergedError, PliantError
from pliant.motion.driven import Driven, DrivenNewton
from pliant.motion.line_search import longest_good_step
from pliant.motion.result import Status, StepResult
from pliant.motion.statics import as_positions
from pliant.robot import Robot, State
from pliant.robot.distortion import SHORTEST
from pliant.robot.system import Times, require_tangent

Array = NDArray[np.float64]


class Dynamics:
    """Backward Euler steps of h seconds: M (v+ - v) + h (f(q+) - g + D v+) = h H^T lambda, x+ = x + h v+.

    method="linearized": one linearization per step, A v+ = M v + h (g - f) + h H^T lambda with A = M + h D + h^2 K_t (the
    papers' way, real time). method="newton": iterated until the equation holds to `tolerance`, relative to the largest
    impulse at work. First order in h, damps high frequencies, never unstable in the linear case.

    A linearized step that would distort elements beyond belief (`robot.distortion`) is taken in 2, 4, ... 64 equal parts:
    status SHORTENED; where that does not help either, the step fails and the state stays.
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
        require_kind_of(robot, "robot", Robot)
        require_tangent(tangent)
        self.robot = robot
        self.h = number(step, "the time step", unit="s", above=0.0, remedy="give a positive step, such as 0.01")
        self.method = one_of(method, "method", ("linearized", "newton"))
        self.tangent: Tangent = tangent
        self.tolerance = number(tolerance, "tolerance", above=0.0)
        self.max_iterations = whole(max_iterations, "max_iterations")

    def step(self, state: State, *, prescribed: ArrayLike | None = None) -> StepResult:
        """The state one time step later, under the robot's imposed efforts and displacements.

        prescribed [k, 3]: positions [m] of the prescribed nodes at the end of the step (default: they stay).
        """
        assembly = self.robot.system.assembly
        self.robot.system.require_fits(state)
        held = state.x[assembly.prescribed]
        target = held if prescribed is None else as_positions(prescribed, held.shape)
        times = Times()
        if self.method == "linearized":
            return self._in_parts(state, target, times)
        driven = Driven(self.robot, state.memory)
        first = self._linearized(state, target, driven, self.h, times)
        if not (first.ok or isinstance(first.cause, _Overreach)):
            return first
        begin = replace(state, efforts=first.state.efforts if first.ok else driven.efforts(state.efforts))
        result = (
            self._newton_driven(begin, target, first, driven, times)
            if driven
            else self._newton(begin, target, first, times)
        )
        if state.memory and result.ok:
            result = replace(result, state=replace(result.state, memory=driven.remembered(result.state.x)))
        return result

    def _in_parts(self, state: State, target: Array, times: Times) -> StepResult:
        """The step as a whole where it is believed, else in as many equal parts as that takes."""
        parts, most = 1, round(1 / SHORTEST)
        while True:
            result = self._taken(state, target, parts, times)
            if result.ok or parts >= most or not isinstance(result.cause, _Overreach):
                break
            parts *= 2
        cause = result.cause.error if isinstance(result.cause, _Overreach) else result.cause
        status = Status.SHORTENED if parts > 1 and result.ok else result.status
        return replace(result, status=status, state=result.state if result.ok else state, cause=cause)

    def _taken(self, state: State, target: Array, parts: int, times: Times) -> StepResult:
        """The step in equal parts; what is prescribed and what is held moves on in parts, too."""
        held = state.x[self.robot.system.assembly.prescribed]
        way = Driven(self.robot, state.memory).way_to_go(state.x)
        current = state
        for k in range(1, parts + 1):
            driven = Driven(self.robot, current.memory)
            share = k / parts
            result = self._linearized(
                current, held + share * (target - held), driven, self.h / parts, times, offset=(1 - share) * way
            )
            if not result.ok:
                return result
            current = replace(result.state, memory=driven.remembered(result.state.x))
        return replace(result, state=replace(current, time=state.time + self.h), iterations=parts)

    def _linearized(
        self, state: State, target: Array, driven: Driven, h: float, times: Times, offset: Array | None = None
    ) -> StepResult:
        """One linearized step of h seconds. The tangent is taken at the state with its own efforts, so that the step does what
        `robot.linearize` says. offset [k]: how far from the given displacements of driven ports to stay."""
        system = self.robot.system
        _, gradient, report, definite = system.linearize_safely(
            state.pose, state.efforts, tangent=self.tangent, step=h, times=times
        )
        if not report.ok:
            cause = system.diagnosis(report, state.pose, moving=True)
            return StepResult(Status.FAILED, state, np.nan, 0, times.seconds, cause=cause)
        efforts = driven.efforts(state.efforts)
        force = system.port_force(state.pose, efforts - state.efforts) - gradient
        residual = system.residual(force)
        impulse = system.momentum(state.v) + h * force
        shift = target - state.x[system.assembly.prescribed]
        if shift.any():
            impulse -= system.force_of_prescribed(shift / h)
        step = h * system.solve(impulse)
        if driven:
            step, efforts = driven.linear_step(state, step, efforts, h * h, offset)
        pose = system.assembly.moved(state.pose, step, target)
        times.mark("solve")
        if not np.isfinite(pose.x).all():
            cause = system.diagnosis(report, pose, moving=True)
            return StepResult(Status.FAILED, state, np.nan, 1, times.seconds, cause=cause)
        distortion = system.distortion(state.pose, pose)
        if not distortion.is_believable:
            what = f"a linearized step of {h:.3g} s under {system.hardest_port(state.pose, efforts)}"
            return StepResult(Status.FAILED, state, np.nan, 1, times.seconds, cause=_Overreach(distortion.error(what)))
        status = Status.STEPPED if definite else Status.WARPED
        after = self._arrived(replace(state, efforts=efforts), pose, h)
        return StepResult(status, after, residual, 1, times.seconds, (residual,))

    def _newton(self, state: State, target: Array, first: StepResult, times: Times) -> StepResult:
        """Minimize the potential of the step from the linearized step on (see `_Increment`)."""
        system = self.robot.system
        increment = _Increment(self, state, times)
        pose = first.state.pose if first.ok else self._held_on(state.pose, target)
        warped = int(first.status is Status.WARPED)
        history: list[float] = []
        for iteration in range(1, self.max_iterations + 1):
            merit, force, report, definite = increment.linearize(pose, state.efforts)
            if not report.ok:
                cause = system.diagnosis(report, pose, moving=True)
                return StepResult(Status.FAILED, state, np.nan, iteration, times.seconds, tuple(history), cause)
            warped += not definite
            history.append(system.residual(force))
            step = self.h**2 * system.solve(-force)
            balanced = system.imbalance(force, increment.allowed(pose)) <= 1.0
            if balanced or system.is_rounding(pose, step):
                return self._finished(Status.CONVERGED, state, pose, history, warped, times)
            slope = float(np.vdot(system.assembly.force_on_coordinates(force), step))
            times.mark("solve")
            moved = longest_good_step(increment.attempt(pose, step, target), merit, history[-1], slope)
            if moved is None:
                return self._finished(Status.STALLED, state, pose, history, warped, times)
            pose = moved
            if not system.distortion(state.pose, pose).is_material:
                break
        return self._finished(Status.NOT_CONVERGED, state, pose, history, warped, times)

    def _newton_driven(
        self, state: State, target: Array, first: StepResult, driven: Driven, times: Times
    ) -> StepResult:
        system = self.robot.system
        increment = _Increment(self, state, times)
        newton = DrivenNewton(driven, increment, tolerance=self.tolerance, max_iterations=self.max_iterations)
        pose = first.state.pose if first.ok else self._held_on(state.pose, target)
        end = newton.run(pose, state.efforts, np.zeros(len(driven.rows)))
        if end.report is not None:
            cause = system.diagnosis(end.report, end.pose, moving=True)
            return StepResult(Status.FAILED, state, np.nan, len(end.history), times.seconds, end.history, cause)
        warped = end.warped + int(first.status is Status.WARPED)
        after = replace(state, efforts=end.efforts)
        return self._finished(Status[end.how], after, end.pose, list(end.history), warped, times)

    def _held_on(self, pose: Pose, target: Array) -> Pose:
        """The same pose with the prescribed nodes where they are to be: where Newton begins if one step is not believed."""
        assembly = self.robot.system.assembly
        return assembly.moved(pose, np.zeros((assembly.coordinate_count, 3)), target)

    def _finished(
        self, status: Status, state: State, pose: Pose, history: list[float], warped: int, times: Times
    ) -> StepResult:
        distortion = self.robot.system.distortion(state.pose, pose)
        if not distortion.is_material:
            load = self.robot.system.hardest_port(state.pose, state.efforts)
            cause = distortion.error(f"a step of {self.h:.3g} s under {load}")
            return StepResult(Status.DIVERGED, state, history[-1], len(history), times.seconds, tuple(history), cause)
        after = self._arrived(state, pose, self.h)
        return StepResult(
            status, after, history[-1], len(history), times.seconds, tuple(history), warped_iterations=warped
        )

    @staticmethod
    def _arrived(state: State, pose: Pose, h: float) -> State:
        return replace(state, pose=pose, v=(pose.x - state.x) / h, time=state.time + h)


class _Overreach(NotConvergedError):
    """A step that is not believed: shorter ones may be; error: what to tell where none is."""

    def __init__(self, error: PliantError) -> None:
        super().__init__(error.what, remedy=error.remedy)
        self.error = error


class _Increment:
    """A step of backward Euler as a minimum, for line searches that cannot go wrong:

    Phi(x) = Pi(x) + 1/(2 h^2) |x - x0 - h v0|^2_M + 1/(2 h) |x - x0|^2_D,    D taken at the start.
    """

    def __init__(self, motion: Dynamics, state: State, times: Times) -> None:
        self.system, self.state, self.h, self.scale = motion.robot.system, state, motion.h, motion.h**2
        self.damping = self.system.damping_blocks(state.pose)
        self._motion, self._times = motion, times
        self._largest = 0.0

    def linearize(self, pose: Pose, efforts: Array) -> tuple[float, Array, Report, bool]:
        """Phi, its gradient, and the factorized A = h^2 d2Phi."""
        potential, gradient, report, definite = self.system.linearize_safely(
            pose,
            efforts,
            tangent=self._motion.tangent,
            step=self.h,
            damping=self.damping,
            times=self._times,
            patience=True,
        )
        merit, force = self._with_motion(pose, potential, gradient)
        return merit, force, report, definite

    def evaluate(self, pose: Pose, efforts: Array) -> tuple[float, Array]:
        """Phi and its gradient."""
        result = self._with_motion(pose, *self.system.evaluate(pose, efforts))
        self._times.mark("search")
        return result

    def allowed(self, pose: Pose) -> Array:
        """Force out of balance that counts as none [N], [nc, 1]."""
        return np.maximum(self._motion.tolerance * self._largest, self.system.force_rounding(pose) / self.scale)

    def attempt(self, pose: Pose, step: Array, target: Array) -> Callable[[float], tuple[Pose, float, float]]:
        """What a step of some length leads to, for the line search."""

        def at(length: float) -> tuple[Pose, float, float]:
            there = self.system.assembly.moved(pose, length * step, target)
            merit, force = self.evaluate(there, self.state.efforts)
            return there, merit, self.system.residual(force)

        return at

    def _with_motion(self, pose: Pose, potential: float, gradient: Array) -> tuple[float, Array]:
        moved = pose.x - self.state.x
        jump = moved - self.h * self.state.v
        inertia = self.system.momentum(jump) / self.h**2
        drag = self.system.times_blocks(self.damping, moved) / self.h
        self._largest = max(float(np.abs(part).max()) for part in (inertia, gradient, drag))
        return potential + 0.5 * float(np.vdot(jump, inertia) + np.vdot(moved, drag)), gradient + inertia + drag
