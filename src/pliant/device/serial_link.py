"""Messages on a serial line."""

from __future__ import annotations

import os
from typing import Any

from pliant.checks import shown
from pliant.device.frames import Message, SerialParser
from pliant.device.link import Link
from pliant.device.wiring import Wiring
from pliant.errors import InputError, MissingExtraError

MOST_BYTES = 65536
"""Bytes that one call of `receive` takes in."""


def opened_serial_port(port: str, baud_rate: int) -> Any:
    """A port of pyserial that never waits."""
    try:
        import serial
    except ImportError as error:
        raise MissingExtraError(
            f"a serial line needs pyserial ({error})", remedy="pip install 'pliant[hardware]'"
        ) from error
    if not isinstance(port, str) or not port:
        raise InputError(f"serial port {shown(port)}", remedy="give a name, such as '/dev/ttyUSB0'")
    # the loop:// port of pyserial counts a write without waiting as one that failed
    write_timeout = None if port.startswith("loop://") else 0
    try:
        return serial.serial_for_url(port, baudrate=baud_rate, timeout=0, write_timeout=write_timeout)
    except Exception as error:  # every kind of URL has its own
        raise InputError(
            f"serial port {port!r}: {error}",
            remedy="check its name (such as /dev/ttyUSB0), its rights and the baud rate",
        ) from error


class SerialLink(Link):
    """Messages as frames on a serial line; see `frames` for what is in them.

    Where the line is slower than the messages, what is left of a frame goes first, and messages that find no room are not
    sent and counted as faults: a frame is never cut in two by the next.
    """

    def __init__(self, wiring: Wiring, port: str, *, baud_rate: int = 921600) -> None:
        """port: a device, or a URL that pyserial knows (`socket://...`, `loop://`)."""
        super().__init__(wiring)
        self._port = opened_serial_port(port, baud_rate)
        self._parser = SerialParser(self.counts, self.status)
        self._left = b""
        # pyserial opens devices such that their file descriptor does not wait
        device = os.name == "posix" and "://" not in port
        self._descriptor: int | None = self._port.fileno() if device else None

    def send(self, message: Message, sequence: int, seconds: float) -> bool:
        crc = message.seal(sequence, seconds)
        try:
            if self._left:
                self._left = self._left[self._written(self._left) :]
            if self._left:
                self.status.fail("the line is full: commands come faster than it carries them")
                return False
            frame = message.as_serial(crc)
            self._left = frame[self._written(frame) :]
        except Exception as error:  # whatever a driver raises, the loop goes on and the status tells
            self.status.fail(error)
            return False
        self.status.sent += 1
        return True

    def _written(self, data: bytes) -> int:
        """Write what there is room for; returns how much that was."""
        if self._descriptor is None:
            return int(self._port.write(data))
        # not by pyserial's write, which turns in circles while a line without a timeout is full
        try:
            return os.write(self._descriptor, data)
        except BlockingIOError:
            return 0

    def receive(self) -> Message | None:
        message = self._parser.take()
        if message is not None:
            return message
        try:
            waiting = min(self._port.in_waiting, MOST_BYTES)
            if waiting:
                self._parser.feed(self._port.read(waiting))
                return self._parser.take()
        except Exception as error:  # see `send`
            self.status.fail(error)
        return None

    def close(self) -> None:
        # a closed descriptor's number may come to mean another file
        self._descriptor = None
        self._port.close()
