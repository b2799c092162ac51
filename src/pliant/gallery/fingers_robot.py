"""Three rigid fingertips that hold a thing by friction alone: a soft beam to bend, a rigid box to lift (coevoet2019, fig. 11).

Each tip is a ball that does not turn, moved by three motors. Nothing else holds the thing: one tip presses on one side, between
two on the other, within the cones of friction, with a least force (`grip`). Targets are three points of the beam, or the pose
of the box; which tip presses how hard is what the decision finds.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.body import Body, RigidBody, TetBody
from pliant.contact import Sphere
from pliant.control import Inverse
from pliant.material import Corotational
from pliant.port import Force, Frame, Point
from pliant.robot import Robot, State
from pliant.shape import make, solids

Array = NDArray[np.float64]

BEAM, CELLS = (0.120, 0.020, 0.020), (17, 4, 4)
"""Of the soft beam, along x [m], and its cells."""
LAW, DENSITY, DAMPING = Corotational(E=300e3, nu=0.4), 1070.0, (1.0, 0.005)
"""Of the beam: its law, density [kg/m^3], damping by mass [1/s] and by stiffness [s]."""
BOX, BOX_DENSITY = (0.040, 0.020, 0.020), 1500.0
"""Of the rigid box [m], [kg/m^3]."""
TIP, TIP_DENSITY, TIP_DAMPING = 0.008, 3000.0, 20.0
"""Of a fingertip: radius [m], density [kg/m^3], damping by mass [1/s]."""
APART = {"beam": 0.030, "box": 0.012}
"""How far the two tips on one side are from the one on the other, along x [m]."""
STRONGEST, FASTEST = 5.0, 0.1
"""Of each motor [N], [m/s]."""
FRICTION, GRIP, GRAVITY = 0.8, 0.4, 9.81
"""Coulomb's coefficient, the least normal force of each tip [N], [m/s^2]."""
TIPS, AXES = ("one", "left", "right"), "xyz"
STEP, ENERGY = 0.010, 1e-7
"""Time step [s], weight of the work of all efforts."""
POINTS = {"left end": -0.055, "middle": 0.0, "right end": 0.055}
"""Of the beam that are controlled, on its top: where along it [m]."""


def thing(name: str) -> Body:
    """What is held, with its middle at the origin."""
    if name == "beam":
        return TetBody(make.box(BEAM, CELLS, center=(0, 0, 0)), LAW, density=DENSITY, damping=DAMPING)
    return RigidBody(solids.box(BOX, centered=True), BOX_DENSITY, damping=DAMPING[0])


def places(name: str) -> dict[str, Array]:
    """Where the tips begin: next to the thing."""
    away = 0.5 * (BEAM if name == "beam" else BOX)[1] + TIP
    return {
        "one": np.array([0.0, -away, 0.0]),
        "left": np.array([-APART[name], away, 0.0]),
        "right": np.array([APART[name], away, 0.0]),
    }


def build(name: str = "beam", friction: float = FRICTION) -> Robot:
    """The tips beside a "beam" or a "box". Actuators: "one x" ...; effectors: three points, or "box"; touches: as the tips."""
    where = places(name)
    tips = {
        tip: RigidBody(solids.sphere(TIP).translated(at), TIP_DENSITY, turns=False, damping=TIP_DAMPING)
        for tip, at in where.items()
    }
    robot = Robot({name: thing(name), **tips}, gravity=(0.0, 0.0, -GRAVITY))
    for tip, at in where.items():
        for axis, way in zip(AXES, np.eye(3), strict=True):
            robot.actuate(
                f"{tip} {axis}",
                Force(at, direction=way),
                effort=(-STRONGEST, STRONGEST),
                displacement_rate=FASTEST,
                body=tip,
            )
        ball = Sphere(center=(float(at[0]), float(at[1]), float(at[2])), radius=TIP)
        robot.touch(tip, name, body=tip, friction=friction, surface=ball)
    if name == "beam":
        for label, x in POINTS.items():
            robot.effect(label, Point(near=(x, 0.0, 0.5 * BEAM[2])), body=name)
    else:
        robot.effect(name, Frame(np.array(BOX) * (np.eye(3) - 0.5)), body=name)
    return robot


def inverse(robot: Robot) -> Inverse:
    """What decides for it."""
    return Inverse(robot, h=STEP, energy=ENERGY, friction="cone", grip=dict.fromkeys(TIPS, GRIP))


def targets_at(robot: Robot, state: State) -> dict[str, Array]:
    """Where effectors are, as targets."""
    names = POINTS if robot.body_names[0] == "beam" else ("box",)
    return {name: robot.displacement(state, name, as_target=True) for name in names}
