"""Every signal and every event of a run to a file, by a process that nobody waits for."""

from __future__ import annotations

import json
import multiprocessing
import os
import signal
import time
import warnings
from collections.abc import Sequence
from multiprocessing.util import Finalize
from os import PathLike
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np

from pliant.device.channel import TIME, Channel
from pliant.errors import FileError, InputError, MissingExtraError, PliantWarning
from pliant.exchange import Ring

CHUNK = 0.25
"""Seconds between chunks that are on the disk."""
GRACE = 1.0
"""Seconds without a record after which a recorder whose maker has died finishes its file."""
LOSSES = "recorder"
"""Name of the channel on which the recorder tells what was lost."""


class Recorder:
    """Writes the records of some channels to an MCAP file, the log format of Foxglove and others, in a process of its own.

    A loop pushes records into `recorder.ring(name)`, or in another process into `channel.ring(recorder.ring_names[name])`:
    that never waits, and where the recorder does not keep up, what is lost is counted, in the file too. Messages are JSON with
    a schema. Every quarter of a second a chunk is on the disk, so a recorder that is killed loses less than a second, and
    `repair` makes its file whole. One whose maker dies goes on while records come, and then finishes the file.

    The process is started by spawning: a script that makes one needs `if __name__ == "__main__":`.
    """

    def __init__(
        self,
        file: str | PathLike[str],
        channels: Sequence[Channel],
        *,
        origin: float | None = None,
        about: dict[str, str] | None = None,
        ready_within: float = 60.0,
    ) -> None:
        """file: overwritten where it exists. origin [s]: what to add to the field "time" to get the seconds since 1970
        that other programs show; by default for `time.monotonic()`; 0 for simulated time. about: text that describes the
        run."""
        self.file = Path(file).absolute()
        self.channels = {channel.name: channel for channel in channels}
        if not channels or len(self.channels) != len(channels) or LOSSES in self.channels:
            raise InputError(
                f"channels are {[channel.name for channel in channels]}",
                remedy=f"give at least one, each with a name of its own, none {LOSSES!r}",
            )
        if not self.file.parent.is_dir():
            raise FileError(f"there is no folder {self.file.parent}", remedy="make it first, or give another path")
        _require_mcap()
        self._rings = {name: channel.ring() for name, channel in self.channels.items()}
        context = multiprocessing.get_context("spawn")
        self._stop = context.Event()
        answer, far = context.Pipe(duplex=False)
        shift = time.time() - time.monotonic() if origin is None else float(origin)
        self._process = context.Process(
            target=_record,
            args=(str(self.file), tuple(channels), self.ring_names, shift, about or {}, self._stop, far),
        )
        # not a daemon: it outlives its maker by what it takes to finish the file
        self._process.start()
        # a maker that forgets to close, or ends with an error, must not wait for ever for a process that waits for it
        Finalize(self, self._stop.set, exitpriority=10)
        far.close()
        try:
            said = answer.recv() if answer.poll(ready_within) else "it did not start in time"
        except EOFError:
            said = "its process ended"
        if said != "":
            self._give_up()
            raise FileError(f"{self.file} cannot be recorded: {said}", remedy="check the path, its rights and the disk")

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
        """Records lost so far, by channel: the ring was full."""
        return {name: ring.lost for name, ring in self._rings.items()}

    def close(self, within: float = 20.0) -> dict[str, int]:
        """Let the process write what waits, finish the file and end; what was lost, by channel. Warns where the process has
        ended by itself (killed, disk full). May be called twice."""
        if not self._rings:
            return {}
        lost = self.lost
        self._stop.set()
        self._process.join(within)
        end = _unhappy_end(self._process.exitcode, within)
        self._give_up()
        if end:
            warnings.warn(
                f"{self.file} was not finished, the recorder's process {end}: what it brought to the disk is there; "
                f"make it whole with: pliant repair {self.file}",
                PliantWarning,
                stacklevel=2,
            )
        return lost

    def _give_up(self) -> None:
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        for ring in self._rings.values():
            ring.close()
        self._rings = {}

    def __enter__(self) -> Recorder:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _unhappy_end(code: int | None, within: float) -> str:
    """How a process ended that did not do so as it should, in words."""
    if code is None:
        return f"did not end within {within:g} s"
    if code < 0:
        return f"was ended by signal {-code} ({signal.strsignal(-code)})"
    return f"ended with exit code {code}" if code else ""


def _require_mcap() -> None:
    try:
        import mcap.writer  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(f"recordings need mcap ({error})", remedy="pip install mcap") from error


