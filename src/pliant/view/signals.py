"""Recorded signals as a picture and as a table."""

from __future__ import annotations

import sys
from itertools import zip_longest
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.device import Log, Track

MOST_ROWS = 16
"""Rows of a field that get a line each in the table."""
PANELS_PER_COLUMN, MOST_COLUMNS = 7, 4
"""Panels below each other in a picture, until there are no more columns."""
WIDTH, HEIGHT, DPI = 17.0, 9.5, 110
"""Of a picture at most [inches], and its pixels per inch: a screen."""


def signal_fields(track: Track) -> list[str]:
    """Fields that can be drawn over time: numbers, no time, no flags with words."""
    return [name for name in track.fields if name != "time" and name not in track.words]


def draw_signals(log: Log, path: str | PathLike[str], *, title: str = "") -> None:
    """Draw every field of every channel over time, a panel each, and marks where events were, to a PNG that fits a screen:
    many panels stand in columns; counts that stayed zero are told below instead of drawn."""
    from matplotlib.figure import Figure

    panels, silent = _panels(log)
    begin, _ = log.span
    columns = min(MOST_COLUMNS, max(1, -(-len(panels) // PANELS_PER_COLUMN)))
    rows = max(1, -(-len(panels) // columns))
    size = (10.0 if columns == 1 else WIDTH, min(1.2 + 1.6 * rows, HEIGHT))
    figure = Figure(figsize=size, layout="constrained")
    axes = figure.subplots(rows, columns, sharex=True, squeeze=False).ravel(order="F")
    for place, panel in zip_longest(axes, panels):
        if panel is None:
            place.set_axis_off()
        else:
            _draw_panel(place, panel[0], panel[1], begin)
    for column in range(columns):
        last = axes[min((column + 1) * rows, max(len(panels), 1)) - 1]
        last.set_xlabel("time [s]", fontsize=8)
        last.tick_params(labelbottom=True)
    below = f"always zero: {', '.join(silent)}" if silent else ""
    figure.suptitle("\n".join(filter(None, (title, below))), fontsize=8)
    figure.savefig(path, dpi=DPI)


def _panels(log: Log) -> tuple[list[tuple[Track, str]], list[str]]:
    """What there is to draw, and the names of counts that stayed zero."""
    panels, silent = [], []
    for track in log.tracks.values():
        for field in (*signal_fields(track), *(f for f in track.words if f in track.fields)) if len(track) else ():
            values = track[field]
            if values.ndim == 1 and values.dtype.kind in "iu" and field not in track.words and not values.any():
                silent.append(f"{track.name}.{field}")
            elif values.size:
                panels.append((track, field))
    return panels, silent


def _draw_panel(place, track: Track, field: str, begin: float) -> None:  # type: ignore[no-untyped-def]
    if field in track.words:
        _draw_flags(place, track, field, begin)
    else:
        values = track[field].reshape(len(track), -1)
        lines = place.plot(track.time - begin, values, linewidth=0.9)
        rows = track.rows.get(field)
        if rows and len(rows) <= 12:
            place.legend(lines, rows, loc="upper right", fontsize=5, ncols=4)
    unit = f" [{track.units[field]}]" if field in track.units else ""
    place.set_ylabel(f"{track.name}\n{field}{unit}", fontsize=6)
    place.tick_params(labelsize=6)


def _draw_flags(place, track: Track, field: str, begin: float) -> None:  # type: ignore[no-untyped-def]
    words = list(track.words[field].items())
    for k, (bit, _) in enumerate(words):
        when = track.time[(track[field] & bit) != 0] - begin
        place.plot(when, np.full(len(when), k), "|", markersize=5)
    place.set_yticks(range(len(words)), [word for _, word in words], fontsize=6)
    place.set_ylim(-0.5, len(words) - 0.5)


def _rows(track: Track, field: str) -> list[tuple[str, NDArray[Any]]]:
    """The rows of a field by their names, or all of it where it has none or too many to look at."""
    values, names = track[field], track.rows.get(field, ())
    if values.ndim < 2 or not 0 < len(names) <= MOST_ROWS:
        return [("", values)]
    return [(f" {name}", values[:, k]) for k, name in enumerate(names)]


def tracking_errors(track: Track) -> dict[str, NDArray[np.float64]]:
    """By effector the distance between its target and where it was measured, [n]; rows that are no coordinates (an angle)
    each by themselves. Records without a measurement are left out; empty where a channel does not have both."""
    names = track.rows.get("target", ())
    if not {"target", "measured"} <= set(track.fields) or not names or names != track.rows.get("measured"):
        return {}
    target, measured = track["target"], track["measured"]
    there = np.isfinite(target).all(axis=1) & np.isfinite(measured).all(axis=1) & measured.any(axis=1)
    groups: dict[str, list[int]] = {}
    for k, name in enumerate(names):
        owner, _, row = name.rpartition(".")
        groups.setdefault(owner if owner and row in ("x", "y", "z") else name, []).append(k)
    gap = (target - measured)[there]
    return {name: np.linalg.norm(gap[:, rows], axis=1) for name, rows in groups.items() if len(gap)}


def print_signals(log: Log) -> None:
    """Print a table: every row of every field with its range; how far what was measured is from the target; every event with
    its count, what was lost."""
    from rich.console import Console
    from rich.table import Table

    console = Console(width=None if sys.stdout.isatty() else 140)
    begin, end = log.span
    table = Table(title=f"{end - begin:.3f} s", title_justify="left")
    for heading, justify in (("signal", "left"), ("records", "right"), ("smallest", "right"), ("largest", "right")):
        table.add_column(heading, justify=justify, no_wrap=True)  # type: ignore[arg-type]
    table.add_column("unit", no_wrap=True)
    for track in log.tracks.values():
        for field in signal_fields(track):
            for row, values in _rows(track, field):
                finite = values[np.isfinite(values)] if values.dtype.kind == "f" else values
                low, high = (f"{finite.min():.5g}", f"{finite.max():.5g}") if finite.size else ("", "")
                table.add_row(f"{track.name}.{field}{row}", str(len(track)), low, high, track.units.get(field, ""))
    console.print(table)
    for track in log.tracks.values():
        for name, error in tracking_errors(track).items():
            unit = f" {track.units['target']}" if "target" in track.units else ""
            print(f"{name}: |target - measured| {error.mean():.4g}{unit} on average, {error.max():.4g}{unit} at most")
    for track in log.tracks.values():
        for field in track.words:
            for word, count in log.counted(track.name, field).items():
                print(f"{track.name}: {word} {count} times")
    for name, count in log.lost.items():
        print(f"{name}: {count} records lost before they were written")
