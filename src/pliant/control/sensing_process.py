"""The slow loop of whoever observes, in a process of its own: measurements go out by mailbox, models come back in a
`ModelBox`."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from multiprocessing.context import SpawnProcess
from multiprocessing.util import Finalize

import numpy as np
from numpy.typing import NDArray

from pliant.control.model_box import ModelBox
from pliant.control.model_process import die_with_parent, keep_to, parent_lives, started
from pliant.control.observer import Observer
from pliant.control.pace import Pace
from pliant.control.question import Question
from pliant.control.sensing_loop import SensingLoop
from pliant.exchange import Flags, Mailbox, stay_shielded
from pliant.robot import Robot

Array = NDArray[np.float64]

QUIT = 0
"""The place on the board that tells the worker to end."""


@dataclass(frozen=True)
class SensingPlan:
    """What the worker runs: build, a function of a module that makes the robot; deviations and rates as of `Observer`; rate
    [Hz]: of models, None for as fast as they go; cores: that it may use, empty for all."""

    build: Callable[[], Robot]
    deviations: Mapping[str, float]
    rates: Mapping[str, float]
    rate: float | None
    cores: tuple[int, ...]


def measured_record(count: int) -> np.dtype[np.void]:
    """What the fast loop tells the slow one: what was measured (k,)."""
    return np.dtype([("measured", "f8", (count,))])


class SensingProcess:
    """The fast loop's end: `tell` it what was measured; models are in the box. To be closed."""

    def __init__(self, plan: SensingPlan, box: ModelBox, count: int) -> None:
        self._board, self._measured = Flags(1), Mailbox(measured_record(count))
        self._record = self._measured.blank()
        names = self._board.name, box.name, self._measured.name
        self.process: SpawnProcess = started(run_sensing, "pliant-sensing", plan, names, count)
        self._finalize = Finalize(self, _end, args=(self._board, self.process), exitpriority=10)

    @property
    def lives(self) -> bool:
        """Whether it still runs."""
        return self.process.is_alive()

    def tell(self, measured: Array) -> None:
        """Give it what was measured now (k,)."""
        self._record["measured"] = measured
        self._measured.write(self._record)

    def close(self) -> None:
        """End it. May be called twice."""
        if self._finalize.still_active():
            self._finalize()
            self._board.close()
            self._measured.close()


def _end(board: Flags, process: SpawnProcess) -> None:
    board.values[QUIT] = 1.0
    process.join(5.0)
    if process.exitcode is None:
        process.kill()
        process.join()


def run_sensing(plan: SensingPlan, names: tuple[str, str, str], count: int) -> None:
    """The worker: builds the robot, and makes models where it was measured until it is told to quit, or left alone."""
    stay_shielded()
    die_with_parent()
    keep_to(plan.cores)
    robot = plan.build()
    loop = SensingLoop(robot, Observer(robot, plan.deviations, rates=plan.rates))
    pace = Pace(plan.rate) if plan.rate is not None else None
    with (
        Flags(1, names[0]) as board,
        contextlib.closing(ModelBox(Question(robot), names[1])) as models,
        Mailbox(measured_record(count), names[2]) as measured,
    ):
        record = measured.blank()
        loop.put(models, loop.here, stamp=time.monotonic())
        while parent_lives() and not board.values[QUIT]:
            begin = time.monotonic()
            if measured.read(record):
                here = loop.cycle(np.array(record["measured"]))
            else:  # nothing was measured yet: the model is how the robot hangs
                here = loop.here
                time.sleep(1e-3)
            if here is not None:
                loop.put(models, here, stamp=begin, cycle=time.monotonic() - begin)
            if pace is not None:
                pace.wait()
