"""Names for the array types of this room, and aligned memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]
RecordArray = npt.NDArray[Any]

CACHE_LINE = 64
"""Bytes; also the width of the widest vector register in use."""


def aligned(count: int) -> FloatArray:
    """Zeros that start at a cache line, so that vector loads at multiples of the vector length never cross one."""
    spare = CACHE_LINE // 8
    raw = np.zeros(count + spare)
    skip = -raw.ctypes.data % CACHE_LINE // 8
    return raw[skip : skip + count]


def rounded_up(count: int, step: int) -> int:
    """The smallest multiple of `step` that is not below `count`."""
    return -(-count // step) * step
