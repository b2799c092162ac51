"""Fill-reducing orders of elimination.

*Minimum degree* eliminates the node with the fewest remaining neighbours: best for slender and small graphs.
*Nested dissection* (George 1973) removes a small separator, orders the two halves first and the separator last: best
for bulky ones. `best_order` predicts the work of both and takes the better.
"""

from __future__ import annotations

import numpy as np

from pliant.algebra.sparse import _order_kernels as kernels
from pliant.algebra.sparse import _symbolic_kernels
from pliant.algebra.sparse.arrays import FloatArray, IntArray
from pliant.algebra.sparse.pattern import Graph

MINIMUM_DEGREE_LIMIT = 6000
"""Nodes; above it, minimum degree takes seconds and is not tried."""

LEAF = 60
"""Nodes; smaller parts are not dissected."""


def best_order(graph: Graph, points: FloatArray | None = None) -> IntArray:
    """The order with the fewest predicted flops among those that are affordable."""
    candidates = []
    if graph.size <= MINIMUM_DEGREE_LIMIT:
        candidates.append(minimum_degree(graph))
    if graph.size > LEAF:
        candidates.append(nested_dissection(graph, points))
    return min(candidates, key=lambda order: predicted_flops(graph, order))


def predicted_flops(graph: Graph, order: IntArray) -> float:
    """Work of a factorization without any padding: sum over the scalar columns of (entries of the column)^2."""
    position = np.empty_like(order)
    position[order] = np.arange(graph.size)
    parent = _symbolic_kernels.elimination_tree(*graph, order, position)
    count = 3.0 * _symbolic_kernels.column_counts(*graph, order, position, parent)
    return float(sum(((count + k) ** 2).sum() for k in (1, 2, 3)))


def minimum_degree(graph: Graph) -> IntArray:
    """The multiple-minimum-degree order (Liu 1985) that SuperLU computes."""
    from scipy.sparse import csc_matrix, identity
    from scipy.sparse.linalg import splu

    n = graph.size
    probe = csc_matrix((np.ones(len(graph.indices)), graph.indices, graph.indptr), shape=(n, n))
    probe = (probe + identity(n) * (4.0 + n)).tocsc()  # dominant diagonal: no pivoting, so that only the pattern counts
    lu = splu(probe, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}, diag_pivot_thresh=0.0)
    return np.argsort(lu.perm_c).astype(np.int64)


def nested_dissection(graph: Graph, points: FloatArray | None = None, leaf: int = LEAF) -> IntArray:
    """Separators last, found by sweeping along coordinates and along breadth-first order; leaves by minimum degree."""
    order = np.arange(graph.size)
    inside = np.full(graph.size, -1)  # rank within the part at hand, -1 elsewhere
    in_leaf = np.zeros(graph.size, bool)
    parts = [(0, graph.size)]
    while parts:
        begin, end = parts.pop()
        if end - begin <= leaf:
            in_leaf[order[begin:end]] = True
            continue
        left, right, separator = _split(graph, points, order[begin:end].copy(), inside)
        order[begin:end] = np.concatenate([left, right, separator])
        parts += [(begin, begin + len(left)), (begin + len(left), begin + len(left) + len(right))]
    return _leaves_by_minimum_degree(graph, order, in_leaf)


def _split(
    graph: Graph, points: FloatArray | None, nodes: IntArray, inside: IntArray
) -> tuple[IntArray, IntArray, IntArray]:
    """Divide a part into (left, right, separator) with no edge between left and right."""
    inside[nodes] = 0
    walk, reached, across = _walk_through(graph, nodes, inside)
    if reached < len(nodes):
        inside[walk[:reached]] = 1
        split = walk[:reached], nodes[inside[nodes] == 0], nodes[:0]
        inside[nodes] = -1
        return split
    ways = [walk, across]
    if points is not None:
        ways += [nodes[np.argsort(points[nodes, axis], kind="stable")] for axis in range(3)]
    left_size, right_size = np.empty(len(nodes) + 1, np.int64), np.empty(len(nodes) + 1, np.int64)
    best = (np.inf, walk, 0, True)
    for way in ways:
        inside[way] = np.arange(len(way))
        kernels.separator_sizes(*graph, inside, way, left_size, right_size)
        for size, of_left in ((left_size, True), (right_size, False)):
            cost, cut = _best_cut(size, of_left)
            if cost < best[0]:
                best = (cost, way, cut, of_left)
    _, way, cut, of_left = best
    inside[way] = np.arange(len(way))
    border = np.empty(len(way), bool)
    kernels.separator_nodes(*graph, inside, way, cut, of_left, border)
    inside[nodes] = -1
    return way[:cut][~border[:cut]], way[cut:][~border[cut:]], way[border]


def _walk_through(graph: Graph, nodes: IntArray, inside: IntArray) -> tuple[IntArray, int, IntArray]:
    """Two ways along the longest extent of a part, and how many nodes they reach.

    The first is a breadth-first walk from one end. The second sorts by the distance from this end less that from the
    other: its cuts are flat, where those of the first are spheres.
    """
    walk = np.empty_like(nodes)
    level = np.full((2, graph.size), -1)
    start, reached = nodes[0], 0
    for turn in range(4):  # to the far end, and back
        level[turn % 2, nodes] = -1
        reached = kernels.breadth_first(*graph, inside, start, walk, level[turn % 2])
        start = walk[reached - 1]
    between = level[1, walk[:reached]] - level[0, walk[:reached]]
    return walk, reached, walk[:reached][np.argsort(between, kind="stable")]


def _best_cut(size: IntArray, of_left: bool) -> tuple[float, int]:
    """The cut with the smallest separator relative to the parts that it leaves, and its cost."""
    n = len(size) - 1
    cut = np.arange(n // 5, n - n // 5)
    separator = size[cut].astype(float)
    left = cut - (separator if of_left else 0)
    right = n - cut - (0 if of_left else separator)
    cost = np.where((left > 0) & (right > 0), (separator + 1) / np.maximum(left * right, 1.0), np.inf)
    best = int(np.argmin(cost))
    return float(cost[best]), int(cut[best])


def _leaves_by_minimum_degree(graph: Graph, order: IntArray, in_leaf: IntArray) -> IntArray:
    """Reorder the nodes of each leaf among themselves; the leaves have no edges to each other."""
    nodes = np.flatnonzero(in_leaf)
    if len(nodes) == 0:
        return order
    number = np.full(graph.size, -1)
    number[nodes] = np.arange(len(nodes))
    owner = np.repeat(np.arange(graph.size), np.diff(graph.indptr))
    keep = in_leaf[owner] & in_leaf[graph.indices]
    indptr = np.searchsorted(number[owner[keep]], np.arange(len(nodes) + 1))
    local = Graph(indptr.astype(np.int64), number[graph.indices[keep]])
    leaves_first = nodes[minimum_degree(local)]
    return np.concatenate([leaves_first, order[~in_leaf[order]]])
