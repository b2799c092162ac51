"""What a robot touches: obstacles that one can drag, and the forces of contacts as arrows."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.rotation import from_quaternion
from pliant.checks import as_numbers
from pliant.contact import Obstacle, Plane
from pliant.errors import InputError
from pliant.robot import Robot, State
from pliant.view.page.heard import dragged
from pliant.view.page.palette import GHOST, STICKS, TAUT, hexadecimal
from pliant.view.page.session import Session
from pliant.view.page.snapshot import Snapshot
from pliant.view.page.status import block, plain
from pliant.view.surroundings import surface_of

Array = NDArray[np.float64]

LONGEST, FADES, SMALLEST = 0.3, 0.97, 0.02
"""Length of the arrow of the largest force of late, over the size of the robot; how much of that force is left a picture later;
and the share of it that is not drawn any more."""


class DrawnObstacle:
    """An obstacle where it is, with arrows and rings to drag it by; all touches with it go along."""

    def __init__(self, scene: Any, session: Session, obstacle: Obstacle, names: Sequence[str], toward: Array) -> None:
        """toward (3,): to who looks at it first; a plane, which is everywhere, is dragged in front of the robot."""
        self._session, self._names, self._dragged = session, tuple(names), False
        self._normal = np.array(obstacle.encoded()[1][:3]) if isinstance(obstacle, Plane) else None
        surface = surface_of(obstacle, 4 * session.size)
        self._pose = self._where()
        place = session.hanging.x.mean(axis=0) + 0.8 * session.size * toward / np.linalg.norm(toward)
        own = (
            surface.nodes.mean(axis=0)
            if self._normal is None
            else self._in_plane(place, float(obstacle.encoded()[1][3]))
        )
        self._grasp, self._nodes = own, surface.nodes - own
        path = f"/obstacles/{names[0]}"
        self.gizmo = scene.add_transform_controls(path, scale=0.15 * session.size, line_width=2.5, depth_test=False)
        self._mesh = scene.add_mesh_simple(
            f"{path}/surface",
            self._nodes.astype(np.float32),
            surface.triangles,
            color=GHOST,
            opacity=0.6 if isinstance(obstacle, Plane) else None,  # the grid of the floor is seen through a plane
            side="double",
        )
        self._way = np.zeros(3)
        self.gizmo.on_update(dragged(self._moved))
        self._put()

    @property
    def bounded(self) -> bool:
        """Whether it ends somewhere, as no plane does."""
        return self._normal is None

    @property
    def corners(self) -> Array:
        """The box around it at first (2, 3) [m]; of a plane, which is everywhere, where it is dragged by."""
        nodes = self._nodes if self._normal is None else np.zeros((1, 3))
        there = np.array(self.gizmo.position) + nodes @ from_quaternion(np.array(self.gizmo.wxyz)).T
        return np.array([there.min(axis=0), there.max(axis=0)])

    def _where(self) -> Array:
        """Where its own frame is: position [m] and quaternion wxyz (7,)."""
        own = self._session.robot.touches[self._names[0]].obstacle
        assert own is not None
        return own.pose

    def _in_plane(self, place: Array, offset: float) -> Array:
        """The place (3,) [m] of a plane next to one in space, in its own frame."""
        assert self._normal is not None
        seen = from_quaternion(self._pose[3:]).T @ (place - self._pose[:3])
        return np.asarray(seen - (seen @ self._normal - offset) * self._normal)

    def _moved(self, event: Any) -> None:
        """The mouse has grabbed, moved or let go of it."""
        self._dragged = event.phase != "end"
        pose = np.concatenate([as_numbers(event.target.position), as_numbers(event.target.wxyz)])
        if pose.shape != (7,) or not np.isfinite(pose).all():
            raise InputError("an obstacle was dragged to a place that is none", remedy="drag it again")
        if np.linalg.norm(pose[3:]) > 0.0:
            pose[:3] -= from_quaternion(pose[3:] / np.linalg.norm(pose[3:])) @ self._grasp
        for name in self._names:
            self._session.push(name, pose)

    def let_go(self) -> None:
        """No mouse holds it any more."""
        self._dragged = False

    def stretch(self, way: Array) -> None:
        """A plane is drawn as far as one sees, and dragged in front of the robot, also this far (3,) [m] from where it was."""
        if self._normal is None or self._dragged:
            return
        turn = from_quaternion(self._pose[3:])
        here = turn.T @ (way - self._way)
        self._grasp = self._grasp + here - (here @ self._normal) * self._normal
        self._way = way
        self._put()

    def draw(self, snapshot: Snapshot) -> None:
        """Show it where it is, unless a mouse holds it."""
        pose = self._where()
        if not self._dragged and not np.array_equal(pose, self._pose):
            self._pose = pose
            self._put()

    def _put(self) -> None:
        """Have it where its pose says."""
        place = self._pose[:3] + from_quaternion(self._pose[3:]) @ self._grasp
        self.gizmo.position, self.gizmo.wxyz = tuple(place), tuple(self._pose[3:])


def drawn_obstacles(scene: Any, session: Session, toward: Array) -> list[DrawnObstacle]:
    """Every obstacle once, however many bodies touch it; toward (3,): to who looks at them first."""
    found: dict[int, tuple[Obstacle, list[str]]] = {}
    for name, touch in session.robot.touches.items():
        if touch.obstacle is not None:
            found.setdefault(id(touch.obstacle.obstacle), (touch.obstacle.obstacle, []))[1].append(name)
    return [DrawnObstacle(scene, session, obstacle, names, toward) for obstacle, names in found.values()]


class DrawnForces:
    """An arrow for every contact, where it acts on the body that touches: one colour where it sticks, one where it slides."""

    def __init__(self, scene: Any, robot: Robot, size: float) -> None:
        """size: of the robot [m]."""
        self._robot, self._size, self._largest = robot, size, 0.0
        thin, nothing = 0.006 * size, np.zeros((1, 2, 3), np.float32)
        self._arrows = [
            scene.add_arrows(
                f"/contacts/{kind}", nothing, colour, shaft_radius=thin, head_radius=2.5 * thin, head_length=5 * thin,
                visible=False,
            )
            for kind, colour in (("sticking", STICKS), ("sliding", TAUT))
        ]  # fmt: skip

    def draw(self, state: State, way: Array) -> None:
        """Show them at this state, all in one scale; way (3,): how far the robot has gone [m]."""
        reports = [self._robot.contacts(state, name) for name in self._robot.touches]
        points, forces, slides = (
            np.concatenate([getattr(report, what) for report in reports]) for what in ("points", "forces", "slides")
        )
        sizes = np.linalg.norm(forces, axis=1)
        self._largest = max(FADES * self._largest, float(sizes.max(initial=0.0)))  # an impact is not for ever
        seen = sizes > SMALLEST * self._largest
        for handle, which in zip(self._arrows, (seen & ~slides, seen & slides), strict=True):
            handle.visible = bool(which.any())
            if which.any():
                begin = points[which] - way
                ends = begin + LONGEST * self._size / self._largest * forces[which]
                handle.points, handle.position = np.stack([begin, ends], axis=1).astype(np.float32), way


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
