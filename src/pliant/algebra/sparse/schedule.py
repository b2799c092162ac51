"""Who factors which front, and where its update matrix lies meanwhile."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.algebra.sparse import _symbolic_kernels as kernels
from pliant.algebra.sparse.arrays import FloatArray, IntArray, RecordArray

FRONT_OVERHEAD = 2e4
"""What a tiny front costs besides arithmetic, in flops."""


@dataclass(frozen=True, eq=False)
class Schedule:
    """Disjoint subtrees for each thread, and the top of the tree that waits for them.

    tasks: fronts of each thread, then those of the top, children before parents.
    place: offset of each update matrix on the stack of `stack_size` doubles.
    speedup: predicted ratio of the whole work to the longest chain of it.
    """

    tasks: tuple[IntArray, ...]
    place: IntArray
    stack_size: int
    speedup: float


def schedule(fronts: RecordArray, threads: int) -> Schedule:
    """Divide the elimination tree among `threads` threads and lay out the update matrices."""
    region, speedup = _regions(fronts, threads)
    parent = np.ascontiguousarray(fronts["parent"])
    first, depth = np.empty_like(parent), np.empty_like(parent)
    kernels.tree_shape(parent, first, depth)
    place = np.empty_like(parent)
    high = kernels.stack_places(fronts, depth, region, threads + 1, place)
    base = np.concatenate([[0], np.cumsum(high.ravel())])
    tasks = tuple(np.flatnonzero(region == g) for g in range(0 if threads > 1 else 1, threads + 1))
    return Schedule(tasks, place + base[2 * region + depth % 2], int(base[-1]), speedup)


def _regions(fronts: RecordArray, threads: int) -> tuple[IntArray, float]:
    """Thread of each front (`threads` for the top), and the predicted speed-up.

    Starting from the roots, the heaviest subtree is opened again and again: its root goes to the top, its children
    become subtrees of their own. Each time the subtrees are dealt out, heaviest first, to the least loaded thread; the
    best deal is kept.
    """
    region = np.full(len(fronts), threads, np.int64)
    if threads == 1:
        return region, 1.0
    own, total = _work(fronts)
    children: list[list[int]] = [[] for _ in range(len(fronts))]
    for s, p in enumerate(fronts["parent"]):
        if p >= 0:
            children[p].append(s)
    candidates = [int(s) for s in np.flatnonzero(fronts["parent"] < 0)]
    whole = float(total[candidates].sum())
    shortest, best, top = np.inf, {}, 0.0
    for _ in range(64):
        owner, span = _deal(candidates, total, threads)
        if top + span < shortest:
            shortest, best = top + span, owner
        if not candidates:
            break
        heaviest = max(candidates, key=lambda s: total[s])
        candidates.remove(heaviest)
        candidates += children[heaviest]
        top += own[heaviest]
    for s, thread in best.items():
        region[fronts["first"][s] : s + 1] = thread
    return region, whole / shortest


def _work(fronts: RecordArray) -> tuple[FloatArray, FloatArray]:
    """Estimated work of each front, and of each subtree [flops]."""
    K, R = 3.0 * fronts["width"], 3.0 * fronts["below"]
    own = K * (K * K / 3 + K * R + R * R) + FRONT_OVERHEAD
    total = own.copy()
    for s, p in enumerate(fronts["parent"]):
        if p >= 0:
            total[p] += total[s]
    return own, total


def _deal(candidates: list[int], total: FloatArray, threads: int) -> tuple[dict[int, int], float]:
    """Owner of each subtree when dealt out heaviest first, and the largest load."""
    load = [0.0] * threads
    owner = {}
    for s in sorted(candidates, key=lambda s: -total[s]):
        thread = load.index(min(load))
        load[thread] += total[s]
        owner[s] = thread
    return owner, max(load)
