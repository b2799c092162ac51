"""Names for the array types of this room, and aligned memory."""

from __future__ import annotations

import contextlib
import mmap
from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
RecordArray = npt.NDArray[Any]

CACHE_LINE = 64
"""Bytes; also the width of the widest vector register in use."""


HUGE_PAGE = 1 << 21
"""Bytes; arrays of at least a quarter of it are laid on such pages where the system has them."""


def aligned(count: int) -> FloatArray:
    """Zeros that start at a cache line, so that vector loads at multiples of the vector length never cross one.

    Large ones lie on huge pages: a factor that is swept once per step, between other work, is never in the processor's table
    of pages, and looking its small pages up would cost more than a tenth of the sweep.
    """
    if 8 * count >= HUGE_PAGE // 4 and hasattr(mmap, "MADV_HUGEPAGE"):
        length = rounded_up(8 * count, HUGE_PAGE)
        memory = mmap.mmap(-1, length + HUGE_PAGE, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
        raw = np.frombuffer(memory, np.float64)
        skip = -raw.ctypes.data % HUGE_PAGE
        with contextlib.suppress(OSError):  # a system without huge pages: small ones serve as well
            memory.madvise(mmap.MADV_HUGEPAGE)
        return raw[skip // 8 : skip // 8 + count]
    spare = CACHE_LINE // 8
    raw = np.zeros(count + spare)
    skip = -raw.ctypes.data % CACHE_LINE // 8
    return raw[skip : skip + count]


def rounded_up(count: int, step: int) -> int:
    """The smallest multiple of `step` that is not below `count`."""
    return -(-count // step) * step
