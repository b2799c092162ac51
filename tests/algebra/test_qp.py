"""Quadratic programs: optimality conditions by our own residuals, on all kinds of random problems."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.algebra.qp import QpStatus, QuadraticProgram, QuadraticSolver, audit, solve_qp


def random_problem(rng, kind):
    """A problem as the inverse makes them: an error with few rows, a small energy term, bounds and courses."""
    n = int(rng.integers(1, 13))
    rows = int(rng.integers(1, 5)) if kind != "square" else n
    J = rng.normal(size=(rows, n))
    if kind == "deficient" and n > 1:
        J[:, -1] = J[:, 0]
    root = rng.normal(size=(n, n))
    W = root @ root.T + 0.1 * np.eye(n)
    P = J.T @ J
    P += 1e-8 * np.linalg.norm(P) / np.linalg.norm(W) * W
    width = 1e-3 if kind == "tight" else 1.0
    inside = rng.normal(size=n)
    lower, upper = inside - width * rng.uniform(0, 1, n), inside + width * rng.uniform(0, 1, n)
    lower[rng.random(n) < 0.2] = -np.inf
    at = W @ inside
    course = width * rng.uniform(0, 2, n)
    return QuadraticProgram(P, rng.normal(size=n), lower, upper, W, at - course, at + course)


@pytest.mark.parametrize("kind", ["square", "redundant", "deficient", "tight"])
def test_answers_are_optimal_by_our_own_residuals(kind, rng):
    """300 problems of each kind: primal, dual and complementarity residuals below 1e-8."""
    for _ in range(300):
        problem = random_problem(rng, kind)
        solution = solve_qp(problem)
        assert solution.ok
        scale = 1 + np.abs(problem.q).max() + np.abs(problem.P).max()
        assert solution.primal < 1e-8
        assert solution.dual < 1e-8 * scale
        assert solution.gap < 1e-8 * scale * (1 + np.abs(solution.multipliers).max())
        assert np.array(audit(problem, solution.x, solution.multipliers)) == pytest.approx(
            [solution.primal, solution.dual, solution.gap]
        )


def test_no_feasible_point_is_better(rng):
    """Random feasible points never have a lower objective."""
    for _ in range(50):
        problem = random_problem(rng, "redundant")
        best = problem.value(solve_qp(problem).x)
        for _ in range(40):
            x = np.clip(rng.normal(size=len(problem.q)), problem.lower, problem.upper)
            rows = problem.A @ x
            if (rows >= problem.row_lower).all() and (rows <= problem.row_upper).all():
                assert problem.value(x) >= best - 1e-9


def test_infeasible_problems_are_said_to_be(rng):
    """200 problems whose rows contradict the bounds, or whose bounds cross: INFEASIBLE and no number that could be used."""
    for k in range(200):
        problem = random_problem(rng, "redundant")
        n = len(problem.q)
        bounded = QuadraticProgram(
            problem.P, problem.q, np.full(n, -1.0), np.full(n, 1.0), np.ones((1, n)), [n + 0.1], [n + 1.0]
        )
        crossed = QuadraticProgram(problem.P, problem.q, np.full(n, 1.0), np.full(n, 0.5))
        solution = solve_qp(crossed if k % 4 == 0 else bounded)
        assert solution.status is QpStatus.INFEASIBLE
        assert np.isnan(solution.x).all()


def test_warm_starts_give_the_same_answer(rng):
    """Starting from the active set of a neighbour changes the iterations, not the answer."""
    for _ in range(100):
        problem = random_problem(rng, "square")
        cold = solve_qp(problem)
        warm = solve_qp(problem, cold.multipliers)
        assert warm.x == pytest.approx(cold.x, abs=1e-7)


def test_another_solver_agrees(rng):
    """scipy's bounded least squares finds the same point where there are only bounds."""
    from scipy.optimize import lsq_linear

    for _ in range(30):
        n = int(rng.integers(2, 8))
        J, b = rng.normal(size=(n + 2, n)), rng.normal(size=n + 2)
        solution = solve_qp(QuadraticProgram(J.T @ J, -J.T @ b, np.full(n, -0.2), np.full(n, 0.3)))
        other = lsq_linear(J, b, (-0.2, 0.3), tol=1e-14)
        assert solution.x == pytest.approx(other.x, abs=1e-6)


@pytest.mark.parametrize("kind", ["square", "redundant", "deficient", "tight"])
def test_the_solver_of_loops_gives_the_same_answers(kind, rng):
    """One problem after the other in the same memory, each from the last one's working set: optimal by our residuals, and as
    good as a fresh solve."""
    solver = None
    for _ in range(100):
        problem = random_problem(rng, kind)
        size = len(problem.q), len(problem.row_lower)
        if solver is None or (len(solver.x), len(solver.multipliers) - len(solver.x)) != size:
            solver = QuadraticSolver(*size)
        A = problem.A if size[1] else np.empty((0, size[0]))
        status = solver.solve(
            problem.P, problem.q, problem.lower, problem.upper, A, problem.row_lower, problem.row_upper
        )
        expected = solve_qp(problem)
        assert status is expected.status is QpStatus.OPTIMAL
        assert max(audit(problem, solver.x, solver.multipliers)) < 1e-7
        assert problem.value(solver.x) <= problem.value(expected.x) + 1e-8


def test_the_solver_of_loops_survives_what_cannot_be_solved(rng):
    """Contradictory bounds and numbers that are none give a status, keep the last answer, and do no harm to the next."""
    solver, P = QuadraticSolver(2, 1), np.eye(2)
    low, high, A = np.zeros(2), np.ones(2), np.ones((1, 2))
    row = np.array([-9.0]), np.array([9.0])
    assert solver.solve(P, np.array([-0.5, -2.0]), low, high, A, *row) is QpStatus.OPTIMAL
    assert solver.x == pytest.approx([0.5, 1.0])
    assert solver.solve(P, np.zeros(2), high, low, A, *row) is QpStatus.INFEASIBLE
    assert solver.solve(P, np.zeros(2), low, high, A, np.array([5.0]), np.array([6.0])) is QpStatus.INFEASIBLE
    assert solver.solve(P, np.array([np.nan, 0.0]), low, high, A, *row) is QpStatus.FAILED
    assert solver.solve(P, np.zeros(2), low, np.array([np.nan, 1.0]), A, *row) is QpStatus.INFEASIBLE
    assert solver.x == pytest.approx([0.5, 1.0])
    assert solver.solve(P, np.array([-0.25, 2.0]), low, high, A, *row) is QpStatus.OPTIMAL
    assert solver.x == pytest.approx([0.25, 0.0])
