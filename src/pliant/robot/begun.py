"""Where a step through time is linearized: a body that turns on as it turned is not strained by that.

A linear step along a rotation by theta stretches by theta^2 / 2 what only turns; the next one takes that for strain, and the
spin is lost. So a part that nothing holds is carried along, in the shape that it has, by the rotation that is to be expected:
what is left of the step is small. Rigid parts turn about where they will be, for the same reason.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.rotation import exponential, logarithm, nearest_rotation
from pliant.body import Assembly, Pose
from pliant.robot._begun_kernels import moments, turn
from pliant.robot.state import State
from pliant.robot.time_step import TimeStep

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Loose:
    """A piece that no support holds: its nodes, and which rigid parts belong to it."""

    nodes: Ids
    rigid: Ids


def loose_parts(assembly: Assembly) -> list[Loose]:
    """The pieces that no support holds."""
    return [Loose(nodes, parts) for nodes, parts in assembly.loose_pieces()]


def begun(assembly: Assembly, loose: list[Loose], state: State, step: TimeStep) -> tuple[Pose, Pose | None]:
    """The pose about which a step from a state is linearized, and the same with rigid parts where they will be about, None
    where there is nothing to turn. Backward Euler is linearized at the state itself."""
    if step.scheme == "euler":
        return state.pose, None
    pose = _carried(loose, state, step.h)
    if state.past is None or not len(pose.centers):
        return pose, None
    parts, now, before = assembly.parts, state.pose, state.past.pose
    way = np.zeros((assembly.coordinate_count, 3))
    parts.way(before.centers, before.rotations, now.centers, now.rotations, way)
    way *= step.h / state.past.h  # every joint goes on as it went
    if pose is not now:
        on = parts.moved(now.centers, now.rotations, way)
        parts.way(pose.centers, pose.rotations, *on, way)
    return pose, assembly.moved(pose, way)


def _carried(loose: list[Loose], state: State, h: float) -> Pose:
    """The pose after h [s] if every loose part only moved on and turned on."""
    pose = state.pose
    if not loose or not (state.v.any() or state.past is not None):
        return pose
    x, centers, rotations = pose.x.copy(), pose.centers.copy(), pose.rotations.copy()
    for part in loose:
        middle, goal, rotation = _rigid_motion(part, state, h)
        turn(part.nodes, pose.x, middle, rotation, goal, x)
        turn(part.rigid, pose.centers, middle, rotation, goal, centers)
        rotations[part.rigid] = rotation @ pose.rotations[part.rigid]
    return Pose(x, centers, rotations)


def _rigid_motion(part: Loose, state: State, h: float) -> tuple[Array, Array, Array]:
    """The middle of a loose part's nodes, where it is to be after h [s], (3,) [m] each, and how the part is to turn, (3, 3).

    It turns as it did in the step before: in a steady spin that is what the next one does, to rounding, which matters where
    bodies are stiff. Without a past, by its angular velocity. Both are fits with nodes that count alike.
    """
    x, v, past, nodes = state.x, state.v, state.past, part.nodes
    middle, drift, product = np.empty(3), np.empty(3), np.empty((3, 3))
    moments(nodes, v, v, drift, product)
    if past is not None:
        moments(nodes, x, past.pose.x, middle, product)
        angle = h / past.h * logarithm(nearest_rotation(product))
        return middle, middle + h * drift, exponential(angle)
    moments(nodes, x, x, middle, product)
    inertia = np.trace(product) * np.eye(3) - product
    inertia += (1e-9 * np.trace(inertia) + 1e-300) * np.eye(3)  # nodes in a line, or a single one, turn about nothing
    moments(nodes, x, v, middle, product)
    return middle, middle + h * drift, exponential(h * np.linalg.solve(inertia, moment_of(product)))


def moment_of(product: Array) -> Array:
    """sum r x f (3,) from sum r f^T (3, 3)."""
    return np.array([product[1, 2] - product[2, 1], product[2, 0] - product[0, 2], product[0, 1] - product[1, 0]])
