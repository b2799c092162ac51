"""Joints as a graph: what is welded to what, and which part hangs on which."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pliant.body.joining import GROUND, Joining
from pliant.body.joint import Joint, Weld
from pliant.errors import InputError


def welded(joining: Joining, joints: Mapping[str, Joint], ends: Mapping[str, tuple[int, int]]) -> list[int]:
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


def oriented(
    joining: Joining, joints: Mapping[str, Joint], ends: Mapping[str, tuple[int, int]], merged: list[int]
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
        remedy="leave one of them out, and hold its two points together by a port with an imposed displacement: "
        "robot.impose(name, Point(near=p, against=p), displacement=(0, 0, 0), body=(a, b))",
        joints=tuple(names),
    )
