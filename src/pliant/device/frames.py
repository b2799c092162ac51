"""The bytes of messages on a bus, the same for all buses, and what their counts and stamps tell.

A message is (kind, sequence, stamp, values): kind 1 a command, 2 a measurement, 3 stop, 4 resume; sequence counts the
messages of one kind and direction modulo 65536; stamp is the sender's clock in microseconds modulo 2^32, from a moment
that it draws at random when it starts; values are float32. Everything is little endian. The checksum is
CRC-16/CCITT-FALSE (polynomial 0x1021, start 0xFFFF) over *body* = kind u8, count u8, sequence u16, stamp u32, values:
so it is the same number on every bus.

On a serial line, one frame per message:

    0xA5 | kind u8 | count u8 | sequence u16 | stamp u32 | values, 4 bytes each | checksum u16

On CAN 2.0 (11-bit identifiers, 8 bytes), a message with n values is ceil(n / 2) frames of two values (the last padded
with zero), and then a closing frame that makes them one message, so that all rows take effect together:

    base + k          two values, k = 0, 1, ... 62
    base + 63         sequence u16 | checksum u16 | stamp u32

with base = 0x080 for stop, 0x0C0 for resume, 0x100 for commands, 0x180 for measurements: stop has the highest priority,
and a closing frame never overtakes its values. Each frame takes about 130 bits: at 1 Mbit/s and 1 kHz there is room for 7
frames both ways together.

The side that moves keeps these rules, since the other may die or the line break at any time:

- *Watchdog.* It obeys a command for at most its command timeout (`COMMAND_TIMEOUT`, 0.5 s). Where no other that it can obey
  (whole, in order, within its own limits) has come by then, it goes to its resting command by itself, and stays there
  until one does.
- *Stop.* From a stop on it is at its resting command, whatever commands come, until a resume. Nothing is acknowledged;
  instead the sender repeats stop every 50 ms as long as it holds, and a resume some times, so a lost one does no harm: both
  mean the same however often they come. A stop is obeyed whoever says it; a resume only from the sender whose commands are
  believed, and only if it is younger than the stop.
- *Rates.* It moves no faster than its own limits by its own clock, wherever it comes from: away from rest, or to the commands
  of another sender, it goes at its rates.
- *One sender.* It obeys one sender at a time, which it knows by its count and its clock: every sender counts its stamps from a
  moment drawn at random. What does not go on from the last message (a count that is not ahead; a clock that is 0.5 s off) is
  not obeyed and counted: too old, or from a second sender. Another sender, or the same one started anew, is believed after
  0.5 s without a message of the first.
"""

from __future__ import annotations

import secrets
import struct
from binascii import crc_hqx

import numpy as np
from numpy.typing import NDArray

from pliant.device.drive import DriveStatus

COMMAND, MEASUREMENT, STOP, RESUME = 1, 2, 3, 4
COMMAND_TIMEOUT = 0.5
"""Seconds after which a command that is followed by no other is not obeyed any more."""
KINDS = (COMMAND, MEASUREMENT, STOP, RESUME)
START, MOST_VALUES = 0xA5, 120
HEAD = struct.Struct("<BBHI")
"""Kind, count, sequence, stamp: the first part of the body."""
CLOSING = struct.Struct("<HHI")
CAN_BASE = {STOP: 0x080, RESUME: 0x0C0, COMMAND: 0x100, MEASUREMENT: 0x180}
CLOSING_OFFSET = 63
STAMPS = 1 << 32


def checksum(body: bytes | bytearray | memoryview) -> int:
    """CRC-16/CCITT-FALSE.

    >>> hex(checksum(b"123456789"))
    '0x29b1'
    """
    return crc_hqx(body, 0xFFFF)


def stamp_of(seconds: float) -> int:
    """A time [s] as a stamp: microseconds modulo 2^32; zero for what is not a time."""
    return int(seconds * 1e6) % STAMPS if abs(seconds) < 1e12 else 0


