"""Waiting for what must happen, however slow the machine is."""

from __future__ import annotations

import inspect
import time

PATIENCE = 120.0
"""Seconds that a test waits for what must happen; on a machine that does what it is told it takes a few."""


def until(holds, seconds=PATIENCE):
    """Wait until a function without arguments gives something true, which is returned."""
    end = time.monotonic() + seconds
    while not (value := holds()):
        assert time.monotonic() < end, f"in {seconds} s it never came that {inspect.getsource(holds)}"
        time.sleep(0.005)
    return value
