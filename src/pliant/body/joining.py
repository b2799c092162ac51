"""The places that joints hold, as groups of nodes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pliant.body.body import Array, Body, Ids, node_indices
from pliant.body.joint import Place
from pliant.errors import InputError

GROUND = -1


@dataclass
class Group:
    """Nodes that are one part: its name, and which entries of a joint it may turn about by itself."""

    name: str
    nodes: Ids
    turns: bool = True


class Joining:
    """Bodies, and the parts of them that joints hold."""

    def __init__(self, bodies: Mapping[str, Body]) -> None:
        self.names, self.bodies = list(bodies), list(bodies.values())
        self.begin = np.concatenate([[0], np.cumsum([body.node_count for body in self.bodies])]).astype(np.int64)
        self.rest = np.concatenate([body.rest for body in self.bodies])
        self._masses = np.concatenate([body.load_masses for body in self.bodies])
        self.size = float(np.ptp(np.concatenate([body.outline for body in self.bodies]), axis=0).max())
        self.owner = np.full(len(self.rest), -2, np.int64)
        """Group of each node; -1: fixed, -2: free by itself, -3: held in another way."""
        self.groups: list[Group] = []
        for called, first, body in zip(self.names, self.begin, self.bodies, strict=False):
            supports = body.supports
            self.owner[first + supports.fixed] = GROUND
            for ids in (supports.prescribed, *(ids for ids, _ in supports.sliding)):
                self.owner[first + ids] = -3
            for name, ids in supports.rigid.items():
                own = name if body.deforms else called
                self._new(Group(own, first + ids, name not in supports.unturned))

    def center(self, nodes: Ids) -> Array:
        """The centre of mass of nodes at rest (3,) [m]: what nothing pushes turns about it without going anywhere, however long
        a step is. The middle of nodes without mass."""
        masses = self._masses[nodes]
        total = float(masses.sum())
        return np.asarray(masses @ self.rest[nodes] / total if total > 0.0 else self.rest[nodes].mean(axis=0))

    def _new(self, group: Group) -> int:
        self.owner[group.nodes] = len(self.groups)
        self.groups.append(group)
        return len(self.groups) - 1

    def body(self, which: object, who: str) -> int:
        """The number of a body, by name or itself."""
        found = [k for k, own in enumerate(self.bodies) if which is own or which == self.names[k]]
        if len(found) != 1:
            raise InputError(
                f"{who} is on {which!r}", remedy=f"give one of {', '.join(map(repr, self.names))}, or the body itself"
            )
        return found[0]

    def nodes(self, place: Place, who: str) -> tuple[int, Ids]:
        """Which body a place is on, and its nodes in the numbering of the whole."""
        which, where = place if isinstance(place, tuple) else (place, None)
        number = self.body(which, who)
        body, first = self.bodies[number], self.begin[number]
        if where is None:
            if body.deforms:
                raise InputError(
                    f"{who} is on {self.names[number]!r}, which deforms",
                    remedy=f"say where: ({self.names[number]!r}, mesh.where(...)), or the name of a rigid part",
                )
            return number, first + np.arange(body.node_count)
        if isinstance(where, str):
            return number, first + body.part_nodes(where, f"{who} on {self.names[number]!r}")
        ids = node_indices(where, body.node_count, who)
        if not len(ids):
            raise InputError(f"{who} is on no node", remedy="choose nodes, with mesh.where(...)")
        return number, first + body.completed(ids)

    def body_of(self, place: Place, who: str) -> int:
        """The number of the body that a place is on."""
        return self.body(place[0] if isinstance(place, tuple) else place, who)

    def part(self, place: Place | None, who: str) -> int:
        """The group that a place is, made where there is none yet, or the ground."""
        if place is None:
            return GROUND
        number, nodes = self.nodes(place, who)
        owners = np.unique(self.owner[nodes])
        if len(owners) > 1 or owners[0] == -3:
            at = nodes[self.owner[nodes] == owners[-1]][0] - self.begin[number]
            raise InputError(
                f"{who}: node {at} of {self.names[number]!r} is held in another way already",
                remedy="hold each node in one way, or give all nodes of one rigid part",
            )
        if owners[0] != -2:
            return int(owners[0])
        self._require_extent(nodes, who)
        return self._new(Group(f"{self.names[number]} at {who}", nodes))

    def _require_extent(self, nodes: Ids, who: str) -> None:
        spread = np.linalg.svd(self.rest[nodes] - self.rest[nodes].mean(axis=0), compute_uv=False)
        if len(nodes) < 3 or not spread[1] > 1e-9 * max(spread[0], 1e-300):
            raise InputError(
                f"{who} holds {len(nodes)} nodes, all on one line", remedy="choose three or more that are not on a line"
            )

    def distance(self, a: Place, b: Place | None, who: str) -> float:
        """How far two welded places are from each other at rest [m]; 0 to the ground, within a solid, and for a rigid body
        without a surface, of which nobody knows where it ends."""
        if b is None:
            return 0.0
        from scipy.spatial import cKDTree

        one, other = self._points(a, who), self._points(b, who)
        for place, points in ((a, other), (b, one)):
            body = self.bodies[self.nodes(place, who)[0]]
            if not body.deforms and (not len(body.surface().triangles) or body.contains(points).any()):
                return 0.0
        return float(cKDTree(one).query(other)[0].min())

    def _points(self, place: Place, who: str) -> Array:
        number, nodes = self.nodes(place, who)
        surface = self.bodies[number].surface()
        if not isinstance(place, tuple) and len(surface.triangles):
            corners = surface.positions(self.bodies[number].rest)
            return np.concatenate([corners, corners[surface.triangles].mean(axis=1)])
        return np.asarray(self.rest[nodes])
