"""The inverse model: efforts that bring effectors to their targets (largilliere2015, section II).

A decision is a small QP on the condensed model (`Decider`); `Footing` leads the robot from one equilibrium to the next. This is
the way there and back: linearize, decide, follow, and say how it went.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.algebra.condensed import Condensed
from pliant.algebra.qp import QuadraticSolution
from pliant.algebra.qpcc import Search
from pliant.body.body import Tangent
from pliant.checks import number, single, whole
from pliant.control.contact_inverse import ContactInverse, Forces, require_time_step
from pliant.control.decider import Decider
from pliant.control.footing import BALANCED, SURE, THERE, Footing
from pliant.control.grip import held_grip
from pliant.control.inverse_step import InverseStep
from pliant.control.question import NotANumberError, Question
from pliant.control.status import DecisionStatus
from pliant.device.wiring import Kind, require_kind
from pliant.errors import InputError, NotConvergedError, PliantError
from pliant.motion import Statics
from pliant.motion.touching import Friction
from pliant.robot import Linearization, Robot, State
from pliant.robot.diagnosis import hardest_load
from pliant.robot.equations import require_tangent
from pliant.robot.linearization import Followed
from pliant.robot.time_step import Scheme, require_scheme

Array = NDArray[np.float64]

SLACKER = 100.0
"""How much farther than to targets that are reached a robot may be from its last place to count as arrived."""
HAIR = 1e-3
"""The share of its range by which a displacement may be past a limit and is asked back."""
STILL = 1e-6
"""A robot is at rest when a step moves no node by more than this share of its size."""


class Inverse:
    """The inverse of a robot: the efforts of its actuators that bring its effectors to their targets, within all limits.

    `step` is for real time: it linearizes the robot at a state, condenses it to delta = W lambda + delta_free, decides by a
    small QP, and returns an `InverseStep` with the efforts and the state that follows. Steps belong together: each is given the
    state of the last, looks what came of it, and goes on as far as that was good, so a target out of reach, or beyond where the
    robot is stable, is approached until no step leads closer, and there the robot rests (`Footing`). Any other state is a new
    beginning. `solve_pose` goes on until the *nonlinear* equilibrium is at the targets, or closest to them. Redundant actuators
    share the least work. Ports are taken as they are when the inverse is made: add actuators and effectors first.

    An arm of 100 mm lifts its tip by 1 mm with a cable:

    >>> import pliant as pl
    >>> mesh = pl.make.box((0.1, 0.02, 0.02), (10, 2, 2))
    >>> body = pl.TetBody(mesh, pl.Corotational(E=300e3, nu=0.4), density=1100, fixed=mesh.where(x_below=0))
    >>> robot = pl.Robot(body, gravity=(0, 0, -9.81))
    >>> tendon = pl.Cable([(0.01, 0.01, 0.018), (0.09, 0.01, 0.018)], pull=(-0.02, 0.01, 0.018))
    >>> robot.actuate("tendon", tendon, effort=(0, 10))  # [N]
    >>> robot.effect("tip", pl.Point(near=(0.1, 0.01, 0.01), axes="z"))  # its height [m]
    >>> inverse, state = pl.Inverse(robot), pl.Statics(robot).solve().require().state
    >>> height = robot.displacement(state, "tip")
    >>> for _ in range(5):  # in real time: one decision after the other
    ...     step = inverse.step(state, tip=height + 0.001)
    ...     state = step.state
    >>> step.status.name, step.efforts["tendon"].round(3)
    ('REACHED', array([0.177]))
    >>> pose = inverse.solve_pose(tip=height + 0.002)  # offline, from wherever
    >>> pose.status.name, pose.distance < 1e-9
    ('REACHED', True)
    """

    def __init__(
        self,
        robot: Robot,
        *,
        energy: float = 1e-8,
        tangent: Tangent = "exact",
        h: float | None = None,
        scheme: Scheme = "euler",
        largest_move: float = 0.05,
        kind: Kind = "effort",
        strict: bool = False,
        friction: Friction = "stick",
        sliding: bool = False,
        search: Search = "flips",
        grip: Forces | None = None,
        most_force: Forces | None = None,
    ) -> None:
        """energy: weight of the actuators' work relative to the tracking error, of robots that touch something that of all
        efforts; h: time step [s] of dynamic stepping, None
        for quasi-static; scheme: of such steps, as in `Robot.linearize` (decisions jump from step to step: backward Euler rings
        the least); tangent: as in `Robot.linearize`; largest_move: how far a node may move, and targets are looked ahead, in
        one quasi-static step, as a share of its size; kind: what motors hold between decisions, "effort" or "displacement":
        a robot that would buckle under given tensions need not under given lengths; strict: displacements that were
        led past their limits are asked back in the next quasi-static step, in place of staying there. Without a time step a
        step may take up to four linearizations to come into balance, or more where it was a mistake; usually it takes one.

        Of robots that touch something (`ContactInverse`), which need a time step, as loose ones do: friction: "stick"
        takes contacts to stick, whatever that takes; "cone" within Coulomb's cone; "none" lets them slip; sliding: those that
        cannot stick within their cone slide, in place of being without a cone; grip, most_force [N]: the
        least and the most that the normal forces of a touch add up to, by name; search: of the pieces that contacts are in,
        "flips", "paper" or "exact" (`pliant.algebra.qpcc`)."""
        self.robot, self._size = robot, robot.size
        self.question = Question(robot, touching=True)
        self.decider = Decider(self.question, energy)
        self.actuators, self.effectors = self.question.actuators, self.question.effectors
        require_tangent(tangent)
        require_kind(kind)
        remedy = "give a positive share of the robot's size, or inf"
        self._largest_move = number(largest_move, "largest_move", above=0.0, endless=True, remedy=remedy)
        if h is not None:
            h = number(h, "the time step", unit="s", above=0.0, remedy="give a positive step, or None for statics")
        self.tangent, self.h, self.kind, self.scheme = tangent, h, kind, require_scheme(scheme)
        require_time_step(robot, h)
        self._contact = None
        if h is not None and robot.touches:
            self._contact = ContactInverse(
                self.question, h=h, scheme=self.scheme, tangent=tangent, energy=energy, friction=friction,
                sliding=sliding, search=search,
                grip=grip or {}, most_force=most_force or {}
            )  # fmt: skip
        elif grip or most_force:
            raise InputError("the robot touches nothing to grip", remedy="add robot.touch(...) first, or leave it out")
        self._footing = None if h is not None else self._new_footing(self._largest_move, strict)

    def _new_footing(self, largest_move: float, strict: bool = False) -> Footing:
        return Footing(self.question, kind=self.kind, tangent=self.tangent, largest_move=largest_move, strict=strict)

    def step(self, state: State, *, interval: float | None = None, **targets: ArrayLike) -> InverseStep:
        """One decision and the state that follows from it (real time): linearize, condense, decide, update.

        targets: one per effector, in its unit and shape (a `Frame`: position and quaternion wxyz). interval [s]: since the
        last decision, for rate limits (default: the time step; without one, rates do not limit). A target or an interval that
        is not finite, or an interval below zero (a clock that was set back), holds the last efforts.
        """
        self.question.require_current("inverse")
        try:
            aims = self.question.aims(targets)
            interval = self.h if interval is None else single(interval, "the interval", unit="s")
            if interval is not None and not 0 <= interval < np.inf:
                remedy = "give finite seconds since the last decision, >= 0"
                raise NotANumberError(f"the interval is {interval} s", remedy=remedy)
        except NotANumberError as error:
            return self._held(state, DecisionStatus.HELD, error)
        if self._contact is not None:
            return self._touched(self._contact, state, aims, interval)
        return self._stepped(self._footing, state, aims, interval)

    def _touched(
        self, contact: ContactInverse, state: State, aims: Mapping[str, Array], interval: float | None
    ) -> InverseStep:
        """One step through time of a robot that touches something."""
        try:
            found = contact.step(state, aims, interval)
        except PliantError as error:
            return self._held(state, DecisionStatus.FAILED, error)
        if found is None:
            return self._held(state, DecisionStatus.FAILED, self._too_far(state))
        return found

    def estimate_grip(
        self, state: State, duration: float = 1.0, **targets: ArrayLike
    ) -> dict[str, tuple[float, float]]:
        """The least and the most [N] that the normal forces of each touch add up to while effectors are held at targets that
        can be reached (by default where they are), over the second half of `duration` [s]: what to ask as `grip` of a robot
        that holds something (coevoet2019, III-E)."""
        if self._contact is None:
            raise InputError(
                "the robot touches nothing to grip", remedy="add robot.touch(...) before the inverse is made"
            )
        here = {name: self.robot.displacement(state, name, as_target=True) for name in self.effectors}
        steps = whole(round(single(duration, "duration", unit="s") / self._contact.h), "steps in duration", least=2)
        return held_grip(self.step, state, steps, {**here, **targets}, tuple(self.robot.touches))

    def _stepped(
        self, footing: Footing | None, state: State, aims: Mapping[str, Array], interval: float | None
    ) -> InverseStep:
        """One step on a footing, or through time."""
        before = 0 if footing is None else footing.linearizations
        try:
            if footing is None:
                here = self.robot.linearize(state, tangent=self.tangent, h=self.h, scheme=self.scheme)
            else:
                here = footing.arrive(state, aims)
        except PliantError as error:
            return self._held(state, DecisionStatus.FAILED, error)
        if not math.isfinite(here.model.W.trace() + here.model.delta_free.sum()):
            return self._held(state, DecisionStatus.FAILED, self._meaningless(state))
        return self.decide(footing, here, aims, interval, 1 if footing is None else footing.linearizations - before)

    def _meaningless(self, state: State) -> PliantError:
        """The first port without a slope at this state, as an error."""
        ports = self.robot.ports.items()
        name = next((n for n, own in ports if not np.isfinite(own.attachment.at(state.x).slopes).all()), "unknown")
        return InputError(
            f"port {name!r} has no direction here", remedy="look at its points: two are in one place, or crushed"
        )

    def _too_far(self, state: State) -> PliantError:
        """Why not even a part of a step can be gone."""
        load = hardest_load(self.robot.equations, state.pose, self.robot.loads(state.efforts))
        return NotConvergedError(
            f"any step from here distorts elements beyond belief; {load} pulls hardest",
            remedy="begin from an equilibrium (Statics), or check the units of loads, limits and moduli",
        )

    def decide(
        self,
        footing: Footing | None,
        here: Linearization,
        aims: Mapping[str, Array],
        interval: float | None,
        iterations: int = 1,
    ) -> InverseStep:
        """The second half of a step: from where the robot was linearized, on a footing or through time, to where a decision
        for aims leads; iterations: linearizations so far."""
        state, model, begin = here.state, here.model, time.perf_counter()
        goal = self.question.goal(aims, model.references)
        status = self._answer(
            model if footing is None else footing.motors.for_decisions(model), goal, interval, footing
        )
        if not status.ok:
            return self._held(state, DecisionStatus.FAILED)
        efforts = self.decider.all_efforts(model.efforts)
        if footing is not None and footing.motors.by_length:
            efforts = footing.motors.led_by(model, self.decider.displacements, efforts)
        decided = time.perf_counter()
        followed = here.follow(efforts) if footing is None else footing.leave(here, efforts, aims, goal)
        if followed.balance == 0.0:
            return self._held(state, DecisionStatus.FAILED, self._too_far(state))
        after, solution = followed.state, self.decider.solution()
        delta = model.predicted(after.efforts)
        if not followed.corrected:
            delta -= model.predicted(model.efforts) - model.delta
        error = delta[self.question.wanted.rows] - goal
        active, others = self.decider.active(solution), {}
        if footing is not None:
            unbalanced = self._unbalanced(footing, model, followed)
            others = {"unbalanced": unbalanced, "margin": footing.margin}
            status, active = self._judged(status, active, footing, followed, error, unbalanced)
        times = dict(model.times) | {"decide": decided - begin, "update": time.perf_counter() - decided}
        return self._decided(
            status, after, delta, error, solution, active=active, times=times, share=followed.share,
            iterations=iterations, **others
        )  # fmt: skip

    def _unbalanced(self, footing: Footing, model: Condensed, followed: Followed) -> float:
        """Forces out of balance after a step, over the largest load: as expected where that is little, else looked at."""
        if followed.length == 0.0:
            return model.unbalanced
        before, after = (max(map(abs, efforts.tolist())) for efforts in (model.efforts, followed.state.efforts))
        expected = footing.expected(followed.length) * max(1.0, before / after if after > 0.0 else np.inf)
        return expected if expected <= SURE * BALANCED else self.robot.unbalanced(followed.state)

    def _judged(
        self,
        status: DecisionStatus,
        active: tuple[str, ...],
        footing: Footing,
        followed: Followed,
        error: Array,
        unbalanced: float,
    ) -> tuple[DecisionStatus, tuple[str, ...]]:
        """In a word, where a quasi-static step has led, and what holds the robot back."""
        off = math.hypot(*(self.question.weights * error).tolist())
        if footing.is_unstable:
            return DecisionStatus.UNSTABLE, ()
        if status is not DecisionStatus.SOLVED:
            return status, active
        if footing.waits or (followed.way <= STILL * self._size and followed.share == 1.0 and not footing.holds):
            if off <= THERE * self._size:
                return DecisionStatus.REACHED, active
            if footing.waits and not footing.content:  # what holds the decision back is not what holds the robot back
                active = ("stability",) if footing.trust.stability else ()
            return DecisionStatus.LIMITED if active else DecisionStatus.CLOSEST, active
        is_good = followed.share == 1.0 and unbalanced <= BALANCED and not (footing.holds or footing.mistake)
        return DecisionStatus.SOLVED if is_good else DecisionStatus.SLOWED, active

    def _decided(
        self,
        status: DecisionStatus,
        state: State,
        delta: Array,
        error: Array,
        solution: QuadraticSolution,
        **others: Any,
    ) -> InverseStep:
        """What the decider has decided, with displacements (m,) and errors (e,) as they are at the state."""
        decider, slices = self.decider, self.robot.equations.slices
        return InverseStep(
            status,
            state,
            {name: state.efforts[slices[name]] for name in self.actuators},
            {name: delta[slices[name]] for name in self.actuators},
            self._by_effector(error),
            relaxed=decider.relaxed if status is DecisionStatus.RELAXED else (),
            solution=solution,
            compliance=decider.compliance(),
            **others,
        )

    def _answer(self, model: Condensed, goal: Array, interval: float | None, footing: Footing | None) -> DecisionStatus:
        """How the decision for a goal (e,) ended; the answer is the decider's."""
        question, decider, desk = self.question, self.decider, self.decider.desk
        desk.course.wanted[:] = goal if footing is None else footing.ahead(model, goal)
        if question.given.parts:
            desk.holding.wanted[:] = question.goal_of_given(model.references)
        decider.efforts[:], decider.displacements[:] = model.efforts[question.sought], model.delta[question.sought]
        if footing is not None:  # what is past its limit may stay there, but not by a hair, nor where poses are sought
            inside = np.minimum(np.maximum(decider.displacements, question.course[:, 0]), question.course[:, 1])
            past = np.abs(decider.displacements - inside)
            if any(past.tolist()):
                hair = HAIR * np.ptp(question.course, axis=1)
                decider.displacements[:] = np.where((past > hair) & ~footing.strict, decider.displacements, inside)
        return decider.decide(question.numbers(model), -1.0 if interval is None else interval)

    def solve_pose(
        self,
        state: State | None = None,
        *,
        tolerance: float = 1e-9,
        max_iterations: int = 300,
        statics: Statics | None = None,
        **targets: ArrayLike,
    ) -> InverseStep:
        """Efforts whose *nonlinear* equilibrium is at the targets, or closest to them within all limits (offline).

        Steps like those of `step`, without rates and with displacements strictly within their limits, until one moves no node
        by more than `tolerance` of the robot's size (a hundred times that out of reach), or no step leads closer: REACHED,
        CLOSEST or LIMITED. The robot's own efforts stay as they are: what was found is in the answer's `efforts` and `state`.
        statics: finds where it begins.
        """
        self.question.require_current("inverse")
        self.robot.require_untouched("solve_pose", "take Inverse(robot, h=...).step, which goes through time")
        aims, tolerance = self.question.aims(targets), number(tolerance, "tolerance", above=0.0)
        state = self.robot.rest() if state is None else state
        begin = (Statics(self.robot) if statics is None else statics).solve(state, efforts=state.efforts)
        if not begin.ok:
            return self._held(state, DecisionStatus.FAILED, begin.error())
        footing, taken, state = self._new_footing(max(0.15, self._largest_move), strict=True), 0, begin.state
        for _ in range(whole(max_iterations, "max_iterations")):
            step = self._stepped(footing, state, aims, None)
            taken += step.iterations
            way = float(np.abs(step.state.x - state.x).max()) / self._size
            state = step.state
            # where targets are out of reach it closes in slowly, and what is left to gain is of second order
            enough = tolerance if step.status is DecisionStatus.REACHED else SLACKER * tolerance
            if not step.ok or (
                step.status.at_rest and (way <= enough or (footing.waits and step.unbalanced <= enough))
            ):
                return replace(step, iterations=taken)
        return replace(step, status=DecisionStatus.NOT_CONVERGED, iterations=taken)

    def _by_effector(self, rows: Array) -> dict[str, Array]:
        """Rows (e,) of all effectors by name."""
        return {name: rows[part] for name, part in self.question.wanted.parts.items()}

    def _held(self, state: State, status: DecisionStatus, cause: PliantError | None = None) -> InverseStep:
        """No decision, and the efforts as they are."""
        robot = self.robot
        efforts = {name: robot.effort(state, name) for name in self.actuators}
        displacements = {name: robot.displacement(state, name) for name in self.actuators}
        unknown = self._by_effector(np.full(len(self.question.wanted.rows), np.nan))
        return InverseStep(status, state, efforts, displacements, unknown, cause=cause)
