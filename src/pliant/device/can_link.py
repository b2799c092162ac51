"""Messages on a CAN bus."""

from __future__ import annotations

from typing import Any

from pliant.checks import shown
from pliant.device.frames import CAN_BASE, CLOSING, CLOSING_OFFSET, HEAD, CanAssembler, Message
from pliant.device.link import Link
from pliant.device.wiring import Wiring
from pliant.errors import InputError, MissingExtraError

MOST_FRAMES = 512
"""Frames that one call of `receive` looks at: a babbling bus must not hold up the loop."""


def opened_can_bus(interface: str, channel: str, **options: Any) -> Any:
    """A bus of python-can, with what pliant needs of it and none of its exceptions."""
    try:
        import can
    except ImportError as error:
        raise MissingExtraError(f"CAN needs python-can ({error})", remedy="pip install 'pliant[hardware]'") from error
    if not (isinstance(interface, str) and isinstance(channel, str) and interface):
        raise InputError(
            f"CAN interface {shown(interface)}, channel {shown(channel)}",
            remedy="give two names, such as interface='socketcan', channel='can0'",
        )
    if interface == "udp_multicast":
        options.setdefault("hop_limit", 0)  # stays on this machine unless told otherwise
    try:
        return can.Bus(interface=interface, channel=channel, **options)
    except Exception as error:  # every interface has its own
        raise InputError(
            f"CAN interface {interface!r}, channel {channel!r}: {error}",
            remedy="check the names (such as interface='socketcan', channel='can0') and that the bus is up",
        ) from error


class CanLink(Link):
    """Messages as CAN 2.0 frames; see `frames` for what is in them."""

    def __init__(self, wiring: Wiring, interface: str, channel: str, **options: Any) -> None:
        """interface, channel, options: as python-can's `can.Bus` takes them."""
        super().__init__(wiring)
        self._bus = opened_can_bus(interface, channel, **options)
        self._assembler = CanAssembler(self.counts, self.status)
        self._frames: dict[int, list[Any]] = {kind: self._blank_frames(kind) for kind in self.counts}

    def _blank_frames(self, kind: int) -> list[Any]:
        """The frames of a message of this kind, to be filled over and over."""
        import can

        base, parts = CAN_BASE[kind], (self.counts[kind] + 1) // 2
        return [
            can.Message(arbitration_id=base + k, data=bytes(8), is_extended_id=False)
            for k in (*range(parts), CLOSING_OFFSET)
        ]

    def send(self, message: Message, sequence: int, seconds: float) -> bool:
        crc = message.seal(sequence, seconds)
        frames = self._frames[message.kind]
        for k, frame in enumerate(frames[:-1]):
            part = message.body[HEAD.size + 8 * k : HEAD.size + 8 * k + 8]
            frame.data[: len(part)] = part
        CLOSING.pack_into(frames[-1].data, 0, message.sequence, crc, message.stamp)
        try:
            for frame in frames:
                self._bus.send(frame, timeout=0)
        except Exception as error:  # whatever a driver raises, the loop goes on and the status tells
            self.status.fail(error)
            return False
        self.status.sent += 1
        return True

    def receive(self) -> Message | None:
        try:
            for _ in range(MOST_FRAMES):
                frame = self._bus.recv(timeout=0)
                if frame is None:
                    return None
                if frame.is_error_frame:
                    self.status.fail("the bus reports an error frame")
                elif not (frame.is_extended_id or frame.is_remote_frame):
                    message = self._assembler.add(frame.arbitration_id, frame.data)
                    if message is not None:
                        return message
        except Exception as error:  # see `send`
            self.status.fail(error)
        return None

    def close(self) -> None:
        self._bus.shutdown()
