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
    """Places along the way of a robot, so far apart [m], and the way back along them.

    returning    whether there is a way back to go
    """

    def __init__(self, apart: float) -> None:
        self._apart = apart
        self._places: list[Place] = []
        self._back: list[Place] = []

    def add(self, state: State, effectors: Array) -> None:
        """A place in balance; one that is close to the last is left out."""
        if self._places and np.linalg.norm(effectors - self._places[-1].effectors) < self._apart:
            return
        if len(self._places) == MOST:
            del self._places[1::2]
        self._places.append(Place(state, effectors))

    @property
    def returning(self) -> bool:
        """Whether the robot is on its way back."""
        return bool(self._back)

    def turn_back(self, effectors: Array, goal: Array) -> bool:
        """Go back to the place that was closest to a goal; False where the effectors are about as close now."""
        far = [float(np.linalg.norm(place.effectors - goal)) for place in self._places]
        if not far or min(far) > np.linalg.norm(effectors - goal) - self._apart:
            self._back = []
            return False
        first = int(np.argmin(far))
        self._back, self._places = self._places[first:], self._places[:first]
        return True

    def stay(self) -> None:
        """No further back."""
        self._back = []

    def next_back(self, reach: float) -> Place:
        """The farthest place on the way back that is within reach [m] of a step."""
        place = first = self._back.pop()
        while self._back and np.linalg.norm(self._back[-1].effectors - first.effectors) < reach:
            place = self._back.pop()
        return place
