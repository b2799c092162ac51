"""The process that writes a recording."""

from __future__ import annotations

import contextlib
import json
import multiprocessing
import os
import time
from collections.abc import Sequence
from multiprocessing.process import BaseProcess
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.device.channel import TIME, Channel
from pliant.errors import MissingExtraError
from pliant.exchange import Flags, Ring, stay_shielded

CHUNK = 0.25
"""Seconds between chunks that are on the disk."""
GRACE = 1.0
"""Seconds without a record after which a recorder whose maker has died finishes its file."""
BATCH = 1024
"""Records that are written at once, before anybody else is looked at."""
PAUSE = 0.01
"""Seconds between two looks at rings that were empty."""
NICE = -5
"""What the recorder asks of the system: it does little, but that soon."""
LOSSES = "recorder"
"""Name of the channel on which the recorder tells what was lost."""


def require_mcap() -> None:
    """Raise a MissingExtraError where recordings cannot be."""
    try:
        import mcap.writer  # noqa: F401
    except ImportError as error:
        raise MissingExtraError(f"recordings need mcap ({error})", remedy="pip install mcap") from error


class Writer:
    """The file of a recording, in the recorder's process."""

    def __init__(
        self, file: str, channels: Sequence[Channel], shift: float, about: dict[str, str], overwrite: bool
    ) -> None:
        from mcap.writer import Writer as McapWriter

        self._stream = open(file, "wb" if overwrite else "xb")  # noqa: SIM115 - open as long as the recording runs
        self._writer = McapWriter(self._stream, chunk_size=16 << 20, enable_data_crcs=True)
        self._writer.start(profile="", library="pliant")
        self._shift = shift
        self._writer.add_metadata("pliant", {"origin": repr(shift), **about})
        self._channels = {channel.name: (channel, self._register(channel)) for channel in channels}
        self.counts = dict.fromkeys(self._channels, 0)
        """Records of every channel so far."""
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

    def add(self, name: str, records: NDArray[np.void]) -> None:
        """Append records [n] of a channel."""
        channel, number = self._channels[name]
        count = self.counts[name]
        for seconds, message in zip(records[TIME].tolist(), channel.messages(records), strict=True):
            stamp = self._stamp(seconds)
            self._writer.add_message(number, stamp, message, stamp, count & 0xFFFFFFFF)
            count += 1
        self.counts[name] = count

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


class _Desk:
    """Rings and the file they go to."""

    def __init__(self, rings: dict[str, Ring], writer: Writer) -> None:
        self._rings, self._writer = rings, writer
        self._told = dict.fromkeys(rings, 0)
        self._newest = 0.0
        self._flushed = time.monotonic()

    def empty(self) -> int:
        """Take what waits in all rings, in turns; how many records that was."""
        came = 0
        for name, ring in self._rings.items():
            batch = ring.take_batch(BATCH)
            if len(batch):
                self._writer.add(name, batch)
                self._newest = float(batch[TIME][-1])
                came += len(batch)
        self._tell_losses()
        if time.monotonic() - self._flushed >= CHUNK:
            self._writer.flush()
            self._note_saved()
            self._flushed = time.monotonic()
        return came

    def finish(self) -> None:
        """Take what waits now, and make the file whole."""
        waiting = {name: ring.waiting for name, ring in self._rings.items()}
        for name, count in waiting.items():  # not what is pushed meanwhile: that might never end
            while count > 0:
                batch = self._rings[name].take_batch(min(BATCH, count))
                self._writer.add(name, batch)
                count -= len(batch)
        self._tell_losses()
        self._writer.finish()
        self._note_saved()
        for ring in self._rings.values():
            ring.close()

    def _tell_losses(self) -> None:
        for name, ring in self._rings.items():
            if ring.lost > self._told[name]:
                self._told[name] = ring.lost
                self._writer.tell_lost(name, ring.lost, self._newest)

    def _note_saved(self) -> None:
        for name, ring in self._rings.items():
            ring.note_saved(self._writer.counts[name])


def record(
    file: str,
    channels: tuple[Channel, ...],
    ring_names: dict[str, str],
    shift: float,
    about: dict[str, str],
    overwrite: bool,
    end_name: str,
    answer: Any,
) -> None:
    """The process: takes records until it is told to stop, or its maker is dead and no more come."""
    # a stop signal goes to all processes of a terminal: the maker decides when the recording ends
    stay_shielded()
    try:
        rings = {channel.name: channel.ring(ring_names[channel.name]) for channel in channels}
        writer = Writer(file, channels, shift, about, overwrite)
    except Exception as error:
        answer.send(str(error) or type(error).__name__)
        return
    with contextlib.suppress(AttributeError, OSError):
        os.nice(NICE)
    answer.send("")
    desk = _Desk(rings, writer)
    with Flags(1, end_name) as end:
        _write_until(end, desk, multiprocessing.parent_process())
    desk.finish()


def _write_until(end: Flags, desk: _Desk, parent: BaseProcess | None) -> None:
    last_record = time.monotonic()
    while not end.values[0]:
        alone = parent is not None and not parent.is_alive()
        came = desk.empty()
        now = time.monotonic()
        if came:
            last_record = now
        elif alone and now - last_record > GRACE:
            return
        else:
            time.sleep(PAUSE)
