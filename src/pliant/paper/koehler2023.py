"""Koehler, Morales Bieze, Kruszewski, Okamura, Duriez: Modeling and control of a 5-DOF parallel continuum haptic device
(IEEE Transactions on Robotics, 2023).

The device is `gallery.tripods`. Where the paper measured its printed one, ours is `gallery.tripods_device`: finer, 5 % stiffer,
damped, with strips that have hysteresis and are not straight, motors that need 22 ms, and a hand or an arm that moves the
handle. The controller is told encoder steps and counts of an ADC only. Time is simulated, so every run is the same.
"""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from multiprocessing import get_context
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pliant.analysis import Calibration, Grid, Table, calibrate, workspace
from pliant.analysis.calibration import predicted_rotations
from pliant.control.haptic_run import HapticRun
from pliant.exchange import usable_cores
from pliant.gallery import tripods, tripods_device
from pliant.motion import Statics
from pliant.paper import koehler2023_plots as plots
from pliant.paper import koehler2023_runs as runs
from pliant.paper.paper import Paper, Reproduction
from pliant.robot import Robot, Role
from pliant.view import Figure
from pliant.view.figures import bounded

Array = NDArray[np.float64]

CASES = [(modulus, torque) for modulus in (1.0, 0.2) for torque in (1e3, 0.04, 0.01)]
"""Of figures 4 and 5: the modulus over the device's, and the limit of torque [N m]; 1e3 stands for none."""
UPRIGHT = (0, 0, 0, 1, 0, 0, 0)
PLACES = {"y": 0.03, "x": 0.045, "z": 0.045}
TILTS = {"rx": 0.6, "rz": 0.6}
COUNTS = 7, 9
"""Places along each row of figures 4 and 5."""
ROWS = ("x", "y", "z", "rx", "rz")


@dataclass(frozen=True)
class Device:
    """The model that controllers use, with its calibrated strips, and what the calibration was made of."""

    model: Robot
    found: Calibration
    table: Table
    rotations: dict[str, Array]


def calibrated() -> Device:
    """The course through all corners, and the model with what it says of the strips."""
    bare = tripods.build()
    candidates = tripods_device.candidates(bare)
    table = tripods_device.calibration_run(tripods_device.device(0.005))
    rotations = predicted_rotations(bare, table, candidates)
    found = calibrate(bare, table, candidates, unit="counts", rotations=rotations)
    return Device(tripods.build(sensors=dict(found.ports())), found, table, rotations)


def forward_accuracy(device: Device, count: int = 40) -> tuple[float, float]:
    """Mean absolute errors of the model's pose beside that of the plant at motor angles of the course, at rest: [m], [rad]."""
    pair = []
    for robot in (device.model, tripods_device.robot()):
        roles: dict[str, Role | None] = dict.fromkeys(robot.named(Role.SENSOR))
        pair.append(robot.with_roles(roles | dict.fromkeys(tripods.MOTORS, Role.HELD)))
    errors = []
    for k in np.linspace(0, len(device.table) - 1, count).astype(int):
        places = []
        for robot in pair:
            for name in tripods.MOTORS:
                robot.set_displacement(name, device.table[name][k])
            places.append(robot.displacement(Statics(robot).solve().require().state, "pose"))
        errors.append(np.abs(places[0] - places[1]))
    mean = np.mean(errors, axis=0)
    return float(mean[:3].max()), float(mean[3:].max())


def workspaces(counts: tuple[int, int] = COUNTS) -> dict[tuple[str, float, float], Table]:
    """Figures 4 ("places") and 5 ("tilts"), by kind, modulus and limit of torque."""
    grids = {"places": Grid.around("pose", PLACES, counts[0], home=UPRIGHT)}
    grids["tilts"] = Grid.around("pose", TILTS, counts[1], home=UPRIGHT)
    with ProcessPoolExecutor(len(usable_cores()), mp_context=get_context("spawn")) as pool:
        return {
            (kind, modulus, torque): workspace(
                "pliant.gallery.tripods:build", grid, options={"modulus": modulus * tripods.E, "torque": torque},
                name=f"figure {4 if kind == 'places' else 5}, E x {modulus:g}, {torque:g} N m", executor=pool,
            )
            for kind, grid in grids.items()
            for modulus, torque in CASES
        }  # fmt: skip


