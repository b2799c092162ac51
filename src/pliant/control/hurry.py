"""Steps that close in slowly, all the same way, made longer."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

ALIKE = 0.95
"""Cosine of the angle between two changes from which they go the same way."""
SLOW, LONGEST = 0.3, 20.0
"""Ratio of two such changes from which it is slow; the largest factor that a change is made longer by."""


class Hurry:
    """Aitken's rule for decisions one after the other.

    Where targets are out of reach, decisions by a linear model close in on the closest place by a ratio (Gauss and Newton leave
    out the curvature, which counts as much as the distance that is left). When two changes in a row go the same way, the second
    rho times the first, what is to come is 1 + rho + rho^2 + ... = 1 / (1 - rho) times the second.
    """

    def __init__(self) -> None:
        self._last: Array | None = None

    def factor(self, change: Array, most: float) -> float:
        """How many times a change (n,) to go, at most so many; after more than once the next two are as they are."""
        last, self._last = self._last, change
        if last is None:
            return 1.0
        along, before, now = float(change @ last), float(last @ last), float(change @ change)
        if not along > ALIKE * np.sqrt(before * now):
            return 1.0
        ratio = along / before
        factor = min(1 / (1 - ratio), LONGEST, most) if SLOW < ratio < 1.0 else 1.0
        if factor > 1.0:
            self._last = None
        return max(1.0, factor)

    def forget(self) -> None:
        """What was before does not count."""
        self._last = None
