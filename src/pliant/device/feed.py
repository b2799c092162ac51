"""A drive that is fed: the newest wish goes through a guard, at a rate, from a thread of its own."""

from __future__ import annotations

import threading
import time
from types import TracebackType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.device.drive import Drive
from pliant.device.guard import Guard
from pliant.errors import InputError

Array = NDArray[np.float64]

PATIENCE = 10.0
"""Seconds that `close` gives the command to reach the safe one."""


class Feed:
    """Sends commands to a drive for somebody who has them now and then: a page, a script.

    The drive hears the guard's command `rate` times per second, whatever happens to whoever wishes: wishes that stop coming
    are held, and after the guard's `hold` the command goes to the safe one, unless they are meant to stay (`keep`).
    `stop` is the emergency stop: the command goes to the safe one at the guard's rates, then the drive is told to stop; it
    stays so until `release`. Every method may be called from any thread, and none waits except `close`.

    The drive is the feed's from then on: nobody else talks to it, and `close` closes it.
    """

    def __init__(self, guard: Guard, drive: Drive, *, rate: float = 100.0) -> None:
        """rate [Hz]: of commands."""
        if not (np.isfinite(rate) and rate > 0):
            raise InputError(f"rate is {rate} Hz", remedy="give a positive rate")
        if len(guard.low) != len(drive.wiring.commands):
            raise InputError(
                f"the guard has {len(guard.low)} rows and the drive takes {len(drive.wiring.commands)} commands",
                remedy="make both from the same robot: Guard.of_robot, Wiring.of_robot",
            )
        if guard.kind not in (None, drive.wiring.kind):
            raise InputError(
                f"the guard is for {guard.kind}s and the drive takes {drive.wiring.kind}s",
                remedy=f"make it with Guard.of_robot(robot, {drive.wiring.kind!r})",
            )
        self.guard, self.drive, self.rate = guard, drive, float(rate)
        self.events = 0
        """The guard's flags of the last command."""
        self._wish, self._stamp = guard.command.copy(), time.monotonic()
        self._kept = False
        self._halted = False
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="pliant feed", daemon=True)
        self._thread.start()

    def wish(self, command: ArrayLike) -> None:
        """What the drive should be told from now on, [rows]."""
        value = np.array(command, dtype=float).reshape(-1)
        if value.shape != self._wish.shape:
            raise InputError(f"the command has {len(value)} rows", remedy=f"give {len(self._wish)}")
        with self._lock:
            self._wish[:] = value
            self._stamp, self._kept = time.monotonic(), False

    def keep(self, kept: bool) -> None:
        """Whether the last wish is meant to stay, however old it gets, until the next (whoever wishes has paused)."""
        with self._lock:
            self._kept, self._stamp = kept, time.monotonic()

    def stop(self) -> None:
        """Emergency stop."""
        self.guard.stop()

    def release(self) -> None:
        """End an emergency stop: the drive is told, and wishes are followed again, at the guard's rates."""
        with self._lock:
            if self._halted:
                self.drive.resume()
            self._halted = False
            self._stamp = time.monotonic()
            self.guard.release()

    @property
    def stopped(self) -> bool:
        """Whether an emergency stop is in force."""
        return self.guard.stopped

    @property
    def is_safe(self) -> bool:
        """Whether the safe command is out."""
        return bool(np.abs(self.guard.command - self.guard.safe).max() < 1e-12)

    def close(self) -> None:
        """Go to the safe command, tell the drive to stop, close it, and end. May be called twice."""
        if self._closed:
            return
        self._closed = True
        try:
            self.stop()
            deadline = time.monotonic() + PATIENCE
            while not self._halted and time.monotonic() < deadline:
                time.sleep(0.01)
        finally:
            self._closing.set()
            self._thread.join(timeout=1.0)
            self.drive.stop()
            self.drive.close()

    def _run(self) -> None:
        due = time.monotonic()
        while not self._closing.wait(max(0.0, due - time.monotonic())):
            due = max(due + 1.0 / self.rate, time.monotonic())
            self._tick()

    def _tick(self) -> None:
        """One command; what a drive raises is a fault of it, not the end of the feed."""
        now = time.monotonic()
        with self._lock:
            age = 0.0 if self._kept else now - self._stamp
            self.events = self.guard.check(self._wish, now, age)
            try:
                self.drive.send(self.guard.command, now)
                if self.guard.stopped and self.is_safe and not self._halted:
                    self.drive.stop()
                    self._halted = True
            except Exception as error:
                self.drive.status.fail(error)

    def __repr__(self) -> str:
        state = "closed" if self._closed else "stopped" if self.stopped else "following"
        return f"<Feed of {type(self.drive).__name__} at {self.rate:g} Hz, {state}, {self.drive.status.sent} commands sent>"

    def __enter__(self) -> Feed:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
