"""A piece of memory that several processes see."""

from __future__ import annotations

import os
from contextlib import suppress
from multiprocessing.shared_memory import SharedMemory
from multiprocessing.util import Finalize
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import DTypeLike, NDArray

from pliant.errors import FileError, InputError
from pliant.exchange._fence import fence

HEAD = 192
"""Bytes before the records: counters, on cache lines of their own."""


class Shared:
    """Shared memory for `slots` records behind some counters; the process that makes it removes it in the end.

    All of it is there from the beginning: memory that the system has only promised kills whoever touches it when there is none
    left (SIGBUS).
    """

    def __init__(self, dtype: DTypeLike, slots: int, name: str | None = None) -> None:
        """name: of the memory that another process has made; None makes a new one, filled with zeros."""
        try:
            self.dtype = np.dtype(dtype)
        except (TypeError, ValueError) as error:
            raise InputError(f"{dtype!r} is no dtype ({error})", remedy="give a dtype of numbers only") from None
        if self.dtype.hasobject or self.dtype.itemsize == 0:
            raise InputError(f"a record of {self.dtype} cannot be shared", remedy="give a dtype of numbers only")
        size = HEAD + slots * self.dtype.itemsize
        memory = _allocated(size) if name is None else _found(name)
        if memory.size < size:
            found = memory.size
            memory.close()
            raise InputError(f"{name!r} has {found} bytes instead of {size}", remedy="use the same dtype on both sides")
        fence()  # loads it: the first record must not take longer than the others
        self.counters: NDArray[np.int64] = np.ndarray((HEAD // 8,), np.int64, memory.buf)
        self.records: NDArray[np.uint8] = np.ndarray((slots, self.dtype.itemsize), np.uint8, memory.buf, offset=HEAD)
        self._memory = memory  # behind its arrays: it is let go of after them
        # one that is forgotten is removed, too; at the very end, when no other process of ours looks for it any more
        self._release = Finalize(self, _release, args=(memory, name is None), exitpriority=-10)

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
            self._release()

    def __enter__(self):  # type: ignore[no-untyped-def]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _release(memory: SharedMemory, mine: bool) -> None:
    with suppress(BufferError):  # somebody is reading it just now: then it goes with them
        memory.close()
    if mine:
        memory.unlink()


def _found(name: str) -> SharedMemory:
    """Memory that another process has made."""
    try:
        return SharedMemory(name)
    except (OSError, ValueError) as error:
        raise InputError(f"shared memory {name!r}: {error}", remedy="make it first, and keep its maker alive") from None


def _allocated(size: int) -> SharedMemory:
    """New memory of so many bytes, every page of which is there."""
    memory = None
    try:
        memory = SharedMemory(create=True, size=size)
        descriptor = getattr(memory, "_fd", -1)
        if hasattr(os, "posix_fallocate") and descriptor >= 0:
            os.posix_fallocate(descriptor, 0, size)
        else:  # where memory is no file, it is promised only as far as it is there
            np.ndarray((size,), np.uint8, memory.buf)[:] = 0
        return memory
    except OSError as error:
        if memory is not None:
            memory.close()
            memory.unlink()
        raise FileError(
            f"there is no room for {size / 1e6:.3g} MB of shared memory ({error.strerror or error}{_room()})",
            remedy="remove what fills it, or enlarge it: mount -o remount,size=1G /dev/shm, docker run --shm-size=1g",
            bytes=size,
        ) from None


def _room() -> str:
    """What shared memory there is, in words."""
    place = Path("/dev/shm")
    if not (hasattr(os, "statvfs") and place.is_dir()):
        return ""
    room = os.statvfs(place)
    free, total = (blocks * room.f_frsize / 1e6 for blocks in (room.f_bavail, room.f_blocks))
    return f"; {place} has {free:.3g} of {total:.3g} MB free"


def bytes_of(record: NDArray[np.void]) -> NDArray[np.uint8]:
    """A record's memory, as bytes."""
    return record.reshape(1).view(np.uint8)
