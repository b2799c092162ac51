"""The model loop in a process of its own, kept alive by another.

The controlling process starts a *keeper*; the keeper starts the *worker* that runs the model loop, and another one when that
dies. So the control loop itself never starts a process. Models come back through a `ModelBox`, efforts go out by mailbox.
"""

from __future__ import annotations

import multiprocessing
import os
import signal
import time
from collections.abc import Callable
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
from pliant.exchange import Mailbox
from pliant.robot import Robot


@dataclass(frozen=True)
class ModelPlan:
    """How to run a model loop elsewhere.

    build: a function of a module (it is found there by name) that makes the robot; models, commands: names of the boxes; kind,
    tangent: as in `ModelLoop`; rate [Hz]: None for as fast as it goes; cores: that it may use, empty for all; standby: whether
    a second worker waits, built and warm, to take over; restarts: how often a dead worker is replaced.
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


def command_record(rows: int) -> np.dtype[np.void]:
    """What the control loop tells the model loop: the command [rows], when it was sent [s], and whether to end."""
    return np.dtype([("stamp", "f8"), ("quit", "i8"), ("command", "f8", (rows,))])


def start_keeper(plan: ModelPlan) -> SpawnProcess:
    """Start the keeper of a model loop; it ends when it is told to, or when this process has died."""
    process = multiprocessing.get_context("spawn").Process(target=keep_model, args=(plan,), name="pliant-keeper")
    process.start()
    return process


def keep_model(plan: ModelPlan) -> None:
    """The keeper: a worker runs as long as there are restarts left."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _keep_to(plan.cores)
    spawn = multiprocessing.get_context("spawn")

    def started() -> tuple[SpawnProcess, Signal]:
        go = spawn.Event()
        worker = spawn.Process(target=run_model, args=(plan, go), name="pliant-model")
        worker.start()
        return worker, go

    parent, left = os.getppid(), plan.restarts
    worker, go = started()
    go.set()
    spare = started() if plan.standby and left else None
    while os.getppid() == parent:
        worker.join(0.02)
        if worker.exitcode is None:
            continue
        if worker.exitcode == 0 or left == 0:
            break
        left -= 1
        worker, go = spare if spare is not None and spare[0].is_alive() else started()
        go.set()
        spare = started() if plan.standby and left else None
    for process in [worker, *([spare[0]] if spare is not None else [])]:
        process.kill()


def _keep_to(cores: tuple[int, ...]) -> None:
    """Leave the other cores to the control loop."""
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)


def run_model(plan: ModelPlan, go: Signal) -> None:
    """The worker: builds the robot, gets warm, waits for its turn, and keeps the model up to date until it is told to quit."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    _keep_to(plan.cores)
    parent = os.getppid()
    robot = plan.build()
    loop = ModelLoop(robot, kind=plan.kind, tangent=plan.tangent)
    for _ in range(3):
        loop.cycle(loop.command())
    models = ModelBox(robot, plan.models)
    commands = Mailbox(command_record(len(loop.command())), plan.commands)
    command = commands.blank()
    command["command"] = loop.command()
    while not go.wait(0.05):
        if os.getppid() != parent:
            return
    commands.read(command)
    loop.settle(np.array(command["command"]))
    pace = Pace(plan.rate) if plan.rate is not None else None
    while os.getppid() == parent and not command["quit"]:
        begin = time.monotonic()
        commands.read(command)
        model = loop.cycle(np.array(command["command"]))
        if model is not None:
            models.put(model, stamp=begin, cycle=time.monotonic() - begin)
        if pace is not None:
            pace.wait()
    models.close()
    commands.close()


class ModelLink:
    """The control loop's end: the newest model comes in, commands go out, the keeper is started and ended."""

    def __init__(
        self,
        build: Callable[[], Robot],
        robot: Robot,
        command: NDArray[np.float64],
        *,
        kind: Kind = "effort",
        tangent: Tangent = "exact",
        rate: float | None = None,
        cores: tuple[int, ...] = (),
        standby: bool = False,
        restarts: int = 1,
    ) -> None:
        """robot: as `build` makes it; command [n]: that it is under now. The others as in `ModelPlan`."""
        self.box = ModelBox(robot)
        self._commands = Mailbox(command_record(len(command)))
        self._command = self._commands.blank()
        self._command["command"] = command
        self._commands.write(self._command)
        plan = ModelPlan(build, self.box.name, self._commands.name, kind, tangent, rate, cores, standby, restarts)
        self.keeper = start_keeper(plan)

    def wait(self, seconds: float = 120.0) -> bool:
        """Wait for the first model; False where none came in time or the keeper has died."""
        end = time.monotonic() + seconds
        while not self.box.newest():
            if time.monotonic() > end or not self.keeper.is_alive():
                return False
            time.sleep(0.01)
        return True

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
            self.keeper.join(2.0)
            if self.keeper.is_alive():
                self.keeper.kill()
                self.keeper.join()
        self.box.close()
        self._commands.close()
