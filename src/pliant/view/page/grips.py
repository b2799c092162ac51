"""Targets in the scene: what one grabs with the mouse, and where the effector is."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.rotation import exponential, from_quaternion, logarithm, to_quaternion
from pliant.checks import as_numbers
from pliant.errors import InputError
from pliant.port import Center, Frame, Point, Port
from pliant.robot import Robot, State
from pliant.view.page.heard import dragged
from pliant.view.page.palette import EFFECTOR, TARGET
from pliant.view.page.poses import TURNS, is_pose
from pliant.view.page.session import Session
from pliant.view.page.snapshot import Snapshot

Array = NDArray[np.float64]
Mask = tuple[bool, bool, bool]


@dataclass(frozen=True)
class Grasp:
    """Where an effector can be grasped: a place in space, perhaps with an orientation.

    point: number of the port's point that it is, None for the middle of them all; entries: which number of the target is its
    x, y and z, -1 where a coordinate does not count; turns: rotations about x, y and z that count.
    """

    effector: str
    point: int | None
    entries: tuple[int, int, int]
    turns: Mask = (False, False, False)

    @property
    def moves(self) -> Mask:
        """Which coordinates count."""
        x, y, z = (entry >= 0 for entry in self.entries)
        return x, y, z

    def place(self, robot: Robot, state: State) -> Array:
        """Where it is [m], [3]."""
        attachment = robot.ports[self.effector].attachment
        p = attachment.positions(state.x)
        if self.point is not None:
            return np.asarray(p[self.point])
        if isinstance(attachment.port, Frame):
            return np.asarray(p.mean(axis=0))
        return np.asarray(attachment.port.displacement(p)[:3])

    def orientation(self, robot: Robot, state: State) -> Array:
        """Its quaternion wxyz [4] from rest; that of no rotation where the port has none."""
        turns = is_pose(robot.ports[self.effector].port)
        return robot.displacement(state, self.effector, as_target=True)[3:] if turns else np.array([1.0, 0.0, 0.0, 0.0])

    def shown(self, robot: Robot, state: State, target: Array) -> tuple[Array, Array]:
        """Position [3] and quaternion [4] of the target in the scene; coordinates that do not count go with the robot."""
        position = self.place(robot, state).copy()
        for axis, entry in enumerate(self.entries):
            if entry >= 0:
                position[axis] = target[entry]
        turned = target[3:] if any(self.turns) else self.orientation(robot, state)
        return position, turned

    def dragged(self, target: Array, position: Array, quaternion: Array) -> Array:
        """The target after the mouse has moved it; what does not count stays as it was."""
        out = np.array(target, dtype=float)
        for axis, entry in enumerate(self.entries):
            if entry >= 0:
                out[entry] = position[axis]
        if any(self.turns):
            before = from_quaternion(target[3:])
            turn = logarithm(from_quaternion(quaternion / np.linalg.norm(quaternion)) @ before.T)
            out[3:] = to_quaternion(exponential(np.where(self.turns, turn, 0.0)) @ before)
        return out


def grasps_of(port: Port, name: str, weights: Array) -> list[Grasp]:
    """Places in space that an effector has; rows of weight zero do not count. Other rows have sliders."""
    rows = dict(zip(port.row_names, weights > 0, strict=True))
    names = port.target_names
    if isinstance(port, Point):
        count = len(port.points)
        labels = [[axis if count == 1 else f"{k}.{axis}" for axis in "xyz"] for k in range(count)]
        points: list[int | None] = list(range(count))
    elif isinstance(port, Center | Frame) or (names == ("x", "y", "z") and port.displacement_unit == "m"):
        labels, points = [["x", "y", "z"]], [None]
    else:
        return []
    found = []
    for point, own in zip(points, labels, strict=True):
        x, y, z = (names.index(label) if rows.get(label) else -1 for label in own)
        rx, ry, rz = (bool(rows.get(turn)) and is_pose(port) for turn in TURNS)
        if max(x, y, z) >= 0 or rx or ry or rz:
            found.append(Grasp(name, point, (x, y, z), (rx, ry, rz)))
    return found


class Grip:
    """Arrows (and rings, for an orientation) around a target, which a mouse can drag; marks at target and effector.

    The target is a hollow ball of orange rings, the effector a dark ball that fits into it: when it has arrived, both are seen.
    """

    def __init__(self, scene: Any, session: Session, grasp: Grasp, path: str) -> None:
        self._session, self.grasp = session, grasp
        self._dragged = False
        size, robot, snapshot = session.size, session.robot, session.snapshot
        position, turned = grasp.shown(robot, snapshot.state, snapshot.wish.targets[grasp.effector])
        moves, turns = any(grasp.moves), any(grasp.turns)
        self.gizmo = scene.add_transform_controls(
            path, scale=0.22 * size, line_width=4.0, depth_test=False, active_axes=active_axes(grasp),
            disable_axes=not moves, disable_sliders=True, disable_rotations=not turns, position=position, wxyz=turned,
        )  # fmt: skip
        self._aim = scene.add_line_segments(f"{path}/aim", rings(0.042 * size), colors=TARGET, thickness=0.006 * size)
        here = grasp.place(robot, snapshot.state)
        if turns:
            self._tip = scene.add_frame(
                f"{path}_tip", axes_length=0.13 * size, axes_radius=0.006 * size, origin_radius=0.024 * size,
                origin_color=EFFECTOR, position=here, wxyz=turned,
            )  # fmt: skip
        else:
            self._tip = scene.add_icosphere(f"{path}_tip", 0.024 * size, color=EFFECTOR, position=here)
        self.gizmo.on_update(dragged(self._moved))

    @property
    def name(self) -> str:
        """Of the effector, and of its point where it has several."""
        point = self.grasp.point
        alone = point is None or len(self._session.robot.ports[self.grasp.effector].port.points) == 1
        return self.grasp.effector if alone else f"{self.grasp.effector}.{point}"

    def place(self, state: State) -> Array:
        """Where the effector is [m], [3]."""
        return self.grasp.place(self._session.robot, state)

    def _moved(self, event: Any) -> None:
        """The mouse has grabbed, moved or let go of the target."""
        self._dragged = event.phase != "end"
        target = self._session.snapshot.wish.targets[self.grasp.effector]
        position, turned = as_numbers(event.target.position), as_numbers(event.target.wxyz)
        if not (
            position.shape == (3,) and turned.shape == (4,) and np.isfinite([*position, *turned]).all() and turned.any()
        ):
            raise InputError("a target was dragged to a place that is none", remedy="drag it again")
        wanted = self.grasp.dragged(target, position, turned)
        self._session.aim(self.grasp.effector, wanted)

    def let_go(self) -> None:
        """No mouse holds the target any more: who held it has left, or steers no longer."""
        self._dragged = False

    def draw(self, snapshot: Snapshot, robot: Robot) -> None:
        """Show the effector, and the target unless a mouse holds it."""
        grasp, state = self.grasp, snapshot.state
        self._tip.position = grasp.place(robot, state)
        if any(grasp.turns):
            self._tip.wxyz = grasp.orientation(robot, state)
        position, turned = grasp.shown(robot, state, snapshot.wish.targets[grasp.effector])
        if self._dragged or not (np.isfinite(position).all() and np.isfinite(turned).all()):
            return
        if not np.array_equal(position, self.gizmo.position):
            self.gizmo.position = position
        if not np.array_equal(turned, self.gizmo.wxyz):
            self.gizmo.wxyz = turned


def rings(radius: float, pieces: int = 40) -> NDArray[np.float32]:
    """Three circles about the origin, one around each axis, as straight pieces [k, 2, 3] [m]."""
    angle = np.linspace(0, 2 * np.pi, pieces + 1)
    circle = radius * np.stack([np.cos(angle), np.sin(angle), np.zeros_like(angle)], axis=1)
    ways = [np.roll(circle, shift, axis=1) for shift in range(3)]
    return np.concatenate([np.stack([way[:-1], way[1:]], axis=1) for way in ways]).astype(np.float32)


def active_axes(grasp: Grasp) -> Mask:
    """Axes of the gizmo that are there: an arrow along each, a ring for the rotation between each two.

    Where arrows and rings ask for different axes all are there, and those that do not count do nothing.
    """
    if not any(grasp.turns):
        return grasp.moves
    if any(grasp.moves) or sum(grasp.turns) > 1:
        return True, True, True
    x, y, z = (not turn for turn in grasp.turns)
    return x, y, z


def grips_of(scene: Any, session: Session) -> list[Grip]:
    """One for every place in space that an effector of the robot has."""
    robot = session.robot
    found = []
    for name in session.effectors:
        for k, grasp in enumerate(grasps_of(robot.ports[name].port, name, robot.ports[name].weight)):
            found.append(Grip(scene, session, grasp, f"/targets/{name}/{k}"))
    return found
