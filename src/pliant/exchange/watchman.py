"""Somebody who looks after a process, and tells what happens, on behalf of a loop that has no time for it."""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from collections import deque
from collections.abc import Callable
from multiprocessing.connection import wait

from pliant.errors import PliantWarning


class Watchman:
    """A thread that sleeps until a process ends, and then acts, or until it has something to tell, which is a warning.

    While it sleeps it takes nothing from anybody: no polling, no lock. What it raises (a warning that is an error, say) comes
    out of `close`.
    """

    def __init__(self, process_end: Callable[[], int | None], act: Callable[[], None], name: str) -> None:
        """process_end: what is ready when the process that matters now has ended (its sentinel), None where there is none to
        wait for; act: what to do when it has."""
        self._process_end, self._act = process_end, act
        self._texts: deque[str] = deque()
        self._bell, self._rope = os.pipe()
        os.set_blocking(self._rope, False)
        self._over = False
        self._caught: BaseException | None = None
        self._thread = threading.Thread(target=self._watch, name=name, daemon=True)
        self._thread.start()

    def tell(self, text: str) -> None:
        """Let it warn; never waits, and raises nothing."""
        self._texts.append(text)
        self._ring()

    def _ring(self) -> None:
        with contextlib.suppress(OSError):  # full: it has been rung for already; or it is over
            os.write(self._rope, b"!")

    def close(self) -> None:
        """End it, and raise what it caught. May be called twice."""
        if self._over:
            return
        self._over = True
        self._ring()
        self._thread.join()
        os.close(self._bell)
        os.close(self._rope)
        if self._caught is not None:
            raise self._caught

    def _watch(self) -> None:
        while not self._over:
            end = self._process_end()
            ready = wait([self._bell] if end is None else [self._bell, end])
            if self._bell in ready:
                os.read(self._bell, 4096)
            elif not self._over:
                self._do(self._act)
            self._tell_all()
        self._tell_all()

    def _tell_all(self) -> None:
        while self._texts:
            text = self._texts.popleft()
            self._do(lambda text=text: warnings.warn(text, PliantWarning, stacklevel=5))  # type: ignore[misc]

    def _do(self, act: Callable[[], None]) -> None:
        try:
            act()
        except BaseException as error:
            self._caught = self._caught or error
