"""What a port is for, and the limits of an actuator."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import InputError

Array = NDArray[np.float64]


class Role(Enum):
    """What a robot uses a port for."""

    ACTUATOR = "its effort is decided by a controller"
    EFFECTOR = "its displacement is to follow a target"
    SENSOR = "its displacement is looked at"
    IMPOSED = "its effort is given"
    DRIVEN = "its displacement is given"


@dataclass(frozen=True)
class Limits:
    """Bounds per row, [rows, 2] (low, high): effort, displacement, and how fast each may change per second, [rows]."""

    effort: Array
    displacement: Array
    effort_rate: Array
    displacement_rate: Array

    @classmethod
    def checked(
        cls,
        name: str,
        rows: int,
        effort: ArrayLike | None = None,
        displacement: ArrayLike | None = None,
        effort_rate: float | None = None,
        displacement_rate: float | None = None,
    ) -> Limits:
        """Limits from user input; None is no limit. Contradictions raise an InputError that names the port."""
        return cls(
            _pairs(name, "effort", effort, rows),
            _pairs(name, "displacement", displacement, rows),
            _rate(name, "effort_rate", effort_rate, rows),
            _rate(name, "displacement_rate", displacement_rate, rows),
        )


def _pairs(name: str, what: str, value: ArrayLike | None, rows: int) -> Array:
    if value is None:
        return np.tile([-np.inf, np.inf], (rows, 1))
    pairs = np.asarray(
        [(-np.inf if a is None else a, np.inf if b is None else b) for a, b in np.atleast_2d(value)], float
    )
    if pairs.shape not in ((1, 2), (rows, 2)) or np.isnan(pairs).any():
        raise InputError(f"{what} limits of {name!r} are {value}", remedy=f"give (low, high), or {rows} such pairs")
    pairs = np.tile(pairs, (rows // len(pairs), 1))
    crossed = np.flatnonzero(pairs[:, 0] > pairs[:, 1])
    if len(crossed):
        low, high = pairs[crossed[0]]
        raise InputError(f"{what} limits of {name!r} contradict: {low} > {high}", remedy="give the lower one first")
    return pairs


def _rate(name: str, what: str, value: float | None, rows: int) -> Array:
    rate = np.inf if value is None else float(value)
    if not rate > 0:
        raise InputError(f"{what} of {name!r} is {value}", remedy="give a positive rate per second, or None")
    return np.full(rows, rate)
