"""A piece of memory that several processes see."""

from __future__ import annotations

from multiprocessing.shared_memory import SharedMemory
from types import TracebackType

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pliant.errors import InputError
from pliant.exchange._fence import fence

HEAD = 192
"""Bytes before the records: counters, on cache lines of their own."""


class Shared:
    """Shared memory for `slots` records behind some counters; the process that makes it removes it in the end."""

    def __init__(self, dtype: DTypeLike, slots: int, name: str | None = None) -> None:
        """name: of the memory that another process has made; None makes a new one, filled with zeros."""
        self.dtype = np.dtype(dtype)
        if self.dtype.hasobject or self.dtype.itemsize == 0:
            raise InputError(f"a record of {self.dtype} cannot be shared", remedy="give a dtype of numbers only")
        size = HEAD + slots * self.dtype.itemsize
        try:
            self._memory = SharedMemory(name, create=name is None, size=size if name is None else 0)
        except OSError as error:
            raise InputError(
                f"shared memory {name!r}: {error}", remedy="make it first, and keep its maker alive"
            ) from None
        if self._memory.size < size:
            found = self._memory.size
            self._memory.close()
            raise InputError(f"{name!r} has {found} bytes instead of {size}", remedy="use the same dtype on both sides")
        self._mine = name is None
        fence()  # loads it: the first record must not take longer than the others
        self.counters: NDArray[np.int64] = np.ndarray((HEAD // 8,), np.int64, self._memory.buf)
        self.records: NDArray[np.uint8] = np.ndarray(
            (slots, self.dtype.itemsize), np.uint8, self._memory.buf, offset=HEAD
        )

    @property
    def name(self) -> str:
        """By which another process finds it."""
        return self._memory.name

    def blank(self) -> NDArray[np.void]:
        """A record of this kind in this process' own memory, all zeros, to fill and write or to read into."""
        return np.zeros((), self.dtype)

    def close(self) -> None:
        """Let go of the memory; its maker also removes it. May be called twice."""
        if self.counters.size:
            self.counters = np.empty(0, np.int64)
            self.records = np.empty((0, 0), np.uint8)
            self._memory.close()
            if self._mine:
                self._memory.unlink()

    def __enter__(self):  # type: ignore[no-untyped-def]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def bytes_of(record: NDArray[np.void]) -> NDArray[np.uint8]:
    """A record's memory, as bytes."""
    return record.reshape(1).view(np.uint8)
