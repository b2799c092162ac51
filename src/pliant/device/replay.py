"""Recordings read back, whole or not, and made whole."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.device.channel import TIME
from pliant.device.record import LOSSES, _require_mcap
from pliant.errors import FileError, InputError


@dataclass(frozen=True)
class Track:
    """What one channel recorded: an array per field, [n] or [n, rows], with units, names of rows, and words of flags."""

    name: str
    fields: Mapping[str, NDArray[Any]]
    units: Mapping[str, str]
    rows: Mapping[str, tuple[str, ...]]
    words: Mapping[str, Mapping[int, str]]

    @property
    def time(self) -> NDArray[np.float64]:
        """Times of the records [s], [n]."""
        return self.fields[TIME]

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, field: str) -> NDArray[Any]:
        if field not in self.fields:
            raise InputError(
                f"channel {self.name!r} has no field {field!r}", remedy=f"choose among {', '.join(self.fields)}"
            )
        return self.fields[field]


@dataclass(frozen=True)
class Log:
    """A recording in memory: a `Track` per channel, what was lost by channel, whether the file is whole, what was said
    about it."""

    tracks: Mapping[str, Track]
    lost: Mapping[str, int]
    whole: bool
    about: Mapping[str, str]

    def __getitem__(self, channel: str) -> Track:
        if channel not in self.tracks:
            raise InputError(f"no channel {channel!r} was recorded", remedy=f"choose among {', '.join(self.tracks)}")
        return self.tracks[channel]

    @property
    def span(self) -> tuple[float, float]:
        """First and last time of all records [s]; zeros where there are none."""
        times = [track.time for track in self.tracks.values() if len(track)]
        return (min(float(t.min()) for t in times), max(float(t.max()) for t in times)) if times else (0.0, 0.0)

    def counted(self, channel: str, field: str) -> dict[str, int]:
        """How many records have each flag, by its word, most first."""
        track = self[channel]
        flags = track[field]
        counts = {word: int(np.count_nonzero(flags & bit)) for bit, word in track.words.get(field, {}).items()}
        return {word: count for word, count in sorted(counts.items(), key=lambda item: -item[1]) if count}


def read_recording(file: str | PathLike[str]) -> Log:
    """All channels of a recording as arrays; of a file that was never finished, all that is on the disk."""
    from mcap.records import Message, Metadata

    texts: dict[str, list[Any]] = {}
    places: dict[str, Any] = {}
    lost: dict[str, int] = {}
    about: dict[str, str] = {}
    whole = False
    channels: dict[int, Any] = {}
    for record in _records(Path(file)):
        if isinstance(record, Message):
            name = channels[record.channel_id].topic.lstrip("/")
            said = json.loads(record.data)
            if name == LOSSES:
                lost[said["channel"]] = int(said["lost"])
            else:
                texts[name].append(said)
        elif isinstance(record, Metadata) and record.name == "pliant":
            about = record.metadata
        elif type(record).__name__ == "Channel" and record.id not in channels:
            channels[record.id] = record
            name = record.topic.lstrip("/")
            if name != LOSSES:
                if "fields" not in record.metadata:
                    raise FileError(f"{file}: channel {name!r} is not of pliant", remedy="open it with another program")
                places[name], texts[name] = record.metadata, []
        elif type(record).__name__ == "Footer":
            whole = True
    tracks = {name: _track(name, texts[name], metadata) for name, metadata in places.items()}
    return Log(tracks, lost, whole, about)


def repair(file: str | PathLike[str], out: str | PathLike[str] | None = None) -> Log:
    """Make an unfinished recording whole: everything up to the last whole chunk, with index and footer.

    out: where to, by default in its own place, by way of a file beside it, so that nothing is lost if that fails. A whole
    file stays as it is. Returns what is in it.
    """
    from mcap.records import Message, Metadata
    from mcap.writer import Writer

    source = Path(file)
    target = source if out is None else Path(out)
    before = read_recording(source)
    if before.whole and out is None:
        return before
    beside = target.with_name(target.name + ".repairing")
    schemas: dict[int, int] = {0: 0}
    channels: dict[int, int] = {}
    try:
        with open(beside, "wb") as stream:
            writer = Writer(stream)
            writer.start(profile="", library="pliant")
            for record in _records(source):
                if isinstance(record, Message):
                    channel = channels[record.channel_id]
                    writer.add_message(channel, record.log_time, record.data, record.publish_time, record.sequence)
                elif isinstance(record, Metadata):
                    writer.add_metadata(record.name, record.metadata)
                elif type(record).__name__ == "Schema" and record.id not in schemas:
                    schemas[record.id] = writer.register_schema(record.name, record.encoding, record.data)
                elif type(record).__name__ == "Channel" and record.id not in channels:
                    channels[record.id] = writer.register_channel(
                        record.topic, record.message_encoding, schemas[record.schema_id], record.metadata
                    )
            writer.finish()
            stream.flush()
            os.fsync(stream.fileno())
        os.replace(beside, target)
    except OSError as error:
        raise FileError(f"{target} cannot be written: {error}", remedy="give another place with out=") from error
    return read_recording(target)


def _records(file: Path) -> Iterator[Any]:
    """The records of a file as far as they are whole: a chunk that was cut off or is damaged ends them."""
    _require_mcap()
    from mcap.exceptions import McapError
    from mcap.records import Chunk
    from mcap.stream_reader import StreamReader, breakup_chunk

    try:
        stream = open(file, "rb")  # noqa: SIM115 - only the opening is to be caught here
    except OSError as error:
        raise FileError(f"{file}: {error.strerror}", remedy="check the path and its rights") from error
    with stream:
        records = iter(StreamReader(stream, emit_chunks=True).records)
        begun = False
        while True:
            try:
                record = next(records)
                inside = breakup_chunk(record, validate_crc=True) if isinstance(record, Chunk) else [record]
            except StopIteration:
                return
            except Exception as error:  # a cut or damaged record can break the reader in any way
                if not begun:
                    what = str(error) if isinstance(error, McapError) else "it ends before its first record"
                    raise FileError(f"{file} is no recording ({what})", remedy="give an MCAP file") from error
                return
            begun = True
            yield from inside


def _track(name: str, said: list[dict[str, Any]], metadata: Mapping[str, str]) -> Track:
    fields = {}
    for key, (kind, *shape) in json.loads(metadata["fields"]).items():
        values = [message[key] for message in said]
        if np.dtype(kind).kind == "f":
            # null is what JSON says for a number that is none
            fields[key] = np.array(values, dtype=float).reshape(len(said), *shape)
        else:
            fields[key] = np.array(values, dtype=kind).reshape(len(said), *shape)
    words = {key: {int(bit): word for bit, word in own.items()} for key, own in json.loads(metadata["words"]).items()}
    rows = {key: tuple(own) for key, own in json.loads(metadata["rows"]).items()}
    return Track(name, fields, json.loads(metadata["units"]), rows, words)
