"""The plots of clay2021 (Cronos), one per figure or table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from pliant.paper import cronos_beams as beams
from pliant.paper.cronos_beams import Beam, Frequencies
from pliant.paper.cronos_energy import Released
from pliant.paper.cronos_lattices import Made
from pliant.paper.cronos_speed import INTEGRATORS, LAYOUTS, PAPERS_CPU, Throughput, thread_counts
from pliant.paper.cronos_vibration import COARSE, Sagging, Swing
from pliant.paper.truth_cylinder import PUBLISHED, Row

Swings = Mapping[tuple[Beam, str], Swing]
MARKS = {"semi-implicit": "s", "verlet": "x", "rk4": "+"}


def draw_frequencies(out: Path, found: Mapping[Beam, Frequencies], swings: Swings) -> Path:
    """Fig. 5: frequencies over length, width and height; above normalized by the shape in the middle of each sweep, below
    relative to Euler and Bernoulli's beam, where differences show."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 6.4), layout="constrained")
    axes = figure.subplots(2, 3, sharex="col")
    sweeps = (
        ("length L/H", beams.LENGTHS, [b.slenderness for b in beams.LENGTHS]),
        ("width W/H", beams.WIDTHS, [b.width for b in beams.WIDTHS]),
        ("height (L and W fixed)", beams.HEIGHTS, [20.0 / b.slenderness for b in beams.HEIGHTS]),
    )
    for column, (label, sweep, places) in enumerate(sweeps):
        # All beams have one height here; the same shape, 1 / (L/H) times as high, has L/H times the frequency.
        scale = np.array([b.slenderness if column == 2 else 1.0 for b in sweep])
        middle = found[sweep[2]].euler * scale[2]
        for row, unit in enumerate((middle / scale, np.array([found[b].euler for b in sweep]))):
            plot = axes[row, column]
            for name, style, key in (
                ("Euler-Bernoulli", "k--", "euler"),
                ("Timoshenko", "k:", "timoshenko"),
                (f"ten-node tets, nu 1/4, {beams.TETS} through H", "o-", "tets"),
                (f"springs, {beams.FINE} cells through H, eigenvalue", "^-", "springs"),
            ):
                plot.plot(places, [getattr(found[b], key) for b in sweep] / unit, style, label=name, markersize=5)
            for integrator, mark in MARKS.items():
                shown = [k for k, b in enumerate(sweep) if (b, integrator) in swings]
                values = [swings[sweep[k], integrator].fft / unit[k] for k in shown]
                plot.plot(
                    [places[k] for k in shown],
                    values,
                    mark,
                    color="tab:red",
                    fillstyle="none",
                    label=f"springs, {COARSE} cells, FFT, {integrator}",
                )
        axes[1, column].set(xlabel=label)
    axes[0, 0].set(ylabel="normalized frequency")
    axes[1, 0].set(ylabel="over Euler-Bernoulli")
    figure.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=4, fontsize=8)
    figure.suptitle("fig. 5: first bending frequency of cantilevers")
    return _saved(figure, out / "cronos_frequencies.png")


def draw_spectra(out: Path, small: Sagging, large: Sagging) -> Path:
    """Fig. 8: spectrum of the tip beside the eigenvalues, little and much bent."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(10, 5.4), layout="constrained")
    for row, (case, title) in enumerate(((small, "little bent"), (large, "much bent"))):
        near, far = figure.add_subplot(2, 2, 2 * row + 2), figure.add_subplot(2, 2, 2 * row + 1)
        step = case.swing.times[1] - case.swing.times[0]
        y = (case.swing.heights - case.swing.heights.mean()) * np.hanning(len(case.swing.heights))
        spectrum = np.abs(np.fft.rfft(y, 64 * len(y)))
        lines = np.fft.rfftfreq(64 * len(y), step)
        for plot in (far, near):
            plot.plot(lines, spectrum / spectrum.max(), label="FFT of the run")
            for k, frequency in enumerate(case.at_rest[: 1 if plot is near else 2]):
                plot.axvline(frequency, color="gray", linestyle="--", label=None if k else "eigenvalue, straight")
            for k, frequency in enumerate(case.hanging[: 1 if plot is near else 2]):
                plot.axvline(frequency, color="r", linestyle=":", label=None if k else "eigenvalue, hanging")
        first = case.hanging[0]
        far.set(
            xlim=(0, 1.2 * case.hanging[1]), ylabel="amplitude", title=f"{title}: tip down {100 * case.sag:.1f} % of L"
        )
        near.set(
            xlim=(0.985 * first, 1.015 * first),
            ylim=(0.97, 1.002),
            title=f"straight {100 * case.error_at_rest:+.2f} %, hanging {100 * case.error_hanging:+.3f} %",
        )
        for plot in (far, near):
            plot.set_xlabel("frequency [Hz]")
        far.legend(fontsize=8)
    return _saved(figure, out / "cronos_spectra.png")


def draw_energy(out: Path, runs: Mapping[str, Released], forward: Mapping[float, Released]) -> Path:
    """Fig. 7: energies of the beam, the error of their sum by integrator, and forward Euler's growth."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 3.8), layout="constrained")
    parts, error, growth = figure.subplots(1, 3)
    verlet = runs["verlet"]
    for name in ("elastic", "kinetic", "gravitational", "total"):
        base = verlet.after.gravitational.mean() if name in ("gravitational", "total") else 0.0
        times = np.concatenate([verlet.before.times, verlet.after.times])
        values = np.concatenate([getattr(verlet.before, name), getattr(verlet.after, name)]) - base
        parts.plot(times, 1e6 * values, linewidth=0.9, label=name)
    parts.axvline(0.5, color="gray", linewidth=0.8)
    parts.set(xlabel="time [s]", ylabel="energy [uJ]", ylim=(-2500, 8500), title="Verlet; let go at 0.5 s")
    parts.legend(fontsize=7, loc="upper right", framealpha=0.6)
    for name, run in runs.items():
        total = run.after.total
        share = np.abs(total - total[0]) / run.after.kinetic.max()
        error.plot(run.after.times - run.after.times[0], np.maximum(100 * share, 1e-7), linewidth=0.7, label=name)
    error.set(
        xlabel="time since let go [s]", ylabel="|change of the total| [% of kinetic]", yscale="log", ylim=(1e-6, 1)
    )
    error.legend(fontsize=8, loc="lower right")
    for fraction, run in forward.items():
        total = run.after.total
        share = (total - total[0]) / verlet.after.kinetic.max()
        growth.plot(
            1e3 * (run.after.times - run.after.times[0]),
            np.maximum(100 * share, 1e-6),
            label=f"{fraction:g} of Verlet's limit",
        )
    growth.axhline(100, color="gray", linewidth=0.8)
    growth.set(
        xlabel="time since let go [ms]",
        ylabel="gained [% of kinetic]",
        yscale="log",
        ylim=(1e-2, 1e6),
        title="forward Euler",
    )
    growth.legend(fontsize=8)
    return _saved(figure, out / "cronos_energy.png")


