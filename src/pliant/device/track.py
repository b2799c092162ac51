"""What one channel of a recording holds."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.device.channel import TIME
from pliant.errors import FileError, InputError

NOT_OURS = "it was not written by pliant's recorder, or changed since"


@dataclass(frozen=True, repr=False)
class Track:
    """What one channel recorded: an array per field, [n] or [n, rows], with units, names of rows, and words of flags."""

    name: str
    fields: Mapping[str, NDArray[Any]]
    units: Mapping[str, str]
    rows: Mapping[str, tuple[str, ...]]
    words: Mapping[str, Mapping[int, str]]

    def __repr__(self) -> str:
        return f"{self.name} ({len(self)} records of {', '.join(self.fields)})"

    @property
    def time(self) -> NDArray[np.float64]:
        """Times of the records [s], [n]."""
        return self.fields[TIME]

    def __len__(self) -> int:
        return len(self.time)

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self.fields:
            raise InputError(
                f"channel {self.name!r} has no field {name!r}", remedy=f"choose among {', '.join(self.fields)}"
            )
        return self.fields[name]


def track_of(file: Path, name: str, messages: list[bytes], metadata: Mapping[str, str]) -> Track:
    """The arrays that messages of JSON make, as the channel's metadata says; a FileError where they do not."""
    try:
        said = [json.loads(message) for message in messages]
        fields = {
            key: _column([one[key] for one in said], str(kind), [int(size) for size in shape])
            for key, (kind, *shape) in json.loads(metadata["fields"]).items()
        }
        if TIME not in fields or fields[TIME].ndim != 1 or fields[TIME].dtype != np.float64:
            raise ValueError("it has no times")
        words = {
            str(key): {int(bit): str(word) for bit, word in own.items()}
            for key, own in json.loads(metadata["words"]).items()
            if key in fields and fields[key].ndim == 1 and fields[key].dtype.kind in "iu"
        }
        rows = {
            str(key): tuple(str(row) for row in own)
            for key, own in json.loads(metadata["rows"]).items()
            if key in fields and fields[key].ndim == 2 and fields[key].shape[1] == len(own)
        }
        units = {str(key): str(unit) for key, unit in json.loads(metadata["units"]).items()}
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError, RecursionError, MemoryError) as error:
        cause = f"{type(error).__name__}: {error}"
        raise FileError(
            f"{file}: channel {name!r} does not hold what it says ({cause[:200]})", remedy=NOT_OURS
        ) from error
    return Track(name, fields, units, rows, words)


def _column(values: list[Any], kind: str, shape: list[int]) -> NDArray[Any]:
    """The values of one field, [n] or [n, rows]."""
    dtype = np.dtype(kind)
    if dtype.kind not in "fiub" or len(shape) > 1 or min(shape, default=0) < 0:
        raise ValueError(f"a field of {kind!r} and shape {shape}")
    given, expected = np.array(values), (len(values), *shape)
    if not values:
        return np.zeros(expected, float if dtype.kind == "f" else dtype)
    if dtype.kind == "f" and given.dtype.kind == "O":  # null is what JSON says for a number that is none
        given = np.array(values, float)
    if given.dtype.kind not in ("fiu" if dtype.kind == "f" or not given.size else "iub") or given.shape != expected:
        raise ValueError(f"a field has {given.dtype} of the shape {given.shape} instead of {kind} {expected}")
    array = given.astype(float if dtype.kind == "f" else dtype)
    if dtype.kind != "f" and (array != given).any():
        raise ValueError(f"a field has numbers beyond {kind}")
    return array
