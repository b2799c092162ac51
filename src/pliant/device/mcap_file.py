"""The records of an MCAP file, whole or damaged, ours or anybody's: read without trust.

Every part is checked before it is used: lengths against the file, chunks against the size that they declare and their checksum,
and what all of it unpacks to against what a recording can be. So a file can be damaged in any way, or be made to do harm, and
costs no more time and memory than its size allows.
"""

from __future__ import annotations

import mmap
import os
import re
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any

from pliant.device.recording import require_mcap
from pliant.errors import FileError

MAGIC = b"\x89MCAP0\r\n"
HEADER, FOOTER, SCHEMA, CHANNEL, MESSAGE, CHUNK, STATISTICS, METADATA, DATA_END = 1, 2, 3, 4, 5, 6, 11, 12, 15
_HEAD = struct.Struct("<BQ")
"""Of any record: opcode, length."""
_CHUNK_HEAD = struct.Struct("<QQQII")
"""Of a chunk: first and last time, size unpacked, checksum, length of the name of its compression."""
_MESSAGE_HEAD = struct.Struct("<HIQQ")
"""Of a message: channel, count, two times."""
LARGEST_CHUNK = 64 << 20
"""Bytes that a chunk may unpack to; the recorder's have a quarter of a second, and at most 16 MB."""
LARGEST_FILE, LARGEST_RATIO = 64 << 20, 1000
"""All chunks together may unpack to so many bytes, and so many times the size of the file: signals that stand still are packed
well, but not better."""
SMALLEST_MESSAGE = 200
"""Bytes that a message counts at least: what it costs in memory."""
_ANY_CHUNK = re.compile(
    rb"\x06.{5}\x00{3}.{28}(?:\x04\x00\x00\x00zstd|\x03\x00\x00\x00lz4|\x00\x00\x00\x00)", re.DOTALL
)
"""How a chunk begins, in a file of less than a terabyte."""


@dataclass(frozen=True)
class Damage:
    """In the place of records that could not be read, and why."""

    cause: str


class _Unreadable(Exception):
    """A part cannot be read."""


class _Budget:
    """What a file may still unpack to."""

    def __init__(self, file: Path, size: int) -> None:
        self._file, self._all = file, LARGEST_FILE + LARGEST_RATIO * size
        self._left = self._all

    def spend(self, amount: int) -> None:
        self._left -= amount
        if self._left < 0:
            raise FileError(
                f"{self._file} unpacks to more than {self._all / 1e6:.0f} MB, which no recording of its size does",
                remedy="do not trust it: it was made to fill the memory",
            )


def records_of(file: Path) -> Iterator[Any]:
    """The records of a file, those in chunks too, and a `Damage` in the place of each part that cannot be read: a chunk that
    fails its checksum, a stretch that is no record. They end with the footer, or where the file was cut off."""
    require_mcap()
    try:
        with open(file, "rb") as stream:
            size = stream.seek(0, os.SEEK_END)
            if not size:
                raise FileError(f"{file} is empty", remedy="nothing was recorded; give another file")
            data = mmap.mmap(stream.fileno(), 0, access=mmap.ACCESS_READ)
    except (OSError, ValueError) as error:
        cause = getattr(error, "strerror", None) or error
        raise FileError(f"{file}: {cause}", remedy="check the path and its rights") from error
    with data:
        if data[: len(MAGIC)] != MAGIC:
            raise FileError(f"{file} is no recording (it does not begin as one)", remedy="give an MCAP file")
        yield from _Reader(data, _Budget(file, size)).records()


