"""Drives by name, as a command line has them."""

from __future__ import annotations

from pliant.device.bus_drive import CanDrive, SerialDrive
from pliant.device.drive import Drive
from pliant.device.plant import SimulatedPlant
from pliant.device.simulated_drive import SimulatedDrive
from pliant.device.wiring import Kind, Wiring
from pliant.errors import InputError
from pliant.robot import Robot


def drive_address(name: str) -> tuple[str, ...]:
    """The parts of a drive's name, checked before there is a robot to drive: ("can", INTERFACE, CHANNEL), ("serial", PORT) or
    ("simulated",).

    >>> drive_address("can:socketcan:can0"), drive_address("serial:/dev/ttyUSB0")
    (('can', 'socketcan', 'can0'), ('serial', '/dev/ttyUSB0'))
    """
    parts = tuple(name.split(":", 2 if name.startswith("can:") else 1))
    if not all(parts) or (parts[0], len(parts)) not in (("can", 3), ("serial", 2), ("simulated", 1)):
        raise InputError(f"there is no drive {name!r}", remedy="give can:INTERFACE:CHANNEL, serial:PORT, or simulated")
    return parts


def opened_drive(name: str, robot: Robot, kind: Kind) -> Drive:
    """The drive of a robot's actuators by its name: `can:INTERFACE:CHANNEL` as python-can has them (can:socketcan:can0),
    `serial:PORT` (serial:/dev/ttyUSB0), or `simulated`, a plant of the same robot with motors that lag."""
    bus, *where = drive_address(name)
    if bus == "simulated":
        return SimulatedDrive(SimulatedPlant(robot, 0.01, kind=kind, settling=0.02))
    return (CanDrive if bus == "can" else SerialDrive)(Wiring.of_robot(robot, kind), *where)
