"""What a port of a robot is on: a body, several, or a joint."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from pliant.body import Body, Joint, Several, Tie, Weld
from pliant.body.joint_frames import BOTH, JointFrames
from pliant.errors import InputError
from pliant.port import JointPort, Port
from pliant.robot.mounted import errors_about

BodyLike: TypeAlias = "str | Body | Sequence[str | Body] | None"
"""The body that a port is on, by name or itself; one per point of the port; or None for the only one there is."""


class PortPlace(NamedTuple):
    """A port as it is where it is: on a body, whose first node has a number and which has a name, or names."""

    port: Port
    body: Body
    first_node: int
    name: str | tuple[str, ...] | None


class Places:
    """The bodies and joints of a robot, by what a user calls them."""

    def __init__(
        self, bodies: Mapping[str, Body], joints: Mapping[str, Joint | Tie], frames: JointFrames | None
    ) -> None:
        self.names, self.bodies, self._frames = tuple(bodies), tuple(bodies.values()), frames
        self._moving = [name for name, joint in joints.items() if not isinstance(joint, Tie | Weld)]
        counts = [body.node_count for body in self.bodies]
        self.first_nodes = np.concatenate([[0], np.cumsum(counts)]).astype(int)
        """Number of the first node of each body, and then of the joints' frames."""

    def of(self, port: Port, body: BodyLike, who: str) -> PortPlace:
        """Where a port is, or an InputError that names who it is."""
        if isinstance(port, JointPort):
            return self._on_joint(port, who)
        if isinstance(body, Sequence) and not isinstance(body, str):
            if not port.spans:
                raise InputError(
                    f"{who} is a {type(port).__name__}, which is on one body", remedy="give body= that one"
                )
            numbers = [self.number(one, who) for one in body]
            rest = np.concatenate([own.rest for own in self.bodies])
            firsts = [int(self.first_nodes[k]) for k in numbers]
            names = tuple(self.names[k] for k in numbers)
            return PortPlace(port, Several([self.bodies[k] for k in numbers], firsts, rest), 0, names)
        number = self.number(body, who)
        return PortPlace(port, self.bodies[number], int(self.first_nodes[number]), self.names[number])

    def _on_joint(self, port: JointPort, who: str) -> PortPlace:
        if self._frames is None or port.joint not in self._moving:
            raise InputError(
                f"{who} is on joint {port.joint!r}",
                remedy=f"the joints that move are {', '.join(map(repr, self._moving)) or 'none'}",
            )
        with errors_about(who):
            own = port.on(self._frames, self._moving.index(port.joint))
        return PortPlace(own, self._frames, int(self.first_nodes[-1]), None)

    def frames_of(self, joint: str) -> slice:
        """The nodes of the frames of a joint that moves."""
        first = int(self.first_nodes[-1]) + BOTH * self._moving.index(joint)
        return slice(first, first + BOTH)

    def number(self, body: str | Body | None, who: str) -> int:
        """Which body is meant: by name, by itself, or the only one."""
        names = self.names
        if body is None and len(names) == 1:
            return 0
        found = [k for k, own in enumerate(self.bodies) if body is own or (isinstance(body, str) and body == names[k])]
        if len(found) != 1:
            said = "no body" if body is None else f"body {body!r}"
            raise InputError(
                f"{who} is on {said}" + (", of which there are several" if found else ""),
                remedy=f"give body= one of {', '.join(map(repr, names))}, or the body itself",
            )
        return found[0]


def named_joints(joints: Any) -> dict[str, Joint | Tie]:
    """Joints by name, from what a user gives."""
    if isinstance(joints, Mapping) and all(isinstance(name, str) and name for name in joints):
        return dict(joints)
    if not isinstance(joints, Sequence) or isinstance(joints, str):
        raise InputError(f"joints are {joints!r}", remedy="give a list of joints, or {name: joint}")
    return {f"joint {k}": joint for k, joint in enumerate(joints)}


def named_bodies(bodies: tuple[Any, ...]) -> dict[str, Body]:
    """Bodies by name, from what a user gives."""
    if len(bodies) == 1 and isinstance(bodies[0], Mapping):
        named = dict(bodies[0])
    else:
        named = {f"body {k}": body for k, body in enumerate(bodies)}
    if not named or not all(isinstance(name, str) and isinstance(body, Body) for name, body in named.items()):
        raise InputError("a robot needs at least one body", remedy="give bodies such as TetBody(mesh, law)")
    return named
