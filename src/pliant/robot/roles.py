"""What a port is for, and the limits of an actuator."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import number
from pliant.errors import InputError

Array = NDArray[np.float64]

Limit: TypeAlias = "float | tuple[float | None, float | None]"
LimitsLike: TypeAlias = "Limit | Sequence[Limit] | ArrayLike"
"""What users write for limits: (low, high), one such pair per row, None for no limit on a side; for efforts of a port that
cannot be negative also one number, the upper limit."""

NO_LIMIT = (-np.inf, np.inf)


class Role(Enum):
    """What a robot uses a port for."""

    ACTUATOR = "its effort is decided by a controller"
    EFFECTOR = "its displacement is to follow a target"
    SENSOR = "its displacement is looked at"
    IMPOSED = "its effort is given"
    HELD = "its displacement is given"


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
        effort: LimitsLike | None = None,
        displacement: LimitsLike | None = None,
        effort_rate: float | None = None,
        displacement_rate: float | None = None,
        *,
        able: tuple[float, float] = NO_LIMIT,
    ) -> Limits:
        """Limits from user input; None is no limit, for efforts what the port is able to. Contradictions raise an InputError
        that names the port."""
        return cls(
            _pairs(name, "effort", effort, rows, able),
            _pairs(name, "displacement", displacement, rows, NO_LIMIT),
            _rate(name, "effort_rate", effort_rate, rows),
            _rate(name, "displacement_rate", displacement_rate, rows),
        )


def _pairs(name: str, what: str, value: LimitsLike | None, rows: int, able: tuple[float, float]) -> Array:
    """(low, high) per row, [rows, 2]; None within a pair is no limit on that side."""
    if value is None:
        return np.tile(able, (rows, 1)).astype(float)
    remedy = f"give (low, high){f', or {rows} such pairs' if rows > 1 else ''}; None is no limit"
    try:
        if np.ndim(value) == 0:  # type: ignore[arg-type]
            if able[0] != 0.0:
                raise InputError(
                    f"{what} limit of {name!r} is {value!r}", remedy=f"write (-{value}, {value}) or (0, {value})"
                )
            value = (0.0, value)  # type: ignore[assignment]
        either = np.atleast_2d(np.asarray(value, dtype=object))
        pairs = np.array([[-np.inf if a is None else a, np.inf if b is None else b] for a, b in either], dtype=float)
    except (TypeError, ValueError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"{what} limits of {name!r} are {value!r}", remedy=remedy) from None
    if pairs.shape not in ((1, 2), (rows, 2)) or np.isnan(pairs).any():
        raise InputError(f"{what} limits of {name!r} are {value!r}", remedy=remedy)
    pairs = np.tile(pairs, (rows // len(pairs), 1))
    crossed = np.flatnonzero(pairs[:, 0] > pairs[:, 1])
    if len(crossed):
        low, high = pairs[crossed[0]]
        raise InputError(f"{what} limits of {name!r} contradict: {low} > {high}", remedy="give the lower one first")
    return pairs


def _rate(name: str, what: str, value: float | None, rows: int) -> Array:
    remedy = "give a positive rate per second, or None"
    rate = np.inf if value is None else number(value, f"{what} of {name!r}", above=0.0, endless=True, remedy=remedy)
    return np.full(rows, rate)
