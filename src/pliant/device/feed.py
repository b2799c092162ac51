"""A drive that is fed: the newest wish goes through a guard, at a rate, from a thread of its own."""

from __future__ import annotations

import threading
import time
import warnings
from contextlib import ExitStack
from enum import IntFlag
from os import PathLike
from types import TracebackType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import number, row_of_numbers
from pliant.device.channel import TIME, Channel
from pliant.device.drive import FOREIGN, Drive, Measurement
from pliant.device.guard import EVENT_WORDS, Guard
from pliant.device.record import Recorder
from pliant.device.wiring import Wiring
from pliant.errors import InputError, PliantWarning
from pliant.exchange import stop_signals

Array = NDArray[np.float64]

PATIENCE = 10.0
"""Seconds that `close` gives the command to reach the safe one."""


COUNTS = ("sent", "received", "lost", "late", "damaged", "foreign", "faults")
"""What a drive counts (`DriveStatus`)."""


class Act(IntFlag):
    """What happened since the command before."""

    STOP = 1
    RELEASE = 2
    DRIVE_STOPPED = 4
    DRIVE_RESUMED = 8
    CLOSE = 16


ACT_WORDS: dict[int, str] = {act: act.name.lower().replace("_", "-") for act in Act if act.name}
"""The word for every act, as it is recorded."""


def _channel(wiring: Wiring) -> Channel:
    """The records of a feed of this drive."""
    n, m = len(wiring.commands), len(wiring.measurements)
    dtype = np.dtype(
        [
            (TIME, "f8"), ("wish", "f8", (n,)), ("wish_age", "f8"), ("command", "f8", (n,)), ("events", "i8"), ("acts", "i8"),
            ("measured", "f8", (m,)), ("measured_age", "f8"), *((count, "i8") for count in COUNTS),
        ]
    )  # fmt: skip
    given, read = (
        units[0] if len(set(units)) == 1 else "" for units in (wiring.command_units, wiring.measurement_units)
    )
    units = {"wish": given, "command": given, "measured": read, "wish_age": "s", "measured_age": "s"}
    rows = {"wish": wiring.commands, "command": wiring.commands, "measured": wiring.measurements}
    words = {"events": EVENT_WORDS, "acts": ACT_WORDS}
    return Channel("feed", dtype, {name: unit for name, unit in units.items() if unit}, rows, words)


