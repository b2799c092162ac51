"""How well a robot of the gallery follows its paths."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from pliant.control import DecisionStatus, Inverse
from pliant.control.trajectory import Waypoints
from pliant.gallery.follower import Paths, Report
from pliant.motion import Statics
from pliant.robot import Robot, State
from pliant.view import Figure


def tracked(name: str, rate: float, points: int = 8) -> Callable[[Robot, State, Paths], Report]:
    """The report of a robot of this name along some paths: one decision at a time at `rate` [Hz], and converged poses at so
    many places."""

    def report(robot: Robot, hanging: State, paths: Paths) -> Report:
        live = track_in_real_time(name, robot, hanging, paths, rate)
        converged = track_converged(name, robot, hanging, paths, points=points)
        return Report(live.state, (*live.figures, *converged), live.limits)

    return report


def track_in_real_time(name: str, robot: Robot, state: State, paths: Paths, rate: float) -> Report:
    """One decision per sample; the error is that of the *nonlinear* equilibrium under the efforts decided, at every tenth.

    The robot first walks from where it is to the start of the paths in 50 decisions that do not count.
    """
    inverse, statics = Inverse(robot), Statics(robot, tolerance=1e-9)
    home, start = _places(robot, state, paths), _targets(paths, 0.0)
    for share in np.linspace(0, 1, 51)[1:]:
        state = (
            inverse.step(state, **{key: home[key] + share * (start[key] - home[key]) for key in paths}).require().state
        )
    errors, seconds, limited, last = [], [], set(), None
    for k in range(int(max(path.duration for path in paths.values()) * rate) + 1):
        targets = _targets(paths, k / rate)
        begin = time.perf_counter()
        step = inverse.step(state, interval=1 / rate, **targets).require()  # type: ignore[arg-type]
        seconds.append(time.perf_counter() - begin)
        state = step.state
        limited |= set(step.active)
        if k % 10 == 0:
            for actuator, effort in step.efforts.items():
                robot.set_effort(actuator, effort)
            last = statics.solve(state if last is None else last).require().state
            now = _places(robot, last, paths)
            errors.append(max(float(np.linalg.norm(now[key] - targets[key])) for key in paths))
    figures = (
        Figure(f"{name}.realtime_error_mean", 1e3 * float(np.mean(errors)), "mm", better="lower"),
        Figure(f"{name}.realtime_error_max", 1e3 * float(np.max(errors)), "mm", better="lower"),
        Figure(f"{name}.step_median", 1e3 * float(np.median(seconds)), "ms", better="lower"),
        Figure(f"{name}.rate", 1 / float(np.median(seconds)), "Hz", better="higher"),
        Figure(f"{name}.active_limits", len(limited), "limits"),
    )
    return Report(state, figures, tuple(sorted(limited)))


def track_converged(name: str, robot: Robot, state: State, paths: Paths, *, points: int) -> list[Figure]:
    """Errors of converged poses at so many places of the paths; one that does not converge counts as it is, and is told."""
    inverse, slow = Inverse(robot), 0
    duration = max(path.duration for path in paths.values())
    errors = []
    for share in np.linspace(0, 1, points, endpoint=False):
        targets = _targets(paths, share * duration)
        # redundant cables that change sides need many halved updates
        step = inverse.solve_pose(state, max_iterations=300, **targets)  # type: ignore[arg-type]
        if step.status is DecisionStatus.NOT_CONVERGED:
            slow += 1
        else:
            step.require()
        state = step.state
        errors.append(step.distance)
    told = [Figure(f"{name}.poses_not_converged", slow, "poses", better="lower")] if slow else []
    return [
        Figure(f"{name}.converged_error_mean", 1e3 * float(np.mean(errors)), "mm", better="lower"),
        Figure(f"{name}.converged_error_max", 1e3 * float(np.max(errors)), "mm", better="lower"),
        *told,
    ]


def reachable_path(
    robot: Robot, state: State, effector: str, efforts: Mapping[str, NDArray[np.float64]], speed: float
) -> Waypoints:
    """Where the effector goes as given efforts rise together, and back again, at a speed [m/s]; by forward equilibria.

    efforts: values [k] per actuator, of one row each. The robot's own efforts are those of the state afterwards.
    """
    statics, before = Statics(robot), {name: robot.effort(state, name) for name in efforts}
    way = []
    for values in zip(*efforts.values(), strict=True):
        for name, value in zip(efforts, values, strict=True):
            robot.set_effort(name, value)
        state = statics.solve(state).require().state
        way.append(robot.displacement(state, effector))
    for name, value in before.items():
        robot.set_effort(name, value)
    return Waypoints([*way, *reversed(way[:-1])], speed)


def _places(robot: Robot, state: State, paths: Paths) -> dict[str, NDArray[np.float64]]:
    return {key: robot.displacement(state, key) for key in paths}


def _targets(paths: Paths, seconds: float) -> dict[str, NDArray[np.float64]]:
    return {key: path.position(seconds) for key, path in paths.items()}
