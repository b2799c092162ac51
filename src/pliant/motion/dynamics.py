"""Motion through time, by implicit steps."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.body.body import Tangent
from pliant.checks import number, one_of, require_kind_of, whole
from pliant.motion.held import Held
from pliant.motion.increment import Increment
from pliant.motion.newton import Newton
from pliant.motion.result import Status, StepResult
from pliant.motion.statics import as_positions
from pliant.motion.touching import Touching
from pliant.robot import ExtraRows, Robot, State
from pliant.robot.diagnosis import diagnosis, hardest_load
from pliant.robot.distortion import SHORTEST, Distortion
from pliant.robot.equations import AT_ONCE, Times, require_tangent
from pliant.robot.extra import NO_ROWS
from pliant.robot.time_step import Scheme, TimeStep, require_scheme

Array = NDArray[np.float64]

QUIET = (Status.STEPPED, Status.WARPED)
"""What a step in parts has to say beside its being in parts is no news; of contact it is."""


class Dynamics:
    """Steps of h seconds at whose end M a + D v + f(q) = g + H^T lambda holds, and every held row.

    scheme="generalized-alpha": second order. What the step resolves is hardly damped, what it does not is gone after a few
    steps. It goes on from the past of a state; one without a past takes a step of backward Euler, and so does one after an
    impact: a held row that begins to hold ends the past. Efforts are those at the end of the step.
    scheme="euler": backward Euler, M (v+ - v) + h (f(q+) - g + D v+) = h H^T lambda, x+ = x + h v+. First order, and takes
    energy out of any motion: for coming to rest, not for the way there. Both are stable in the linear case, however long the
    step (`TimeStep` has the equations).

    method="linearized": one linearization per step, with A = M + tau D + tau sigma K_t (the papers' way, real time).
    method="newton": iterated until the equation holds to `tolerance`, relative to the largest impulse at work. Turning by
    more than about 0.05 rad per step costs a linearized motion energy, save for bodies that nothing holds, which it carries
    along (`begun`): where swings are wide, take newton, or shorter steps.

    A linearized step that would distort elements beyond belief (`robot.distortion`) is taken in 2, 4, ... 64 equal parts:
    status SHORTENED; where that does not help either, the step fails and the state stays.
    """

    def __init__(
        self,
        robot: Robot,
        h: float,
        *,
        method: str = "linearized",
        scheme: Scheme = "generalized-alpha",
        tangent: Tangent = "exact",
        tolerance: float = 1e-8,
        max_iterations: int = 25,
    ) -> None:
        require_kind_of(robot, "robot", Robot)
        require_tangent(tangent)
        self.robot = robot
        self.h = number(h, "the time step", unit="s", above=0.0, remedy="give a positive step, such as 0.01")
        self.method = one_of(method, "method", ("linearized", "newton"))
        self.scheme = require_scheme(scheme)
        self.tangent: Tangent = tangent
        self.tolerance = number(tolerance, "tolerance", above=0.0)
        self.max_iterations = whole(max_iterations, "max_iterations")

    def step(self, state: State, *, prescribed: ArrayLike | None = None, extra: ExtraRows = NO_ROWS) -> StepResult:
        """The state one time step later, under the robot's imposed efforts and displacements.

        prescribed (k, 3): positions [m] of the prescribed nodes at the end of the step (default: they stay). extra: rows that
        are held besides.
        """
        assembly = self.robot.equations.assembly
        self.robot.require_fits(state, extra)
        here = state.x[assembly.prescribed]
        target = here if prescribed is None else as_positions(prescribed, here.shape)
        times = Times()
        if self.method == "linearized":
            return self._in_parts(state, target, extra, times)
        touching = Touching.in_step(self.robot, state, self.h, extra)
        held = Held(self.robot, touching.state, touching.extra)
        first = self._linearized(touching.state, target, held, self.h, times, self.scheme)
        if not (first.ok or _overreaches(first)):
            return replace(first, state=state)
        result = self._newton(touching.state, target, first, held, times)
        if not result.ok:
            return replace(result, state=state)
        return touching.judged(replace(result, state=touching.ended(result.state)))

    def _in_parts(self, state: State, target: Array, extra: ExtraRows, times: Times) -> StepResult:
        """The step as a whole where it is believed, else in as many equal parts as that takes."""
        parts, most = 1, round(1 / SHORTEST)
        while True:
            result = self._taken(state, target, extra, parts, times)
            if parts >= most or not _overreaches(result):
                break
            parts *= 2
        if not result.ok:
            return replace(result, state=state)
        return replace(result, status=Status.SHORTENED) if parts > 1 and result.status in QUIET else result

    def _taken(self, state: State, target: Array, extra: ExtraRows, parts: int, times: Times) -> StepResult:
        """The step in equal parts; what is prescribed and what is held moves on in parts, too. Several parts are of backward
        Euler: what takes them is no smooth motion."""
        here = state.x[self.robot.equations.assembly.prescribed]
        own = state.efforts_with(len(extra))
        way = Held(self.robot, state, extra).way_to_go(state.pose, own) if parts > 1 else np.zeros(0)
        current, scheme, rough = state, self.scheme if parts == 1 else "euler", 0.0
        for k in range(1, parts + 1):
            touching = Touching.in_step(self.robot, current, self.h / parts, extra)
            held = Held(self.robot, touching.state, touching.extra)
            share, offset = k / parts, np.zeros(len(held.rows))
            offset[: len(way)] = (1 - k / parts) * way
            result = self._linearized(
                touching.state, here + share * (target - here), held, self.h / parts, times, scheme, offset
            )
            if not result.ok:
                return result
            current, rough = touching.ended(held.remembering(result.state)), max(rough, result.missed)
        after = replace(current, time=state.time + self.h)
        return touching.judged(replace(result, state=after, iterations=parts, missed=rough))

    def _linearized(
        self,
        state: State,
        target: Array,
        held: Held,
        h: float,
        times: Times,
        scheme: Scheme,
        offset: Array | float = 0.0,
    ) -> StepResult:
        """One linearized step of h seconds. The tangent is taken at the state with its own efforts, so that the step does what
        `robot.linearize` says. offset (k,): how far from the given displacements to stay."""
        robot, equations = self.robot, self.robot.equations
        own = state.efforts_with(len(held.extra))
        efforts, loads = held.efforts(own), robot.loads(own, extra=held.extra)
        step = TimeStep.of(state, h, scheme)
        start, chart = equations.begun(state, step)
        found = equations.factor(
            start, loads, tangent=self.tangent, shares=AT_ONCE, step=step, chart=chart, times=times
        )
        if not found.report.ok:
            return StepResult(Status.FAILED, state, np.nan, 0, times.seconds, cause=diagnosis(found))
        change = equations.port_force(found.placed, efforts - own)
        residual = float(np.abs(found.on_coordinates(change - found.here.gradient)).max())
        force = found.force() + step.scale * change
        shift = target - found.pose.x[equations.assembly.prescribed]
        if shift.any():
            force -= found.force_of_prescribed(shift)
        move = held.linear_step(found, force, efforts, offset)
        efforts = held.with_efforts(efforts, move.efforts)
        pose = found.moved(move.step, target)
        times.mark("solve")
        if not np.isfinite(pose.x).all():
            return StepResult(Status.FAILED, state, np.nan, 1, times.seconds, cause=diagnosis(found))
        distortion = Distortion.of(equations.assembly, state.x, pose.x)
        if not distortion.is_believable:
            load = hardest_load(equations, state.pose, robot.loads(efforts))
            cause = distortion.error(f"a linearized step of {h:.3g} s under {load}")
            return StepResult(Status.FAILED, state, np.nan, 1, times.seconds, cause=cause)
        status = Status.STEPPED if found.definite else Status.WARPED
        after = step.ended(state, pose, efforts, smooth=not held.closes(state, efforts))
        after = self._keeping(state, after, held)
        return StepResult(status, after, residual, 1, times.seconds, (residual,), missed=move.missed)

    def _keeping(self, state: State, after: State, held: Held) -> State:
        """The state after a step, with the angular momentum that it has to have (`Isolated`); backward Euler takes its share of
        all motion."""
        if self.scheme == "euler":
            return after
        return self.robot.equations.isolated.kept(state, after, held.extra, self.robot.gravity)

    def _newton(self, state: State, target: Array, first: StepResult, held: Held, times: Times) -> StepResult:
        """Minimize the potential of the step (`Increment`), from the linearized step on where that is believed."""
        assembly, extra = self.robot.equations.assembly, len(held.extra)
        if first.ok:
            pose, begin = first.state.pose, first.state.efforts_with(extra)
        else:
            pose = assembly.moved(state.pose, np.zeros((assembly.coordinate_count, 3)), target)
            begin = held.efforts(state.efforts_with(extra))
        newton = Newton(
            held, times, tangent=self.tangent, tolerance=self.tolerance, max_iterations=self.max_iterations,
            increment=Increment(self.robot.equations, state.x, TimeStep.of(state, self.h, self.scheme))
        )  # fmt: skip
        result = newton.run(state, begin, pose)
        after = result.state
        if result.ok:
            after = self._keeping(state, held.remembering(after), held)
        warped = result.warped_iterations + int(first.status is Status.WARPED)
        return replace(result, state=after, warped_iterations=warped)


def _overreaches(result: StepResult) -> bool:
    """Whether a step is not believed because of what it does to the elements: shorter ones may be."""
    return result.cause is not None and "distortion" in result.cause.evidence
