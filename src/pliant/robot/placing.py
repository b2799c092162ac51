"""A robot put elsewhere as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.rotation import from_quaternion
from pliant.body import Pose
from pliant.contact import Remembered, Touch
from pliant.robot.state import State

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RigidMotion:
    """x -> to + R (x - at), with places at, to (3,) [m] and a rotation R (3, 3)."""

    at: Array
    to: Array
    R: Array

    @classmethod
    def between(cls, reading: Array, other: Array) -> RigidMotion:
        """The one that takes a reading of a frame, position and quaternion wxyz (7,), to another."""
        before, after = (from_quaternion(own[3:] / np.linalg.norm(own[3:])) for own in (reading, other))
        return cls(reading[:3], other[:3], after @ before.T)

    def points(self, x: Array) -> Array:
        """Of points (n, 3) [m]."""
        return np.asarray(self.to + (x - self.at) @ self.R.T)

    def vectors(self, v: Array) -> Array:
        """Of vectors (n, 3)."""
        return np.asarray(v @ self.R.T)

    def pose(self, pose: Pose) -> Pose:
        """Of a pose."""
        return Pose(self.points(pose.x), self.points(pose.centers), self.R @ pose.rotations)

    def state(self, state: State, touches: Mapping[str, Touch]) -> State:
        """Of a state with all that it remembers."""
        past = state.past
        if past is not None:
            past = replace(
                past,
                pose=self.pose(past.pose),
                acceleration=self.vectors(past.acceleration),
                lagging=self.vectors(past.lagging),
            )
        contacts = {name: self._contacts(own, touches[name]) for name, own in state.contacts.items()}
        return replace(state, pose=self.pose(state.pose), v=self.vectors(state.v), past=past, contacts=contacts)

    def _contacts(self, own: Remembered, touch: Touch) -> Remembered:
        """Places of obstacles that the robot sticks to go along with it; those of bodies are material."""
        anchors = own.anchors
        if touch.obstacle is not None:
            there = self.points(touch.obstacle.carried(own.faces, anchors).offsets)
            ours = (touch.sign(own.ids) > 0.0)[:, None]
            anchors = np.where(ours, touch.obstacle.material(own.faces, there), anchors)
        return replace(own, forces=self.vectors(own.forces), normals=self.vectors(own.normals), anchors=anchors)
