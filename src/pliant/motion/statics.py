"""Equilibrium under given efforts: f(q) = g + H^T lambda."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.body.body import Tangent
from pliant.checks import as_numbers, number, one_of, per_row, require_kind_of, whole
from pliant.errors import InputError, NotConvergedError, PliantError
from pliant.motion.held import Held
from pliant.motion.newton import Newton
from pliant.motion.result import Status, StepResult
from pliant.motion.touching import Touching
from pliant.robot import ExtraRows, Robot, State
from pliant.robot.diagnosis import diagnosis, hardest_load, moved_believably
from pliant.robot.distortion import Distortion
from pliant.robot.equations import AT_ONCE, Times, require_tangent
from pliant.robot.extra import NO_ROWS

Array = NDArray[np.float64]
Branch: TypeAlias = Literal["stable", "any"]


PATIENCE = 8
"""Iterations in a row with a mixed tangent, or a step cut to almost nothing, before a load is brought on in smaller parts."""
QUICK = 10
"""Iterations below which the next part may be larger again."""
SMALLEST = 1 / 64
"""The smallest part of a load step."""
LOOKS = 12
"""How often it is looked for what the robot touches, on the way to an equilibrium."""


class Statics:
    """Newton's method for equilibria of a robot.

    Every stable equilibrium is a minimum of the potential Pi(q), which is what guides the iteration (see `Newton`). The forces
    out of balance may well grow on the way; they are only asked at the end. There the signs of the pivots tell whether it is
    stable, with the lengths, volumes and poses that are held.

    A robot that supports hold may touch something. Friction depends on the way, so the answer is that of one increment from the
    given state: contacts stick to their anchors, points that did not touch to where they were in the state, and what slides
    has slipped from there against its friction. `load_steps` makes several increments of it, which is the way to go where
    points travel far before or while they touch.

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
        branch: Branch = "stable",
    ) -> None:
        """tolerance: largest force out of balance, relative to the largest force at work (load or reaction); what rounding
        of the positions causes is balance too. load_steps: gravity, efforts and displacements are brought on in so many
        equal parts; where one does not converge it is halved, down to a 64th. branch: "stable" goes on from an unstable
        equilibrium to a stable one (the result's `escapes` tells how often); "any" ends there, with status UNSTABLE."""
        require_kind_of(robot, "robot", Robot)
        require_tangent(tangent)
        self.robot = robot
        self.tolerance = number(tolerance, "tolerance", above=0.0)
        self.max_iterations = whole(max_iterations, "max_iterations")
        self.load_steps = whole(load_steps, "load_steps")
        self.tangent: Tangent = tangent
        self.line_search = line_search
        one_of(branch, "branch", ("stable", "any"))
        self.branch = branch

    def solve(
        self,
        state: State | None = None,
        *,
        efforts: ArrayLike | None = None,
        prescribed: ArrayLike | None = None,
        extra: ExtraRows = NO_ROWS,
    ) -> StepResult:
        """The equilibrium for the robot's imposed efforts and displacements, from `state` on.

        Without a state it starts at rest, and load steps bring on gravity and efforts from zero. From a given state they
        bring on the change from its efforts to the robot's; gravity acts in full. A robot that nothing holds is refused
        (SupportError) before anything is solved: see `settled`.

        efforts (m,): of all port rows, in place of those that the robot is given; held rows have whatever it takes. prescribed
        (k, 3): positions [m] of the prescribed nodes in the order of `robot.prescribed_rest` (default: as in `state`). extra:
        rows that are held besides.
        """
        robot, assembly = self.robot, self.robot.equations.assembly
        assembly.require_supported()
        start = state if state is not None else robot.rest()
        robot.require_fits(start, extra)
        held = Held(robot, start, extra)
        own = start.efforts_with(len(extra))
        first = own if state is not None else np.zeros_like(own)
        goal = held.efforts(first)
        if efforts is not None:
            wanted = per_row(efforts, "efforts", len(start.efforts), like="the robot")
            goal = held.with_efforts(np.concatenate([wanted, goal[len(wanted) :]]), goal[held.rows])
        way = held.way_to_go(start.pose, goal)
        here = start.x[assembly.prescribed]
        there = here if prescribed is None else as_positions(prescribed, here.shape)
        can_part = state is None or bool(way.any() or (first != goal).any() or (here != there).any())
        smallest = SMALLEST / self.load_steps
        times, parts = Times(), []
        base = 1.0 if state is not None else 0.0
        current, now = start, goal
        done, part = 0.0, 1.0 / self.load_steps
        while done < 1.0:
            share = done + part if done + part < 1.0 - 1e-9 else 1.0
            now = held.with_efforts(first + share * (goal - first), now[held.rows])
            options: dict[str, Any] = {
                "weight": base + (1 - base) * share, "patience": PATIENCE if can_part and part > smallest else np.inf
            }  # fmt: skip
            target = here + share * (there - here)
            result = self._balanced(current, now, (1 - share) * way, target, extra, options, times)
            parts.append(result)
            if self._wants_less(result) and can_part and part > smallest:
                part /= 2
                continue
            if not result.ok:
                result = self._told(result, start, goal, extra)
                break
            done = share
            part = min(2 * part, 1.0 / self.load_steps) if result.iterations < QUICK else part
            current, now = result.state, result.state.efforts_with(len(extra))
            held = Held(robot, current, extra)
        return _summed(result, parts)

    def _balanced(
        self, state: State, efforts: Array, offset: Array, prescribed: Array, extra: ExtraRows, options: dict[str, Any],
        times: Times
    ) -> StepResult:  # fmt: skip
        """The equilibrium on from a state with efforts (m + k,). What the robot touches is looked for where it is found to be,
        until that is where it was looked for; slips are counted from the state on."""
        pose, parts = state.pose, []
        for _ in range(LOOKS):
            touching = Touching.at(self.robot, state, pose.x, extra)
            held, forces = Held(self.robot, touching.state, touching.extra), touching.state.extra[len(extra) :]
            newton = Newton(
                held, times, tangent=self.tangent, tolerance=self.tolerance, max_iterations=self.max_iterations,
                search=self.line_search, any_branch=self.branch == "any", **options
            )  # fmt: skip
            off = np.concatenate([offset, np.zeros(len(forces))])
            begin = np.concatenate([efforts, forces])
            result = newton.run(touching.state, begin, pose, offset=off, prescribed=prescribed)
            parts.append(result)
            if not result.ok:
                ended = state if result.cause is not None else touching.ended(result.state)
                return _summed(replace(result, state=ended), parts)
            if touching.fits(result.state):
                return _summed(replace(result, state=touching.ended(held.remembering(result.state))), parts)
            pose = result.state.pose
        return _summed(replace(result, status=Status.STALLED, state=state, cause=_never_fits(result)), parts)

    def _wants_less(self, result: StepResult) -> bool:
        """Whether a smaller part of the load may do what this one did not: it stalled, or was given up, or ran out of
        iterations among tangents that are not those of a minimum."""
        astray = result.iterations < self.max_iterations or result.warped_iterations + result.turned_iterations > 0
        return result.status is Status.STALLED or (result.status is Status.NOT_CONVERGED and astray)

    def _told(self, result: StepResult, start: State, goal: Array, extra: ExtraRows) -> StepResult:
        """With the whole load in what is told of a part of it that leads beyond what a material bears; of a moment that keeps
        its direction, with what to do instead."""
        if result.cause is None and result.status in (Status.NOT_CONVERGED, Status.STALLED):
            x, ports = result.state.x, self.robot.ports
            turning = [name for name, own in ports.items() if own.attachment.faced(x).swirl(goal[own.rows]) is not None]
            return replace(result, cause=_no_potential(turning[0], result)) if turning else result
        distortion = result.cause.evidence.get("distortion") if result.cause is not None else None
        if not isinstance(distortion, Distortion):
            return result
        load = hardest_load(self.robot.equations, start.pose, self.robot.loads(goal, extra=extra))
        return replace(result, cause=distortion.error(load))

    def step(self, state: State, *, extra: ExtraRows = NO_ROWS) -> StepResult:
        """One linearized step towards the equilibrium for the robot's imposed efforts (real time).

        The tangent is taken at the state with its own efforts, so that the step does what `robot.linearize(state)` says.
        """
        robot, equations, times = self.robot, self.robot.equations, Times()
        robot.require_fits(state, extra)
        robot.require_untouched("Statics.step", "take Statics.solve or Dynamics, which know contact")
        held, own = Held(robot, state, extra), state.efforts_with(len(extra))
        efforts, loads = held.efforts(own), robot.loads(own, extra=extra)
        found = equations.factor(state.pose, loads, tangent=self.tangent, shares=AT_ONCE, times=times)
        if not found.report.ok:
            return StepResult(Status.FAILED, state, np.nan, 0, times.seconds, cause=diagnosis(found))
        force = equations.port_force(found.placed, efforts - own) - found.here.gradient
        residual = float(np.abs(found.on_coordinates(force)).max())
        move = held.linear_step(found, force, efforts)
        efforts = held.with_efforts(efforts, move.efforts)
        pose, share = moved_believably(equations.assembly, state.pose, move.step)
        times.mark("solve")
        if share == 0.0:
            distortion = Distortion.of(equations.assembly, state.x, found.moved(move.step).x)
            load = hardest_load(equations, state.pose, robot.loads(efforts))
            cause = distortion.error(f"a linearized step under {load}")
            return StepResult(Status.FAILED, state, np.nan, 1, times.seconds, cause=cause)
        status = Status.SHORTENED if share < 1.0 else Status.STEPPED if found.definite else Status.WARPED
        after = held.remembering(state.moved(pose, own + share * (efforts - own)))
        return StepResult(status, after, residual, 1, times.seconds, (residual,))


