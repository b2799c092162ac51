"""What the motors of a robot hold between decisions, and what a model is under that."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.condensed import Condensed
from pliant.algebra.limited import count_negatives
from pliant.control.lengths import decided_by_length, largest_yield, softest_of
from pliant.control.question import Question
from pliant.device.wiring import Kind

Array = NDArray[np.float64]
Rows = NDArray[np.integer]


class Motors:
    """The rows that keep their displacement while nothing is decided: those that are given, and the actuators' own where motors
    hold lengths or angles (kind="displacement"). Motors that hold efforts let their rows go.

    by_length    whether motors hold displacements
    """

    def __init__(self, question: Question, kind: Kind) -> None:
        self.question, self.by_length = question, kind == "displacement"
        held, efforts = question.given.rows, question.effort
        self._rows = np.concatenate([question.sought, held]) if self.by_length else held
        self._limits = np.concatenate([efforts if self.by_length else efforts[:0], question.given_limits])
        self.begin()

    def begin(self) -> None:
        """Nothing is known of the robot yet."""
        self._softest: Array | None = None
        self._yield: float | None = None

    def kept(self, model: Condensed) -> Array:
        """Efforts (m,) with which everything that is held stays as it is while the rest comes into balance."""
        return model.efforts_holding(self._rows, model.delta[self._rows], self._limits)

    def led_by(self, model: Condensed, command: Array, efforts: Array | None = None) -> Array:
        """Efforts (m,) that a command (n,) leads to, by a model: with its displacements held, or with its efforts, and what is
        given held besides; efforts (m,): of the rows that nobody holds, by default the model's."""
        given = self.question.goal_of_given(model.references)
        if self.by_length:
            return model.efforts_holding(self._rows, np.concatenate([command, given]), self._limits, efforts)
        own: Array = (model.efforts if efforts is None else efforts).copy()
        own[self.question.sought] = command
        return model.efforts_holding(self._rows, given, self._limits, own)

    def for_decisions(self, model: Condensed) -> Condensed:
        """The model to decide by: the same, or for motors that hold displacements one with efforts that stand for them."""
        if not self.by_length:
            return model
        if self._softest is None:
            if model.negatives:
                return model
            self._softest = softest_of(model, self.question.sought)
        return decided_by_length(model, self.question.sought, self.kept(model), self._softest)

    def decided(self, model: Condensed, change: Array) -> Array:
        """The part (n,) of a change of efforts (m,) that is decided about; of motors that hold displacements, the change of the
        efforts that stand for them."""
        a = self.question.sought
        if not self.by_length:
            return np.asarray(change[a])
        return np.asarray(np.linalg.solve(self.for_decisions(model).W[np.ix_(a, a)], (model.W @ change)[a]))

    def energy(self, model: Condensed, change: Array) -> float:
        """(dlambda^T W dlambda)^1/2 of a change of efforts (m,) [J^1/2]; of motors that hold displacements, that of the efforts
        that stand for them."""
        if not self.by_length:
            return math.sqrt(abs(change @ model.W @ change))
        return math.sqrt(abs((model.W @ change)[self.question.sought] @ self.decided(model, change)))

    def excess(self, model: Condensed) -> int:
        """Ways of motion along which the potential is curved downwards with all that is held (`count_excess`)."""
        return count_excess(model, self._rows, self._limits)

    def margin(self, model: Condensed) -> float:
        """The smallest pivot over that of the unloaded robot: 0 where stability is lost. Where motors hold lengths: how much
        the effectors yielded at the beginning, with nothing held, over how much they do now; NaN where that is not known."""
        question = self.question
        if not self.by_length:
            return model.pivot / question.robot.equations.unloaded.pivot
        if self._yield is None and not model.negatives:
            self._yield = largest_yield(model, question.wanted.rows, question.weights, self._rows[:0])
        if self._yield is None:
            return np.nan
        own = held_rows(model, self._rows, self._limits)
        return self._yield / largest_yield(model, question.wanted.rows, question.weights, own)


def held_rows(model: Condensed, rows: Rows, limits: Array) -> Rows:
    """Those of some rows (k,) that limits (k, 2) of their efforts do not let go."""
    efforts = model.efforts[rows]
    return np.asarray(rows[(efforts > limits[:, 0]) & (efforts < limits[:, 1])])


def count_excess(model: Condensed, rows: Rows, limits: Array) -> int:
    """Ways of motion along which the potential is curved downwards while rows (k,) keep their displacement, as far as limits
    (k, 2) of their efforts do not let them go: n-(K) - n-(W_hh), 0 where the robot stays."""
    if not model.negatives:
        return 0
    own = held_rows(model, rows, limits)
    return model.negatives - count_negatives(model.W[np.ix_(own, own)])
