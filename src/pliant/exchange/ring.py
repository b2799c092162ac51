"""All records of one writer, for one reader."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pliant.errors import InputError
from pliant.exchange._fence import fence
from pliant.exchange.shared import Shared, bytes_of

WRITTEN, TAKEN, LOST = 0, 8, 1
"""Places of the counters; the reader's is on a cache line of its own."""


class Ring(Shared):
    """A queue of records in shared memory with one writer and one reader. Where it is full, new records are lost, and
    counted: the writer never waits."""

    def __init__(self, dtype: DTypeLike, capacity: int, name: str | None = None) -> None:
        """capacity: how many records fit; dtype and capacity as the maker's where a name is given."""
        if capacity < 1:
            raise InputError(f"capacity is {capacity}", remedy="give at least 1")
        super().__init__(dtype, capacity, name)
        self.capacity = capacity

    def push(self, record: NDArray[np.void]) -> bool:
        """Append a record; False where it was lost because the ring is full."""
        counters = self.counters
        written = int(counters[WRITTEN])
        if written - int(counters[TAKEN]) >= self.capacity:
            counters[LOST] += 1
            return False
        fence()
        self.records[written % self.capacity] = bytes_of(record)
        fence()
        counters[WRITTEN] = written + 1
        return True

    def take(self) -> Iterator[NDArray[np.void]]:
        """The records that wait, oldest first, each a copy."""
        while int(self.counters[TAKEN]) < int(self.counters[WRITTEN]):
            taken = int(self.counters[TAKEN])
            record = self.blank()
            fence()
            bytes_of(record)[:] = self.records[taken % self.capacity]
            fence()
            self.counters[TAKEN] = taken + 1
            yield record

    @property
    def lost(self) -> int:
        """How many records were lost so far."""
        return int(self.counters[LOST])
