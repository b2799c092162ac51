"""A stiff body on four soft legs that motors turn: it runs.

After the robot of the authors' group in clay2021 (the third application): a plate of 200 x 80 x 20 mm carries a motor at each
corner, and each motor turns a soft leg of 120 mm with a foot at either end about its middle, all in the same sense. Legs
touch the body nowhere but at their hubs: a motor draws the nodes of its hub to where a stiff axle would have them, and the
part of the body around it feels the opposite forces and torques.

trot    legs across from each other in step, the other two a quarter of a turn later
bound   front legs together, hind legs a quarter of a turn later

Forwards is +x. Nothing else moves the robot; with mu = 0 the legs turn on the spot and its center of mass does not move.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from pliant.body import SpringBody
from pliant.contact import Plane
from pliant.errors import PliantWarning
from pliant.gallery.exhibit import Showing
from pliant.gallery.mover import GRAVITY, Mover
from pliant.gallery.travel import travelled
from pliant.motion.explicit import Explicit, Motor
from pliant.shape import Lattice
from pliant.view import Moving
from pliant.view.page import Setting

Array = NDArray[np.float64]

SIZE = 0.010
"""Edge of a cell [m]."""
BODY = (0.200, 0.080, 0.020)
"""Length, width and height of the body [m]."""
LEG, LEG_WIDTH, LEG_DEPTH, GAP, AXLE = 0.120, 0.030, 0.020, 0.010, 0.075
"""Length of a leg, its width along x and depth along y, its distance from the body's side, and of its axle from the middle
along x [m]."""
E_BODY, E_LEGS, DENSITY = 2e6, 200e3, 1000.0
"""Young's moduli [Pa], density [kg/m^3]."""
FRICTION, DAMPING, FREQUENCY, START = 0.8, 1.0, 1.0, 0.5
"""Coefficient of the ground, rate of the drag on all nodes [1/s], turns per second [Hz], seconds until they are reached."""
CORNERS = ((1, 1), (1, -1), (-1, 1), (-1, -1))
"""Of the legs front left, front right, hind left and hind right: signs of x and y."""
GAITS = {"trot": (0.0, 0.25, 0.25, 0.0), "bound": (0.0, 0.0, 0.25, 0.25)}
"""By how much of a turn each leg is ahead."""
LEG_LABEL = 1


def inside(points: Array) -> NDArray[np.bool_]:
    """Whether points (n, 3) [m] are in the body or in a leg; legs stand upright, their feet on z = 0."""
    x, y, z = np.abs(points[:, 0]), np.abs(points[:, 1]), points[:, 2]
    body = (x < BODY[0] / 2) & (y < BODY[1] / 2) & (np.abs(z - LEG / 2) < BODY[2] / 2)
    side = y - BODY[1] / 2 - GAP
    legs = (np.abs(x - AXLE) < LEG_WIDTH / 2) & (side > 0) & (side < LEG_DEPTH)
    return np.asarray(body | legs)


def lattice() -> Lattice:
    """Body (label 0) and legs (label 1), five parts that no spring joins."""
    half_length, half_width = BODY[0] / 2, BODY[1] / 2 + GAP + LEG_DEPTH
    bounds = ((-half_length, -half_width, 0.0), (half_length, half_width, LEG))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="the lattice falls into 5 parts", category=PliantWarning)
        whole = Lattice.voxels(inside, SIZE, bounds=bounds)
        return whole.labelled(lambda centers: np.abs(centers[:, 1]) > BODY[1] / 2)


def motors(points: Array, gait: str, frequency: float) -> list[Motor]:
    """One for each leg: its hub is the middle of the leg, its base the quarter of the body next to it."""
    found, tiny = [], 1e-6
    for (sx, sy), ahead in zip(CORNERS, GAITS[gait], strict=True):
        x, y = sx * points[:, 0], sy * points[:, 1]
        leg = (y > BODY[1] / 2 + tiny) & (x > 0)
        hub = leg & (np.abs(points[:, 2] - LEG / 2) < BODY[2] / 2 + tiny)
        base = (y > -tiny) & (y < BODY[1] / 2 + tiny) & (x > AXLE - 4 * SIZE - tiny)
        axle = (sx * AXLE, sy * (BODY[1] / 2 + GAP), LEG / 2)
        found.append(
            Motor(
                np.flatnonzero(hub), (0.0, 1.0, 0.0), axle, np.flatnonzero(base),
                speed=2 * np.pi * frequency, phase=2 * np.pi * ahead, start=START,
            )
        )  # fmt: skip
    return found


def build(gait: str = "trot", settings: Mapping[str, float] | None = None) -> Moving:
    """The robot at rest on the ground z = 0; settings: `friction`, `frequency` of the motors [Hz]."""
    given = {"friction": FRICTION, "frequency": FREQUENCY, **(settings or {})}
    shape = lattice()
    body = SpringBody(shape, {0: E_BODY, LEG_LABEL: E_LEGS}, DENSITY)
    engine = Explicit(
        body,
        gravity=GRAVITY,
        damping=DAMPING,
        ground=Plane(friction=given["friction"], damping=0.5),
        motors=motors(shape.points, gait, given["frequency"]),
        threads=1,
    )
    return Moving(body, engine)


def report(gait: str = "trot") -> Showing:
    """How far it runs, with and without friction."""
    return travelled(
        "flexipod",
        lambda mu: build(gait, {"friction": mu}),
        FRICTION,
        f"{EXHIBIT.title}: {gait}",
        (0.0, 0.6, 0.8, 1.0, 1.2),
    )


EXHIBIT = Mover(
    "a stiff body on four soft legs turned by motors, running",
    build,
    report,
    tuple(GAITS),
    (Setting("friction", "", 0.0, 1.5, FRICTION), Setting("frequency", "Hz", 0.25, 2.0, FREQUENCY)),
    {0: "stiff body with four motors", LEG_LABEL: "soft legs, each turned about its middle"},
)
