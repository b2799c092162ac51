"""How far the next step may go, learnt from the last ones: numbers only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

USEFUL, POOR, GOOD = 0.05, 0.25, 0.75
"""Shares of the promised way: below the first a step is taken back, below the second the next is shorter, from the third on it
may be longer."""
NOWHERE = 1e-4
"""A radius below this share of the largest change of efforts leads nowhere."""
STIRRED = 1e-6
"""How far, over the robot's size, targets must move to count as others; and errors fall for a step to be judged by it."""
MISTAKES, WORTH = 3, 1e-4
"""So many mistakes in a row must have brought the effectors closer by this share of the robot's size, or the robot rests."""
PATIENCE = 10
"""Shortened steps in a row that promise next to nothing before the robot rests."""
CAREFUL = 2
"""Shortened steps after a mistake that do not make the radius larger, and begin exactly in balance."""


class Trust:
    """A trust region (Conn, Gould and Toint 2000) of one robot of a size [m].

    radius       how far the next step may go: energy of the change of efforts [J^1/2]
    largest      the largest such change so far
    careful      how many steps are to be taken with care
    stability    whether stability, or a corner next to its loss, is what stopped the last steps
    """

    def __init__(self, size: float) -> None:
        self._size = size
        self.radius, self.largest, self.careful, self.stability = np.inf, 0.0, 0, False
        self._mistaken: list[float] = []
        self._crept = 0
        self._idle: Array | None = None

    @property
    def leads_nowhere(self) -> bool:
        """Whether no step that is still allowed is worth taking."""
        return self.radius < NOWHERE * self.largest

    def promises(self, was: float, hoped: float) -> bool:
        """Whether a step from one distance from the targets to another is one to be judged by it."""
        return was - hoped > STIRRED * self._size

    def accept(self, change: Array, energy: float, *, share: float, shortened: bool, promised: bool) -> None:
        """A step that was good: its change of efforts (m,) and its energy, the share of the promised way that it brought (NaN:
        nothing was promised), whether it was shortened."""
        self._crept = self._crept + 1 if shortened and not promised else 0
        if self._crept > PATIENCE:
            self.radius = 0.0
        if share < POOR or self._turned(change, promised):
            self.radius = min(self.radius, 0.5 * energy)
        elif shortened and not share < GOOD and self.careful == 0:
            self.radius *= 2.0
        if shortened:
            self.careful = max(0, self.careful - 1)
        self.largest = max(self.largest, energy)

    def _turned(self, change: Array, promised: bool) -> bool:
        """Whether efforts that only share out work differently, with the effectors where they should be, go back and forth."""
        last, self._idle = self._idle, None if promised else change
        return not promised and last is not None and float(change @ last) < 0.0

    def refuse(self, energy: float, was: float, *, stability: bool, progress: bool) -> None:
        """A step that was a mistake: its energy, the distance from the targets that it began with (NaN: there were none), and
        whether stability was lost or no progress made."""
        self.careful = CAREFUL
        self.stability = stability or (self.stability and not progress)
        self.radius = min(self.radius, 0.25 * energy) if energy > 0.0 else 0.25 * self.radius
        if was == was:
            self._mistaken = [*self._mistaken[-MISTAKES:], was]
            if len(self._mistaken) > MISTAKES and self._mistaken[0] - was < WORTH * self._size:
                self.radius = 0.0

    def redirect(self) -> None:
        """Other targets: mistakes on the way to the last ones do not count."""
        self._mistaken = []

    def rest(self, *, stability: bool) -> None:
        """No further step: from here the robot was led twice to where no step led out, by loss of stability or otherwise."""
        self.radius, self.stability = 0.0, stability

    def wake(self, radius: float) -> None:
        """Something else is asked for: at least this radius again."""
        self.radius, self.careful, self.stability = max(self.radius, radius), 0, False
        self._mistaken, self._crept, self._idle = [], 0, None
