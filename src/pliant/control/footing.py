"""How a robot is led from one equilibrium to the next: how far a step may go, and what to do where it was a mistake.

A step follows one linearization, so it may be wrong; the next linearization tells, at no extra cost:

    unbalanced   the largest force out of balance over the largest load
    length       u = |L^-1 r|, the energy norm of Newton's correction: it shrinks while efforts are held, or there is no balance
    excess       ways of motion along which the potential is curved downwards with all that is held (`count_excess`)
    margin       the smallest pivot over that of the unloaded robot: 0 where stability is lost

Efforts change only on firm ground: in balance to `BALANCED`, stable, with a margin. Where a step ends out of balance, Newton
steps with the motors held bring it back, in the same call. A step that loses stability or balance, or that brings the effectors
hardly any of the way that it promised, is taken back: the robot goes to where it stood before, in balance, and the next step
may go a quarter as far (a trust region; Conn, Gould and Toint 2000). The radius is an energy, (dlambda^T W dlambda)^1/2. When
it has shrunk to nothing, the robot waits where it is until it is asked for something else.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import IntEnum

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.condensed import Condensed
from pliant.algebra.limited import count_negatives, scaled
from pliant.body.body import Tangent
from pliant.control.question import Question
from pliant.device.wiring import Kind
from pliant.robot import Linearization, State
from pliant.robot.linearization import Followed

Array = NDArray[np.float64]
Aims = Mapping[str, Array]

BALANCED, EXACTLY = 0.01, 1e-5
"""Forces out of balance, over the largest load, from which efforts may change; and after a step that was taken back."""
CORRECTIONS = 3
"""Further linearizations that a step may take to come into balance."""
SHARPER = 0.01
"""How much less may be out of balance past a limit point."""
CONTRACTS = 0.9
"""What a Newton step must leave of the last one, at most, to be on the way into balance."""
MARGIN = 0.02
"""What must be left of the smallest pivot."""
USEFUL, POOR, GOOD = 0.05, 0.25, 0.75
"""Shares of the promised way: below the first a step is taken back, below the second the next is shorter, from the third on it
may be longer."""
NOWHERE = 1e-4
"""A radius below this share of the largest change of efforts leads nowhere."""
STIRRED = 1e-6
"""How far, over the robot's size, targets must move to count as others; and errors fall for a step to be judged by it."""
THERE = 1e-5
"""Effectors have reached their targets when they are off by no more than this share of the robot's size."""
SOFT = 10.0
"""How much softer than at the beginning the motors may find the robot, for decisions."""
DEAR = 10.0
"""What a displacement past its limit costs, beside an effector that is as far off."""
CALM = 3
"""Steps since the last mistake after which forces out of balance are as they were expected."""
MISTAKES, WORTH = 3, 1e-4
"""So many mistakes in a row must have brought the effectors closer by this share of the robot's size, or the robot rests."""
PATIENCE = 10
"""Shortened steps in a row that promise next to nothing before the robot rests."""
DEEPEST = 16
"""How many places where it stood are remembered."""


class Standing(IntEnum):
    """How a robot stands, as whoever decides by its model must know: it goes on; it holds still to come into balance; it rests
    where no step leads closer; it rests where going on would lose stability."""

    FIRM = 0
    HOLDING = 1
    WAITING = 2
    UNSTABLE_BEYOND = 3


@dataclass(frozen=True)
class _Stride:
    """A step that was taken: the state that it leads to, the energy of the change of efforts and of the motion [J^1/2], whether
    it was shortened, how far off the targets were and would be by the model, the targets, and for how many calls it has been
    out of balance."""

    after: State
    change: float = 0.0
    length: float = 0.0
    shortened: bool = False
    was: float = 0.0
    hoped: float = 0.0
    aims: Aims | None = None
    waited: int = 0


@dataclass(frozen=True)
class _Stand:
    """Firm ground: a state in balance, and its margin."""

    state: State
    margin: float


