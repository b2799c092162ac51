"""Who steers: of all visitors of a page one; the others look on."""

from __future__ import annotations

import math
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from pliant.checks import as_numbers

OWN = frozenset({"ViewerCameraMessage", "GetRenderResponseMessage", "LocalStorageGetItemResponseMessage"})
"""Messages about a visitor's own window."""
NEVER = frozenset({"ShareUrlRequest", "ShareUrlDisconnect"})
"""Messages that ask for a tunnel to the outside."""


@dataclass(eq=False)
class Visitor:
    """Somebody with the page open: a connection of a browser.

    number: 1 for the first to come; own: controls that only this visitor has.
    """

    number: int
    own: set[str] = field(default_factory=set)
    client: Any = None
    """The page's server's word for this visitor, once the browser has drawn."""


class Helm:
    """One visitor steers, the first to come. Every message of every visitor is judged here, in `allows`, and nowhere else.

    Who steers can let go; who leaves has let go. Then nobody steers until one of the visitors takes over; somebody who comes
    when there is no other visitor steers at once. Every method may be called from any thread.
    """

    def __init__(self, changed: Callable[[], None] | None = None) -> None:
        """changed: called after somebody else steers, came or left."""
        self._lock = threading.RLock()
        self._changed = changed or (lambda: None)
        self._visitors: list[Visitor] = []
        self._steering: Visitor | None = None
        self._count = 0
        self.for_all: set[str] = set()
        """Controls that every visitor may use, such as an emergency stop."""

    @property
    def visitors(self) -> tuple[Visitor, ...]:
        """Those who are here, in the order in which they came."""
        with self._lock:
            return tuple(self._visitors)

    @property
    def steering(self) -> Visitor | None:
        """The one who steers."""
        return self._steering

    def enter(self) -> Visitor:
        """Somebody comes."""
        with self._lock:
            self._count += 1
            visitor = Visitor(self._count)
            if not self._visitors:
                self._steering = visitor
            self._visitors.append(visitor)
        self._changed()
        return visitor

    def leave(self, visitor: Visitor) -> None:
        """Somebody goes."""
        with self._lock:
            self._visitors = [other for other in self._visitors if other is not visitor]
            self._steering = None if self._steering is visitor else self._steering
        self._changed()

    def let_go(self, visitor: Visitor) -> None:
        """Who steers does so no longer; of somebody else nothing changes."""
        with self._lock:
            if self._steering is not visitor:
                return
            self._steering = None
        self._changed()

    def take(self, visitor: Visitor) -> bool:
        """Steer from now on, where nobody does; whether this visitor steers now."""
        with self._lock:
            if self._steering is None and visitor in self._visitors:
                self._steering = visitor
            took = self._steering is visitor
        self._changed()
        return took

    def allows(self, visitor: Visitor, kind: str, message: Mapping[str, Any]) -> bool:
        """Whether a message of a kind may take effect, with what it says.

        Of a control only its value may be changed, and a place or an orientation must be one. What is about a visitor's own
        window, or a control for all, is for all; everything else is for who steers.
        """
        if kind in NEVER or not _is_sound(message):
            return False
        if kind == "GuiUpdateMessage" and not _sets_a_value(message.get("updates")):
            return False
        if kind in OWN or self._steering is visitor:
            return True
        return kind == "GuiUpdateMessage" and message.get("uuid") in self.for_all | visitor.own


def _sets_a_value(updates: Any) -> bool:
    """Whether a control is given a value, and nothing else of it is changed; a number that is none is no value."""
    if not isinstance(updates, Mapping) or set(updates) != {"value"}:
        return False
    value = updates["value"]
    return not isinstance(value, float) or math.isfinite(value)


def _is_sound(message: Mapping[str, Any]) -> bool:
    """Whether the place and the orientation that a message speaks of, if any, are so many finite numbers."""
    for name, count in (("position", 3), ("wxyz", 4)):
        if name in message:
            given = as_numbers(message[name])
            if given.shape != (count,) or not np.isfinite(given).all():
                return False
    return True
