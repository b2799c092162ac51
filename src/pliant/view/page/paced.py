"""Work that is done again and again at a rate, in a thread of its own, while others look on and change their wishes."""

from __future__ import annotations

import threading
import time
from abc import ABC, abstractmethod


class Paced(ABC):
    """Starts, pauses and ends such work. Every method may be called from any thread."""

    def __init__(self, rate: float) -> None:
        """rate: turns per second [Hz] at most."""
        self.rate = rate
        self._turn = threading.RLock()  # held for a whole turn: by who takes it, and by who must not have one meanwhile
        self._changed = threading.Condition()  # held for a moment: by who reads or changes what there is to know
        self._thread: threading.Thread | None = None
        self._running = self._ended = False

    @abstractmethod
    def _has_work(self) -> bool:
        """Whether a turn is due; asked when something has changed."""

    @abstractmethod
    def _take_turn(self) -> None:
        """One turn, in the thread; raises nothing."""

    def _rest(self) -> None:  # noqa: B027 (most have nothing to do then)
        """Called when there is no work, before waiting for some."""

    def start(self) -> None:
        """Work from now on, in a thread of its own."""
        with self._changed:
            self._running = True
            if self._thread is None:
                self._thread = threading.Thread(target=self._run, name="pliant page work", daemon=True)
                self._thread.start()
            self._changed.notify_all()

    def pause(self) -> None:
        """No turn from now on; waits for the one under way."""
        with self._turn, self._changed:
            self._running = False

    def end(self) -> None:
        """Stop the thread; it cannot be started again."""
        with self._changed:
            self._running, self._ended = False, True
            self._changed.notify_all()
        if self._thread is not None:
            self._thread.join(timeout=10.0)

    def _run(self) -> None:
        due = time.perf_counter()
        while True:
            with self._changed:
                while not (self._ended or self._has_work()):
                    self._rest()
                    self._changed.wait()
                    due = time.perf_counter()
                if self._ended:
                    return
            with self._turn:
                self._take_turn()
            due = max(due + 1.0 / self.rate, time.perf_counter() - 1.0 / self.rate)
            time.sleep(max(due - time.perf_counter(), 1e-4))  # always a breath, so that others get their turn
