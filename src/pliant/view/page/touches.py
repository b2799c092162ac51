"""What a robot touches: obstacles, and the forces of contacts as arrows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.rotation import to_quaternion
from pliant.contact import Obstacle, Plane, Solid, Sphere
from pliant.robot import Robot, State
from pliant.shape import SurfaceMesh, solids
from pliant.view.page.palette import GHOST, STICKS, TAUT

Array = NDArray[np.float64]

LONGEST = 0.3
"""Length of the arrow of the largest force so far, over the size of the robot."""


class DrawnTouch:
    """An obstacle where it is, and an arrow for every contact: one colour where it sticks, one where it slides."""

    def __init__(self, scene: Any, robot: Robot, name: str, size: float) -> None:
        self._robot, self._name, self._size, self._largest = robot, name, size, 0.0
        obstacle = robot.touches[name].obstacle
        self._obstacle = None
        if obstacle is not None:
            surface = _surface_of(obstacle.obstacle, size)
            self._obstacle = scene.add_mesh_simple(
                f"/obstacles/{name}", surface.nodes.astype(np.float32), surface.triangles, color=GHOST, opacity=0.5
            )
        nothing = np.zeros((1, 2, 3), np.float32)
        self._arrows = [
            scene.add_line_segments(f"/contacts/{name}/{kind}", nothing, colors=colour, thickness=0.006 * size)
            for kind, colour in (("sticking", STICKS), ("sliding", TAUT))
        ]

    def draw(self, state: State) -> None:
        """Show it at this state."""
        obstacle, report = self._robot.touches[self._name].obstacle, self._robot.contacts(state, self._name)
        if obstacle is not None and self._obstacle is not None:
            self._obstacle.position, self._obstacle.wxyz = (
                tuple(obstacle.position),
                tuple(to_quaternion(obstacle.rotation)),
            )
        self._largest = max(self._largest, float(np.linalg.norm(report.forces, axis=1).max(initial=0.0)))
        arrows = LONGEST * self._size / self._largest * report.forces if self._largest > 0 else report.forces
        for handle, which in zip(self._arrows, (~report.slides, report.slides), strict=True):
            pieces = np.stack([report.points[which], report.points[which] + arrows[which]], axis=1)
            handle.points = pieces.astype(np.float32) if len(pieces) else np.zeros((1, 2, 3), np.float32)


def drawn_touches(scene: Any, robot: Robot, size: float) -> list[DrawnTouch]:
    """All that a robot touches, in the scene of a server; size: of the robot [m]."""
    return [DrawnTouch(scene, robot, name, size) for name in robot.touches]


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
