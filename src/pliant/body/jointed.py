"""Bodies with joints and ties as one tree of parts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from pliant.body.body import Body, Ids
from pliant.body.joining import GROUND, Joining
from pliant.body.joint import Joint, Tie, Weld
from pliant.body.joint_frames import JointFrames
from pliant.body.joint_motion import FRAME
from pliant.body.parts import Part
from pliant.body.tied import Ties, all_ties
from pliant.errors import InputError, PliantWarning

APART = 0.01
"""Welded parts farther from each other than this, over the size of the whole, are warned of."""


@dataclass(frozen=True)
class Jointed:
    """What joints make of bodies: parts, nodes (k,) that they hold besides, ties, and the frames of the joints that move, a
    body that comes after the others. joints: which part each of them holds, and whether that is a (1) or b (-1), by name (of
    welds 0). pairs: of numbers of bodies that are joined."""

    parts: tuple[Part, ...]
    held: Ids
    ties: Ties
    frames: JointFrames | None
    joints: Mapping[str, tuple[int, int]]
    pairs: frozenset[frozenset[int]]


def jointed(bodies: Mapping[str, Body], joints: Mapping[str, Joint | Tie]) -> Jointed:
    """The tree of parts of bodies and joints, or an InputError that names the joint that is wrong."""
    joining = Joining(bodies)
    ends: dict[str, tuple[int, int]] = {}
    pairs = set()
    for name, joint in joints.items():
        if isinstance(joint, Tie):
            pairs.add(frozenset({joining.body(joint.a[0], f"tie {name!r}"), joining.body(joint.b, f"tie {name!r}")}))
            continue
        if not isinstance(joint, Joint):
            raise InputError(
                f"{name!r} is a {type(joint).__name__}", remedy="give a Weld, Revolute, Ball, Slide or Tie"
            )
        (a, one), (b, other) = (joining.part(place, f"joint {name!r}") for place in (joint.a, joint.b))
        if a == b:
            raise InputError(
                f"joint {name!r} holds a part to itself"
                if a != GROUND
                else f"joint {name!r} holds the ground to itself",
                remedy="join two different parts, of which at most one is fixed",
            )
        ends[name] = (a, b)
        if GROUND not in (one, other) and one != other:
            pairs.add(frozenset({one, other}))
        if isinstance(joint, Weld):
            gap = joining.distance(joint.a, joint.b, f"joint {name!r}")
            if gap > APART * joining.size:
                warnings.warn(
                    f"joint {name!r} welds parts that are {gap:.3g} m apart at rest: they move together across the gap",
                    PliantWarning,
                    stacklevel=4,
                )
    merged = _weld(joining, joints, ends)
    order, parents = _oriented(joining, joints, ends, merged)
    return _as_parts(joining, joints, ends, merged, order, parents, frozenset(pairs))


def _weld(joining: Joining, joints: Mapping[str, Joint | Tie], ends: Mapping[str, tuple[int, int]]) -> list[int]:
    """The group that each group is one with, welds followed, or the ground."""
    merged = list(range(len(joining.groups)))

    def root(group: int) -> int:
        while group >= 0 and merged[group] != group:
            group = merged[group]
        return group

    for name, (a, b) in ends.items():
        if not isinstance(joints[name], Weld):
            continue
        a, b = root(a), root(b)
        if a == b:
            raise _loop([name], "welds what is one part already")
        if a == GROUND or (b != GROUND and b > a):
            a, b = b, a  # the later one joins the earlier one, or the ground
        merged[a] = b
        if b != GROUND:
            joining.groups[b].turns &= joining.groups[a].turns
    return [root(group) for group in range(len(merged))]


def _oriented(
    joining: Joining, joints: Mapping[str, Joint | Tie], ends: Mapping[str, tuple[int, int]], merged: list[int]
) -> tuple[list[int], dict[int, tuple[int, str]]]:
    """Groups in an order in which parents come before children, and of every child its parent and the joint between them."""
    edges: dict[int, list[tuple[int, str]]] = {}

    def root(group: int) -> int:
        return group if group == GROUND else merged[group]

    for group in sorted(set(merged) - {GROUND}):
        if not joining.groups[group].turns:  # it only shifts: its orientation is the ground's
            edges.setdefault(GROUND, []).append((group, ""))
            edges.setdefault(group, []).append((GROUND, ""))
    for name, (a, b) in ends.items():
        if isinstance(joints[name], Weld):
            continue
        a, b = root(a), root(b)
        way = _way(edges, a, b)
        if way is not None:
            raise _loop([name, *(found for found in way if found)], "close a loop" if any(way) else "closes a loop")
        edges.setdefault(a, []).append((b, name))
        edges.setdefault(b, []).append((a, name))
    order: list[int] = []
    parents: dict[int, tuple[int, str]] = {}
    seen = {GROUND}
    for start in [GROUND, *sorted(set(merged) - {GROUND})]:
        if start in seen and start != GROUND:
            continue
        seen.add(start)
        order += [start] * (start != GROUND)
        queue = [start]
        while queue:
            here = queue.pop(0)
            for there, name in edges.get(here, ()):
                if there not in seen:
                    seen.add(there)
                    parents[there] = (here, name)
                    order.append(there)
                    queue.append(there)
    return order, parents


def _way(edges: Mapping[int, Sequence[tuple[int, str]]], a: int, b: int) -> list[str] | None:
    """Names of the joints on the way from one group to another; None where there is none."""
    came: dict[int, tuple[int, str]] = {}
    queue = [a]
    while queue:
        here = queue.pop(0)
        if here == b:
            names = []
            while here != a:
                here, name = came[here]
                names.append(name)
            return names
        for there, name in edges.get(here, ()):
            if there not in came and there != a:
                came[there] = (here, name)
                queue.append(there)
    return None


def _loop(names: Sequence[str], what: str) -> InputError:
    said = " and ".join(map(repr, names))
    return InputError(
        f"joint{'s' * (len(names) > 1)} {said} {what}",
        remedy="leave one of them out, and hold its two points together by a port on both bodies with an imposed displacement: "
        "robot.impose(name, Force(point, towards=other), displacement=0.0, body=(a, b))",
        joints=tuple(names),
    )


def _as_parts(
    joining: Joining,
    joints: Mapping[str, Joint | Tie],
    ends: Mapping[str, tuple[int, int]],
    merged: list[int],
    order: list[int],
    parents: Mapping[int, tuple[int, str]],
    pairs: frozenset[frozenset[int]],
) -> Jointed:
    number = {group: k for k, group in enumerate(order)} | {GROUND: GROUND}
    members = {group: [g for g, own in enumerate(merged) if own == group] for group in (*order, GROUND)}
    nodes = {
        group: np.concatenate([np.empty(0, np.int64), *(joining.groups[g].nodes for g in members[group])])
        for group in members
    }
    moving = [name for name in ends if not isinstance(joints[name], Weld)]
    points = {}
    for name in moving:
        joint, (a, b) = joints[name], ends[name]
        assert isinstance(joint, Joint)
        own = nodes[merged[a] if a != GROUND else merged[b]]
        points[name] = joining.rest[own].mean(axis=0) if joint.point is None else joint.point
    frames = None
    if moving:
        chosen = [joint for name in moving if isinstance(joint := joints[name], Joint)]
        frames = JointFrames(chosen, np.array([points[name] for name in moving]), 0.05 * joining.size)
    begin = int(joining.begin[-1])
    sides: dict[int, list[Ids]] = {group: [] for group in members}
    for k, name in enumerate(moving):
        for side, end in enumerate(ends[name]):
            sides[merged[end] if end != GROUND else GROUND].append(
                begin + 2 * FRAME * k + FRAME * side + np.arange(FRAME)
            )
    parts, held_by = [], {}
    for group in order:
        every = np.concatenate([nodes[group], *sides[group]])
        name = " + ".join(joining.groups[g].name for g in members[group])
        parent, joint_name = parents.get(group, (GROUND, ""))
        if joint_name:
            joint = joints[joint_name]
            assert isinstance(joint, Joint)
            a = ends[joint_name][0]
            held_by[joint_name] = (number[group], 1 if a != GROUND and merged[a] == group else -1)
            parts.append(Part(name, every, points[joint_name], number[parent], joint.slides, joint.turns))
        else:
            turns = np.eye(3) if joining.groups[group].turns else np.zeros((3, 3))
            parts.append(Part(name, every, joining.rest[nodes[group]].mean(axis=0), turns=turns))
    for name, (a, b) in ends.items():
        if isinstance(joints[name], Weld):
            group = merged[a] if a != GROUND else merged[b]
            held_by[name] = (number[group], 0)
    held = np.concatenate([nodes[GROUND], *sides[GROUND]]).astype(np.int64)
    ties = all_ties(joining, {name: tie for name, tie in joints.items() if isinstance(tie, Tie)})
    return Jointed(tuple(parts), held, ties, frames, held_by, pairs)