class _Reader:
    """Goes through a file from its beginning."""

    def __init__(self, data: mmap.mmap, budget: _Budget) -> None:
        self._data, self._budget = data, budget

    def records(self) -> Iterator[Any]:
        data, at, sound = self._data, len(MAGIC), True
        while at + _HEAD.size <= len(data):
            opcode, length = _HEAD.unpack_from(data, at)
            end = at + _HEAD.size + length
            if not 0 < opcode <= DATA_END or end > len(data):
                following = self._next_chunk(at + 1)
                if following is None:
                    return
                yield Damage(f"no record at byte {at}")
                sound, at = False, following
                continue
            try:
                if opcode == CHUNK:
                    yield from self._chunk(at, end)
                elif (record := _plain(opcode, data, at + _HEAD.size, end)) is not None:
                    yield record
                    if opcode == DATA_END and sound and not self._kept(at, record.data_section_crc):
                        yield Damage("the bytes between the chunks are not as they were written")
            except _Unreadable as error:
                yield Damage(str(error))
                sound = False
            at = end
            if opcode == FOOTER:
                return

    def _kept(self, end: int, crc: int) -> bool:
        """Whether all bytes up to here are as they were written, those between chunks too; True where nobody summed them up."""
        with memoryview(self._data) as view, view[:end] as written:
            return crc in (0, zlib.crc32(written))

    def _next_chunk(self, at: int) -> int | None:
        """Where the next whole chunk begins."""
        while found := _ANY_CHUNK.search(self._data, at):
            at = found.start()
            end = at + _HEAD.size + _HEAD.unpack_from(self._data, at)[1]
            if end <= len(self._data):
                try:
                    self._chunk(at, end)
                    return at
                except _Unreadable:
                    pass
            at += 1
        return None

    def _chunk(self, at: int, end: int) -> list[Any]:
        """What is in the chunk between these bytes."""
        data, at = self._data, at + _HEAD.size
        if end - at < _CHUNK_HEAD.size:
            raise _Unreadable(f"the chunk at byte {at} is too short")
        _, _, size, crc, name_length = _CHUNK_HEAD.unpack_from(data, at)
        at += _CHUNK_HEAD.size
        if name_length > 8 or end - at < name_length + 8:
            raise _Unreadable(f"the chunk at byte {at} has no compression that is known")
        compression = data[at : at + name_length]
        at += name_length
        (packed,) = struct.unpack_from("<Q", data, at)
        at += 8
        if packed != end - at:
            raise _Unreadable(f"the chunk at byte {at} has {end - at} bytes instead of {packed}")
        if size > LARGEST_CHUNK:
            raise _Unreadable(
                f"the chunk at byte {at} would unpack to {size / 1e6:.0f} MB, of {LARGEST_CHUNK >> 20} MB at most"
            )
        self._budget.spend(packed)
        inside = _unpacked(compression, data[at:end], size)
        self._budget.spend(len(inside))
        if not crc or zlib.crc32(inside) != crc:
            raise _Unreadable(f"the chunk at byte {at} fails its checksum")
        return self._inside(inside)

    def _inside(self, chunk: bytes) -> list[Any]:
        """The records of a chunk."""
        out, at = [], 0
        while at < len(chunk):
            if len(chunk) - at < _HEAD.size:
                raise _Unreadable("a chunk ends inside a record")
            opcode, length = _HEAD.unpack_from(chunk, at)
            at += _HEAD.size
            if opcode not in (SCHEMA, CHANNEL, MESSAGE) or length > len(chunk) - at:
                raise _Unreadable(f"a chunk has a record of kind {opcode} and length {length}")
            record = _plain(opcode, chunk, at, at + length)
            if opcode == MESSAGE:
                self._budget.spend(max(0, SMALLEST_MESSAGE - length))
            out.append(record)
            at += length
        return out


def _unpacked(compression: bytes, packed: bytes, size: int) -> bytes:
    """What is packed, which must be exactly so many bytes; never makes more."""
    try:
        if compression == b"zstd":
            import zstandard

            with zstandard.ZstdDecompressor(max_window_size=LARGEST_CHUNK * 2).stream_reader(packed) as stream:
                out = _read_at_most(stream, size + 1)
        elif compression == b"lz4":
            import lz4.frame  # type: ignore[import-untyped]

            out = lz4.frame.LZ4FrameDecompressor().decompress(packed, max_length=size + 1)
        elif compression == b"":
            out = packed
        else:
            raise _Unreadable(f"a chunk has the unknown compression {compression!r}")
    except _Unreadable:
        raise
    except Exception as error:  # damage can break a decoder in any way
        raise _Unreadable(f"a chunk cannot be unpacked ({error})") from error
    if len(out) != size:
        raise _Unreadable(
            f"a chunk unpacks to {'more' if len(out) > size else 'less'} than the {size} bytes it declares"
        )
    return bytes(out)


def _read_at_most(stream: Any, most: int) -> bytes:
    parts, left = [], most
    while left > 0 and (part := stream.read(min(left, 1 << 20))):
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


def _plain(opcode: int, data: Any, at: int, end: int) -> Any:
    """The record between these bytes, None for one of a kind that nobody asks for."""
    from mcap import records
    from mcap.data_stream import ReadDataStream

    if opcode == MESSAGE:
        if end - at < _MESSAGE_HEAD.size:
            raise _Unreadable("a message is too short")
        channel, count, logged, published = _MESSAGE_HEAD.unpack_from(data, at)
        return records.Message(channel, logged, bytes(data[at + _MESSAGE_HEAD.size : end]), published, count)
    kinds = {
        HEADER: records.Header,
        FOOTER: records.Footer,
        SCHEMA: records.Schema,
        CHANNEL: records.Channel,
        STATISTICS: records.Statistics,
        METADATA: records.Metadata,
        DATA_END: records.DataEnd,
    }
    if opcode not in kinds:
        return None
    try:
        return kinds[opcode].read(ReadDataStream(BytesIO(data[at:end])))
    except Exception as error:
        raise _Unreadable(f"a {kinds[opcode].__name__} cannot be read ({error})") from error
