"""All records of one writer, for one reader."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pliant.errors import InputError
from pliant.exchange._fence import fence
from pliant.exchange.shared import Shared, bytes_of

WRITTEN, LOST, TAKEN, SAVED = 0, 1, 8, 9
"""Places of the counters; the reader's are on a cache line of their own."""


class Ring(Shared):
    """A queue of records in shared memory with one writer and one reader. Where it is full, new records are lost, and
    counted: the writer never waits."""

    def __init__(self, dtype: DTypeLike, capacity: int, name: str | None = None) -> None:
        """capacity: how many records fit; dtype and capacity as the maker's where a name is given."""
        if not (isinstance(capacity, int) and capacity >= 1):
            raise InputError(f"capacity is {capacity!r}", remedy="give a whole number, at least 1")
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
        while len(batch := self.take_batch(1)):
            yield batch[0]

    def take_batch(self, most: int) -> NDArray[np.void]:
        """The records that wait, oldest first, at most so many, as one array [n], a copy."""
        taken = int(self.counters[TAKEN])
        count = min(int(self.counters[WRITTEN]) - taken, most)
        batch = np.zeros(count, self.dtype)
        into, first = batch.view(np.uint8).reshape(count, self.dtype.itemsize), taken % self.capacity
        before_end = min(count, self.capacity - first)
        fence()
        into[:before_end] = self.records[first : first + before_end]
        into[before_end:] = self.records[: count - before_end]
        fence()
        self.counters[TAKEN] = taken + count
        return batch

    @property
    def waiting(self) -> int:
        """How many records wait for the reader."""
        return int(self.counters[WRITTEN]) - int(self.counters[TAKEN])

    def note_saved(self, records: int) -> None:
        """The reader has brought so many records, in all, to where they outlive it."""
        self.counters[SAVED] = records

    @property
    def unsaved(self) -> int:
        """How many records were pushed, or lost, and would be gone with the reader now."""
        return int(self.counters[WRITTEN]) + self.lost - int(self.counters[SAVED])

    @property
    def lost(self) -> int:
        """How many records were lost so far."""
        return int(self.counters[LOST])
