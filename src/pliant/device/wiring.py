"""What runs over a wire: the names and units of the rows in both directions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast, get_args

from pliant.checks import as_names, require_kind_of, shown
from pliant.errors import InputError
from pliant.robot import Robot, Role

Kind = Literal["effort", "displacement"]


def require_kind(kind: str) -> Kind:
    """The kind of command, or an InputError where there is none of this name."""
    for known in get_args(Kind):
        if isinstance(kind, str) and kind == known:
            return cast(Kind, known)
    raise InputError(f"kind is {shown(kind)}", remedy="choose 'effort' or 'displacement'")


@dataclass(frozen=True)
class Wiring:
    """Rows of commands and measurements, by name and unit, and what a command is: efforts (N, Pa, ...) or displacements."""

    kind: Kind
    commands: tuple[str, ...]
    command_units: tuple[str, ...]
    measurements: tuple[str, ...]
    measurement_units: tuple[str, ...]

    def __post_init__(self) -> None:
        require_kind(self.kind)
        for what, its_units in (("commands", "command_units"), ("measurements", "measurement_units")):
            names, units = as_names(getattr(self, what), what), getattr(self, its_units)
            if not (isinstance(units, (tuple, list)) and all(isinstance(unit, str) for unit in units)):
                raise InputError(f"{its_units} is {shown(units)}", remedy="give one unit per row, such as ['N', 'N']")
            object.__setattr__(self, what, names)
            object.__setattr__(self, its_units, tuple(units))
            if len(names) != len(units):
                raise InputError(f"{len(names)} {what} have {len(units)} units", remedy="give one unit per row")
        if not self.commands:
            raise InputError("there are no rows to command", remedy="name at least one")

    @classmethod
    def of_robot(
        cls,
        robot: Robot,
        kind: Kind = "effort",
        *,
        commands: Sequence[str] | None = None,
        measures: Sequence[str] | None = None,
    ) -> Wiring:
        """Commands to these ports (default: the actuators, or all imposed ports where there are none), measurements of the
        displacements of those (default: effectors, sensors, and the commanded ports)."""
        require_kind(kind)
        require_kind_of(robot, "robot", Robot)
        commanded = commanded_ports(robot) if commands is None else as_names(commands, "commands")
        measured = measured_ports(robot, commanded) if measures is None else as_names(measures, "measures")
        names, units = _rows(robot, commanded, kind)
        rows, row_units = _rows(robot, measured, "displacement")
        return cls(kind, names, units, rows, row_units)


def _rows(robot: Robot, ports: Sequence[str], kind: Kind) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Names and units of the rows of these ports that a user gives or reads."""
    names: list[str] = []
    units: list[str] = []
    for name in ports:
        port = robot.ports[name].port
        names += port.labels(name)[: port.given_rows]
        units += (port.effort_units if kind == "effort" else port.displacement_units)[: port.given_rows]
    return tuple(names), tuple(units)


def commanded_ports(robot: Robot) -> tuple[str, ...]:
    """The actuators, or, where there are none, all ports whose effort or displacement is given."""
    return robot.named(Role.ACTUATOR) or (*robot.named(Role.IMPOSED), *robot.named(Role.HELD))


def measured_ports(robot: Robot, commanded: Sequence[str]) -> tuple[str, ...]:
    """Effectors, sensors, and the commanded ports."""
    return (*robot.named(Role.EFFECTOR), *robot.named(Role.SENSOR), *commanded)
