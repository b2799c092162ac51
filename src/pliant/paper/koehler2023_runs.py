"""The runs of koehler2023: who moves the handle how, and what is rendered meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.analysis import Calibration
from pliant.control.coupling import Manner
from pliant.control.fixtures import Box, Circle, Fixture, FreeSpace, Line, Point, Wall
from pliant.control.haptic_run import HapticRun, render
from pliant.control.haptics import Haptics
from pliant.control.inverse import Inverse
from pliant.device import SimulatedPlant
from pliant.gallery import tripods, tripods_device
from pliant.robot import Robot

Array = NDArray[np.float64]

RATE, MODEL_RATE, FINE = 250.0, 125.0, 500.0
"""Of commands and of models [Hz]; of commands at the wall under a torque."""
FIRM = np.array([1 / 500.0] * 3 + [1 / 2.0] * 2)
"""Compliance of the hand that moves along fixtures."""
ARM = np.zeros(5)
CONDITIONS = ("free", "middle", "aside")
"""Of figures 8 and 9: motors off, motors fixed at the middle, and aside of it."""
ASIDE = np.array([0.010, 0.004, -0.006, 0.05, -0.05])
MODES = ("position", "fixed", "free")
RAMPS = {"translation": (0, 0.004), "rotation": (4, 0.06)}
"""Of figures 14 and 15: the row, and how far the arm goes in it."""
WALL, TORQUE = 0.2, 0.1
"""The wall [rad], and the torque against it [N m]."""
RADIUS, HALF = 0.03, 0.010
"""Of the circle, and of the box [m]."""
FIXTURES = ("wall", "line", "box", "circle")
MOBILITY = np.array([2e-3] * 3 + [0.2] * 2)
"""Of the admittance manner [m/N], [rad/(N m)]."""


def deviations(found: Calibration) -> dict[str, float]:
    """Of encoders, one step; of the strips, what calibration left."""
    return dict.fromkeys(tripods.MOTORS, tripods.ENCODER / tripods.CAPSTAN) | found.deviations()


def run(
    model: Robot,
    found: Calibration,
    plant: SimulatedPlant,
    seconds: float,
    *,
    fixture: Fixture | None = None,
    manner: Manner = "hybrid",
    rendered: bool = True,
    rate: float = RATE,
) -> HapticRun:
    """One run of a plant, rendered or only observed."""
    mobility = MOBILITY if manner == "admittance" else 0.0
    haptics = Haptics(model, deviations(found), fixture=fixture, manner=manner, mobility=mobility)
    try:
        return render(haptics, plant, seconds=seconds, rate=rate, model_rate=MODEL_RATE, render=rendered)
    finally:
        haptics.close()


def swaying(size: Array, middle: Array) -> Callable[[float], Array]:
    """A hand that moves in all five rows at once, at rates that never meet."""
    rates = np.array([0.50, 0.37, 0.61, 0.43, 0.29])

    def hand(time: float) -> Array:
        way = middle + size * np.sin(2 * np.pi * rates * time) * min(1.0, time)
        return tripods.pose(way[:3], way[3:])

    return hand


def motors_at(model: Robot, x: Array) -> Array:
    """Angles of the motors (6,) that bring the handle to x (5,) without load."""
    step = Inverse(model).solve_pose(pose=tripods.pose(x[:3], x[3:])).require()
    return np.concatenate([step.displacements[name] for name in tripods.MOTORS])


def sensing(model: Robot, found: Calibration, condition: str, seconds: float = 6.0) -> HapticRun:
    """Figures 8 and 9: a hand moves the handle, nothing is rendered."""
    off = condition == "free"
    middle = ASIDE if condition == "aside" else np.zeros(5)
    size = np.array([0.020, 0.015, 0.020, 0.20, 0.20]) if off else np.array([0.010, 0.008, 0.010, 0.10, 0.10])
    plant = tripods_device.device(
        1 / RATE, hand=swaying(size, middle), kind="effort" if off else "displacement",
        start=None if off else motors_at(model, middle),
    )  # fmt: skip
    return run(model, found, plant, seconds, rendered=False)


def wrenches(model: Robot, found: Calibration, seconds: float = 6.0) -> HapticRun:
    """Figure 11: an arm moves the handle along and about z, the device renders the middle with what the hand does as it is."""
    plant = tripods_device.device(1 / RATE, hand=swaying(np.array([0, 0, 0.010, 0, 0.10]), np.zeros(5)), grip=ARM)
    return run(model, found, plant, seconds, rendered=False)


def stiffness(model: Robot, found: Calibration, kind: str, mode: str) -> HapticRun:
    """Figures 14 and 15: an arm's ramp in one row, in one mode."""
    row, way = RAMPS[kind]

    def arm(time: float) -> Array:
        x = np.zeros(5)
        x[row] = way * min(max(time - 0.5, 0.0), 1.0)
        return tripods.pose(x[:3], x[3:])

    plant = tripods_device.device(1 / RATE, hand=arm, grip=ARM, start=motors_at(model, np.zeros(5)))
    fixture = Point(np.zeros(5)) if mode == "position" else FreeSpace()
    return run(model, found, plant, 1.7, fixture=fixture, rendered=mode != "fixed")


def slope(ramp: HapticRun, kind: str) -> float:
    """Of the true wrench over the true pose, over the middle 80 % of a ramp."""
    row = RAMPS[kind][0]
    inside = ramp.between(0.6, 1.4)
    return float(np.polyfit(inside.true_x[:, row], inside.true_wrench[:, row], 1)[0])


