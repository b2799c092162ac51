"""How well a robot of the gallery follows its paths."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from pliant.control import DecisionStatus, Inverse
from pliant.control.trajectory import Recorded, Waypoints
from pliant.gallery.follower import Paths, Report
from pliant.motion import Statics
from pliant.robot import Robot, State
from pliant.view import Figure
from pliant.view.page.poses import between, with_position

Array = NDArray[np.float64]


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
    home = _places(robot, state, paths)
    start = _targets(robot, home, paths, 0.0)
    for share in np.linspace(0, 1, 51)[1:]:
        way = {key: between(robot.ports[key].port, home[key], start[key], share) for key in paths}
        state = inverse.step(state, **way).require().state  # type: ignore[arg-type]
    errors, seconds, limited, last = [], [], set(), None
    for k in range(int(max(path.duration for path in paths.values()) * rate) + 1):
        targets = _targets(robot, home, paths, k / rate)
        begin = time.perf_counter()
        step = inverse.step(state, interval=1 / rate, **targets).require()  # type: ignore[arg-type]
        seconds.append(time.perf_counter() - begin)
        state = step.state
        limited |= set(step.active)
        if k % 10 == 0:
            for actuator, effort in step.efforts.items():
                robot.set_effort(actuator, effort)
            last = statics.solve(state if last is None else last).require().state
            errors.append({key: robot.shortfall(last, key, target) for key, target in targets.items()})
    figures = (
        *_errors_told(f"{name}.realtime", robot, errors),
        Figure(f"{name}.step_median", 1e3 * float(np.median(seconds)), "ms", better="lower"),
        Figure(f"{name}.rate", 1 / float(np.median(seconds)), "Hz", better="higher"),
        Figure(f"{name}.active_limits", len(limited), "limits"),
    )
    return Report(state, figures, tuple(sorted(limited)))


def track_converged(name: str, robot: Robot, state: State, paths: Paths, *, points: int) -> list[Figure]:
    """Errors of converged poses at so many places of the paths; one that does not converge counts as it is, and is told."""
    inverse, slow = Inverse(robot), 0
    duration = max(path.duration for path in paths.values())
    errors, home = [], _places(robot, state, paths)
    for share in np.linspace(0, 1, points, endpoint=False):
        targets = _targets(robot, home, paths, share * duration)
        # redundant cables that change sides need many halved updates
        step = inverse.solve_pose(state, max_iterations=300, **targets)  # type: ignore[arg-type]
        if step.status is DecisionStatus.NOT_CONVERGED:
            slow += 1
        else:
            step.require()
        state = step.state
        errors.append(step.error)
    told = [Figure(f"{name}.poses_not_converged", slow, "poses", better="lower")] if slow else []
    return [*_errors_told(f"{name}.converged", robot, errors), *told]


def _errors_told(name: str, robot: Robot, errors: Sequence[Mapping[str, Array]]) -> list[Figure]:
    """Mean and largest error in space, and of orientations where there are any; errors: rows by effector, at many times."""
    figures = []
    for unit, what, shown in (("m", "error", "mm"), ("rad", "turn", "mrad")):
        chosen = {key: np.array(robot.ports[key].port.displacement_units) == unit for key in errors[0]}
        if not any(rows.any() for rows in chosen.values()):
            continue
        sizes = [max(float(np.linalg.norm(rows[chosen[key]])) for key, rows in one.items()) for one in errors]
        for kind, value in (("mean", np.mean(sizes)), ("max", np.max(sizes))):
            figures.append(Figure(f"{name}_{what}_{kind}", 1e3 * float(value), shown, better="lower"))
    return figures


def reachable_path(robot: Robot, state: State, effector: str, efforts: Mapping[str, Array], speed: float) -> Waypoints:
    """Where the effector goes as given efforts rise together, and back again, at a speed [m/s]; by forward equilibria.

    efforts: values [k] per actuator, of one row each. The robot's own efforts are those of the state afterwards.
    """
    way = _forward(robot, state, effector, efforts)
    return Waypoints([*way, *reversed(way[:-1])], speed)


def reachable_poses(robot: Robot, state: State, effector: str, efforts: Mapping[str, Array], speed: float) -> Recorded:
    """The poses of a `Frame` under given efforts, one after the other, at a speed [m/s] of its place; the last is the first."""
    way = np.array(_forward(robot, state, effector, efforts))
    way[-1] = way[0]
    lengths = np.linalg.norm(np.diff(way[:, :3], axis=0), axis=1)
    return Recorded(np.concatenate([[0.0], np.cumsum(lengths)]) / speed, way)


def _forward(robot: Robot, state: State, effector: str, efforts: Mapping[str, Array]) -> list[Array]:
    """Targets that the effector is at under efforts [k] per actuator."""
    statics, before = Statics(robot), {name: robot.effort(state, name) for name in efforts}
    way = []
    for values in zip(*efforts.values(), strict=True):
        for name, value in zip(efforts, values, strict=True):
            robot.set_effort(name, value)
        state = statics.solve(state).require().state
        way.append(robot.displacement(state, effector, as_target=True))
    for name, value in before.items():
        robot.set_effort(name, value)
    return way


def _places(robot: Robot, state: State, paths: Paths) -> dict[str, Array]:
    return {key: robot.displacement(state, key, as_target=True) for key in paths}


def _targets(robot: Robot, home: Mapping[str, Array], paths: Paths, seconds: float) -> dict[str, Array]:
    """Where paths are; a pose on a path of positions keeps the orientation that it has at home."""
    return {key: with_position(robot.ports[key].port, home[key], path.position(seconds)) for key, path in paths.items()}
