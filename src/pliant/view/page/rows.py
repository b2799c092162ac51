"""How far effectors are from their targets, by unit."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.robot import Robot, State

Array = NDArray[np.float64]


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
        return float(np.linalg.norm(robot.shortfall(state, self.effector, target)[self.rows]))


def measures_of(robot: Robot, effector: str) -> list[Measure]:
    """One for every unit among the rows of an effector; the first has the effector's name. Rows of weight zero do not count."""
    mounted = robot.ports[effector]
    units, counts = np.array(mounted.port.displacement_units), mounted.weight > 0
    chosen = list(dict.fromkeys(units[counts].tolist() or units.tolist()[:1]))
    labels = [effector, *(f"{effector} {'angle' if unit == 'rad' else unit}" for unit in chosen[1:])]
    return [
        Measure(effector, label, unit, np.flatnonzero(counts & (units == unit)))
        for label, unit in zip(labels, chosen, strict=True)
    ]
