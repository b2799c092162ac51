"""Motion through time: backward Euler."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.body import Pose
from pliant.body.body import Tangent
from pliant.checks import number, one_of, require_kind_of, whole
from pliant.errors import NotConvergedError, PliantError
from pliant.motion.held import Held
from pliant.motion.newton import Newton, Point
from pliant.motion.result import Status, StepResult
from pliant.motion.statics import as_positions
from pliant.robot import ExtraRows, Robot, State
from pliant.robot.diagnosis import diagnosis, hardest_load
from pliant.robot.distortion import SHORTEST, Distortion
from pliant.robot.equations import Evaluation, Times, require_tangent
from pliant.robot.extra import NO_ROWS
from pliant.robot.factored import Factored

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
        h: float,
        *,
        method: str = "linearized",
        tangent: Tangent = "exact",
        tolerance: float = 1e-8,
        max_iterations: int = 25,
    ) -> None:
        require_kind_of(robot, "robot", Robot)
        require_tangent(tangent)
        self.robot = robot
        self.h = number(h, "the time step", unit="s", above=0.0, remedy="give a positive step, such as 0.01")
        self.method = one_of(method, "method", ("linearized", "newton"))
        self.tangent: Tangent = tangent
        self.tolerance = number(tolerance, "tolerance", above=0.0)
        self.max_iterations = whole(max_iterations, "max_iterations")

    def step(self, state: State, *, prescribed: ArrayLike | None = None, extra: ExtraRows = NO_ROWS) -> StepResult:
        """The state one time step later, under the robot's imposed efforts and displacements.

        prescribed (k, 3): positions [m] of the prescribed nodes at the end of the step (default: they stay). extra: rows that
        are held besides.
        """
        assembly = self.robot.equations.assembly
        self.robot.require_fits(state)
        here = state.x[assembly.prescribed]
        target = here if prescribed is None else as_positions(prescribed, here.shape)
        times = Times()
        if self.method == "linearized":
            return self._in_parts(state, target, extra, times)
        held = Held(self.robot, state, extra)
        first = self._linearized(state, target, held, self.h, times)
        if not (first.ok or isinstance(first.cause, _Overreach)):
            return first
        result = self._newton(state, target, first, held, times)
        if state.memory and result.ok:
            result = replace(result, state=replace(result.state, memory=held.remembered(result.state.x)))
        return result

    def _in_parts(self, state: State, target: Array, extra: ExtraRows, times: Times) -> StepResult:
        """The step as a whole where it is believed, else in as many equal parts as that takes."""
        parts, most = 1, round(1 / SHORTEST)
        while True:
            result = self._taken(state, target, extra, parts, times)
            if result.ok or parts >= most or not isinstance(result.cause, _Overreach):
                break
            parts *= 2
        cause = result.cause.error if isinstance(result.cause, _Overreach) else result.cause
        status = Status.SHORTENED if parts > 1 and result.ok else result.status
        return replace(result, status=status, state=result.state if result.ok else state, cause=cause)

    def _taken(self, state: State, target: Array, extra: ExtraRows, parts: int, times: Times) -> StepResult:
        """The step in equal parts; what is prescribed and what is held moves on in parts, too."""
        here = state.x[self.robot.equations.assembly.prescribed]
        way = Held(self.robot, state, extra).way_to_go(state.x) if parts > 1 else 0.0
        current = state
        for k in range(1, parts + 1):
            held = Held(self.robot, current, extra)
            share = k / parts
            result = self._linearized(
                current, here + share * (target - here), held, self.h / parts, times, offset=(1 - share) * way
            )
            if not result.ok:
                return result
            current = replace(result.state, memory=held.remembered(result.state.x))
        return replace(result, state=replace(current, time=state.time + self.h), iterations=parts)

    def _linearized(
        self, state: State, target: Array, held: Held, h: float, times: Times, offset: Array | float = 0.0
    ) -> StepResult:
        """One linearized step of h seconds. The tangent is taken at the state with its own efforts, so that the step does what
        `robot.linearize` says. offset (k,): how far from the given displacements to stay."""
        robot, equations, own = self.robot, self.robot.equations, held.own(state)
        found = equations.factor_safely(
            state.pose, robot.loads(own, extra=held.extra), tangent=self.tangent, h=h, times=times
        )
        if not found.report.ok:
            return StepResult(Status.FAILED, state, np.nan, 0, times.seconds, cause=diagnosis(found))
        efforts = held.efforts(own)
        force = equations.port_force(found.placed, (efforts - own)[: len(state.efforts)]) - found.here.gradient
        residual = float(np.abs(found.on_coordinates(force)).max())
        impulse = equations.momentum(state.v) + h * force
        shift = target - state.x[equations.assembly.prescribed]
        if shift.any():
            impulse -= found.force_of_prescribed(shift / h)
        if held:
            move = held.linear_step(found, h * impulse, efforts, offset)
            step, efforts = move.step, held.with_efforts(efforts, move.efforts)
        else:
            step = h * found.solve(impulse)
        pose = found.moved(step, target)
        times.mark("solve")
        if not np.isfinite(pose.x).all():
            cause = diagnosis(found)
            return StepResult(Status.FAILED, state, np.nan, 1, times.seconds, cause=cause)
        distortion = Distortion.of(equations.assembly, state.x, pose.x)
        if not distortion.is_believable:
            load = hardest_load(equations, state.pose, robot.loads(efforts))
            cause = _Overreach(distortion.error(f"a linearized step of {h:.3g} s under {load}"))
            return StepResult(Status.FAILED, state, np.nan, 1, times.seconds, cause=cause)
        status = Status.STEPPED if found.definite else Status.WARPED
        return StepResult(status, _arrived(state, pose, efforts, h), residual, 1, times.seconds, (residual,))

    def _newton(self, state: State, target: Array, first: StepResult, held: Held, times: Times) -> StepResult:
        """Minimize the potential of the step (see `_Increment`), from the linearized step on where that is believed."""
        robot, assembly = self.robot, self.robot.equations.assembly
        if first.ok:
            pose, begin = first.state.pose, np.concatenate([first.state.efforts, first.state.extra])
        else:
            pose = assembly.moved(state.pose, np.zeros((assembly.coordinate_count, 3)), target)
            begin = held.efforts(held.own(state))
        objective = _Increment(self, state, held.extra, times)
        newton = Newton(held, objective, tolerance=self.tolerance, max_iterations=self.max_iterations)
        end = newton.run(pose, begin)
        if end.failed is not None:
            cause = diagnosis(end.failed)
            return StepResult(Status.FAILED, state, np.nan, len(end.history), times.seconds, end.history, cause)
        distortion = Distortion.of(assembly, state.x, end.pose.x)
        if not distortion.is_material:
            load = hardest_load(robot.equations, state.pose, robot.loads(end.efforts))
            cause = distortion.error(f"a step of {self.h:.3g} s under {load}")
            return StepResult(Status.DIVERGED, state, end.residual, len(end.history), times.seconds, end.history, cause)
        after = _arrived(state, end.pose, end.efforts, self.h)
        warped = end.warped + int(first.status is Status.WARPED)
        return StepResult(
            end.status, after, end.residual, len(end.history), times.seconds, end.history, warped_iterations=warped
        )


def _arrived(state: State, pose: Pose, efforts: Array, h: float) -> State:
    count = len(state.efforts)
    v = (pose.x - state.x) / h
    return replace(state, pose=pose, v=v, efforts=efforts[:count], extra=efforts[count:], time=state.time + h)


class _Overreach(NotConvergedError):
    """A step that is not believed: shorter ones may be; error: what to tell where none is."""

    def __init__(self, error: PliantError) -> None:
        super().__init__(error.what, remedy=error.remedy)
        self.error = error


class _Increment:
    """A step of backward Euler as a minimum, for line searches that cannot go wrong:

    Phi(x) = Pi(x) + 1/(2 h^2) |x - x0 - h v0|^2_M + 1/(2 h) |x - x0|^2_D,    D taken at the start.
    """

    def __init__(self, motion: Dynamics, state: State, extra: ExtraRows, times: Times) -> None:
        self._equations, self._robot, self._state, self._h = motion.robot.equations, motion.robot, state, motion.h
        self._motion, self._extra, self._times = motion, extra, times
        self._damping = self._equations.damping_blocks(state.pose)
        self._largest = 0.0

    def point(self, pose: Pose, efforts: Array) -> Point:
        """Phi, its gradient, and the factorized A = h^2 d2Phi."""
        self._times.mark("solve")
        at = self._equations.factor_safely(
            pose, self._robot.loads(efforts, extra=self._extra), tangent=self._motion.tangent, h=self._h,
            damping=self._damping, times=self._times, patience=True
        )  # fmt: skip
        return Point(at, *self._with_motion(pose, at.here))

    def evaluate(self, pose: Pose, efforts: Array, near: Factored) -> tuple[float, Array]:
        """Phi and its gradient."""
        loads = self._robot.loads(efforts, extra=self._extra)
        result = self._with_motion(pose, self._equations.evaluate(pose, loads, near.references))
        self._times.mark("search")
        return result

    def allowed(self, point: Point) -> Array:
        """Force out of balance that counts as none [N], (nc, 1)."""
        return np.maximum(self._motion.tolerance * self._largest, point.at.force_rounding())

    def _with_motion(self, pose: Pose, here: Evaluation) -> tuple[float, Array]:
        moved = pose.x - self._state.x
        jump = moved - self._h * self._state.v
        inertia = self._equations.momentum(jump) / self._h**2
        drag = self._equations.times_blocks(self._damping, moved) / self._h
        self._largest = max(float(np.abs(part).max()) for part in (inertia, here.gradient, drag))
        return here.potential + 0.5 * float(
            np.vdot(jump, inertia) + np.vdot(moved, drag)
        ), here.gradient + inertia + drag
