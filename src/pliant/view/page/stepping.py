"""One step of a robot on a page: its effectors follow targets, or it is in balance under given efforts."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from pliant.control import Inverse
from pliant.motion import Statics
from pliant.robot import Robot, State
from pliant.robot.roles import Role

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Wish:
    """What is asked of the robot: displacements of effectors and efforts of loads, by name, [rows] each."""

    targets: Mapping[str, Array]
    efforts: Mapping[str, Array]


@dataclass(frozen=True)
class Outcome:
    """What a step gave: the state (the one before, where it failed), a word and its explanation with the remedy, limits
    that hold the robot back, seconds per stage."""

    state: State
    ok: bool
    word: str
    remedy: str
    active: tuple[str, ...] = ()
    times: Mapping[str, float] = field(default_factory=dict)


class Stepping(ABC):
    """How a robot goes from one state to the next."""

    loads: tuple[str, ...]
    """Ports whose efforts a user gives."""

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


class Following(Stepping):
    """Effectors follow targets: one decision of the inverse per step, quasi-static.

    The goal handed to the inverse lies between where the effector is and its target, at most a small way off, so that a
    target dragged far away in one go, or out of reach, is not reached for in a single linear step.
    """

    def __init__(self, robot: Robot, size: float) -> None:
        super().__init__(robot, size)
        self.loads = robot.named(Role.IMPOSED)
        self._inverse = Inverse(robot)

    def step(self, state: State, wish: Wish, interval: float) -> Outcome:
        goals = {name: self._goal(state, name, target, interval) for name, target in wish.targets.items()}
        done = self._inverse.step(
            _with_efforts(self.robot, state, wish.efforts),
            interval=interval,
            **goals,  # type: ignore[arg-type]
        )
        remedy = done.status.value + (f" ({done.cause})" if done.cause is not None else "")
        active = done.active + tuple(f"{name} (dropped)" for name in done.relaxed)
        outcome = Outcome(
            done.state if done.ok else state, done.ok, done.status.name.replace("_", " "), remedy, active, done.times
        )
        return self._checked(state, outcome)

    def _goal(self, state: State, name: str, target: Array, interval: float) -> Array:
        """The target, or the part of the way to it that can be gone in this interval."""
        if self.robot.ports[name].displacement_unit != "m" or not np.isfinite(target).all():
            return target
        here = self.robot.displacement(state, name)
        way = target - here
        length, reach = float(np.linalg.norm(way)), self.size * interval
        return target if length <= reach else here + way * (reach / length)


class Loading(Stepping):
    """The equilibrium under efforts that a user gives to loads and actuators; nothing is decided."""

    def __init__(self, robot: Robot, size: float) -> None:
        super().__init__(robot, size)
        self.loads = robot.named(Role.IMPOSED) + robot.named(Role.ACTUATOR)
        self._statics = Statics(robot, tolerance=1e-7, max_iterations=40)

    def step(self, state: State, wish: Wish, interval: float) -> Outcome:
        for name, effort in wish.efforts.items():
            self.robot.set_effort(name, effort)
        done = self._statics.solve(state)
        remedy = done.status.value + (f" ({done.cause})" if done.cause is not None else "")
        outcome = Outcome(
            done.state if done.ok else state, done.ok, done.status.name.replace("_", " "), remedy, (), done.times
        )
        return self._checked(state, outcome)


def stepping_of(robot: Robot, size: float) -> Stepping:
    """Following for a robot with actuators and effectors, Loading for any other."""
    decides = robot.named(Role.ACTUATOR) and robot.named(Role.EFFECTOR)
    return Following(robot, size) if decides else Loading(robot, size)


def _with_efforts(robot: Robot, state: State, efforts: Mapping[str, Array]) -> State:
    """The state with other efforts on some ports."""
    if not efforts:
        return state
    rows = state.efforts.copy()
    for name, effort in efforts.items():
        rows[robot.system.slices[name]] = effort
    return replace(state, efforts=rows)
