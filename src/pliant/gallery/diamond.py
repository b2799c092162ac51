"""The four-legged silicone robot of largilliere2015, pulled by four cables.

A base in the middle, four legs that go out and up to a knee and back in to the top, E 150 kPa. A cable on each knee pulls it
towards the middle; the top is the effector. (The cables' places are those of the robot's usual scene.)
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.body import TetBody
from pliant.control.trajectory import Circle, Square
from pliant.device import SimulatedPlant
from pliant.device.wiring import Kind
from pliant.gallery.follower import Follower, Paths
from pliant.gallery.tracking import tracked
from pliant.material import Corotational, Law, NeoHookean
from pliant.port import Cable, Point
from pliant.robot import Robot, State
from pliant.shape import SurfaceMesh, TetMesh, solids

KNEE, KNEE_HEIGHT, TOP = 0.090, 0.045, 0.127
"""Distance of the knees from the axis, their height, and the height of the top [m]."""
EFFORT_RATE, LENGTH_RATE = 60.0, 0.2
"""How fast a motor may change the tension [N/s], and the length of its cable [m/s]."""
SIDE, SPEED, RATE, RISE = 0.020, 0.010, 50.0, 0.012
"""The square that the top follows: side [m], speed [m/s], decisions per second [Hz], height above where it hangs [m]."""


def shape(size: float = 0.0077) -> TetMesh:
    """The robot's own parametric mesh of tets of a size [m], about 1,600 nodes."""
    parts = [
        solids.box((0.030, 0.030, 0.020), at=(0, 0, 0), centered=True),
        solids.box((0.028, 0.028, 0.018), at=(0, 0, 0.118), centered=True),
    ]
    for turn in range(4):
        for a, b in (((0.004, 0.0), (0.085, 0.045)), ((0.085, 0.045), (0.006, 0.118))):
            parts.append(_limb(a, b).rotated((0, 0, 1), turn * np.pi / 2))
    return solids.union(*parts).filled(size)


def _limb(a: tuple[float, float], b: tuple[float, float], width: float = 0.016, height: float = 0.0135) -> SurfaceMesh:
    """A straight piece of leg between two points (x, z) of the plane y = 0 [m]."""
    run, rise = b[0] - a[0], b[1] - a[1]
    box = solids.box((np.hypot(run, rise) + 0.9 * height, width, height), centered=True)
    middle = ((a[0] + b[0]) / 2, 0.0, (a[1] + b[1]) / 2)
    return box.rotated((0, 1, 0), -np.arctan2(rise, run)).translated(middle)


def build(
    mesh: TetMesh | None = None,
    *,
    order: int = 1,
    law: Law | None = None,
    density: float = 1070.0,
    damping: tuple[float, float] = (0.0, 0.0),
) -> Robot:
    """The robot; `mesh`: another shape in the same place (knees at 90 mm, top above the origin), z upwards."""
    mesh = shape() if mesh is None else mesh
    center = (np.abs(mesh.nodes[:, :2]) < 0.0165).all(axis=1)
    base = np.flatnonzero(center & (mesh.nodes[:, 2] < 0.004))
    law = Corotational(E=150e3, nu=0.45) if law is None else law
    body = TetBody(mesh, law, density=density, order=order, fixed=base, damping=damping)  # type: ignore[arg-type]
    robot = Robot(body, gravity=(0.0, 0.0, -9.81))
    for k, name in enumerate(("east", "north", "west", "south")):
        c, s = np.cos(k * np.pi / 2), np.sin(k * np.pi / 2)
        knee, pull = (KNEE * c, KNEE * s, KNEE_HEIGHT), (0.010 * c, 0.010 * s, 0.030)
        robot.actuate(
            name,
            Cable([knee], pull=pull),
            effort=(0.0, 15.0),
            displacement=(-0.03, 0.05),
            effort_rate=EFFORT_RATE,
            displacement_rate=LENGTH_RATE,
        )
    robot.effect("top", Point(near=(0.0, 0.0, TOP)))
    return robot


def plant(
    h: float = 0.01, *, kind: Kind = "effort", size: float = 0.008, order: int = 1, **options: Any
) -> SimulatedPlant:
    """A robot to try a controller on that is not the controller's model: another mesh, neo-Hookean silicone that is 4 %
    stiffer and damped, motors that need 10 ms. step [s]; size [m] and order of its tets; options: of `SimulatedPlant`
    (noise, friction, ...). Backward Euler by default, which takes two thirds of the time.

    As it is (1,495 nodes), it keeps up with the clock beside a controller: a step takes 2 to 4 ms of its 10. In simulated time
    a finer one does no harm (size=0.0068: 2,132 nodes, 4 to 6 ms)."""
    robot = build(shape(size), order=order, law=NeoHookean(E=156e3, nu=0.45), damping=(0.5, 0.01))
    return SimulatedPlant(robot, h, kind=kind, **({"scheme": "euler"} | options))


def placed(mesh: TetMesh) -> TetMesh:
    """The diamond of the SoftRobots plugin, which lies with its axis along y, upright."""
    return mesh.rotated((1, 0, 0), np.pi / 2).translated((0, 0, 0.035))


def paths(robot: Robot, hanging: State) -> dict[str, Paths]:
    """A horizontal square above where the top hangs without tension, within reach of all four cables; a circle in it."""
    middle = robot.displacement(hanging, "top") + np.array([0.0, 0.0, RISE])
    return {
        "square": {"top": Square(middle, SIDE, SPEED)},
        "circle": {"top": Circle(middle, SIDE / 2, SPEED)},
    }


EXHIBIT = Follower(
    "a four-legged robot on four cables follows a square", build, tracked("diamond", RATE), paths, placed, RATE,
    commands=("displacement", "effort"),
)  # fmt: skip
