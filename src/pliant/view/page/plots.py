"""Plots beside the robot: tracking error and time per stage over the last seconds."""

from __future__ import annotations

from typing import Any

import numpy as np

from pliant.robot import Robot
from pliant.view.page.palette import STAGES as COLOURS
from pliant.view.page.palette import readable, rounded
from pliant.view.page.snapshot import STAGES, Record

EMPTY = np.array([0.0, 1.0])
FINE = {"m": (1e6, "µm")}
"""Errors of lengths are small; the axis of a chart has three decimals."""
LEAST = 1e-3
"""Errors are drawn on a scale of powers of ten, which has no zero."""


class Plots:
    """Two charts, drawn from a session's record."""

    def __init__(self, gui: Any, robot: Robot, effectors: tuple[str, ...]) -> None:
        self._effectors = effectors
        units = [
            FINE.get(robot.ports[name].displacement_unit) or readable(robot.ports[name].displacement_unit)
            for name in effectors
        ]
        self._factors = [factor for factor, _ in units]
        self._errors: Any = None
        if effectors:
            labels = [f"{name} [{unit}]" for name, (_, unit) in zip(effectors, units, strict=True)]
            self._errors = _chart(
                gui,
                f"tracking error [{units[0][1]}]" if len(set(units)) == 1 else "tracking error",
                labels,
                160,
                y={"distr": 3, "range": (LEAST, 1e5)},
            )
        self._stages = _chart(gui, "time per stage [ms]", list(STAGES), 200)
        self._top = 0.0

    def draw(self, record: Record) -> None:
        """Show the record as it is now."""
        if self._errors is not None:
            clock, *errors = record.errors(self._effectors)
            if len(clock) > 1:
                scaled = (
                    np.maximum(factor * error, LEAST) for factor, error in zip(self._factors, errors, strict=True)
                )
                self._errors.data = (clock, *scaled)
        clock, *stages = record.stages()
        if len(clock) > 1:
            self._stages.data = (clock, *(1e3 * stage for stage in stages))
            top = rounded(1.5e3 * float(np.percentile(np.max(stages, axis=0), 97.0)))
            if top != self._top:  # a single step that the machine held up must not make all others invisible
                self._top = top
                self._stages.scales = {"x": {"time": False}, "y": {"range": (0.0, top)}}


def _chart(gui: Any, title: str, labels: list[str], height: int, **scales: Any) -> Any:
    """An empty chart with a line per label over the clock."""
    series = [{"label": "time [s]"}]
    for k, label in enumerate(labels):
        series.append({"label": label, "stroke": COLOURS[k % len(COLOURS)], "width": 1.5})  # type: ignore[dict-item]
    return gui.add_uplot(
        (EMPTY, *(np.full(2, LEAST) for _ in labels)), tuple(series), title=title, height=height,
        scales={"x": {"time": False}, **scales}, legend={"show": len(labels) > 1, "live": False}, padding=(0, 14, 0, 0),
        axes=({"size": 38}, {"size": 52}),
    )  # fmt: skip
