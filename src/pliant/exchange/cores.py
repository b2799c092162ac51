"""The processor: which cores there are to use, and what of them was taken away."""

from __future__ import annotations

import os
from pathlib import Path


def usable_cores() -> tuple[int, ...]:
    """Numbers of the cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return tuple(sorted(os.sched_getaffinity(0)))
    return tuple(range(os.cpu_count() or 1))


def taken_by_host() -> float:
    """Seconds, of all cores, that the host of a virtual machine did not give it since it was started (proc(5): steal); 0 where
    the system does not tell."""
    try:
        total = Path("/proc/stat").read_text().split("\n", 1)[0].split()
        return int(total[8]) / os.sysconf("SC_CLK_TCK")
    except (OSError, AttributeError, IndexError):  # not Linux, or an old one
        return 0.0
