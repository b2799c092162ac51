"""Recordings read back, whole or not, and made whole."""

from __future__ import annotations

import json
import mmap
import os
import struct
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from io import BytesIO
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.device.channel import TIME
from pliant.device.recording import LOSSES, require_mcap
from pliant.errors import FileError, InputError


@dataclass(frozen=True, repr=False)
class Track:
    """What one channel recorded: an array per field, [n] or [n, rows], with units, names of rows, and words of flags."""

    name: str
    fields: Mapping[str, NDArray[Any]]
    units: Mapping[str, str]
    rows: Mapping[str, tuple[str, ...]]
    words: Mapping[str, Mapping[int, str]]

    def __repr__(self) -> str:
        return f"{self.name} ({len(self)} records of {', '.join(self.fields)})"

    @property
    def time(self) -> NDArray[np.float64]:
        """Times of the records [s], [n]."""
        return self.fields[TIME]

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self.fields:
            raise InputError(
                f"channel {self.name!r} has no field {name!r}", remedy=f"choose among {', '.join(self.fields)}"
            )
        return self.fields[name]


@dataclass(frozen=True, repr=False)
class Log:
    """A recording in memory: a `Track` per channel, what was lost by channel before it was written, whether the file has its
    end, what was said about it, how many parts are damaged and were skipped (chunks of a quarter of a second, or what lies
    between them), and how many records are missing of those that were written, by channel."""

    tracks: Mapping[str, Track]
    lost: Mapping[str, int]
    whole: bool
    about: Mapping[str, str]
    damaged: int = 0
    missing: Mapping[str, int] = field(default_factory=dict)

    def __repr__(self) -> str:
        begin, end = self.span
        what = ", ".join(repr(track) for track in self.tracks.values()) or "no channel"
        state = "" if self.whole else ", without its end"
        return f"<Log of {end - begin:.3f} s: {what}{state}{f', {self.damaged} parts damaged' if self.damaged else ''}>"

    def __getitem__(self, channel: str) -> Track:
        if channel not in self.tracks:
            raise InputError(f"no channel {channel!r} was recorded", remedy=f"choose among {', '.join(self.tracks)}")
        return self.tracks[channel]

    @property
    def span(self) -> tuple[float, float]:
        """First and last time of all records [s]; zeros where there are none."""
        times = [track.time for track in self.tracks.values() if len(track)]
        return (min(float(t.min()) for t in times), max(float(t.max()) for t in times)) if times else (0.0, 0.0)

    def counted(self, channel: str, name: str) -> dict[str, int]:
        """How many records have each flag, by its word, most first."""
        track = self[channel]
        flags = track[name]
        counts = {word: int(np.count_nonzero(flags & bit)) for bit, word in track.words.get(name, {}).items()}
        return {word: count for word, count in sorted(counts.items(), key=lambda item: -item[1]) if count}


def read_recording(file: str | PathLike[str]) -> Log:
    """All channels of a recording as arrays; of a file that was never finished, all that is on the disk; of one with damaged
    chunks, all others."""
    from mcap.records import Channel, Footer, Message, Metadata, Statistics

    said: dict[int, list[Any]] = {}
    written: dict[int, int] = {}
    about: dict[str, str] = {}
    whole, damaged = False, 0
    channels: dict[int, Any] = {}
    for record in _records(Path(file)):
        if isinstance(record, Message):
            said.setdefault(record.channel_id, []).append(json.loads(record.data))
            written[record.channel_id] = max(written.get(record.channel_id, 0), record.sequence + 1)
        elif isinstance(record, Metadata) and record.name == "pliant":
            about = record.metadata
        elif isinstance(record, _Damage):
            damaged += 1
        elif isinstance(record, Channel):
            channels.setdefault(record.id, record)
        elif isinstance(record, Statistics):
            for number, count in record.channel_message_counts.items():
                written[number] = max(written.get(number, 0), count)
        elif isinstance(record, Footer):
            whole = True
    tracks, lost, missing = {}, {}, {}
    for number, channel in channels.items():
        name = channel.topic.lstrip("/")
        messages = said.get(number, [])
        if name == LOSSES:
            lost = {message["channel"]: int(message["lost"]) for message in messages}
            continue
        if "fields" not in channel.metadata:
            raise FileError(f"{file}: channel {name!r} is not of pliant", remedy="open it with another program")
        tracks[name] = _track(name, messages, channel.metadata)
        missing[name] = max(0, written.get(number, 0) - len(messages))
    for number in said.keys() - channels.keys():
        # what the channel was is told in a damaged chunk
        missing[f"channel {number}"] = written[number]
    return Log(tracks, lost, whole, about, damaged, {name: count for name, count in missing.items() if count})


