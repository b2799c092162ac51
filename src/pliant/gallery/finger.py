"""A silicone finger that one cable closes.

A bar of 103 x 15 x 15 mm, held at one end, with four notches from below that make soft joints. The cable goes out through the
phalanges on one side, round the tip, and back on the other side to the first phalanx, where it is tied.
(Size and cable are those of the robot's usual scene.) With one cable the tip moves on a curve: a target beside it is
approached as closely as the cable can.
"""

from __future__ import annotations

import numpy as np

from pliant.body import TetBody
from pliant.gallery.follower import Follower, Paths
from pliant.gallery.tracking import reachable_path, tracked
from pliant.material import Corotational
from pliant.port import Cable, Point
from pliant.robot import Robot, State
from pliant.shape import TetMesh, solids

LENGTH, SIDE = 0.103, 0.015
JOINTS = (0.025, 0.040, 0.055, 0.070)
"""Where the notches are along the finger [m], between the phalanges that guide the cable."""
TENSION, SPEED, RATE = 0.9, 0.020, 50.0
"""Tension at the end of its own path [N], speed of the target [m/s], decisions per second [Hz]."""
LIMITS = {"effort": (0.0, 4.0), "displacement": (-0.010, 0.045), "effort_rate": 16.0, "displacement_rate": 0.2}
"""Of the cable: tension [N], length taken in [m], and how fast the motor may change them [N/s, m/s]."""


def shape() -> TetMesh:
    """The finger's own parametric mesh: along x from its base at x = 0, upright, with the notches below."""
    tip = SIDE / 2
    bar = solids.box((LENGTH - tip, SIDE, SIDE), at=(0, -SIDE / 2, 0))
    end = solids.cylinder(tip, SIDE, at=(LENGTH - tip, SIDE / 2, tip), axis=(0, -1, 0), segments=24)
    notches = [solids.box((0.004, 0.020, 0.014), at=(x, 0, 0), centered=True) for x in JOINTS]
    return solids.difference(solids.union(bar, end), *notches).filled(0.0035)


def cable() -> list[tuple[float, float, float]]:
    """Points of the cable at rest [m], from the motor to where it is tied, 2.5 mm above the lower side."""
    out = [(x, 0.005) for x in (0.0175, 0.0325, 0.0475, 0.0625, 0.0775)]
    turn = [(0.0835, 0.003), (0.0855, 0.001), (0.0855, -0.001), (0.0835, -0.003)]
    back = [(x, -y) for x, y in reversed(out)]
    return [(x, y, 0.0025) for x, y in (*out, *turn, *back)]


def build(mesh: TetMesh | None = None, *, axes: str = "xyz") -> Robot:
    """The robot; `mesh`: another shape in the same place; `axes`: coordinates of the tip that count."""
    mesh = shape() if mesh is None else mesh
    law = Corotational(E=600e3, nu=0.45)
    body = TetBody(mesh, law, density=1100.0, fixed=mesh.where(x_below=0.006))
    robot = Robot(body, gravity=(0.0, 0.0, -9.81))
    tendon = Cable(cable(), pull=(-0.005, 0.005, 0.0025))
    robot.actuate("tendon", tendon, **LIMITS)  # type: ignore[arg-type]
    robot.effect("tip", Point(near=(0.102, 0.0, SIDE / 2), axes=axes))
    return robot


def placed(mesh: TetMesh) -> TetMesh:
    """The finger of the SoftRobots plugin, which lies along -x and closes towards +y."""
    return mesh.transformed([[-1, 0, 0], [0, 0, -1], [0, -1, 0]]).translated((0, SIDE / 2, SIDE))


def paths(robot: Robot, hanging: State) -> dict[str, Paths]:
    """The curve that the tip runs along, there and back, as the tension rises and falls."""
    efforts = {"tendon": np.linspace(0.02, 1.0, 25) * TENSION}
    return {"close": {"tip": reachable_path(robot, hanging, "tip", efforts, SPEED)}}


EXHIBIT = Follower(
    "a finger closed by one cable",
    build,
    tracked("finger", RATE),
    paths,
    placed,
    RATE,
    commands=("displacement", "effort"),
)
