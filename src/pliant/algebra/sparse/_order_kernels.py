"""Graph sweeps for nested dissection."""

from __future__ import annotations

from pliant.algebra.compiled import kernel
from pliant.algebra.sparse.arrays import IntArray


@kernel
def breadth_first(
    indptr: IntArray, indices: IntArray, inside: IntArray, start: int, walk: IntArray, level: IntArray
) -> int:
    """Breadth-first order from `start` among the nodes with inside[v] >= 0; returns how many it reaches.

    level[v] is the number of steps to v. It must be -1 for all nodes inside.
    """
    walk[0] = start
    level[start] = 0
    count = 1
    at = 0
    while at < count:
        v = walk[at]
        at += 1
        for t in range(indptr[v], indptr[v + 1]):
            u = indices[t]
            if inside[u] >= 0 and level[u] < 0:
                level[u] = level[v] + 1
                walk[count] = u
                count += 1
    return count


@kernel
def separator_sizes(
    indptr: IntArray, indices: IntArray, rank: IntArray, way: IntArray, left_size: IntArray, right_size: IntArray
) -> None:
    """Sizes of the separators of every cut of the sequence `way` into way[:cut] and way[cut:].

    left_size[cut] counts the nodes of the first part with a neighbour in the second, right_size[cut] the converse.
    rank[v] is the place of v in `way`, or -1 outside.
    """
    n = len(way)
    for cut in range(n + 1):
        left_size[cut] = 0
        right_size[cut] = 0
    for i in range(n):
        v = way[i]
        low = i
        high = i
        for t in range(indptr[v], indptr[v + 1]):
            r = rank[indices[t]]
            if r >= 0:
                low = min(low, r)
                high = max(high, r)
        if high > i:
            left_size[i + 1] += 1
            left_size[high + 1] -= 1
        if low < i:
            right_size[low + 1] += 1
            right_size[i + 1] -= 1
    for cut in range(1, n + 1):
        left_size[cut] += left_size[cut - 1]
        right_size[cut] += right_size[cut - 1]


@kernel
def separator_nodes(
    indptr: IntArray, indices: IntArray, rank: IntArray, way: IntArray, cut: int, of_left: bool, border: IntArray
) -> None:
    """Mark the nodes of the chosen side of a cut that have a neighbour on the other side."""
    for i in range(len(way)):
        border[i] = False
        if (i < cut) == of_left:
            v = way[i]
            for t in range(indptr[v], indptr[v + 1]):
                r = rank[indices[t]]
                if r >= 0 and (r < cut) != of_left:
                    border[i] = True
