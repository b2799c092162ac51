"""What is drawn of obstacles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.contact import Obstacle, Plane, Solid, Sphere
from pliant.contact.obstacle_side import ObstacleSide
from pliant.robot import Robot
from pliant.shape import SurfaceMesh, solids

Array = NDArray[np.float64]

CELLS, MARGIN = 12, 0.5
"""Of the patch of a plane in a picture: cells along an edge; how far obstacles are drawn around robots, over their largest
extent."""


def surface_of(obstacle: Obstacle, half: float, cells: int = 1) -> SurfaceMesh:
    """The surface of an obstacle as seen from its own origin; of a plane a square patch of 2 half [m] in so many cells, around
    the place that is nearest to the origin."""
    if isinstance(obstacle, Solid):
        return obstacle.surface
    if isinstance(obstacle, Sphere):
        *center, radius = obstacle.encoded()[1]
        return solids.sphere(radius).translated(center)
    assert isinstance(obstacle, Plane)
    *normal, offset = obstacle.encoded()[1]
    n = np.array(normal)
    a = np.cross(n, np.eye(3)[np.abs(n).argmin()])
    a /= np.linalg.norm(a)
    b, steps = np.cross(n, a), np.linspace(-half, half, cells + 1)
    nodes = offset * n + steps[:, None, None] * a + steps[None, :, None] * b
    k = (np.arange(cells)[:, None] * (cells + 1) + np.arange(cells)).reshape(-1)
    quads = np.stack([k, k + cells + 1, k + cells + 2, k + 1], axis=1)
    return SurfaceMesh(nodes.reshape(-1, 3), np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]))


def grounds_around(robot: Robot, low: Array, high: Array) -> list[tuple[bool, Array]]:
    """The triangles (t, 3, 3) [m] of what the robot may touch, where it is now, around a box from low to high (3,) [m]; with
    whether it is ground (a plane, an open surface), which never hides a robot."""
    middle, half = 0.5 * (low + high), 0.5 * (high - low) + MARGIN * float((high - low).max())
    found, seen = [], set()
    for touch in robot.touches.values():
        side = touch.obstacle
        if side is None or id(side.obstacle) in seen:
            continue
        seen.add(id(side.obstacle))
        flat = isinstance(side.obstacle, Plane)
        surface = surface_of(side.obstacle, float(half.max()), CELLS)
        nodes = side.position + surface.nodes @ side.rotation.T
        if flat:
            nodes = nodes + _across(side, middle - nodes.mean(axis=0))
        corners = nodes[surface.triangles]
        if not flat:
            corners = corners[(np.abs(corners - middle) <= half).all(axis=(1, 2))]
        found.append((flat or not surface.is_closed, corners))
    return [(ground, corners) for ground, corners in found if len(corners)]


def _across(side: ObstacleSide, way: Array) -> Array:
    """A way (3,) along a plane."""
    normal = side.rotation @ np.array(side.obstacle.encoded()[1][:3])
    return np.asarray(way - (way @ normal) * normal)
