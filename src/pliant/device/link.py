"""One end of a bus that carries messages."""

from __future__ import annotations

from abc import ABC, abstractmethod

from pliant.device.drive import DriveStatus
from pliant.device.frames import COMMAND, MEASUREMENT, MOST_VALUES, RESUME, STOP, Message
from pliant.device.wiring import Wiring
from pliant.errors import InputError


def counts_of(wiring: Wiring) -> dict[int, int]:
    """How many values each kind of message has on this wiring."""
    counts = {COMMAND: len(wiring.commands), MEASUREMENT: len(wiring.measurements), STOP: 0, RESUME: 0}
    if max(counts.values()) > MOST_VALUES:
        raise InputError(
            f"a message would have {max(counts.values())} values", remedy=f"a frame takes at most {MOST_VALUES}"
        )
    return counts


class Link(ABC):
    """One end of a bus. Neither sending nor receiving waits or raises: what fails is counted in `status`."""

    def __init__(self, wiring: Wiring) -> None:
        self.wiring = wiring
        self.counts = counts_of(wiring)
        self.status = DriveStatus()

    @abstractmethod
    def send(self, message: Message, sequence: int, seconds: float) -> bool:
        """Send a message with this count and time [s]; False where it did not leave."""

    @abstractmethod
    def receive(self) -> Message | None:
        """The next message that came, None where there is none; overwritten by the next of its kind."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the bus. May be called twice."""