class Message:
    """A message to be filled and sent, or as it was received: `body` has all its bytes, `values` looks at its float32
    values [n]."""

    def __init__(self, kind: int, count: int) -> None:
        self.kind, self.count = kind, count
        self.body = bytearray(HEAD.size + 4 * count)
        self.values: NDArray[np.float32] = np.frombuffer(self.body, "<f4", count, HEAD.size)
        self.sequence = 0
        self.stamp = 0

    def seal(self, sequence: int, seconds: float) -> int:
        """Write the head for this count and time; returns the checksum."""
        self.sequence, self.stamp = sequence % 65536, stamp_of(seconds)
        HEAD.pack_into(self.body, 0, self.kind, self.count, self.sequence, self.stamp)
        return checksum(self.body)

    def as_serial(self, crc: int) -> bytes:
        """The frame on a serial line."""
        return b"".join((bytes((START,)), self.body, crc.to_bytes(2, "little")))


class SerialParser:
    """Finds frames in a stream of bytes, whatever else is in it.

    A frame whose kind, count or checksum is wrong costs one byte: the search goes on behind its start byte, so that one inside
    garbage is found. `counts` is how many values each kind must have.
    """

    def __init__(self, counts: dict[int, int], status: DriveStatus) -> None:
        self.messages = {kind: Message(kind, count) for kind, count in counts.items()}
        self._waiting = bytearray()
        self._status = status
        self._skipping = False

    def feed(self, data: bytes) -> None:
        """Append what came."""
        self._waiting += data

    def take(self) -> Message | None:
        """The next whole message, None where there is none yet; overwritten by the next of its kind."""
        waiting, at, found = self._waiting, 0, None
        while True:
            at = waiting.find(START, at)
            if at < 0:
                self._damage_if(len(waiting) > 0)
                at = len(waiting)
                break
            if len(waiting) < at + 3:
                break
            message = self.messages.get(waiting[at + 1])
            if message is None or waiting[at + 2] != message.count:
                self._damage_if(True)
                at += 1
                continue
            end = at + 1 + len(message.body)
            if len(waiting) < end + 2:
                break
            if checksum(waiting[at + 1 : end]) != waiting[end] + 256 * waiting[end + 1]:
                self._damage_if(True)
                at += 1
                continue
            message.body[:] = waiting[at + 1 : end]
            _, _, message.sequence, message.stamp = HEAD.unpack_from(message.body)
            at, found, self._skipping = end + 2, message, False
            break
        del waiting[:at]
        return found

    def _damage_if(self, damaged: bool) -> None:
        """Count a stretch of garbage once, however long it is."""
        if damaged and not self._skipping:
            self._status.damaged += 1
            self._skipping = True


