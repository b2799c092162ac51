"""Many robots that have nothing in common, in one call: other lattices, other motors, other worlds."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InputError
from pliant.exchange import usable_cores
from pliant.motion.explicit.explicit import Explicit
from pliant.motion.explicit.progress import Progress, shown
from pliant.motion.explicit.result import ExplicitRun, RunStatus

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class ManyRuns:
    """What became of each robot; many[3] is the run of the fourth.

    runs: one `ExplicitRun` per robot; failed, stopped [r]: which diverged, which ended early as asked; fitness [r]: minus
    infinity for those that failed, not a number without a fitness function; seconds: that all of them took together.
    """

    runs: tuple[ExplicitRun, ...]
    failed: NDArray[np.bool_]
    stopped: NDArray[np.bool_]
    fitness: Array
    seconds: float

    def __len__(self) -> int:
        return len(self.runs)

    def __getitem__(self, robot: int) -> ExplicitRun:
        return self.runs[robot]

    def __repr__(self) -> str:
        return f"ManyRuns({len(self)} runs, {int(self.failed.sum())} failed, {int(self.stopped.sum())} stopped)"

    @property
    def springs_per_second(self) -> float:
        """Of all robots together."""
        return sum(run.springs_per_second * run.seconds for run in self.runs) / self.seconds


def run_many(
    robots: Sequence[Explicit],
    duration: float,
    *,
    record: Callable[[Explicit], Sequence[int]] | None = None,
    every: int = 100,
    fitness: Callable[[ExplicitRun], float] | None = None,
    stop: Callable[[Explicit], bool] | None = None,
    stop_every: float | None = None,
    threads: int | None = None,
    progress: Progress = None,
) -> ManyRuns:
    """Run robots side by side for `duration` seconds of simulated time, each as its own `Explicit.run` would: to the bit.

    record: nodes of a robot to write down every so many steps. fitness: of a run that did not fail. stop: asked every
    `stop_every` seconds, ends that robot. threads: robots at a time, by default one per processor; each of them should have
    been made with threads=1. For robots of one lattice `Population` is faster. progress: a bar on stderr with the time left,
    by default on a terminal only; or a function that is told the share done, 0 to 1.
    """
    if not robots:
        raise InputError("there are no robots to run", remedy="give at least one Explicit")
    for number, robot in enumerate(robots):
        if not isinstance(robot, Explicit):
            raise InputError(f"robot {number} is a {type(robot).__name__}", remedy="give an Explicit for each")
    if len({id(robot) for robot in robots}) < len(robots):
        raise InputError("a robot is there twice", remedy="make an Explicit for each")
    begin = clock.perf_counter()

    def live(robot: Explicit) -> ExplicitRun:
        nodes, done = () if record is None else record(robot), 0.0

        def tell(share: float) -> None:
            nonlocal done
            advance(share - done)
            done = share

        run = robot.run(duration, record=nodes, every=every, stop=stop, stop_every=stop_every, progress=tell)
        tell(1.0)  # also of one that ended early
        return run

    with shown(progress, len(robots)) as advance, ThreadPoolExecutor(threads or len(usable_cores())) as pool:
        runs = tuple(pool.map(live, robots))
    seconds = clock.perf_counter() - begin
    values = [np.nan if fitness is None else fitness(run) if run.ok else -np.inf for run in runs]
    return ManyRuns(
        runs,
        np.array([not run.ok for run in runs]),
        np.array([run.status is RunStatus.STOPPED for run in runs]),
        np.array(values, dtype=float),
        seconds,
    )
