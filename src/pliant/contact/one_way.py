"""Points of one side against the wall that the other side is to them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.contact import _contact_kernels as kernels
from pliant.contact.contacts import Contacts, Remembered
from pliant.contact.side import Hits, PlacedSide, PlacedWall, Side, Wall

Array = NDArray[np.float64]
Ids = NDArray[np.int64]

CLOSE = 0.05
"""Points closer than this share of the edge may touch in a step, however slow they are."""
LATEST = 0.2
"""What is deeper than `CLOSE` comes out by no more than this share of the edge per step."""
AHEAD = 2.0
"""How many times as far as points go by themselves it is looked ahead: forces may make them faster."""


@dataclass(frozen=True, eq=False)
class OneWay:
    """Which points of one side are close to the other in a step, and what they do there.

    A point in sight is held out of the plane that touches the wall at its nearest place. Farther away than one edge that plane
    says little: there it counts what the point runs into on its way.
    """

    side: Side
    wall: Wall

    @property
    def edge(self) -> float:
        """The edge that small distances are shares of [m]."""
        return min(self.side.edge, self.wall.edge)

    def contacts(
        self, here: PlacedSide, there: PlacedWall, x: Array, ahead: Array, memory: Remembered, friction: float
    ) -> Contacts:
        """The points that may touch in a step, with both sides where they are, the nodes at x (n, 3) before it and at `ahead`
        (n, 3) where nothing stops them, on from what is remembered."""
        ids, gaps, hits = self._in_sight(here, there, x, ahead)
        return self._on_from(here, there, x, ahead, ids, gaps, hits, memory, friction)

    def _in_sight(self, here: PlacedSide, there: PlacedWall, x: Array, ahead: Array) -> tuple[Ids, Array, Hits]:
        close, radius, points = CLOSE * self.edge, self.side.radius, here.points
        steps = here.moved(ahead) - points
        drift, spread = there.drift(ahead)
        relative = steps - drift
        way = np.sqrt(np.einsum("pi,pi->p", relative, relative))
        reach = close + AHEAD * (way + spread)
        hits = there.hits(points, None if self.wall.is_flat else here.normals, reach + radius)
        ids = np.flatnonzero(hits.distances - radius <= reach)
        hits, moves = hits.chosen(ids), ahead - x
        gaps = hits.distances - radius
        place = there.carried(hits.faces, hits.materials)
        approach = np.einsum("ci,ci->c", hits.normals, steps[ids] - place._replace(offsets=np.zeros(3)).at(moves))
        near = gaps + AHEAD * np.minimum(approach, 0.0) <= close
        if not self.wall.is_flat:
            near &= gaps <= self.edge
            fast = np.flatnonzero((gaps > 0.0) & (way[ids] > close) & ~(near & (gaps + approach <= 0.0)))
            if len(fast):
                near, gaps, hits = self._crossing(there, points[ids], relative[ids], fast, near, gaps, hits)
        return ids[near], gaps[near], hits.chosen(near)

    def _crossing(
        self,
        there: PlacedWall,
        points: Array,
        steps: Array,
        fast: Ids,
        near: NDArray[np.bool_],
        gaps: Array,
        hits: Hits,
    ) -> tuple[NDArray[np.bool_], Array, Hits]:
        """What fast points run into, in place of what is nearest."""
        own, way = points[fast], steps[fast]
        first = own + self.side.radius * way / np.linalg.norm(way, axis=1)[:, None]
        found = there.crossed(first, AHEAD * way)
        which = np.isfinite(found.distances)
        found, to = found.chosen(which), fast[which]
        for part, new in zip(hits, found, strict=True):
            part[to] = new
        lead = np.einsum("ci,ci->c", found.normals, (own - first)[which])
        gaps[to], near[to] = found.distances + lead - self.side.radius, True
        return near, gaps, hits

    def _on_from(
        self,
        here: PlacedSide,
        there: PlacedWall,
        x: Array,
        ahead: Array,
        ids: Ids,
        gaps: Array,
        hits: Hits,
        memory: Remembered,
        friction: float,
    ) -> Contacts:
        count, keeps, edge = len(ids), self.side.keeps_points, self.edge
        frames, forces, origins, depths = np.empty((count, 3, 3)), *np.empty((2, count, 3)), np.empty(count)
        fresh, stuck_to, anchors = np.empty(count, bool), hits.faces.copy(), hits.materials.copy()
        kernels.fill_frames(hits.normals, frames)
        kernels.go_on(
            ids,
            frames,
            keeps,
            memory.ids,
            memory.forces,
            memory.faces,
            memory.anchors,
            forces,
            fresh,
            stuck_to,
            anchors,
        )
        (nodes, lifting, fixed), slipping = here.touching(ids, hits.normals, ahead)
        below, stuck = there.carried(hits.faces, hits.materials), there.carried(stuck_to, anchors)
        if below.nodes.shape[1]:
            none = np.zeros_like(below.weights)
            nodes = np.concatenate([nodes, below.nodes, stuck.nodes], axis=1)
            lifting = np.concatenate([lifting, -below.weights, none], axis=1)
            slipping = np.concatenate([slipping, none, -stuck.weights], axis=1)
        kernels.begin_rows(
            nodes,
            lifting,
            slipping,
            x,
            frames,
            stuck.offsets - fixed,
            gaps,
            keeps,
            CLOSE * edge,
            LATEST * edge,
            origins,
            depths,
        )
        return Contacts(
            ids, nodes, slipping, lifting, gaps, frames, origins, depths, hits.faces, stuck_to, anchors, forces, fresh,
            np.full(count, friction)
        )  # fmt: skip

    def remembered(self, here: PlacedSide, there: PlacedWall, contacts: Contacts, forces: Array) -> Remembered:
        """After a step that ended with both sides where they are and forces (c, 3) [N] along the frames: anchors are next to
        where points were after the first step, stay there where they stick, and go along where they slide."""
        own, forces, slides = contacts.holding(forces)
        goes, ways = slides | own.fresh, own.frames[:, 0]
        faces = np.where(goes, own.faces, own.stuck_to)
        points = here.points[own.ids] - self.side.radius * ways
        anchors = np.where(goes[:, None], there.material(faces, points), own.anchors)
        return Remembered(own.ids, np.einsum("cr,crk->ck", forces, own.frames), ways, faces, anchors, slides)
