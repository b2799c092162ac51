"""Where a robot is when nothing moves any more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.checks import require_kind_of
from pliant.errors import NotConvergedError
from pliant.motion.dynamics import Dynamics
from pliant.motion.modes import small_shift
from pliant.motion.result import Status, StepResult
from pliant.motion.statics import Statics
from pliant.robot import Robot, State

STILL = 1e-9
"""A robot rests when no node moves by more than this share of its size in a step that is long beside its slowest swing."""
STILL_TOUCHING = 1e-6
"""The same where it touches something: friction may leave forces that miss its law by about as much."""
MOST_STEPS = 60
LONGEST = 32.0
"""How much longer than the first step they may get: beyond, mass drowns in the rounding of the stiffness."""


def settled(robot: Robot) -> StepResult:
    """The robot at rest under its loads: statics where supports hold every part of it and it touches nothing, else damped
    dynamics to rest, on the ground where there is one.

    It rests where a step that is long beside its slowest swing, begun without velocity, moves no node by more than 1e-9 of its
    size, or 1e-6 where it touches something: a ball on level ground does. A robot that nothing holds and that gets away by ten
    of its sizes (free fall, a slope) has status LOOSE, and the state is the one that it was made in. One that touches something
    and still moves after all steps has status NOT_CONVERGED, the state that it got to, and a cause that says how it moves.
    Where a step on the way cannot be made, the result is that step's. Where contact forces of the last one miss Coulomb's law,
    its status is ROUGH. A robot that rests with points inside of what it touches has not settled: its status is CRUSHED.
    """
    require_kind_of(robot, "robot", Robot)
    return Statics(robot).solve() if robot.is_supported and not robot.touches else _settled_by_motion(robot)


def beginning(robot: Robot) -> State:
    """Where a motion of the robot begins: settled, or as it was made where it has no rest, because nothing holds it or it rolls
    or slides on; raises where it cannot settle."""
    result = settled(robot)
    if robot.touches and result.status is Status.NOT_CONVERGED:
        return robot.rest()
    return result.state if result.status is Status.LOOSE else result.require().state


def _settled_by_motion(robot: Robot) -> StepResult:
    """Steps of backward Euler without the velocity of the last, each longer than the one before."""
    rest, size = robot.rest(), robot.size
    first = h = _first_step(robot, rest)
    state = rest
    history: list[float] = []
    for count in range(1, MOST_STEPS + 1):
        result = Dynamics(robot, h, scheme="euler").step(state.at_rest())
        if not result.ok:
            return replace(result, state=rest)
        history.append(result.residual)
        way = float(np.abs(result.state.x - state.x).max())
        state = replace(result.state, time=0.0).at_rest()
        if way <= (STILL_TOUCHING if robot.touches else STILL) * size:
            return _rested(robot, replace(result, state=state, iterations=count, history=tuple(history)))
        if np.abs(state.x - rest.x).max() > 10 * size:
            break
        h = min(2 * h, LONGEST * first)
    else:
        if any(len(own.ids) for own in state.contacts.values()):
            return replace(
                result, status=Status.NOT_CONVERGED, state=state, iterations=count, history=tuple(history),
                cause=_moves_on(robot, state, way, h, result)
            )  # fmt: skip
    return StepResult(Status.LOOSE, rest, history[-1], len(history), history=tuple(history))


def _rested(robot: Robot, result: StepResult) -> StepResult:
    """A last step that has moved nothing, with what is to be said of it."""
    if result.status is not Status.INSIDE:
        return result if result.status is Status.ROUGH else replace(result, status=Status.CONVERGED)
    touched = ", ".join(repr(name) for name in robot.touches)
    cause = NotConvergedError(
        f"the robot rests with points {result.penetration:.3g} m inside of what it touches ({touched})",
        remedy="give it room, or start apart from obstacles",
        result=result,
    )
    return replace(result, status=Status.CRUSHED, cause=cause)


def _first_step(robot: Robot, rest: State) -> float:
    """The slowest swing's 1 / omega [s]; of a robot that has none, being rigid, a tenth of the time in which it falls by its
    size."""
    shift = small_shift(robot, rest)
    if shift > 0.0:
        return float(1 / np.sqrt(shift))
    return float(0.1 * np.sqrt(2 * robot.size / max(float(np.linalg.norm(robot.gravity)), 1e-3)))


def _moves_on(robot: Robot, state: State, way: float, h: float, result: StepResult) -> NotConvergedError:
    """That a robot on the ground has not come to rest, and how it moves."""
    touched = ", ".join(repr(name) for name, own in state.contacts.items() if len(own.ids))
    return NotConvergedError(
        f"the robot touches {touched} and still moves by {way:.3g} m in {h:.3g} s from rest, the last of {MOST_STEPS} steps",
        remedy="it may roll or slide on: support it, raise friction, or follow it with Dynamics, from the state that is given",
        result=result,
    )
