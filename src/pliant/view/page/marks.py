"""What the scene says in words and signs: names of cables, cavities and effectors, and where the robot is held."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from pliant.body import Body, Joint
from pliant.robot import Robot, State
from pliant.view.page.grips import Grip
from pliant.view.page.palette import HELD
from pliant.view.page.ports import DrawnPort

Array = NDArray[np.float64]

AWAY = 0.09
"""A name stands so far from what it names, relative to the robot's size."""
EDGE = 0.025
"""A clamp is larger than what it holds by this much of the robot's size on all sides."""


class Names:
    """The names of ports and effectors beside them, each with a thin line to what it names; they go along."""

    def __init__(
        self, scene: Any, ports: Sequence[DrawnPort], grips: Sequence[Grip], state: State, size: float, right: Array
    ) -> None:
        """right: to the right in the picture as one sees it first, a unit vector."""
        self._size = size
        self._ports = {port.name: port for port in ports}
        self._grips = {grip.name: grip for grip in grips}
        ways = {name: port.reach(state) for name, port in self._ports.items()}
        self._points = spread_points(ways)
        self._shifts = {name: AWAY * size * outwards(name, self._points, ways, right) for name in ways}
        left = -1.2 * AWAY * size * right
        self._shifts |= dict.fromkeys(self._grips, left)
        self._marks = {name: self._marked(scene, name, place) for name, place in self.anchors(state).items()}

    def _marked(self, scene: Any, name: str, place: Array) -> Any:
        """A line from a place, with the name at its end; the name of an effector is to the left, away from its arrows."""
        shift, path = self._shifts[name], f"/names/{name}"
        line = np.array([[np.zeros(3), 0.75 * shift]], np.float32)
        mark = scene.add_line_segments(path, line, colors=HELD, thickness=0.003 * self._size, position=place)
        scene.add_label(f"{path}/name", name, position=shift, anchor="center-center")
        return mark

    def anchors(self, state: State) -> dict[str, Array]:
        """What is named [m], [3]."""
        found = {name: self._ports[name].reach(state)[k] for name, k in self._points.items()}
        return found | {name: grip.place(state) for name, grip in self._grips.items()}

    def places(self, state: State) -> dict[str, Array]:
        """Where the names are [m], [3]."""
        return {name: place + self._shifts[name] for name, place in self.anchors(state).items()}

    def draw(self, state: State, visible: bool) -> None:
        """Move the names with what they name."""
        for name, place in self.anchors(state).items():
            mark = self._marks[name]
            if mark.visible != visible:
                mark.visible = visible
            if visible and np.abs(place - mark.position).max() > 1e-4 * self._size:
                mark.position = place


def spread_points(ways: Mapping[str, Array]) -> dict[str, int]:
    """Which point of each port [k, 3] to name it at, so that the names are far from each other.

    One port: at its middle. Several: the first far from the middle of all, each of the others far from those before.
    """
    if len(ways) == 1:
        ((name, way),) = ways.items()
        return {name: int(np.linalg.norm(way - way.mean(axis=0), axis=1).argmin())}
    chosen: dict[str, int] = {}
    taken: list[Array] = []
    for name, way in ways.items():
        if taken:
            gaps = np.linalg.norm(way[:, None] - np.array(taken)[None], axis=2).min(axis=1)
        else:
            gaps = np.linalg.norm(way - np.concatenate(list(ways.values())).mean(axis=0), axis=1)
        chosen[name] = int(gaps.argmax())
        taken.append(way[chosen[name]])
    return chosen


def outwards(name: str, points: Mapping[str, int], ways: Mapping[str, Array], right: Array) -> Array:
    """The direction from a port to its name: away from the ports around it; to the right where it is alone."""
    anchor = ways[name][points[name]]
    near = [way[np.linalg.norm(way - anchor, axis=1).argmin()] for way in ways.values()]
    away = anchor - np.mean(near, axis=0)
    length, span = float(np.linalg.norm(away)), float(np.ptp(np.concatenate(list(ways.values())), axis=0).max())
    return np.asarray(away / length if length > 1e-3 * span else right)


def held_boxes(robot: Robot, size: float) -> list[tuple[Array, Array]]:
    """Lowest and highest corners [3] of boxes around what is fixed, one for every piece that hangs together."""
    return [box for _, box in _clamps(robot, size)]


def _clamps(robot: Robot, size: float) -> list[tuple[bool, tuple[Array, Array]]]:
    """Boxes around what is fixed, and around joints to the ground; with whether a box is to be drawn."""
    found = [(body.deforms, box) for body in robot.bodies for box in _boxes_of(body, size)]
    for joint in robot.joints.values():
        if isinstance(joint, Joint) and joint.b is None and joint.point is not None:
            found.append((True, (joint.point - 2 * EDGE * size, joint.point + 2 * EDGE * size)))
    return found


def _boxes_of(body: Body, size: float) -> list[tuple[Array, Array]]:
    fixed = np.zeros(body.node_count, dtype=bool)
    fixed[body.supports.fixed] = True
    surface = body.surface()
    points = surface.positions(body.rest)
    held = np.asarray((fixed[surface.nodes] | (surface.weights == 0.0)).all(axis=1))
    triangles = surface.triangles[held[surface.triangles].all(axis=1)]
    edges = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]]]) if len(triangles) else np.zeros((0, 2), int)
    graph: Any = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(len(points),) * 2)
    _, piece = connected_components(graph, directed=False)
    boxes = []
    for number in np.unique(piece[triangles[:, 0]]) if len(triangles) else ():
        own = points[held & (piece == number)]
        boxes.append((own.min(axis=0) - EDGE * size, own.max(axis=0) + EDGE * size))
    return boxes


def mark_held(scene: Any, robot: Robot, size: float, up: Array) -> list[Any]:
    """Clamps where the robot is held, and a word beside each; the handles of the words. A rigid body that is fixed as a whole
    has no clamp: it is drawn itself, in another colour."""
    words: list[Any] = []
    for clamped, (low, high) in _clamps(robot, size):
        k, middle, extent = len(words), (low + high) / 2, high - low
        if clamped:
            scene.add_box(
                f"/held/{k}", color=HELD, dimensions=tuple(extent), position=middle, opacity=0.45, cast_shadow=False,
                receive_shadow=False,
            )  # fmt: skip
        top = middle + 0.5 * np.abs(extent @ np.abs(up)) * up
        words.append(
            scene.add_label(f"/held/{k}_word", "held", position=top, font_screen_scale=0.7, anchor="bottom-center")
        )
    return words
