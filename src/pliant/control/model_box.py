"""Condensed models from one process to another."""

from __future__ import annotations

import os

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.condensed import Condensed
from pliant.control.question import ModelNumbers, Question
from pliant.control.standing import Standing
from pliant.exchange import Mailbox

Array = NDArray[np.float64]

_STANDINGS = tuple(Standing)


def model_record(question: Question) -> np.dtype[np.void]:
    """The numbers of a condensed model, as a question is decided by it, and when they were true.

    stamp [s]: on the clock of all processes (time.monotonic), when the model's state was that of the robot; cycle [s]: what the
    model took; failures: how many could not be made before; positive_definite: whether its tangent was (else the warped one
    was taken for the exact one, or motors that hold displacements make it stable); standing: how the model's robot stands, a
    `Standing`.
    """
    rows, relative, sought = len(question.row_names), len(question.reference_places), len(question.sought)
    fields = [
        ("stamp", "f8"), ("cycle", "f8"), ("failures", "i8"), ("positive_definite", "i8"), ("process", "i8"),
        ("standing", "i8"),
        ("W", "f8", (rows, rows)), ("delta_free", "f8", (rows,)), ("delta", "f8", (rows,)), ("efforts", "f8", (rows,)),
        ("references", "f8", (9 * relative,)), ("trust", "f8", (sought,)), ("targets", "f8", (len(question.wanted.labels),)),
    ]  # fmt: skip
    return np.dtype(fields)  # type: ignore[arg-type]


class ModelBox:
    """The newest condensed model of a robot, from the process that makes it to one that decides by it.

    The reader's arrays (`record`, and of it `model`, delta, and targets: where the effectors are) are made once; `newest` fills
    them.
    """

    def __init__(self, question: Question, name: str | None = None) -> None:
        """question: that is decided by the models; name: of the box that another process has made; None makes one."""
        self._question = question
        self._mailbox = Mailbox(model_record(question), name)
        self._out, self.record, self._spare = (self._mailbox.blank() for _ in range(3))
        self.model = ModelNumbers(*(self.record[name] for name in ModelNumbers._fields))
        self.delta, self.targets = self.record["delta"], self.record["targets"]
        self.numbers = self.record.reshape(1).view(np.float64)
        """The record as numbers (its integers mean nothing there): the stamp first, the others at `places`,
        in the order of `ModelNumbers`."""
        fields = model_record(question).fields
        assert fields is not None
        self.places = np.array([fields[name][1] // 8 for name in ModelNumbers._fields])
        self.number = 0

    @property
    def name(self) -> str:
        """By which another process finds the box."""
        return self._mailbox.name

    def put(
        self,
        model: Condensed,
        targets: Array,
        *,
        stamp: float,
        cycle: float = 0.0,
        failures: int = 0,
        trust: Array | None = None,
        standing: Standing = Standing.FIRM,
    ) -> None:
        """Publish a model that was true at `stamp` [s], with the effectors at targets (t,), and that took `cycle` [s] to make,
        after so many failures; trust (n,): how far efforts may go from its own, by default as far as its ports are good for."""
        question = self._question
        out = self._out
        out["stamp"], out["cycle"], out["failures"] = stamp, cycle, failures
        out["positive_definite"], out["process"], out["standing"] = model.positive_definite, os.getpid(), standing
        for name, value in question.numbers(model, trust)._asdict().items():
            out[name] = value
        out["delta"], out["targets"] = model.delta, targets
        self._mailbox.write(out)

    def newest(self) -> bool:
        """Take over the newest model; False where it is the one that is here already, or there is none."""
        if self._mailbox.number == self.number:
            return False
        number = self._mailbox.read(self._spare)
        if number == 0:  # the spare may be torn now; the model that is here is not
            return False
        self.record[...] = self._spare
        self.number = number
        return True

    @property
    def stamp(self) -> float:
        """When the model that is here was true [s]."""
        return float(self.record["stamp"])

    @property
    def standing(self) -> Standing:
        """How the robot of the model that is here stands."""
        return _STANDINGS[int(self.record["standing"])]

    @property
    def process(self) -> int:
        """The process that made the model that is here, by its number in the system."""
        return int(self.record["process"])

    def close(self) -> None:
        """Let go of the memory; its maker removes it."""
        self._mailbox.close()
