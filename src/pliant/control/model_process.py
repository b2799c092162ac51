"""The model loop in a process of its own, kept alive by another.

The controlling process starts a *keeper*; the keeper starts the *worker* that runs the model loop, and another one when that
dies. So the control loop itself never starts a process. Models come back through a `ModelBox`, efforts go out by mailbox.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
import warnings
from collections.abc import Callable, MutableSequence
from dataclasses import dataclass
from multiprocessing.context import SpawnProcess
from multiprocessing.synchronize import Event as Signal

import numpy as np
from numpy.typing import NDArray

from pliant.body.body import Tangent
from pliant.control.model_box import ModelBox
from pliant.control.model_loop import ModelLoop
from pliant.control.pace import Pace
from pliant.device.wiring import Kind
from pliant.errors import PliantWarning
from pliant.exchange import Mailbox
from pliant.robot import Robot


@dataclass(frozen=True)
class ModelPlan:
    """How to run a model loop elsewhere.

    build: a function of a module (it is found there by name) that makes the robot; models, commands: names of the boxes; kind,
    tangent: as in `ModelLoop`; rate [Hz]: None for as fast as it goes; cores: that it may use, empty for all; standby: whether
    a second worker waits, built and warm, to take over; restarts: how often a worker that is dead or stuck is replaced;
    patience [s]: without a sign of life, and at least twenty times what a model takes, after which it counts as stuck; rows: of
    a command.
    """

    build: Callable[[], Robot]
    models: str
    commands: str
    kind: Kind
    tangent: Tangent
    rate: float | None
    cores: tuple[int, ...]
    standby: bool
    restarts: int
    patience: float
    rows: int


def command_record(rows: int) -> np.dtype[np.void]:
    """What the control loop tells the model loop: the command [rows], when it was sent [s], and whether to end."""
    return np.dtype([("stamp", "f8"), ("quit", "i8"), ("command", "f8", (rows,))])


def start_keeper(plan: ModelPlan, spare_waits: MutableSequence[int]) -> SpawnProcess:
    """Start the keeper of a model loop; it ends when it is told to, or when this process has died."""
    spawn = multiprocessing.get_context("spawn")
    process = spawn.Process(target=keep_model, args=(plan, spare_waits), name="pliant-keeper")
    process.start()
    return process


def keep_model(plan: ModelPlan, spare_waits: MutableSequence[int]) -> None:
    """The keeper: a worker runs as long as there are restarts left; it says when a spare is ready to take over."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _keep_to(plan.cores)
    commands = Mailbox(command_record(plan.rows), plan.commands)
    command = commands.blank()
    left = plan.restarts
    worker = _Worker(plan)
    worker.go.set()
    spare = _Worker(plan) if plan.standby and left else None
    while _parent_lives() and not command["quit"]:
        worker.process.join(0.02)
        commands.read(command)
        spare_waits[0] = spare is not None and spare.warm
        if worker.process.exitcode is None and not worker.stuck:
            continue
        if left == 0:
            break
        left -= 1
        worker.process.kill()
        worker = spare if spare is not None and spare.process.is_alive() else _Worker(plan)
        spare_waits[0] = 0
        worker.go.set()
        spare = _Worker(plan) if plan.standby and left else None
    worker.process.join(1.0)  # it has read the same word
    for each in [worker, *([spare] if spare is not None else [])]:
        each.process.kill()
        each.process.join()
    commands.close()


class _Worker:
    """A worker as its keeper sees it: `go` lets it begin; it says in `alive` when it last made a model, what that took [s], and
    whether it is built and warm."""

    def __init__(self, plan: ModelPlan) -> None:
        spawn = multiprocessing.get_context("spawn")
        self.go = spawn.Event()
        self._patience = plan.patience
        self._alive = spawn.RawArray("d", 3)
        self.process = spawn.Process(target=run_model, args=(plan, self.go, self._alive), name="pliant-model")
        self.process.start()

    @property
    def warm(self) -> bool:
        """Whether it waits for its turn, or has it."""
        return self.process.is_alive() and bool(self._alive[2])

    @property
    def stuck(self) -> bool:
        """Whether it made models and then none for too long."""
        last, took, _ = self._alive
        return bool(last > 0 and time.monotonic() - last > max(self._patience, 20 * took))


