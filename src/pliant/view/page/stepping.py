"""One step of a robot on a page: its effectors follow targets, or it is in balance under given efforts; what supports do not
hold moves through time."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.rotation import exponential, from_quaternion, logarithm, to_quaternion
from pliant.control import Inverse
from pliant.device.wiring import Kind
from pliant.motion import Dynamics, Statics, Status
from pliant.robot import Robot, State
from pliant.robot.roles import Role
from pliant.view.page.poses import between, row_value
from pliant.view.page.rows import measures_of

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Wish:
    """What is asked of the robot, by name: targets of effectors, efforts of loads [given rows], displacements of driven ports
    (said as targets), and where obstacles of touches are to be: position [m] and quaternion wxyz (7,)."""

    targets: Mapping[str, Array]
    efforts: Mapping[str, Array]
    displacements: Mapping[str, Array] = field(default_factory=dict)
    obstacles: Mapping[str, Array] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """What a step gave: the state (the one before, where it failed), a word and its explanation with the remedy, limits
    that hold the robot back, seconds per stage, and how far the robot is from losing stability (NaN: not known)."""

    state: State
    ok: bool
    word: str
    remedy: str
    active: tuple[str, ...] = ()
    times: Mapping[str, float] = field(default_factory=dict)
    margin: float = np.nan


UNHELD = "no supports hold the robot, so it moves through time; Reset brings it back"


class Stepping(ABC):
    """How a robot goes from one state to the next."""

    always: ClassVar[bool] = True
    """Whether there is a step to make even where nothing was asked since the last."""
    loads: tuple[str, ...]
    """Ports whose efforts a user gives; those whose displacement is given are the robot's held ones."""

    def __init__(self, robot: Robot, size: float) -> None:
        """size: of the robot [m]; what is asked is approached at about one size per second."""
        self.robot, self.size = robot, size

    @abstractmethod
    def step(self, state: State, wish: Wish, interval: float) -> Outcome:
        """The state `interval` [s] later."""

    def _checked(self, before: State, outcome: Outcome) -> Outcome:
        """The outcome, or a refusal that holds the state before where it cannot be right."""
        if not outcome.ok:
            return outcome
        if not np.isfinite(outcome.state.x).all():
            return replace(
                outcome, state=before, ok=False, word="NOT A NUMBER", remedy="the last good state is held; press Reset"
            )
        return outcome

    def _push(self, name: str, pose: Array, interval: float) -> None:
        """Bring an obstacle nearer to where it is wanted, slowly enough for what it meets."""
        obstacle = self.robot.touches[name].obstacle
        if obstacle is None:
            return
        turn = logarithm(from_quaternion(pose[3:]) @ obstacle.rotation.T)
        way = pose[:3] - obstacle.position
        far = max(float(np.linalg.norm(way)) / (0.5 * self.size), float(np.linalg.norm(turn)))
        share = min(1.0, interval / far) if far > 0.0 else 1.0  # half a size of the robot per second, or a radian
        if way.any() or turn.any():
            self.robot.move_obstacle(
                name, obstacle.position + share * way, to_quaternion(exponential(share * turn) @ obstacle.rotation)
            )


class Following(Stepping):
    """Effectors follow targets: one decision of the inverse per step, quasi-static where supports hold the robot and it touches
    nothing.

    Targets are approached at about one size per second. Through time, where the inverse does not see to that by itself, the
    goal handed to it lies between where the effector is and its target; of a robot that touches something up to a tenth of
    its size ahead.
    """

    def __init__(
        self, robot: Robot, size: float, h: float, kind: Kind, decides: Callable[[Robot], Inverse] | None = None
    ) -> None:
        """h: seconds from one step to the next; kind: what motors hold between them; decides: makes the inverse."""
        super().__init__(robot, size)
        self.loads = robot.named(Role.IMPOSED)
        self._moves = not robot.is_supported or bool(robot.touches)
        if decides is not None:
            self._inverse = decides(robot)
        else:
            self._inverse = Inverse(robot, h=h) if self._moves else Inverse(robot, kind=kind, largest_move=h)
        self._note = f"; {UNHELD}" if self._moves and not robot.touches else ""
        self._ahead = 0.1 if robot.touches else 0.0
        self._measures = {name: measures_of(robot, name) for name in robot.named(Role.EFFECTOR)}

    def step(self, state: State, wish: Wish, interval: float) -> Outcome:
        for name, displacement in wish.displacements.items():
            self._give(name, displacement, interval)
        for name, pose in wish.obstacles.items():
            self._push(name, pose, interval)
        goals = wish.targets
        if self._moves:
            goals = {
                name: self._goal(state, name, target, max(interval, self._ahead))
                for name, target in wish.targets.items()
            }
        done = self._inverse.step(
            _with_efforts(self.robot, state, wish.efforts),
            interval=interval,
            **goals,  # type: ignore[arg-type]
        )
        remedy = done.status.value + (f" ({done.cause})" if done.cause is not None else "") + self._note
        active = done.active + tuple(f"{name} (dropped)" for name in done.relaxed)
        word = done.status.name.replace("_", " ")
        outcome = Outcome(done.state if done.ok else state, done.ok, word, remedy, active, done.times, done.margin)
        return self._checked(state, outcome)

    def _goal(self, state: State, name: str, target: Array, interval: float) -> Array:
        """The target, or the part of the way to it that can be gone in this interval."""
        share = min(
            (
                self._share(measure.of(self.robot, state, target), measure.unit, interval)
                for measure in self._measures[name]
            ),
            default=1.0,
        )
        if not share < 1:
            return target
        return between(self.robot.ports[name].port, self.robot.displacement(state, name, as_target=True), target, share)

    def _give(self, name: str, displacement: Array, interval: float) -> None:
        """Bring a held port's displacement nearer to the one asked for, by as much as can be gone in this interval."""
        port, now = self.robot.ports[name].port, self.robot.ports[name].displacement
        if np.array_equal(now, displacement):
            return
        ways = [
            self._share(abs(row_value(port, displacement, row) - row_value(port, now, row)), unit, interval)
            for row, unit in enumerate(port.displacement_units[: port.given_rows])
        ]
        share = min(ways)
        self.robot.set_displacement(name, displacement if share >= 1 else between(port, now, displacement, share))

    def _share(self, way: float, unit: str, interval: float) -> float:
        """The share of a way that can be gone in an interval: one size of the robot per second, or a turn of 2 rad."""
        reach = {"m": self.size, "rad": 2.0, "m^3": 0.1 * self.size**3}.get(unit, np.inf) * interval
        return 1.0 if not way > reach else reach / way


