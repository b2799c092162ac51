"""Drives on a bus: CAN and serial."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from pliant.device.can_link import CanLink
from pliant.device.drive import Array, Drive, Measurement
from pliant.device.frames import COMMAND, MEASUREMENT, RESUME, STOP, Message, Reception, random_origin, stamp_of
from pliant.device.link import Link
from pliant.device.serial_link import SerialLink
from pliant.device.wiring import Wiring

MOST_MESSAGES = 64
"""Messages that one call of `read` looks at: a babbling sender must not hold up the loop."""
LARGEST = 1e35
"""Of a value that a message carries: single precision ends at 3e38."""
REPEAT = 0.05
"""Seconds between messages that repeat a stop, or a resume."""
RESUMES = 5
"""How often a resume is repeated; a stop is, as long as it holds."""
REMEMBERED = 4096
"""Stamps of our own messages that are kept, to know them by when they come back."""


class BusDrive(Drive):
    """A drive at the other end of a `Link`.

    Nobody acknowledges a stop: `send` and `read` repeat it while it holds, and a `resume` some times, so that a lost one does
    no harm. Where a second controller is on the bus, whose commands arrive here, too, they are counted (`status.foreign`).
    """

    def __init__(self, link: Link, *, late_after: float = 0.02) -> None:
        """late_after [s]: measurements that took longer than the quickest by more than this count as late."""
        super().__init__(link.wiring)
        self.link, self.status = link, link.status
        self._outgoing = {kind: Message(kind, link.counts[kind]) for kind in (COMMAND, STOP, RESUME)}
        self._staged = np.zeros(link.counts[COMMAND])
        self._sequences = dict.fromkeys(self._outgoing, 0)
        self._reception = Reception(self.status, late_after=late_after)
        self._measurement = Measurement(np.zeros(link.counts[MEASUREMENT]))
        self.origin = random_origin()
        """What is added to the times of messages [s]: the other side knows its sender by it."""
        self._sent = {kind: np.full(REMEMBERED, -1, np.int64) for kind in self._outgoing}
        self._shift = 0.0
        self._looked = -np.inf
        self._repeated = STOP
        self._repeats = 0.0
        self._said = 0.0

    def send(self, command: Array, now: float) -> bool:
        self._repeat()
        staged = self._staged
        try:
            np.copyto(staged, command, casting="same_kind")
            now = float(now)
        except (TypeError, ValueError, OverflowError) as error:
            self.status.fail(error)
            return False
        # finite in single precision too; a sum is no number where one of them is none
        if not sum(map(abs, staged.tolist())) < LARGEST:
            self.status.fail("the command is not a number")
            return False
        self._outgoing[COMMAND].values[:] = staged
        self._shift = now - time.monotonic()
        return self._leave(COMMAND, now)

    def read(self) -> Measurement | None:
        self._repeat()
        newest = None
        for _ in range(MOST_MESSAGES):
            message = self.link.receive()
            arrived = time.monotonic()
            if message is None:
                self._looked = arrived
                break
            if message.kind == MEASUREMENT and self._reception.accept(message, arrived, self._looked):
                newest = self._measurement
                newest.values[:] = message.values
                newest.time, newest.arrived = self._reception.time, arrived
                newest.sequence = self._reception.count
            elif message.kind != MEASUREMENT and not self._is_echo(message):
                self.status.foreign += 1
        return newest

    def _is_echo(self, message: Message) -> bool:
        """Whether it is one of our own, from a line or a network that brings back what is sent."""
        return bool(self._sent[message.kind][message.sequence % REMEMBERED] == message.stamp)

    def stop(self) -> None:
        self._say(STOP, np.inf)

    def resume(self) -> None:
        self._say(RESUME, RESUMES)

    def close(self) -> None:
        self.link.close()

    def _say(self, kind: int, repeats: float) -> None:
        self._repeated, self._repeats, self._said = kind, repeats, time.monotonic()
        self._leave(kind, self._said + self._shift)  # on the clock of the commands

    def _repeat(self) -> None:
        """Say the last stop or resume once more where it is due."""
        if self._repeats > 0 and time.monotonic() - self._said >= REPEAT:
            self._say(self._repeated, self._repeats - 1)

    def _leave(self, kind: int, now: float) -> bool:
        sequence = self._sequences[kind]
        stamp = now + self.origin
        sent = self.link.send(self._outgoing[kind], sequence, stamp)
        self._sent[kind][sequence % REMEMBERED] = stamp_of(stamp)
        # counted also where it did not leave, so that the other side knows that one is missing
        self._sequences[kind] = sequence + 1
        return sent


class CanDrive(BusDrive):
    """A drive on a CAN bus, by python-can; see `frames` for the frames."""

    def __init__(
        self, wiring: Wiring, interface: str, channel: str, *, late_after: float = 0.02, **options: Any
    ) -> None:
        """interface, channel, options: as python-can's `can.Bus` takes them, such as "socketcan", "can0"."""
        super().__init__(CanLink(wiring, interface, channel, **options), late_after=late_after)


class SerialDrive(BusDrive):
    """A drive on a serial line, by pyserial; see `frames` for the frames."""

    def __init__(self, wiring: Wiring, port: str, *, baud_rate: int = 921600, late_after: float = 0.02) -> None:
        """port: a device such as /dev/ttyUSB0, or a URL that pyserial knows."""
        super().__init__(SerialLink(wiring, port, baud_rate=baud_rate), late_after=late_after)