def _parent_lives() -> bool:
    parent = multiprocessing.parent_process()
    return parent is not None and parent.is_alive()


def _keep_to(cores: tuple[int, ...]) -> None:
    """Leave the other cores to the control loop."""
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)


def run_model(plan: ModelPlan, go: Signal, alive: MutableSequence[float]) -> None:
    """The worker: builds the robot, gets warm, waits for its turn, and keeps the model up to date until it is told to quit."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _keep_to(plan.cores)
    robot = plan.build()
    loop = ModelLoop(robot, kind=plan.kind, tangent=plan.tangent)
    for _ in range(3):
        loop.cycle(loop.command())
    models = ModelBox(robot, plan.models)
    commands = Mailbox(command_record(plan.rows), plan.commands)
    command = commands.blank()
    command["command"] = loop.command()
    alive[2] = 1.0
    while not go.wait(0.05):
        if not _parent_lives():
            return
    commands.read(command)
    loop.settle(np.array(command["command"]))
    pace = Pace(plan.rate) if plan.rate is not None else None
    while _parent_lives() and not command["quit"]:
        begin = time.monotonic()
        commands.read(command)
        model = loop.cycle(np.array(command["command"]))
        end = time.monotonic()
        if model is not None:
            models.put(model, stamp=begin, cycle=end - begin, failures=loop.failures)
        alive[:2] = [end, end - begin]
        if pace is not None:
            pace.wait()
    models.close()
    commands.close()


class ModelLink:
    """The control loop's end: the newest model comes in, commands go out, the keeper is started and ended."""

    def __init__(
        self,
        build: Callable[[], Robot],
        box: ModelBox,
        command: NDArray[np.float64],
        *,
        kind: Kind = "effort",
        tangent: Tangent = "warped",
        rate: float | None = None,
        cores: tuple[int, ...] = (),
        standby: bool = False,
        restarts: int = 1,
        patience: float = 5.0,
    ) -> None:
        """box: of the robot that `build` makes, its end is kept here; command [n]: that it is under now. The others as in
        `ModelPlan`."""
        self.box = box
        self._commands = Mailbox(command_record(len(command)))
        self._command = self._commands.blank()
        self._command["command"] = command
        self._commands.write(self._command)
        self._plan = ModelPlan(
            build, box.name, self._commands.name, kind, tangent, rate, cores, standby, restarts, patience, len(command)
        )
        self._spare_waits = multiprocessing.get_context("spawn").RawArray("i", 1)  # no lock: a process may die anywhere
        self.keeper = start_keeper(self._plan, self._spare_waits)

    def wait(self, seconds: float = 120.0) -> bool:
        """Wait for the first model; False where none came in time or the keeper has died."""
        end = time.monotonic() + seconds
        while not self.box.newest():
            if time.monotonic() > end or not self.keeper.is_alive():
                return False
            time.sleep(0.01)
        return True

    @property
    def has_spare(self) -> bool:
        """Whether a second worker is warm and waits to take over."""
        return self.keeper.is_alive() and bool(self._spare_waits[0])

    def revive(self) -> None:
        """Start another keeper where the last one has ended: it was killed, or all its workers were."""
        if not self.keeper.is_alive():
            warnings.warn("the model's process has ended; another one is started", PliantWarning, stacklevel=3)
            self._spare_waits[0] = 0
            self.keeper = start_keeper(self._plan, self._spare_waits)

    def send(self, command: NDArray[np.float64], now: float) -> None:
        """Tell the model what the robot is told [n]."""
        self._command["command"] = command
        self._command["stamp"] = now
        self._commands.write(self._command)

    def close(self) -> None:
        """End the model loop and its keeper, and remove the boxes. May be called twice."""
        if self.keeper.is_alive():
            self._command["quit"] = 1
            self._commands.write(self._command)
            self.keeper.join(5.0)
            if self.keeper.is_alive():
                self.keeper.kill()
                self.keeper.join()
        self.box.close()
        self._commands.close()
