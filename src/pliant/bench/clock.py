"""Interleaved timing."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping


def smallest_times(actions: Mapping[str, Callable[[], object]], *, seconds: float, least: int = 3) -> dict[str, float]:
    """Smallest time [s] of each action, all run in turns for about so many seconds and at least `least` rounds.

    Two rounds go first and do not count: compilation, caches.
    """
    best = dict.fromkeys(actions, float("inf"))
    begin, rounds = time.perf_counter(), 0
    while rounds < least + 2 or time.perf_counter() - begin < seconds:
        for name, action in actions.items():
            start = time.perf_counter()
            action()
            elapsed = time.perf_counter() - start
            if rounds >= 2:
                best[name] = min(best[name], elapsed)
        rounds += 1
        if rounds == 2:
            begin = time.perf_counter()
    return best
