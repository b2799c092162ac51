"""The control loop's end of a model loop in another process."""

from __future__ import annotations

import signal
import time
import warnings
from multiprocessing.context import SpawnProcess
from multiprocessing.util import Finalize

import numpy as np
from numpy.typing import NDArray

from pliant.control.model_box import ModelBox
from pliant.control.model_process import BOARD, QUIT, SPARE, ModelPlan, command_record, keep_model, started
from pliant.control.question import Question
from pliant.errors import InputError, PliantWarning
from pliant.exchange import Flags, Mailbox, Watchman

PATIENCE = 5.0
"""Seconds that a keeper has to end after it was told to."""


class _Keeping:
    """The keeper's process and the board that it is told by; another one after another."""

    def __init__(self) -> None:
        self.board: Flags | None = None
        self.process: SpawnProcess | None = None

    def start(self, plan: ModelPlan, models: str, commands: str) -> None:
        """Start a keeper in the place of one that is dead; models, commands: names of the boxes."""
        self.end()
        self.board = Flags(BOARD)
        self.process = started(keep_model, "pliant-keeper", plan, (self.board.name, models, commands))

    def end(self) -> None:
        """Let it end, with its workers. May be called twice, and at any time."""
        board, process = self.board, self.process
        self.board = self.process = None
        if board is None:
            return
        board.values[QUIT] = 1.0
        if process is not None:
            process.join(PATIENCE)
            if process.exitcode is None:
                process.kill()
                process.join()
        board.close()


class ModelLink:
    """The newest model comes in, commands go out, the keeper is started and ended."""

    def __init__(self, plan: ModelPlan, question: Question, box: ModelBox, command: NDArray[np.float64]) -> None:
        """question: of the robot that the plan builds; box: of models for it, its end is kept here; command (n,): that it is
        under now."""
        self.box = box
        self.keepers_lost = 0
        """How many keepers were killed so far."""
        self._commands = Mailbox(command_record(question))
        self._command = self._commands.blank()
        question.take_given(self._command["given"])
        self.send(command, self._command["given"], np.full(len(question.wanted.labels), np.nan))
        self._plan, self._left = plan, plan.restarts
        self._keeping = _Keeping()
        # whoever forgets to close, or is interrupted, must not wait for ever for processes that wait for it
        Finalize(self, self._keeping.end, exitpriority=10)
        self._start()

    def _start(self) -> None:
        self._keeping.start(self._plan, self.box.name, self._commands.name)

    @property
    def keeper(self) -> SpawnProcess:
        """The process that looks after the model's."""
        if self._keeping.process is None:
            raise InputError("the controller is closed", remedy="make another, and use it in a with block")
        return self._keeping.process

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
        board = self._keeping.board
        return board is not None and self.keeper.is_alive() and bool(board.values[SPARE])

    def revive(self) -> None:
        """Start another keeper where the last one has ended: it was killed, or all its workers were."""
        if not self.keeper.is_alive():
            self.keepers_lost += self.keeper.exitcode != 0
            self._start()
            self._left = self._plan.restarts
            warnings.warn("the model's process has ended; another one is started", PliantWarning, stacklevel=3)

    def watchman(self) -> Watchman:
        """A thread that sleeps until a keeper is killed, replaces it, as often as `restarts` allows, and tells about it; it may
        be given other things to tell. To be closed."""
        return Watchman(self._end_of_keeper, self._replace, "pliant watchman")

    def _end_of_keeper(self) -> int | None:
        """What is ready when the keeper ends, None where it has."""
        return self.keeper.sentinel if self.keeper.exitcode is None else None

    def _replace(self) -> None:
        self.keeper.join()
        code = self.keeper.exitcode or 0
        if code == 0:
            text = f"the model's process died more often than it may be replaced (restarts={self._plan.restarts})"
            again = False
        else:
            self.keepers_lost += 1
            how = f"by signal {-code} ({signal.strsignal(-code)})" if code < 0 else f"with exit code {code}"
            text = f"the keeper of the model's process was ended {how}"
            again, self._left = self._left > 0, self._left - 1
        if again:
            self._start()
            text += "; another one is started, and until it has a model commands go to the safe one"
        else:
            text += "; there are no models any more, and commands stay at the safe one until the next run"
        warnings.warn(text, PliantWarning, stacklevel=4)

    def send(self, command: NDArray[np.float64], given: NDArray[np.float64], goal: NDArray[np.float64]) -> None:
        """Tell the model what the robot is told (n,), what its ports are given, and where its effectors are to be: targets."""
        self._command["command"], self._command["given"], self._command["goal"] = command, given, goal
        self._commands.write(self._command)

    def close(self) -> None:
        """End the model loop and its keeper, and remove the boxes. May be called twice."""
        self._keeping.end()
        self.box.close()
        self._commands.close()
