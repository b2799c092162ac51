"""Rows of ports and what people read of them: labels, units per row, errors of effectors by unit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.port import Port
from pliant.robot import Robot, State

Array = NDArray[np.float64]

CONJUGATE = {"m": "N", "rad": "N m", "m^3": "Pa"}
"""Units of efforts that do work on displacements in these units."""


def displacement_units(port: Port) -> tuple[str, ...]:
    """The unit of every row's displacement."""
    return port.row_units or (port.displacement_unit,) * len(port.row_names)


def effort_units(port: Port) -> tuple[str, ...]:
    """The unit of every row's effort."""
    if port.row_units:
        return tuple(CONJUGATE.get(unit, "") for unit in port.row_units)
    return (port.effort_unit,) * len(port.row_names)


def row_label(port: Port, name: str, row: int) -> str:
    """The name of a row of a port: that of the port, and which row where it has several."""
    suffix = port.row_names[row]
    return f"{name}.{suffix}" if suffix else name


@dataclass(frozen=True)
class Measure:
    """How far an effector is from its target, in one unit: the norm over those of its rows [k] that count.

    A `Frame` has two: a distance [m] and an angle [rad].
    """

    effector: str
    label: str
    unit: str
    rows: NDArray[np.intp]

    def of(self, robot: Robot, state: State, target: Array) -> float:
        """The error at a state, in the unit; not a number where the target is not."""
        if not np.isfinite(target).all():
            return float("nan")
        return float(np.linalg.norm(robot.attachment(self.effector).shortfall(state.x, target)[self.rows]))


def measures_of(robot: Robot, effector: str) -> list[Measure]:
    """One for every unit among the rows of an effector; the first has the effector's name. Rows of weight zero do not count."""
    units = np.array(displacement_units(robot.ports[effector]))
    counts = robot.weights[effector] > 0
    chosen = list(dict.fromkeys(units[counts].tolist() or units.tolist()[:1]))
    labels = [effector, *(f"{effector} {'angle' if unit == 'rad' else unit}" for unit in chosen[1:])]
    return [
        Measure(effector, label, unit, np.flatnonzero(counts & (units == unit)))
        for label, unit in zip(labels, chosen, strict=True)
    ]
