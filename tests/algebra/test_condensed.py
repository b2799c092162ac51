"""The condensed model with rows held at a displacement: against the equations solved as a whole."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.algebra.condensed import Condensed


@pytest.fixture
def model(rng):
    factor = rng.normal(size=(5, 5))
    W = factor @ factor.T
    names = tuple("abcde")
    return Condensed(
        W, rng.normal(size=5), np.zeros(5), rng.normal(size=5), names, {n: slice(k, k + 1) for k, n in enumerate(names)}
    )


def test_held_rows_keep_their_displacement(model, rng):
    """Any efforts on the others: those of the rows are found that hold them, and with limits those that hold them so far."""
    rows, given = np.array([1, 3]), rng.normal(size=2)
    for _ in range(3):
        efforts = rng.normal(size=5)
        whole = model.efforts_holding(rows, given, efforts=efforts)
        assert whole[[0, 2, 4]] == pytest.approx(efforts[[0, 2, 4]])
        assert model.predicted(whole)[rows] == pytest.approx(given, abs=1e-9)
        high = np.abs(whole[rows]) / 2
        limited = model.efforts_holding(rows, given, np.stack([-high, high], axis=1), efforts)
        assert (np.abs(limited[rows]) <= high).all()
        short = model.predicted(limited)[rows] - given
        at_limit = np.abs(limited[rows]) == high
        assert at_limit.any()
        assert short[~at_limit] == pytest.approx(0.0, abs=1e-9)
        assert (short[at_limit] * np.sign(limited[rows][at_limit]) < 0).all()


def test_rows_that_do_the_same_share_the_effort():
    """Two equal rows: the singular system still gives finite, equal efforts."""
    W = np.ones((2, 2))
    model = Condensed(W, np.zeros(2), np.zeros(2), np.zeros(2), ("a", "b"), {"a": slice(0, 1), "b": slice(1, 2)})
    efforts = model.efforts_holding(np.array([0, 1]), np.array([2.0, 2.0]))
    assert efforts == pytest.approx([1.0, 1.0])
