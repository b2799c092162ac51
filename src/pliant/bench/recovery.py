"""How long models stay away after their process was killed or held up, while commands go on: the diamond robot at two rates."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import numpy as np

from pliant.bench.sink import Sink
from pliant.control.run import Run
from pliant.control.two_rates import TwoRates
from pliant.device.wiring import Wiring
from pliant.gallery import diamond
from pliant.motion import Statics
from pliant.view import Figure
from pliant.view.figures import bounded

BEFORE = 1.0
"""Seconds of a run before something happens."""
PAUSE = 2.0
"""Seconds that a model process is held up."""
GIVEN_UP = 60.0
"""Seconds after which a model is not waited for any more."""


def measure(rate: float = 1000.0) -> list[Figure]:
    """Seconds from kill -9, without and with a spare, and from the end of a pause, to a fresh model; and the share of all
    periods meanwhile that had a command."""
    figures, runs = [], []
    for standby, name, bound in ((False, "killed", 5.0), (True, "killed_spare", 1.0)):
        with _controller(rate, standby) as controller:
            seconds, run = _away(controller, _kill)
        figures.append(bounded(f"realtime.back_after_{name}_s", seconds, "s", bound, "lower", "bound"))
        runs.append(run)
    with _controller(rate, standby=False) as controller:
        seconds, run = _away(controller, _pause)
    figures.append(bounded("realtime.back_after_pause_s", seconds, "s", 1.0, "lower", "bound"))
    runs.append(run)
    sent, missed = sum(run.timing.count for run in runs), sum(run.missed for run in runs)
    share = 100.0 * sent / (sent + missed)
    return [*figures, bounded("realtime.commands_in_faults_percent", share, "%", 90.0, "higher", "bound")]


@contextmanager
def _controller(rate: float, standby: bool) -> Iterator[TwoRates]:
    """A diamond at two rates whose spare, if it has one, is warm."""
    with TwoRates(diamond.build, rate=rate, kind="displacement", standby=standby) as controller:
        end = time.monotonic() + GIVEN_UP
        while standby and not controller.has_spare and time.monotonic() < end:
            time.sleep(0.05)
        yield controller


def _kill(process: int) -> Iterator[float]:
    """Kill it, and say since when it is dead."""
    os.kill(process, signal.SIGKILL)
    yield time.monotonic()


def _pause(process: int) -> Iterator[float]:
    """Hold it up for a while, and say since when it may go on; infinite before."""
    os.kill(process, signal.SIGSTOP)
    end = time.monotonic() + PAUSE
    while time.monotonic() < end:
        yield np.inf
    os.kill(process, signal.SIGCONT)
    yield time.monotonic()


def _away(controller: TwoRates, fault: Callable[[int], Iterator[float]]) -> tuple[float, Run]:
    """Seconds from a fault to the first model that was begun after it, and the run."""
    robot, box = controller.robot, controller.box
    hanging = Statics(robot).solve().require().state
    drive = Sink(Wiring.of_robot(robot, "displacement"))
    happens: Iterator[float] | None = None
    since = back = np.inf

    def watch(seconds: float, two: TwoRates) -> bool:
        nonlocal happens, since, back
        if seconds < BEFORE:
            return False
        if happens is None:
            happens = fault(box.process)
        since = next(happens, since)
        if box.stamp > since:
            back = time.monotonic()
        return back < np.inf

    run = controller.run(GIVEN_UP, robot.displacement(hanging, "top"), drive, watch=watch)
    return back - since, run
