"""Bodies with joints and ties as one tree of parts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pliant.body.body import Array, Body, Ids
from pliant.body.joining import GROUND, Joining
from pliant.body.joint import Joint, Tie, Weld
from pliant.body.joint_frames import JointFrames
from pliant.body.joint_graph import oriented, welded
from pliant.body.joint_motion import FRAME
from pliant.body.parts import Part
from pliant.body.tied import Ties, all_ties
from pliant.errors import InputError, PliantWarning

SIZE = 0.05
"""Size of the frames of joints, over the size of the whole."""
APART = 0.01
"""Welded parts farther from each other than this, over the size of the whole, are warned of."""


@dataclass(frozen=True)
class Jointed:
    """What joints make of bodies: parts, nodes (k,) that they hold besides, ties, and the frames of the joints that move, a
    body that comes after the others. joints: which part each of them holds, and whether that is a (1) or b (-1), by name (of
    welds 0); clamps: nodes of what is welded to the ground, by the weld. pairs: of numbers of bodies that are joined."""

    parts: tuple[Part, ...]
    held: Ids
    ties: Ties
    frames: JointFrames | None
    joints: Mapping[str, tuple[int, int]]
    clamps: Mapping[str, Ids]
    pairs: frozenset[frozenset[int]]


def jointed(bodies: Mapping[str, Body], joints: Mapping[str, Joint | Tie]) -> Jointed:
    """The tree of parts of bodies and joints, or an InputError that names the joint that is wrong."""
    joining = Joining(bodies)
    held = {name: joint for name, joint in joints.items() if not isinstance(joint, Tie)}
    ties = {name: tie for name, tie in joints.items() if isinstance(tie, Tie)}
    ends = {name: _ends(joining, name, joint) for name, joint in held.items()}
    merged = welded(joining, held, ends)
    order, parents = oriented(joining, held, ends, merged)
    tree = _Tree(joining, held, ends, merged, order)
    parts, holders = tree.parts(parents)
    pairs = {
        frozenset(joining.body_of(place, name) for place in (joint.a, joint.b))
        for name, joint in joints.items()
        if joint.b is not None
    }
    return Jointed(
        parts,
        np.concatenate([tree.nodes[GROUND], *tree.sides[GROUND]]).astype(np.int64),
        all_ties(joining, ties),
        tree.frames,
        holders,
        tree.clamps(),
        frozenset(pair for pair in pairs if len(pair) == 2),
    )


def _ends(joining: Joining, name: str, joint: Joint) -> tuple[int, int]:
    """The groups that a joint holds together; warns of a weld across a gap."""
    if not isinstance(joint, Joint):
        raise InputError(f"{name!r} is a {type(joint).__name__}", remedy="give a Weld, Revolute, Ball, Slide or Tie")
    who = f"joint {name!r}"
    a, b = (joining.part(place, who) for place in (joint.a, joint.b))
    if a == b:
        raise InputError(
            f"{who} holds {'the ground' if a == GROUND else 'a part'} to itself",
            remedy="join two different parts, of which at most one is fixed",
        )
    gap = joining.distance(joint.a, joint.b, who) if isinstance(joint, Weld) else 0.0
    if gap > APART * joining.size:
        warnings.warn(
            f"{who} welds parts that are {gap:.3g} m apart at rest: they move together across the gap",
            PliantWarning,
            stacklevel=5,
        )
    return a, b


class _Tree:
    """Groups that are parts, in the order of the tree, with the frames that joints have on them."""

    def __init__(
        self,
        joining: Joining,
        joints: Mapping[str, Joint],
        ends: Mapping[str, tuple[int, int]],
        merged: list[int],
        order: list[int],
    ) -> None:
        self._joining, self._joints, self._ends, self._merged, self._order = joining, joints, ends, merged, order
        self._members = {group: [g for g, own in enumerate(merged) if own == group] for group in (*order, GROUND)}
        none = np.empty(0, np.int64)
        self.nodes = {
            group: np.concatenate([none, *(joining.groups[g].nodes for g in own)])
            for group, own in self._members.items()
        }
        """Of every part, and of the ground, the nodes of bodies on it."""
        self._points = {name: self._point(name) for name, joint in joints.items() if not isinstance(joint, Weld)}
        self.frames = self._frames()
        self.sides = self._sides()
        """Of every part, and of the ground, the nodes of joints on it."""

    def _root(self, group: int) -> int:
        return group if group == GROUND else self._merged[group]

    def _point(self, name: str) -> Array:
        """Where a joint holds at rest: as given, or in the middle of what it holds."""
        point, (a, b) = self._joints[name].point, self._ends[name]
        own = self.nodes[self._root(a if a != GROUND else b)]
        return np.asarray(self._joining.rest[own].mean(axis=0) if point is None else point)

    def _frames(self) -> JointFrames | None:
        if not self._points:
            return None
        chosen = [self._joints[name] for name in self._points]
        return JointFrames(chosen, np.array(list(self._points.values())), SIZE * self._joining.size)

    def _sides(self) -> dict[int, list[Ids]]:
        out: dict[int, list[Ids]] = {group: [] for group in self._members}
        first = int(self._joining.begin[-1])
        for name in self._points:
            for end in self._ends[name]:
                out[self._root(end)].append(first + np.arange(FRAME))
                first += FRAME
        return out

    def parts(self, parents: Mapping[int, tuple[int, str]]) -> tuple[tuple[Part, ...], dict[str, tuple[int, int]]]:
        """All parts, and which of them each joint holds (see `Jointed.joints`)."""
        number = {group: k for k, group in enumerate(self._order)} | {GROUND: GROUND}
        parts = []
        holders = {name: (number[self._root(a)], 0) for name, (a, _) in self._ends.items()}
        for group in self._order:
            every = np.concatenate([self.nodes[group], *self.sides[group]])
            called = " + ".join(self._joining.groups[g].name for g in self._members[group])
            parent, name = parents.get(group, (GROUND, ""))
            if name:
                joint = self._joints[name]
                holders[name] = number[group], 1 if self._root(self._ends[name][0]) == group else -1
                parts.append(Part(called, every, self._points[name], number[parent], joint.slides, joint.turns))
            else:
                turns = np.eye(3) if self._joining.groups[group].turns else np.zeros((3, 3))
                parts.append(Part(called, every, self._joining.center(self.nodes[group]), turns=turns))
        return tuple(parts), holders

    def clamps(self) -> dict[str, Ids]:
        """Nodes of what is welded to the ground, by the weld."""
        return {
            name: self._joining.groups[max(ends)].nodes
            for name, ends in self._ends.items()
            if isinstance(self._joints[name], Weld) and GROUND in ends
        }
