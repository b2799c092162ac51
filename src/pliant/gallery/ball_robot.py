"""A soft ball that rolls by making its cells softer and stiffer (coevoet2019, figs. 4 and 7).

A hollow ball of silicone in 20 cells around a central cavity: one cell per face of an icosahedron, and the mesh follows their
boundaries. Sought are the modulus of each cell and the pressure of the cavity; wanted are places of the centre and of two
points of the surface, as a rigid ball that rolls has them. What drives it is mostly the sag under gravity: cells below and
ahead soften, those behind stiffen.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.qpcc import Search
from pliant.algebra.rotation import exponential
from pliant.body import TetBody
from pliant.contact import Plane
from pliant.control import Inverse
from pliant.errors import InputError
from pliant.material import Corotational, Law
from pliant.port import Cavity, Center, Frame, Point, Stiffness
from pliant.robot import Robot
from pliant.shape import SurfaceMesh, TetMesh, make

Array = NDArray[np.float64]

RADIUS, INNER, SIZE = 0.040, 0.024, 0.0081
"""Of the ball and of its cavity [m], and the edge of its tets [m]."""
LAW, DENSITY, DAMPING = Corotational(E=20e3, nu=0.45), 1000.0, (0.0, 0.03)
"""Of silicone: its law, density [kg/m^3], damping by mass [1/s] and by stiffness [s]."""
RATIO = 5.0
"""A cell is between so many times softer and so many times stiffer than it is by itself."""
PRESSURE, PRESSURE_RATE, FULLEST = (600.0, 1000.0), 6700.0, 0.3
"""Of the cavity: its limits [Pa] (at more than a sixth of the modulus soft cells would balloon), how fast it may change [Pa/s];
by which share of itself the cavity may grow."""
CELLS = 20
FRICTION, GRAVITY = 0.8, 9.81
STEP, ENERGY = 0.030, 1e-2
"""Time step of decisions [s]: with short ones every cell ends at a limit; weight of the work of all efforts."""
CENTER_WEIGHT, POINT_WEIGHT = (1.0, 1.0, 0.3), 0.55
"""How much errors of the centre along x, y, z count, and those of a point of the surface."""
TOUCH = "ground"


def normals() -> Array:
    """The middles of the cells as directions (20, 3): a cell, and not an edge or a corner, is down."""
    corners, faces = make.icosahedron()
    out = corners[faces].sum(axis=1)
    return np.asarray(out / np.linalg.norm(out, axis=1, keepdims=True) @ face_down().T)


def face_down() -> Array:
    """The rotation (3, 3) that brings a face of the icosahedron down."""
    corners, faces = make.icosahedron()
    n = corners[faces[0]].sum(axis=0)
    n /= np.linalg.norm(n)
    down = np.array([0.0, 0.0, -1.0])
    axis = np.cross(n, down)
    angle = np.arctan2(np.linalg.norm(axis), n @ down)
    return exponential(angle * axis / np.linalg.norm(axis))


def cut(mesh: TetMesh) -> TetMesh:
    """The same with the number of its cell as the label of each tet."""
    middles = mesh.nodes[mesh.tets].mean(axis=1)
    return TetMesh(mesh.nodes, mesh.tets, np.argmax(middles @ normals().T, axis=1))


def placed(mesh: TetMesh) -> TetMesh:
    """An outside mesh [m] of a hollow ball: its middle at the origin, as large as this one, and cut in cells."""
    middle = 0.5 * (mesh.nodes.min(axis=0) + mesh.nodes.max(axis=0))
    radius = float(np.linalg.norm(mesh.nodes - middle, axis=1).max())
    return cut(TetMesh((mesh.nodes - middle) * (RADIUS / radius), mesh.tets))


def shape(size: float = SIZE) -> TetMesh:
    """The ball's own mesh, whose faces follow the cells."""
    mesh = make.hollow_sphere(INNER, RADIUS, size)
    return cut(TetMesh(mesh.nodes @ face_down().T, mesh.tets))


def build(
    mesh: TetMesh | None = None,
    *,
    law: Law = LAW,
    friction: float = FRICTION,
    order: Literal[1, 2] = 1,
    heading: float = 0.0,
) -> Robot:
    """The ball on flat ground. Actuators: "air", "cell 0" ...; effectors: "center", "side", "front"; sensor: "pose".

    heading: of the way that it is to go, [degrees] from x; the points of its surface that are effectors are beside it and
    before it.
    """
    mesh = shape() if mesh is None else mesh
    body = TetBody(mesh, law, density=DENSITY, damping=DAMPING, order=order)
    robot = Robot(body, gravity=(0.0, 0.0, -GRAVITY))
    wall, skin = _walls(mesh)
    cavity = Cavity(wall)
    robot.actuate(
        "air", cavity, effort=PRESSURE, displacement=(-np.inf, FULLEST * cavity.rest_volume), effort_rate=PRESSURE_RATE
    )
    E = law.E
    for k in range(CELLS):
        robot.actuate(f"cell {k}", Stiffness(label=k), effort=(E / RATIO - E, RATIO * E - E))
    ahead, aside = directions(heading)
    robot.effect("center", Center(), weight=CENTER_WEIGHT)
    outer = np.linalg.norm(mesh.nodes, axis=1).max()
    for name, way in (("side", aside), ("front", ahead)):
        robot.effect(name, Point(near=skin.nodes[np.argmax(skin.nodes @ way)]), weight=POINT_WEIGHT)
    corners, _ = make.icosahedron()
    robot.sense("pose", Frame(0.95 * outer * corners @ face_down().T))
    robot.touch(TOUCH, Plane(offset=float(mesh.nodes[:, 2].min()) - 1e-4, friction=friction), surface=skin)
    return robot


def _walls(mesh: TetMesh) -> tuple[SurfaceMesh, SurfaceMesh]:
    """Of the cavity, and the outer one."""
    parts = mesh.surface().parts()
    if len(parts) != 2:
        raise InputError(
            f"the ball's surface has {len(parts)} parts",
            remedy="give a mesh with one cavity inside: two closed surfaces",
        )
    inner, outer = sorted(parts, key=lambda part: float(np.linalg.norm(part.nodes, axis=1).max()))
    return inner, outer


def directions(heading: float) -> tuple[Array, Array]:
    """Ahead and to the left of a heading [degrees]."""
    c, s = np.cos(np.radians(heading)), np.sin(np.radians(heading))
    return np.array([c, s, 0.0]), np.array([-s, c, 0.0])


def inverse(robot: Robot, h: float = STEP, energy: float = ENERGY, search: Search = "paper") -> Inverse:
    """What decides for it. The exact tangent of cells that soften is indefinite in many steps; the warped one serves."""
    return Inverse(robot, h=h, energy=energy, tangent="warped", friction="stick", search=search)
