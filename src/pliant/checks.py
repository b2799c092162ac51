"""Numbers that users give, checked once at the boundary: the right kind, finite, in range, or an error that names them.

>>> number(0.3, "friction", least=0.0)
0.3
>>> number("much", "friction", least=0.0)
Traceback (most recent call last):
    ...
pliant.errors.InputError: friction is 'much'; give a finite number >= 0
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import InputError

Array = NDArray[np.float64]


def as_numbers(value: ArrayLike) -> Array:
    """What a user gave as real numbers, a new array; a single NaN where it is something else."""
    if isinstance(value, (str, bytes)) or _has_text(value):
        return np.array(np.nan)
    try:
        found = np.array(value)
        if found.dtype.kind == "c":
            return np.array(np.nan)
        return found.astype(float)
    except (TypeError, ValueError, OverflowError):
        return np.array(np.nan)


def as_array(value: ArrayLike) -> NDArray[Any]:
    """What a user gave as an array of whatever kind; of objects where it is ragged."""
    try:
        return np.asarray(value)
    except ValueError:
        return np.empty((), dtype=object)


def number(
    value: Any,
    name: str,
    *,
    unit: str = "",
    above: float | None = None,
    least: float | None = None,
    below: float | None = None,
    most: float | None = None,
    remedy: str = "",
) -> float:
    """A finite number within bounds (above and below exclude them), or an InputError."""
    found = as_numbers(value)
    single = float(found) if found.shape == () else np.nan
    ok = (
        np.isfinite(single)
        and (above is None or single > above)
        and (least is None or single >= least)
        and (below is None or single < below)
        and (most is None or single <= most)
    )
    if not ok:
        signs = ((">", above), (">=", least), ("<", below), ("<=", most))
        bounds = " and ".join(f"{sign} {bound:g}" for sign, bound in signs if bound is not None)
        raise InputError(
            f"{name} is {value!r}{f' {unit}' if unit and np.isfinite(single) else ''}",
            remedy=remedy or f"give a finite number{f' {bounds}' if bounds else ''}{f' [{unit}]' if unit else ''}",
        )
    return single


def whole(value: Any, name: str, *, least: int = 1, most: int | None = None) -> int:
    """A whole number within bounds, or an InputError."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    if not is_whole or value < least or (most is not None and value > most):
        limit = f" and <= {most}" if most is not None else ""
        raise InputError(f"{name} is {value!r}", remedy=f"give a whole number >= {least}{limit}")
    return int(value)


def one_of(value: Any, name: str, allowed: tuple[Any, ...]) -> Any:
    """The value where it is one of those that there are, or an InputError that lists them."""
    if not any(type(value) is type(each) and value == each for each in allowed):
        raise InputError(f"{name} is {value!r}", remedy=f"choose one of {', '.join(map(repr, allowed))}")
    return value


def _has_text(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(part, (str, bytes)) or _has_text(part) for part in value)
