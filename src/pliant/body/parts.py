"""Rigid parts in a tree: groups of nodes that move as one, each free in some directions as seen from another.

A part p has a pivot c and a rotation R. Seen from its parent a (the ground, or a part before it) the pivot may shift along some
directions N and the part may turn about some axes A through the pivot, both fixed in the parent. A step of its coordinates
(t, w), with E = exp([A w]) and all directions as they lie in space, leads from c_p, R_p to

    R_p+ = G_p R_p,    G_p = G_a E_p,        c_p+ = c_a+ + G_a (c_p - c_a + N t_p),        x_n+ = c_p+ + G_p (x_n - c_p)

with G = I and c = 0 for the ground. So a node follows its part and all parts that it hangs on, b = p, a ...:

    dx_n = sum_b  N_b t_b + (A_b w_b) x (x_n - c_b)

and to second order, with forces f_n on the nodes, F_j = sum f_n and C_j = sum f_n (x_n - c_j)^T over all that hangs on j:

    w_i, w_i:  A_i^T (sym C_i - tr C_i) A_i        w_i, w_j:  A_i^T (C_j^T - tr C_j) A_j        w_i, t_j:  -A_i^T [F_j] N_j

for every part j that hangs on i. All of this is compiled (`_part_kernels.py`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from pliant.body import _part_kernels as kernels
from pliant.body.body import Array, Ids
from pliant.errors import InputError


@dataclass(frozen=True)
class Part:
    """Some nodes that move as one rigid part.

    nodes (k,): in the numbering of the whole, none for a link of a chain that has no nodes; pivot (3,) [m]: at rest; parent:
    the number of the part that it hangs on, or -1. slides, turns (3, 3): projections onto the directions in which it may
    shift, and about which it may turn: none, one or all.
    """

    name: str
    nodes: Ids
    pivot: Array
    parent: int = -1
    slides: Array = field(default_factory=lambda: np.eye(3))
    turns: Array = field(default_factory=lambda: np.eye(3))

    @property
    def is_free(self) -> bool:
        """Whether nothing holds it: it may go anywhere."""
        return self.parent < 0 and np.trace(self.slides) + np.trace(self.turns) > 5.5


class Parts:
    """The tree of parts of an assembly: its coordinates, its links, and where it goes.

    Each part has up to two coordinates, 3-vectors along the columns of a basis of its free directions: a shift and a turn. In
    directions that are not free the basis has zeros for a column, and the coordinate stays zero.
    """

    def __init__(self, parts: Sequence[Part], first: int) -> None:
        """first: the number of the first coordinate, and of the first carrier."""
        self.parts = tuple(parts)
        _require_tree(self.parts)
        count = len(self.parts)
        self.first = first
        self.parents = np.array([part.parent for part in parts], np.int64)
        self.pivots = np.array([part.pivot for part in parts]).reshape(-1, 3)
        above = np.where((self.parents >= 0)[:, None], self.pivots[self.parents] if count else self.pivots, 0.0)
        self.offsets = self.pivots - above
        self.slides = np.array([free_basis(part.slides) for part in parts]).reshape(-1, 3, 3)
        self.turns = np.array([free_basis(part.turns) for part in parts]).reshape(-1, 3, 3)
        free = np.asarray(np.stack([self.slides, self.turns], axis=1).any(axis=2))  # (p, 2, 3)
        self.ranks = free.sum(axis=2).astype(np.int64)
        there = self.ranks > 0
        self.numbers = np.where(there, first + np.cumsum(there).reshape(there.shape) - 1, -1).astype(np.int64)
        self.coordinate_count = int(there.sum())
        self.free = free[there]
        """Of each coordinate, which entries are free, (k, 3)."""
        self.seats = np.array([(n, p) for p, part in enumerate(parts) for n in part.nodes], np.int64).reshape(-1, 2)
        self._link()

    def _link(self) -> None:
        """How the two carriers of each part (its pivot's velocity and its spin) follow coordinates: directly where they are
        coordinates themselves, else by links (carrier, coordinate) with matrices of a kind (`kernels.fill_links`)."""
        count = len(self.parts)
        self.direct = np.full((count, 2), -1, np.int64)
        links: list[tuple[int, int]] = []
        kinds: list[tuple[int, int, int]] = []
        pairs: list[tuple[int, int, int]] = []
        for p in range(count):
            shift, turn = self.numbers[p]
            chain = self.chain(p)
            carrier = self.first + 2 * p
            if self.parents[p] < 0 and self.ranks[p, 0] == 3:
                self.direct[p, 0] = shift
            else:
                own = [(0, b) for b in chain if self.numbers[b, 0] >= 0]
                own += [(1, b) for b in chain[1:] if self.numbers[b, 1] >= 0]
                links += [(carrier, int(self.numbers[b, kind])) for kind, b in own]
                kinds += [(kind, p, b) for kind, b in own]
            turning = [b for b in chain if self.numbers[b, 1] >= 0]
            if self.parents[p] < 0 and self.ranks[p, 1] == 3:
                self.direct[p, 1] = turn
            else:
                links += [(carrier + 1, int(self.numbers[b, 1])) for b in turning]
                kinds += [(2, p, b) for b in turning]
            pairs += [(b, p, 0) for b in turning if turn >= 0]
            pairs += [(b, p, 1) for b in turning if b != p and shift >= 0]
        self.links = np.array(links, np.int64).reshape(-1, 2)
        self.kinds = np.array(kinds, np.int64).reshape(-1, 3)
        self.curved = np.array(pairs, np.int64).reshape(-1, 3)
        """Triples (i, j, kind) of parts whose coordinates curve the way of nodes (`kernels.curve`)."""

    def chain(self, part: int) -> list[int]:
        """The part, the one that it hangs on, and so on."""
        out = []
        while part >= 0:
            out.append(part)
            part = int(self.parents[part])
        return out

    @property
    def curved_coordinates(self) -> Ids:
        """Coordinates (row, col) of the blocks of `curved`, (q, 2)."""
        i, j, kind = self.curved.T
        return np.stack([self.numbers[i, 1], self.numbers[j, 1 - kind]], axis=1)

    def reaches(self, rest_x: Array) -> Array:
        """How far from its pivot the nodes of a part, and of all that hangs on it, are at rest at most, (p,) [m]."""
        out = np.zeros(len(self.parts))
        np.maximum.at(out, self.seats[:, 1], np.linalg.norm(self.arms(rest_x), axis=1))
        for p in range(len(out) - 1, -1, -1):
            if (a := self.parents[p]) >= 0:
                out[a] = max(out[a], np.linalg.norm(self.offsets[p]) + out[p])
        return out

    def arms(self, rest_x: Array) -> Array:
        """Nodes on parts, as seen from their pivots at rest, (s, 3) [m]."""
        arms: Array = rest_x[self.seats[:, 0]] - self.pivots[self.seats[:, 1]]
        return arms

    def in_space(self, rotations: Array) -> tuple[Array, Array]:
        """The bases of the shifts and of the turns with the parts turned by rotations (p, 3, 3), (p, 3, 3) each."""
        out = np.empty_like(self.slides), np.empty_like(self.turns)
        for bases, there in zip((self.slides, self.turns), out, strict=True):
            kernels.turn_bases(self.parents, rotations, bases, there)
        return out

    def moved(self, centers: Array, rotations: Array, step: Array) -> tuple[Array, Array]:
        """Pivots (p, 3) and rotations (p, 3, 3) after a step of all coordinates (nc, 3)."""
        out = np.empty_like(centers), np.empty_like(rotations)
        kernels.move_parts(
            self.parents,
            self.offsets,
            self.slides,
            self.turns,
            self.ranks,
            self.numbers,
            step,
            centers,
            rotations,
            *out,
        )
        return out

    def way(self, centers: Array, rotations: Array, centers_after: Array, rotations_after: Array, out: Array) -> None:
        """out (nc, 3) <- the step that leads from pivots (p, 3) and rotations (p, 3, 3) to others, by less than half a turn
        each; coordinates that are not the parts' stay as they are."""
        slides, turns = self.in_space(rotations)
        kernels.find_way(
            self.parents, slides, turns, self.numbers, centers, rotations, centers_after, rotations_after, out
        )


def free_basis(projector: Array) -> Array:
    """A basis (3, 3) of the directions that a projection (3, 3) leaves free: orthonormal columns, and zeros for a column where
    there is none. Free coordinate axes are columns themselves."""
    left, basis = np.array(projector, float), np.zeros((3, 3))
    for _ in range(round(float(np.trace(left)))):
        column = int(np.linalg.norm(left, axis=0).argmax())
        basis[:, column] = left[:, column] / np.linalg.norm(left[:, column])
        left = left - np.outer(basis[:, column], basis[:, column] @ left)
    return basis


def _require_tree(parts: Sequence[Part]) -> None:
    for number, part in enumerate(parts):
        if not -1 <= part.parent < number:
            raise InputError(
                f"part {part.name!r} hangs on part {part.parent}",
                remedy="list every part after the one that it hangs on",
            )
        if round(float(np.trace(part.turns))) == 2:
            raise InputError(
                f"part {part.name!r} may turn about two axes",
                remedy="two axes are two joints: put a part without nodes between them, each with one axis",
            )
