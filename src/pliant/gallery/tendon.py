"""A tendon-driven continuum robot of two segments.

A thin rod of nickel-titanium, 200 mm long, hangs from its base with rigid discs welded to it. Three tendons run through
holes of the discs to the middle one, three others between them to the last, so that each half bends in its own arc. The tip
is the effector, with its position and its orientation; a load may push it aside (along x). Tendons are straight, or go round
the rod (`turns`).

Six tendons that only pull bend two arcs in two directions each: of the six numbers of a pose, four can be chosen. A pose that
the robot has under some tensions is reached; of any other, the closest one.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.body import Body, Joint, RigidBody, RodBody, Section, Tie, Weld
from pliant.device import SimulatedPlant
from pliant.device.wiring import Kind
from pliant.gallery.follower import Follower, Paths
from pliant.gallery.tracking import reachable_poses, tracked
from pliant.port import Cable, Force, Frame
from pliant.robot import Robot, State
from pliant.shape import Curve, TetMesh, solids

LENGTH, DIAMETER = 0.200, 0.001
"""Of the rod [m]."""
E, NU, DENSITY = 60e9, 0.3, 6450.0
"""Of the rod: Young's modulus [Pa], Poisson's ratio, density [kg/m^3]."""
DISC, THICKNESS, DISC_DENSITY, OFFSET = 0.009, 0.002, 1200.0, 0.007
"""Of the discs: radius, thickness [m], density [kg/m^3]; distance of the tendons from the rod [m]."""
TENDONS = {
    **{f"short{k}": (2 * k + 1) * np.pi / 3 for k in range(3)},
    **{f"long{k}": 2 * k * np.pi / 3 for k in range(3)},
}
"""Where the tendons leave the base, as angles about z [rad]."""
LIMITS = {"effort": (0.0, 6.0), "displacement": (-0.02, 0.03), "effort_rate": 30.0, "displacement_rate": 0.1}
"""Of each tendon: tension [N], length taken in [m], and how fast its motor may change them [N/s, m/s]."""
TENSION, BACK, SPEED, RATE = 1.8, 1.2, 0.030, 50.0
"""Of its own paths: amplitude of the tensions in the long tendons, and in the short ones on the other side [N], speed of the
tip [m/s], decisions per second [Hz]."""


def build(
    *,
    discs: int = 5,
    elements: int = 2,
    turns: float = 0.0,
    modulus: float = E,
    gravity: float = 9.81,
    damping: tuple[float, float] = (0.0, 0.0),
) -> Robot:
    """The robot with so many discs on each half and elements between two discs; turns: how often the tendons go round the rod
    on their way to its tip (0: straight); modulus of the rod [Pa]; gravity along -z [m/s^2]; damping: see `TetBody`."""
    line = Curve([(0.0, 0.0, 0.0), (0.0, 0.0, -LENGTH)])
    rod = RodBody(
        line, Section.circle(DIAMETER), modulus, NU, DENSITY, count=2 * discs * elements, fixed="start", damping=damping
    )
    bodies: dict[str, Body] = {"rod": rod}
    joints: dict[str, Joint | Tie] = {}
    for k in range(1, 2 * discs + 1):
        middle = (0.0, 0.0, -LENGTH * k / (2 * discs) - 0.5 * THICKNESS)
        bodies[f"disc{k}"] = RigidBody(solids.cylinder(DISC, THICKNESS, at=middle, segments=24), DISC_DENSITY)
        joints[f"weld{k}"] = Weld(f"disc{k}", ("rod", f"0.{k * elements}"))
    robot = Robot(bodies, joints=joints, gravity=(0.0, 0.0, -gravity))
    for name, angle in TENDONS.items():
        holes = 2 * discs if name.startswith("long") else discs
        way = holes_of(angle + 2 * np.pi * turns * np.arange(holes + 1) / (2 * discs), LENGTH / (2 * discs))
        through = [f"disc{k}" for k in range(1, holes + 1)]
        robot.actuate(name, Cable(way[1:], pull=way[0]), body=through, **LIMITS)  # type: ignore[arg-type]
    robot.impose("load", Force((0.0, 0.0, -LENGTH), direction=(1.0, 0.0, 0.0)), effort=0.0, body="rod")
    robot.effect("tip", Frame("end"), body="rod")
    return robot


def holes_of(angles: NDArray[np.float64], gap: float) -> NDArray[np.float64]:
    """Where a tendon goes through the base and the discs below it, (k, 3) [m]; angles (k,) [rad], distance of the discs [m]."""
    down = -gap * np.arange(len(angles))
    return np.stack([OFFSET * np.cos(angles), OFFSET * np.sin(angles), down], axis=1)


def plant(h: float = 0.005, *, kind: Kind = "displacement", friction: float = 0.05, **options: Any) -> SimulatedPlant:
    """A robot to try a controller on that is not the controller's model: one half more elements, a rod that is 4 % stiffer and
    damped, tendons that rub in their holes with this coefficient, motors that need 10 ms. h [s]: its step; options: of
    `SimulatedPlant`."""
    robot = build(elements=3, modulus=1.04 * E, damping=(1.0, 0.002))
    return SimulatedPlant(robot, h, kind=kind, friction=friction, **({"scheme": "euler"} | options))


def tensions(angles: NDArray[np.float64], ahead: float, back: float) -> dict[str, NDArray[np.float64]]:
    """Tensions [N] that bend the lower half towards angles (k,) [rad] about z, and the upper half the other way: three that go
    like the cosine, the least of them none."""
    out: dict[str, NDArray[np.float64]] = {}
    for kind, size in (("short", -back), ("long", ahead)):
        names = [name for name in TENDONS if name.startswith(kind)]
        pulls = size * np.cos(angles - np.array([[TENDONS[name]] for name in names]))
        out |= dict(zip(names, pulls - pulls.min(axis=0), strict=True))
    return out


def paths(robot: Robot, hanging: State) -> dict[str, Paths]:
    """Poses of the tip, with their orientation, as it goes round bent like an S; and as it swings from side to side."""
    around = tensions(np.linspace(0.0, 2 * np.pi, 49), TENSION, BACK)
    share = np.cos(np.linspace(0.0, 2 * np.pi, 33))
    aside = tensions(np.where(share < 0, np.pi, 0.0), TENSION, 0.0)
    swing = {name: np.abs(share) * value for name, value in aside.items()}
    return {
        name: {"tip": reachable_poses(robot, hanging, "tip", efforts, SPEED)}
        for name, efforts in (("round", around), ("swing", swing))
    }


def _as_it_is(mesh: TetMesh | None = None) -> Robot:
    return build()


EXHIBIT = Follower(
    "a continuum robot on six tendons: position and orientation", _as_it_is, tracked("tendon", RATE), paths, rate=RATE,
    commands=("displacement", "effort"),
)  # fmt: skip