def repair(file: str | PathLike[str], out: str | PathLike[str] | None = None) -> Log:
    """Make an unfinished or damaged recording whole: every chunk that can be read, with index and footer.

    out: where to, by default in its own place, by way of a file beside it, so that nothing is lost if that fails; a file
    with damaged chunks is kept beside it, as NAME.damaged. A whole file stays as it is. Returns what is in it.
    """
    from mcap.records import Channel, Message, Metadata, Schema
    from mcap.writer import Writer

    source = Path(file)
    target = source if out is None else Path(out)
    before = read_recording(source)
    if before.whole and not before.damaged and out is None:
        return before
    keep = source.with_name(source.name + ".damaged") if before.damaged and target == source else None
    if keep is not None and keep.exists():
        raise FileError(f"there is {keep} already", remedy="move it away, or give another place with out=")
    beside = target.with_name(target.name + ".repairing")
    schemas: dict[int, int] = {0: 0}
    channels: dict[int, int] = {}
    # they may be told behind their messages only, where the chunk that told them is damaged
    told = [record for record in _records(source) if isinstance(record, (Schema, Channel))]
    try:
        with open(beside, "wb") as stream:
            writer = Writer(stream, enable_data_crcs=True)
            writer.start(profile="", library="pliant")
            for record in told:
                if isinstance(record, Schema) and record.id not in schemas:
                    schemas[record.id] = writer.register_schema(record.name, record.encoding, record.data)
                elif isinstance(record, Channel) and record.id not in channels:
                    channels[record.id] = writer.register_channel(
                        record.topic, record.message_encoding, schemas[record.schema_id], record.metadata
                    )
            for record in _records(source):
                if isinstance(record, Message) and record.channel_id in channels:
                    channel = channels[record.channel_id]
                    writer.add_message(channel, record.log_time, record.data, record.publish_time, record.sequence)
                elif isinstance(record, Metadata):
                    writer.add_metadata(record.name, record.metadata)
            writer.finish()
            stream.flush()
            os.fsync(stream.fileno())
        if keep is not None:
            os.replace(source, keep)
        os.replace(beside, target)
    except OSError as error:
        raise FileError(f"{target} cannot be written: {error}", remedy="give another place with out=") from error
    return read_recording(target)


@dataclass(frozen=True)
class _Damage:
    """In the place of records that could not be read."""


MAGIC = b"\x89MCAP0\r\n"
FOOTER, CHUNK, DATA_END = 0x02, 0x06, 0x0F
_HEAD = struct.Struct("<BQ")
"""Of any record: opcode, length."""


def _records(file: Path) -> Iterator[Any]:
    """The records of a file, those in chunks too, and a `_Damage` in the place of each part that cannot be read: a chunk that
    fails its checksum, a stretch that is no record. They end with the footer, or where the file was cut off."""
    require_mcap()
    try:
        with open(file, "rb") as stream:
            if not stream.seek(0, os.SEEK_END):
                raise FileError(f"{file} is empty", remedy="nothing was recorded; give another file")
            data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except OSError as error:
        raise FileError(f"{file}: {error.strerror}", remedy="check the path and its rights") from error
    with data:
        if data[: len(MAGIC)] != MAGIC:
            raise FileError(f"{file} is no recording (it does not begin as one)", remedy="give an MCAP file")
        yield from _records_behind(data, len(MAGIC))


def _records_behind(data: mmap.mmap, at: int) -> Iterator[Any]:
    sound = True
    while at + _HEAD.size <= len(data):
        opcode, length = _HEAD.unpack_from(data, at)
        end = at + _HEAD.size + length
        if not 0 < opcode <= 15 or end > len(data):
            following = _next_chunk(data, at + 1)
            if following is None:
                return
            yield _Damage()
            sound, at = False, following
            continue
        read = _read_chunk if opcode == CHUNK else _read_plain
        inside = read(data[at:end])
        if inside is not None:
            yield from inside
        else:
            yield _Damage()
            sound = False
        if opcode == DATA_END and sound and inside and not _kept(data, at, inside[0].data_section_crc):
            yield _Damage()
        at = end
        if opcode == FOOTER:
            return


def _kept(data: mmap.mmap, end: int, crc: int) -> bool:
    """Whether all bytes up to here are as they were written, those between chunks too; True where nobody summed them up."""
    with memoryview(data) as view, view[:end] as written:
        return crc in (0, zlib.crc32(written))


def _next_chunk(data: mmap.mmap, at: int) -> int | None:
    """Where the next whole chunk begins."""
    while (at := data.find(bytes((CHUNK,)), at)) >= 0:
        if at + _HEAD.size > len(data):
            break
        end = at + _HEAD.size + _HEAD.unpack_from(data, at)[1]
        if end <= len(data) and _read_chunk(data[at:end]) is not None:
            return at
        at += 1
    return None


def _read_chunk(record: bytes) -> list[Any] | None:
    """What is in a chunk, None where it is damaged."""
    from mcap.data_stream import ReadDataStream
    from mcap.records import Chunk
    from mcap.stream_reader import breakup_chunk

    try:
        chunk = Chunk.read(ReadDataStream(BytesIO(record[_HEAD.size :])))
        return breakup_chunk(chunk, validate_crc=True) if chunk.uncompressed_crc else None
    except Exception:  # damage can break the decoder in any way
        return None


def _read_plain(record: bytes) -> list[Any] | None:
    """A record that is in no chunk, None where it is damaged."""
    from mcap.stream_reader import StreamReader

    try:
        return list(islice(StreamReader(BytesIO(record), skip_magic=True).records, 1))
    except Exception:
        return None


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
