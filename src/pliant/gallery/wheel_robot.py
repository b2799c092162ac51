"""A soft wheel that rolls by four cables through it, by the inverse with contact (coevoet2019, figs. 5 and 6).

A ring of silicone with cables along four diameters; motors pull them and pay out. Nobody says how it rolls: the target is its
centre, and the decision uses the contacts with the ground. A ring deforms almost without stretching, so diameters that are 90
degrees apart change by opposite lengths: with motors that only pull it stalls.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.qpcc import Search
from pliant.body import TetBody
from pliant.control import Inverse
from pliant.gallery.tracks import TOUCH, TRACKS, Track
from pliant.material import Corotational
from pliant.motion.touching import Friction
from pliant.port import Cable, Center, Frame
from pliant.robot import Robot
from pliant.shape import SurfaceMesh, TetMesh, make

Array = NDArray[np.float64]

INNER, RADIUS, WIDTH, SIZE = 0.015, 0.020, 0.010, 0.0025
"""Of the ring [m], and the edge of its tets [m]."""
LAW, MASS, DAMPING = Corotational(E=500e3, nu=0.3), 0.042, (0.0, 0.015)
"""Of silicone, the mass of the wheel [kg], damping by mass [1/s] and by stiffness [s]."""
CABLES, COURSE, RATE, STRONGEST = 4, 0.012, 0.15, 5.0
"""How many; how far motors pull and pay out [m], how fast [m/s], with which tension at most [N]."""
FRICTION, GRAVITY = 0.8, 9.81
POINTS, INSIDE = 34, 0.99
"""Around each edge of the rim, which may touch the ground; at which share of the radius."""
STEP, ENERGY = 0.010, 1.0
"""Time step [s]; weight of the work of cables and contacts beside the error of the centre."""


def ring(size: float = SIZE) -> TetMesh:
    """The wheel with its axle along z, through the middle of its width."""
    return make.tube(INNER, RADIUS, WIDTH, size).translated((0.0, 0.0, -0.5 * WIDTH))


def placed(mesh: TetMesh) -> TetMesh:
    """An outside mesh [m], with its axle along z, moved to the origin."""
    return mesh.translated(-0.5 * (mesh.nodes.min(axis=0) + mesh.nodes.max(axis=0)))


def rim(mesh: TetMesh, points: int = POINTS) -> SurfaceMesh:
    """What touches: the two edges of the rim, a band of triangles between so many points on each."""
    radius = INSIDE * float(np.hypot(mesh.nodes[:, 0], mesh.nodes[:, 1]).max())
    half = INSIDE * float(mesh.nodes[:, 2].max())
    angles = 2 * np.pi * np.arange(points) / points
    around = radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)
    nodes = np.concatenate([np.column_stack([around, np.full(points, z)]) for z in (-half, half)])
    k = np.arange(points)
    on = (k + 1) % points
    triangles = np.concatenate([np.stack([k, on, k + points], axis=1), np.stack([on, on + points, k + points], axis=1)])
    return SurfaceMesh(nodes, triangles)


def build(
    track: Track | str = "flat",
    mesh: TetMesh | None = None,
    *,
    friction: float = FRICTION,
    order: Literal[1, 2] = 1,
    points: int = POINTS,
) -> Robot:
    """The wheel on a track. Actuators: "cable 0" to "cable 3"; effector: "center"; sensor: "pose"; touch: "ground"."""
    mesh = ring() if mesh is None else mesh
    body = TetBody(mesh, LAW, density=MASS / mesh.volume, damping=DAMPING, order=order)
    robot = Robot(body, gravity=(0.0, -GRAVITY, 0.0))
    middle = 0.5 * (INNER + RADIUS)
    ways = [np.array([np.cos(a), np.sin(a), 0.0]) for a in np.pi / CABLES * (np.arange(2 * CABLES) + 0.25)]
    for k in range(CABLES):
        robot.actuate(
            f"cable {k}",
            Cable([middle * ways[k], -middle * ways[k]]),
            effort=(0.0, STRONGEST),
            displacement=(-COURSE, COURSE),
            displacement_rate=RATE,
        )
    robot.effect("center", Center())
    robot.sense("pose", Frame(middle * np.array(ways[::2])))
    surface = rim(mesh, points)
    on = TRACKS[track] if isinstance(track, str) else track
    robot.touch(TOUCH, on.obstacle(under(mesh), friction), surface=surface)
    return robot


def under(mesh: TetMesh | None = None) -> float:
    """How far below the axle the ground is at first [m]: the wheel falls by a tenth of a millimetre."""
    return 1e-4 + (RADIUS if mesh is None else float(np.hypot(mesh.nodes[:, 0], mesh.nodes[:, 1]).max()))


def inverse(robot: Robot, h: float = STEP, search: Search = "flips", friction: Friction = "cone") -> Inverse:
    """What decides for it."""
    return Inverse(robot, h=h, energy=ENERGY, search=search, friction=friction)