def draw_speed(out: Path, found: Throughput) -> Path:
    """Fig. 9: springs per second over the size of the lattice."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(11, 4), layout="constrained")
    for axes, layout in zip(figure.subplots(1, 2, sharey=True), LAYOUTS, strict=True):
        for color, integrator in zip(("tab:blue", "tab:orange", "tab:green"), INTEGRATORS, strict=True):
            for threads in thread_counts():
                line = [s for s in found.speeds if (s.integrator, s.layout, s.threads) == (integrator, layout, threads)]
                axes.plot(
                    [s.springs for s in line],
                    [s.million for s in line],
                    "o-" if threads == 1 else "s--",
                    color=color,
                    label=f"{integrator}, {threads} thread{'s' * (threads > 1)}",
                )
        axes.axhline(PAPERS_CPU, color="k", linestyle=":", label="the paper's CPU, 6 cores")
        axes.axhline(1120, color="gray", linestyle=":", label="the paper's V100")
        axes.set(xscale="log", yscale="log", xlabel="springs", title=f"{layout}, float32")
    figure.axes[0].set_ylabel("million springs per second")
    figure.legend(*figure.axes[0].get_legend_handles_labels(), loc="outside right", fontsize=8)
    return _saved(figure, out / "cronos_speed.png")


def draw_lattices(out: Path, made: Sequence[Made]) -> Path:
    """Fig. 4: the springs of lattices in a bone."""
    from matplotlib.figure import Figure
    from mpl_toolkits.mplot3d.art3d import Line3DCollection

    figure = Figure(figsize=(10, 6.6))
    for k, one in enumerate(made):
        place = (0.25 * k - 0.125, 0.0, 0.5, 0.92)  # wider than its share: the bone is slender, the axes are not
        axes: Any = figure.add_axes(place, projection="3d", facecolor="none")
        x = one.lattice.points
        ends = x[one.lattice.springs]
        axes.add_collection3d(Line3DCollection(ends, linewidths=0.35, colors="tab:blue", alpha=0.5))
        axes.scatter(*x.T, s=1.2, color="tab:red", depthshade=False)
        low, high = x.min(axis=0), x.max(axis=0)
        axes.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]), zlim=(low[2], high[2]))
        axes.set_box_aspect(high - low, zoom=0.95)
        axes.view_init(8, -80)
        axes.set_axis_off()
        axes.set_title(f"{one.title}\n{len(x):,} points, {len(ends):,} springs", fontsize=9)
    return _saved(figure, out / "cronos_lattices.png")


def draw_truth(out: Path, rows: Sequence[Row]) -> Path:
    """Table 1: distances of surfaces, untuned and fitted, beside the published ones."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 3.6), layout="constrained")
    axes = figure.subplots()
    methods = list(dict.fromkeys(row.method for row in rows))
    places = np.arange(len(methods))
    for shift, fitted in ((-0.25, False), (0.0, True)):
        chosen = [next(row for row in rows if row.method == method and row.fitted == fitted) for method in methods]
        name = "fitted E" if fitted else "E 60 kPa"
        bars = axes.bar(places + shift, [1e3 * row.mean for row in chosen], 0.24, label=name)
        axes.bar_label(bars, [f"{1e3 * row.mean:.2f}\n{1e-3 * row.E:.0f} kPa" for row in chosen], fontsize=7)
    bars = axes.bar(places + 0.25, [1e3 * PUBLISHED[m] for m in methods], 0.24, color="gray", label="clay2021, Table 1")
    axes.bar_label(bars, [f"{1e3 * PUBLISHED[m]:.2f}" for m in methods], fontsize=7)
    axes.set(yscale="log", ylim=(0.2, 60), ylabel="mean distance of surfaces [mm]", title="Table 1: truth cylinder")
    axes.set_xticks(places, methods)
    axes.legend(fontsize=8, loc="upper left")
    return _saved(figure, out / "cronos_truth.png")


def _saved(figure: Any, path: Path) -> Path:
    figure.savefig(path, dpi=120)
    return path
