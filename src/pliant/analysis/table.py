"""Tables: named columns of numbers, as npz and as CSV."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pliant.errors import FileError, InputError

Array = NDArray[np.float64]


class Table:
    """Columns of one length, by name; cells are numbers (NaN: not known)."""

    def __init__(self, columns: Mapping[str, Iterable[float]]) -> None:
        self.columns: dict[str, Array] = {name: np.asarray(list(values), float) for name, values in columns.items()}
        lengths = {name: len(values) for name, values in self.columns.items()}
        if len(set(lengths.values())) > 1:
            raise InputError(f"columns have different lengths: {lengths}", remedy="give one value per row in each")

    @classmethod
    def of_rows(cls, rows: Iterable[Mapping[str, float]]) -> Table:
        """From rows; names are those of all rows in the order in which they first come, and what a row lacks is NaN."""
        kept = list(rows)
        names = list(dict.fromkeys(name for row in kept for name in row))
        return cls({name: [row.get(name, np.nan) for row in kept] for name in names})

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    def __getitem__(self, name: str) -> Array:
        if name not in self.columns:
            raise InputError(f"there is no column {name!r}", remedy=f"choose among {', '.join(self.columns)}")
        return self.columns[name]

    def __eq__(self, other: object) -> bool:
        """Whether names, order and every cell are the same, to the last bit."""
        if not isinstance(other, Table) or list(self.columns) != list(other.columns):
            return False
        return all(np.array_equal(self[name], other[name], equal_nan=True) for name in self.columns)

    __hash__ = None  # type: ignore[assignment]

    def write(self, stem: str | PathLike[str]) -> tuple[Path, Path]:
        """To STEM.npz and STEM.csv; returns both paths. The CSV has every digit."""
        npz, text = (Path(stem).with_suffix(ending) for ending in (".npz", ".csv"))
        np.savez(npz, **self.columns)  # type: ignore[arg-type]
        with open(text, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(self.columns)
            writer.writerows([repr(float(cell)) for cell in row] for row in zip(*self.columns.values(), strict=True))
        return npz, text

    @classmethod
    def read(cls, path: str | PathLike[str]) -> Table:
        """From a .npz or .csv file."""
        file = Path(path)
        if not file.is_file():
            raise FileError(f"there is no table {file}", remedy="give a .npz or .csv file", path=file)
        if file.suffix == ".npz":
            with np.load(file) as held:
                return cls({name: held[name] for name in held.files})
        with open(file, newline="") as lines:
            rows = [row for row in csv.reader(lines) if row]
        try:
            cells = np.array(rows[1:], float).reshape(len(rows) - 1, len(rows[0]))
        except (ValueError, IndexError) as error:
            raise FileError(
                f"{file} is no table of numbers", remedy="give a line of names, then numbers", path=file
            ) from error
        return cls(dict(zip(rows[0], cells.T, strict=True)))
