"""How a robot is led from one equilibrium to the next: how far a step may go, and what to do where it was a mistake.

A step follows one linearization, so it may be wrong; the next linearization tells, at no extra cost:

    unbalanced   the largest force out of balance over the largest load
    length       u = |L^-1 r|, the energy norm of Newton's correction: it shrinks while motors hold, or there is no balance
    excess       ways of motion along which the potential is curved downwards with all that is held (`Motors.excess`)
    margin       what is left of stability: 0 where it is lost (`Motors.margin`)

Efforts change only on firm ground: in balance to `BALANCED`, stable, with a margin. Where a step ends out of balance, Newton
steps with the motors held bring it back, in the same call. A step that loses stability or balance, or that brings the effectors
hardly any of the way that it promised, is taken back: the robot goes to where it stood before, in balance, and the next step
is shorter (`Trust`). When no step leads anywhere, the robot waits where it is until it is asked for something else. Next to the
loss of stability even the correction of what is out of balance by 1e-5 may be a mistake: there it is left as it is.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.condensed import Condensed
from pliant.body.body import Tangent
from pliant.control.bend import Bend
from pliant.control.hurry import Hurry
from pliant.control.motors import Motors
from pliant.control.question import Question
from pliant.control.standing import Aim, Aims, Stand, Standing, Stride
from pliant.control.trail import Trail
from pliant.control.trust import NOWHERE, STIRRED, USEFUL, Trust
from pliant.device.wiring import Kind
from pliant.robot import Linearization, State
from pliant.robot.linearization import Followed

Array = NDArray[np.float64]

BALANCED, EXACTLY = 0.01, 1e-5
"""Forces out of balance, over the largest load, from which efforts may change; and after a step that was taken back."""
SHARPER = 0.01
"""How much less may be out of balance past a limit point."""
CORRECTIONS = 3
"""Further linearizations that a step may take to come into balance."""
CONTRACTS = 0.9
"""What a Newton step must leave of the last one, at most, to be on the way into balance."""
MARGIN = 0.02
"""What must be left of the smallest pivot."""
THERE = 1e-5
"""Effectors have reached their targets when they are off by no more than this share of the robot's size."""
DEAR = 10.0
"""What a displacement past its limit costs, beside an effector that is as far off."""
DEEPEST = 16
"""How many places where it stood are remembered."""
NEAR = 0.1
"""Steps below this share of the largest one close in on where they end, and may be hurried."""
EATEN = 1e-6
"""The share of a step below which nothing is left of it."""
BOXED = 1 / 3
"""Changes beyond this share of what was allowed were as long as might be: at two rates they begin where the model was one cycle
ago."""
HAMPERED = 60
"""Short steps or mistakes in a row after which the robot looks whether it has been closer."""
CLOSE = 5 * MARGIN
"""The margin below which it is next to the loss of stability."""
SMALL = 1 / 64
"""A step below this share of the largest one that ends out of balance does so because of what was still out of balance at its
beginning: next to the loss of stability Newton's correction of next to nothing goes far."""
SURE = 0.1
"""Forces that are out of balance by less than this share of what is allowed are as good as none."""


