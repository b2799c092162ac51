"""Pictures of tables: slices of a workspace in colours, what a sweep has found best, and stable walls."""

from __future__ import annotations

from os import PathLike
from typing import Any

import numpy as np

from pliant.analysis import Table
from pliant.analysis.sweep import best_of
from pliant.errors import InputError


def draw_workspace(table: Table, path: str | PathLike[str], *, value: str = "force", title: str = "") -> None:
    """Slices of a workspace, one panel per place along the first row: reached places in the colour of `value`, others as dots
    (koehler2023, figs. 4 and 5)."""
    from matplotlib.figure import Figure

    rows = list(table.columns)[: list(table.columns).index("reached")]
    if not 1 <= len(rows) <= 3:
        raise InputError(f"a workspace over {len(rows)} rows", remedy="draw one of one, two or three rows")
    first, across, up = ([None, *rows] if len(rows) == 2 else [*rows, None, None])[:3]
    levels = np.unique(table[first]) if first else np.array([0.0])
    columns = min(5, len(levels))
    lines = -(-len(levels) // columns)
    figure = Figure(figsize=(2.6 * columns + 1.2, 2.7 * lines + 0.4), layout="constrained")
    panels = figure.subplots(lines, columns, squeeze=False).ravel()
    reached = table["reached"] == 1
    top = float(np.nanmax(np.where(reached, table[value], np.nan))) if reached.any() else 1.0
    for panel, level in zip(panels, levels, strict=False):
        inside = table[first] == level if first and across else np.ones(len(table), bool)
        x = table[across or first or rows[0]][inside]
        y = table[up][inside] if up else np.zeros(len(x))
        there = reached[inside]
        panel.plot(x[~there], y[~there], ".", color="0.85", markersize=2)
        drawn = panel.scatter(x[there], y[there], c=table[value][inside][there], vmin=0.0, vmax=top, s=18)
        panel.set_title(f"{first} = {level:.3g}" if first and across else "", fontsize=8)
        _labelled(panel, across or rows[0], up or "")
        if there.any():
            shown = drawn
    for panel in panels[len(levels) :]:
        panel.set_axis_off()
    if reached.any():
        unit = {"force": "N", "force_weak": "N", "torque": "N m", "torque_weak": "N m"}.get(value, "")
        figure.colorbar(shown, ax=panels.tolist(), label=f"{value} [{unit}]")
    figure.suptitle(title, fontsize=9)
    figure.savefig(path, dpi=110)


def draw_pareto(
    table: Table, path: str | PathLike[str], x: str, y: str, *, costs: tuple[str, ...] = (), title: str = ""
) -> None:
    """Two results of a sweep against each other, with the variants that no other beats in both marked and numbered."""
    from matplotlib.figure import Figure

    best = sorted(best_of(table, (x, y), costs), key=lambda k: table[x][k])
    figure = Figure(figsize=(6.5, 5.0), layout="constrained")
    panel = figure.subplots()
    panel.plot(table[x], table[y], "o", color="0.7", markersize=3)
    panel.plot(table[x][best], table[y][best], "o-", markersize=4)
    for k in best:
        panel.annotate(f"{int(table['variant'][k])}", (table[x][k], table[y][k]), fontsize=7)
    _labelled(panel, x, y)
    panel.set_title(title, fontsize=9)
    figure.savefig(path, dpi=110)


def draw_zwidth(table: Table, path: str | PathLike[str], *, title: str = "") -> None:
    """Softest and stiffest stable walls over the delay, a band per rate."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6.0, 4.2), layout="constrained")
    panel = figure.subplots()
    for k, rate in enumerate(np.unique(table["rate"])):
        own = table["rate"] == rate
        late, low, high = 1e3 * table["delay"][own], table["softest"][own], table["stiffest"][own]
        panel.fill_between(late, low, high, color=f"C{k}", alpha=0.15)
        panel.plot(late, high, "o-", color=f"C{k}", markersize=4, label=f"{rate:g} Hz")
        panel.plot(late, low, "o-", color=f"C{k}", markersize=4)
    panel.set_yscale("log")
    panel.legend(fontsize=8)
    _labelled(panel, "delay of measurements [ms]", "stiffness of the wall [N/m]")
    panel.set_title(title, fontsize=9)
    figure.savefig(path, dpi=110)


def _labelled(panel: Any, x: str, y: str) -> None:
    panel.set_xlabel(x, fontsize=7)
    panel.set_ylabel(y, fontsize=7)
    panel.tick_params(labelsize=6)