def as_positions(prescribed: ArrayLike, shape: tuple[int, ...]) -> Array:
    """Finite positions of the prescribed nodes, or an InputError."""
    array = as_numbers(prescribed)
    if array.shape != shape or not np.isfinite(array).all():
        raise InputError(
            f"prescribed positions have shape {array.shape}", remedy=f"give finite positions of shape {shape} [m]"
        )
    return array


def _summed(result: StepResult, parts: Sequence[StepResult]) -> StepResult:
    """A result with what all parts of the way to it took."""
    return replace(
        result,
        iterations=sum(part.iterations for part in parts),
        history=tuple(residual for part in parts for residual in part.history),
        warped_iterations=sum(part.warped_iterations for part in parts),
        turned_iterations=sum(part.turned_iterations for part in parts),
        escapes=sum(part.escapes for part in parts),
    )


def _never_fits(result: StepResult) -> PliantError:
    """Why a robot that touches something has no equilibrium."""
    return NotConvergedError(
        f"contacts are elsewhere after every one of {LOOKS} looks for them",
        remedy="bring the load on in more load_steps, make the surface finer, or let the robot come to rest: settled(robot)",
        result=result,
    )


def _no_potential(name: str, result: StepResult) -> PliantError:
    """Why the search ends nowhere under a moment without a potential."""
    return NotConvergedError(
        f"the moment of {name!r} has no potential, and statics stopped after {result.iterations} iterations",
        remedy="bring it on in more parts, Statics(robot, load_steps=16); or give the rotation in its place, "
        f"robot.impose({name!r}, Frame(...), displacement=...), which has that moment as its effort; or a torque in a joint, "
        "Hinge.on(joint)",
        result=result,
    )
