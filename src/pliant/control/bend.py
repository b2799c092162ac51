"""How far a robot gets out of balance by a step, learnt from the last ones: numbers only."""

from __future__ import annotations

import numpy as np

CALM = 3
"""Steps since the last mistake after which forces out of balance are as they were expected."""


class Bend:
    """Forces out of balance grow with the square of a motion's length: unbalanced = bend length^2."""

    def __init__(self) -> None:
        self._bend, self._known, self._calm = np.inf, 0.0, 0

    def learn(self, length: float, unbalanced: float) -> None:
        """After a motion of this length [J^1/2] so much was out of balance, over the largest load."""
        if length > 0.0:
            bend = unbalanced / length**2
            self._bend = max(bend, 0.5 * self._bend) if self._bend < np.inf else bend
            self._known, self._calm = 2 * length, self._calm + 1

    def mistake(self) -> None:
        """A step was taken back: nothing is expected for a while."""
        self._calm = 0

    def expected(self, length: float) -> float:
        """Out of balance after a motion of this length, over the largest load; infinite where nothing is known."""
        return self._bend * length**2 if length <= self._known and self._calm >= CALM else np.inf
