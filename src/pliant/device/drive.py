"""The contract between a control loop and whatever moves."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from types import TracebackType

import numpy as np
from numpy.typing import NDArray

from pliant.device.wiring import Wiring

Array = NDArray[np.float64]

FOREIGN = (
    "messages of a second sender are on the bus (or some that are older than 0.5 s): they are not believed, and the other side "
    "obeys one controller only; leave one on the bus"
)
"""The warning of whoever sees `DriveStatus.foreign` grow."""


@dataclass
class Measurement:
    """What the sensors said: values [rows] in the units of the wiring, the sender's time stamp and the time of arrival
    [s], each on its side's clock, and the sender's count. A drive keeps one and overwrites it with the next."""

    values: Array
    time: float = 0.0
    arrived: float = 0.0
    sequence: int = -1

    def age(self, now: float) -> float:
        """Seconds since it arrived."""
        return now - self.arrived


@dataclass
class DriveStatus:
    """Counts since the drive was made, and the newest fault in words.

    lost: messages missing in the sender's count; damaged: those whose checksum or form is wrong; late: those that came
    later than the quickest by more than `late_after`, or after a newer one; foreign: those of a second sender on the bus, or
    too old to be believed; faults: calls in which the bus itself failed.
    """

    sent: int = 0
    received: int = 0
    lost: int = 0
    damaged: int = 0
    late: int = 0
    foreign: int = 0
    faults: int = 0
    last_fault: str = ""

    def fail(self, cause: object) -> None:
        """Count a fault and keep its words."""
        self.faults += 1
        self.last_fault = str(cause)


class Drive(ABC):
    """Takes commands and gives measurements. `send`, `read` and `stop` never wait and never raise: what fails is counted in
    `status`."""

    def __init__(self, wiring: Wiring) -> None:
        self.wiring = wiring
        self.status = DriveStatus()

    @abstractmethod
    def send(self, command: Array, now: float) -> bool:
        """Send a command [rows]; False where it did not leave. A command that is not a number never does.

        now [s]: the time that the guard was given for this command; the other side judges rates by it.
        """

    @abstractmethod
    def read(self) -> Measurement | None:
        """The newest measurement, None where nothing came since the last call. It is overwritten by the next."""

    @abstractmethod
    def stop(self) -> None:
        """Tell the other side to stop by itself, whatever commands come, until it is told to `resume`."""

    @abstractmethod
    def resume(self) -> None:
        """End a `stop`."""

    @abstractmethod
    def close(self) -> None:
        """Let go of the bus. May be called twice."""

    def __enter__(self):  # type: ignore[no-untyped-def]
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
