"""Drives by name, as a command line has them."""

from __future__ import annotations

from pliant.device.bus_drive import CanDrive, SerialDrive
from pliant.device.drive import Drive
from pliant.device.plant import SimulatedPlant
from pliant.device.simulated_drive import SimulatedDrive
from pliant.device.wiring import Kind, Wiring
from pliant.errors import InputError
from pliant.robot import Robot


def opened_drive(name: str, robot: Robot, kind: Kind) -> Drive:
    """The drive of a robot's actuators by its name: `can:INTERFACE:CHANNEL` as python-can has them (can:socketcan:can0),
    `serial:PORT` (serial:/dev/ttyUSB0), or `simulated`, a plant of the same robot with motors that lag."""
    bus, _, rest = name.partition(":")
    if bus == "simulated" and not rest:
        return SimulatedDrive(SimulatedPlant(robot, 0.01, kind=kind, settling=0.02))
    interface, _, channel = rest.partition(":")
    if bus == "can" and interface and channel:
        return CanDrive(Wiring.of_robot(robot, kind), interface, channel)
    if bus == "serial" and rest:
        return SerialDrive(Wiring.of_robot(robot, kind), rest)
    raise InputError(f"there is no drive {name!r}", remedy="give can:INTERFACE:CHANNEL, serial:PORT, or simulated")
