"""What asks a process to end: Ctrl-C (SIGINT), the stop of a service (SIGTERM), a terminal that is closed (SIGHUP)."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from multiprocessing.process import BaseProcess
from types import FrameType
from typing import Any

STOP_SIGNALS: tuple[signal.Signals, ...] = tuple(
    getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)
)
"""Those of them that this system has."""


class _Switchboard:
    """Who wants to hear of stop signals, newest last, and what was done about them before. Handlers belong to the whole
    process, so there is one."""

    def __init__(self) -> None:
        self.acts: list[Callable[[], None]] = []
        self.before: dict[int, Any] = {}

    def connect(self, act: Callable[[], None], numbers: tuple[signal.Signals, ...]) -> bool:
        """Let signals call `act`; False where this is not the main thread, to which they go."""
        try:
            for number in numbers:
                if number not in self.before:
                    self.before[number] = signal.signal(number, self.hear)
        except ValueError:
            return False
        self.acts.append(act)
        return True

    def disconnect(self, act: Callable[[], None]) -> None:
        """Undo `connect`, in whatever order that happens."""
        self.acts.remove(act)
        if not self.acts:
            with suppress(ValueError):  # not the main thread: the next signal does it
                self._restore()

    def _restore(self) -> None:
        for number in list(self.before):
            before = self.before[number]
            if before is not None:  # not of Python: nobody can put it back
                signal.signal(number, before)
            del self.before[number]

    def hear(self, number: int, frame: FrameType | None) -> None:
        """The handler of all of them."""
        if self.acts:
            self.acts[-1]()
        else:
            self._restore()
            os.kill(os.getpid(), number)


_SWITCHBOARD = _Switchboard()


def _interrupt() -> None:
    raise KeyboardInterrupt


@contextmanager
def stop_signals(act: Callable[[], None] | None = None) -> Iterator[None]:
    """While in force, every stop signal calls `act` in the main thread, whoever else has a handler for it; without one, it
    raises KeyboardInterrupt, as Ctrl-C does, unless somebody has a handler of their own.

    A SIGHUP that the process was told to ignore (nohup) stays ignored. In another thread than the main one this does nothing.
    """
    usual = (signal.SIG_DFL, signal.default_int_handler)
    taken = tuple(
        number
        for number in STOP_SIGNALS
        if not (number.name == "SIGHUP" and signal.getsignal(number) is signal.SIG_IGN)
        and (act is not None or signal.getsignal(number) in usual or number in _SWITCHBOARD.before)
    )

    def heard() -> None:
        (act or _interrupt)()

    connected = _SWITCHBOARD.connect(heard, taken)
    try:
        yield
    finally:
        if connected:
            _SWITCHBOARD.disconnect(heard)


def start_shielded(process: BaseProcess) -> None:
    """Start a process that no stop signal reaches, from its first moment: they go to all processes of a terminal or of a
    service, and a helper must stay until whoever made it has come to rest. It calls `stay_shielded` first."""
    if not hasattr(signal, "pthread_sigmask"):
        process.start()
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, STOP_SIGNALS)
    try:
        process.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def stay_shielded() -> None:
    """In a process of `start_shielded`: ignore stop signals. It ends when it is told to, or when whoever made it has died."""
    for number in STOP_SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    if hasattr(signal, "pthread_sigmask"):
        signal.pthread_sigmask(signal.SIG_UNBLOCK, STOP_SIGNALS)
