"""Newton's method: for equilibria, for steps through time, with held rows or without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pliant.body import Pose
from pliant.body.body import Tangent
from pliant.errors import PliantError
from pliant.motion.eased import eased
from pliant.motion.held import Held, HeldStep
from pliant.motion.increment import Increment
from pliant.motion.result import Status, StepResult
from pliant.motion.swirl import spins_of, swirled
from pliant.robot import State
from pliant.robot.diagnosis import diagnosis, hardest_load
from pliant.robot.distortion import Distortion
from pliant.robot.equations import EXACT, MIXED, Loads, Times
from pliant.robot.factored import Factored

Array = NDArray[np.float64]


FEW = 4
"""Directions in which the potential may be curved downwards for a step to be turned over along each."""
WATCHED = 8
"""Full steps in a row that may fail to lower the potential before the iteration goes back and takes a shorter one."""
STRAINED = 0.2
"""How much such a step may change the distance of neighbouring nodes, over that at rest."""
LONGEST = 0.25
"""How far a step may move a node, as a share of the robot's size; halved where that leads to a useless tangent."""
STRETCHED = 1e-3
"""The share of what is out of balance that a step may leave behind before that is looked after."""
CRAWLING = 1 / 64
"""The part of a step below which it is no progress worth its price."""
MOST_ESCAPES = 5
"""Unstable equilibria that are left on the way to a stable one."""


@dataclass(frozen=True)
class _Point:
    """Where the iteration is, and where one step leads.

    at: the factorized equations; efforts (m + k,); value and gradient on the nodes (n, 3) of what is minimized; allowed: force
    out of balance that counts as none [N], (nc, 1); move: the whole step; short: how far the held rows are off (k,); close:
    what of that counts as none (k,); off: what is out of balance or not where it is held, over what counts as none; moving:
    whether prescribed nodes are on their way.
    """

    at: Factored
    efforts: Array
    value: float
    gradient: Array
    allowed: Array
    move: HeldStep
    short: Array
    close: Array
    off: float
    moving: bool

    @property
    def is_usable(self) -> bool:
        """Whether the equations could be solved here."""
        return self.at.report.ok or (self.at.report.usable and self.at.definite)

    @property
    def is_balanced(self) -> bool:
        """Whether this is an equilibrium."""
        return not self.moving and (self.off <= 1.0 or self.at.is_rounding(self.move.step))


