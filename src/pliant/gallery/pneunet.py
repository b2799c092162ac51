"""A pneumatic bending finger with its cavity.

A flat base with six ribs, hollow and joined by a channel: one chamber. It hangs from one end; pressure pushes the ribs apart
and the finger bends towards its base. (Overall size and wall of the chamber as in the robot's usual scene.) One pressure: the
tip moves on a curve, and a target beside it is approached as closely as that allows.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pliant.body import TetBody
from pliant.errors import SurfaceError
from pliant.gallery.follower import Follower, Paths
from pliant.gallery.tracking import reachable_path, tracked
from pliant.material import Corotational
from pliant.port import Cavity, Point
from pliant.robot import Robot, State
from pliant.shape import SurfaceMesh, TetMesh, make

Array = NDArray[np.float64]
Shape = TypeVar("Shape", TetMesh, SurfaceMesh)

LENGTH, BASE = 0.115, 0.0085
"""Length of the finger, and thickness of its base below the chamber [m]."""
RIBS, RIB, ROOM = tuple(0.022 + 0.0155 * k for k in range(6)), 0.00525, 0.00275
"""Where the middles of the ribs are along the finger; half their thickness, and that of the room in them [m]."""
PRESSURE, SPEED, RATE = 50e3, 0.020, 50.0
"""Pressure at the end of its own path [Pa], speed of the target [m/s], decisions per second [Hz]."""
PRESSURE_RATE = 400e3
"""How fast the valve may change the pressure [Pa/s]."""


def shape() -> TetMesh:
    """The finger's own mesh, made of boxes: down from its held end at z = 0, ribs towards +x, the chamber in them."""
    walls = [x + side * half for x in RIBS for side in (-1, 1) for half in (ROOM, RIB)]
    x = np.concatenate([[0.0, 0.008], np.sort([*walls, *RIBS]), [0.5 * (RIBS[-1] + RIB + LENGTH), LENGTH]])
    y = np.array([-10, -7.5, -5, -2, 0, 2, 5, 7.5, 10]) * 1e-3
    z = np.array([0, 2.8, 5.6, 8.5, 12, 16, 21, 24]) * 1e-3
    return _hung(make.blocks(x, y, z, lambda middle: _is_solid(middle) & ~_is_hollow(middle)))


def _hung(shape: Shape) -> Shape:
    """A finger that lies along x with its ribs above, hung by its end at x = 0."""
    return shape.rotated((0, 1, 0), np.pi / 2)


def _is_solid(p: Array) -> NDArray[np.bool_]:
    """Whether points [k, 3] are in the base, in a rib, or in the ridge over the channel."""
    in_rib = _from_rib(p) < RIB
    ridge = (np.abs(p[:, 1]) < 0.005) & (p[:, 2] < 0.016) & (p[:, 0] > RIBS[0]) & (p[:, 0] < RIBS[-1])
    return (p[:, 2] < BASE) | in_rib | ridge


def _is_hollow(p: Array) -> NDArray[np.bool_]:
    """Whether points [k, 3] are in the room of a rib, or in the channel that joins them."""
    above = p[:, 2] > BASE
    room = (_from_rib(p) < ROOM) & (np.abs(p[:, 1]) < 0.0075) & (p[:, 2] < 0.021)
    channel = (np.abs(p[:, 1]) < 0.002) & (p[:, 2] < 0.012) & (p[:, 0] > RIBS[0]) & (p[:, 0] < RIBS[-1])
    return above & (room | channel)


def _from_rib(p: Array) -> Array:
    """Distance of points [k, 3] from the middle of the nearest rib, along the finger [m]."""
    return np.asarray(np.abs(p[:, :1] - np.array(RIBS)).min(axis=1))


def build(mesh: TetMesh | None = None, *, wall: SurfaceMesh | None = None) -> Robot:
    """The robot; `mesh`: another shape in the same place; `wall`: of its cavity, by default the inner one of the mesh."""
    mesh = shape() if mesh is None else mesh
    body = TetBody(mesh, Corotational(E=500e3, nu=0.45), density=1100.0, fixed=mesh.where(z_above=-0.010))
    robot = Robot(body, gravity=(0.0, 0.0, -9.81))
    cavity = Cavity(_inner_wall(mesh) if wall is None else wall)
    robot.actuate("air", cavity, effort=(0.0, 100e3), effort_rate=PRESSURE_RATE)
    end = mesh.nodes[mesh.where(z_below=mesh.bounds[0, 2] + 1e-4)]
    robot.effect("tip", Point(near=end.mean(axis=0)))
    return robot


def _inner_wall(mesh: TetMesh) -> SurfaceMesh:
    """The largest part of the mesh's surface that looks inward."""
    parts = sorted(mesh.surface().parts(), key=lambda part: part.volume)
    if parts[0].volume >= 0:
        raise SurfaceError(
            "this mesh has no cavity inside", remedy="give its wall: pliant.gallery.pneunet.build(mesh, wall=...)"
        )
    return parts[0]


def placed(mesh: Shape) -> Shape:
    """The finger of the SoftRobots plugin (its tets, or the wall of its cavity), which lies along -x, ribs towards +y."""
    return _hung(mesh.transformed([[-1, 0, 0], [0, 0, 1], [0, 1, 0]]))


def paths(robot: Robot, hanging: State) -> dict[str, Paths]:
    """The curve that the tip runs along, there and back, as the pressure rises and falls."""
    efforts = {"air": np.linspace(0.02, 1.0, 25) * PRESSURE}
    return {"bend": {"tip": reachable_path(robot, hanging, "tip", efforts, SPEED)}}


EXHIBIT = Follower(
    "a pneumatic finger bends under pressure",
    build,
    tracked("pneunet", RATE),
    paths,
    placed,
    RATE,
    commands=("effort",),
)
