"""Robots for controllers at two rates: functions of a module, so that other processes find them."""

from __future__ import annotations

import inspect
import os
import subprocess
import sys
from pathlib import Path

import numpy as np

from pliant import (
    Cable,
    Corotational,
    Frame,
    Lattice,
    NeoHookean,
    Point,
    Robot,
    SpringBody,
    Statics,
    TetBody,
    make,
    solids,
)
from pliant.body import Body
from pliant.control import TwoRates
from pliant.device import Audit, Drive, Event, SimulatedPlant, Wiring
from waiting import PATIENCE

TENDONS = {"up": (0.008, 0.014), "down": (0.008, 0.002), "left": (0.014, 0.008), "right": (0.002, 0.008)}


def arm(law=None, divisions=(10, 2, 2), order=1, damping=(0.0, 0.0)) -> Robot:
    """A silicone arm of 100 mm with four tendons."""
    mesh = make.box((0.1, 0.016, 0.016), divisions)
    law = Corotational(E=300e3, nu=0.4) if law is None else law
    body = TetBody(mesh, law, density=1100, order=order, damping=damping, fixed=mesh.where(x_below=0))
    return with_tendons(body)


def spring_arm() -> Robot:
    """The same arm as a lattice of springs, four cells across."""
    lattice = Lattice.voxels(solids.box((0.1, 0.016, 0.016)), 0.004)
    return with_tendons(SpringBody(lattice, E=300e3, density=1100, fixed=lattice.where(x_below=0)))


def with_tendons(body: Body) -> Robot:
    """A robot of this arm with four tendons and its tip."""
    robot = Robot(body, gravity=(0, 0, -9.81))
    for name, (y, z) in TENDONS.items():
        points = [(x, y, z) for x in np.linspace(0.005, 0.095, 5)]
        limits = {"effort": (0, 4), "effort_rate": 20.0, "displacement": (-0.02, 0.02), "displacement_rate": 0.1}
        robot.actuate(name, Cable(points, pull=(-0.02, y, z)), **limits)
    robot.effect("tip", Point(near=(0.1, 0.008, 0.008)))
    return robot


def arm_plant() -> Robot:
    """Another mesh, order, law and stiffness than `arm`, with damping."""
    return arm(NeoHookean(E=315e3, nu=0.42), (7, 2, 2), order=2, damping=(0.5, 0.004))


def bus_plant() -> SimulatedPlant:
    """`arm_plant` at the far end of a bus, commanded by lengths, with motors that lag, and noise."""
    return SimulatedPlant(arm_plant(), 0.01, kind="displacement", settling=0.02, noise=1e-5, seed=5)


def home() -> np.ndarray:
    robot = arm()
    return robot.displacement(Statics(robot).solve().require().state, "tip")


def near(x: float, y: float, z: float) -> np.ndarray:
    """A place so far from where the tip hangs."""
    return home() + np.array([x, y, z])


def run_alone(code: str) -> subprocess.CompletedProcess[str]:
    """Run a script in a process of its own, which finds these robots; one that hangs fails."""
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    return subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
        timeout=PATIENCE,
    )


class Judge(Drive):
    """A drive that checks every command by itself, and keeps them all."""

    def __init__(self, controller: TwoRates) -> None:
        super().__init__(Wiring.of_robot(controller.robot, controller.kind))
        self.audit = Audit(controller.guard.low, controller.guard.high, controller.guard.rate)
        self.times: list[float] = []
        self.commands: list[np.ndarray] = []
        self.stopped = False

    def send(self, command, now):
        self.audit.see(command, now)
        self.times.append(now)
        self.commands.append(command.copy())
        return True

    def read(self):
        return None

    def stop(self):
        self.stopped = True

    def resume(self):
        self.stopped = False

    def close(self):
        pass


def follows(controller):
    """Whether the last command was the decided one, and not held or on its way to the safe one."""
    return not controller.events & (Event.HELD | Event.RAMPING)


def moved(controller):
    """Whether the last command was far from the safe one."""
    return np.abs(controller.guard.command - controller.guard.safe).max() > 1e-3


def lives(pid):
    """Whether there is such a process that is not merely waiting to be collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def play(controller, acts, targets, drive, *, log=None, **options):
    """Run a controller through the acts of a test, a generator that yields what it waits for as functions without arguments,
    and end the run behind the last; log: watches, too. However slow a machine is, every act has its time."""
    waiting = next(acts)

    def watch(seconds, two):
        nonlocal waiting
        if log is not None:
            log(seconds, two)
        if waiting():
            waiting = next(acts, None)
        return waiting is None

    run = controller.run(PATIENCE, targets, drive, watch=watch, **options)
    assert waiting is None or run.interrupted, f"in {PATIENCE} s it never came that {inspect.getsource(waiting)}"
    return run


class Wish:
    """A target that a test may change at any time."""

    def __init__(self, place):
        self.place = place

    def fill(self, seconds, out):
        out[:] = self.place


def hand(law=None, divisions=(8, 2, 2), order=1, damping=(0.0, 0.0), held=True) -> Robot:
    """The arm with the orientation of its end to follow, and a rope of given length that pulls at its middle; without `held`,
    nothing but the given pose of its base holds it."""
    mesh = make.box((0.1, 0.016, 0.016), divisions)
    law = Corotational(E=300e3, nu=0.4) if law is None else law
    base = mesh.where(x_below=0)
    body = TetBody(mesh, law, density=1100, order=order, damping=damping, **({"fixed": base} if held else {}))
    robot = Robot(body, gravity=(0, 0, -9.81))
    for name, (y, z) in TENDONS.items():
        points = [(x, y, z) for x in np.linspace(0.005, 0.095, 5)]
        limits = {"effort": (0, 4), "effort_rate": 20.0, "displacement": (-0.02, 0.02), "displacement_rate": 0.1}
        robot.actuate(name, Cable(points, pull=(-0.02, y, z)), **limits)
    robot.effect("hand", Frame(mesh.where(x_above=0.1), rows="ry rz"))
    if not held:
        for k, node in enumerate(base):
            robot.impose(f"base {k}", Point(near=mesh.nodes[node]), displacement=mesh.nodes[node])
    robot.impose("rope", Cable([(0.05, 0.008, 0.008)], pull=(0.05, 0.1, 0.008)), displacement=0.001)
    return robot


def free_hand() -> Robot:
    """The same, which no support holds."""
    return hand(held=False)


def hand_plant() -> SimulatedPlant:
    """Another mesh, law and stiffness than `hand`, with damping, commanded by lengths, with motors that lag."""
    robot = hand(NeoHookean(E=315e3, nu=0.42), (7, 2, 2), damping=(0.5, 0.004))
    return SimulatedPlant(robot, 0.01, kind="displacement", settling=0.02)
