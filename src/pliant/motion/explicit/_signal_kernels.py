"""Functions of time, evaluated inside the loop."""

from __future__ import annotations

import math
from typing import Any, Final

from pliant.algebra.compiled import kernel

RAMP: Final = 0
EXPONENTIAL: Final = 1
SINE: Final = 2
PULSE: Final = 3
TABLE: Final = 4


@kernel
def evaluate(signals: Any, time: float, out: Any) -> None:
    """Values of all signals at a time [s]; see `signals` for their meaning."""
    for s in range(signals.kind.size):
        p = signals.numbers[s]
        kind = signals.kind[s]
        if kind == RAMP:
            share = 1.0 if p[2] <= 0.0 else (time - p[3]) / p[2]
            out[s] = p[0] + (p[1] - p[0]) * min(max(share, 0.0), 1.0) if time >= p[3] else p[0]
        elif kind == EXPONENTIAL:
            out[s] = p[0] * (1.0 - math.exp(-(time - p[2]) / p[1])) if time > p[2] else 0.0
        elif kind == SINE:
            out[s] = p[3] + p[0] * math.sin(2.0 * math.pi * p[1] * time + p[2])
        elif kind == PULSE:
            out[s] = pulse(time, p)
        else:
            out[s] = looked_up(signals, s, time)


@kernel
def pulse(time: float, p: Any) -> Any:
    """Amplitude p[0] reached with lag p[4] [s] while a valve is open: a share p[3] of every period, from phase p[2] on.

    Before it opens for the first time the value is zero; then each course begins where the last one ended.
    """
    cycles = p[1] * time - p[2] / (2.0 * math.pi)
    if cycles <= 0.0:
        return 0.0
    period = 1.0 / p[1]
    whole = math.floor(cycles)
    since, open_for, lag = (cycles - whole) * period, p[3] * period, p[4]
    if lag <= 0.0:
        return p[0] if since < open_for else 0.0
    rise, fall = math.exp(-open_for / lag), math.exp(-(period - open_for) / lag)
    settled = (1.0 - rise) * fall / (1.0 - rise * fall)
    begin = settled * (1.0 - (rise * fall) ** whole)
    if since < open_for:
        return p[0] * (1.0 - (1.0 - begin) * math.exp(-since / lag))
    top = 1.0 - (1.0 - begin) * rise
    return p[0] * top * math.exp(-(since - open_for) / lag)


@kernel
def looked_up(signals: Any, s: int, time: float) -> Any:
    """Linear between the entries of a table, constant outside, or again and again with a period p[0]."""
    first, last = signals.start[s], signals.start[s + 1] - 1
    period = signals.numbers[s, 0]
    if period > 0.0:
        time -= period * math.floor(time / period)
    if time <= signals.times[first]:
        return signals.values[first]
    if time >= signals.times[last]:
        return signals.values[last]
    low, high = first, last
    while high - low > 1:
        middle = (low + high) // 2
        if signals.times[middle] <= time:
            low = middle
        else:
            high = middle
    share = (time - signals.times[low]) / (signals.times[high] - signals.times[low])
    return signals.values[low] + share * (signals.values[high] - signals.values[low])