class Feed:
    """Sends commands to a drive for somebody who has them now and then: a page, a script.

    The drive hears the guard's command `rate` times per second, whatever happens to whoever wishes: wishes that stop coming
    are held, and after the guard's `hold` the command goes to the safe one, unless they are meant to stay (`keep`).
    `stop` is the emergency stop: the command goes to the safe one at the guard's rates, then the drive is told to stop; it
    stays so until `release`. Every method may be called from any thread, and none waits except `close`.

    The drive is the feed's from then on: nobody else talks to it, and `close` closes it. In a `with` block SIGTERM and SIGHUP
    raise KeyboardInterrupt, as Ctrl-C does, so that each of them leads to the safe command.

    With a `file`, every command is recorded (channel "feed"): the wish and its age, what left, the guard's events, `acts`
    (stop, release and close by whoever wishes, and when the drive was told), what was measured and how long ago, and what the
    drive counted.
    """

    def __init__(
        self,
        guard: Guard,
        drive: Drive,
        *,
        rate: float = 100.0,
        file: str | PathLike[str] | None = None,
        overwrite: bool = False,
    ) -> None:
        """rate [Hz]: of commands; file, overwrite: of a recording (MCAP), by a process of its own, see `Recorder`."""
        self.rate = number(rate, "rate", unit="Hz", above=0.0)
        _require_pair(guard, drive)
        self.guard, self.drive = guard, drive
        self.events = 0
        """The guard's flags of the last command."""
        self._wish, self._stamp = guard.command.copy(), time.monotonic()
        self._kept = False
        self._halted = False
        self._acts = 0
        self._measurement: Measurement | None = None
        channel = _channel(drive.wiring)
        about = {"rate": str(self.rate), "kind": drive.wiring.kind}
        self.recorder = None if file is None else Recorder(file, [channel], about=about, overwrite=overwrite)
        self._record = np.zeros((), channel.dtype)
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._closed = False
        self._told = False
        self._signals = ExitStack()
        self._thread = threading.Thread(target=self._run, name="pliant feed", daemon=True)
        self._thread.start()

    def wish(self, command: ArrayLike) -> None:
        """What the drive should be told from now on, [rows]."""
        value = row_of_numbers(command, "the command")
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
        with self._lock:
            self._acts |= Act.STOP

    def release(self) -> None:
        """End an emergency stop: the drive is told, and wishes are followed again, at the guard's rates."""
        with self._lock:
            self._acts |= Act.RELEASE
            if self._halted:
                self.drive.resume()
                self._acts |= Act.DRIVE_RESUMED
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
            self.guard.stop()
            with self._lock:
                self._acts |= Act.CLOSE
            deadline = time.monotonic() + PATIENCE
            while not self._halted and time.monotonic() < deadline:
                time.sleep(0.01)
        finally:
            with ExitStack() as last:  # each of them, whatever the one before raises
                last.callback(self._signals.close)
                if self.recorder is not None:
                    last.callback(self.recorder.close)
                last.callback(self.drive.close)
                last.callback(self.drive.stop)
                self._closing.set()
                self._thread.join(timeout=1.0)
            self._tell_of_foreign()

    def _run(self) -> None:
        due = time.monotonic()
        while not self._closing.wait(max(0.0, due - time.monotonic())):
            due = max(due + 1.0 / self.rate, time.monotonic())
            self._tick()
            try:
                self._tell_of_foreign()
            except PliantWarning:  # an error here: `close` says it where somebody can hear it
                self._told = False

    def _tell_of_foreign(self) -> None:
        """Once."""
        if self.drive.status.foreign and not self._told:
            self._told = True
            warnings.warn(FOREIGN, PliantWarning, stacklevel=3)

    def _tick(self) -> None:
        """One command; what a drive raises is a fault of it, not the end of the feed."""
        now = time.monotonic()
        with self._lock:
            age = 0.0 if self._kept else now - self._stamp
            self.events = self.guard.check(self._wish, now, age)
            for act in (self._send, self._halt, self._read):
                try:
                    act(now)
                except Exception as error:
                    self.drive.status.fail(error)
            if self.recorder is not None:
                self._push(self.recorder, now, age)
            self._acts = 0

    def _send(self, now: float) -> None:
        self.drive.send(self.guard.command, now)

    def _halt(self, now: float) -> None:
        """Tell the drive to stop, when a stopped guard has brought it to the safe command."""
        if self.guard.stopped and self.is_safe and not self._halted:
            self.drive.stop()
            self._halted = True
            self._acts |= Act.DRIVE_STOPPED

    def _read(self, now: float) -> None:
        self._measurement = self.drive.read() or self._measurement

    def _push(self, recorder: Recorder, now: float, age: float) -> None:
        """What this command was, to the recording; never waits."""
        out, measurement = self._record, self._measurement
        out[TIME], out["wish"], out["wish_age"] = now, self._wish, age
        out["command"], out["events"], out["acts"] = self.guard.command, self.events, self._acts
        out["measured"] = np.nan if measurement is None else measurement.values
        out["measured_age"] = np.nan if measurement is None else measurement.age(now)
        for count in COUNTS:
            out[count] = getattr(self.drive.status, count)
        recorder.ring("feed").push(out)

    def __repr__(self) -> str:
        state = "closed" if self._closed else "stopped" if self.stopped else "following"
        return f"<Feed of {type(self.drive).__name__} at {self.rate:g} Hz, {state}, {self.drive.status.sent} commands sent>"

    def __enter__(self) -> Feed:
        self._signals.enter_context(stop_signals())
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _require_pair(guard: Guard, drive: Drive) -> None:
    """Raise an InputError for a guard and a drive that do not belong together."""
    for what, given, kind in (("guard", guard, Guard), ("drive", drive, Drive)):
        if not isinstance(given, kind):
            raise InputError(f"{what} is a {type(given).__name__}", remedy=f"give a {kind.__name__}")
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
