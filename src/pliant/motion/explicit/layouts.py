"""How nodes and springs lie in memory: on a grid, or in any order.

structured  voxel lattices: neighbours at fixed distances, empty places where the outline has no node
general     any springs: nodes renumbered so that neighbours are near, lists of neighbours in groups of LANES nodes
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pliant.motion.explicit._forces import DIRECTIONS
from pliant.motion.explicit._vectors import LANES as WIDTH
from pliant.motion.explicit.springs import Array, Ids, Springs
from pliant.motion.explicit.tables import GENERAL, STRUCTURED, Links

BLOCK = 1024
"""Places of a block: its forces stay in the fastest cache."""

WINDOW = 128
"""Nodes that may change places to bring equal numbers of springs together."""

SPARSE = 0.4
"""Springs per place of the structured layout, relative to a full grid, below which the general layout is faster."""


@dataclass(frozen=True, eq=False)
class Layout:
    """Where everything is."""

    place: Ids
    """Place of each node, [n]."""
    count: int
    """Places in all, N."""
    edges: Ids
    """Where blocks begin, [blocks + 1]; places outside all blocks are empty."""
    links: Links
    """k and kl are zero until `fill`."""
    slots: Ids
    """Entries of k and kl (flat) of each spring, [m, 1 or 2]."""

    def fill(self, constants: Array, lengths: Array) -> None:
        """Write stiffnesses [N/m] and rest lengths [m] of all springs."""
        self.links.k.ravel()[self.slots] = constants[:, None]
        self.links.kl.ravel()[self.slots] = (constants * lengths)[:, None]

    def starts(self, places: NDArray[np.integer]) -> Ids:
        """First entry of every block in a sorted list of places, [blocks + 1]."""
        return np.searchsorted(places, self.edges).astype(np.int64)


def block_edges(first: int, last: int, size: int = BLOCK) -> Ids:
    """Edges of blocks of about equal size, each a multiple of WIDTH places."""
    groups = (last - first) // WIDTH
    count = max(1, -(-groups * WIDTH // size))
    return first + WIDTH * (np.arange(count + 1, dtype=np.int64) * groups // count)


def structured(springs: Springs, dtype: DTypeLike, *, even_if_sparse: bool = False) -> Layout | None:
    """The layout on a grid, or None if there is no grid, a spring is no step to one of 26 neighbours, or it is too empty."""
    if springs.grid is None:
        return None
    shape, node_of = springs.grid
    order = np.argsort(shape, kind="stable")
    slow, middle, fast = (int(shape[axis]) for axis in order)
    row, plane = fast + 1, (fast + 1) * (middle + 1)
    reach = plane + row + 1
    first = -(-reach // WIDTH) * WIDTH
    last = first + -(-slow * plane // WIDTH) * WIDTH
    there = np.flatnonzero(node_of >= 0)
    corner = np.stack(np.unravel_index(there, shape))[order]
    place = np.full(len(springs.points), -1, np.int64)
    place[node_of[there]] = first + corner[0] * plane + corner[1] * row + corner[2]
    ends = place[springs.springs]
    steps = sorted({a * plane + b * row + c for a in (0, 1) for b in (-1, 0, 1) for c in (-1, 0, 1)} - {0})
    offsets = np.array([step for step in steps if step > 0], np.int64)
    step = np.abs(ends[:, 1] - ends[:, 0])
    way = np.minimum(np.searchsorted(offsets, step), len(offsets) - 1)
    full = len(springs.springs) / (DIRECTIONS * (last - first))
    if (place < 0).any() or (offsets[way] != step).any() or not (even_if_sparse or full > SPARSE):
        return None
    count = last + reach + WIDTH
    k, kl = np.zeros((DIRECTIONS, count), dtype), np.zeros((DIRECTIONS, count), dtype)
    table = np.zeros(DIRECTIONS, np.int64)
    table[: len(offsets)] = offsets
    links = Links(STRUCTURED, k, kl, np.zeros((1, 1), np.uint32), table)
    slots = way * count + ends.min(axis=1)
    return Layout(place, count, block_edges(first, last), links, slots[:, None])


def general(springs: Springs, dtype: DTypeLike) -> Layout:
    """The layout for any springs."""
    n, pairs = len(springs.points), springs.springs
    place = _near_neighbours(n, pairs)
    own = place[pairs].ravel()
    other = place[pairs[:, ::-1]].ravel()
    by_node = np.lexsort((other, own))
    degree = np.bincount(own, minlength=n)
    groups = -(-n // WIDTH)
    longest = np.zeros(groups * WIDTH, np.int64)
    longest[:n] = degree
    rows = np.maximum(longest.reshape(groups, WIDTH).max(axis=1), 1)
    table = np.concatenate([[0], np.cumsum(rows)]).astype(np.int64)
    rank = np.empty(len(own), np.int64)
    rank[by_node] = np.arange(len(own)) - np.repeat(np.cumsum(degree) - degree, degree)
    slots = (table[own // WIDTH] + rank) * WIDTH + own % WIDTH
    others = np.repeat(np.arange(groups * WIDTH).reshape(groups, WIDTH), rows, axis=0)
    others.ravel()[slots] = other
    bytes_of_point = 4 * np.dtype(dtype).itemsize
    k, kl = np.zeros((table[-1], WIDTH), dtype), np.zeros((table[-1], WIDTH), dtype)
    links = Links(GENERAL, k, kl, (others * bytes_of_point).astype(np.uint32), table)
    count = groups * WIDTH
    return Layout(place, count, block_edges(0, count), links, slots.reshape(-1, 2))


def _near_neighbours(n: int, pairs: Ids) -> Ids:
    """Places in which neighbours are near (reverse Cuthill-McKee), nodes with equally many springs together."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import reverse_cuthill_mckee

    both = np.concatenate([pairs, pairs[:, ::-1]])
    graph = csr_array((np.ones(len(both), np.int8), (both[:, 0], both[:, 1])), shape=(n, n))
    order = reverse_cuthill_mckee(graph, symmetric_mode=True)
    degree = np.bincount(pairs.ravel(), minlength=n)
    order = order[np.lexsort((degree[order], np.arange(n) // WINDOW))]
    place = np.empty(n, np.int64)
    place[order] = np.arange(n)
    return place
