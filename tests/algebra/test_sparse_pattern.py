"""Block patterns and the symmetric product."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sparse_cases import random_case

from pliant.algebra.sparse import BlockPattern, multiply
from pliant.errors import InputError


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(0, 60), st.booleans())
def test_full_matrix(seed: int, size: int, edges: int, shuffled: bool) -> None:
    """The scipy matrix is the one that the definition gives by loops."""
    case = random_case(seed, size, edges, shuffled_source=shuffled)
    np.testing.assert_allclose(case.pattern.to_csc(case.values).toarray(), case.dense, rtol=0, atol=1e-12)


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 2**32 - 1), st.integers(1, 20), st.integers(0, 60))
def test_multiply(seed: int, size: int, edges: int) -> None:
    """The product with a vector is that of the full matrix, added to what was there."""
    case = random_case(seed, size, edges)
    x, start = np.random.default_rng(seed).normal(size=(2, 3 * size))
    out = start.copy()
    multiply(case.pattern.rows, case.pattern.cols, case.values, x, out)
    np.testing.assert_allclose(out, start + case.dense @ x, rtol=0, atol=1e-9)


def test_graph() -> None:
    """The graph lists each neighbour once, in both directions, without the node itself."""
    graph = BlockPattern(4, [0, 1, 1, 0, 3], [0, 0, 0, 1, 1]).graph()
    neighbours = [graph.indices[graph.indptr[v] : graph.indptr[v + 1]].tolist() for v in range(4)]
    assert neighbours == [[1], [0, 3], [], [1]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, [], []), "no unknowns"),
        ((2, [0, 1], [0]), "one entry per block"),
        ((2, [0, 2], [0, 0]), "block 1 has rows = 2"),
        ((2, [0, 1], [0, -1]), "block 1 has cols = -1"),
        ((2, [0.5], [0]), "not a list of integers"),
        ((2, [0], [0], [-1]), "negative"),
        ((2, [0], [0], None, np.zeros((3, 3))), "one position per unknown"),
    ],
)
def test_refuses_bad_patterns(arguments: tuple, message: str) -> None:
    """Each check names the offender."""
    with pytest.raises(InputError, match=message):
        BlockPattern(*arguments)
