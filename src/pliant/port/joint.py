"""Ports on joints: the angle of a hinge, the way of a slide, wherever its parts go."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from typing import ClassVar

import numpy as np

from pliant.body import Body
from pliant.body.joint_frames import JointFrames
from pliant.body.joint_motion import angle, way
from pliant.errors import InputError
from pliant.port.port import Array, Port
from pliant.port.region import all_pairs


class JointPort(Port):
    """The motion of a joint of the robot: its part a as seen from its part b, by the four nodes that it has on each."""

    motion: ClassVar[str]
    """What a joint must do to have such a port: "angle" or "way"."""
    joints: ClassVar[str]
    """The joints that do."""

    def __init__(self, joint: str) -> None:
        """joint: its name in the robot."""
        if not isinstance(joint, str) or not joint:
            raise InputError(f"the joint of a port is {joint!r}", remedy="give the name that it has in the robot")
        self.joint = joint
        self._size = 1.0

    def on(self, frames: JointFrames, number: int) -> JointPort:
        """The port on the frames of a robot's joints."""
        if frames.joints[number].motion != self.motion:
            raise InputError(
                f"joint {self.joint!r} is a {type(frames.joints[number]).__name__}",
                remedy=f"a {type(self).__name__} is for a {self.joints}",
            )
        attached = copy(self)
        attached.nodes = frames.nodes_of(number)
        attached.points, attached._size = frames.rest[attached.nodes], frames.size
        attached.curved_pairs = all_pairs(len(attached.nodes))
        return attached

    def seen_by(self, body: Body) -> JointPort:
        """Itself, on the frames of joints; other bodies have none."""
        if self.nodes is None:
            raise InputError(f"there is no joint {self.joint!r}", remedy="give the robot joints={name: Revolute(...)}")
        return self

    @abstractmethod
    def _at(self, p: Array, curved: bool = False) -> tuple[Array, Array, Array]:
        """The motion with its slope (8, 3) and, where it is asked for, its curvature (8, 3, 8, 3)."""

    def displacement(self, p: Array) -> Array:
        return np.array([self._at(p)[0]])

    def slope(self, p: Array) -> Array:
        return self._at(p)[1][None]

    def curvature(self, p: Array, efforts: Array) -> Array:
        """The blocks of the eight nodes."""
        rows, cols = self.curved_pairs.T
        return np.asarray(float(efforts[0]) * self._at(p, curved=True)[2].transpose(0, 2, 1, 3)[rows, cols])


class HingeOnJoint(JointPort):
    """Torque [N m] in a `Revolute`, of b on a about the axis, and its angle [rad], -pi to pi."""

    effort_unit: ClassVar[str] = "N m"
    displacement_unit: ClassVar[str] = "rad"
    motion = "angle"
    joints = "Revolute"

    def _at(self, p: Array, curved: bool = False) -> tuple[Array, Array, Array]:
        return angle(p, curved=curved)


class Slider(JointPort):
    """Force [N] in a `Slide`, of b on a along its direction, and the way [m] that a has gone from rest."""

    effort_unit: ClassVar[str] = "N"
    displacement_unit: ClassVar[str] = "m"
    motion = "way"
    joints = "Slide"

    def _at(self, p: Array, curved: bool = False) -> tuple[Array, Array, Array]:
        return way(p, self._size)
