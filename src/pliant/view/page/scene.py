"""What is drawn of a robot in space."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.rotation import from_quaternion
from pliant.control.trajectory import Trajectory
from pliant.view.page.along import Along, Stage, travels
from pliant.view.page.grips import grips_of
from pliant.view.page.marks import Names, held_boxes, mark_held
from pliant.view.page.palette import BODY, GHOST, HELD, TARGET, rounded
from pliant.view.page.ports import drawn_ports
from pliant.view.page.session import Session
from pliant.view.page.skin import skins_of
from pliant.view.page.snapshot import Snapshot
from pliant.view.page.stress import StressSkin
from pliant.view.page.touches import DrawnForces, drawn_obstacles

Array = NDArray[np.float64]


VIEW, ASPECT, FILLED = 36.0, 0.75, 0.92
"""Angle of view from bottom to top [degrees], width over height of a narrow window, and the share of it to fill."""
ELEVATION = 0.36
"""How far the camera is above what it looks at, relative to how far beside."""
STANDS = 0.004
"""How far the floor is below what stands on it, over the size of the robot."""


@dataclass(frozen=True)
class Look:
    """How the robot is drawn: coloured by stress, transparent, with its rest shape beside it, with names, and whether the
    picture goes along."""

    stress: bool = False
    through: bool = False
    rest: bool = False
    names: bool = True
    along: bool = True


class Scene:
    """The robot, its rest shape, its ports and targets, a floor; shows snapshots of a session.

    Only one thread may draw; `look` may be set by any, and takes effect when a snapshot is drawn next.
    """

    def __init__(self, server: Any, session: Session) -> None:
        self._server, self._session, scene = server, session, server.scene
        robot, x = session.robot, session.hanging.x
        self._skins = skins_of(robot)
        rest = robot.rest().x
        self._bodies = [
            scene.add_mesh_simple(f"/robot/body{k}", skin.vertices(x), skin.faces, color=BODY if skin.moves else HELD)
            for k, skin in enumerate(self._skins)
        ]
        self._ghosts = [
            scene.add_mesh_simple(
                f"/rest/body{k}", skin.vertices(rest), skin.faces, color=GHOST, opacity=0.18, visible=False,
                cast_shadow=False, receive_shadow=False,
            )
            for k, skin in enumerate(self._skins)
        ]  # fmt: skip
        self._stress = [StressSkin(server, skin, k) for k, skin in enumerate(self._skins)]
        self._ports = drawn_ports(scene, robot, session.size)
        self.obstacles = drawn_obstacles(scene, session, view_direction(up_direction(robot.gravity)))
        """What the robot may touch, to be dragged."""
        self._forces = DrawnForces(scene, robot, session.size) if robot.touches else None
        self.grips = grips_of(scene, session)
        self._path: Any = None
        self._path_name: str | None = None
        self._drawn: Array | None = None
        self._coloured: Array | None = None
        self.look = self._shown = Look()
        up = up_direction(robot.gravity)
        right = np.cross(up, view_direction(up))
        self._names = Names(
            scene, self._ports, self.grips, session.hanging, session.size, right / np.linalg.norm(right)
        )
        self._held = mark_held(scene, robot, session.size, up)
        rest, x = (np.concatenate([nodes, *(skin.vertices(nodes) for skin in self._skins)]) for nodes in (rest, x))
        self.cell = self._lay_floor(rest, x)
        self._place_camera(rest, x)
        self.along = Along(robot, session.hanging, up, session.size) if travels(robot, session.hanging) else None
        """How far the robot has gone; None for one that is held."""
        self._stage = Stage(server, up) if self.along is not None else None

    def _lay_floor(self, rest: Array, x: Array) -> float:
        """A grid that a robot stands on, or well below one that hangs or sags; returns the size of its cells [m]."""
        low, high = np.minimum(rest.min(axis=0), x.min(axis=0)), np.maximum(rest.max(axis=0), x.max(axis=0))
        up, size = up_direction(self._session.robot.gravity), self._session.size
        cell = rounded(size / 20)
        middle = (low + high) / 2
        grounds = [float((own.corners @ up).min()) for own in self.obstacles if own.bounded]
        height = min([floor_height(rest, x, up, size), *(low - STANDS * size for low in grounds)])
        self._server.scene.set_up_direction(tuple(up))
        self._floor_at = middle + (height - middle @ up) * up
        self._floor = self._server.scene.add_grid(
            "/floor", 5 * size, 5 * size, plane="xy", cell_size=cell, section_size=5 * cell, cell_color=(222, 226, 230),
            section_color=(190, 197, 204), cell_thickness=0.7, section_thickness=1.0, shadow_opacity=0.2,
            fade_distance=4 * size, fade_from="origin", wxyz=_turn_to(up),
            position=self._floor_at,
        )  # fmt: skip
        return cell

    def _place_camera(self, rest: Array, x: Array) -> None:
        """Look at the robot from above its floor so that it fills the view, with its ports, names, targets and their paths."""
        up, session = up_direction(self._session.robot.gravity), self._session
        shown = [
            rest,
            x,
            *(own.corners for own in self.obstacles),
            *(port.reach(session.hanging) for port in self._ports),
        ]
        shown += [
            corners for low, high in held_boxes(session.robot, session.size) for corners in (low[None], high[None])
        ]
        shown += [place[None] for place in self._names.places(session.hanging).values()]
        shown += [path.astype(float).reshape(-1, 3) for paths in session.paths.values() for path in _drawable(paths)]
        handle = 0.2 * session.size * np.array([[1.0, 0, 0], [0, 1.0, 0], [0, 0, 1.0]])
        shown += [np.array(grip.gizmo.position) + handle for grip in self.grips]
        position, look_at = fitting_camera(np.concatenate(shown), view_direction(up), up)
        distance = float(np.linalg.norm(position - look_at))
        camera = self._server.initial_camera
        camera.fov = np.deg2rad(VIEW)
        camera.near, camera.far = 0.01 * distance, 30 * distance
        camera.look_at, camera.position = look_at, position

    def draw(self, snapshot: Snapshot) -> bool:
        """Show a snapshot; whether the body was sent anew (not where it has not moved)."""
        self._apply_look()
        for grip in self.grips:
            grip.draw(snapshot, self._session.robot)
        for obstacle in self.obstacles:
            obstacle.draw(snapshot)
        self._draw_path(snapshot.path)
        self._names.draw(snapshot.state, self._shown.names)
        x = snapshot.state.x
        if self._drawn is not None and np.abs(x - self._drawn).max() < 1e-7 * self._session.size:
            return False
        self._drawn = x
        way = np.zeros(3) if self.along is None else self.along.way(snapshot.state)
        with self._server.atomic():
            for k, skin in enumerate(self._skins):  # the way as a position: pictures are never late with it
                if self._shown.stress:
                    self._stress[k].move(x, way)
                else:
                    self._bodies[k].vertices, self._bodies[k].position = skin.vertices(x - way), way
            self._show(way if self._shown.along else np.zeros(3))
        for port in self._ports:
            port.draw(snapshot.state)
        if self._forces is not None:
            self._forces.draw(snapshot.state, way)
        return True

    def _show(self, way: Array) -> None:
        """Have in the picture what is this far (3,) [m] from where it was at first, with the floor, and planes that it touches,
        under it."""
        if self._stage is None:
            return
        self._stage.show(way)
        section, turn = 5 * self.cell, from_quaternion(np.array(self._floor.wxyz))
        a, b, _ = np.trunc(turn.T @ way / section) * section  # by whole sections, so that its lines stay where they are
        self._floor.position = self._floor_at + a * turn[:, 0] + b * turn[:, 1]
        for obstacle in self.obstacles:
            obstacle.stretch(way)

    def _draw_path(self, name: str | None) -> None:
        """A line along the path that is being followed."""
        if name == self._path_name:
            return
        self._path_name = name
        if self._path is not None:
            self._path.remove()
            self._path = None
        if name is not None:
            ways = _drawable(self._session.paths[name])
            if ways:
                self._path = self._server.scene.add_line_segments(
                    "/path", np.concatenate(ways), colors=TARGET, thickness=0.005 * self._session.size
                )

    def _apply_look(self) -> None:
        """Bring what is drawn in line with `look`."""
        now, before = self.look, self._shown
        if now == before:
            return
        self._shown = now
        for word in self._held:
            word.visible = now.names
        if now.along != before.along:
            self._drawn = None
        for k, body in enumerate(self._bodies):
            self._ghosts[k].visible = now.rest
            body.visible = not now.stress
            body.opacity = 0.3 if now.through and self._skins[k].moves else None
            if now.stress != before.stress:
                self._stress[k].show(now.stress)
                self._drawn = self._coloured = None

    def update_stress(self) -> float:
        """Compute the stress anew where the robot has moved; the top of its colour scale [Pa], 0 where it is not shown."""
        if not self._shown.stress:
            return 0.0
        if self._drawn is not None and self._drawn is not self._coloured:
            self._coloured = self._drawn
            for skin in self._stress:
                skin.recolour(self._drawn)
        return max((skin.top for skin in self._stress), default=0.0)


def up_direction(gravity: Array) -> Array:
    """Against gravity, or along z where there is none; a unit vector."""
    length = float(np.linalg.norm(gravity))
    return np.array([0.0, 0.0, 1.0]) if length == 0 else np.asarray(-gravity / length)


def _turn_to(up: Array) -> tuple[float, float, float, float]:
    """The shortest rotation (wxyz) from z to `up`."""
    if up[2] < -0.999999:
        return (0.0, 1.0, 0.0, 0.0)
    axis = np.cross([0.0, 0.0, 1.0], up)
    q = np.array([1.0 + up[2], *axis])
    w, x, y, z = (float(value) for value in q / np.linalg.norm(q))
    return w, x, y, z


def view_direction(up: Array) -> Array:
    """From the robot to the camera, at first: beside it and above."""
    side = np.cross(up, [1.0, 0.0, 0.0] if abs(up[0]) < 0.9 else [0.0, 1.0, 0.0])
    return np.asarray(-0.85 * side + 0.45 * np.cross(side, up) + ELEVATION * up)


def floor_height(rest: Array, x: Array, up: Array, size: float) -> float:
    """How high the floor is [m], along `up`: just below the foot of a robot that stands on it, which no load moves, else well
    below the robot. rest, x: of its nodes [n, 3] without and with loads [m]."""
    foot = int((x @ up).argmin())
    stands = np.linalg.norm(x[foot] - rest[foot]) < 1e-6 * size
    return float(min((rest @ up).min(), (x @ up).min())) - (STANDS if stands else 0.3) * size


def fitting_camera(points: Array, away: Array, up: Array) -> tuple[Array, Array]:
    """Position and place to look at [3] of the nearest camera in the direction `away` that has all points [k, 3] in view.

    With a: towards the camera, r: to the right, u: upwards in the picture, and k the slope of the view's edge, a camera at c
    sees p where |r . (p - c)| <= k a . (c - p), and the same with u: for both signs a bound on k a . c +- r . c.
    """
    a = away / np.linalg.norm(away)
    r = np.cross(up, a) / np.linalg.norm(np.cross(up, a))
    u, depth = np.cross(a, r), points @ a
    slope = FILLED * np.tan(np.deg2rad(VIEW) / 2)
    center, reach = np.zeros(3), -np.inf
    for direction, k in ((r, ASPECT * slope), (u, slope)):
        across = points @ direction
        high, low = float((across + k * depth).max()), float((-across + k * depth).max())
        center = center + 0.5 * (high - low) * direction
        reach = max(reach, (high + low) / (2 * k))
    middle = 0.5 * (float(depth.min()) + float(depth.max()))
    return center + reach * a, center + middle * a


def _drawable(paths: Mapping[str, Trajectory]) -> list[NDArray[np.float32]]:
    """The paths in space as straight pieces, [k, 2, 3] each; what a trajectory of other numbers does has no picture."""
    found = []
    for path in paths.values():
        points = np.array([path.position(time) for time in np.linspace(0, path.duration, 201)])
        if points.shape[1] in (3, 7):
            found.append(np.stack([points[:-1, :3], points[1:, :3]], axis=1).astype(np.float32))
    return found
