"""The haptic device in real time: models beside a loop of 1 kHz that observes and renders, with measurements replayed; the same
at one rate; and places of a workspace per second."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from pliant.analysis import Grid, workspace
from pliant.bench.realtime import bare_loop
from pliant.control.fixtures import Wall
from pliant.control.haptic_loop import HapticLoop
from pliant.control.haptics import Haptics
from pliant.control.observer import Observer
from pliant.control.pace import Timing
from pliant.control.sensing_loop import SensingLoop
from pliant.device import Drive, Encoder, Measurement, SimulatedPlant
from pliant.device.wiring import Wiring
from pliant.gallery import tripods, tripods_device
from pliant.view import Figure
from pliant.view.figures import bounded

Array = NDArray[np.float64]

RATE = 1000.0
SLICE = 10.0
"""Seconds of the controller, and of the bare loop, in turns."""
DEVIATIONS = dict.fromkeys(tripods.MOTORS, tripods.ENCODER / tripods.CAPSTAN) | dict.fromkeys(tripods.SENSORS, 0.03)
WALL = Wall([-1.0, 0, 0, 0, 0], -0.003)
HALF = {"y": 0.025, "x": 0.03, "z": 0.03}
"""Of the grid of places [m]."""
PLACES = 13


class Replayed(Drive):
    """A drive that says what was recorded, over and over, and does nothing with commands."""

    def __init__(self, wiring: Wiring, values: Array, rate: float) -> None:
        super().__init__(wiring)
        self._values, self._rate, self._zero = values, rate, time.monotonic()
        self._out = Measurement(values[0].copy())

    def send(self, command: Array, now: float) -> bool:
        return True

    def read(self) -> Measurement | None:
        now = time.monotonic()
        k = int((now - self._zero) * self._rate)
        if k == self._out.sequence:
            return None
        there = k % (2 * len(self._values))  # to and fro, so that nothing jumps
        self._out.values[:] = self._values[min(there, 2 * len(self._values) - 1 - there)]
        self._out.sequence, self._out.time, self._out.arrived = k, now, now
        return self._out

    def stop(self) -> None: ...

    def resume(self) -> None: ...

    def close(self) -> None: ...


def recorded(seconds: float = 2.0, rate: float = 250.0) -> tuple[Wiring, Array]:
    """What encoders and ideal strips say while a hand moves the handle into a wall and back."""
    robot = tripods.build(elements=21, modulus=1.05 * tripods.E, damping=(2.0, 0.002))
    encoders = {name: Encoder(tripods.ENCODER, tripods.CAPSTAN) for name in tripods.MOTORS}

    def hand(now: float) -> Array:
        turn = 2 * np.pi * now / seconds
        return tripods.pose((0.006 * np.sin(turn), 0.003 * np.sin(2 * turn), 0.005 * np.sin(3 * turn)))

    plant: SimulatedPlant = tripods_device.device(1 / rate, on_desk=robot, hand=hand, given=encoders)
    values = []
    for k in range(int(seconds * rate)):
        plant.advance(np.zeros(6), (k + 1) / rate + 1e-9)
        values.append(plant.measure().values.copy())
    return plant.wiring, np.array(values)


def measure(seconds: float = 60.0, workers: int | None = None) -> tuple[list[Figure], list[str]]:
    """All figures, and lines about the machine."""
    wiring, values = recorded()
    figures, lines = _two_rates(seconds, wiring, values)
    figures.append(_single_rate(wiring, values))
    grid = Grid.around("pose", HALF, PLACES, home=(0, 0, 0, 1, 0, 0, 0))
    begin = time.perf_counter()
    table = workspace("pliant.gallery.tripods:build", grid, workers=workers, show=False)
    took = time.perf_counter() - begin
    return [
        *figures,
        bounded("haptics.workspace_points_per_s", len(table) / took, "1/s", 2000 / 60.0, "higher", "bound"),
        Figure("haptics.workspace_points", len(table), "points"),
        Figure("haptics.workspace_reached", int((table["reached"] == 1).sum()), "points"),
    ], lines


def _two_rates(seconds: float, wiring: Wiring, values: Array) -> tuple[list[Figure], list[str]]:
    """A control loop of 1 kHz with models beside, in turns with a bare loop."""
    ours: list[Timing] = []
    bare: list[Timing] = []
    models, faults, periods = 0, 0, 0
    with HapticLoop(tripods.build, DEVIATIONS, rate=RATE, fixture=WALL) as loop:
        drive = Replayed(wiring, values, 250.0)
        loop.run(1.0, drive)
        slices = max(1, round(seconds / SLICE))
        for _ in range(slices):
            found = loop.run(min(SLICE, seconds), drive)
            ours.append(found.timing)
            models, faults = models + found.models, faults + found.faults
            periods += sum(found.observed.values())
            quiet, rights = bare_loop(min(SLICE, seconds), loop.core, float(np.median(found.timing.latencies)))
            bare.append(quiet)
    outside, idle = (100 * float(np.mean([timing.outside() for timing in all_])) for all_ in (ours, bare))
    latency = 1e6 * np.concatenate([timing.latencies for timing in ours])
    duration = sum(timing.duration for timing in ours)
    return [
        bounded("haptics.model_hz", models / (slices * min(SLICE, seconds)), "Hz", 500.0, "higher", "bound; paper 20"),
        bounded("haptics.control_hz", periods / duration, "Hz", 999.0, "higher", "bound; paper 500"),
        Figure("haptics.command_median_us", float(np.median(latency)), "us", better="lower"),
        Figure("haptics.command_p999_us", float(np.percentile(latency, 99.9)), "us", better="lower"),
        Figure("haptics.outside_20_percent", outside, "%", better="lower"),
        Figure("haptics.bare_outside_20_percent", idle, "%", better="lower"),
        Figure("haptics.faults_percent", 100.0 * faults / max(1, periods), "%", 0.0, "nothing fails", "lower"),
    ], [f"{rights}; models in a process of their own"]  # fmt: skip


def _single_rate(wiring: Wiring, values: Array) -> Figure:
    """Observe, linearize where that is, render: everything in one period, in the middle of a recording."""
    robot = tripods.build()
    slow = SensingLoop(robot, Observer(robot, DEVIATIONS))
    haptics = Haptics(robot, DEVIATIONS, fixture=WALL)
    rows = [wiring.measurements.index(label) for label in haptics.observer.labels]
    slow.settle(values[0][rows])
    times = []
    for k in range(min(400, len(values))):
        measured, begin = values[k][rows], time.perf_counter()
        slow.cycle(measured)
        slow.put(haptics.box, slow.here, stamp=0.004 * k)
        haptics.box.newest()
        haptics.tick(0.004 * k, measured, 0.004)
        times.append(time.perf_counter() - begin)
    haptics.close()
    return Figure(
        "haptics.single_rate_us", 1e6 * float(np.median(times)), "us", 1000.0, "two rates not needed", "lower"
    )
