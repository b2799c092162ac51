"""The figures of koehler2023, drawn."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from pliant.analysis import Table
from pliant.control.haptic_run import HapticRun
from pliant.paper import koehler2023_runs as runs
from pliant.view.maps import draw_workspace

if TYPE_CHECKING:
    from pliant.paper.koehler2023 import Device

LABELS = ("x [mm]", "y [mm]", "z [mm]", "tilt x [rad]", "tilt z [rad]")
SCALE = np.array([1e3, 1e3, 1e3, 1.0, 1.0])


def draw(
    out: Path,
    device: Device,
    found: dict[tuple[str, float, float], Table],
    sensing: dict[str, HapticRun],
    arm: HapticRun,
    modes: dict[tuple[str, str], HapticRun],
    walls: dict[str, HapticRun],
    moved: dict[str, HapticRun],
) -> list[Path]:
    """All of them, into a folder."""
    paths = []
    for (kind, modulus, torque), table in found.items():
        number, value = (4, "force") if kind == "places" else (5, "torque")
        if value in table.columns:
            limit = "no limit of torque" if torque > 1 else f"{torque:g} N m"
            paths.append(out / f"tro_{number}_E{modulus:g}_{torque:g}.png")
            draw_workspace(table, paths[-1], value=value, title=f"figure {number}: E x {modulus:g}, {limit}")
    paths += [
        _fit(out, device),
        _sensing(out, sensing),
        _wrench(out, arm),
        _stiffness(out, modes),
        _wall(out, walls, moved),
    ]
    return [*paths, _tracks(out, moved)]


def _panels(count: int, columns: int, size: tuple[float, float]) -> tuple[Any, Any]:
    from matplotlib.figure import Figure

    rows = -(-count // columns)
    figure = Figure(figsize=(size[0] * columns, size[1] * rows), layout="constrained")
    return figure, np.atleast_1d(figure.subplots(rows, columns, squeeze=False)).ravel()


def _saved(figure: Any, path: Path) -> Path:
    figure.savefig(path, dpi=110)
    return path


def _fit(out: Path, device: Device) -> Path:
    """Figure 7, of the first strip: what it said and what is predicted; and the error."""
    figure, panels = _panels(2, 1, (8.0, 2.4))
    name, strip = next(iter(device.found.strips.items()))
    sections = list(strip.parts)
    from pliant.gallery import tripods_device

    columns = list(tripods_device.candidates(device.model)[name].sections)
    predicted = strip.offset + sum(strip.parts[s] * device.rotations[name][:, columns.index(s)] for s in sections)
    said, shown = device.table[name], slice(0, 250)
    panels[0].plot(said[shown], label="measured")
    panels[0].plot(np.asarray(predicted)[shown], label="predicted")
    panels[0].set_ylabel("counts")
    panels[0].legend(fontsize=7)
    panels[1].plot(100 * (np.asarray(predicted) - said)[shown] / strip.span, color="0.4")
    panels[1].set_ylabel("error [% of range]")
    panels[1].set_xlabel("sample")
    panels[0].set_title(f"figure 7: strip {name}, mean error {100 * strip.share:.1f} % (paper 4.6 %)", fontsize=9)
    return _saved(figure, out / "tro_7_sensor_fit.png")


def _sensing(out: Path, sensing: dict[str, HapticRun]) -> Path:
    """Figures 8 and 9: the pose as sensed, with two standard deviations, and as it is."""
    figure, panels = _panels(5 * len(sensing), 5, (3.2, 2.2))
    for line, (name, run) in enumerate(sensing.items()):
        for row in range(5):
            panel = panels[5 * line + row]
            x, band = SCALE[row] * run.x[:, row], 2 * SCALE[row] * run.x_deviations[:, row]
            panel.fill_between(run.time, x - band, x + band, color="0.88")
            panel.plot(run.time, SCALE[row] * run.true_x[:, row], lw=1, label="true")
            panel.plot(run.time, x, lw=1, label="sensed")
            panel.set_ylabel(LABELS[row], fontsize=7)
            panel.tick_params(labelsize=6)
        panels[5 * line].set_title({"free": "motors off", "middle": "fixed", "aside": "fixed aside"}[name], fontsize=8)
    panels[0].legend(fontsize=6)
    return _saved(figure, out / "tro_8_9_pose.png")


def _wrench(out: Path, arm: HapticRun) -> Path:
    figure, panels = _panels(2, 1, (7.0, 2.2))
    for panel, row, label in zip(panels, (2, 4), ("force z [N]", "torque z [N m]"), strict=True):
        panel.plot(arm.time, arm.true_wrench[:, row], lw=1, label="true")
        panel.plot(arm.time, arm.wrench[:, row], lw=1, label="sensed")
        panel.set_ylabel(label, fontsize=8)
    panels[0].legend(fontsize=7)
    panels[0].set_title("figure 11", fontsize=9)
    return _saved(figure, out / "tro_11_wrench.png")


def _stiffness(out: Path, modes: dict[tuple[str, str], HapticRun]) -> Path:
    """Figures 14 and 15: wrench over pose."""
    figure, panels = _panels(2, 2, (4.5, 3.2))
    for panel, (kind, (row, _)) in zip(panels, runs.RAMPS.items(), strict=True):
        for mode in runs.MODES:
            run = modes[kind, mode].between(0.5, 1.5)
            label = f"{mode}: {runs.slope(modes[kind, mode], kind):.3g}"
            panel.plot(SCALE[row] * run.true_x[:, row], run.true_wrench[:, row], label=label)
        panel.set_xlabel(LABELS[row], fontsize=8)
        panel.set_ylabel("N" if row < 3 else "N m", fontsize=8)
        panel.legend(fontsize=7)
    panels[0].set_title("figures 14 and 15", fontsize=9)
    return _saved(figure, out / "tro_14_15_stiffness.png")


def _wall(out: Path, walls: dict[str, HapticRun], moved: dict[str, HapticRun]) -> Path:
    """Figure 16, and the wall under a torque."""
    figure, panels = _panels(4, 2, (4.8, 2.3))
    for column, run in enumerate((moved["wall"], walls["wall"])):
        panels[column].plot(run.time, run.true_x[:, 4], lw=1, label="true")
        panels[column].plot(run.time, run.x[:, 4], lw=1, label="sensed")
        panels[column].axhline(runs.WALL, color="0.6", ls=":")
        panels[column].set_ylabel(LABELS[4], fontsize=7)
        panels[2 + column].plot(run.time, run.true_wrench[:, 4], lw=1)
        panels[2 + column].plot(run.time, run.wrench[:, 4], lw=1)
        panels[2 + column].set_ylabel("torque z [N m]", fontsize=7)
    panels[0].set_title("figure 16: an arm goes past the wall", fontsize=8)
    panels[1].set_title("a torque of 0.1 N m against it", fontsize=8)
    panels[0].legend(fontsize=7)
    return _saved(figure, out / "tro_16_wall.png")


def _tracks(out: Path, moved: dict[str, HapticRun]) -> Path:
    """Figures 17 to 19: the handle's place."""
    figure, panels = _panels(3, 3, (3.6, 3.4))
    for panel, name, number in zip(panels, ("line", "box", "circle"), (17, 18, 19), strict=True):
        run = moved[name]
        panel.plot(1e3 * run.true_x[:, 0], 1e3 * run.true_x[:, 2], lw=0.8, label="true")
        panel.plot(1e3 * run.x[:, 0], 1e3 * run.x[:, 2], lw=0.8, label="sensed")
        panel.set_title(f"figure {number}: {name}", fontsize=8)
        panel.set_xlabel("x [mm]", fontsize=7)
        panel.set_ylabel("z [mm]", fontsize=7)
        panel.set_aspect("equal")
    panels[0].legend(fontsize=7)
    return _saved(figure, out / "tro_17_19_fixtures.png")