def extents(found: dict[tuple[str, float, float], Table]) -> Array:
    """How far the workspace of the device goes in each row (5,), from one reached place to the other end [m, rad]."""
    out = []
    for row in ROWS:
        table = found["tilts" if row[0] == "r" else "places", 1.0, 1e3]
        out.append(float(np.ptp(table[row][table["reached"] == 1])))
    return np.array(out)


def reproduce(out: Path | None, data: Path | None = None) -> Reproduction:
    """Everything. data: not needed."""
    device = calibrated()
    shift, turn = forward_accuracy(device)
    found = workspaces()
    extent = extents(found)
    sensing = {name: runs.sensing(device.model, device.found, name) for name in runs.CONDITIONS}
    arm = runs.wrenches(device.model, device.found)
    modes = {
        (kind, mode): runs.stiffness(device.model, device.found, kind, mode)
        for kind in runs.RAMPS
        for mode in runs.MODES
    }
    walls = {mode: runs.wall_under_torque(device.model, device.found, mode) for mode in ("wall", "fixed")}
    moved = {name: runs.fixture(device.model, device.found, name) for name in runs.FIXTURES}
    figures = [
        Figure("tro.forward_mm", 1e3 * shift, "mm", 1.5, "paper, largest mean", "lower"),
        Figure("tro.forward_rad", turn, "rad", 0.015, "paper, largest mean", "lower"),
        bounded("tro.sensor_fit_percent", 100 * fit_share(device.found), "%", 5.1, "lower", "paper 4.6"),
        *workspace_figures(found),
        *sensing_figures(sensing, extent),
        *wrench_figures(arm),
        *stiffness_figures(modes),
        *wall_figures(walls),
        *fixture_figures(moved),
    ]
    lines = [
        "the device is simulated: finer and 5 % stiffer than the model, strips with hysteresis; times are simulated",
        f"commands at {runs.RATE:g} Hz and models at {runs.MODEL_RATE:g} Hz (paper: 500 and 20; walls: {runs.FINE:g} and 125)",
        "stiffness: an arm without give, ramps of 4 mm and 0.06 rad in 1 s from the middle; the slope of the true wrench over "
        "the true pose by least squares over the middle 80 % of the ramp; position mode: cap of 20 N and 1 N m",
    ]
    drawn: list[Path] = []
    if out is not None:
        out.mkdir(parents=True, exist_ok=True)
        drawn = plots.draw(out, device, found, sensing, arm, modes, walls, moved)
    return Reproduction(figures, lines, drawn)


def fit_share(found: Calibration) -> float:
    """What calibration leaves, as a share of the range: the mean over strips."""
    return float(np.mean([strip.share for strip in found.strips.values()]))


def workspace_figures(found: dict[tuple[str, float, float], Table]) -> list[Figure]:
    """The paper's findings of section V-B in numbers."""
    reached = {key: int((table["reached"] == 1).sum()) for key, table in found.items()}
    force = {
        key: float(np.nanmax(np.append(table["force"], 0.0)))
        for key, table in found.items()
        if "force" in table.columns
    }
    heights = {
        key: float(table["y"][table["reached"] == 1].mean())
        for key, table in found.items()
        if key[0] == "places" and reached[key]
    }
    stiff, soft = ("places", 1.0, 1e3), ("places", 0.2, 1e3)
    shrink = {m: reached["places", m, 0.04] / max(reached["places", m, 1e3], 1) for m in (1.0, 0.2)}
    return [
        bounded("tro.force_stiff_over_soft", force[stiff] / force[soft], "x", 1.0, "higher", "paper's finding"),
        bounded("tro.shrunk_stiff_over_soft", shrink[1.0] / shrink[0.2], "x", 1.0, "lower", "paper's finding"),
        bounded("tro.soft_lower_by_mm", 1e3 * (heights[stiff] - heights[soft]), "mm", 0.0, "higher", "paper's finding"),
        Figure("tro.force_max_n", force[stiff], "N", better="higher"),
    ]