class _Writer:
    """The file, in the recorder's process."""

    def __init__(self, file: str, channels: Sequence[Channel], shift: float, about: dict[str, str]) -> None:
        from mcap.writer import Writer

        self._stream = open(file, "wb")  # noqa: SIM115 - open as long as the recording runs
        self._writer = Writer(self._stream, chunk_size=16 << 20, enable_data_crcs=True)
        self._writer.start(profile="", library="pliant")
        self._shift = shift
        self._writer.add_metadata("pliant", {"origin": repr(shift), **about})
        self._channels = {channel.name: (channel, self._register(channel)) for channel in channels}
        self._counts = dict.fromkeys(self._channels, 0)
        self._losses = self._register_losses()
        self.flush()

    def _register(self, channel: Channel) -> int:
        schema = self._writer.register_schema(f"pliant.{channel.name}", "jsonschema", channel.schema())
        return int(self._writer.register_channel(f"/{channel.name}", "json", schema, channel.metadata()))

    def _register_losses(self) -> int:
        properties = {"time": {"type": "number"}, "channel": {"type": "string"}, "lost": {"type": "integer"}}
        schema = json.dumps({"type": "object", "title": "pliant.losses", "properties": properties}).encode()
        number = self._writer.register_schema("pliant.losses", "jsonschema", schema)
        return int(self._writer.register_channel(f"/{LOSSES}", "json", number))

    def add(self, name: str, record: Any) -> None:
        """Append a record."""
        channel, number = self._channels[name]
        stamp = self._stamp(float(record[TIME]))
        self._writer.add_message(number, stamp, channel.message(record), stamp, self._counts[name] & 0xFFFFFFFF)
        self._counts[name] += 1

    def tell_lost(self, name: str, lost: int, seconds: float) -> None:
        """Append what was lost so far on a channel."""
        stamp = self._stamp(seconds)
        data = json.dumps({"time": seconds, "channel": name, "lost": lost}).encode()
        self._writer.add_message(self._losses, stamp, data, stamp)

    def _stamp(self, seconds: float) -> int:
        """Nanoseconds since 1970, as far as they fit."""
        total = (seconds + self._shift) * 1e9
        return int(total) if 0 <= total < 2**63 else 0

    def flush(self) -> None:
        """Finish the chunk and bring it to the disk."""
        self._writer.flush()
        os.fsync(self._stream.fileno())

    def finish(self) -> None:
        """Write the index and the footer, and close the file."""
        self._writer.finish()
        self._stream.flush()
        os.fsync(self._stream.fileno())
        self._stream.close()


def _record(
    file: str,
    channels: tuple[Channel, ...],
    ring_names: dict[str, str],
    shift: float,
    about: dict[str, str],
    stop: Any,
    answer: Any,
) -> None:
    """The process: takes records until it is told to stop, or its maker is dead and no more come."""
    # an interrupt from the keyboard goes to all processes of a terminal: the maker decides when the recording ends
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        rings = {channel.name: channel.ring(ring_names[channel.name]) for channel in channels}
        writer = _Writer(file, channels, shift, about)
    except Exception as error:
        answer.send(str(error) or type(error).__name__)
        return
    if hasattr(os, "nice"):
        os.nice(5)
    answer.send("")
    parent = multiprocessing.parent_process()
    told = dict.fromkeys(rings, 0)
    newest = 0.0
    flushed = last_record = time.monotonic()
    while True:
        # asked before the rings are emptied, so that what came before the end is taken
        ending = stop.is_set()
        alone = parent is not None and not parent.is_alive()
        came = 0
        for name, ring in rings.items():
            for record in ring.take():
                writer.add(name, record)
                newest = float(record[TIME])
                came += 1
                if came % 1024 == 0:
                    flushed = _flushed_if_due(writer, flushed)
            if ring.lost > told[name]:
                told[name] = ring.lost
                writer.tell_lost(name, ring.lost, newest)
        now = time.monotonic()
        if came:
            last_record = now
        flushed = _flushed_if_due(writer, flushed)
        if ending or (alone and now - last_record > GRACE):
            break
        time.sleep(0.01)
    writer.finish()
    for ring in rings.values():
        ring.close()


def _flushed_if_due(writer: _Writer, flushed: float) -> float:
    """Flush where the last time is long enough ago; when that was."""
    now = time.monotonic()
    if now - flushed < CHUNK:
        return flushed
    writer.flush()
    return now


def event_channel(name: str = "events", *, words: dict[int, str] | None = None) -> Channel:
    """A channel for flags of a guard: time [s], flags, and a value that goes with them (such as the age of the model [s])."""
    from pliant.device.guard import EVENT_WORDS

    dtype = np.dtype([(TIME, "f8"), ("flags", "i8"), ("value", "f8")])
    return Channel(name, dtype, {TIME: "s"}, words={"flags": EVENT_WORDS if words is None else words})