class Newton:
    """Newton's method from a pose and efforts on; no held rows is the plain case.

    Every stable equilibrium is a minimum, so a watchman looks at the value (Chamberlain et al. 1982). Whole steps are taken as
    long as one of `WATCHED` in a row leads below where they began; else it goes back there and shortens the step (Armijo).
    After one that went too far, the stretch that it has caused is taken out with one tangent (`eased`), but for rods, whose
    tangent knows of it already. Near the minimum,
    where differences of the value drown in rounding, a step that lowers what is out of balance is good as well. With held rows
    it looks at the exact penalty M = Pi0 + sum max(-low s, -high s), s = delta - d, of which every step is a direction
    downhill (of contacts with the work of friction, its normal forces being those at the end of the step); there a step that
    halves what is off (forces and displacements, each over its tolerance) is good too, so that curved constraints do not hold
    up the last iterations. Either way it comes to an end.

    The tangent may have negative eigenvalues. Those that held rows account for (`HeldStep.excess` is 0) belong to a minimum:
    past a limit point a held volume is stable though the pressure falls. Up to `FEW` more than that are turned over, so that
    the step leads downhill along them too; with more, far from any equilibrium, or where turning strains the elements too much
    at once, the tangent is mixed with the warped one.
    """

    def __init__(
        self,
        held: Held,
        times: Times,
        *,
        tangent: Tangent,
        tolerance: float,
        max_iterations: int,
        search: bool = True,
        weight: float = 1.0,
        increment: Increment | None = None,
        any_branch: bool = False,
        patience: float = np.inf,
    ) -> None:
        """tolerance: force out of balance that counts as none, relative to the largest at work; weight: a share of gravity;
        increment: the step through time, where an equilibrium is not what is sought; any_branch: an unstable equilibrium will
        do, so that only what is out of balance is looked at; patience: with mixed tangents or crawling, how many in a row."""
        self.held, self.search, self.tolerance, self.max_iterations = held, search, tolerance, max_iterations
        self._tangent, self._weight, self._times = tangent, weight, times
        self._any_branch, self._patience, self._swirls = any_branch, patience, False
        self._increment, self._step = increment, None if increment is None else increment.step
        self._equations, self._size, self._reach = held.robot.equations, held.robot.size, LONGEST
        self._predicts = self._equations.assembly.predicts

    def run(
        self,
        state: State,
        efforts: Array,
        pose: Pose | None = None,
        *,
        offset: Array | float = 0.0,
        prescribed: Array | None = None,
    ) -> StepResult:
        """From a state, with efforts (m + k,) and another pose to begin with where there is one.

        offset (k,): how far from the given displacements to stop (load steps); prescribed (p, 3): where those nodes go, in the
        first iteration.
        """
        pose = state.pose if pose is None else pose
        status, history, cause, warped, turned, escapes = Status.NOT_CONVERGED, [], None, 0, 0, 0
        relaxed, best, reference, hard, self._reach = 0, np.inf, None, 0, LONGEST
        for _ in range(self.max_iterations):
            here = self._point(pose, efforts, offset, prescribed)
            history.append(float(np.abs(here.at.on_coordinates(here.gradient)).max()))
            warped, length = warped + (not here.at.definite), 1.0
            turned += here.at.definite and here.move.excess > 0
            lost = not here.is_usable or (relaxed > 0 and not here.at.definite)
            if lost and relaxed == 0:
                status, cause = Status.FAILED, diagnosis(here.at)
                break
            if not lost and here.is_balanced:
                status, away = self._arrived(here, escapes)
                if away is None:
                    efforts = self.held.with_efforts(efforts, self.held.within(efforts[self.held.rows]))
                    break
                pose, relaxed, best, escapes = away, 0, np.inf, escapes + 1
                continue
            reference, best = here if relaxed == 0 or reference is None else reference, min(best, here.off)
            there = self._whole(here, prescribed)
            if relaxed > 0 and turned == 0 and not (lost or here.moving or self.held or self._predicts):
                there = self._eased(here, there)
            if here.moving or not self.search or (not lost and self._is_better(there, reference, offset, best)):
                relaxed = 0
            elif not lost and relaxed < WATCHED and self._is_sound(here, there):
                relaxed += 1
            elif lost and relaxed == 1 and turned == 0 and self._reach > LONGEST / 8:
                there = self._shorter_reach(reference)
            else:
                relaxed, shorter = 0, self._searched(reference, offset, best)
                if shorter is None:
                    status, pose, efforts = Status.STALLED, reference.at.pose, reference.efforts
                    break
                there, length = shorter
            pose, efforts = there
            hard = hard + 1 if not here.at.definite or length < CRAWLING else 0
            if hard > self._patience or (relaxed == 0 and not self._is_material(pose)):
                break
        margin = self._margin(here) if status is Status.CONVERGED and self._increment is None else np.nan
        if cause is None:
            status, cause = self._judged(status, state, pose, efforts)
        after = self._after(state, pose, efforts) if cause is None else state
        residual = history[-1] if history else np.nan
        return StepResult(
            status, after, residual, len(history), self._times.seconds, tuple(history), cause, warped, turned, escapes,
            margin, here.move.missed
        )  # fmt: skip

    def _margin(self, here: _Point) -> float:
        """How far an equilibrium is from losing stability; held rows may keep it stable where the tangent does not."""
        report = here.at.report
        known = self._tangent == "exact" and here.at.definite and report.negatives == 0 and not self._swirls
        return report.smallest_ratio / self._equations.unloaded.pivot if known else np.nan

    def _after(self, state: State, pose: Pose, efforts: Array) -> State:
        """The state at a pose with efforts (m + k,), at rest or at the end of the step through time."""
        if self._step is None:
            return state.moved(pose, efforts)
        return self._step.ended(state, pose, efforts, smooth=not self.held.closes(state, efforts))

    def _arrived(self, here: _Point, escapes: int) -> tuple[Status, Pose | None]:
        """How it ended at an equilibrium, and where to go on from, where it is unstable and is to be left."""
        if self._increment is not None or self._swirls:
            return Status.CONVERGED, None
        excess = here.move.excess if self._tangent == "exact" else self._excess(here)
        if excess == 0:
            return Status.CONVERGED, None
        away = self._away(here) if not self._any_branch and escapes < MOST_ESCAPES else None
        return Status.UNSTABLE, away

    def _excess(self, here: _Point) -> int:
        """Ways of motion along which the potential is curved downwards, by the exact tangent, where another was used."""
        at = self._equations.factor(here.at.pose, self._loads(here.efforts), signed=True, times=self._times)
        if not at.report.usable:
            return 1
        return self.held.linear_step(at, -at.here.gradient, here.efforts).excess

    def _away(self, here: _Point) -> Pose | None:
        """Down the steepest way from an unstable equilibrium that keeps the held rows, as far as the value falls."""
        at = self._equations.factor(here.at.pose, self._loads(here.efforts), signed=True, times=self._times)
        down = self.held.descents(at, here.efforts) if at.report.usable else np.empty((0, 0))
        if not len(down):
            return None
        way = down[0].reshape(-1, 3)
        way = way / at.way_of(way)
        begin, length, found, lowest = here.value, 1e-3 * self._size, None, here.value
        side = min((1.0, -1.0), key=lambda sign: self._evaluated(at.moved(sign * length * way), here.efforts, at)[0])
        while 1e-8 * self._size < length < self._size:
            pose = at.moved(side * length * way)
            value, _ = self._evaluated(pose, here.efforts, at)
            if value < lowest:
                found, lowest, length = pose, value, 2 * length
            elif found is None:
                length /= 4
            else:
                break
        return found if lowest < begin else None

    def _whole(self, here: _Point, prescribed: Array | None) -> tuple[Pose, Array]:
        """Pose and efforts after the whole step, or as much of it as is not too far at once."""
        length = 1.0 if here.moving or not self.search else self._longest(here)
        target = prescribed if here.moving else None
        return here.at.moved(length * here.move.step, target), self._efforts_after(here, length)

    def _eased(self, here: _Point, there: tuple[Pose, Array]) -> tuple[Pose, Array]:
        """A step back from one that went too far, where the value falls, without the stretch that it leaves behind."""
        efforts = here.efforts
        value, gradient = self._evaluated(there[0], efforts, here.at)
        if not (value < here.value and here.at.imbalance(gradient, here.allowed) > STRETCHED * here.off):
            return there
        step = self._longest(here) * here.move.step
        ended = eased(here.at, step, here.gradient, here.allowed, lambda pose: self._evaluated(pose, efforts, here.at))
        return here.at.moved(ended), efforts

    def _longest(self, here: _Point) -> float:
        way = here.at.way_of(here.move.step)
        return min(1.0, self._reach * self._size / way) if way > 0.0 else 1.0

    def _shorter_reach(self, reference: _Point) -> tuple[Pose, Array]:
        """Half as far as a step that has led to where the tangent is of no use."""
        self._reach = 0.5 * min(self._reach, reference.at.way_of(reference.move.step) / self._size)
        return self._whole(reference, None)

    def _efforts_after(self, here: _Point, length: float) -> Array:
        now = here.efforts[self.held.rows]
        return self.held.with_efforts(here.efforts, now + length * (here.move.efforts - now))

    def _is_material(self, pose: Pose) -> bool:
        return Distortion.of(self._equations.assembly, pose.x, pose.x).is_material

    def _is_sound(self, here: _Point, there: tuple[Pose, Array]) -> bool:
        """Whether a step that is no progress may be one on the way to it: slender bodies turn a lot while their elements are
        hardly strained."""
        distortion = Distortion.of(self._equations.assembly, here.at.pose.x, there[0].x)
        return distortion.change < STRAINED and distortion.is_material and bool(np.isfinite(there[1]).all())

    def _judged(self, status: Status, state: State, pose: Pose, efforts: Array) -> tuple[Status, PliantError | None]:
        """The status, and why, where that is not to be believed."""
        distortion = Distortion.of(self._equations.assembly, state.x, pose.x)
        if distortion.is_material:
            return status, None
        load = hardest_load(self._equations, state.pose, self._loads(efforts))
        what = load if self._step is None else f"a step of {self._step.h:.3g} s under {load}"
        return Status.DIVERGED, distortion.error(what)

    def _loads(self, efforts: Array) -> Loads:
        return self.held.robot.loads(efforts, extra=self.held.extra, weight=self._weight)

    def _point(self, pose: Pose, efforts: Array, offset: Array | float, prescribed: Array | None) -> _Point:
        """Linearized at a pose under efforts (m + k,), with the step from there."""
        here = self._stepping(pose, efforts, offset, prescribed, EXACT)
        if (self._any_branch or self._swirls) and here.is_usable:
            return here
        if here.is_usable and here.move.excess == 0:
            return here
        if here.is_usable and 0 < here.move.excess <= FEW:
            turned = self._turned_over(here)
            if self._is_sound(turned, self._whole(turned, None)):
                return turned
        mixed = self._stepping(pose, efforts, offset, prescribed, MIXED)
        excess = here.move.excess if here.is_usable else 1  # singular: nobody can promise that it is stable
        return replace(mixed, move=replace(mixed.move, excess=excess))

    def _turned_over(self, here: _Point) -> _Point:
        """With the step's parts along the directions d in which the potential is curved downwards, d^T K d = -1, turned over: a
        Newton step goes uphill there. It is lengthened while the value falls: where the slope is small, as next to an unstable
        equilibrium, turning alone would only double the distance from there."""
        at, step = here.at, here.move.step
        down = self.held.descents(at, here.efforts)
        slopes = down @ at.on_coordinates(here.gradient).reshape(-1) * at.scale
        part = -(slopes @ down).reshape(step.shape)
        step, way = step + 2 * part, at.way_of(part)
        lowest, longer = self._evaluated(at.moved(step), here.efforts, at)[0], 3.0 * part
        while way > 0.0 and (way := 4 * way) < LONGEST * self._size:
            value, _ = self._evaluated(at.moved(step + longer), here.efforts, at)
            if not value < lowest:
                break
            lowest, step, longer = value, step + longer, 4 * longer
        return replace(here, move=replace(here.move, step=step))

    def _stepping(
        self, pose: Pose, efforts: Array, offset: Array | float, prescribed: Array | None, shares: Sequence[float]
    ) -> _Point:
        """With some share of the exact tangent."""
        self._times.mark("solve")
        held, damping = self.held, None if self._increment is None else self._increment.damping
        at = self._equations.factor(
            pose, self._loads(efforts), tangent=self._tangent, shares=shares, signed=shares is EXACT,
            step=self._step, damping=damping, times=self._times
        )  # fmt: skip
        if self._increment is None:
            value, gradient, largest = at.here.potential, at.here.gradient, at.largest_force()
        else:
            value, gradient, largest = self._increment.at(pose, at.here)
        force, moving = -gradient, False
        if prescribed is not None:
            shift = prescribed - pose.x[at.equations.assembly.prescribed]
            moving = bool(shift.any())
        if not at.report.usable:
            nothing = np.empty(0)
            move = HeldStep(np.full((at.equations.assembly.coordinate_count, 3), np.nan), nothing, nothing, nothing, 0)
            return _Point(at, efforts, value, gradient, nothing, move, nothing, nothing, np.inf, moving)
        if moving:
            force -= at.force_of_prescribed(shift) / at.scale
        allowed = np.maximum(self.tolerance * largest, at.force_rounding())
        move = held.linear_step(at, at.scale * force, efforts, offset)
        if not held and (spins := spins_of(at.placed, list(at.equations.slices.values()), efforts)) is not None:
            move, self._swirls = replace(move, step=swirled(at, at.scale * force, spins)), True
        close = self._close(move, efforts, allowed)
        short = held.shortfall(pose.x) - offset
        off = self._off(at.imbalance(gradient, allowed), short, efforts, move, close)
        return _Point(at, efforts, value, gradient, allowed, move, short, close, off, moving)

    def _evaluated(self, pose: Pose, efforts: Array, near: Factored) -> tuple[float, Array]:
        """Value and gradient on the nodes next to a point, measured as there."""
        here = self._equations.evaluate(pose, self._loads(efforts), near.placed)
        value, gradient = here.potential, here.gradient
        if self._increment is not None:
            value, gradient, _ = self._increment.at(pose, here)
        self._times.mark("search")
        return value, gradient

    def _close(self, move: HeldStep, efforts: Array, allowed: Array) -> Array:
        """Displacements that count as none, (k,): a share of what the efforts do, what the force that counts as none does,
        and rounding."""
        compliance = np.abs(np.diag(move.W))
        reach = compliance * np.maximum(np.abs(efforts[self.held.rows]), np.abs(move.efforts))
        rounding = 16 * np.finfo(float).eps * self._size
        return np.asarray(max(self.tolerance, 1e-12) * reach + compliance * allowed.max() + rounding)

    def _off(self, imbalance: float, short: Array, efforts: Array, move: HeldStep, close: Array) -> float:
        """What is out of balance or not where it is held, over what counts as none."""
        if not self.held:
            return imbalance if np.isfinite(imbalance) else np.inf
        violation = self.held.violation(short, efforts[self.held.rows], move.W)
        parts = np.append(violation / close, imbalance)
        return float(parts.max()) if np.isfinite(parts).all() else np.inf

    def _merit(self, here: _Point) -> tuple[float, float]:
        """Of a point, and its slope along the whole step from there; the penalty grows until that is downhill."""
        held, now = self.held, here.efforts[self.held.rows]
        slope = float(np.vdot(here.at.on_coordinates(here.gradient), here.move.step) + now @ here.move.moved)
        if not held:
            return here.value, slope
        held.bear(here.move.efforts)
        held.penalty = np.maximum(held.penalty, 2 * np.maximum(np.abs(now), np.abs(here.move.efforts)))
        own = held.penalty
        for larger in (2.0**k for k in range(12)):
            held.penalty = larger * own
            gain = held.barrier(here.short + here.move.moved) - held.barrier(here.short)
            if slope + gain < 0.0 or not here.at.report.negatives:
                break
        else:  # no penalty makes the step lead downhill: it must not grow from point to point for nothing
            held.penalty = own
            gain = held.barrier(here.short + here.move.moved) - held.barrier(here.short)
        return here.value + self._of_held(here.at.pose, here.efforts, here.short, here.at), slope + gain

    def _is_better(
        self, there: tuple[Pose, Array], reference: _Point, offset: Array | float, best: float, length: float = 1.0
    ) -> bool:
        """Whether a pose and efforts are progress, seen from the reference."""
        held, at = self.held, reference.at
        merit, slope = self._merit(reference)
        rounding = 1e-9 * (abs(merit) + abs(slope))
        pose, efforts = there
        value, gradient = self._evaluated(pose, efforts, at)
        short = held.shortfall(pose.x) - offset
        reached = value + self._of_held(pose, efforts, short, at)
        off = self._off(at.imbalance(gradient, reference.allowed), short, efforts, reference.move, reference.close)
        return bool(
            reached <= merit + 1e-4 * length * slope
            or (abs(reached - merit) <= rounding and off < reference.off)
            or (held and off <= 0.5 * best)
            or ((self._any_branch or self._swirls) and off < reference.off)
        )

    def _searched(
        self, reference: _Point, offset: Array | float, best: float
    ) -> tuple[tuple[Pose, Array], float] | None:
        """What the longest good step from a point leads to, of a half, a quarter ... of its length, and that length; None where
        none is good."""
        longest = self._longest(reference)
        for length in longest * 0.5 ** np.arange(1, 30):
            there = reference.at.moved(length * reference.move.step), self._efforts_after(reference, length)
            if self._is_better(there, reference, offset, best, length):
                return there, float(length)
        return None

    def _of_held(self, pose: Pose, efforts: Array, short: Array, near: Factored) -> float:
        """What the penalty has in place of the work of the held rows."""
        if not self.held:
            return 0.0
        work = efforts[self.held.rows] @ self.held.displacement(pose.x, near.placed)
        return float(work) + self.held.barrier(short)