def sensing_figures(sensing: dict[str, HapticRun], extent: Array) -> list[Figure]:
    """Figures 8 and 9: errors of the sensed pose over the workspace's extent, and how well they are foretold."""
    error = {name: run.x - run.true_x for name, run in sensing.items()}
    shares = {name: 100 * np.abs(own).mean(axis=0) / extent for name, own in error.items()}
    inside = np.concatenate([np.abs(own) < 2 * sensing[name].x_deviations for name, own in error.items()])
    told = np.mean(
        [sensing[n].x_deviations.mean(axis=0) / np.sqrt((e**2).mean(axis=0)) for n, e in error.items()], axis=0
    )
    worst = float(max(own.max() for own in shares.values()))
    return [
        bounded("tro.pose_mae_percent", worst, "%", 5.5, "lower", "paper's worst"),
        *(
            Figure(f"tro.pose_mae_{name}_percent", float(own.max()), "%", 5.5, "paper's worst", "lower")
            for name, own in shares.items()
        ),
        bounded("tro.within_two_deviations_percent", 100 * float(inside.mean()), "%", 90.0, "higher", "bound"),
        bounded("tro.deviation_over_rms", float(told.max()), "x", 2.0, "lower", "bound"),
    ]  # fmt: skip


def wrench_figures(arm: HapticRun) -> list[Figure]:
    """Figure 11: force and torque along and about z, as the paper's."""
    error = np.abs(arm.wrench - arm.true_wrench).mean(axis=0)
    return [
        Figure("tro.wrench_mae_n", float(error[2]), "N", better="lower"),
        Figure("tro.wrench_mae_nm", float(error[4]), "N m", better="lower"),
    ]


def stiffness_figures(modes: dict[tuple[str, str], HapticRun]) -> list[Figure]:
    """Figures 14 and 15: slopes, and whether they are in the paper's order."""
    slopes = {key: runs.slope(run, key[0]) for key, run in modes.items()}
    out = []
    for kind, unit in (("translation", "N/m"), ("rotation", "N m/rad")):
        out += [Figure(f"tro.stiffness_{mode}_{kind}", slopes[kind, mode], unit) for mode in runs.MODES]
        position, fixed, free = (slopes[kind, mode] for mode in runs.MODES)
        out += [
            bounded(f"tro.position_over_fixed_{kind}", position / fixed, "x", 1.0, "higher", "paper's finding"),
            bounded(f"tro.free_over_fixed_{kind}", free / fixed, "x", 1.0, "lower", "paper's finding"),
        ]
    return out


def wall_figures(walls: dict[str, HapticRun]) -> list[Figure]:
    """The wall at 0.2 rad under a torque of 0.1 N m, beside motors that are fixed where it begins."""
    found, fixed = (runs.penetration(walls[mode]) for mode in ("wall", "fixed"))
    lines = runs.spectral_lines(walls["wall"])
    return [
        bounded(
            "tro.wall_steady_percent", 100 * found.steady / max(fixed.steady, 1e-9), "%", 20.0, "lower", "bound, sensed"
        ),
        bounded("tro.wall_peak_rad", found.peak, "rad", 0.05, "lower", "bound, sensed"),
        Figure("tro.wall_true_steady_rad", found.true_steady, "rad", better="lower"),
        Figure("tro.wall_true_peak_rad", found.true_peak, "rad", better="lower"),
        bounded("tro.wall_line_mm", 1e3 * lines[0], "mm", 0.1, "lower", "bound"),
        bounded("tro.wall_line_rad", lines[1], "rad", 1e-3, "lower", "bound"),
    ]


def fixture_figures(moved: dict[str, HapticRun]) -> list[Figure]:
    """Figures 16 to 19."""
    circle, line, box = moved["circle"], moved["line"], moved["box"]
    sensed, true = (runs.off_circle(x) for x in (circle.x, circle.true_x))
    beside, beyond = np.linalg.norm(line.x[:, 1:3], axis=1), np.maximum(np.abs(box.x[:, :3]) - runs.HALF, 0.0)
    return [
        bounded("tro.circle_error_mm", 1e3 * float(sensed.mean()), "mm", 1.0, "lower", "paper, sensed"),
        Figure("tro.circle_true_error_mm", 1e3 * float(true.mean()), "mm", better="lower"),
        Figure("tro.line_error_mm", 1e3 * float(beside.mean()), "mm", better="lower"),
        Figure("tro.line_tilt_rad", float(np.abs(line.x[:, 3:]).mean()), "rad", better="lower"),
        Figure("tro.box_beyond_mm", 1e3 * float(beyond.max()), "mm", better="lower"),
        Figure("tro.wall_drag_nm", runs.drag(moved["wall"]), "N m", better="lower"),
    ]  # fmt: skip


PAPER = Paper("Koehler et al., 5-DOF parallel continuum haptic device (TRO 2023)", reproduce)
