"""Plots beside the robot: tracking error and time per stage over the last seconds."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.view.page.palette import STAGES as COLOURS
from pliant.view.page.palette import readable
from pliant.view.page.rows import Measure
from pliant.view.page.snapshot import STAGES, Record

Array = NDArray[np.float64]

LEAST, MOST = 1e-3, 10.0
"""Errors are drawn on a scale of powers of ten between these, in the units that people read (mm, degrees, ml): smaller ones
are none to the eye, larger ones are seen on the robot."""


class Plots:
    """Charts drawn from a session's record: errors, one chart for every unit, and time per stage."""

    def __init__(self, gui: Any, measures: Sequence[Measure]) -> None:
        self._errors: list[tuple[Any, tuple[str, ...], float]] = []
        for unit in dict.fromkeys(measure.unit for measure in measures):
            names = tuple(measure.label for measure in measures if measure.unit == unit)
            factor, readable_unit = readable(unit)
            scale = {"distr": 3, "range": (LEAST, MOST)}
            self._errors.append(
                (_chart(gui, f"tracking error [{readable_unit}]", list(names), 150, scale), names, factor)
            )
        self._stages = _chart(gui, "time per stage, median of 15 [ms]", list(STAGES), 190, {})
        self._stages.visible = False  # until there is anything to show

    def draw(self, record: Record) -> None:
        """Show the record as it is now."""
        for chart, names, factor in self._errors:
            clock, *errors = record.errors(names)
            if len(clock) > 1:
                chart.data = (clock, *(np.clip(factor * error, LEAST, MOST) for error in errors))
        clock, *stages = record.stages()
        if len(clock) > 1:
            self._stages.data = (clock, *(1e3 * smoothed(stage) for stage in stages))
            if not self._stages.visible:
                self._stages.visible = True


def smoothed(values: Array, width: int = 15) -> Array:
    """The running median: a step that the machine held up must not make all others invisible."""
    padded = np.concatenate([np.repeat(values[:1], width - 1), values])
    return np.asarray(np.median(np.lib.stride_tricks.sliding_window_view(padded, width), axis=1))


def _chart(gui: Any, title: str, labels: list[str], height: int, scale: dict[str, Any]) -> Any:
    """An empty chart with a line per label over the clock; scale: of its upright axis."""
    series: list[dict[str, Any]] = [{"label": "time [s]"}]
    for k, label in enumerate(labels):
        series.append({"label": label, "stroke": COLOURS[k % len(COLOURS)], "width": 1.5})
    upright = {"size": 60, "ticks": {"show": False}, "grid": {"show": not scale}}
    return gui.add_uplot(
        (np.array([0.0, 1.0]), *(np.full(2, LEAST) for _ in labels)),
        tuple(series),
        title=title,
        height=height,
        scales={"x": {"time": False}, "y": scale},
        legend={"show": len(labels) > 1, "live": False},
        padding=(10, 14, 0, 0),
        axes=({"size": 38}, upright),
    )
