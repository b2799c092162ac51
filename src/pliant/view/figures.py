"""A figure is a number with its unit and what it is to be compared with; the same record is printed and written."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from os import PathLike
from typing import Literal


@dataclass(frozen=True)
class Figure:
    """One measured or computed value.

    reference: theory's, the paper's or the bound's value, and source says which; better: whether a higher or a lower value
    is better, or one closest to the reference; holds: whether the bound is kept, where there is one.
    """

    name: str
    value: float
    unit: str
    reference: float | None = None
    source: str = ""
    better: Literal["higher", "lower", "closer"] = "closer"
    holds: bool | None = None

    def record(self) -> dict[str, object]:
        """As a flat dictionary for JSON; `holds` only where the figure has a bound."""
        out = asdict(self)
        if self.holds is None:
            del out["holds"]
        return out


def bounded(
    name: str, value: float, unit: str, bound: float, better: Literal["higher", "lower"], source: str
) -> Figure:
    """A figure with a bound that it must keep."""
    return Figure(name, value, unit, bound, source, better, value >= bound if better == "higher" else value <= bound)


def print_figures(figures: Sequence[Figure], title: str = "") -> None:
    """Print a table to the terminal."""
    from rich.console import Console
    from rich.table import Table

    table = Table(title=title or None, title_justify="left")
    columns: dict[str, list[str]] = {"figure": [], "value": [], "unit": [], "reference": [], "source": [], "": []}
    for f in figures:
        reference = "" if f.reference is None else f"{f.reference:.4g}"
        mark = "" if f.holds is None else ("holds" if f.holds else "[bold red]does not hold")
        for cells, cell in zip(
            columns.values(), (f.name, f"{f.value:.4g}", f.unit, reference, f.source, mark), strict=True
        ):
            cells.append(cell)
    filled = {heading: cells for heading, cells in columns.items() if any(cells)}
    for heading in filled:
        table.add_column(heading, justify="right" if heading in ("value", "reference") else "left", no_wrap=True)
    for row in zip(*filled.values(), strict=True):
        table.add_row(*row)
    Console(width=None if sys.stdout.isatty() else 140).print(table)


def are_figures(path: str | PathLike[str]) -> bool:
    """Whether a file has what `write_figures` writes."""
    try:
        with open(path, encoding="utf-8") as file:
            records = json.load(file)
    except (OSError, ValueError):
        return False
    return isinstance(records, list) and all(
        isinstance(r, dict) and {"name", "value", "unit"} <= set(r) for r in records
    )


def write_figures(figures: Sequence[Figure], path: str | PathLike[str]) -> None:
    """Write one flat list of records as JSON."""
    with open(path, "w") as file:
        json.dump([f.record() for f in figures], file, indent=1)
        file.write("\n")
