"""How well a robot of the gallery follows a path."""

from __future__ import annotations

import time

import numpy as np

from pliant.control import Inverse
from pliant.control.trajectory import Trajectory
from pliant.motion import Statics
from pliant.robot import Robot, State
from pliant.view import Figure


def track_in_real_time(
    name: str, robot: Robot, state: State, effector: str, path: Trajectory, rate: float
) -> tuple[State, list[Figure]]:
    """One decision per sample; the error is that of the *nonlinear* equilibrium under the efforts decided, at every tenth.

    The robot first walks from where it is to the start of the path in 50 decisions that do not count.
    """
    inverse, statics = Inverse(robot), Statics(robot, tolerance=1e-9)
    home, start = robot.displacement(state, effector), path.position(0.0)
    for share in np.linspace(0, 1, 51)[1:]:
        state = inverse.step(state, **{effector: home + share * (start - home)}).require().state
    errors, seconds, limited, last = [], [], set(), None
    for k, target in enumerate(path.sampled(rate)):
        begin = time.perf_counter()
        step = inverse.step(state, interval=1 / rate, **{effector: target}).require()
        seconds.append(time.perf_counter() - begin)
        state = step.state
        limited |= set(step.active)
        if k % 10 == 0:
            for actuator, effort in step.efforts.items():
                robot.set_effort(actuator, effort)
            last = statics.solve(state if last is None else last).require().state
            errors.append(float(np.linalg.norm(robot.displacement(last, effector) - target)))
    return state, [
        Figure(f"{name}.realtime_error_mean", 1e3 * float(np.mean(errors)), "mm", better="lower"),
        Figure(f"{name}.realtime_error_max", 1e3 * float(np.max(errors)), "mm", better="lower"),
        Figure(f"{name}.step_median", 1e3 * float(np.median(seconds)), "ms", better="lower"),
        Figure(f"{name}.active_limits", len(limited), "limits"),
    ]


def track_converged(
    name: str, robot: Robot, state: State, effector: str, path: Trajectory, *, points: int
) -> list[Figure]:
    """Errors of converged poses at so many places of the path."""
    inverse = Inverse(robot)
    errors = []
    for share in np.linspace(0, 1, points, endpoint=False):
        target = {effector: path.position(share * path.duration)}
        step = inverse.solve_pose(state, **target).require()  # type: ignore[arg-type]
        state = step.state
        errors.append(step.distance)
    return [Figure(f"{name}.converged_error_mean", 1e3 * float(np.mean(errors)), "mm", better="lower")]
