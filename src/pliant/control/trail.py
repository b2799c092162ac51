"""Where a robot has been: the way back from corners."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.robot import State

Array = NDArray[np.float64]

MOST = 64
"""Places that are remembered; when there are more, every other one is forgotten."""


@dataclass(frozen=True)
class Place:
    """A state in balance, and where its effectors are, weighted rows (e,) [m]."""

    state: State
    effectors: Array


class Trail:
    """Places along the way of a robot, so far apart [m]."""

    def __init__(self, apart: float) -> None:
        self._apart = apart
        self._places: list[Place] = []

    def add(self, state: State, effectors: Array) -> None:
        """A place in balance; one that is close to the last is left out."""
        if self._places and np.linalg.norm(effectors - self._places[-1].effectors) < self._apart:
            return
        if len(self._places) == MOST:
            del self._places[1::2]
        self._places.append(Place(state, effectors))

    def way_back(self, effectors: Array, goal: Array) -> list[Place]:
        """The places from the one that was closest to a goal on, in the order of the trail, which ends before them; none where
        the effectors are about as close now."""
        far = [float(np.linalg.norm(place.effectors - goal)) for place in self._places]
        if not far or min(far) > np.linalg.norm(effectors - goal) - self._apart:
            return []
        first = int(np.argmin(far))
        way, self._places = self._places[first:], self._places[:first]
        return way
