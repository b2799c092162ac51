"""Cables, cavities, forces and driven joints of a robot, drawn where they are now, by how hard they work."""

from __future__ import annotations

from abc import ABC, abstractmethod
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.body import RodBody
from pliant.port import Cable, Cavity, Force, Slider
from pliant.port.joint import JointPort
from pliant.robot import Robot, State
from pliant.view.page.palette import CAVITY, SLACK, TAUT, mixed

Array = NDArray[np.float64]

THICKEST = 70.0
"""A taut cable is drawn as thick as a robot of this many times the thickness of its thinnest rod would have it: about as thick
as that rod, which it must not hide."""
WHEEL, RING = 0.05, 24
"""Of the ring that a hinge is drawn as: its radius as a share of the robot's size, and its segments."""


class DrawnPort(ABC):
    """A port in the scene."""

    def __init__(self, scene: Any, robot: Robot, name: str, size: float) -> None:
        """scene: of the server; size: of the robot [m]."""
        self.name = name
        mounted = robot.ports[name]
        self._rows, self._attachment, limits = mounted.rows, mounted.attachment, mounted.limits
        high = float(np.abs(limits.effort).max())
        self._full = high if np.isfinite(high) else 0.0
        self._size = size
        self._handle = self._added(scene, f"/robot/ports/{name}", self._attachment.port.points)

    def reach(self, state: State) -> Array:
        """Points [k, 3] that a picture of it should hold."""
        return self._attachment.positions(state.x)

    def draw(self, state: State) -> None:
        """Show it at this state."""
        effort = float(state.efforts[self._rows][0])
        self._full = max(self._full, abs(effort))
        share = abs(effort) / self._full if self._full > 0 else 0.0
        self._show(self._attachment.positions(state.x), effort, share)

    @abstractmethod
    def _added(self, scene: Any, name: str, p: Array) -> Any:
        """The handle of what is drawn, with the port's points at p."""

    @abstractmethod
    def _show(self, p: Array, effort: float, share: float) -> None:
        """Move and colour it; share: the effort relative to its limit, or to the largest so far."""


class DrawnCable(DrawnPort):
    """A line from the pull point through the points; thicker and redder under tension."""

    def reach(self, state: State) -> Array:
        return np.asarray(self._way(super().reach(state)).reshape(-1, 3), float)

    def _added(self, scene: Any, name: str, p: Array) -> Any:
        return scene.add_line_segments(name, self._way(p), colors=SLACK, thickness=0.008 * self._size)

    def _show(self, p: Array, effort: float, share: float) -> None:
        self._handle.points = self._way(p)
        self._handle.colors = np.array(mixed(SLACK, TAUT, 2.5 * share), np.uint8)
        self._handle.thickness = self._size * (0.007 + 0.008 * min(1.0, 2.5 * share))

    def _way(self, p: Array) -> NDArray[np.float32]:
        pull = getattr(self._attachment.port, "pull", None)
        way = p if pull is None else np.concatenate([pull[None], p])
        return np.stack([way[:-1], way[1:]], axis=1).astype(np.float32)


class DrawnCavity(DrawnPort):
    """The wall of a cavity, redder under pressure; solid, so that a body one sees through does not hide it."""

    def _added(self, scene: Any, name: str, p: Array) -> Any:
        faces = np.asarray(self._attachment.port.triangles)  # type: ignore[attr-defined]
        self._faces = np.asarray(faces, np.int64)
        return scene.add_mesh_simple(
            name, self._inside(p), faces, color=CAVITY, side="double", flat_shading=True,
            cast_shadow=False, receive_shadow=False,
        )  # fmt: skip

    def _show(self, p: Array, effort: float, share: float) -> None:
        self._handle.vertices = self._inside(p)
        self._handle.color = mixed(CAVITY, TAUT, 0.8 * share)

    def _inside(self, p: Array) -> NDArray[np.float32]:
        """The wall a little further in than the body's own, which would flicker through it otherwise."""
        a, b, c = (p[self._faces[:, k]] for k in range(3))
        normals = np.zeros_like(p)
        for k in range(3):
            np.add.at(normals, self._faces[:, k], np.cross(b - a, c - a))
        length = np.maximum(np.linalg.norm(normals, axis=1), 1e-300)
        return np.asarray(p - 0.004 * self._size * normals / length[:, None], np.float32)


