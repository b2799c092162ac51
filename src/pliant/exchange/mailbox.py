"""The newest record of one writer."""

from __future__ import annotations

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pliant.exchange._fence import fence
from pliant.exchange.shared import Shared, bytes_of

SLOTS = 8
NEWEST, VERSIONS, NUMBERS = 0, 8, 16
"""Places of the counters: which slot is newest; per slot its version and the number of its record."""


class Mailbox(Shared):
    """The newest record of one writer for any number of readers; neither ever waits.

    The writer fills the slot after the newest and then declares it the newest. Each slot has a version that is odd while it
    is being filled (a sequence lock), so a reader that was overtaken knows it and reads again; with eight slots that takes
    a writer that is eight times as fast. A writer that dies in the middle of a record leaves the newest whole one in
    place, and another may take its post.
    """

    def __init__(self, dtype: DTypeLike, name: str | None = None) -> None:
        """dtype: of the record; name: of a mailbox that another process has made, None for a new one."""
        super().__init__(dtype, SLOTS, name)

    def write(self, record: NDArray[np.void]) -> int:
        """Put a record in; returns its number, 1 for the first."""
        counters = self.counters
        slot = (int(counters[NEWEST]) + 1) % SLOTS
        counters[VERSIONS + slot] |= 1
        fence()
        self.records[slot] = bytes_of(record)
        number = self.number + 1
        counters[NUMBERS + slot] = number
        fence()
        counters[VERSIONS + slot] += 1
        fence()
        counters[NEWEST] = slot
        return number

    def read(self, into: NDArray[np.void]) -> int:
        """Copy the newest record; returns its number, 0 while there is none (or, after ten attempts, none whole)."""
        counters, target = self.counters, bytes_of(into)
        for _ in range(10):
            if self.number == 0:
                return 0
            slot = int(counters[NEWEST])
            version = int(counters[VERSIONS + slot])
            fence()
            number = int(counters[NUMBERS + slot])
            target[:] = self.records[slot]
            fence()
            if version % 2 == 0 and int(counters[VERSIONS + slot]) == version:
                return number
        return 0

    @property
    def number(self) -> int:
        """Number of the newest record, 0 while there is none."""
        return int(self.counters[NUMBERS + int(self.counters[NEWEST])])