def wall_under_torque(model: Robot, found: Calibration, mode: str) -> HapticRun:
    """A hand's torque about z, ramped to 0.1 N m within a second and held for two, against a wall at 0.2 rad that the handle is
    brought to; or against motors that are fixed there. The hand holds the other rows softly."""
    soft = 10.0  # a torque: a displacement far away through a spring that gives
    grip = np.array([1 / 500.0] * 3 + [1 / 2.0, soft])
    at = np.array([0, 0, 0, 0, WALL])
    holder: list[SimulatedPlant] = []

    def hand(time: float) -> Array:
        torque = TORQUE * np.clip(time - 1.0, 0.0, 1.0)
        now = holder[0].robot.displacement(holder[0].state, "pose")[4] if holder else WALL
        return tripods.pose((0, 0, 0), (0, now + soft * torque))

    plant = tripods_device.device(1 / FINE, hand=hand, grip=grip, start=motors_at(model, at))
    holder.append(plant)
    wall = Wall([0, 0, 0, 0, -1.0], -WALL)
    return run(model, found, plant, 4.0, fixture=wall, rendered=mode == "wall", rate=FINE)


class Penetration(NamedTuple):
    """Of a wall [rad]: at the end of the dwell and at most, as sensed and as it is."""

    steady: float
    peak: float
    true_steady: float
    true_peak: float


def penetration(found: HapticRun) -> Penetration:
    """Beyond where the handle was just before the torque came, or beyond the wall where that is farther out."""
    before, dwell, since = found.between(0.8, 1.0), found.between(3.0, 4.0), found.between(1.0, 4.0)
    out = []
    for name in ("x", "true_x"):
        begin = max(WALL, float(getattr(before, name)[:, 4].mean()))
        out += [float(getattr(dwell, name)[:, 4].mean()) - begin, float(getattr(since, name)[:, 4].max()) - begin]
    return Penetration(max(out[0], 0.0), max(out[1], 0.0), out[2], out[3])


def spectral_lines(found: HapticRun, low: float = 5.0, high: float = 200.0) -> tuple[float, float]:
    """The largest amplitude of a line of the sensed pose between these frequencies [Hz] in the dwell: [m], [rad]."""
    dwell = found.between(2.5, 4.0)
    x = dwell.x - dwell.x.mean(axis=0)
    window = np.hanning(len(x))
    spectrum = 2 * np.abs(np.fft.rfft(window[:, None] * x, axis=0)) / window.sum()
    rates = np.fft.rfftfreq(len(x), float(np.median(np.diff(dwell.time))))
    inside = spectrum[(rates >= low) & (rates <= high)]
    return float(inside[:, :3].max()), float(inside[:, 3:].max())


def fixture(model: Robot, found: Calibration, name: str) -> HapticRun:
    """Figures 16 to 19: a hand drags the handle along, or against, a fixture."""
    made: dict[str, tuple[Fixture, Manner, Callable[[float], Array], Array, float]] = {
        "wall": (Wall([0, 0, 0, 0, -1.0], -WALL), "hybrid", _tilting, ARM, 7.0),
        "line": (Line((0, 0, 0), (1, 0, 0), tilts=(0, 0)), "admittance", _along_line, FIRM, 5.0),
        "box": (Box((0, 0, 0), HALF), "hybrid", _beyond_box, FIRM, 6.0),
        "circle": (Circle((0, 0, 0), RADIUS, (0, 1, 0), tilts=(0, 0)), "admittance", _around, FIRM, 8.0),
    }
    chosen, manner, hand, grip, seconds = made[name]
    start = motors_at(model, np.array([RADIUS, 0, 0, 0, 0])) if name == "circle" else motors_at(model, np.zeros(5))
    plant = tripods_device.device(1 / RATE, hand=hand, grip=grip, start=start)
    return run(model, found, plant, seconds, fixture=chosen, manner=manner)


def _tilting(time: float) -> Array:
    """Figure 16: to 0.03 rad beyond the wall, a dwell, and back."""
    return tripods.pose((0, 0, 0), (0, np.interp(time, (0.5, 2.8, 4.5, 6.8), (0.0, WALL + 0.03, WALL + 0.03, 0.0))))


def _along_line(time: float) -> Array:
    """To and fro along x, 4 mm beside the line and tilted by 0.05 rad."""
    way = min(1.0, time) * np.sin(2 * np.pi * 0.4 * time)
    return tripods.pose((0.020 * way, 0.004 * way, -0.003 * way), (0.05 * way, 0.05 * way))


def _beyond_box(time: float) -> Array:
    """An ellipse that leaves the box on four sides."""
    turn = 2 * np.pi * 0.3 * time
    size = min(1.0, time) * 0.016
    return tripods.pose((size * np.cos(turn), 0.3 * size * np.sin(2 * turn), size * np.sin(turn)))


def _around(time: float) -> Array:
    """Around the circle, 2 mm outside and up and down by 2 mm."""
    turn = 2 * np.pi * 0.15 * max(0.0, time - 0.5)
    size = RADIUS + 0.002 * min(1.0, time)
    return tripods.pose((size * np.cos(turn), 0.002 * np.sin(3 * turn), size * np.sin(turn)))


def off_circle(x: Array) -> Array:
    """Distances (k,) of places from the circle [m]."""
    return np.asarray(np.hypot(np.hypot(x[:, 0], x[:, 2]) - RADIUS, x[:, 1]))


def drag(found: HapticRun) -> float:
    """The mean size of the torque on the way to the wall and back, in free space [N m]."""
    ways = [found.between(1.0, 2.0), found.between(5.5, 6.5)]
    return float(np.mean([np.abs(way.true_wrench[:, 4]).mean() for way in ways]))