class Footing:
    """Steps of one robot, one after the other: `arrive` where the last one led, decide, `leave`.

    radius       how far the next step may go [J^1/2]
    holds        the motors hold still, because the robot is out of balance or unstable
    waits        the robot rests where no step leads any closer
    mistake      why the last step was taken back: "stability", "balance", "progress", or ""
    margin       of the state that it stands on
    content      no decision asks for more than it has
    is_unstable  it begins where it would not stay, and nothing else is known
    """

    def __init__(
        self, question: Question, *, kind: Kind, tangent: Tangent, largest_move: float, strict: bool = False
    ) -> None:
        """kind: what motors hold between decisions; largest_move: how far a node may move in a step, over the robot's size;
        strict: steps are judged by how far displacements are past their limits, too."""
        self.question, self.robot, self._tangent = question, question.robot, tangent
        self._reach, self._size = largest_move * self.robot.size, self.robot.size
        held, own = question.given.rows, kind == "displacement"
        self._rows = np.concatenate([question.sought, held]) if own else held
        self._limits = np.concatenate([question.effort if own else question.effort[:0], question.given_limits])
        self._counts_margin, self.strict, self._by_length = not own and tangent == "exact", strict, own
        self.linearizations = 0
        self._forget()

    def _forget(self) -> None:
        self.radius, self.holds, self.mistake, self.margin = np.inf, False, "", np.nan
        self.lost_stability = self.is_unstable = self.content = False
        self._stride: _Stride | None = None
        self._stands: list[_Stand] = []
        self._largest, self._careful, self._moved, self._crept = 0.0, 0, 0.0, 0
        self._bend, self._known, self._calm = np.inf, 0.0, 0
        self._mistaken: list[float] = []
        self._resting: Array | None = None
        self._idle: Array | None = None
        self._softest = np.inf
        self._given = self.question.targets_given()

    @property
    def waits(self) -> bool:
        """Whether the robot rests where no step leads any closer."""
        return self._resting is not None

    @property
    def standing(self) -> Standing:
        """In a word."""
        if self.holds:
            return Standing.HOLDING
        if not self.waits:
            return Standing.FIRM
        return Standing.UNSTABLE_BEYOND if self.lost_stability and not self.content else Standing.WAITING

    def arrive(self, state: State, aims: Aims | None = None, *, exactly: bool = False) -> Linearization:
        """The robot linearized where the last step led, in balance; or where it stood before, if that was a mistake.

        aims: where effectors are to be now; exactly: in balance to `EXACTLY`. A state that did not come from the last step is
        a new beginning.
        """
        stride, self.holds, self.mistake, self.is_unstable = self._stride, False, "", False
        if stride is None or state.pose is not stride.after.pose:
            self._forget()
            stride = _Stride(state)
        elif not np.array_equal(state.efforts, stride.after.efforts):  # other loads: what was promised does not count
            self._wake(np.inf)
            stride = _Stride(state)
        here, self.mistake, first = self._balanced(state, EXACTLY if exactly or self._careful else BALANCED)
        if stride.length > 0.0:
            bend = first / stride.length**2
            self._bend = max(bend, 0.5 * self._bend) if self._bend < np.inf else bend
            self._known, self._calm = 2 * stride.length, self._calm + 1
        if self.mistake == "patience" and stride.waited < CORRECTIONS:
            self.holds, self.mistake, self._stride = True, "", replace(stride, waited=stride.waited + 1)
            self._moved = float(np.abs(here.state.x - state.x).max())
            return here
        if not self.mistake:
            self._learn(stride, here.model)
        here = self._stand(here, stride) if not self.mistake else self._back(state, stride)
        if not self.holds:
            self._rest_or_wake(here.model, aims)
        self._moved = float(np.abs(here.state.x - state.x).max())
        return here

    def _linearized(self, state: State) -> Linearization:
        self.linearizations += 1
        return self.robot.linearize(state, tangent=self._tangent, signed=True)

    def _balanced(
        self, state: State, allowed: float, corrections: int = CORRECTIONS
    ) -> tuple[Linearization, str, float]:
        """Newton steps with the motors held, until forces balance; what is wrong there, if anything is; and how far out of
        balance the state itself is."""
        before, first = np.inf, np.nan
        for correction in range(corrections + 1):
            here = self._linearized(state)
            model, margin = here.model, self._margin_of(here.model)
            first = model.unbalanced if correction == 0 else first
            if self._is_lost(model, margin):
                return here, "stability", first
            if correction and not model.length <= CONTRACTS * before:
                return here, "balance", first
            # near the loss of stability the pivots of a robot that is out of balance say little
            sharper = min(1.0, 4 * margin) ** 2 if margin > 0.0 else SHARPER if model.negatives else 1.0
            if model.unbalanced <= max(sharper * allowed, EXACTLY):
                return here, "", first
            if correction < corrections:
                followed = here.follow(self.kept(model), largest_move=self._reach)
                state, before = followed.state, followed.length
                if followed.balance == 0.0:
                    return here, "balance", first
        return here, "patience", first

    def for_decisions(self, model: Condensed) -> Condensed:
        """The model to decide by: the same, or for motors that hold displacements one with efforts that stand for them.

        Past a limit point W_aa is indefinite, and next to it there is no end to it, though the effectors follow the motors as
        ever: W_ea W_aa^-1 is what it was. So W_aa is taken without the directions that are softer than `SOFT` times the
        softest one of the beginning, or curved downwards: they are that soft instead, and W_ea W_aa^-1 is kept.
        """
        a = self.question.sought
        if not self._by_length:
            return model
        own = model.W[np.ix_(a, a)]
        if self._softest == np.inf and not model.negatives:
            self._softest = SOFT * float(np.linalg.eigvalsh(scaled(own)[0])[-1]) * float(np.diag(own).max())
        scale = 1.0 / np.sqrt(self._softest)
        values, vectors = np.linalg.eigh(scale * own * scale)
        if values[0] > 0.0 and values[-1] <= 1.0:
            return model
        efforts, W = self.kept(model), model.W.copy()
        soft = (vectors * np.where((values > 0.0) & (values <= 1.0), values, 1.0)) @ vectors.T / scale**2
        W[:, a] = model.W[:, a] @ np.linalg.solve(own, soft)
        W[a] = W[:, a].T
        return replace(model, W=W, efforts=efforts, delta_free=model.predicted(efforts) - W @ efforts)

    def followed_efforts(self, model: Condensed, efforts: Array, displacements: Array) -> Array:
        """All efforts (m,) that a decision comes to: its own (m,), or whatever holds its displacements (n,)."""
        if not self._by_length:
            return efforts
        given = self.question.goal_of_given(model.references)
        return model.efforts_holding(self._rows, np.concatenate([displacements, given]), self._limits, efforts)

    def _energy(self, model: Condensed, change: Array) -> float:
        """(dlambda^T W dlambda)^1/2 of a change of efforts (m,) [J^1/2]; of motors that hold displacements, that of the efforts
        that stand for them."""
        if not self._by_length:
            return float(np.sqrt(abs(change @ model.W @ change)))
        a = self.question.sought
        own = (model.W @ change)[a]
        return float(np.sqrt(abs(own @ np.linalg.solve(self.for_decisions(model).W[np.ix_(a, a)], own))))

    def kept(self, model: Condensed) -> Array:
        """Efforts (m,) with which motors and given displacements stay as they are while the rest comes into balance."""
        return model.efforts_holding(self._rows, model.delta[self._rows], self._limits)

    def _is_lost(self, model: Condensed, margin: float) -> bool:
        if self._tangent == "exact" and count_excess(model, self._rows, self._limits) > 0:
            return True
        return margin < MARGIN and (not self._stands or margin < self._stands[-1].margin)

    def _margin_of(self, model: Condensed) -> float:
        return model.pivot / self.robot.equations.unloaded.pivot if self._counts_margin else np.nan

    def _learn(self, stride: _Stride, model: Condensed) -> None:
        """What a step that ended in balance says about the next; whether it brought what it promised."""
        promised = stride.was - stride.hoped
        share = np.nan
        if stride.aims is not None and promised > STIRRED * self._size:
            now = self._off(model, self.kept(model), stride.aims)
            share = (stride.was**2 - now**2) / (stride.was**2 - stride.hoped**2)
            if share < USEFUL:
                self.mistake = "progress"
                return
        creeps = stride.aims is not None and stride.shortened and promised <= STIRRED * self._size
        self._crept = self._crept + 1 if creeps else 0
        if self._crept > PATIENCE:
            self.radius = 0.0
        if share < POOR or self._turned(stride, promised):
            self.radius = min(self.radius, 0.5 * stride.change)
        elif stride.shortened and not share < GOOD:
            self.radius *= 2.0 if self._careful == 0 else 1.0
        if stride.shortened:
            self._careful = max(0, self._careful - 1)
        self._largest = max(self._largest, stride.change)

    def _turned(self, stride: _Stride, promised: float) -> bool:
        """Whether efforts that only share out work differently, with the effectors where they should be, go back and forth."""
        change, last = None, self._idle
        if stride.aims is not None and promised <= STIRRED * self._size:
            change = stride.after.efforts - self._stands[-1].state.efforts if self._stands else None
        self._idle = change
        return change is not None and last is not None and float(change @ last) < 0.0

    def _stand(self, here: Linearization, stride: _Stride) -> Linearization:
        """On firm ground."""
        self.margin = self._margin_of(here.model)
        if stride.change == 0.0 and self._stands:
            self._stands.pop()
        self._stands = [*self._stands[1 - DEEPEST :], _Stand(here.state, self.margin)]
        return here

    def _back(self, state: State, stride: _Stride) -> Linearization:
        """To where the robot stood, under the loads of now; or farther back, where there is no balance any more."""
        self._careful, self._calm = 2, 0
        self.lost_stability = self.mistake == "stability" or (self.lost_stability and self.mistake != "progress")
        if stride.change > 0.0:
            self.radius = min(self.radius, 0.25 * stride.change)
        if stride.aims is not None:
            self._mistaken = [*self._mistaken[-MISTAKES:], stride.was]
            if len(self._mistaken) > MISTAKES and self._mistaken[0] - stride.was < WORTH * self._size:
                self.radius = 0.0
        while self._stands:
            last = self._stands.pop()
            efforts = state.efforts.copy()
            own = np.concatenate([self.question.sought, self.question.given.rows])
            efforts[own] = last.state.efforts[own]
            here, wrong, _ = self._balanced(replace(last.state, efforts=efforts), EXACTLY, 3 * CORRECTIONS)
            if not wrong:
                return self._stand(here, _Stride(here.state))
        self.holds = True
        here = self.robot.linearize(state, tangent=self._tangent)
        self.is_unstable = self.mistake == "stability" and here.model.unbalanced <= BALANCED
        return here

    def _rest_or_wake(self, model: Condensed, aims: Aims | None) -> None:
        """Wait where the radius leads nowhere; go on when targets are others."""
        goal = np.zeros(0) if aims is None else self.question.weights * self.question.goal(aims, model.references)
        given = self.question.targets_given()
        if not np.array_equal(given, self._given):
            self._wake(np.inf)
        elif self._resting is not None and np.abs(goal - self._resting).max(initial=0.0) > STIRRED * self._size:
            self._wake(np.inf if self.content else self._largest / 16)
        self._given = given
        if self._resting is None and self.radius < NOWHERE * self._largest:
            self._resting = goal

    def _wake(self, radius: float) -> None:
        self._resting, self.radius, self._careful = None, max(self.radius, radius), 0
        self.lost_stability, self._mistaken, self._crept = False, [], 0

    def _off(self, model: Condensed, efforts: Array, aims: Aims) -> float:
        """How far the effectors are from their targets with these efforts, in balance: the norm of their weighted rows."""
        delta, question = model.predicted(efforts), self.question
        off = question.weights * (delta[question.wanted.rows] - question.goal(aims, model.references))
        if not self.strict:
            return float(np.linalg.norm(off))
        own = delta[question.sought]
        return float(np.linalg.norm(off) + DEAR * np.abs(own - np.clip(own, *question.course.T)).sum())

    def expected(self, length: float) -> float:
        """Forces out of balance, over the largest load, after a motion of this length, as it was after the last one: they grow
        with its square. Infinite where nothing is known."""
        if length == 0.0:
            return 0.0
        return self._bend * length**2 if length <= self._known and self._calm >= CALM else np.inf

    def ahead(self, model: Condensed, goal: Array) -> Array:
        """What to ask of the effectors now, (e,), on the straight way to where they are to be: as far as a step reaches."""
        places = model.predicted(self.kept(model))[self.question.wanted.rows]
        far = float(np.linalg.norm(self.question.weights * (goal - places)))
        return goal if far <= self._reach else places + (self._reach / far) * (goal - places)

    def leave(self, here: Linearization, efforts: Array, aims: Aims | None = None) -> Followed:
        """Towards efforts (m,), as far as the radius allows; the share in the answer is of the whole change."""
        model = here.model
        change = (self.kept(model) if self.holds or self.waits else efforts) - model.efforts
        energy = self._energy(model, change)
        self.content = self._energy(model, efforts - model.efforts) <= NOWHERE * self._largest
        part = 1.0 if energy <= self.radius or self.holds or self.waits else self.radius / energy
        left = max(self._reach - self._moved, 1e-3 * self._reach)
        followed = here.follow(model.efforts + part * change, largest_move=left)
        share = part * followed.share
        if self.holds and self._stride is not None:
            self._stride = replace(self._stride, after=followed.state)
        else:
            was = hoped = 0.0
            if aims is not None and not self.waits:
                was, hoped = (self._off(model, own, aims) for own in (self.kept(model), followed.state.efforts))
            done = 0.0 if self.holds or self.waits else self._energy(model, followed.state.efforts - model.efforts)
            own = None if self.waits else aims
            self._stride = _Stride(followed.state, done, followed.length, share < 1.0, was, hoped, own)
        return followed._replace(share=share)

    def box(self, model: Condensed) -> Array:
        """How far each sought effort may go from those of a model, (n,): for whoever decides by it without asking again."""
        if self.holds or self.waits:
            return np.zeros(len(self.question.sought))
        own = np.abs(np.diag(self.for_decisions(model).W)[self.question.sought])
        return np.asarray(self.radius / np.sqrt(len(own) * np.maximum(own, 1e-300)))


def count_excess(model: Condensed, rows: NDArray[np.integer], limits: Array) -> int:
    """Ways of motion along which the potential is curved downwards while rows (k,) keep their displacement, as far as limits
    (k, 2) of their efforts do not let them go: n-(K) - n-(W_hh), 0 where the robot stays."""
    if not model.negatives:
        return 0
    efforts = model.efforts[rows]
    own = rows[(efforts > limits[:, 0]) & (efforts < limits[:, 1])]
    return model.negatives - count_negatives(model.W[np.ix_(own, own)])
