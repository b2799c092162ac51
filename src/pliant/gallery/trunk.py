"""An elephant's trunk of silicone on eight cables.

A cone of 195 mm that hangs from its base. Four long cables run along it to the tip, four short ones between them to its
middle, so that it bends in two arcs; the tip is the effector. (Length and cables as in the robot's usual scene of
coevoet2019; without contact.) Eight cables for three coordinates: the controller chooses those of least work.

It is there on tets and on a spring lattice (`pliant run trunk --body springs`), under the same controller.
"""

from __future__ import annotations

import numpy as np

from pliant.body import Body, SpringBody, TetBody
from pliant.control.trajectory import Circle, Line
from pliant.gallery.follower import Follower, Paths
from pliant.gallery.tracking import tracked
from pliant.material import Corotational
from pliant.port import Cable, Point
from pliant.robot import Robot, State
from pliant.shape import Lattice, SurfaceMesh, TetMesh, solids

LENGTH, BASE = 0.195, 0.020
"""Length of the trunk, and of the part of it that is held [m]."""
E, DENSITY, SPACING = 450e3, 1100.0, 0.0035
"""Young's modulus [Pa], density [kg/m^3], distance of the points of the spring lattice [m]."""
RADIUS, RISE, SPEED, RATE = 0.030, 0.010, 0.030, 50.0
"""The circle that the tip follows: radius [m], height above where it hangs [m], speed [m/s], decisions per second [Hz]."""
LIMITS = {"effort": (0.0, 20.0), "displacement": (-0.03, 0.06), "effort_rate": 80.0, "displacement_rate": 0.2}
"""Of each cable: tension [N], length taken in [m], and how fast its motor may change them [N/s, m/s]."""


def cable_radius(depth: float) -> float:
    """Distance of the cables from the axis [m], so far below the base [m]."""
    return 0.010 - 0.008 * depth / LENGTH


def outline() -> SurfaceMesh:
    """The trunk's surface: its base at z = 0, its tip at z = -195 mm."""
    cone = solids.cylinder(cable_radius(0) + 0.003, LENGTH, top_radius=cable_radius(LENGTH) + 0.003, segments=32)
    return cone.rotated((1, 0, 0), np.pi)


def shape() -> TetMesh:
    """The trunk's own parametric mesh."""
    return outline().filled(0.0055)


def build(mesh: TetMesh | None = None) -> Robot:
    """The robot; `mesh`: another shape in the same place."""
    mesh = shape() if mesh is None else mesh
    return cabled(TetBody(mesh, Corotational(E=E, nu=0.45), density=DENSITY, fixed=mesh.where(z_above=-BASE)))


def build_on_springs(mesh: TetMesh | None = None) -> Robot:
    """The robot as best-candidate points with springs, which have nu = 1/4; `mesh`: another shape in the same place."""
    lattice = Lattice.scattered(outline() if mesh is None else mesh, SPACING)
    return cabled(SpringBody(lattice, E, DENSITY, fixed=lattice.where(z_above=-BASE)))


def cabled(body: Body) -> Robot:
    """The robot of a body: eight cables and the tip."""
    robot = Robot(body, gravity=(0.0, 0.0, -9.81))
    for k in range(4):
        for kind, angle, end in (("long", k * np.pi / 2, 0.190), ("short", (k + 0.5) * np.pi / 2, 0.100)):
            direction = np.array([np.cos(angle), np.sin(angle)])
            depths = np.arange(BASE + 0.005, end, 0.0175)
            points = [(*(cable_radius(depth) * direction), -depth) for depth in depths]
            pull = (*(cable_radius(0.0) * direction), 0.010)
            robot.actuate(f"{kind}{k}", Cable(points, pull=pull), **LIMITS)  # type: ignore[arg-type]
    robot.effect("tip", Point(near=(0.0, 0.0, -LENGTH)))
    return robot


def placed(mesh: TetMesh) -> TetMesh:
    """The trunk of the SoftRobots plugin, which stands on its base, hanging from it."""
    return mesh.rotated((1, 0, 0), np.pi)


def paths(robot: Robot, hanging: State) -> dict[str, Paths]:
    """A horizontal circle of the tip, and a swing from side to side."""
    middle = robot.displacement(hanging, "tip") + np.array([0.0, 0.0, RISE])
    side = np.array([RADIUS, 0.0, 0.0])
    return {
        "circle": {"tip": Circle(middle, RADIUS, SPEED)},
        "swing": {"tip": Line(middle - side, middle + side, SPEED)},
    }


EXHIBIT = Follower(
    "an elephant's trunk on eight cables", build, tracked("trunk", RATE), paths, placed, RATE, build_on_springs,
    commands=("displacement", "effort"),
)  # fmt: skip
