"""The plots of largilliere2015."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pliant.control.simulated import SimulatedRun


def draw_variation(out: Path, table: Mapping[float, Any], papers: Mapping[float, float], own_rate: float) -> Path:
    """The variation of the QP's matrix over the speed, ours and the paper's."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(6, 3.6), layout="constrained")
    axes = figure.subplots()
    speeds = list(table)
    axes.plot(speeds, [papers[s] for s in speeds], "k^--", label="the paper, 15 Hz")
    for place, name in enumerate(
        ("warped tangent, 15 Hz", f"warped tangent, {own_rate:.0f} Hz", "exact tangent, 15 Hz")
    ):
        axes.plot(speeds, [table[s][place].of_norm for s in speeds], "o-", label=name)
    axes.set(xlabel="speed of the top [mm/s]", ylabel="largest variation of |M| [%]", yscale="log")
    axes.legend(fontsize=8)
    return _saved(figure, out / "largilliere2015_variation.png")


def draw_square(out: Path, one: SimulatedRun, two: SimulatedRun) -> Path:
    """Figures 4 to 6: the way of the top, its error, the signal to one motor."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 3.8), layout="constrained")
    path, error, signal = figure.subplots(1, 3)
    second = one.time >= one.time[-1] / 2
    path.plot(*(1e3 * two.target[second, :2]).T, color="tab:green", label="target")
    for run, color, name in ((one, "tab:blue", "one rate"), (two, "tab:red", "two rates")):
        path.plot(*(1e3 * run.position[second, :2]).T, color=color, linewidth=0.9, label=name)
        error.plot(run.time[second], 1e3 * run.error[second], color=color, linewidth=0.9, label=name)
        signal.plot(run.time[second], 1e3 * run.command[second, 0], color=color, linewidth=0.9, label=name)
    path.set(xlabel="x [mm]", ylabel="y [mm]", aspect="equal", title="fig. 4: way of the top")
    error.set(xlabel="time [s]", ylabel="distance from the target [mm]", title="fig. 5: error")
    signal.set(xlabel="time [s]", ylabel="length taken in [mm]", title="fig. 6: command to one motor")
    path.legend(fontsize=8)
    return _saved(figure, out / "largilliere2015_square.png")


def draw_study(out: Path, points: Sequence[tuple[float, float]]) -> Path:
    """What two rates gain over one, over the first natural frequency."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(5, 3.4), layout="constrained")
    axes = figure.subplots()
    axes.plot(*zip(*points, strict=True), "o-")
    axes.axvline(15.0, color="gray", linestyle=":", label="rate of the models")
    axes.set(xlabel="first natural frequency [Hz]", ylabel="error, two rates over one", xscale="log", ylim=(0, 1.1))
    axes.legend(fontsize=8)
    return _saved(figure, out / "largilliere2015_frequency.png")


def _saved(figure: Any, path: Path) -> Path:
    figure.savefig(path, dpi=130)
    return path
