"""What was decided about contacts, beside the efforts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.qpcc import Qpcc, QpccStatus

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ContactDecision:
    """How a decision by a QP with complementarity ended (`pliant.algebra.qpcc`).

    search        LOCAL, EXACT or STOPPED; INFEASIBLE where nothing could be decided and the efforts stayed as they were
    start, value  the objective with the contacts as they are with the actuation frozen (infinite where limits are missed
                  then), and in the end; in units of the largest response, comparable within a step
    sticking, open, sliding
                  numbers of the contacts in each piece, by the name of their touch, as in `state.contacts`
    let_go        ports with a given displacement whose effort is at a limit
    grip          sum of the normal forces of each touch [N]
    qps           QPs that were solved
    violation     the largest of any condition, scaled
    seconds       that the search took
    problem, now, begun
                  the problem itself, the sought efforts (n,) and the pieces (B,) that the search begins from
    penetration   how deep a point is inside what it touches after the step [m], and whether that is worth a word (`inside`)
    """

    search: QpccStatus
    start: float
    value: float
    sticking: Mapping[str, NDArray[np.int64]]
    open: Mapping[str, NDArray[np.int64]]
    sliding: Mapping[str, NDArray[np.int64]]
    let_go: tuple[str, ...]
    grip: Mapping[str, float]
    qps: int
    violation: float
    seconds: float
    problem: Qpcc
    now: Array
    begun: NDArray[np.int64]
    penetration: float = np.nan
    inside: bool = False
