"""A gripper with two soft fingers on a rigid palm.

Each finger hangs from the palm on two parallel leaves of polyamide, which carry a rigid foot with a silicone pad in front: the
foot shifts sideways and hardly turns, so that the pads stay parallel. One tendon pulls it inward, from an eye on the stem in
the middle of the palm; another pulls it outward, from an eye on the cheek of the palm. The motors sit on the palm. Where the
pads are across the gripper (along x) is what is controlled, each by itself: it opens and closes, and shifts what it holds.

At rest there are 48 mm between the pads, which a box or a ball of 40 mm fits in; its middle is then to be at `GRASP`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np

from pliant.body import Body, Joint, RigidBody, RodBody, Section, Slide, TetBody, Tie, Weld
from pliant.control.trajectory import Waypoints
from pliant.device import SimulatedPlant
from pliant.device.wiring import Kind
from pliant.gallery.follower import Follower, Paths
from pliant.gallery.tracking import tracked
from pliant.material import Corotational, Law, NeoHookean
from pliant.port import Cable, Point, Slider
from pliant.robot import Robot, State
from pliant.shape import Curve, SurfaceMesh, TetMesh, make, solids

LEAF, WIDTH, THICKNESS = 0.085, 0.012, 0.0015
"""Of a leaf: length, width (along y) and thickness (along x) [m]."""
E, NU, DENSITY = 3e9, 0.39, 1140.0
"""Of the leaves: Young's modulus [Pa], Poisson's ratio, density [kg/m^3]."""
LEAVES = (0.038, 0.050)
"""How far from the middle the two leaves of a finger are [m]."""
PAD, OPENING, DEPTH = (0.010, 0.026, 0.032), 0.048, 0.091
"""Of the pads: size along x, y and z; distance of their faces at rest; how far below the palm they begin [m]."""
PAD_E, PAD_NU, PAD_DENSITY = 250e3, 0.45, 1070.0
"""Of the pads: Young's modulus [Pa], Poisson's ratio, density [kg/m^3]."""
RIGID_DENSITY = 1200.0
"""Of the palm and the feet [kg/m^3]."""
EYES = {"close": (0.007, 0.031), "open": (0.074, 0.055)}
"""How far from the middle the tendons leave the palm, and where they are tied to the foot [m]."""
EYE_DEPTHS = {"close": 0.058, "open": 0.070}
"""How far below the palm they leave it [m]; they are tied at the top of the foot."""
SIDES = {"left": -1.0, "right": 1.0}
PADS = tuple(f"{side}_pad" for side in SIDES)
"""Names of the bodies that touch what is grasped."""
TENDONS = tuple(f"{side}_{kind}" for side in SIDES for kind in EYES)
"""Names of the tendons."""
GRASP = (0.0, 0.0, -DEPTH - 0.5 * PAD[2])
"""The middle between the pads at rest [m]."""
LIMITS = {"effort": (0.0, 10.0), "displacement": (-0.03, 0.03), "effort_rate": 40.0, "displacement_rate": 0.1}
"""Of each tendon: tension [N], length taken in [m], and how fast its motor may change them [N/s, m/s]."""
LIFT = 1e3
"""Of the spring in the joint that the palm may be lifted by [N/m]: without it the palm would fall when its height is let go."""
TRAVEL, SHIFT, SPEED, RATE = 0.009, 0.006, 0.020, 50.0
"""Of its own paths: how far each pad goes to both sides of where it hangs, alone and together with the other [m], speed [m/s],
decisions per second [Hz]."""


def build(
    *,
    elements: int = 6,
    size: float = 0.0055,
    order: Literal[1, 2] = 1,
    law: Law | None = None,
    modulus: float = E,
    lifted: bool = False,
    gravity: float = 9.81,
    damping: tuple[float, float] = (0.0, 0.0),
    beside: Mapping[str, Body] | None = None,
) -> Robot:
    """The gripper with so many elements per leaf, and pads of tets of a size [m] and an order, of a law (corotational silicone
    by default); modulus of the leaves [Pa]. lifted: the palm slides up and down on a joint "lift", whose way "height" [m] is
    given, in place of standing still. gravity along -z [m/s^2]; damping of leaves and pads: see `TetBody`. beside: other
    bodies of the same robot, by name, such as what is to be grasped.

    Its pads are the bodies `PADS`, its tendons `TENDONS`."""
    lines = [
        Curve([(sign * x, 0.0, 0.0), (sign * x, 0.0, -LEAF)], up=(1, 0, 0)) for sign in SIDES.values() for x in LEAVES
    ]
    leaf = Section.rectangle(WIDTH, THICKNESS)
    bodies: dict[str, Body] = {
        "palm": RigidBody(palm(), RIGID_DENSITY, fixed=not lifted),
        "leaves": RodBody(lines, leaf, modulus, NU, DENSITY, count=elements, damping=damping),
    }
    joints: dict[str, Joint | Tie] = {f"root{k}": Weld(("leaves", f"{k}.start"), "palm") for k in range(len(lines))}
    if lifted:
        joints["lift"] = Slide("palm", direction=(0.0, 0.0, 1.0), point=(0.0, 0.0, 0.01), stiffness=LIFT)
    law = Corotational(E=PAD_E, nu=PAD_NU) if law is None else law
    for k, (side, sign) in enumerate(SIDES.items()):
        mesh = pad(sign, size)
        bodies[f"{side}_foot"] = RigidBody(foot(sign), RIGID_DENSITY)
        bodies[f"{side}_pad"] = TetBody(mesh, law, density=PAD_DENSITY, order=order, damping=damping)
        back = np.abs(mesh.nodes[:, 0]) > 0.5 * OPENING + PAD[0] - 1e-6
        joints[f"{side}_back"] = Weld((f"{side}_pad", np.flatnonzero(back)), f"{side}_foot")
        for j in range(2):
            joints[f"ankle{2 * k + j}"] = Weld(("leaves", f"{2 * k + j}.end"), f"{side}_foot")
    robot = Robot(bodies | dict(beside or {}), joints=joints, gravity=(0.0, 0.0, -gravity))
    for side, sign in SIDES.items():
        for kind, (near, far) in EYES.items():
            way = [(sign * near, 0.0, -EYE_DEPTHS[kind]), (sign * far, 0.0, -LEAF)]
            robot.actuate(f"{side}_{kind}", Cable(way), body=("palm", f"{side}_foot"), **LIMITS)  # type: ignore[arg-type]
        face = (sign * 0.5 * OPENING, 0.0, GRASP[2])
        robot.effect(side, Point(near=face, axes="x"), body=f"{side}_pad")
    if lifted:
        robot.impose("height", Slider("lift"), displacement=0.0)
    return robot


def palm() -> SurfaceMesh:
    """A plate with a stem in the middle and a cheek on each side, which the tendons leave from."""
    plate = solids.box((0.160, 0.040, 0.010), at=(-0.080, -0.020, 0.0))
    stem = solids.box((0.014, 0.014, 0.063), at=(-0.007, -0.007, -0.062))
    cheeks = [solids.box((0.006, 0.020, 0.078), at=(x, -0.010, -0.077)) for x in (-0.080, 0.074)]
    return solids.union(plate, stem, *cheeks)


def foot(sign: float) -> SurfaceMesh:
    """What carries a pad: a shelf under the leaves, and a plate down behind the pad; for the side with this sign of x."""
    back = 0.5 * OPENING + PAD[0]
    shelf = _mirrored((EYES["close"][1], EYES["open"][1]), PAD[1], (-DEPTH, -LEAF), sign)
    plate = _mirrored((back, back + 0.005), PAD[1], (-DEPTH - PAD[2], -DEPTH + 0.001), sign)
    return solids.union(shelf, plate)


def _mirrored(x: tuple[float, float], y: float, z: tuple[float, float], sign: float) -> SurfaceMesh:
    """A box from x[0] to x[1] away from the middle, as wide as y about it, between heights z."""
    low = x[0] if sign > 0 else -x[1]
    return solids.box((x[1] - x[0], y, z[1] - z[0]), at=(low, -0.5 * y, z[0]))


def pad(sign: float, size: float) -> TetMesh:
    """A block of tets of about this size [m] in front of the foot, for the side with this sign of x."""
    low = 0.5 * OPENING if sign > 0 else -0.5 * OPENING - PAD[0]
    x, y, z = (max(2, round(length / size)) for length in PAD)
    return make.box(PAD, (x, y, z)).translated((low, -0.5 * PAD[1], -DEPTH - PAD[2]))


def plant(h: float = 0.005, *, kind: Kind = "displacement", **options: Any) -> SimulatedPlant:
    """A gripper to try a controller on that is not the controller's model: one half more elements, finer pads of neo-Hookean
    silicone that is 10 % stiffer, leaves that are 4 % stiffer, damping, motors that need 10 ms. h [s]: its step; options: of
    `SimulatedPlant`."""
    robot = build(
        elements=9, size=0.0042, law=NeoHookean(E=1.1 * PAD_E, nu=PAD_NU), modulus=1.04 * E, damping=(1.0, 0.002)
    )
    return SimulatedPlant(robot, h, kind=kind, **({"scheme": "euler"} | options))


def paths(robot: Robot, hanging: State) -> dict[str, Paths]:
    """Both pads inward and out again, from open to closed; and both to one side and the other, as far apart as they are."""
    middles = {side: np.array([robot.displacement(hanging, side)[0], 0.0, GRASP[2]]) for side in SIDES}

    def there_and_back(side: str, travel: float) -> Waypoints:
        start, end = (middles[side] + np.array([way, 0.0, 0.0]) for way in (travel, -travel))
        return Waypoints([start, end, start], SPEED)

    return {
        "grip": {side: there_and_back(side, sign * TRAVEL) for side, sign in SIDES.items()},
        "shift": {side: there_and_back(side, SHIFT) for side in SIDES},
    }


def _as_it_is(mesh: TetMesh | None = None) -> Robot:
    return build()


EXHIBIT = Follower(
    "a gripper of soft pads on leaves, opened and closed by tendons", _as_it_is, tracked("gripper", RATE), paths, rate=RATE,
    commands=("displacement", "effort"),
)  # fmt: skip
