"""What can be known of a factorization from the pattern alone: order, elimination tree, fronts, places.

    order the nodes -> elimination tree -> postorder -> supernodes -> merge small ones -> rows of each front -> places

A *front* is the dense matrix in which one supernode is eliminated: `width` pivot nodes and `below` further nodes.
Everything that the numeric kernels need of it is one record of `FRONT`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.algebra.sparse import _symbolic_kernels as kernels
from pliant.algebra.sparse._tile import LANES
from pliant.algebra.sparse.arrays import FloatArray, IntArray, RecordArray
from pliant.algebra.sparse.order import best_order
from pliant.algebra.sparse.pattern import BlockPattern, Graph
from pliant.algebra.sparse.schedule import Schedule, schedule

FRONT = np.dtype(
    [
        (name, np.int64)
        for name in (
            "width",  # pivots [nodes]
            "below",  # further rows [nodes]
            "column",  # first pivot in the elimination order [nodes]
            "parent",  # front that gathers the update, or -1
            "first",  # first descendant; the fronts first ... self are a subtree
            "panel",  # offset of the panel in the factor
            "stride",  # rows of the panel in memory, a multiple of the vector length
            "update",  # offset of the update matrix on the stack
            "update_stride",
            "shift",  # row of the front that is row 0 of the update matrix: aligned, hence not always 3 * width
            "offset",  # from `update` to the first entry that means something
            "rows",  # start in `rows`
            "runs",  # start in `runs`; from `runs_split` on they lie below the pivots of the parent
            "runs_split",
            "runs_end",
            "blocks",  # start in the block lists; blocks from `flipped` on are added transposed
            "flipped",
            "blocks_end",
        )
    ]
)

COST = np.array([400.0, 20.0, 0.35, 0.45, 0.04])
"""Nanoseconds per front, per column, per entry of the panel, per entry of the update, per flop (see `front_cost`)."""


@dataclass(frozen=True, eq=False)
class Symbolic:
    """Result of `analyse`. Indices are in the elimination order unless they are said to be the caller's.

    order: the caller's node that is eliminated j-th; position: its inverse.
    member: front of each node. rows: rows of the fronts below their pivots.
    runs: where the updates of the fronts go in their parents.
    block_source: entry of the caller's values; block_place: place in the panel.
    flops: of the numeric factorization; factor_size: doubles of the factor, padding included.
    """

    size: int
    order: IntArray
    position: IntArray
    fronts: RecordArray
    member: IntArray
    rows: IntArray
    runs: IntArray
    block_source: IntArray
    block_place: IntArray
    flops: float
    factor_size: int
    schedule: Schedule


def analyse(
    pattern: BlockPattern, *, order: IntArray | None = None, threads: int = 1, cost: FloatArray = COST
) -> Symbolic:
    """Prepare the factorization of every matrix with this pattern.

    order: the caller's nodes in the order of elimination (default: `best_order`).
    threads: number of threads among which independent subtrees are divided.
    cost: constants of the estimate by which small supernodes are merged.
    """
    graph = pattern.graph()
    order = best_order(graph, pattern.points) if order is None else np.asarray(order, np.int64)
    order, width, below, parent = supernodes(graph, order, cost)
    fronts = _fronts(width, below, parent)
    member = np.repeat(np.arange(len(fronts)), width)
    rows = np.empty(int(below.sum()), np.int64)
    position = inverse_of(order)
    kernels.row_lists(*graph, order, position, fronts, rows)
    owner = np.repeat(np.arange(len(fronts)), below)
    rows = np.sort(rows + pattern.size * owner) % pattern.size
    place = np.zeros(len(rows), np.int64)
    kernels.positions_in_parent(fronts, rows, np.empty(pattern.size, np.int64), place)
    runs = np.empty((len(rows), 3), np.int64)
    runs = runs[: kernels.find_runs(fronts, place, runs)].copy()
    block_source, block_place = _place_blocks(pattern, position, member, fronts, rows)
    plan = schedule(fronts, threads)
    fronts["update"] = plan.place
    last = fronts[-1]
    return Symbolic(
        size=pattern.size,
        order=order,
        position=position,
        fronts=fronts,
        member=member,
        rows=rows,
        runs=runs,
        block_source=block_source,
        block_place=block_place,
        flops=float(front_flops(width, below).sum()),
        factor_size=int(last["panel"] + 3 * last["width"] * last["stride"]),
        schedule=plan,
    )


def inverse_of(order: IntArray) -> IntArray:
    """The inverse permutation."""
    position = np.empty_like(order)
    position[order] = np.arange(len(order))
    return position


def front_flops(width: IntArray, below: IntArray) -> FloatArray:
    """Floating-point operations of fronts: K^3 / 3 + K^2 R + K R^2, with K = 3 width pivots and R = 3 below rows."""
    K, R = 3.0 * width, 3.0 * below
    return K * (K * K / 3 + K * R + R * R)


def supernodes(graph: Graph, order: IntArray, cost: FloatArray) -> tuple[IntArray, IntArray, IntArray, IntArray]:
    """Fronts of the matrix eliminated in `order`: (equivalent postorder of the nodes, width, below, parent front)."""
    position = inverse_of(order)
    parent = kernels.elimination_tree(*graph, order, position)
    post = kernels.postorder(parent, np.arange(graph.size)[::-1].copy())
    order, parent = order[post], _renumbered(parent, post)
    position = inverse_of(order)
    count = kernels.column_counts(*graph, order, position, parent)
    supernode = kernels.fundamental_supernodes(parent, count)
    last = np.flatnonzero(np.diff(supernode, append=-1))
    width, below = np.bincount(supernode), count[last]
    front_parent = np.where(parent[last] >= 0, supernode[parent[last]], -1)
    target = kernels.merge_supernodes(width, below, front_parent, cost)
    alive = np.flatnonzero(target == np.arange(len(target)))
    front_parent = np.where(front_parent[alive] >= 0, target[front_parent[alive]], -1)
    number = np.searchsorted(alive, target)
    front_parent = np.where(front_parent >= 0, np.searchsorted(alive, front_parent), -1)
    width, below = width[alive], below[alive]
    post = kernels.postorder(front_parent, np.argsort(below, kind="stable"))
    member = inverse_of(post)[number[supernode]]
    order = order[np.argsort(member, kind="stable")]
    return order, width[post], below[post], _renumbered(front_parent, post)


def _renumbered(parent: IntArray, post: IntArray) -> IntArray:
    """Parents of a forest whose nodes are listed in the order `post`."""
    rank = np.append(inverse_of(post), -1)
    return rank[parent[post]]


def _fronts(width: IntArray, below: IntArray, parent: IntArray) -> RecordArray:
    """The front table, as far as the tree determines it."""
    fronts = np.zeros(len(width), FRONT)
    fronts["width"], fronts["below"], fronts["parent"] = width, below, parent
    fronts["column"] = np.cumsum(width) - width
    fronts["rows"] = np.cumsum(below) - below
    K = 3 * width
    stride = -(-(K + 3 * below) // LANES) * LANES
    stride += np.where(stride % 64 == 0, LANES, 0)  # a power of two between columns maps them all to one cache set
    fronts["stride"] = stride
    fronts["panel"] = np.cumsum(K * stride) - K * stride
    fronts["shift"] = K // LANES * LANES
    fronts["offset"] = K - fronts["shift"]
    fronts["update_stride"] = stride - fronts["shift"]
    first, depth = np.empty_like(parent), np.empty_like(parent)
    kernels.tree_shape(parent, first, depth)
    fronts["first"] = first
    return fronts


def _place_blocks(
    pattern: BlockPattern, position: IntArray, member: IntArray, fronts: RecordArray, rows: IntArray
) -> tuple[IntArray, IntArray]:
    """Block lists grouped by front, then by orientation; sets their bounds in `fronts`."""
    front_of, place, flipped = (np.empty(len(pattern.rows), np.int64) for _ in range(3))
    kernels.block_places(pattern.rows, pattern.cols, position, member, fronts, rows, front_of, place, flipped)
    group = 2 * front_of + flipped
    sequence = np.lexsort((place, group))
    bounds = np.searchsorted(group[sequence], np.arange(2 * len(fronts) + 1))
    fronts["blocks"], fronts["flipped"], fronts["blocks_end"] = bounds[:-1:2], bounds[1::2], bounds[2::2]
    return pattern.source[sequence], place[sequence]