class CanAssembler:
    """Puts the frames of a message together."""

    def __init__(self, counts: dict[int, int], status: DriveStatus) -> None:
        self.messages = {CAN_BASE[kind]: Message(kind, count) for kind, count in counts.items()}
        self._came = dict.fromkeys(self.messages, 0)
        self._status = status

    def add(self, identifier: int, data: bytes | bytearray) -> Message | None:
        """Take a frame; the message that it closes, if it does and is whole."""
        base = identifier & ~CLOSING_OFFSET
        message = self.messages.get(base)
        if message is None:
            return None
        part = identifier - base
        if part != CLOSING_OFFSET:
            begin = HEAD.size + 8 * part
            room = len(message.body) - begin
            if len(data) != 8 or room <= 0:
                self._status.damaged += 1
            else:
                message.body[begin : begin + min(room, 8)] = data[: min(room, 8)]
                self._came[base] |= 1 << part
            return None
        came, self._came[base] = self._came[base], 0
        if len(data) != 8 or came != (1 << (message.count + 1) // 2) - 1:
            self._status.damaged += 1
            return None
        message.sequence, crc, message.stamp = CLOSING.unpack(data)
        HEAD.pack_into(message.body, 0, message.kind, message.count, message.sequence, message.stamp)
        if checksum(message.body) != crc:
            self._status.damaged += 1
            return None
        return message


SILENCE = 0.5
"""Seconds without a message of the sender that is believed, after which another is; and how far a clock may be off."""


def random_origin() -> float:
    """What a sender adds to its stamps [s], so that it is known from others."""
    return 1e-6 * secrets.randbelow(STAMPS)


class Reception:
    """Whose messages are believed, and what their counts and stamps tell: which are lost, late, too old, from a second sender.

    A message goes on from the last one where its count is ahead (by less than half of all), and where as much time has passed
    on the sender's clock as on ours, within `SILENCE`. What does not is refused: `late` where the count is not ahead or where
    it waited here, `foreign` otherwise. After a silence any sender is believed.
    """

    def __init__(self, status: DriveStatus, *, late_after: float = 0.02) -> None:
        """late_after [s]: a message is late where it took longer than the quickest one by more than this."""
        self._status, self._late_after = status, late_after
        self.count = -1
        self.time = 0.0
        self.restarts = 0
        """How often another sender was believed, or the same one started anew."""
        self._stamp = 0
        self._quickest = np.inf
        self._arrived = -np.inf
        self._waited = 0.0

    def accept(self, message: Message, arrived: float, looked: float | None = None) -> bool:
        """Take a message that was found at this time [s]; False for one that is refused. `count` and `time` [s] are then
        those of the message, without wrapping around. looked [s]: when nothing was waiting last (default: just before): the
        message may have come at any time since."""
        status, looked = self._status, arrived if looked is None else looked
        ahead = (message.sequence - self.count) % 65536
        goes_on, lag = 0 < ahead < 32768, self._lag(message, arrived)
        if self.count < 0 or (looked - self._arrived >= SILENCE and not (goes_on and abs(lag) < SILENCE)):
            self._begin(message)
        elif not -SILENCE - self._waited < lag < SILENCE + arrived - looked:
            status.foreign += 1
            return False
        elif not (goes_on and lag < SILENCE):
            status.late += 1
            return False
        else:
            status.lost += ahead - 1
            self.count += ahead
            self.time += arrived - self._arrived - lag
            self._stamp = message.stamp
        status.received += 1
        self._waited = arrived - looked
        self._note_delay(arrived)
        return True

    def believes(self, message: Message, arrived: float) -> bool:
        """Whether a message of another kind is from the sender that is believed, and not too old."""
        return self.count >= 0 and abs(self._lag(message, arrived)) < SILENCE

    def time_of(self, message: Message, arrived: float) -> float:
        """The sender's time [s] of a message of its own."""
        return self.time + arrived - self._arrived - self._lag(message, arrived)

    def _lag(self, message: Message, arrived: float) -> float:
        """By how many seconds less has passed on the sender's clock than here since the last message; its stamps wrap around,
        and so does this, which is therefore less than half of that."""
        if self.count < 0:
            return 0.0
        lag = 1e6 * (arrived - self._arrived) - (message.stamp - self._stamp)
        return ((lag + STAMPS / 2) % STAMPS - STAMPS / 2) * 1e-6

    def _begin(self, message: Message) -> None:
        """Believe a sender."""
        self.restarts += self.count >= 0
        self.count, self._stamp, self.time = message.sequence, message.stamp, message.stamp * 1e-6
        self._quickest = np.inf

    def _note_delay(self, arrived: float) -> None:
        delay = arrived - self.time
        # the two clocks drift apart: 100 ppm of forgetting keep the quickest one comparable for hours
        self._quickest = min(delay, self._quickest + 1e-4 * max(0.0, arrived - self._arrived))
        self._arrived = arrived
        if delay - self._quickest > self._late_after:
            self._status.late += 1
