"""The range of stiffness that a wall can be rendered with (Z-width): the stiffest stable one, over rate and delay.

Whether a wall of a stiffness is stable is asked of whoever can say, such as a run in simulated time that ends at rest or
does not. Stiffness is looked for between two ends, by halves of its logarithm.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pliant.analysis.campaign import Campaign, Rows
from pliant.analysis.table import Table
from pliant.checks import number, whole
from pliant.errors import InputError

Stable = Callable[[float], bool]


def stable_range(is_stable: Stable, low: float, high: float, *, rounds: int = 6) -> tuple[float, float]:
    """The softest and the stiffest stable wall between low and high, around their geometric middle; (nan, nan) where that is
    not stable. An end that is stable itself is the answer for that side: the range may go on beyond it.

    >>> softest, stiffest = stable_range(lambda k: 30.0 < k < 7000.0, 10.0, 100000.0, rounds=20)
    >>> round(softest), round(stiffest)
    (30, 7000)
    """
    low, high = number(low, "low", above=0.0), number(high, "high", above=0.0)
    rounds = whole(rounds, "rounds")
    if not low < high:
        raise InputError(f"low is {low}, high is {high}", remedy="give low < high")
    middle = float(np.sqrt(low * high))
    if not is_stable(middle):
        return np.nan, np.nan
    return _edge(is_stable, middle, low, rounds), _edge(is_stable, middle, high, rounds)


def _edge(is_stable: Stable, inside: float, end: float, rounds: int) -> float:
    """The last stable one from inside towards an end."""
    if is_stable(end):
        return end
    for _ in range(rounds):
        between = float(np.sqrt(inside * end))
        if is_stable(between):
            inside = between
        else:
            end = between
    return inside


def zwidth(work: Callable[..., Rows], rates: Sequence[float], delays: Sequence[float], **options: Any) -> Table:
    """One row per rate [Hz] and delay [s] of `work(rate=, delay=)`, as a campaign: options as of `Campaign.run`."""
    jobs = [{"rate": float(rate), "delay": float(delay)} for rate in rates for delay in delays]
    found = Campaign("Z-width", work, jobs).run(**options)
    return Table.of_rows(row for rows in found for row in rows)
