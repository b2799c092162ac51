"""What a robot touches: obstacles that one can drag, and the forces of contacts as arrows."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.checks import as_numbers
from pliant.contact import Obstacle, Plane, Solid, Sphere
from pliant.errors import InputError
from pliant.robot import Robot, State
from pliant.shape import SurfaceMesh, solids
from pliant.view.page.heard import dragged
from pliant.view.page.palette import GHOST, STICKS, TAUT, hexadecimal
from pliant.view.page.session import Session
from pliant.view.page.snapshot import Snapshot
from pliant.view.page.status import block, plain

Array = NDArray[np.float64]

LONGEST, FADES = 0.3, 0.97
"""Length of the arrow of the largest force of late, over the size of the robot, and how much of that force is left a picture
later."""


class DrawnObstacle:
    """An obstacle where it is, with arrows and rings to drag it by; all touches with it go along."""

    def __init__(self, scene: Any, session: Session, obstacle: Obstacle, names: Sequence[str]) -> None:
        self._session, self._names, self._dragged = session, tuple(names), False
        surface = _surface_of(obstacle, session.size)
        path = f"/obstacles/{names[0]}"
        self.gizmo = scene.add_transform_controls(path, scale=0.15 * session.size, line_width=2.5, depth_test=False)
        self._mesh = scene.add_mesh_simple(
            f"{path}/surface",
            surface.nodes.astype(np.float32),
            surface.triangles,
            color=GHOST,
            opacity=0.6,
            side="double",
        )
        self._nodes = surface.nodes
        self.gizmo.on_update(dragged(self._moved))
        self.draw(session.snapshot)

    @property
    def corners(self) -> Array:
        """The box around it at first (2, 3) [m], none for a plane: it is everywhere."""
        if len(self._nodes) == 4:
            return np.empty((0, 3))
        pose = self._session.robot.touches[self._names[0]].obstacle
        there = self._nodes if pose is None else pose.position + self._nodes @ pose.rotation.T
        return np.array([there.min(axis=0), there.max(axis=0)])

    def _moved(self, event: Any) -> None:
        """The mouse has grabbed, moved or let go of it."""
        self._dragged = event.phase != "end"
        pose = np.concatenate([as_numbers(event.target.position), as_numbers(event.target.wxyz)])
        if pose.shape != (7,) or not np.isfinite(pose).all():
            raise InputError("an obstacle was dragged to a place that is none", remedy="drag it again")
        for name in self._names:
            self._session.push(name, pose)

    def let_go(self) -> None:
        """No mouse holds it any more."""
        self._dragged = False

    def draw(self, snapshot: Snapshot) -> None:
        """Show it where it is, unless a mouse holds it."""
        own = self._session.robot.touches[self._names[0]].obstacle
        if own is None or self._dragged:
            return
        pose = own.pose
        if not np.array_equal(pose, np.concatenate([self.gizmo.position, self.gizmo.wxyz])):
            self.gizmo.position, self.gizmo.wxyz = tuple(pose[:3]), tuple(pose[3:])


def drawn_obstacles(scene: Any, session: Session) -> list[DrawnObstacle]:
    """Every obstacle once, however many bodies touch it."""
    found: dict[int, tuple[Obstacle, list[str]]] = {}
    for name, touch in session.robot.touches.items():
        if touch.obstacle is not None:
            found.setdefault(id(touch.obstacle.obstacle), (touch.obstacle.obstacle, []))[1].append(name)
    return [DrawnObstacle(scene, session, obstacle, names) for obstacle, names in found.values()]


class DrawnTouch:
    """An arrow for every contact: one colour where it sticks, one where it slides."""

    def __init__(self, scene: Any, robot: Robot, name: str, size: float) -> None:
        self._robot, self._name, self._size, self._largest = robot, name, size, 0.0
        nothing = np.zeros((1, 2, 3), np.float32)
        self._arrows = [
            scene.add_line_segments(f"/contacts/{name}/{kind}", nothing, colors=colour, thickness=0.006 * size)
            for kind, colour in (("sticking", STICKS), ("sliding", TAUT))
        ]

    def draw(self, state: State) -> None:
        """Show it at this state."""
        report = self._robot.contacts(state, self._name)
        largest = float(np.linalg.norm(report.forces, axis=1).max(initial=0.0))
        self._largest = max(FADES * self._largest, largest)  # an impact does not make all others small for ever
        arrows = LONGEST * self._size / self._largest * report.forces if self._largest > 0 else report.forces
        for handle, which in zip(self._arrows, (~report.slides, report.slides), strict=True):
            pieces = np.stack([report.points[which], report.points[which] + arrows[which]], axis=1)
            handle.points = pieces.astype(np.float32) if len(pieces) else np.zeros((1, 2, 3), np.float32)


def drawn_touches(scene: Any, robot: Robot, size: float) -> list[DrawnTouch]:
    """The contacts of all that a robot touches, in the scene of a server; size: of the robot [m]."""
    return [DrawnTouch(scene, robot, name, size) for name in robot.touches]


def touches_text(robot: Robot, state: State) -> str:
    """What is in touch: the resultant force, and how many contacts stick and slide, in the colours of their arrows."""
    right = 'style="text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap;padding-left:0.6em"'
    lines = []
    for name in robot.touches:
        report = robot.contacts(state, name)
        if len(report):
            slides = int(report.slides.sum())
            counts = "".join(
                f' <span style="color:{hexadecimal(colour)}">{number} {word}</span>'
                for number, word, colour in ((len(report) - slides, "stick", STICKS), (slides, "slide", TAUT))
                if number
            )
            force = plain(float(np.linalg.norm(report.force)), 3)
            lines.append(f"<tr><td>{escape(name)}<br>{counts}</td><td {right}><b>{force}</b> N</td></tr>")
    return block(f'<table class="pliant-touches" style="width:100%">{"".join(lines) or "nothing touches"}</table>')


def _surface_of(obstacle: Obstacle, size: float) -> SurfaceMesh:
    """What is drawn of an obstacle, as seen from its origin."""
    if isinstance(obstacle, Solid):
        return obstacle.surface
    if isinstance(obstacle, Sphere):
        *center, radius = obstacle.encoded()[1]
        return solids.sphere(radius).translated(center)
    assert isinstance(obstacle, Plane)
    *normal, offset = obstacle.encoded()[1]
    n = np.array(normal)
    a = np.cross(n, np.eye(3)[np.abs(n).argmin()])
    a *= 3 * size / np.linalg.norm(a)
    b = np.cross(n, a)
    return SurfaceMesh(offset * n + np.array([-a - b, a - b, a + b, b - a]), [(0, 1, 2), (0, 2, 3)])
