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

FINE = {"m": (1e6, "µm")}
"""Errors of lengths are small; the axis of a chart has three decimals."""
LEAST, MOST = 1e-3, 1e5
"""Errors are drawn on a scale of powers of ten between these."""


class Plots:
    """Two charts, drawn from a session's record."""

    def __init__(self, gui: Any, measures: Sequence[Measure]) -> None:
        self._labels = tuple(measure.label for measure in measures)
        units = [measure.unit for measure in measures]
        self._scales = [FINE.get(unit) or readable(unit) for unit in units]
        self._errors: Any = None
        if measures:
            labels = [f"{name} [{unit}]" for name, (_, unit) in zip(self._labels, self._scales, strict=True)]
            title = f"tracking error [{self._scales[0][1]}]" if len(set(units)) == 1 else "tracking error"
            self._errors = _chart(gui, title, labels, 140, {"distr": 3, "range": (LEAST, MOST)})
        self._stages = _chart(gui, "time per stage, median of 15 [ms]", list(STAGES), 190, {})

    def draw(self, record: Record) -> None:
        """Show the record as it is now."""
        if self._errors is not None:
            clock, *errors = record.errors(self._labels)
            if len(clock) > 1:
                scaled = (np.clip(f * error, LEAST, MOST) for (f, _), error in zip(self._scales, errors, strict=True))
                self._errors.data = (clock, *scaled)
        clock, *stages = record.stages()
        if len(clock) > 1:
            self._stages.data = (clock, *(1e3 * smoothed(stage) for stage in stages))


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
