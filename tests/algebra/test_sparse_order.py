"""Orders of elimination, fronts and schedules."""

from __future__ import annotations

import numpy as np
import pytest
from sparse_cases import grid_case, random_case

from pliant.algebra.sparse.order import best_order, minimum_degree, nested_dissection, predicted_flops
from pliant.algebra.sparse.symbolic import COST, analyse, front_flops, supernodes


@pytest.mark.parametrize("with_points", [True, False])
@pytest.mark.parametrize("shape", [(1, 1, 1), (2, 1, 1), (9, 9, 9), (60, 4, 3), (14, 1, 14)])
def test_orders_are_permutations(shape: tuple[int, int, int], with_points: bool) -> None:
    """Every method eliminates each node once."""
    pattern = grid_case(shape).pattern
    graph, points = pattern.graph(), pattern.points if with_points else None
    for order in (minimum_degree(graph), nested_dissection(graph, points), best_order(graph, points)):
        np.testing.assert_array_equal(np.sort(order), np.arange(graph.size))


def test_dissection_of_disconnected_graphs() -> None:
    """Parts that do not hang together need no separator."""
    graph = random_case(0, 300, 150).pattern.graph()
    order = nested_dissection(graph, leaf=10)
    np.testing.assert_array_equal(np.sort(order), np.arange(300))


@pytest.mark.parametrize(("with_points", "share"), [(True, 0.5), (False, 0.7)])
def test_dissection_saves_work_on_a_bulky_grid(with_points: bool, share: float) -> None:
    """On a 12 x 12 x 12 block nested dissection takes a good part less than the natural order, most with positions,
    and less than minimum degree."""
    pattern = grid_case((12, 12, 12)).pattern
    graph = pattern.graph()
    dissected = predicted_flops(graph, nested_dissection(graph, pattern.points if with_points else None))
    assert dissected < share * predicted_flops(graph, np.arange(graph.size))
    assert dissected < predicted_flops(graph, minimum_degree(graph))


def test_best_order_is_the_better_one() -> None:
    """Neither method is preferred: the predicted work decides."""
    for shape in ((40, 3, 3), (10, 10, 10)):
        pattern = grid_case(shape).pattern
        graph = pattern.graph()
        flops = [predicted_flops(graph, f) for f in (minimum_degree(graph), nested_dissection(graph, pattern.points))]
        assert predicted_flops(graph, best_order(graph, pattern.points)) == min(flops)


def test_predicted_flops_are_those_of_a_dense_matrix() -> None:
    """For a full matrix of N unknowns the count is sum k^2 = N (N + 1) (2 N + 1) / 6."""
    graph = random_case(0, 8, 2000).pattern.graph()
    assert predicted_flops(graph, np.arange(8)) == 24 * 25 * 49 / 6


def test_fronts_cover_the_factor() -> None:
    """The fronts hold every entry of the dense factor's structure, found by elimination on sets."""
    pattern = random_case(3, 40, 70).pattern
    graph = pattern.graph()
    symbolic = analyse(pattern)
    neighbours = [
        {int(symbolic.position[u]) for u in graph.indices[graph.indptr[v] : graph.indptr[v + 1]]}
        for v in symbolic.order
    ]
    for j in range(graph.size):
        later = {i for i in neighbours[j] if i > j}
        for i in later:
            neighbours[i] |= later - {i}
        front = symbolic.fronts[symbolic.member[j]]
        rows = symbolic.rows[front["rows"] : front["rows"] + front["below"]]
        assert later <= set(range(front["column"], front["column"] + front["width"])) | set(rows.tolist())


def test_merging_trades_fronts_for_zeros() -> None:
    """Merged fronts are fewer and do more flops than the fundamental ones; both eliminate every node once."""
    graph = grid_case((30, 4, 4)).pattern.graph()
    order = minimum_degree(graph)
    never = np.array([0.0, 0.0, 1.0, 1.0, 1.0])
    counts, flops = [], []
    for cost in (never, COST):
        _, width, below, _ = supernodes(graph, order, cost)
        assert width.sum() == graph.size
        counts.append(len(width))
        flops.append(front_flops(width, below).sum())
    assert counts[1] < counts[0]
    assert flops[1] > flops[0]


@pytest.mark.parametrize("threads", [2, 3, 5])
def test_threads_have_disjoint_subtrees(threads: int) -> None:
    """Each front has one owner; a front outside the top has its whole subtree with the same owner."""
    symbolic = analyse(grid_case((10, 10, 10)).pattern, threads=threads)
    tasks = symbolic.schedule.tasks
    np.testing.assert_array_equal(np.sort(np.concatenate(tasks)), np.arange(len(symbolic.fronts)))
    owner = np.empty(len(symbolic.fronts), int)
    for thread, task in enumerate(tasks):
        owner[task] = thread
    for s, front in enumerate(symbolic.fronts):
        if owner[s] < threads:
            assert (owner[front["first"] : s + 1] == owner[s]).all()
    assert 1.0 < symbolic.schedule.speedup <= threads
