"""What is drawn of a robot in space."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.control.trajectory import Trajectory
from pliant.view.page.grips import grips_of
from pliant.view.page.palette import BODY, GHOST, TARGET, rounded
from pliant.view.page.ports import drawn_ports
from pliant.view.page.session import Session
from pliant.view.page.skin import skins_of
from pliant.view.page.snapshot import Snapshot
from pliant.view.page.stress import StressSkin

Array = NDArray[np.float64]


VIEW, ASPECT = 36.0, 0.75
"""Angle of view from bottom to top [degrees], and width over height of a narrow window: the robot fits into it."""


@dataclass(frozen=True)
class Look:
    """How the robot is drawn: coloured by stress, transparent, with its rest shape beside it."""

    stress: bool = False
    through: bool = False
    rest: bool = False


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
            scene.add_mesh_simple(f"/robot/body{k}", skin.vertices(x), skin.faces, color=BODY)
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
        self.grips = grips_of(scene, session)
        self._path: Any = None
        self._path_name: str | None = None
        self._drawn: Array | None = None
        self._coloured: Array | None = None
        self.look = self._shown = Look()
        self.cell = self._lay_floor(rest, x)
        self._place_camera(rest, x)

    def _lay_floor(self, rest: Array, x: Array) -> float:
        """A grid that a robot stands on, or well below one that hangs; returns the size of its cells [m]."""
        low, high = np.minimum(rest.min(axis=0), x.min(axis=0)), np.maximum(rest.max(axis=0), x.max(axis=0))
        up, size = up_direction(self._session.robot.gravity), self._session.size
        cell = rounded(size / 20)
        foot = int((x @ up).argmin())
        stands = np.linalg.norm(x[foot] - rest[foot]) < 1e-6 * size
        lowest = float(min((rest @ up).min(), (x @ up).min())) - (0.004 if stands else 0.3) * size
        middle = (low + high) / 2
        self._server.scene.set_up_direction(tuple(up))
        self._server.scene.add_grid(
            "/floor", 5 * size, 5 * size, plane="xy", cell_size=cell, section_size=5 * cell, cell_color=(222, 226, 230),
            section_color=(190, 197, 204), cell_thickness=0.7, section_thickness=1.0, shadow_opacity=0.2,
            fade_distance=4 * size, fade_from="origin", wxyz=_turn_to(up),
            position=middle + (lowest - middle @ up) * up,
        )  # fmt: skip
        return cell

    def _place_camera(self, rest: Array, x: Array) -> None:
        """Look at the robot from a little above, so far away that it fills the view."""
        low, high = np.minimum(rest.min(axis=0), x.min(axis=0)), np.maximum(rest.max(axis=0), x.max(axis=0))
        up, middle = up_direction(self._session.robot.gravity), (low + high) / 2
        side = np.cross(up, [1.0, 0.0, 0.0] if abs(up[0]) < 0.9 else [0.0, 1.0, 0.0])
        away = -0.85 * side + 0.45 * np.cross(side, up) + 0.38 * up
        away /= np.linalg.norm(away)
        across = np.cross(up, away) / np.linalg.norm(np.cross(up, away))
        corners = np.array(np.meshgrid(*zip(low, high, strict=True))).reshape(3, -1).T - middle
        slope = np.tan(np.deg2rad(VIEW) / 2)
        wide = np.abs(corners @ across) / (slope * ASPECT)
        tall = np.abs(corners @ np.cross(away, across)) / slope
        distance = 0.98 * float((np.maximum(wide, tall) + corners @ away).max())
        camera = self._server.initial_camera
        camera.fov = np.deg2rad(VIEW)
        camera.near, camera.far = 0.01 * distance, 30 * distance
        camera.look_at = middle
        camera.position = middle + distance * away

    def draw(self, snapshot: Snapshot) -> bool:
        """Show a snapshot; whether the body was sent anew (not where it has not moved)."""
        self._apply_look()
        for grip in self.grips:
            grip.draw(snapshot, self._session.robot)
        self._draw_path(snapshot.path)
        x = snapshot.state.x
        if self._drawn is not None and np.abs(x - self._drawn).max() < 1e-7 * self._session.size:
            return False
        self._drawn = x
        with self._server.atomic():
            for k, skin in enumerate(self._skins):
                if self._shown.stress:
                    self._stress[k].move(x)
                else:
                    self._bodies[k].vertices = skin.vertices(x)
        for port in self._ports:
            port.draw(snapshot.state)
        return True

    def _draw_path(self, name: str | None) -> None:
        """A line along the path that is being followed."""
        if name == self._path_name:
            return
        self._path_name = name
        if self._path is not None:
            self._path.remove()
            self._path = None
        if name is not None:
            ways = np.concatenate([_sampled(path) for path in self._session.paths[name].values()])
            self._path = self._server.scene.add_line_segments(
                "/path", ways, colors=TARGET, thickness=0.005 * self._session.size
            )

    def _apply_look(self) -> None:
        """Bring what is drawn in line with `look`."""
        now, before = self.look, self._shown
        if now == before:
            return
        self._shown = now
        for k, body in enumerate(self._bodies):
            self._ghosts[k].visible = now.rest
            body.visible = not now.stress
            body.opacity = 0.35 if now.through else None
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
        return max(skin.top for skin in self._stress)


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


def _sampled(path: Trajectory) -> NDArray[np.float32]:
    """The path as straight pieces, [k, 2, 3]."""
    points = np.array([path.position(time) for time in np.linspace(0, path.duration, 201)])
    return np.stack([points[:-1], points[1:]], axis=1).astype(np.float32)
