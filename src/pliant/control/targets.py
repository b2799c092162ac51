"""Where the effectors should be, for a loop that has no time to think about it."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import number, row_of_numbers
from pliant.control.trajectory import Trajectory
from pliant.errors import InputError

Array = NDArray[np.float64]


@runtime_checkable
class Targets(Protocol):
    """Where the effectors should be; anything with this method will do."""

    def fill(self, seconds: float, out: Array) -> None:
        """Write the target [e] at this time since the start [s]. Not a number: hold the last command."""


class PathTargets:
    """A trajectory of one effector as a table, so that the control loop only looks it up; over and over."""

    def __init__(self, path: Trajectory, rate: float) -> None:
        """rate [Hz]: of the table."""
        self._rate = rate = number(rate, "rate", unit="Hz", above=0.0)
        self._table = np.array(list(path.sampled(rate)))

    def fill(self, seconds: float, out: Array) -> None:
        """See `Targets`."""
        out[:] = self._table[int(seconds * self._rate) % len(self._table)]


class HeldTarget:
    """A target [e] that stays; `place` may be written to while a loop runs."""

    def __init__(self, place: ArrayLike) -> None:
        self.place = row_of_numbers(place, "the target").copy()

    def fill(self, seconds: float, out: Array) -> None:
        """See `Targets`."""
        out[:] = self.place


def as_targets(given: Targets | Trajectory | ArrayLike, rows: tuple[str, ...], rate: float) -> Targets:
    """Targets for these effector rows from what a user has: targets, the path of one effector, or a place."""
    if isinstance(given, Targets) and not isinstance(given, np.ndarray):  # which can be filled otherwise
        return given
    remedy = f"give {len(rows)} numbers ({', '.join(rows)}), a trajectory of one effector, or an object with fill(seconds, out)"
    if isinstance(given, Trajectory):
        if len(rows) != 3:
            raise InputError(
                f"a trajectory is a path of one point, and there are {len(rows)} effector rows", remedy=remedy
            )
        return PathTargets(given, rate)
    try:
        held = HeldTarget(given)
    except (TypeError, ValueError) as error:
        raise InputError(f"a {type(given).__name__} is no target", remedy=remedy) from error
    if held.place.shape != (len(rows),):
        raise InputError(f"the target has {held.place.size} numbers", remedy=remedy)
    return held
