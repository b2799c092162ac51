"""The picture goes along with a robot that travels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.rotation import to_quaternion
from pliant.robot import Robot, State
from pliant.robot.roles import Role

Array = NDArray[np.float64]


def travels(robot: Robot, state: State) -> bool:
    """Whether nothing holds the robot in space: no support, no joint to the ground, and no displacement that is given and would
    be another one if all of it moved."""
    supports = [body.supports for body in robot.bodies]
    if any(len(own.fixed) or len(own.prescribed) or own.sliding for own in supports):
        return False
    if any(joint.b is None for joint in robot.joints.values()):
        return False
    for name in robot.named(Role.HELD):
        attachment = robot.ports[name].attachment
        here, *there = (attachment.at(state.x + robot.size * way).displacement for way in (np.zeros(3), *np.eye(3)))
        if any(np.abs(moved - here).max() > 1e-6 * robot.size for moved in there):
            return False
    return True


class Along:
    """How far a robot has gone from where it was at first, as far as the picture goes along.

    Sideways that is all of it. Upwards and downwards it is what exceeds the robot's size: what falls or hops is seen to.
    """

    def __init__(self, robot: Robot, state: State, up: Array, size: float) -> None:
        """state: at first; up: a unit vector; size: of the robot [m]."""
        masses = robot.equations.masses
        self._weights = masses / masses.sum() if masses.sum() > 0.0 else np.full(len(masses), 1.0 / len(masses))
        self._home, self._up, self._size = self._weights @ state.x, up, size

    def way(self, state: State) -> Array:
        """From where the picture was at first, (3,) [m]."""
        gone = np.asarray(self._weights @ state.x - self._home)
        rise = float(gone @ self._up)
        return gone - float(np.clip(rise, -self._size, self._size)) * self._up


class Stage:
    """The world behind the picture. It moves, not the cameras: every visitor keeps the view that he chose, and may turn and
    zoom it on the way."""

    def __init__(self, server: Any, up: Array) -> None:
        """server: with the camera of the first view in place; up: a unit vector."""
        camera = server.initial_camera
        self._server, self._gone = server, np.zeros(3)
        self._look_at, self._position = np.array(camera.look_at), np.array(camera.position)
        self._rotation = _upright(up)
        self._say("SetOrientationMessage", to_quaternion(self._rotation))
        server.on_client_connect(self._welcome)

    def show(self, way: Array) -> None:
        """What is so far (3,) [m] from what is in the middle at first is there now; also for who asks for the first view
        again."""
        if np.abs(way - self._gone).max() < 1e-9:
            return
        self._gone = way.copy()
        camera = self._server.initial_camera
        self._say("SetPositionMessage", -self._rotation @ way)
        camera.look_at, camera.position = self._look_at + way, self._position + way

    def _welcome(self, client: Any) -> None:
        """Who comes later sees it from where all did: his browser has looked where it was before it knew of any way."""
        client.camera.position, client.camera.look_at = self._position + self._gone, self._look_at + self._gone

    def _say(self, kind: str, value: Array) -> None:
        """A message about the root of the scene, for which the server has no call."""
        from viser import _messages

        numbers = tuple(float(number) for number in value)
        self._server.scene._queue_scene_message(getattr(_messages, kind)("", numbers))


def _upright(up: Array) -> Array:
    """A rotation that takes `up` to y, which is up for browsers."""
    side = np.cross(up, np.eye(3)[np.abs(up).argmin()])
    side /= np.linalg.norm(side)
    return np.array([side, up, np.cross(side, up)])
