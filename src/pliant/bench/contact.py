"""Contact: what a step on the ground costs, and how often its forces miss Coulomb's law."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.bench import qpcc, rolling
from pliant.bench.clock import smallest_times
from pliant.body import RigidBody, TetBody
from pliant.contact import Plane, Solid
from pliant.material import Corotational
from pliant.motion import Dynamics
from pliant.motion.touching import Touching
from pliant.robot import Robot, State
from pliant.robot.extra import NO_ROWS
from pliant.shape import TetMesh, make, read
from pliant.view import Figure
from pliant.view.figures import bounded

STEP = 0.01
"""Time step [s]."""
G = 9.81
MISSED = 1e-6


def measure(mesh: Path | None = None) -> list[Figure]:
    """All figures; mesh: the wheel of the SoftRobots plugin (millimetres, its axis along z) beside the own ring."""
    figures = [*_wheel("contact", _ring()), *_many(), *_missed(), *rolling.measure("contact.wheel"), *qpcc.measure()]
    if mesh is not None:
        shape = read(mesh, "mm")
        if isinstance(shape, TetMesh):
            figures += [*_wheel("contact.given", shape), *rolling.measure("contact.given_wheel", shape)]
    return figures


def _ring() -> TetMesh:
    """A wheel of 40 mm with its axis along z."""
    return make.tube(0.015, 0.02, 0.015, 0.0026)


def _on_ground(shape: TetMesh) -> Robot:
    body = TetBody(shape, Corotational(E=500e3, nu=0.3), density=1100, damping=(0, 0.015))
    robot = Robot(body, gravity=(0, -G, 0))
    low = float(shape.nodes[:, 1].min())
    robot.touch("ground", Plane(normal=(0, 1, 0), offset=low - 1e-4, friction=0.8))
    return robot


def _wheel(prefix: str, shape: TetMesh) -> list[Figure]:
    robot = _on_ground(shape)
    state, motion = robot.rest(), Dynamics(robot, STEP)
    for _ in range(100):
        state = motion.step(state).require().state
    times = smallest_times(
        {
            "step": lambda: motion.step(state).require(),
            "detect": lambda: Touching.in_step(robot, state, STEP, NO_ROWS),
        },
        seconds=4.0,
    )
    return [
        Figure(f"{prefix}.nodes", len(shape.nodes), "nodes"),
        Figure(f"{prefix}.touching", len(robot.contacts(state, "ground")), "points"),
        bounded(f"{prefix}.forward_step_ms", 1e3 * times["step"], "ms", 5.0, "lower", "bound"),
        bounded(f"{prefix}.detect_ms", 1e3 * times["detect"], "ms", 0.5, "lower", "bound"),
    ]


def _many() -> list[Figure]:
    """A soft plate that lies on 300 points and is pushed sideways."""
    body = TetBody(make.box((0.1, 0.07, 0.01), (19, 14, 1)), Corotational(E=1e5, nu=0.3), damping=(0, 0.005))
    robot = Robot(body, gravity=(3.0, 0, -G))
    robot.touch("ground", Plane(friction=0.6))
    state, motion = robot.rest(), Dynamics(robot, STEP)
    for _ in range(10):
        state = motion.step(state).require().state
    times = smallest_times({"step": lambda: motion.step(state).require()}, seconds=4.0)
    return [
        Figure("contact.many", len(robot.contacts(state, "ground")), "points"),
        bounded("contact.forward_300_ms", 1e3 * times["step"], "ms", 60.0, "lower", "bound"),
    ]


def _missed() -> list[Figure]:
    """Steps of three scenes: a soft block that slides down, a rigid box that tumbles onto a step, a wheel that rolls."""
    missed, worst, count = 0, 0.0, 0
    for robot, state in (_slide(), _tumble(), _roll()):
        motion = Dynamics(robot, 0.005)
        for _ in range(120):
            result = motion.step(state).require()
            state, count = result.state, count + 1
            missed, worst = missed + (result.missed > MISSED), max(worst, result.missed)
    return [
        bounded("contact.missed_share", missed / count, "", 0.01, "lower", "bound"),
        bounded("contact.worst_miss", worst, "", 1e-3, "lower", "bound"),
    ]


def _slide() -> tuple[Robot, State]:
    body = TetBody(make.box((0.04, 0.03, 0.02), (4, 3, 2)), Corotational(E=1e5, nu=0.3), damping=(0, 0.002))
    robot = Robot(body, gravity=(5.6, 0, -8.0))
    robot.touch("slope", Plane(friction=0.5))
    return robot, robot.rest()


def _tumble() -> tuple[Robot, State]:
    box = make.box((0.03, 0.02, 0.02), (2, 2, 2)).rotated((0, 1, 0), 0.5).translated((0, 0, 0.03))
    robot = Robot(RigidBody(box.surface(), density=1000), gravity=(0, 0, -G))
    robot.touch("ground", Plane(friction=0.4))
    robot.touch(
        "step", Solid(make.box((0.05, 0.2, 0.01), (2, 2, 1)).translated((0.01, -0.1, 0.0)).surface(), friction=0.4)
    )
    return robot, robot.rest()


def _roll() -> tuple[Robot, State]:
    robot = _on_ground(make.tube(0.015, 0.02, 0.015, 0.005))
    robot.set_gravity(G * np.array([np.sin(0.2), -np.cos(0.2), 0.0]))
    return robot, robot.rest()
