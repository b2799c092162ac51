"""How long a Newton step may be."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


def longest_good_step(
    attempt: Callable[[float], tuple[T, float, float]], value: float, residual: float, slope: float
) -> T | None:
    """The first of the steps of length 1, 1/2, 1/4, ... that lowers the merit enough (Armijo), or None.

    attempt(length): what the step leads to, its merit and its residual. value, residual, slope: merit and residual now, and
    the slope of the merit along the full step (negative). Near the minimum, where differences of the merit drown in rounding,
    a step that lowers the residual is good as well.
    """
    rounding = 1e-9 * (abs(value) + abs(slope))
    length = 1.0
    for _ in range(30):
        candidate, merit, remaining = attempt(length)
        if merit <= value + 1e-4 * length * slope:
            return candidate
        if abs(merit - value) <= rounding and remaining < residual:
            return candidate
        length *= 0.5
    return None
