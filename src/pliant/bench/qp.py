"""How long a decision takes: QPs like those of the inverse, cold and warm."""

from __future__ import annotations

import numpy as np

from pliant.algebra.qp import QuadraticProgram, solve_qp
from pliant.view import Figure
from pliant.view.figures import bounded


def measure() -> list[Figure]:
    """Median and 99th percentile of 2,000 solves with bounds and courses, for 4, 8, 20 and 40 variables."""
    figures = []
    for n in (4, 8, 20, 40):
        cold, warm = _times(n)
        for kind, times in (("warm", warm), ("cold", cold)):
            median, high = 1e6 * float(np.median(times)), 1e6 * float(np.percentile(times, 99))
            figures.append(Figure(f"qp.{kind}_median_us_{n}", median, "us", better="lower"))
            name = f"qp.{kind}_p99_us_{n}"
            bound = n == 8 and kind == "warm"
            figures.append(
                bounded(name, high, "us", 100.0, "lower", "bound")
                if bound
                else Figure(name, high, "us", better="lower")
            )
    return figures


def _times(n: int) -> tuple[list[float], list[float]]:
    """Seconds of cold and warm solves along slowly changing problems, as a controller meets them."""
    rng = np.random.default_rng(n)
    J, root = rng.normal(size=(3, n)), rng.normal(size=(n, n))
    W = root @ root.T / n + 0.2 * np.eye(n)
    P = J.T @ J
    P += 1e-8 * np.linalg.norm(P) / np.linalg.norm(W) * W
    target, guess = rng.normal(size=3), None
    cold, warm = [], []
    for _ in range(2050):
        target = target + 0.02 * rng.normal(size=3)
        problem = QuadraticProgram(P, -J.T @ target, np.zeros(n), np.full(n, 2.0), W, np.full(n, -2.0), np.full(n, 2.0))
        cold.append(solve_qp(problem).seconds)
        solution = solve_qp(problem, guess)
        warm.append(solution.seconds)
        guess = solution.multipliers
    return cold[50:], warm[50:]
