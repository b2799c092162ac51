"""A bus in memory: what one end sends, all others receive."""

from __future__ import annotations

from plants import LIMIT, arm_plant

from pliant.device import BusDrive, PlantServer
from pliant.device.frames import Message
from pliant.device.link import Link


def copied(message, sequence, seconds):
    """The message as it would be on the wire."""
    copy = Message(message.kind, message.count)
    copy.values[:] = message.values
    copy.seal(sequence, seconds)
    return copy


class Wire(Link):
    """One end of a line in memory; `loses` says of a kind of message whether it gets lost on the way."""

    def __init__(self, wiring, loses=lambda kind: False):
        super().__init__(wiring)
        self.inbox, self.others, self.loses = [], [], loses
        self.sent = []

    def send(self, message, sequence, seconds):
        self.sent.append(copied(message, sequence, seconds))
        if not self.loses(message.kind):
            for other in self.others:
                other.inbox.append(copied(message, sequence, seconds))
        self.status.sent += 1
        return True

    def receive(self):
        return self.inbox.pop(0) if self.inbox else None

    def close(self):
        pass


def bus_of(wiring, ends, loses=lambda kind: False):
    """So many ends of one bus; `loses` is about what the first one sends."""
    wires = [Wire(wiring, loses if k == 0 else lambda kind: False) for k in range(ends)]
    for wire in wires:
        wire.others = [other for other in wires if other is not wire]
    return wires


def wired(loses=lambda kind: False, controllers=1, **options):
    """Drives and the server of a plant on one line; one drive alone, or several in a list."""
    plant = arm_plant()
    *near, far = bus_of(plant.wiring, controllers + 1, loses)
    server = PlantServer(plant, far, [0.0, 0.0], [LIMIT, LIMIT], [20.0, 20.0], interval=0.01, **options)
    drives = [BusDrive(wire) for wire in near]
    return (drives[0] if controllers == 1 else drives), server
