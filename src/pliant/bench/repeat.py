"""Figures of several runs as one list: a machine is noisy, and one run tells little about a bound."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from statistics import median

from pliant.view import Figure


def repeated(measure: Callable[[], Sequence[Figure]], times: int) -> list[Figure]:
    """The figures of so many runs: the worst where there is a bound to keep, the median elsewhere."""
    runs = [measure() for _ in range(times)]
    return [_together(list(same)) for same in zip(*runs, strict=True)]


def _together(same: list[Figure]) -> Figure:
    """One figure for the same one of several runs."""
    values = [figure.value for figure in same]
    if len(same) == 1:
        return same[0]
    if same[0].holds is None:
        return replace(same[0], value=median(values))
    worst = max(values) if same[0].better == "lower" else min(values)
    source = f"{same[0].source}, worst of {len(same)} (median {median(values):.3g})"
    return replace(same[0], value=worst, source=source, holds=all(figure.holds for figure in same))
