"""Motion through time: backward Euler."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.body import Pose
from pliant.body.body import Tangent
from pliant.errors import InputError
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
            cause = system.diagnosis(report, state.pose)
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
        status = Status.STEPPED if definite else Status.WARPED
        after = self._arrived(replace(state, efforts=efforts), pose)
        return StepResult(status, after, residual, 1, times.seconds, (residual,))

    def _newton(self, state: State, target: Array, first: StepResult, times: Times) -> StepResult:
        """Iterate from the linearized step until the step's equation holds."""
        system, h = self.robot.system, self.h
        pose, warped = first.state.pose, int(first.status is Status.WARPED)
        history: list[float] = []
        for iteration in range(1, self.max_iterations + 1):
            v = (pose.x - state.x) / h
            damping = system.damping_force(state.pose, v)
            _, gradient, report, definite = system.linearize_safely(
                pose, state.efforts, tangent=self.tangent, step=h, times=times
            )
            if not report.ok:
                cause = system.diagnosis(report, pose)
                return StepResult(Status.FAILED, state, np.nan, iteration, times.seconds, tuple(history), cause)
            warped += not definite
            inertia = system.momentum(v - state.v) / h
            force = inertia + gradient + damping
            history.append(system.residual(force))
            scale = max(float(np.abs(inertia).max()), float(np.abs(gradient).max()), float(np.abs(damping).max()))
            if history[-1] <= max(self.tolerance * scale, system.rounding(pose) / (h * h)):
                after = self._arrived(state, pose)
                return StepResult(
                    Status.CONVERGED, after, history[-1], iteration, times.seconds, tuple(history), None, warped
                )
            pose = system.assembly.moved(pose, h * system.solve(-h * force), target)
            times.mark("solve")
        after = self._arrived(state, pose)
        return StepResult(
            Status.NOT_CONVERGED, after, history[-1], self.max_iterations, times.seconds, tuple(history), None, warped
        )

    def _arrived(self, state: State, pose: Pose) -> State:
        return replace(state, pose=pose, v=(pose.x - state.x) / self.h, time=state.time + self.h)
