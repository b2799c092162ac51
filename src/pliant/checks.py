"""Numbers that users give, checked once at the boundary: the right kind, finite, in range, or an error that names them.

>>> number(0.3, "friction", least=0.0)
0.3
>>> number("much", "friction", least=0.0)
Traceback (most recent call last):
    ...
pliant.errors.InputError: friction is 'much'; give a finite number >= 0
"""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import InputError

Array = NDArray[np.float64]


def as_numbers(value: ArrayLike) -> Array:
    """What a user gave as real numbers, a new array; a single NaN where it is something else."""
    if type(value) is np.ndarray and value.dtype == np.float64:
        return np.array(value)
    if isinstance(value, (str, bytes)) or _has_text(value):
        return np.array(np.nan)
    try:
        found = np.array(value)
        if found.dtype.kind == "c":
            return np.array(np.nan)
        return found.astype(float)
    except Exception:  # whatever an object does when it is asked for its numbers
        return np.array(np.nan)


def as_array(value: ArrayLike) -> NDArray[Any]:
    """What a user gave as an array of whatever kind; of objects where it is ragged or none."""
    try:
        return np.asarray(value)
    except Exception:  # whatever an object does when it is asked for its numbers
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
    endless: bool = False,
    remedy: str = "",
) -> float:
    """A finite number within bounds (above and below exclude them), or an InputError; endless: plus infinity will do."""
    found = as_numbers(value)
    single = float(found) if found.shape == () else np.nan
    ok = (
        (np.isfinite(single) or (endless and single == np.inf))
        and (above is None or single > above)
        and (least is None or single >= least)
        and (below is None or single < below)
        and (most is None or single <= most)
    )
    if not ok:
        signs = ((">", above), (">=", least), ("<", below), ("<=", most))
        bounds = " and ".join(f"{sign} {bound:g}" for sign, bound in signs if bound is not None)
        raise InputError(
            f"{name} is {shown(value)}{f' {unit}' if unit and np.isfinite(single) else ''}",
            remedy=remedy or f"give a finite number{f' {bounds}' if bounds else ''}{f' [{unit}]' if unit else ''}",
        )
    return single


def single(value: Any, name: str, *, unit: str = "") -> float:
    """One number, finite or not."""
    numbers = row_of_numbers(value, name)
    if numbers.shape != (1,):
        raise InputError(f"{name} is {shown(value)}", remedy=f"give one number{f' [{unit}]' if unit else ''}")
    return float(numbers[0])


def row_of_numbers(value: ArrayLike, name: str) -> Array:
    """Numbers in a row, finite or not [n], one alone as a row of one; an InputError for anything else."""
    found = as_numbers(value)
    if found.size == 1 and np.isnan(found).all() and not _is_nan(value):
        raise InputError(f"{name} is {shown(value)}", remedy="give numbers")
    return found.reshape(-1)


def per_row(value: ArrayLike, name: str, rows: int, *, like: str) -> Array:
    """One number per row [rows]; one alone stands for all. like: what says how many rows there are."""
    numbers = row_of_numbers(value, name)
    if len(numbers) not in (1, rows):
        raise InputError(f"{name} has {len(numbers)} rows and {like} has {rows}", remedy=f"give 1 or {rows} values")
    out = np.empty(rows)
    out[:] = numbers
    return out


def whole(value: Any, name: str, *, least: int = 1, most: int | None = None) -> int:
    """A whole number within bounds, or an InputError."""
    is_whole = isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))
    if not is_whole or value < least or (most is not None and value > most):
        limit = f" and <= {most}" if most is not None else ""
        raise InputError(f"{name} is {shown(value)}", remedy=f"give a whole number >= {least}{limit}")
    return int(value)


def one_of(value: Any, name: str, allowed: tuple[Any, ...]) -> Any:
    """The value where it is one of those that there are, or an InputError that lists them."""
    if not any(type(value) is type(each) and value == each for each in allowed):
        raise InputError(f"{name} is {value!r}", remedy=f"choose one of {', '.join(map(repr, allowed))}")
    return value


def as_names(value: Any, name: str) -> tuple[str, ...]:
    """Names in a row, no two the same; one name by itself is none of that."""
    try:
        names = None if isinstance(value, (str, bytes)) else tuple(value)
    except TypeError:
        names = None
    if names is None or not all(isinstance(one, str) for one in names):
        raise InputError(f"{name} is {shown(value)}", remedy="give names in a list, such as ['up', 'down']")
    for one in names:
        if names.count(one) > 1:
            raise InputError(f"{name} has {one!r} {names.count(one)} times", remedy="give every row a name of its own")
    return names


def require_kind_of(value: Any, name: str, kind: type) -> None:
    """Raise an InputError for an object of another kind."""
    if not isinstance(value, kind):
        raise InputError(f"{name} is {shown(value)}", remedy=f"give a {kind.__name__}")


def require_importable(build: Any, what: str) -> None:
    """Raise an InputError where another process could not find `build`, which makes something there."""
    remedy = f"give a function of a module, by its name, that makes the {what}"
    if not callable(build):
        raise InputError(f"build is a {type(build).__name__}", remedy=remedy)
    try:
        pickle.dumps(build)
    except Exception as error:
        raise InputError(f"another process cannot find build ({error})", remedy=remedy) from error


def shown(value: Any, most: int = 60) -> str:
    """A value as it was given, as far as that is short, with its type where it is none of the usual."""
    try:
        text = repr(value)
    except Exception:
        text = "something that cannot be printed"
    text = text if len(text) <= most else f"{text[:most]} ..."
    return text if isinstance(value, (str, int, float, list, tuple, type(None))) else f"{text} ({type(value).__name__})"


def _is_nan(value: Any) -> bool:
    """Whether it is a number that is none, and not something else."""
    return as_array(value).dtype.kind == "f"


def _has_text(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and any(isinstance(part, (str, bytes)) or _has_text(part) for part in value)