class Loading(Stepping):
    """The equilibrium under efforts that a user gives to loads and actuators; nothing is decided."""

    always = False

    def __init__(self, robot: Robot, size: float) -> None:
        super().__init__(robot, size)
        self.loads = robot.named(Role.IMPOSED) + robot.named(Role.ACTUATOR)
        self._statics = Statics(robot, tolerance=1e-7, max_iterations=40)

    def step(self, state: State, wish: Wish, interval: float) -> Outcome:
        _give(self.robot, wish)
        done = self._statics.solve(state)
        remedy = done.status.value + (f" ({done.cause})" if done.cause is not None else "")
        word = done.status.name.replace("_", " ")
        outcome = Outcome(done.state if done.ok else state, done.ok, word, remedy, (), done.times, done.margin)
        return self._checked(state, outcome)


class Moving(Stepping):
    """A robot that no supports hold, through time under efforts and displacements that a user gives: it falls, swings, or
    comes to rest where imposed displacements hold it."""

    def __init__(self, robot: Robot, size: float, h: float) -> None:
        """h: time step [s]."""
        super().__init__(robot, size)
        self.loads = robot.named(Role.IMPOSED) + robot.named(Role.ACTUATOR)
        self._dynamics = Dynamics(robot, h)

    def step(self, state: State, wish: Wish, interval: float) -> Outcome:
        _give(self.robot, wish)
        for name, pose in wish.obstacles.items():
            self._push(name, pose, interval)
        done = self._dynamics.step(state)
        word = "MOVING" if done.status is Status.STEPPED else done.status.name.replace("_", " ")
        told = done.status.value if done.status is not Status.STEPPED else "it moves" if self.robot.touches else UNHELD
        remedy = told + (f" ({done.cause})" if done.cause is not None else "")
        return self._checked(state, Outcome(done.state if done.ok else state, done.ok, word, remedy, (), done.times))


def stepping_of(
    robot: Robot, size: float, h: float, kind: Kind = "effort", decides: Callable[[Robot], Inverse] | None = None
) -> Stepping:
    """Following for a robot with actuators and effectors; for any other Loading, or Moving by steps of h [s] where supports
    do not hold it or it touches something. kind: what motors hold between decisions; decides: makes the inverse of a
    robot that follows."""
    if robot.named(Role.ACTUATOR) and robot.named(Role.EFFECTOR):
        return Following(robot, size, h, kind, decides)
    return Loading(robot, size) if robot.is_supported and not robot.touches else Moving(robot, size, h)


def _give(robot: Robot, wish: Wish) -> None:
    """Put the efforts and displacements that are asked for on the robot."""
    for name, effort in wish.efforts.items():
        robot.set_effort(name, effort)
    for name, displacement in wish.displacements.items():
        robot.set_displacement(name, displacement)


def _with_efforts(robot: Robot, state: State, efforts: Mapping[str, Array]) -> State:
    """The state with other efforts on some ports."""
    if not efforts:
        return state
    rows = state.efforts.copy()
    for name, effort in efforts.items():
        first = robot.ports[name].rows.start
        rows[first : first + len(effort)] = effort
    return replace(state, efforts=rows)
