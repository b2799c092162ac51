"""Runs of the wheel: in its model, in closed loop with a plant that slips by Coulomb's law, and replayed without looking."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.rotation import from_quaternion
from pliant.control import Inverse, InverseStep
from pliant.gallery import wheel_robot
from pliant.gallery.tracks import TOUCH, Track
from pliant.motion import Dynamics
from pliant.robot import Robot, Role, State

Array = NDArray[np.float64]

SPEED, LEAD, SETTLE = 0.030, 0.005, 40
"""Of the target [m/s]; how far it may lead [m]; steps for which it waits while the wheel comes to rest."""
PLANT_STEP = 0.005
"""Of the plant [s]."""


@dataclass
class Course:
    """The target: along a track at a speed (below zero: back), never far ahead of the wheel."""

    track: Track
    under: float
    speed: float = SPEED
    clearance: float = np.nan
    origin: float = 0.0

    def begin(self, center: Array) -> None:
        """From a centre (3,) [m] at rest on."""
        self.origin = self.track.way_of(center, 0.0, self.under)
        here, normal = self.track.place(self.origin, 0.0, self.under)
        self.clearance = float((center - here) @ normal)

    def way(self, center: Array, time: float) -> float:
        """How far a centre (3,) [m] has come [m] at a time [s] since it began."""
        return self.track.way_of(center, time, self.under) - self.origin

    def target(self, center: Array, time: float) -> Array:
        """Where the centre is to be (3,) [m], from where it is."""
        way, asked = self.way(center, time), self.speed * time
        ahead = min(asked, way + LEAD) if self.speed > 0.0 else max(asked, way - LEAD)
        place, normal = self.track.place(self.origin + ahead, time, self.under)
        return np.asarray(place + self.clearance * normal)

    def behind(self, center: Array, time: float) -> float:
        """How far the wheel is behind where it should be by then [m]."""
        return float(np.sign(self.speed) * (self.speed * time - self.way(center, time)))


@dataclass(frozen=True)
class Rolled:
    """A run: ways along the track [s], angles turned [rad] [s], errors of the centre [s] [m], normal and friction force of the
    ground along the track [s] [N], contacts that bore and those of them outside the cone, depth [m] [s]; the decisions; states
    now and then."""

    ways: Array
    angles: Array
    errors: Array
    normal: Array
    along: Array
    bore: int
    outside: int
    steps: Sequence[InverseStep]
    states: Sequence[State]

    @property
    def slip(self) -> float:
        """R angle / distance."""
        return float(wheel_robot.RADIUS * abs(self.angles[-1]) / abs(self.ways[-1]))

    @property
    def dropped(self) -> float:
        """Share of steps in which a limit was dropped."""
        return float(np.mean([bool(step.relaxed) for step in self.steps]))


def settled(
    robot: Robot, inverse: Inverse, course: Course, watch: Callable[[InverseStep], object] = lambda step: None
) -> State:
    """At rest on the ground, held where it was put."""
    state = robot.rest()
    center = robot.displacement(state, "center")
    for _ in range(SETTLE):
        step = inverse.step(state, center=center).require()
        state = step.state
        watch(step)
    course.begin(robot.displacement(state, "center"))
    return state


def rolled(
    robot: Robot,
    inverse: Inverse,
    course: Course,
    distance: float,
    *,
    longest: float = 12.0,
    watch: Callable[[InverseStep], object] = lambda step: None,
) -> Rolled:
    """Roll so far [m] in the model, for so long at most [s]; watch: called with every step, those to rest too."""
    state, h = settled(robot, inverse, course, watch), wheel_robot.STEP
    turned, mu = _Turned(robot, state), robot.touches[TOUCH].friction
    ways, angles, errors, forces, steps, states, bore, outside = [], [], [], [], [], [state], 0, 0
    for k in range(1, round(longest / h) + 1):
        course.track.move(robot, k * h)
        target = course.target(robot.displacement(state, "center"), k * h)
        step = inverse.step(state, center=target)
        if not step.ok:
            break
        state = step.state
        watch(step)
        center, found = robot.displacement(state, "center"), robot.contacts(state, TOUCH)
        ways.append(course.way(center, k * h))
        angles.append(turned.at(state))
        errors.append(float(np.linalg.norm(center - target)))
        _, n = course.track.place(course.origin + ways[-1], k * h, course.under)
        forces.append((found.force @ n, found.force @ np.array([n[1], -n[0], 0.0])))
        bore += len(found)
        outside += int((np.linalg.norm(found.friction_forces, axis=1) > mu * found.normal_forces).sum())
        steps.append(step)
        if k % 50 == 0:
            states.append(state)
        if abs(ways[-1]) >= distance:
            break
    normal, along = np.array(forces).T
    return Rolled(
        np.array(ways), np.array(angles), np.array(errors), normal, along, bore, outside, steps, [*states, state]
    )


@dataclass(frozen=True)
class Driven:
    """A run on a plant: times [s] [s], how far it is behind [s] [m], ways along the track [s] [m], how many decisions dropped
    a limit or failed, commands [s, 4] [m], and states now and then."""

    times: Array
    behind: Array
    ways: Array
    dropped: int
    failed: int
    commands: Array
    states: Sequence[State]


def plant_of(track: Track, friction: float) -> Robot:
    """Another wheel: a coarser mesh of ten-node tets, other contact points, true friction; cables are held at lengths."""
    mesh = wheel_robot.ring(0.0042)
    robot = wheel_robot.build(track, mesh, friction=friction, order=2, points=40)
    return robot.with_roles({f"cable {k}": Role.HELD for k in range(wheel_robot.CABLES)} | {"center": Role.SENSOR})


def driven(model: Robot, inverse: Inverse, plant: Robot, course: Course, duration: float) -> Driven:
    """Closed loop for so long [s]: each step the model is put where the plant's pose was measured, with the speed that goes
    with it; the plant gets cable lengths; nothing else is shared."""
    loop = _Loop(model, inverse, plant)
    home = plant.displacement(loop.there, "center")
    for _ in range(SETTLE):
        loop.step(home)
    course.begin(loop.measured[:3])
    times, behind, ways, commands, states = [], [], [], [], [loop.there]
    for k in range(1, round(duration / wheel_robot.STEP) + 1):
        for robot in (model, plant):
            course.track.move(robot, k * wheel_robot.STEP)
        loop.step(course.target(loop.measured[:3], k * wheel_robot.STEP))
        center = plant.displacement(loop.there, "center")
        times.append(k * wheel_robot.STEP)
        ways.append(course.way(center, times[-1]))
        behind.append(course.behind(center, times[-1]))
        commands.append(loop.lengths)
        if k % 50 == 0:
            states.append(loop.there)
    return Driven(
        np.array(times), np.array(behind), np.array(ways), loop.dropped, loop.failed, np.array(commands),
        [*states, loop.there]
    )  # fmt: skip


class _Loop:
    """A model that decides, and a plant that does as it is told."""

    def __init__(self, model: Robot, inverse: Inverse, plant: Robot) -> None:
        self._model, self._inverse, self._plant = model, inverse, plant
        self._motion = Dynamics(plant, PLANT_STEP)
        self.state, self.there = model.rest(), plant.rest()
        self._last = self.measured
        self.dropped, self.failed, self.lengths = 0, 0, [0.0] * wheel_robot.CABLES

    @property
    def measured(self) -> Array:
        """The pose of the plant, (7,)."""
        return self._plant.displacement(self.there, "pose", as_target=True)

    def step(self, target: Array) -> None:
        """Measure, decide, act. The model goes on as fast as the measured places say."""
        last, self._last = self._last, self.measured
        state = self._model.placed(self.state, "pose", self._last)
        speed = (self._last[:3] - last[:3]) / wheel_robot.STEP
        step = self._inverse.step(replace(state, v=state.v + speed - state.v.mean(axis=0)), center=target)
        self.dropped, self.failed = self.dropped + bool(step.relaxed), self.failed + (not step.ok)
        self.state, self.lengths = step.state, [float(own[0]) for own in step.displacements.values()]
        self.there = _moved(self._plant, self._motion, self.there, self.lengths)


def _moved(plant: Robot, motion: Dynamics, state: State, lengths: Sequence[float]) -> State:
    """The plant one decision later, with its cables at lengths [m]."""
    for k, length in enumerate(lengths):
        plant.set_displacement(f"cable {k}", length)
    for _ in range(round(wheel_robot.STEP / PLANT_STEP)):
        state = motion.step(state).require().state
    return state


def replayed(plant: Robot, commands: Sequence[Sequence[float]], course: Course) -> float:
    """How far along the track [m] the plant gets by cable lengths that were decided without looking at it, first those for
    coming to rest."""
    motion, state = Dynamics(plant, PLANT_STEP), plant.rest()
    for k, lengths in enumerate(commands):
        if k >= SETTLE:
            course.track.move(plant, (k - SETTLE + 1) * wheel_robot.STEP)
        state = _moved(plant, motion, state, lengths)
        if k == SETTLE - 1:
            course.begin(plant.displacement(state, "center"))
    return course.way(plant.displacement(state, "center"), (len(commands) - SETTLE) * wheel_robot.STEP)


class _Turned:
    """By how much the wheel has turned about its axle."""

    def __init__(self, robot: Robot, state: State) -> None:
        self._robot, self._last, self._angle = robot, self._phase(robot, state), 0.0

    @staticmethod
    def _phase(robot: Robot, state: State) -> float:
        R = from_quaternion(robot.displacement(state, "pose", as_target=True)[3:])
        return float(np.arctan2(R[1, 0], R[0, 0]))

    def at(self, state: State) -> float:
        """[rad], since the beginning."""
        phase = self._phase(self._robot, state)
        self._angle += (phase - self._last + np.pi) % (2 * np.pi) - np.pi
        self._last = phase
        return self._angle
