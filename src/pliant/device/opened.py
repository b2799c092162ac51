"""Drives by name, as a command line has them."""

from __future__ import annotations

from pliant.checks import shown
from pliant.device.bus_drive import CanDrive, SerialDrive
from pliant.device.drive import Drive
from pliant.device.plant import SimulatedPlant
from pliant.device.simulated_drive import SimulatedDrive
from pliant.device.wiring import Kind, Wiring, require_kind
from pliant.errors import InputError
from pliant.robot import Robot


def drive_address(name: str) -> tuple[str, ...]:
    """The parts of a drive's name, checked before there is a robot to drive: ("can", INTERFACE, CHANNEL), ("serial", PORT) or
    ("simulated",).

    >>> drive_address("can:socketcan:can0"), drive_address("serial:/dev/ttyUSB0")
    (('can', 'socketcan', 'can0'), ('serial', '/dev/ttyUSB0'))
    """
    parts = tuple(name.split(":", 2 if name.startswith("can:") else 1)) if isinstance(name, str) else ("",)
    if not all(parts) or (parts[0], len(parts)) not in (("can", 3), ("serial", 2), ("simulated", 1)):
        raise InputError(
            f"there is no drive {shown(name)}", remedy="give can:INTERFACE:CHANNEL, serial:PORT, or simulated"
        )
    return parts


def opened_drive(name: str, robot: Robot, kind: Kind) -> Drive:
    """The drive of a robot's actuators by its name: `can:INTERFACE:CHANNEL` as python-can has them (can:socketcan:can0),
    `serial:PORT` (serial:/dev/ttyUSB0), or `simulated`, a plant of the same robot with motors that lag."""
    bus, *where = drive_address(name)
    require_kind(kind)
    if bus == "simulated":
        # a step that a robot of a few thousand nodes keeps up with, beside a page
        return SimulatedDrive(SimulatedPlant(robot, 0.02, kind=kind, settling=0.02))
    wiring = Wiring.of_robot(robot, kind)
    return CanDrive(wiring, *where) if bus == "can" else SerialDrive(wiring, *where)
