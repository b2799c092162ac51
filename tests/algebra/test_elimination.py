"""Dense elimination against LAPACK's."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.algebra._elimination_kernels import solve_square, solve_symmetric


@pytest.mark.parametrize("size", [1, 2, 31, 32, 33, 64, 101])
def test_answers_are_those_of_lapack(size):
    rng = np.random.default_rng(size)
    G = rng.normal(size=(size, size))
    right = rng.normal(size=size)
    for matrix, solve in ((G, solve_square), (G @ G.T + np.eye(size), solve_symmetric)):
        J = np.column_stack([matrix, right])
        assert solve(J) > 0.0
        np.testing.assert_allclose(J[:, -1], np.linalg.solve(matrix, right), rtol=1e-7, atol=1e-9)


def test_the_smallest_pivot_tells_of_rows_that_do_the_same():
    rng = np.random.default_rng(0)
    G = rng.normal(size=(40, 12))
    J = np.column_stack([G @ G.T, np.ones(40)])
    assert abs(solve_square(J.copy())) < 1e-12
    assert solve_symmetric(J.copy()) < 1e-12
    assert solve_symmetric(np.column_stack([-np.eye(3), np.ones(3)])) == 0.0
    assert solve_square(np.zeros((3, 4))) == 0.0


def test_no_equations_have_no_answer_to_find():
    assert solve_square(np.empty((0, 1))) == np.inf
    assert solve_symmetric(np.empty((0, 1))) == np.inf
