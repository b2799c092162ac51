"""The model loop in a process of its own, kept alive by another.

The controlling process starts a *keeper*; the keeper starts the *worker* that runs the model loop, and another one when that
dies. So the control loop itself never starts a process. Models come back through a `ModelBox`, efforts go out by mailbox; what
else they have to tell each other is on a board of flags, so that whoever is killed holds up nobody.
"""

from __future__ import annotations

import contextlib
import ctypes
import multiprocessing
import os
import signal
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from multiprocessing.context import SpawnProcess

import numpy as np

from pliant.body.body import Tangent
from pliant.control.model_box import ModelBox
from pliant.control.model_loop import ModelLoop
from pliant.control.pace import Pace
from pliant.control.question import Question
from pliant.device.wiring import Kind
from pliant.exchange import Flags, Mailbox, start_shielded, stay_shielded
from pliant.robot import Robot

QUIT, SPARE = 0, 1
"""Places on the board: the controlling process wants all to end; the keeper has a spare that is warm."""
WORKERS = (2, 6)
"""Where the places of the two workers that there can be at a time begin:"""
GO, LAST, TOOK, WARM = 0, 1, 2, 3
"""it may begin; when it last made a model [s], what that took [s], whether it is built and warm."""
BOARD = 10
"""Places in all."""


@dataclass(frozen=True)
class ModelPlan:
    """How to run a model loop elsewhere.

    build: a function of a module (it is found there by name) that makes the robot; kind, tangent, energy: as in `ModelLoop`
    rate [Hz]: None for as fast as it goes
    cores: that it may use, empty for all
    standby: whether a second worker waits, built and warm, to take over
    restarts: how often a worker that is dead or stuck is replaced
    patience [s]: without a sign of life, and at least twenty times what a model takes, after which it counts as stuck
    """

    build: Callable[[], Robot]
    kind: Kind
    tangent: Tangent
    energy: float
    rate: float | None
    cores: tuple[int, ...]
    standby: bool
    restarts: int
    patience: float


def command_record(question: Question) -> np.dtype[np.void]:
    """What the control loop tells the model loop: the command (n,), what the robot's ports are given, and where its effectors
    are to be (NaN where nobody knows), as targets."""
    sought, given, wanted = len(question.sought), len(question.given.labels), len(question.wanted.labels)
    return np.dtype([("command", "f8", (sought,)), ("given", "f8", (given,)), ("goal", "f8", (wanted,))])


Names = tuple[str, str, str]
"""Of what the processes share: the board of flags, the box of models, and that of commands."""


def started(target: Callable[..., None], name: str, *args: object) -> SpawnProcess:
    """A process by that name that runs the target; `keep_model`, or what that starts."""
    process = multiprocessing.get_context("spawn").Process(target=target, args=args, name=name)
    start_shielded(process)
    return process


def keep_model(plan: ModelPlan, names: Names) -> None:
    """The keeper: a worker runs as long as there are restarts left; it says when a spare is ready to take over. It ends when it
    is told to, or when the process that started it has died."""
    stay_shielded()
    keep_to(plan.cores)
    with Flags(BOARD, names[0]) as board:
        start, left = partial(_Worker, plan, names, board), plan.restarts
        worker, free = start(WORKERS[0]), WORKERS[1]
        worker.begin()
        spare = start(free) if plan.standby and left else None
        while parent_lives() and not board.values[QUIT]:
            worker.process.join(0.02)
            board.values[SPARE] = spare is not None and spare.warm
            if worker.process.exitcode is None and not worker.stuck:
                continue
            if left == 0:
                break
            left -= 1
            worker.end()
            board.values[SPARE] = 0.0
            ended = worker.place
            worker = spare if spare is not None and spare.process.is_alive() else start(free)
            worker.begin()
            free = ended
            spare = start(free) if plan.standby and left else None
        worker.process.join(1.0)  # it has read the same word
        worker.end()
        if spare is not None:
            spare.end()


class _Worker:
    """A worker as its keeper sees it."""

    def __init__(self, plan: ModelPlan, names: Names, board: Flags, place: int) -> None:
        self.place, self._board, self._patience = place, board, plan.patience
        board.values[place : place + 4] = 0.0
        self.process = started(run_model, "pliant-model", plan, names, place)

    def begin(self) -> None:
        """Let it have its turn."""
        self._board.values[self.place + GO] = 1.0

    def end(self) -> None:
        """Kill it; nobody else writes models before it is dead."""
        self.process.kill()
        self.process.join()

    @property
    def warm(self) -> bool:
        """Whether it waits for its turn, or has it."""
        return self.process.is_alive() and bool(self._board.values[self.place + WARM])

    @property
    def stuck(self) -> bool:
        """Whether it made models and then none for too long."""
        last, took = (self._board.values[self.place + k] for k in (LAST, TOOK))
        return bool(last > 0 and time.monotonic() - last > max(self._patience, 20 * took))


def parent_lives() -> bool:
    parent = multiprocessing.parent_process()
    return parent is not None and parent.is_alive()


def keep_to(cores: tuple[int, ...]) -> None:
    """Leave the other cores to the control loop."""
    if cores and hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, cores)


def die_with_parent() -> None:
    """Let the system kill this process when the one that started it dies, whatever it is doing then (Linux; prctl(2)): a worker
    that was held up must not write models beside the next one."""
    if sys.platform == "linux":
        set_parent_death_signal = 1
        with contextlib.suppress(AttributeError, OSError):
            ctypes.CDLL(None).prctl(set_parent_death_signal, signal.SIGKILL)


def run_model(plan: ModelPlan, names: Names, place: int) -> None:
    """The worker: builds the robot, gets warm, waits for its turn, and keeps the model up to date until it is told to quit."""
    stay_shielded()
    die_with_parent()
    keep_to(plan.cores)
    question = Question(plan.build())
    loop = ModelLoop(question, kind=plan.kind, tangent=plan.tangent, energy=plan.energy)
    for _ in range(3):
        loop.cycle(loop.command())
    with (
        Flags(BOARD, names[0]) as board,
        contextlib.closing(ModelBox(question, names[1])) as models,
        Mailbox(command_record(question), names[2]) as commands,
    ):
        board.values[place + WARM] = 1.0
        while not board.wait(place + GO, 0.05):
            if board.values[QUIT] or not parent_lives():
                return
        _make_models(plan, loop, board, place, models, commands)


def _make_models(
    plan: ModelPlan, loop: ModelLoop, board: Flags, place: int, models: ModelBox, commands: Mailbox
) -> None:
    """Until told to quit."""
    command = commands.blank()
    command["command"] = loop.command()
    command["goal"] = np.nan
    loop.question.take_given(command["given"])
    commands.read(command)
    loop.question.give(command["given"])
    loop.settle(np.array(command["command"]))
    pace = Pace(plan.rate) if plan.rate is not None else None
    last = time.monotonic()
    while parent_lives() and not board.values[QUIT]:
        begin = time.monotonic()
        commands.read(command)
        loop.question.give(command["given"])
        here = loop.cycle(np.array(command["command"]), np.array(command["goal"]), begin - last)
        last = begin
        end = time.monotonic()
        if here is not None:
            loop.put(models, here, stamp=begin, cycle=end - begin)
        board.values[place + LAST], board.values[place + TOOK] = end, end - begin
        if pace is not None:
            pace.wait()
