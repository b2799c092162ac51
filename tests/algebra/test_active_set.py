"""The first attempt at a QP: a few active sets, in compiled code."""

import numpy as np
import pytest

from pliant.algebra._qp_kernels import solve_by_active_set
from pliant.algebra.qp import QpStatus, QuadraticSolver


def chain(rng, n, rows):
    """A problem whose bounds and rows bind now and then, and a way to move it."""
    root, A = rng.normal(size=(n, n)), rng.normal(size=(rows, n))
    P = root @ root.T / n + 0.05 * np.eye(n)
    low = np.concatenate([-0.5 * np.ones(n), -0.7 * np.ones(rows)])
    return P, A, low, -low


def attempt(solver, P, q, A, low, high):
    return solve_by_active_set(P, q, A, low, high, solver.x, solver.multipliers, solver.work)


@pytest.mark.parametrize("rows", [0, 3])
def test_most_decisions_need_no_other_solver(rows, rng):
    """Along slowly moving targets nearly every problem is solved by guessing, and its answer is DAQP's."""
    import daqp

    n = 5
    P, A, low, high = chain(rng, n, rows)
    solver, q, solved, bound = QuadraticSolver(n, rows), rng.normal(size=n), 0, 0
    for _ in range(300):
        q = q + 0.05 * rng.normal(size=n)
        solved += attempt(solver, P, q, A, low, high)
        assert solver.solve(P, q, low[:n], high[:n], A, low[n:], high[n:]) is QpStatus.OPTIMAL
        bound += (solver.multipliers != 0.0).any()
        expected = daqp.solve(P, q, A, high, low, np.zeros(n + rows, np.intc))[0]
        assert solver.x == pytest.approx(expected, abs=1e-8)
    assert solved > 280
    assert bound > 100


def test_what_cannot_be_guessed_leaves_the_answer_alone(rng):
    """Contradictory rows, a singular matrix and numbers that are none: no answer, and nothing overwritten."""
    P, A = np.eye(2), np.array([[1.0, 1.0], [1.0, 1.0]])
    free = np.full(4, 9.0)
    solver = QuadraticSolver(2, 2)
    assert attempt(solver, P, np.array([-1.0, -2.0]), A, -free, free)
    before = solver.x.copy(), solver.multipliers.copy()
    contradictory = np.array([-9.0, -9.0, 1.0, -9.0]), np.array([9.0, 9.0, 9.0, 0.0])
    assert not attempt(solver, P, np.zeros(2), A, *contradictory)
    assert not attempt(solver, np.zeros((2, 2)), np.ones(2), A, -free, free)
    assert not attempt(solver, P, np.array([np.nan, 0.0]), A, -free, free)
    assert np.array_equal(solver.x, before[0])
    assert np.array_equal(solver.multipliers, before[1])


def test_a_variable_that_is_given_stays_given():
    """Equal bounds are an equation, whatever the sign of the multiplier."""
    solver = QuadraticSolver(2, 0)
    for slope in (-3.0, 3.0):
        q, low, high = np.array([slope, -1.0]), np.array([0.25, -9.0]), np.array([0.25, 9.0])
        assert attempt(solver, np.eye(2), q, np.empty((0, 2)), low, high)
        assert solver.x == pytest.approx([0.25, 1.0])
        assert solver.multipliers == pytest.approx([-slope - 0.25, 0.0])
