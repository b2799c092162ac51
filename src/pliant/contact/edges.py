"""Edges of two surfaces that cross between their points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.contact import _contact_kernels
from pliant.contact import _edge_kernels as kernels
from pliant.contact.contacts import Contacts, Remembered
from pliant.contact.one_way import AHEAD, CLOSE, LATEST
from pliant.contact.side import PlacedTriangles
from pliant.shape.facets import PlacedFacets

Array = NDArray[np.float64]
Ids = NDArray[np.int64]

SHARP = 0.1
"""Edges at which a surface turns outwards by less than this are no edges: the points around tell all [rad]."""
BELOW = 0.1
"""By how much a normal may be out of the normal cone of an edge [rad]."""
ROUNDING = 1e-9
"""Gaps below zero by less than this share of the edge are none."""
OUTSIDE = 0.1
"""Edges that have passed each other are outside the other body by less than this share of how far they have."""
ROOM = 64
"""For pairs of edges, at first."""


@dataclass(frozen=True, eq=False)
class SharpEdges:
    """Edges of facets where they turn outwards: nodes (e, 2), triangles beside them (e, 2), and which corners of the first
    triangle the nodes are (e, 2)."""

    nodes: Ids
    faces: Ids
    corners: Ids

    @classmethod
    def of(cls, placed: PlacedFacets) -> SharpEdges:
        """Of a surface as it is."""
        facets = placed.facets
        triangles, beside = facets.triangles, facets.beside
        face, corner = np.nonzero(beside > np.arange(len(triangles))[:, None])
        other = beside[face, corner]
        ends = np.stack([(corner + 1) % 3, (corner + 2) % 3], axis=1)
        own, their = placed.normals[face], placed.normals[other]
        turn = np.arctan2(np.linalg.norm(np.cross(own, their), axis=1), np.einsum("ei,ei->e", own, their))
        tip = placed.corners[other].mean(axis=1) - placed.corners[face, ends[:, 0]]
        sharp = (turn > SHARP) & (np.einsum("ei,ei->e", own, tip) < 0.0)
        face, other, ends = face[sharp], other[sharp], ends[sharp]
        return cls(triangles[face[:, None], ends], np.stack([face, other], axis=1), ends)

    def into(self, placed: PlacedFacets, which: Ids) -> Array:
        """Of some edges (m,): from the edge into the triangles beside it, across it, (m, 2, 3), and a little below them: faces
        that lie on each other have edges that cross, whatever rounding and strain make of it."""
        first = placed.corners[self.faces[which, 0][:, None], self.corners[which]]
        along = first[:, 1] - first[:, 0]
        along /= np.maximum(np.linalg.norm(along, axis=1), 1e-300)[:, None]
        into = placed.corners[self.faces[which]].mean(axis=2) - first[:, :1]
        into -= np.einsum("mki,mi->mk", into, along)[:, :, None] * along[:, None]
        into /= np.maximum(np.linalg.norm(into, axis=2), 1e-300)[:, :, None]
        return np.asarray(into - BELOW * placed.normals[self.faces[which]])

    def shares(self, which: Ids, where: Array) -> Array:
        """Weights (m, 3) of the corners of their first triangles, of places at shares (m,) of the way along some edges (m,)."""
        out, rows = np.zeros((len(which), 3)), np.arange(len(which))
        out[rows, self.corners[which, 0]], out[rows, self.corners[which, 1]] = 1.0 - where, where
        return out


class Crossings(NamedTuple):
    """Pairs of edges that are about to cross: their numbers (c,), those of both edges (c, 2), shares of the way along them
    (c, 2), gaps (c,) [m] and normals out of the second (c, 3)."""

    ids: Ids
    pairs: Ids
    where: Array
    gaps: Array
    normals: Array

    def chosen(self, which: NDArray[np.bool_]) -> Crossings:
        """Some of them."""
        return Crossings(self.ids[which], self.pairs[which], self.where[which], self.gaps[which], self.normals[which])


@dataclass(frozen=True, eq=False)
class EdgeWay:
    """Sharp edges of one side against those of the other.

    Two edges touch where the line that is across both leads out of both surfaces: the gap is along it. Another pair of places
    at every step, so what sticks is held for a step only.
    """

    first: SharpEdges
    second: SharpEdges
    edge: float

    def crossings(self, here: PlacedTriangles, there: PlacedTriangles, ahead: Array, close: float) -> Crossings:
        """Pairs that are as close as that [m], or will be on their way to where nodes go, `ahead` (n, 3)."""
        a, b = here.surface, there.surface
        reach = close + self.edge
        own, other = _within(self.first, a, b, reach), _within(self.second, b, a, reach)
        p, q = here.nodes[self.first.nodes[own]], there.nodes[self.second.nodes[other]]
        into, into_other = self.first.into(a, own), self.second.into(b, other)
        step = here.nodes_at(ahead)[self.first.nodes[own]] - p
        step_other = there.nodes_at(ahead)[self.second.nodes[other]] - q
        count = room = ROOM
        while count == room:  # as long as there may be more
            room *= 2
            chosen, where = np.empty((room, 2), np.int64), np.empty((room, 2))
            gaps, normals = np.empty(room), np.empty((room, 3))
            count = kernels.crossing_edges(
                p, into, step, q, into_other, step_other, close, AHEAD, self.edge, chosen, where, gaps, normals
            )
        pairs = np.stack([own[chosen[:count, 0]], other[chosen[:count, 1]]], axis=1)
        ids = pairs[:, 0] * len(self.second.nodes) + pairs[:, 1]
        order = np.argsort(ids)
        found = Crossings(ids[order], pairs[order], where[:count][order], gaps[:count][order], normals[:count][order])
        past = found.gaps < -ROUNDING * self.edge
        if not past.any():
            return found
        # edges on the far sides of two bodies look as if they had passed each other, too, but are well outside
        true = ~past
        true[past] = b.hits(self.points(here, found)[past]).distances < -OUTSIDE * found.gaps[past]
        return found.chosen(true)

    def known(self, here: PlacedTriangles, there: PlacedTriangles, ids: Ids, normals: Array) -> Crossings:
        """Pairs by their numbers (c,), with normals (c, 3), wherever they are."""
        pairs = np.stack(np.divmod(ids, max(len(self.second.nodes), 1)), axis=1)
        p, q = here.nodes[self.first.nodes[pairs[:, 0]]], there.nodes[self.second.nodes[pairs[:, 1]]]
        u, v, w = p[:, 1] - p[:, 0], q[:, 1] - q[:, 0], p[:, 0] - q[:, 0]
        uu, uv, vv, uw, vw = (np.einsum("ci,ci->c", *pair) for pair in ((u, u), (u, v), (v, v), (u, w), (v, w)))
        det = np.maximum(uu * vv - uv * uv, 1e-300)
        where = np.stack([(uv * vw - vv * uw) / det, (uu * vw - uv * uw) / det], axis=1)
        return Crossings(ids, pairs, where, np.einsum("ci,ci->c", normals, w), normals)

    def points(self, here: PlacedTriangles, found: Crossings) -> Array:
        """Where the first edges cross the second, (c, 3) [m]."""
        ends, s = here.nodes[self.first.nodes[found.pairs[:, 0]]], found.where[:, :1]
        return np.asarray((1.0 - s) * ends[:, 0] + s * ends[:, 1])

    def contacts(
        self,
        here: PlacedTriangles,
        there: PlacedTriangles,
        x: Array,
        found: Crossings,
        memory: Remembered,
        friction: float,
    ) -> Contacts:
        """Contacts of pairs, on from what is remembered."""
        count, faces = len(found.ids), self.second.faces[found.pairs[:, 1], 0]
        a = here.on_triangles(
            self.first.faces[found.pairs[:, 0], 0], self.first.shares(found.pairs[:, 0], found.where[:, 0])
        )
        b = there.on_triangles(faces, self.second.shares(found.pairs[:, 1], found.where[:, 1]))
        nodes = np.concatenate([a.nodes, b.nodes], axis=1)
        lifting = np.concatenate([a.weights, -b.weights], axis=1)
        frames, forces, origins, depths = np.empty((count, 3, 3)), *np.empty((2, count, 3)), np.empty(count)
        fresh, stuck_to, anchors = np.empty(count, bool), faces.copy(), np.zeros((count, 3))
        _contact_kernels.fill_frames(found.normals, frames)
        _contact_kernels.go_on(
            found.ids, frames, False, memory.ids, memory.forces, memory.faces, memory.anchors, forces, fresh, stuck_to,
            anchors
        )  # fmt: skip
        _contact_kernels.begin_rows(
            nodes, lifting, lifting, x, frames, anchors, found.gaps, False, CLOSE * self.edge, LATEST * self.edge, origins,
            depths
        )  # fmt: skip
        return Contacts(
            found.ids, nodes, lifting, lifting, found.gaps, frames, origins, depths, faces, stuck_to, anchors, forces, fresh,
            np.full(count, friction)
        )  # fmt: skip

    def remembered(self, contacts: Contacts, forces: Array) -> Remembered:
        """After a step that ended with forces (c, 3) [N] along the frames."""
        own, forces, slides = contacts.holding(forces)
        in_space = np.einsum("cr,crk->ck", forces, own.frames)
        return Remembered(own.ids, in_space, own.frames[:, 0], own.stuck_to, own.anchors, slides)


def _within(edges: SharpEdges, own: PlacedFacets, other: PlacedFacets, reach: float) -> Ids:
    """Numbers of the edges whose boxes come as near to the other surface as that [m]."""
    ends = own.corners[edges.faces[:, 0][:, None], edges.corners]
    near = (ends.min(axis=1) <= other.upper[0] + reach) & (ends.max(axis=1) >= other.lower[0] - reach)
    return np.flatnonzero(near.all(axis=1))
