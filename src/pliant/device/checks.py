"""Numbers that a user gives, or an error that says which of them is none."""

from __future__ import annotations

import pickle
import warnings
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import InputError

Array = NDArray[np.float64]


def as_numbers(name: str, value: ArrayLike) -> Array:
    """Any numbers in a row, finite or not [n]; words, nothing, complex numbers and ragged rows are none."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            given = np.asarray(value)
            if given.dtype.kind not in "fiub":
                raise TypeError
            return np.asarray(given, np.float64).reshape(-1)
    except Exception:  # whatever an object does when it is asked for its numbers
        raise InputError(f"{name} is {shown(value)}", remedy="give numbers") from None


def as_rows(name: str, value: ArrayLike, rows: int, *, like: str) -> Array:
    """One number per row [rows]; one alone stands for all. like: what says how many rows there are."""
    numbers = as_numbers(name, value)
    if len(numbers) not in (1, rows):
        raise InputError(f"{name} has {len(numbers)} rows and {like} has {rows}", remedy=f"give 1 or {rows} values")
    out = np.empty(rows)
    out[:] = numbers
    return out


def as_number(name: str, value: Any, unit: str = "") -> float:
    """One number, finite or not."""
    numbers = as_numbers(name, value)
    if numbers.shape != (1,):
        raise InputError(f"{name} is {shown(value)}", remedy=f"give one number{f' [{unit}]' if unit else ''}")
    return float(numbers[0])


def as_positive(name: str, value: Any, unit: str = "", *, endless: bool = False) -> float:
    """One positive number; endless: infinity will do."""
    number = as_number(name, value, unit)
    if not number > 0 or (np.isinf(number) and not endless):
        raise InputError(f"{name} is {value}{f' {unit}' if unit else ''}", remedy="give a positive number")
    return number


def as_count(name: str, value: Any, least: int = 0, most: int = 2**53) -> int:
    """A whole number, at least and at most so large."""
    number = as_number(name, value)
    if not (least <= number <= most and number == np.floor(number)):
        upto = f" and at most {most}" if most < 2**53 else ""
        raise InputError(f"{name} is {value}", remedy=f"give a whole number, at least {least}{upto}")
    return int(number)


def as_names(name: str, value: Any) -> tuple[str, ...]:
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


def require_kind_of(name: str, value: Any, kind: type) -> None:
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
