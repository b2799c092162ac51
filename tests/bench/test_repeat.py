"""Figures of several runs."""

from __future__ import annotations

from pliant.bench.repeat import repeated
from pliant.view import Figure
from pliant.view.figures import bounded


def test_bounds_are_judged_by_the_worst_run_and_the_rest_by_the_median():
    """A bound that failed once has failed."""
    values = iter([(3.0, 21.0, 0.2), (1.0, 19.0, 0.4), (2.0, 25.0, 0.3)])

    def measure():
        time, ratio, share = next(values)
        return [
            Figure("time", time, "ms"),
            bounded("ratio", ratio, "x", 20.0, "higher", "bound"),
            bounded("share", share, "x", 0.5, "lower", "bound"),
        ]

    time, ratio, share = repeated(measure, 3)
    assert time.value == 2.0
    assert (ratio.value, ratio.holds) == (19.0, False)
    assert (share.value, share.holds) == (0.4, True)
    assert "worst of 3 (median 21)" in ratio.source
