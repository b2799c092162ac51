"""Where a robot is when nothing moves any more."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from pliant.checks import require_kind_of
from pliant.motion.dynamics import Dynamics
from pliant.motion.modes import small_shift
from pliant.motion.result import Status, StepResult
from pliant.motion.statics import Statics
from pliant.robot import Robot, State

STILL = 1e-9
"""A robot rests when no node moves by more than this share of its size in a step that is long beside its slowest swing."""
STILL_TOUCHING = 1e-7
"""The same where it touches something: contact forces are found to about 1e-9 of the largest."""
MOST_STEPS = 60
LONGEST = 32.0
"""How much longer than the first step they may get: beyond, mass drowns in the rounding of the stiffness."""


def settled(robot: Robot) -> StepResult:
    """The robot at rest under its loads: statics where supports hold every part of it and it touches nothing, else damped
    dynamics to rest, on the ground where there is one.

    A robot that nothing holds and that does not come to rest (free fall, a slope) has status LOOSE, and the state is the one
    that it was made in. One that touches something and still moves after all steps (it rolls) has status NOT_CONVERGED. Where
    a step on the way cannot be made, the result is that step's.
    """
    require_kind_of(robot, "robot", Robot)
    return Statics(robot).solve() if robot.is_supported and not robot.touches else _settled_by_motion(robot)


def beginning(robot: Robot) -> State:
    """Where a motion of the robot begins: settled, or as it was made where nothing holds it; raises where it cannot settle."""
    result = settled(robot)
    return result.state if result.status is Status.LOOSE else result.require().state


def _settled_by_motion(robot: Robot) -> StepResult:
    """Steps of backward Euler without the velocity of the last, each longer than the one before."""
    rest = robot.rest()
    first = h = 1 / np.sqrt(small_shift(robot, rest))
    state, size = rest, robot.size
    history: list[float] = []
    for count in range(1, MOST_STEPS + 1):
        result = Dynamics(robot, h, scheme="euler").step(state.at_rest())
        if not result.ok:
            return replace(result, state=rest)
        history.append(result.residual)
        way = float(np.abs(result.state.x - state.x).max())
        state = replace(result.state, time=0.0).at_rest()
        if way <= (STILL_TOUCHING if robot.touches else STILL) * size:
            return replace(result, status=Status.CONVERGED, state=state, iterations=count, history=tuple(history))
        if np.abs(state.x - rest.x).max() > 10 * size:
            break
        h = min(2 * h, LONGEST * first)
    else:
        if any(len(own.ids) for own in state.contacts.values()):
            return replace(result, status=Status.NOT_CONVERGED, state=state, iterations=count, history=tuple(history))
    return StepResult(Status.LOOSE, rest, history[-1], len(history), history=tuple(history))
