"""Equilibrium under given efforts: f(q) = g + H^T lambda."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.algebra.sparse import Report
from pliant.body import Pose
from pliant.body.body import Tangent
from pliant.checks import as_numbers, number, require_kind_of, whole
from pliant.errors import InputError
from pliant.motion.driven import Driven, DrivenNewton
from pliant.motion.line_search import longest_good_step
from pliant.motion.result import Status, StepResult
from pliant.robot import Robot, State
from pliant.robot.system import Times, require_tangent

Array = NDArray[np.float64]


@dataclass(frozen=True)
class _Iterate:
    """Where Newton stands: pose, potential [J], residual [N]."""

    pose: Pose
    potential: float
    residual: float


class Statics:
    """Newton's method for equilibria of a robot.

    Every equilibrium is a minimum of the potential Pi(q), so the line search looks at Pi: steps that raise it are shortened
    (Armijo), and where the exact tangent is not positive definite the warped one gives a direction downhill. The forces
    out of balance may well grow on the way; they are only asked at the end.

    >>> import pliant as pl
    >>> mesh = pl.make.box((0.02, 0.02, 0.02), (2, 2, 2))
    >>> robot = pl.Robot(pl.TetBody(mesh, pl.NeoHookean(E=100e3, nu=0.45), fixed=mesh.where(z_below=0)))
    >>> robot.impose("press", pl.Force(mesh.nodes[mesh.where(z_above=0.02)], direction=(0, 0, -1)), effort=4.0)  # [N]
    >>> result = pl.Statics(robot).solve()
    >>> result.status.name, result.residual < 1e-8
    ('CONVERGED', True)
    >>> bool(1e-3 < robot.displacement(result.require().state, "press")[0] < 2e-3)  # [m], down
    True
    """

    def __init__(
        self,
        robot: Robot,
        *,
        tolerance: float = 1e-9,
        max_iterations: int = 60,
        load_steps: int = 1,
        tangent: Tangent = "exact",
        line_search: bool = True,
    ) -> None:
        """tolerance: largest force out of balance, relative to the largest force at work (load or reaction); what rounding
        of the positions causes is balance too. load_steps: gravity, efforts and prescribed positions are brought on in so
        many equal parts."""
        require_kind_of(robot, "robot", Robot)
        require_tangent(tangent)
        self.robot = robot
        self.tolerance = number(tolerance, "tolerance", above=0.0)
        self.max_iterations = whole(max_iterations, "max_iterations")
        self.load_steps = whole(load_steps, "load_steps")
        self.tangent: Tangent = tangent
        self.line_search = line_search

    def solve(self, state: State | None = None, *, prescribed: ArrayLike | None = None) -> StepResult:
        """The equilibrium for the robot's imposed efforts and displacements, from `state` on.

        Without a state it starts at rest, and load steps bring on gravity and efforts from zero. From a given state they
        bring on the change from its efforts to the robot's; gravity acts in full. A robot that nothing holds is refused
        (SupportError) before anything is solved.

        prescribed [k, 3]: positions [m] of the prescribed nodes in the order of `robot.prescribed_rest` (default: as in
        `state`).
        """
        system = self.robot.system
        system.assembly.require_supported()
        if state is not None:
            system.require_fits(state)
        start = state if state is not None else self.robot.rest().at_rest()
        start_efforts = start.efforts if state is not None else np.zeros_like(start.efforts)
        driven = Driven(self.robot, start.memory)
        goal = driven.efforts(start_efforts)
        offset = driven.way_to_go(start.x)
        held = start.x[system.assembly.prescribed]
        target = held if prescribed is None else as_positions(prescribed, held.shape)
        full_load, base = system.load, (1.0 if state is not None else 0.0)
        history: list[float] = []
        times, warped, iterations = Times(), 0, 0
        current = start
        result = StepResult(Status.FAILED, start, np.inf, 0)
        try:
            for k in range(1, self.load_steps + 1):
                share = k / self.load_steps
                system.load = full_load * (base + (1 - base) * share)
                efforts = start_efforts + share * (goal - start_efforts)
                efforts[driven.rows] = current.efforts[driven.rows] if k > 1 else goal[driven.rows]
                begin, reach = replace(current, efforts=efforts), held + share * (target - held)
                if driven:
                    result = self._equilibrate_driven(begin, reach, driven, (1 - share) * offset, times)
                else:
                    result = self._equilibrate(begin, reach, times)
                iterations += result.iterations
                warped += result.warped_iterations
                history += result.history
                if result.status is Status.FAILED:
                    result = replace(result, state=current)
                if not result.ok:
                    break
                if current.memory:
                    result = replace(result, state=replace(result.state, memory=driven.remembered(result.state.x)))
                    driven = Driven(self.robot, result.state.memory)
                current = result.state
        finally:
            system.load = full_load
        return replace(
            result, iterations=iterations, times=times.seconds, history=tuple(history), warped_iterations=warped
        )

    def step(self, state: State) -> StepResult:
        """One linearized step towards the equilibrium for the robot's imposed efforts (real time).

        The tangent is taken at the state with its own efforts, so that the step does what `robot.linearize(state)` says.
        """
        system, times = self.robot.system, Times()
        system.require_fits(state)
        driven = Driven(self.robot, state.memory)
        target = replace(state, efforts=driven.efforts(state.efforts), v=np.zeros_like(state.v))
        _, gradient, report, definite = system.linearize_safely(
            state.pose, state.efforts, tangent=self.tangent, times=times
        )
        if not report.ok:
            cause = system.diagnosis(report, state.pose)
            return StepResult(Status.FAILED, state, np.nan, 0, times.seconds, cause=cause)
        force = system.port_force(state.pose, target.efforts - state.efforts) - gradient
        residual = system.residual(force)
        step = system.solve(force)
        if driven:
            step, efforts = driven.linear_step(state, step, target.efforts)
            target = replace(target, efforts=efforts)
        pose, share = system.moved_believably(state.pose, step)
        times.mark("solve")
        if share == 0.0:
            distortion = system.distortion(state.pose, system.assembly.moved(state.pose, step))
            cause = distortion.error(f"a linearized step under {system.hardest_port(state.pose, target.efforts)}")
            return StepResult(Status.FAILED, state, np.nan, 1, times.seconds, cause=cause)
        if share < 1.0:
            target = replace(target, efforts=state.efforts + share * (target.efforts - state.efforts))
        status = Status.SHORTENED if share < 1.0 else Status.STEPPED if definite else Status.WARPED
        after = replace(target, pose=pose, memory=driven.remembered(pose.x))
        return StepResult(status, after, residual, 1, times.seconds, (residual,))

    def _equilibrate(self, state: State, prescribed: Array, times: Times) -> StepResult:
        system = self.robot.system
        shift = prescribed - state.x[system.assembly.prescribed]
        here: _Iterate | None = None
        history: list[float] = []
        warped = 0
        pose = state.pose
        for iteration in range(self.max_iterations):
            potential, gradient, report, definite = system.linearize_safely(
                pose, state.efforts, tangent=self.tangent, times=times, patience=True
            )
            if not report.ok:
                residual = history[-1] if history else np.nan
                cause = system.diagnosis(report, pose)
                return StepResult(Status.FAILED, state, residual, iteration, history=tuple(history), cause=cause)
            warped += not definite
            here = _Iterate(pose, potential, system.residual(gradient))
            history.append(here.residual)
            allowed = np.maximum(self.tolerance * system.largest_force(), system.force_rounding(pose))
            if not shift.any() and system.imbalance(gradient, allowed) <= 1.0:
                return self._ended(Status.CONVERGED, state, here, history, warped)
            force = -gradient
            if shift.any():
                force -= system.force_of_prescribed(shift)
            step = system.solve(force)
            times.mark("solve")
            if not shift.any() and system.is_rounding(pose, step):
                return self._ended(Status.CONVERGED, state, here, history, warped)
            if shift.any() or not self.line_search:
                pose = system.assembly.moved(pose, step, pose.x[system.assembly.prescribed] + shift)
                shift = np.zeros_like(shift)
                continue
            slope = float(np.vdot(system.assembly.force_on_coordinates(gradient), step))
            moved = self._search(here, step, slope, state.efforts, times)
            if moved is None:
                return self._ended(Status.STALLED, state, here, history, warped)
            pose = moved
            if not system.distortion(state.pose, pose).is_material:
                break
        assert here is not None
        here = replace(here, pose=pose)
        return self._ended(Status.NOT_CONVERGED, state, here, history, warped)

    def _equilibrate_driven(
        self, state: State, prescribed: Array, driven: Driven, offset: Array, times: Times
    ) -> StepResult:
        system, pose = self.robot.system, state.pose
        shift = prescribed - state.x[system.assembly.prescribed]
        if shift.any():
            _, gradient, report, _ = system.linearize_safely(pose, state.efforts, tangent=self.tangent, times=times)
            if not report.ok:
                return StepResult(Status.FAILED, state, np.nan, 0, cause=system.diagnosis(report, pose))
            step = system.solve(-gradient - system.force_of_prescribed(shift))
            pose = system.assembly.moved(pose, step, prescribed)
        problem = _Equilibrium(self, times)
        newton = DrivenNewton(
            driven, problem, tolerance=self.tolerance, max_iterations=self.max_iterations, search=self.line_search
        )
        end = newton.run(pose, state.efforts, offset)
        if end.report is not None:
            residual = end.history[-1] if end.history else np.nan
            cause = system.diagnosis(end.report, end.pose)
            return StepResult(Status.FAILED, state, residual, len(end.history), history=end.history, cause=cause)
        here = _Iterate(end.pose, 0.0, end.history[-1])
        after = replace(state, efforts=end.efforts)
        return self._ended(Status[end.how], after, here, list(end.history), end.warped)

    def _search(self, here: _Iterate, step: Array, slope: float, efforts: Array, times: Times) -> Pose | None:
        """The pose after the longest good step, or None."""
        system = self.robot.system

        def attempt(length: float) -> tuple[Pose, float, float]:
            pose = system.assembly.moved(here.pose, length * step)
            potential, gradient = system.evaluate(pose, efforts)
            times.mark("search")
            return pose, potential, system.residual(gradient)

        return longest_good_step(attempt, here.potential, here.residual, slope)

    def _ended(self, status: Status, state: State, here: _Iterate, history: list[float], warped: int) -> StepResult:
        distortion = self.robot.system.distortion(state.pose, here.pose)
        if not distortion.is_material:
            cause = distortion.error(self.robot.system.hardest_port(state.pose, state.efforts))
            return StepResult(Status.DIVERGED, state, here.residual, len(history), history=tuple(history), cause=cause)
        after = replace(state, pose=here.pose, v=np.zeros_like(state.v))
        return StepResult(status, after, here.residual, len(history), history=tuple(history), warped_iterations=warped)


class _Equilibrium:
    """Statics as a `Problem`: the potential and its gradient."""

    scale = 1.0

    def __init__(self, statics: Statics, times: Times) -> None:
        self._system, self._statics, self._times = statics.robot.system, statics, times

    def linearize(self, pose: Pose, efforts: Array) -> tuple[float, Array, Report, bool]:
        return self._system.linearize_safely(
            pose, efforts, tangent=self._statics.tangent, times=self._times, patience=True
        )

    def evaluate(self, pose: Pose, efforts: Array) -> tuple[float, Array]:
        result = self._system.evaluate(pose, efforts)
        self._times.mark("search")
        return result

    def allowed(self, pose: Pose) -> Array:
        return np.maximum(self._statics.tolerance * self._system.largest_force(), self._system.force_rounding(pose))


def as_positions(prescribed: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Finite positions of the prescribed nodes, or an InputError."""
    array = as_numbers(prescribed)
    if array.shape != shape or not np.isfinite(array).all():
        raise InputError(
            f"prescribed positions have shape {array.shape}", remedy=f"give finite positions of shape {shape} [m]"
        )
    return array