class DrawnForce(DrawnPort):
    """An arrow from where the force acts, the longer the stronger it is."""

    def _added(self, scene: Any, name: str, p: Array) -> Any:
        thin, head = 0.006 * self._size, 0.016 * self._size
        return scene.add_arrows(
            name, self._arrow(p, 0.0), TAUT, shaft_radius=thin, head_radius=head, head_length=2 * head, visible=False
        )

    def _show(self, p: Array, effort: float, share: float) -> None:
        self._handle.visible = share > 1e-3
        if share > 1e-3:
            self._handle.points = self._arrow(p, np.sign(effort) * (0.08 + 0.22 * share) * self._size)

    def _arrow(self, p: Array, length: float) -> NDArray[np.float32]:
        place, way = p.mean(axis=0), self._attachment.port.slope(p)[0].sum(axis=0)
        way = way / max(float(np.linalg.norm(way)), 1e-12)
        return np.array([[place, place + length * way]], np.float32)


class DrawnJoint(DrawnPort):
    """A ring about the axis of a hinge with a hand that turns in it, or the way of a slide; thicker and redder the harder its
    motor works."""

    def reach(self, state: State) -> Array:
        return np.asarray(self._lines(super().reach(state)).reshape(-1, 3), float)

    def _added(self, scene: Any, name: str, p: Array) -> Any:
        return scene.add_line_segments(name, self._lines(p), colors=SLACK, thickness=0.004 * self._size)

    def _show(self, p: Array, effort: float, share: float) -> None:
        self._handle.points = self._lines(p)
        self._handle.colors = np.array(mixed(SLACK, TAUT, 2.5 * share), np.uint8)
        self._handle.thickness = self._size * (0.004 + 0.006 * min(1.0, share))

    def _lines(self, p: Array) -> NDArray[np.float32]:
        """Segments (k, 2, 3) from the frames (8, 3) of both parts: pivot and three tips each, the last along the axis."""
        moving, still = (frame[0] + self._axes(frame) for frame in (p[:4], p[4:]))
        if isinstance(self._attachment.port, Slider):
            ends = np.array([p[4], p[0]])
            return np.array([ends, [2 * p[0] - moving[0], moving[0]]], np.float32)
        turns = np.linspace(0.0, 2 * np.pi, RING + 1)[:, None]
        ring = p[4] + np.cos(turns) * (still[0] - p[4]) + np.sin(turns) * (still[1] - p[4])
        return np.array([*pairwise(ring), (p[0], moving[0])], np.float32)

    def _axes(self, frame: Array) -> Array:
        """From the pivot to the tips, as long as a ring is wide."""
        tips = frame[1:] - frame[0]
        return np.asarray(WHEEL * self._size * tips / np.linalg.norm(tips, axis=1, keepdims=True))


KINDS: dict[type, type[DrawnPort]] = {Cable: DrawnCable, Cavity: DrawnCavity, Force: DrawnForce, JointPort: DrawnJoint}


def drawn_ports(scene: Any, robot: Robot, size: float) -> list[DrawnPort]:
    """Everything of the robot's ports that has a picture; points are drawn by their grips."""
    kinds = {
        name: next((k for t, k in KINDS.items() if isinstance(own.port, t)), None) for name, own in robot.ports.items()
    }
    slim = min([size, *(THICKEST * body.thinnest for body in robot.bodies if isinstance(body, RodBody))])
    return [
        kind(scene, robot, name, slim if kind is DrawnCable else size)
        for name, kind in kinds.items()
        if kind is not None
    ]
