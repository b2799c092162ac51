"""Numbers that processes tell each other, without a lock."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from pliant.exchange.shared import Shared

POLL = 0.005
"""Seconds between two looks at a flag that is waited for."""


class Flags(Shared):
    """Some numbers in shared memory, zero at first, each with one writer: `values` [n].

    A number is written and read in one piece, so whoever is killed at any moment leaves nothing locked behind, as one inside an
    event of `multiprocessing` does.
    """

    def __init__(self, count: int = 1, name: str | None = None) -> None:
        """count: how many; name: of those that another process has made."""
        super().__init__(np.float64, count, name)
        self.values: NDArray[np.float64] = np.ndarray((count,), np.float64, self.records)

    def wait(self, place: int, seconds: float) -> bool:
        """Wait until a number is not zero; False where it still is after so long."""
        end = time.monotonic() + seconds
        while not self.values[place]:
            if time.monotonic() >= end:
                return False
            time.sleep(POLL)
        return True

    def close(self) -> None:
        """Let go of the memory; what was told last stays readable here."""
        self.values = self.values.copy()
        super().close()
