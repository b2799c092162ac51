"""What visitors do, heard in the order in which they do it.

A wish that cannot be met is told to who had it, and never ends the page. Callbacks of one lane run one after the other, in a
thread of the page's own, with the value that the control had when it was used: two presses in a row are two presses, however
busy the page is.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from pliant.errors import InputError, PliantError

_lanes: WeakKeyDictionary[asyncio.AbstractEventLoop, dict[str, ThreadPoolExecutor]] = WeakKeyDictionary()
"""Of each page (each has its own event loop): a thread for each lane."""


def heard(callback: Callable[[Any], Any], lane: str = "robot") -> Callable[[Any], Any]:
    """What a control calls: `callback` with the control's value, where a visitor and not the page has set it.

    lane: what need not wait for each other is in different lanes: an emergency stop does not wait for a step of the robot.
    """

    async def answer(
        event: Any,
    ) -> None:  # begins in the order of the messages, before the next one can change the value
        if event.client_id is None:
            return
        lanes = _lanes.setdefault(asyncio.get_running_loop(), {})
        if lane not in lanes:
            lanes[lane] = ThreadPoolExecutor(1, thread_name_prefix=f"pliant page {lane}")
        lanes[lane].submit(_try, callback, event.target.value, event.client)

    return answer


def dragged(callback: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """What a target in the scene calls when a mouse moves it: `callback` with the event, at once; it must be quick."""

    async def answer(event: Any) -> None:
        _try(callback, event, event.client)

    return answer


def _try(callback: Callable[[Any], Any], said: Any, client: Any) -> None:
    try:
        callback(said)
    except Exception as problem:
        text = str(problem) if isinstance(problem, PliantError) else f"{type(problem).__name__}: {problem}"
        if client is not None:
            client.add_notification("This was not done", text[:300], auto_close_seconds=10.0, color="orange")


def value_within(value: float, low: float, high: float) -> float:
    """The number that a control was set to, no further than its ends: a browser keeps to them, not everybody has one."""
    if not np.isfinite(value):
        raise InputError(f"a slider was set to {value}", remedy="give a number")
    return float(np.clip(value, low, high))
