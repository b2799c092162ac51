"""The haptic device of koehler2023: a handle on six bent rods, which motors turn at their other ends.

Two tripods, one upside down and turned by 60 degrees: a rod every 60 degrees around the handle, y up. Rods from the motors
below hold the handle above its interaction point, those from above hold it below. The section of a rod at its motor turns about
the motor's axis (horizontal, along the base circle) and is held otherwise; the other end is welded to the handle. Three
translations and the rotations about x and z are controlled; that about y, in which the device is stiff, is left to itself.

What the paper does not give in its text is chosen here:

- the rest shape of a rod: a quadratic Bezier curve in the plane through the device's axis, from the motor to its attachment,
  10 mm from the axis, with its middle control point 30 mm outside of the motor at the height of the attachment: it leaves the
  motor steeply, a little outwards, and arrives level. The device as built is free of stress but for its weight.
- a flex sensor sits from 50 mm to 145 mm of a rod's 204 mm, where pushes on the handle bend it the most: there six of them tell
  poses apart ten times as well as next to the motors.
- motors turn by 1.2 rad each way, whatever the modulus (`ANGLE`);
- the handle's 8 g have the inertia of a cylinder, 20 mm thick and 10 mm longer than the attachments are apart.

Torques and angles are those of the rod's end: the motors' own torques are smaller by the ratio of the capstans, their angles
larger (`CAPSTAN`). The effector's target is a pose; of its rotation the parts about x and z count, so that a handle that has
turned a little about y keeps that turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.rotation import exponential, to_quaternion
from pliant.body import Revolute, RigidBody, RodBody, Section, Weld
from pliant.checks import number, whole
from pliant.control.trajectory import Circle, Recorded
from pliant.device import SimulatedPlant
from pliant.device.wiring import Kind
from pliant.errors import InputError
from pliant.gallery.follower import Follower, Paths
from pliant.gallery.tracking import tracked
from pliant.port import Flex, Frame, Hinge, Port
from pliant.robot import Robot, State
from pliant.shape import Curve, TetMesh, solids

Array = NDArray[np.float64]

COUNT = 6
"""Rods, every 60 degrees; those with an even number come from below."""
MOTORS = tuple(f"motor{k}" for k in range(COUNT))
SENSORS = tuple(f"flex{k}" for k in range(COUNT))
HANDLE = "handle"
E, NU, DENSITY = 76.4e6, 0.4, 1040.0
"""Of the rods: Young's modulus [Pa] and density [kg/m^3] of the paper, Poisson's ratio of a thermoplastic rubber."""
MASS = 0.008
"""Of the handle [kg]."""
TORQUE, ANGLE = 0.3, 1.2
"""Limits at a rod's end: torque [N m] (the paper's) and angle from rest [rad] (chosen)."""
CAPSTAN = 6.42
"""Turns of a motor per turn of the rod's end."""
ENCODER = np.deg2rad(0.1)
"""Step of the motors' encoders, at the motor [rad]."""
SETTLING = 0.022
"""Time after which a motor is within 2 % of where it should be [s]."""
TORQUE_RATE, ANGLE_RATE = 10.0, 10.0
"""How fast torques and angles may change [N m/s, rad/s]."""
SENSOR_BEGIN, SENSOR_LENGTH = 0.050, 0.095
"""Where a flex sensor begins, from the rod's end at the motor on, and its active length [m]."""
ELEMENTS = 14
"""Per rod."""
RADIUS, TILT, SPEED, RATE = 0.020, 0.20, 0.050, 50.0
"""Of its own paths: radius of the circle [m], largest tilt [rad], speed [m/s], decisions per second [Hz]."""


@dataclass(frozen=True)
class Design:
    """What can be chosen of the device: radius of the circle of motors, height between the two circles, height of the
    attachments above and below the interaction point, width and thickness of the rods [m]; how far outside of the motor, and
    beyond the attachment's height, the middle control point of a rod's rest shape is; how far from the axis it is attached."""

    radius: float = 0.15
    height: float = 0.11
    attachment: float = 0.04
    width: float = 0.010
    thickness: float = 0.004
    outside: float = 0.03
    beyond: float = 0.0
    grip: float = 0.010

    def __post_init__(self) -> None:
        for name in ("radius", "height", "attachment", "width", "thickness", "grip"):
            number(getattr(self, name), f"{name} of the device", unit="m", above=0.0)
        if not self.radius + min(self.outside, 0.0) > self.grip:
            raise InputError(
                f"the motors are {self.radius} m from the axis, and rods are attached {self.grip} m from it",
                remedy="give a larger radius, or a larger `outside`",
            )

    def outward(self, k: int) -> Array:
        """The horizontal direction from the axis to motor k (3,)."""
        angle = 2 * np.pi * k / COUNT
        return np.array([np.cos(angle), 0.0, np.sin(angle)])

    def axis(self, k: int) -> Array:
        """Of motor k (3,): a positive angle lifts what is inside of it, seen from the motor towards the handle."""
        return np.cross(self.outward(k), (0.0, 1.0, 0.0))

    def curve(self, k: int) -> Curve:
        """The rest shape of rod k."""
        up = 1.0 if k % 2 == 0 else -1.0
        ends = (
            (self.radius, -0.5 * self.height * up),
            (self.radius + self.outside, (self.attachment + self.beyond) * up),
            (self.grip, self.attachment * up),
        )
        a, b, c = (r * self.outward(k) + np.array([0.0, y, 0.0]) for r, y in ends)
        t = np.linspace(0.0, 1.0, 13)[:, None]
        points = (1 - t) ** 2 * a + 2 * t * (1 - t) * b + t * t * c
        return Curve.spline(points, up=np.cross(self.axis(k), points[1] - points[0]))


