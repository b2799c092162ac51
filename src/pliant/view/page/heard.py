"""What visitors do, heard: a wish that cannot be met is told to who had it, and never ends the page."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.errors import InputError, PliantError


def heard(callback: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The callback of a control or of a target in the scene, with whatever it raises told on the page of the visitor."""
    if inspect.iscoroutinefunction(callback):

        async def answer_in_order(event: Any) -> None:
            try:
                await callback(event)
            except Exception as problem:
                _tell(event, problem)

        return answer_in_order

    def answer(event: Any) -> None:
        try:
            callback(event)
        except Exception as problem:
            _tell(event, problem)

    return answer


def _tell(event: Any, problem: Exception) -> None:
    text = str(problem) if isinstance(problem, PliantError) else f"{type(problem).__name__}: {problem}"
    client = getattr(event, "client", None)
    if client is not None:
        client.add_notification("This was not done", text[:300], auto_close_seconds=10.0, color="orange")


def value_within(event: Any, low: float, high: float) -> float:
    """The number that a control was set to, no further than its ends: a browser keeps to them, not everybody has one."""
    value = float(event.target.value)
    if not np.isfinite(value):
        raise InputError(f"a slider was set to {value}", remedy="give a number")
    return float(np.clip(value, low, high))
