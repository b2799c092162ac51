"""Somebody who looks after a process on behalf of a loop that has no time for it."""

from __future__ import annotations

import contextlib
import os
import threading
from collections.abc import Callable
from multiprocessing.connection import wait


class Watchman:
    """A thread that sleeps until a process ends, or until it is rung for, and then acts.

    While it sleeps it takes nothing from anybody: no polling, no lock. What `act` raises (a warning that is an error, say)
    comes out of `close`.
    """

    def __init__(self, process_end: Callable[[], int | None], act: Callable[[], None], name: str) -> None:
        """process_end: what is ready when the process that matters now has ended (its sentinel), None where there is none to
        wait for; act: what to do then, and when the bell rings."""
        self._process_end, self._act = process_end, act
        self._bell, self._rope = os.pipe()
        os.set_blocking(self._rope, False)
        self._over = False
        self._caught: BaseException | None = None
        self._thread = threading.Thread(target=self._watch, name=name, daemon=True)
        self._thread.start()

    def ring(self) -> None:
        """Let it act; never waits."""
        with contextlib.suppress(OSError):  # full: it has been rung for already; or it is over
            os.write(self._rope, b"!")

    def close(self) -> None:
        """End it, and raise what it caught. May be called twice."""
        if self._over:
            return
        self._over = True
        self.ring()
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
            if self._over:
                return
            try:
                self._act()
            except BaseException as error:
                self._caught = self._caught or error