PAPER = Design()


def build(
    design: Design = PAPER,
    *,
    modulus: float = E,
    torque: float = TORQUE,
    angle: float = ANGLE,
    elements: int = ELEMENTS,
    gravity: float = 9.81,
    damping: tuple[float, float] = (0.0, 0.0),
    sensors: dict[str, Port] | None = None,
) -> Robot:
    """The device: modulus of the rods [Pa], limits of torque [N m] (inf: none) and angle [rad] at their ends, elements per rod,
    gravity along -y [m/s^2], damping of the rods (see `TetBody`).

    sensors: what is looked at, ports on the body "rods" by name; by default six `Flex`, the bending of each rod over the length
    of its sensor [rad]. Sections of rod k are "k.0" (at the motor) to "k.14"."""
    curves = [design.curve(k) for k in range(COUNT)]
    section = Section.rectangle(design.width, design.thickness)
    rods = RodBody(curves, section, modulus, NU, DENSITY, count=whole(elements, "elements", least=2), damping=damping)
    motors = {
        name: Revolute(("rods", f"{k}.start"), point=curves[k].at(0.0)[0], axis=design.axis(k))
        for k, name in enumerate(MOTORS)
    }
    welds = {f"weld{k}": Weld(("rods", f"{k}.end"), HANDLE) for k in range(COUNT)}
    robot = Robot({"rods": rods, HANDLE: handle(design)}, joints={**motors, **welds}, gravity=(0.0, -gravity, 0.0))
    for name in MOTORS:
        robot.actuate(
            name, Hinge.on(name), effort=(-torque, torque), displacement=(-angle, angle),
            effort_rate=TORQUE_RATE, displacement_rate=ANGLE_RATE,
        )  # fmt: skip
    reach = design.attachment * np.concatenate([np.eye(3), -np.eye(3)])  # their middle is the interaction point
    robot.effect("pose", Frame(reach, rows="x y z rx rz"), body=HANDLE)
    for name, port in (bends(design, rods) if sensors is None else sensors).items():
        robot.sense(name, port, body="rods")
    return robot


def handle(design: Design = PAPER) -> RigidBody:
    """The rigid handle, as heavy as the paper's."""
    length = 2 * design.attachment + 0.010
    r2, l2 = design.grip**2, length**2
    across = MASS * (3 * r2 + l2) / 12
    shape = solids.cylinder(design.grip, length, at=(0.0, -0.5 * length, 0.0), axis=(0, 1, 0))
    return RigidBody(shape, mass=MASS, center=(0, 0, 0), inertia=(across, 0.5 * MASS * r2, across))


def sensed_sections(rods: RodBody, k: int) -> list[str]:
    """Names of the sections of rod k within the sensor's length, outwards."""
    per_rod = len(rods.lengths) // COUNT
    places = np.cumsum(rods.lengths[k * per_rod : (k + 1) * per_rod]) - SENSOR_BEGIN
    return [f"{k}.{j + 1}" for j in np.flatnonzero((places >= -1e-9) & (places <= SENSOR_LENGTH * (1 + 1e-9)))]


def bends(design: Design, rods: RodBody) -> dict[str, Port]:
    """A sensor per rod that has not been calibrated: by how much the rod has bent over the sensor's length [rad]."""
    out: dict[str, Port] = {}
    for k, name in enumerate(SENSORS):
        inside = sensed_sections(rods, k)
        if len(inside) < 2:
            raise InputError(f"rod {k} has {len(inside)} section(s) under its sensor", remedy="take more elements")
        out[name] = Flex({inside[-1]: 1.0, inside[0]: -1.0}, axis=design.axis(k), base=f"{k}.start")
    return out


def pose(position: Any = (0.0, 0.0, 0.0), tilt: Any = (0.0, 0.0)) -> Array:
    """A target (7,) of the effector: position (3,) [m] and rotation vector (tilt[0], 0, tilt[1]) [rad]."""
    turn = np.array([tilt[0], 0.0, tilt[1]])
    return np.concatenate([np.asarray(position, float), to_quaternion(exponential(turn))])


def plant(h: float = 0.002, *, kind: Kind = "displacement", **options: Any) -> SimulatedPlant:
    """A device to try a controller on that is not the controller's model: one half more elements, rods that are 5 % stiffer and
    damped, motors that are within 2 % after 22 ms. h [s]: its step; options: of `SimulatedPlant`."""
    robot = build(elements=21, modulus=1.05 * E, damping=(2.0, 0.002))
    return SimulatedPlant(robot, h, kind=kind, **({"scheme": "euler", "settling": SETTLING / np.log(50.0)} | options))


def paths(robot: Robot, hanging: State) -> dict[str, Paths]:
    """A level circle of the upright handle about the middle, and the handle tilting all around in the middle."""
    turn = np.linspace(0.0, 2 * np.pi, 65)
    tilts = [pose((0, 0, 0), (TILT * np.cos(a), TILT * np.sin(a))) for a in turn]
    seconds = np.linspace(0.0, 2 * np.pi * RADIUS / SPEED, len(turn))
    return {
        "circle": {"pose": Circle((0.0, 0.0, 0.0), RADIUS, SPEED, normal=(0, 1, 0))},
        "tilt": {"pose": Recorded(seconds, np.array(tilts))},
    }


def _as_it_is(mesh: TetMesh | None = None) -> Robot:
    return build()


EXHIBIT = Follower(
    "a haptic device: a handle on six bent rods that motors turn", _as_it_is, tracked("tripods", RATE), paths, rate=RATE,
    commands=("displacement", "effort"),
)  # fmt: skip
