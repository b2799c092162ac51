"""Where the 3x3 blocks of nodes go on their way to the free coordinates; laid out once (see `_assembly_kernels.py`)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.body.body import Array, Ids
from pliant.body.parts import Parts
from pliant.body.tied import Ties


@dataclass(frozen=True, eq=False)
class Carriers:
    """What every node follows, and how that follows coordinates.

    carrier, seat (n,)      of nodes: the first carrier or -1, and where their lever is or -1
    direct (nk,)            of carriers: the coordinate that they are, or -1
    begin (nk + 1,), links  of carriers: their links begin[c]:begin[c + 1], each to a coordinate
    """

    carrier: Ids
    seat: Ids
    direct: Ids
    begin: Ids
    links: Ids

    @classmethod
    def of(cls, number: Ids, sliding: Ids, parts: Parts) -> Carriers:
        """number (n,): of single nodes, their coordinate, else -1; links of sliding nodes come before those of parts."""
        carrier, seat = number.astype(np.int64), np.full(len(number), -1, np.int64)
        nodes, owners = parts.seats.T
        carrier[nodes], seat[nodes] = parts.first + 2 * owners, np.arange(len(nodes))
        direct = np.concatenate([np.arange(parts.first), parts.direct.reshape(-1)])
        direct[number[sliding]] = -1
        linked = np.concatenate([number[sliding], parts.links[:, 0]])
        begin = np.searchsorted(linked, np.arange(len(direct) + 1)).astype(np.int64)
        return cls(carrier, seat, direct, begin, np.concatenate([number[sliding], parts.links[:, 1]]))

    def arrays(self, levers: Array, matrices: Array) -> tuple[Any, ...]:
        """All of it with what belongs to a pose, as kernels take it."""
        return self.carrier, self.seat, levers, self.direct, self.begin, self.links, matrices

    @property
    def counts(self) -> Ids:
        """How many coordinates each node follows, (n,)."""
        per_carrier = np.append((self.direct >= 0) + np.diff(self.begin), 0)
        own = per_carrier[self.carrier]
        return own + np.where(self.seat >= 0, per_carrier[np.minimum(self.carrier + 1, len(self.direct))], 0)


class CarriedBlocks:
    """The blocks of carriers that those of nodes add up to: groups of jobs for `kernels.carry_blocks`.

    rows, cols (c,): carriers of the blocks, rows >= cols. Those between carriers that are coordinates themselves, at
    `direct_places`, are blocks of `coordinates` (rows, cols); the others have still to be pulled back.
    """

    def __init__(self, i: Ids, j: Ids, carriers: Carriers, ties: Ties, plain: Ids) -> None:
        """i, j (b,): pairs of nodes that have a block; those of two plain nodes need nothing."""
        block = np.flatnonzero((plain[i] < 0) | (plain[j] < 0))
        block, a, b, scales, mirrored = _with_masters(block, i[block], j[block], ties, len(plain))
        ca, cb = carriers.carrier[a], carriers.carrier[b]
        held = (ca < 0) | (cb < 0)
        block, a, b, scales, mirrored, ca, cb = (part[~held] for part in (block, a, b, scales, mirrored, ca, cb))
        swap = ca < cb
        a, b, ca, cb = np.where(swap, b, a), np.where(swap, a, b), np.where(swap, cb, ca), np.where(swap, ca, cb)
        twice = np.flatnonzero((ca == cb) & mirrored)  # on one part, where the mirror image counts too
        code = 2 * block + swap
        code = np.concatenate([code, code[twice] ^ 1])
        a, b = np.concatenate([a, b[twice]]), np.concatenate([b, a[twice]])
        ca, cb, scales = (np.concatenate([part, part[twice]]) for part in (ca, cb, scales))
        order = np.lexsort([code, a, cb, ca])
        code, a, b, ca, cb, scales = (part[order] for part in (code, a, b, ca, cb, scales))
        begin = np.flatnonzero(np.diff([a, ca, cb], axis=1, prepend=-1).any(axis=0))
        end = np.append(begin, len(a))[1:]
        size = len(carriers.direct) + 1
        seat_a, seat_b, ca, cb = carriers.seat[a[begin]], carriers.seat[b[begin]], ca[begin], cb[begin]
        keys = np.stack([ca * size + cb, (ca + 1) * size + cb, ca * size + cb + 1, (ca + 1) * size + cb + 1], axis=1)
        there = np.stack([seat_a >= -1, seat_a >= 0, (seat_b >= 0) & (ca != cb), (seat_a >= 0) & (seat_b >= 0)], axis=1)
        known, number = np.unique(keys[there], return_inverse=True)
        targets = np.full(keys.shape, -1, np.int64)
        targets[there] = number.reshape(-1)
        self.groups = np.concatenate([seat_a[:, None], targets, begin[:, None], end[:, None]], axis=1).astype(np.int32)
        self.jobs = np.stack([code, carriers.seat[b]], axis=1).astype(np.int32)
        self.scales = scales if len(ties.tied) else np.empty(0)
        self.rows, self.cols = np.divmod(known, size)
        self.coordinates = carriers.direct[self.rows], carriers.direct[self.cols]
        self.direct_places = np.flatnonzero((self.coordinates[0] >= 0) & (self.coordinates[1] >= 0))
        self.coordinates = self.coordinates[0][self.direct_places], self.coordinates[1][self.direct_places]


class PulledBlocks:
    """The blocks of coordinates that those of linked carriers add up to: jobs for `kernels.pull_back`."""

    def __init__(self, carried: CarriedBlocks, carriers: Carriers, size: int) -> None:
        """size: how many coordinates there are."""
        linked = np.ones(len(carried.rows), bool)
        linked[carried.direct_places] = False
        block = np.flatnonzero(linked)
        row, col = carried.rows[block], carried.cols[block]
        number, a, b = _all_pairs(row, col, np.where(carriers.direct >= 0, 1, np.diff(carriers.begin)))
        block, row, col = block[number], row[number], col[number]

        def ends(carrier: Ids, k: Ids) -> tuple[Ids, Ids]:
            """The k-th link of carriers, -1 for those that are coordinates, and the coordinate at its end."""
            direct = carriers.direct[carrier]
            link = np.where(direct >= 0, -1, carriers.begin[carrier] + k)
            return link, np.where(direct >= 0, direct, carriers.links[link] if len(carriers.links) else -1)

        (link_a, p), (link_b, q) = ends(row, a), ends(col, b)
        kept = (row != col) | (p >= q)  # else the mirror image of the job with a and b exchanged
        block, link_a, link_b, p, q, apart = (part[kept] for part in (block, link_a, link_b, p, q, row != col))
        mode = np.where((p == q) & apart, 2, p < q)
        known, target = np.unique(np.maximum(p, q) * size + np.minimum(p, q), return_inverse=True)
        self.jobs = np.stack([block, link_a, link_b, target.reshape(-1), mode], axis=1).astype(np.int64)
        self.rows, self.cols = np.divmod(known, size)


def _with_masters(block: Ids, i: Ids, j: Ids, ties: Ties, count: int) -> tuple[Any, ...]:
    """Blocks of pairs of nodes (i, j) as blocks of pairs (a, b) of nodes that are not tied, with a scale each, and whether the
    mirror image counts besides where both are on one carrier."""
    if not len(ties.tied):
        return block, i, j, np.ones(len(block)), i != j
    tie = ties.numbers(count)
    sizes = np.where(tie >= 0, np.append(np.diff(ties.begin), 0)[tie], 1)
    number, p, q = _all_pairs(i, j, sizes)

    def ends(node: Ids, k: Ids) -> tuple[Ids, Array]:
        place = np.where(tie[node] >= 0, ties.begin[tie[node]] + k, 0)
        free = tie[node] < 0
        return np.where(free, node, ties.masters[place]), np.where(free, 1.0, ties.weights[place])

    block, i, j = block[number], i[number], j[number]
    (a, weight), (b, other) = ends(i, p), ends(j, q)
    kept = (i != j) | (p >= q)
    mirrored = (i != j) | (p != q)
    return block[kept], a[kept], b[kept], (weight * other)[kept], mirrored[kept]


def _all_pairs(i: Ids, j: Ids, sizes: Ids) -> tuple[Ids, Ids, Ids]:
    """For pairs (i, j), each with sizes[i] times sizes[j] pairs of its own: number of the pair, and (p, q) within it."""
    counts = sizes[i] * sizes[j]
    number = np.repeat(np.arange(len(i)), counts)
    within = np.arange(len(number)) - np.repeat(np.cumsum(counts) - counts, counts)
    p, q = np.divmod(within, np.maximum(sizes[j][number], 1))
    return number, p, q