class Footing:
    """Steps of one robot, one after the other: `arrive` where the last one led, decide, `leave`.

    motors       what they hold between decisions
    trust        how far the next step may go
    holds        the motors hold still, because the robot is out of balance or unstable
    mistake      why the last step was taken back: "stability", "balance", "progress", or ""
    margin       of the state that it stands on
    content      no decision asks for more than it has
    is_unstable  it begins where it would not stay, and nothing else is known
    """

    def __init__(
        self,
        question: Question,
        *,
        kind: Kind,
        tangent: Tangent,
        largest_move: float,
        strict: bool = False,
        returns: bool = False,
    ) -> None:
        """kind: what motors hold between decisions; largest_move: how far a node may move in a step, over the robot's size;
        strict: steps are judged by how far displacements are past their limits, too; returns: from corners it goes back on its
        trail, by efforts that jump from place to place, for whoever sees to it that motors do not (poses of frames are measured
        from where they are, so with these it stays)."""
        self._returns = returns and not len(question.wanted.turns)
        self.question, self.robot, self._tangent = question, question.robot, tangent
        self._reach, self._size = largest_move * self.robot.size, self.robot.size
        self.motors, self.strict = Motors(question, kind), strict
        self.linearizations = 0
        self._forget()

    def _forget(self) -> None:
        self.trust = Trust(self._size)
        self.holds, self.mistake, self.margin = False, "", np.nan
        self.is_unstable = self.content = False
        self._stride: Stride | None = None
        self._stands: list[Stand] = []
        self._bend, self._moved = Bend(), 0.0
        self._resting: Array | None = None
        self._hampered, self._stays = 0, False
        self._trail = Trail(0.25 * self._reach)
        self._turned_for: Aims = {}
        self._uncorrected: float | None = None
        self._box: Array | None = None
        self.motors.begin()
        self._given = self.question.targets_given()
        self._hurry = Hurry()
        self._missed: Aims | None = None

    @property
    def waits(self) -> bool:
        """Whether the robot rests where no step leads any closer."""
        return self._resting is not None

    @property
    def is_held_back(self) -> bool:
        """Whether the last step was a mistake, or short because of one, or the robot holds still: the next is to be decided
        here. One that was only as long as a step may be is no reason."""
        is_short = self._stride is not None and self._stride.shortened and self.trust.radius < np.inf
        return self.holds or self.waits or bool(self.mistake) or is_short

    @property
    def standing(self) -> Standing:
        """In a word."""
        if self.holds:
            return Standing.HOLDING
        if not self.waits:
            return Standing.FIRM
        return Standing.UNSTABLE_BEYOND if self.trust.stability and not self.content else Standing.WAITING

    def arrive(self, state: State, aims: Aims | None = None) -> Linearization:
        """The robot linearized where the last step led, in balance; or where it stood before, if that was a mistake.

        aims: where effectors are to be now. A state that did not come from the last step is a new beginning.
        """
        stride, self.holds, self.mistake, self.is_unstable = self._stride, False, "", False
        if stride is None or state.pose is not stride.after.pose:
            self._forget()
            stride = Stride(state)
        elif state is not stride.after and not np.array_equal(
            state.efforts, stride.after.efforts
        ):  # other loads: what was promised does not count
            self._begin_anew()
            stride = Stride(state)
        if self._trail.returning and (aims is None or self._differ(aims, self._turned_for)):
            self._stays = False
            self._trail.stay()
            self._wake(self.trust.largest / 16)
        while self._trail.returning:
            if (found := self._balanced_as(self._trail.next_back(0.75 * self._reach).state, state)) is not None:
                return self._returning(found, state)
        here, self.mistake, first = self._balanced(state, EXACTLY if self.trust.careful else BALANCED)
        self._bend.learn(stride.length, first)
        if self.mistake == "patience" and stride.waited < CORRECTIONS:
            self.holds, self.mistake, self._stride = True, "", replace(stride, waited=stride.waited + 1)
        else:
            if not self.mistake:
                self._learn(stride, here.model, first)
            here = self._stand(here, stride) if not self.mistake else self._back(state, stride)
        self._hampered = self._hampered + 1 if (stride.shortened and stride.change > 0.0) or self.mistake else 0
        if not self.holds:
            self._rest_or_wake(here.model, aims)
        self._moved = 0.0 if here.state is state else float(np.abs(here.state.x - state.x).max())
        return here

    def _linearized(self, state: State) -> Linearization:
        self.linearizations += 1
        return self.robot.linearize(state, tangent=self._tangent, signed=True)

    def _balanced(
        self, state: State, allowed: float, corrections: int = CORRECTIONS
    ) -> tuple[Linearization, str, float]:
        """Newton steps with the motors held, until forces balance; what is wrong there, if anything is; and how far out of
        balance the state itself is."""
        before, left, first = np.inf, np.inf, np.nan
        for correction in range(corrections + 1):
            here = self._linearized(state)
            model, margin = here.model, self._margin_of(here.model)
            first = model.unbalanced if correction == 0 else first
            if self._is_lost(model, margin):
                return here, "stability", first
            # next to a limit point the energy norm says little of a robot whose lengths are held
            better = model.length <= CONTRACTS * before or (self.motors.by_length and model.unbalanced <= 0.5 * left)
            if correction and not better:
                return here, "balance", first
            # near the loss of stability the pivots of a robot that is out of balance say little
            sharper = min(1.0, 4 * margin) ** 2 if margin > 0.0 else 1.0
            sharper = min(sharper, SHARPER) if model.negatives else sharper
            if model.unbalanced <= max(sharper * allowed, EXACTLY):
                return here, "", first
            if correction < corrections:
                kept = self.motors.kept(model)
                followed = here.follow(kept, largest_move=self._reach, kept=kept)
                state, before, left = followed.state, followed.length, model.unbalanced
                if followed.balance == 0.0:
                    return here, "balance", first
        return here, "patience", first

    def _margin_of(self, model: Condensed) -> float:
        return self.motors.margin(model) if self._tangent == "exact" else np.nan

    def _is_lost(self, model: Condensed, margin: float) -> bool:
        if self._tangent == "exact" and self.motors.excess(model) > 0:
            return True
        return margin < MARGIN and (not self._stands or margin < self._stands[-1].margin)

    def _learn(self, stride: Stride, model: Condensed, unbalanced: float) -> None:
        """What a step that ended in balance says about the next; whether it brought what it promised. One that was hardly out
        of balance, and nothing was in its way, did."""
        if stride.change == 0.0:
            return
        promised, share = True, np.nan
        if stride.aim is not None and not (self.trust.radius == np.inf and unbalanced <= SURE * BALANCED):
            was, hoped = self._promise(stride)
            if promised := self.trust.promises(was, hoped):
                now = self._off(model, self.motors.kept(model), self.question.goal(stride.aim.aims, model.references))
                share = (was**2 - now**2) / (was**2 - hoped**2)
                if share < USEFUL:
                    self.mistake = "progress"
                    return
        change = stride.after.efforts - self._stands[-1].state.efforts if self._stands else stride.after.efforts
        self.trust.accept(change, stride.change, share=share, shortened=stride.shortened, promised=promised)

    def _promise(self, stride: Stride) -> tuple[float, float]:
        """How far off the targets were before a step, and would be after it by its model; NaN where it had none."""
        aim = stride.aim
        if aim is None:
            return np.nan, np.nan
        return (
            self._off(aim.model, self.motors.kept(aim.model), aim.goal),
            self._off(aim.model, stride.after.efforts, aim.goal),
        )

    def _stand(self, here: Linearization, stride: Stride) -> Linearization:
        """On firm ground."""
        self.margin = self._margin_of(here.model)
        if stride.change == 0.0 and self._stands:
            self._stands.pop()
        self._stands = [*self._stands[1 - DEEPEST :], Stand(here.state, self.margin)]
        if self._returns:
            self._trail.add(here.state, self._effectors(here.model))
        return here

    def _back(self, state: State, stride: Stride) -> Linearization:
        """To where the robot stood, under the loads of now; or farther back, where there is no balance any more."""
        self._bend.mistake()
        small = stride.change <= SMALL * self.trust.largest
        if self._uncorrected is None and self.mistake != "progress" and small and self.margin < CLOSE:
            self._uncorrected = self.margin
            self.trust.redirect()
        if stride.aim is not None:
            if self._missed is not None and self._differ(stride.aim.aims, self._missed):
                self.trust.redirect()
            self._missed = stride.aim.aims
        self.trust.refuse(
            stride.change,
            self._promise(stride)[0],
            stability=self.mistake == "stability",
            progress=self.mistake == "progress",
        )
        while self._stands:
            if (found := self._balanced_as(self._stands.pop().state, state)) is not None:
                return self._stand(found, Stride(found.state))
        self.holds = True
        here = self.robot.linearize(state, tangent=self._tangent)
        self.is_unstable = self.mistake == "stability" and here.model.unbalanced <= BALANCED
        return here

    def _balanced_as(self, before: State, state: State) -> Linearization | None:
        """As the robot was before, under the loads of now; None where there is no balance any more."""
        own, efforts = np.concatenate([self.question.sought, self.question.given.rows]), state.efforts.copy()
        efforts[own] = before.efforts[own]
        here, wrong, _ = self._balanced(replace(before, efforts=efforts), EXACTLY, 3 * CORRECTIONS)
        return None if wrong else here

    def _differ(self, aims: Aims, others: Aims) -> bool:
        """Whether targets are others than before."""
        return any(np.abs(aims[name] - others[name]).max() > STIRRED * self._size for name in aims)

    def _rest_or_wake(self, model: Condensed, aims: Aims | None) -> None:
        """Wait where no step leads anywhere; go on when something else is asked for."""
        if len(self._given) and not np.array_equal(given := self.question.targets_given(), self._given):
            self._given = given
            self._begin_anew()
        creeps = self._hampered > HAMPERED and self.margin < CLOSE
        if self._resting is None and not (self.trust.leads_nowhere or creeps):
            return
        goal = np.zeros(0) if aims is None else self.question.weights * self.question.goal(aims, model.references)
        if self._resting is not None and np.abs(goal - self._resting).max(initial=0.0) > STIRRED * self._size:
            self._wake(np.inf if self.content else self.trust.largest / 16)
        cornered = self._resting is None and (self.trust.leads_nowhere or creeps)
        if cornered and not self._turns_back(model, goal, aims) and self.trust.leads_nowhere:
            self._resting = goal

    def _turns_back(self, model: Condensed, goal: Array, aims: Aims | None) -> bool:
        """Whether the robot leaves a corner, from where no step leads closer to a goal (e,), weighted, for a place of its way
        that was closer. From there it tries once more; when that ends in a corner again, the place is where it rests."""
        if not self._returns or aims is None:
            return False
        again = bool(self._turned_for) and not self._differ(aims, self._turned_for)
        self._hampered = 0
        if turned := self._trail.turn_back(self._effectors(model), goal):
            self._stays, self._turned_for = again, aims
        return turned

    def _returning(self, here: Linearization, state: State) -> Linearization:
        """On the way back, motors held."""
        self._stands, self.holds = [], True
        self._stand(here, Stride(here.state))
        self._stride = Stride(here.state)
        self._moved = float(np.abs(here.state.x - state.x).max())
        if not self._trail.returning and self._stays:
            self.trust.rest(stability=self.trust.stability or self.margin < CLOSE)
        elif not self._trail.returning:
            self.trust.wake(self.trust.largest / 16)
        return here

    def _effectors(self, model: Condensed) -> Array:
        """Where the effectors are, weighted rows (e,) [m]."""
        return np.asarray(self.question.weights * model.delta[self.question.wanted.rows])

    def _begin_anew(self) -> None:
        """Other loads or given displacements: the trail is that of another robot."""
        self._wake(np.inf)
        self._trail, self._turned_for = Trail(0.25 * self._reach), {}

    def _wake(self, radius: float) -> None:
        self._resting, self._hampered = None, 0
        self.trust.wake(radius)

    def _off(self, model: Condensed, efforts: Array, goal: Array) -> float:
        """How far the effectors are from their goal (e,) with these efforts, in balance: the norm of their weighted rows."""
        delta, question = model.predicted(efforts), self.question
        off = question.weights * (delta[question.wanted.rows] - goal)
        if not self.strict:
            return float(np.linalg.norm(off))
        own = delta[question.sought]
        return float(np.linalg.norm(off) + DEAR * np.abs(own - np.clip(own, *question.course.T)).sum())

    def expected(self, length: float) -> float:
        """Forces out of balance, over the largest load, after a motion of this length (`Bend`). Infinite where nothing is known
        and where lengths are held: next to a limit point the length says little."""
        return np.inf if self.motors.by_length else self._bend.expected(length)

    def ahead(self, model: Condensed, goal: Array) -> Array:
        """What to ask of the effectors now, (e,), on the straight way to where they are to be: as far as a step reaches."""
        places = model.predicted(self.motors.kept(model))[self.question.wanted.rows]
        far = math.hypot(*(self.question.weights * (goal - places)).tolist())
        return goal if far <= self._reach else places + (self._reach / far) * (goal - places)

    def leave(
        self,
        here: Linearization,
        efforts: Array,
        aims: Aims | None = None,
        goal: Array | None = None,
        *,
        told: bool = False,
    ) -> Followed:
        """Towards efforts (m,), as far as the radius allows; the share in the answer is of the whole change. aims: where
        effectors are to be; goal (e,): what that asks of their rows, where it is known; told: whether these efforts were
        decided elsewhere, by somebody who was told how far to go (`box`)."""
        model, trust, still = here.model, self.trust, self.holds or self.waits
        if self.strict and not still:
            efforts = self._hurried(model, efforts)
        kept = self.motors.kept(model)
        asked = self.motors.energy(model, efforts - kept)
        boxed = told and self._was_boxed(model, efforts - kept)
        self.content = asked <= NOWHERE * trust.largest and not boxed
        part = 1.0 if still or asked <= trust.radius else trust.radius / asked
        towards = kept if still else kept + part * (efforts - kept)
        reach, corrected = max(self._reach - self._moved, 1e-3 * self._reach), self._corrects(model)
        followed = here.follow(towards, largest_move=reach, kept=kept, corrected=corrected)
        if part < 1.0:
            followed = followed._replace(share=part * followed.share)
        if self.holds and self._stride is not None:
            self._stride = replace(self._stride, after=followed.state)
            return followed
        spent = followed.share <= EATEN * part  # all of the reach went into balance: nothing was tried
        aim, change = None, 0.0 if still or spent else followed.share * asked
        if not (still or spent) and aims is not None:
            aim = Aim(aims, self.question.goal(aims, model.references) if goal is None else goal, model)
        self._stride = Stride(
            followed.state, change, followed.length, followed.share < 1.0 or (boxed and not still), aim
        )
        return followed

    def _corrects(self, model: Condensed) -> bool:
        """Whether the next step takes out what is still out of balance; not from where that was a mistake."""
        if self._uncorrected is not None and self.margin > 2 * self._uncorrected:
            self._uncorrected = None
        return self._uncorrected is None or model.unbalanced > EXACTLY

    def _hurried(self, model: Condensed, efforts: Array) -> Array:
        """Efforts (m,) farther along the same way, within limits, where steps close in slowly."""
        question, change = self.question, efforts - model.efforts
        a, moved = question.sought, model.predicted(efforts) - model.predicted(model.efforts)
        if self.mistake or self.motors.energy(model, change) > min(self.trust.radius, NEAR * self.trust.largest):
            self._hurry.forget()
            return efforts
        most = min(
            room(efforts[a], change[a], question.effort),
            room(model.predicted(efforts)[a], moved[a], question.course),
        )
        own = moved[a] if self.motors.by_length else change[a] * np.sqrt(np.abs(np.diag(model.W)[a]))
        return model.efforts + self._hurry.factor(own, 1 + most) * change

    def box(self, model: Condensed) -> Array:
        """How far each sought effort may go from those of a model, (n,): for whoever decides by it without asking again."""
        if self.holds or self.waits:
            self._box = np.zeros(len(self.question.sought))
            return self._box
        own = np.abs(np.diag(self.motors.for_decisions(model).W)[self.question.sought])
        self._box = self.trust.radius / np.sqrt(len(own) * np.maximum(own, 1e-300))
        return self._box

    def _was_boxed(self, model: Condensed, change: Array) -> bool:
        """Whether a change of efforts (m,) is as small as it is because whoever decided it was told how far to go."""
        if self._box is None or self._box[0] == np.inf:
            return False
        return not self._box.any() or bool((np.abs(self.motors.decided(model, change)) > BOXED * self._box).any())


def room(values: Array, change: Array, limits: Array) -> float:
    """How many times a change (n,) fits between values (n,) and limits (n, 2), at least none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        ways = np.where(change > 0.0, limits[:, 1] - values, limits[:, 0] - values) / change
    return max(0.0, float(np.min(ways, where=change != 0.0, initial=np.inf)))
