"""Every signal and every event of a run to a file, by a process that nobody waits for."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import time
import warnings
from collections.abc import Callable, Sequence
from multiprocessing.process import BaseProcess
from multiprocessing.util import Finalize
from os import PathLike
from pathlib import Path
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from pliant.checks import shown, single
from pliant.device.channel import TIME, Channel
from pliant.device.recording import LOSSES, record, require_mcap
from pliant.errors import FileError, InputError, PliantWarning
from pliant.exchange import Flags, Ring, Watchman, start_shielded


class _WatchedRing(Ring):
    """A ring that says when it loses its first record."""

    def __init__(self, channel: Channel) -> None:
        super().__init__(channel.dtype, channel.capacity)
        self._channel = channel.name
        self.tell: Callable[[str], None] | None = None
        """Who says it; None when it was said, or nobody does."""

    def push(self, record: NDArray[np.void]) -> bool:
        if super().push(record):
            return True
        tell, self.tell = self.tell, None
        if tell is not None:
            tell(
                f"records of {self._channel!r} are being lost, because the recorder does not keep up ({self.capacity} are "
                "waiting): give the channel more room (Channel(capacity=...)), record less, or keep the machine less busy"
            )
        return False


class Recorder:
    """Writes the records of some channels to an MCAP file, the log format of Foxglove and others, in a process of its own.

    A loop pushes records into `recorder.ring(name)`, or in another process into `channel.ring(recorder.ring_names[name])`:
    that never waits, and where the recorder does not keep up, what is lost is counted, in the file too, and warned of at the
    first. Messages are JSON with a schema. Every quarter of a second a chunk is on the disk, so a recorder that is killed loses
    less than a second (which is warned of at once), and `repair` makes its file whole. One whose maker dies goes on while
    records come, and then finishes the file.

    The process is started by spawning: a script that makes one needs `if __name__ == "__main__":`.
    """

    def __init__(
        self,
        file: str | PathLike[str],
        channels: Sequence[Channel],
        *,
        origin: float | None = None,
        about: dict[str, str] | None = None,
        overwrite: bool = False,
        ready_within: float = 60.0,
    ) -> None:
        """file: which must not exist, unless it is to be overwritten. origin [s]: what to add to the field "time" to get the
        seconds since 1970 that other programs show; by default for `time.monotonic()`; 0 for simulated time. about: text that
        describes the run."""
        self.file = _usable(file, overwrite)
        self.channels = _by_name(channels)
        about = {} if about is None else about
        if not (isinstance(about, dict) and all(isinstance(word, str) for pair in about.items() for word in pair)):
            raise InputError(f"about is {shown(about)}", remedy="give a dict of text by text")
        require_mcap()
        self._watchman: Watchman | None = None
        self._end = Flags(1)
        context = multiprocessing.get_context("spawn")
        answer, far = context.Pipe(duplex=False)
        self._rings = {name: _WatchedRing(channel) for name, channel in self.channels.items()}
        shift = time.time() - time.monotonic() if origin is None else single(origin, "origin", unit="s")
        self._process = context.Process(
            target=record,
            args=(
                str(self.file),
                tuple(channels),
                self.ring_names,
                shift,
                about,
                overwrite,
                self._end.name,
                far,
            ),
        )
        # not a daemon: it outlives its maker by what it takes to finish the file; but a maker that forgets to close, or ends
        # with an error, must not wait for ever for a process that waits for it
        told = threading.Event()
        Finalize(self, _tell_end, args=(self._end, told), exitpriority=10)
        start_shielded(self._process)
        far.close()
        try:
            said = answer.recv() if answer.poll(ready_within) else "it did not start in time"
        except EOFError:
            said = "its process ended"
        if said != "":
            self._give_up()
            raise FileError(f"{self.file} cannot be recorded: {said}", remedy="check the path, its rights and the disk")
        self._watchman = _watchman(self._process, told, self.file)
        for ring in self._rings.values():
            ring.tell = self._watchman.tell

    @property
    def ring_names(self) -> dict[str, str]:
        """By which other processes find the rings: `channel.ring(name)`."""
        return {name: ring.name for name, ring in self._rings.items()}

    @property
    def pid(self) -> int:
        """Number of the process that writes."""
        return self._process.pid or 0

    @property
    def alive(self) -> bool:
        """Whether the process still writes."""
        return self._process.is_alive()

    def ring(self, name: str) -> Ring:
        """Where this process pushes the records of a channel."""
        if name not in self._rings:
            raise InputError(f"there is no channel {name!r}", remedy=f"choose among {', '.join(self._rings)}")
        return self._rings[name]

    @property
    def lost(self) -> dict[str, int]:
        """Records lost so far, by channel: the ring was full; and where the process has ended, all that it had not brought to
        the disk."""
        ended = self._process.exitcode is not None
        return {name: ring.unsaved if ended else ring.lost for name, ring in self._rings.items()}

    def close(self, within: float = 20.0) -> dict[str, int]:
        """Let the process write what waits, finish the file and end; what was lost, by channel. Warns where the process has
        ended by itself (killed, disk full), or where something was lost. within [s]: how long it may go without getting on
        before it is given up. May be called twice."""
        if not self._rings:
            return {}
        watchman, self._watchman = self._watchman, None
        try:
            if watchman is not None:
                watchman.close()
        finally:
            lost = self._close(within)
        return lost

    def _close(self, within: float) -> dict[str, int]:
        self._end.values[0] = 1.0
        self._wait_for_end(within)
        end = _unhappy_end(self._process.exitcode, within)
        self._end_process()
        lost, told = self.lost, any(ring.tell is None for ring in self._rings.values())
        self._give_up()
        how_many = ", ".join(f"{name} {count}" for name, count in lost.items() if count)
        if end:
            warnings.warn(
                f"{self.file} was not finished, the recorder's process {end}: what it brought to the disk is there, "
                f"{f'and these records are lost: {how_many}' if how_many else 'nothing was lost'}; "
                f"make it whole with: pliant repair {self.file}",
                PliantWarning,
                stacklevel=3,
            )
        elif how_many and not told:
            warnings.warn(f"{self.file} lacks records that found no room: {how_many}", PliantWarning, stacklevel=3)
        return lost

    def _wait_for_end(self, within: float) -> None:
        """As long as it gets on: a busy machine may need its time for all that waits."""
        before, since = -1, time.monotonic()
        while self._process.exitcode is None and time.monotonic() - since < within:
            waiting = sum(ring.waiting + ring.unsaved for ring in self._rings.values())
            if waiting != before:
                before, since = waiting, time.monotonic()
            self._process.join(0.05)

    def _end_process(self) -> None:
        if self._process.exitcode is None:
            self._process.kill()
            self._process.join()

    def _give_up(self) -> None:
        self._end_process()
        for ring in self._rings.values():
            ring.close()
        self._rings = {}
        self._end.close()

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _usable(file: str | PathLike[str], overwrite: bool) -> Path:
    """The file by its whole path, where it can be made."""
    try:
        path = Path(os.fsdecode(file)).absolute()
    except TypeError:
        raise InputError(f"file is a {type(file).__name__}", remedy="give a path, such as 'run.mcap'") from None
    if not path.parent.is_dir():
        raise FileError(f"there is no folder {path.parent}", remedy="make it first, or give another path")
    if path.is_dir():
        raise FileError(f"{path} cannot be recorded: it is a folder", remedy="give a file, such as 'run.mcap'")
    if path.exists() and not overwrite:
        raise FileError(
            f"there is a recording {path} already",
            remedy="give another name, move it away, or say overwrite=True",
        )
    return path


def _by_name(channels: Sequence[Channel]) -> dict[str, Channel]:
    """Channels by their names, where they can be recorded together."""
    if not isinstance(channels, Sequence) or isinstance(channels, str):
        raise InputError(f"channels is {shown(channels)}", remedy="give a list of Channel(name, dtype)")
    for channel in channels:
        if not isinstance(channel, Channel):
            raise InputError(f"a {type(channel).__name__} is no channel", remedy="give a list of Channel(name, dtype)")
    named = {channel.name: channel for channel in channels}
    if not named or len(named) != len(channels) or LOSSES in named:
        raise InputError(
            f"channels are {[channel.name for channel in channels]}",
            remedy=f"give at least one, each with a name of its own, none {LOSSES!r}",
        )
    return named


def _watchman(process: BaseProcess, told: threading.Event, file: Path) -> Watchman:
    """Somebody who tells when the process ends before it was told to; he does not know the recorder, which may be forgotten,
    nor its memory, which may be gone while he looks."""

    def sentinel() -> int | None:
        return process.sentinel if process.exitcode is None else None

    def tell() -> None:
        process.join()
        if not told.is_set():
            how = _unhappy_end(process.exitcode, 0.0) or "ended"
            text = f"the recorder's process {how}: nothing is recorded to {file} any more"
            warnings.warn(text, PliantWarning, stacklevel=4)

    return Watchman(sentinel, tell, "pliant recorder's watchman")


def _tell_end(end: Flags, told: threading.Event) -> None:
    told.set()
    if end.counters.size:
        end.values[0] = 1.0


def _unhappy_end(code: int | None, within: float) -> str:
    """How a process ended that did not do so as it should, in words."""
    if code is None:
        return f"did not end within {within:g} s"
    if code < 0:
        return f"was ended by signal {-code} ({signal.strsignal(-code)})"
    return f"ended with exit code {code}" if code else ""


def event_channel(name: str = "events", *, words: dict[int, str] | None = None) -> Channel:
    """A channel for flags of a guard: time [s], flags, and a value that goes with them (such as the age of the model [s])."""
    from pliant.device.guard import EVENT_WORDS

    dtype = np.dtype([(TIME, "f8"), ("flags", "i8"), ("value", "f8")])
    return Channel(name, dtype, {TIME: "s"}, words={"flags": EVENT_WORDS if words is None else words})
