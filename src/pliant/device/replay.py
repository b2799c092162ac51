"""Recordings read back, whole or not, and made whole."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from pliant.device.mcap_file import Damage, records_of
from pliant.device.recording import LOSSES
from pliant.device.track import NOT_OURS, Track, track_of
from pliant.errors import FileError, InputError


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
    chunks, all others. A file of somebody else (a bag of ROS, say) is a FileError."""
    path = _as_path(file)
    found = _Found(path)
    tracks, lost, missing = {}, {}, {}
    for number, channel in found.channels.items():
        name = channel.topic.lstrip("/")
        messages = found.said.get(number, [])
        if name == LOSSES:
            lost = _losses(path, messages)
            continue
        tracks[name] = track_of(path, name, messages, channel.metadata)
        missing[name] = max(0, found.written.get(number, 0) - len(messages))
    for number in found.said.keys() - found.channels.keys():
        # what the channel was is told in a damaged chunk
        missing[f"channel {number}"] = found.written[number]
    counts = {name: count for name, count in missing.items() if count}
    return Log(tracks, lost, found.whole, found.about, len(found.damage), counts)


class _Found:
    """What is in the file of a recording: channels by number, their messages as bytes, how many were written, what was said
    about it, whether it has its end, what is damaged."""

    def __init__(self, file: Path) -> None:
        from mcap.records import Channel, Footer, Header, Message, Metadata, Schema, Statistics

        self.channels: dict[int, Any] = {}
        self.said: dict[int, list[bytes]] = {}
        self.written: dict[int, int] = {}
        self.about: dict[str, str] = {}
        self.whole, self.damage = False, []
        schemas: dict[int, str] = {}
        ours = False
        for record in records_of(file):
            if isinstance(record, Message):
                self.said.setdefault(record.channel_id, []).append(record.data)
                self.written[record.channel_id] = max(self.written.get(record.channel_id, 0), record.sequence + 1)
            elif isinstance(record, Metadata) and record.name == "pliant":
                self.about, ours = record.metadata, True
            elif isinstance(record, Damage):
                self.damage.append(record)
            elif isinstance(record, Channel):
                self.channels.setdefault(record.id, record)
            elif isinstance(record, Schema):
                schemas[record.id] = record.encoding
            elif isinstance(record, Statistics):
                for number, count in record.channel_message_counts.items():
                    self.written[number] = max(self.written.get(number, 0), count)
            elif isinstance(record, Header):
                ours = ours or record.library == "pliant"
            elif isinstance(record, Footer):
                self.whole = True
        self._require_ours(file, ours, schemas)

    def _require_ours(self, file: Path, ours: bool, schemas: dict[int, str]) -> None:
        """Raise a FileError for the recording of somebody else, or one of which nothing is left."""
        for channel in self.channels.values():
            name = channel.topic.lstrip("/")
            if channel.message_encoding != "json" or (name != LOSSES and "fields" not in channel.metadata):
                what = " ".join(filter(None, (channel.message_encoding, schemas.get(channel.schema_id))))
                raise FileError(
                    f"{file}: channel {name!r} is not of pliant ({what or 'of no encoding'})",
                    remedy="open it with the program that made it, or with Foxglove",
                )
        if self.damage and not self.channels:
            raise FileError(
                f"{file}: nothing of it can be read ({self.damage[0].cause})", remedy="use a copy that is whole"
            )
        if not ours and not self.channels:
            raise FileError(f"{file} is no recording of pliant", remedy="open it with the program that made it")


def _losses(file: Path, messages: list[bytes]) -> dict[str, int]:
    """What the recorder said it had lost, by channel."""
    try:
        said = [json.loads(message) for message in messages]
        return {str(one["channel"]): int(one["lost"]) for one in said}
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise FileError(f"{file}: what it says of losses cannot be read ({error})", remedy=NOT_OURS) from error


def _as_path(file: str | PathLike[str]) -> Path:
    try:
        return Path(os.fsdecode(file))
    except TypeError:
        raise InputError(f"file is a {type(file).__name__}", remedy="give a path, such as 'run.mcap'") from None


def repair(file: str | PathLike[str], out: str | PathLike[str] | None = None) -> Log:
    """Make an unfinished or damaged recording whole: every chunk that can be read, with index and footer.

    out: where to, a file that does not exist; by default in its own place, by way of a file beside it, so that nothing is lost
    if that fails; a file with damaged chunks is kept beside it, as NAME.damaged. A whole file stays as it is. Returns what is
    in it.
    """
    source = _as_path(file)
    target = source if out is None else _as_path(out)
    in_place = target.absolute() == source.absolute()
    before = read_recording(source)
    if before.whole and not before.damaged and in_place:
        return before
    keep = source.with_name(source.name + ".damaged") if before.damaged and in_place else None
    for place in (keep, None if in_place else target):
        if place is not None and place.exists():
            raise FileError(f"there is {place} already", remedy="move it away, or give another place with out=")
    beside = target.with_name(target.name + ".repairing")
    try:
        _copy_readable(source, beside)
        if keep is not None:
            os.replace(source, keep)
        os.replace(beside, target)
    except OSError as error:
        raise FileError(f"{target} cannot be written: {error}", remedy="give another place with out=") from error
    finally:
        beside.unlink(missing_ok=True)
    return read_recording(target)


def _copy_readable(source: Path, to: Path) -> None:
    """Write all that can be read to a file that is whole."""
    from mcap.records import Channel, Message, Metadata, Schema
    from mcap.writer import Writer

    schemas: dict[int, int] = {0: 0}
    channels: dict[int, int] = {}
    # they may be told behind their messages only, where the chunk that told them is damaged
    told = [record for record in records_of(source) if isinstance(record, (Schema, Channel))]
    with open(to, "wb") as stream:
        writer = Writer(stream, enable_data_crcs=True)
        writer.start(profile="", library="pliant")
        for record in told:
            if isinstance(record, Schema) and record.id not in schemas:
                schemas[record.id] = writer.register_schema(record.name, record.encoding, record.data)
        for record in told:
            if isinstance(record, Channel) and record.id not in channels:
                schema = schemas.get(record.schema_id, 0)
                channels[record.id] = writer.register_channel(
                    record.topic, record.message_encoding, schema, record.metadata
                )
        for record in records_of(source):
            if isinstance(record, Message) and record.channel_id in channels:
                channel = channels[record.channel_id]
                writer.add_message(channel, record.log_time, record.data, record.publish_time, record.sequence)
            elif isinstance(record, Metadata):
                writer.add_metadata(record.name, record.metadata)
        writer.finish()
        stream.flush()
        os.fsync(stream.fileno())
