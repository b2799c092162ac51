"""What a moment of a session looks like, and the record of the last seconds that plots show."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.robot import State
from pliant.view.page.stepping import Outcome, Wish

Array = NDArray[np.float64]

STAGES = {
    "linearize": ("assemble", "ports"),
    "factor": ("factor",),
    "condense": ("condense", "solve", "search"),
    "decide": ("decide",),
    "update": ("update",),
}
"""The stages that a page shows, and which of a step's times belong to each."""


@dataclass(frozen=True)
class Snapshot:
    """A moment of a session.

    wish: what is asked of the robot; errors: of every measure of the session, by its label, in its unit; count: steps made;
    clock: seconds of running time; path: the one that is followed, None by hand.
    """

    outcome: Outcome
    wish: Wish
    errors: Mapping[str, float]
    count: int
    clock: float
    running: bool
    path: str | None

    @property
    def state(self) -> State:
        """Where the robot is."""
        return self.outcome.state


class Record:
    """Errors and seconds per stage of the last steps."""

    def __init__(self, length: int = 500) -> None:
        self._rows: deque[tuple[float, dict[str, float], dict[str, float]]] = deque(maxlen=length)

    def add(self, clock: float, errors: Mapping[str, float], times: Mapping[str, float]) -> None:
        """A step at `clock` [s]."""
        self._rows.append((clock, dict(errors), by_stage(times)))

    def clear(self) -> None:
        """Forget all."""
        self._rows.clear()

    def usual_time(self) -> float:
        """Seconds that a step takes: the median of the last fifty."""
        totals = [sum(row[2].values()) for row in list(self._rows)[-50:]]
        return float(np.median(totals)) if totals else 0.0

    def errors(self, names: tuple[str, ...]) -> tuple[Array, ...]:
        """Clock [s], then the error of every effector, in its unit."""
        rows = list(self._rows)
        columns = [[row[1].get(name, np.nan) for row in rows] for name in names]
        return (np.array([row[0] for row in rows]), *(np.array(column) for column in columns))

    def stages(self) -> tuple[Array, ...]:
        """Clock [s], then the seconds of every stage of STAGES."""
        rows = list(self._rows)
        return (np.array([row[0] for row in rows]), *(np.array([row[2][stage] for row in rows]) for stage in STAGES))


def by_stage(times: Mapping[str, float]) -> dict[str, float]:
    """Seconds of a step summed into the stages of STAGES."""
    return {stage: sum(times.get(part, 0.0) for part in parts) for stage, parts in STAGES.items()}
