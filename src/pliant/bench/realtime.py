"""Commands every millisecond while models are made beside: the diamond robot at two rates, and a bare loop for comparison."""

from __future__ import annotations

import os
import time

import numpy as np

from pliant.bench.sink import Sink
from pliant.control.pace import Pace, Rights, Timing, real_time
from pliant.control.targets import PathTargets
from pliant.control.turns import EARLY
from pliant.control.two_rates import TwoRates
from pliant.device.wiring import Wiring
from pliant.exchange import taken_by_host
from pliant.gallery import diamond
from pliant.motion import beginning
from pliant.view import Figure
from pliant.view.figures import bounded

RATE = 1000.0
SLICE = 10.0
"""Seconds of the controller, and of the bare loop, in turns."""


def measure(seconds: float = 60.0) -> tuple[list[Figure], list[str]]:
    """Figures, and lines about the machine and the histograms: so many seconds of the controller, and as many of a bare loop,
    in slices that take turns."""
    ours, bare, models, lines, before = [], [], 0, [], taken_by_host()
    with TwoRates(diamond.build, rate=RATE, kind="displacement") as controller:
        robot = controller.robot
        hanging = beginning(robot)
        targets = PathTargets(diamond.paths(robot, hanging)["square"]["top"], RATE)
        drive = Sink(Wiring.of_robot(robot, "displacement"))
        alone = _models_alone(controller, 5.0)
        controller.run(1.0, targets, drive)
        slices = max(1, round(seconds / SLICE))
        for _ in range(slices):
            run = controller.run(min(SLICE, seconds), targets, drive)
            ours.append(run.timing)
            models += run.models
            typical = float(np.median(run.timing.latencies))
            quiet, rights = bare_loop(min(SLICE, seconds), controller.core, typical)
            bare.append(quiet)
        load = f"; load {os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else ""
        lines.append(
            f"{run.rights}; bare loop: {rights}{load}; taken by the host meanwhile: {taken_by_host() - before:.2f} s"
        )
        lines += _histogram("controller", ours) + _histogram("bare loop", bare)
    return _figures(ours, bare, models / (slices * min(SLICE, seconds)), alone), lines


def _models_alone(controller: TwoRates, seconds: float) -> float:
    """Models per second with no control loop beside."""
    box = controller.link.box
    box.newest()
    first, begin = box.number, time.monotonic()
    time.sleep(seconds)
    box.newest()
    return (box.number - first) / (time.monotonic() - begin)


def bare_loop(seconds: float, core: int | None, busy: float) -> tuple[Timing, Rights]:
    """The same priority and core, the same deadlines, and nothing to do but to watch the clock for `busy` seconds, which is
    what a command takes: where that takes longer, the machine was away."""
    timing = Timing(int(1.2 * seconds * RATE) + 100, 1 / RATE)
    with real_time(core=core) as rights:
        pace, end = Pace(RATE, EARLY if core is not None else 0.0), time.monotonic() + seconds
        woke = 0.0
        while woke < end:
            woke = pace.wait()
            now = woke
            while now < woke + busy:
                now = time.monotonic()
            timing.note(woke, now, 0.0)
    return timing, rights


def _figures(ours: list[Timing], bare: list[Timing], model_hz: float, alone: float) -> list[Figure]:
    outside, quiet = (100 * float(np.mean([timing.outside() for timing in all_])) for all_ in (ours, bare))
    latency = 1e6 * np.concatenate([timing.latencies for timing in ours])
    idle = 1e6 * np.concatenate([timing.latencies for timing in bare])
    age = 1e3 * np.concatenate([timing.model_ages for timing in ours])
    periods = np.concatenate([timing.periods for timing in ours])
    return [
        Figure("realtime.control_hz", float(1 / periods.mean()), "Hz", RATE, "asked for"),
        Figure("realtime.outside_20_percent", outside, "%", better="lower"),
        Figure("realtime.bare_outside_20_percent", quiet, "%", better="lower"),
        bounded("realtime.excess_outside_percent", outside - 2 * quiet, "%", 0.05, "lower", "bound"),
        Figure("realtime.command_median_us", float(np.median(latency)), "us", better="lower"),
        bounded("realtime.command_p999_us", float(np.percentile(latency, 99.9)), "us", 300.0, "lower", "bound"),
        bounded("realtime.command_max_us", float(latency.max()), "us", 2000.0, "lower", "bound"),
        Figure("realtime.bare_command_p999_us", float(np.percentile(idle, 99.9)), "us", better="lower"),
        Figure("realtime.bare_command_max_us", float(idle.max()), "us", better="lower"),
        Figure("realtime.commands_over_2ms", float((latency > 2000.0).sum()), "", better="lower"),
        Figure("realtime.bare_commands_over_2ms", float((idle > 2000.0).sum()), "", better="lower"),
        Figure("realtime.model_hz_alone", alone, "Hz", better="higher"),
        bounded("realtime.model_hz", model_hz, "Hz", max(60.0, 0.7 * alone), "higher", "bound"),
        Figure("realtime.model_age_median_ms", float(np.median(age)), "ms", better="lower"),
        Figure("realtime.model_age_max_ms", float(age.max()), "ms", better="lower"),
    ]


def _histogram(name: str, timings: list[Timing]) -> list[str]:
    """Periods as counts, in words."""
    counts = sum(timing.histogram()[0] for timing in timings)
    edges = timings[0].histogram()[1]
    filled = [f"{1e3 * edges[k]:.1f}: {counts[k]}" for k in range(len(edges) - 1) if counts[k]]  # type: ignore[index]
    return [f"{name}, periods from [ms]: {', '.join(filled)}"]
