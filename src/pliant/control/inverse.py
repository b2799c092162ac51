"""The inverse model: efforts that bring effectors to their targets (largilliere2015, section II).

A decision is a small QP on the condensed model (`Decider`); this is the way there and back: linearize, decide, follow.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.algebra.condensed import Condensed
from pliant.algebra.qp import QuadraticSolution
from pliant.body.body import Tangent
from pliant.checks import number, single
from pliant.control.decider import Decider
from pliant.control.question import NotANumberError, Question
from pliant.control.status import DecisionStatus
from pliant.errors import InputError, NotConvergedError, PliantError
from pliant.motion import Statics
from pliant.robot import Linearization, Robot, State
from pliant.robot.diagnosis import hardest_load
from pliant.robot.equations import require_tangent
from pliant.robot.time_step import Scheme, require_scheme

Array = NDArray[np.float64]


@dataclass(frozen=True)
class InverseStep:
    """What `Inverse.step` or `Inverse.solve_pose` decided, and the state after it.

    status           how it ended, a `DecisionStatus`; its value is the explanation with the remedy. `ok` says whether a
                     decision was made, `require()` raises where none was
    state            the robot after the decision: give it to the next step
    efforts          by actuator, in its unit (N, Pa, N m): what a motor is told that takes efforts
    displacements    by actuator, in its unit (m, m^3, rad): what goes with the efforts by the model, for a motor that winds
                     up cable
    error            by effector: where it is minus its target, as the model predicts it; `distance` is the norm of all
    active           limits that hold the robot back, such as "tendon effort"
    relaxed          limits that contradict each other and were dropped; never those of efforts
    share            part of the way to the decision that was gone, less than 1 where the step was shortened (SLOWED)
    iterations       1 for a step; linearizations of a pose
    times            seconds per stage: assemble, ports, factor, condense, decide, update
    compliance       from scaled efforts of the actuators to the effectors, (e, n), None where there is no decision
    rank, condition  of the compliance: a rank below the number of effector rows means that they cannot be moved independently
    solution         the QP's own answer with its residuals
    cause            the error behind FAILED

    The robot of the example of `Inverse`: what it says when its target is out of reach, and when it is no target at all.

    >>> import pliant as pl
    >>> mesh = pl.make.box((0.1, 0.02, 0.02), (10, 2, 2))
    >>> body = pl.TetBody(mesh, pl.Corotational(E=300e3, nu=0.4), density=1100, fixed=mesh.where(x_below=0))
    >>> robot = pl.Robot(body, gravity=(0, 0, -9.81))
    >>> tendon = pl.Cable([(0.01, 0.01, 0.018), (0.09, 0.01, 0.018)], pull=(-0.02, 0.01, 0.018))
    >>> robot.actuate("tendon", tendon, effort=(0, 0.2))  # a weak motor: 0.2 N
    >>> robot.effect("tip", pl.Point(near=(0.1, 0.01, 0.01), axes="z"))
    >>> inverse, state = pl.Inverse(robot), pl.Statics(robot).solve().require().state
    >>> step = inverse.step(state, tip=robot.displacement(state, "tip") + 0.003)
    >>> step.status.name, step.active, step.efforts["tendon"]
    ('SOLVED', ('tendon effort',), array([0.2]))
    >>> (1e3 * step.error["tip"]).round(1)  # it stays 1.9 mm below
    array([-1.9])
    >>> step = inverse.step(state, tip=float("nan"))
    >>> step.ok, step.status.value
    (False, 'the target or the interval is not a usable number; the last efforts are held')
    """

    status: DecisionStatus
    state: State
    efforts: Mapping[str, Array]
    displacements: Mapping[str, Array]
    error: Mapping[str, Array]
    active: tuple[str, ...] = ()
    relaxed: tuple[str, ...] = ()
    iterations: int = 1
    solution: QuadraticSolution | None = None
    times: Mapping[str, float] = field(default_factory=dict)
    cause: PliantError | None = None
    share: float = 1.0
    compliance: Array | None = None

    @cached_property
    def _singular(self) -> Array:
        """Singular values of the compliance, from the largest to the smallest."""
        if self.compliance is None:
            return np.array([np.nan])
        return np.asarray(np.linalg.svd(self.compliance, compute_uv=False))

    @property
    def rank(self) -> int:
        """Of the compliance from actuators to effectors."""
        return int((self._singular > 1e-6 * self._singular[0]).sum())

    @property
    def condition(self) -> float:
        """Of the compliance from actuators to effectors: its largest singular value over its smallest."""
        return float(self._singular[0] / self._singular[-1]) if self._singular[-1] != 0 else np.inf

    @property
    def ok(self) -> bool:
        """Whether a decision was made."""
        return self.status.ok

    @property
    def distance(self) -> float:
        """Norm of the error of all effector rows, in their own units (metres and radians add up as they are)."""
        return float(np.sqrt(sum(float(e @ e) for e in self.error.values())))

    def require(self) -> InverseStep:
        """Itself if ok; raises otherwise."""
        if self.ok:
            return self
        if self.cause is not None:
            raise self.cause
        raise NotConvergedError(f"inverse: {self.status.name.lower()}", remedy=self.status.value, result=self)


class Inverse:
    """The inverse of a robot: the efforts of its actuators that bring its effectors to their targets, within all limits.

    `step` is for real time: it linearizes the robot at a state, condenses it to delta = W lambda + delta_free, decides by a
    small QP, and returns an `InverseStep` with the efforts and the state that follows. `solve_pose` repeats that until the
    *nonlinear* equilibrium is at the targets. A target out of reach gives the closest point; redundant actuators share the
    least work. Ports are taken as they are when the inverse is made: add actuators and effectors to the robot first.

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
    >>> step = inverse.step(state, tip=height + 0.001)
    >>> step.status.name, step.efforts["tendon"].round(3)
    ('SOLVED', array([0.179]))
    >>> pose = inverse.solve_pose(state, tip=height + 0.001)  # until it converges: the tension is a little less
    >>> pose.efforts["tendon"].round(3), pose.distance < 1e-9
    (array([0.177]), True)
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
    ) -> None:
        """energy: weight of the actuators' work relative to the tracking error; h: time step [s] of dynamic stepping, None
        for quasi-static; scheme: of such steps, as in `Robot.linearize` (decisions jump from step to step: backward Euler rings
        the least); tangent: as in `Robot.linearize`; largest_move: how far a node may move in one quasi-static step, as
        a share of the robot's size (steps that would go farther are shortened: status SLOWED)."""
        self.robot = robot
        self.question = Question(robot)
        self.decider = Decider(self.question, energy)
        self.actuators, self.effectors = self.question.actuators, self.question.effectors
        require_tangent(tangent)
        remedy = "give a positive share of the robot's size, or inf"
        largest_move = number(largest_move, "largest_move", above=0.0, endless=True, remedy=remedy)
        if h is not None:
            h = number(h, "the time step", unit="s", above=0.0, remedy="give a positive step, or None for statics")
        self.tangent, self.h, self.scheme = tangent, h, require_scheme(scheme)
        self._reach = np.inf if h is not None else largest_move * robot.size

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
        try:
            here = self.robot.linearize(state, tangent=self.tangent, h=self.h, scheme=self.scheme)
        except PliantError as error:
            return self._held(state, DecisionStatus.FAILED, error)
        if not math.isfinite(here.model.W.trace() + here.model.delta_free.sum()):
            return self._held(state, DecisionStatus.FAILED, self._meaningless(state))
        return self._decide(here, aims, interval)

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

    def _decide(self, here: Linearization, aims: Mapping[str, Array], interval: float | None) -> InverseStep:
        state, model, begin = here.state, here.model, time.perf_counter()
        status = self._answer(model, aims, interval)
        if not status.ok:
            return self._held(state, DecisionStatus.FAILED)
        efforts = self.decider.all_efforts(model.efforts)
        decided = time.perf_counter()
        after, share = here.follow(efforts, largest_move=self._reach)
        if share == 0.0:
            return self._held(state, DecisionStatus.FAILED, self._too_far(state))
        if status is DecisionStatus.SOLVED and share < 1:
            status = DecisionStatus.SLOWED
        delta = model.delta + share * (model.predicted(efforts) - model.delta)
        times = dict(model.times) | {"decide": decided - begin, "update": time.perf_counter() - decided}
        return self._decided(status, after, model, delta, times=times, share=share)

    def _decided(
        self, status: DecisionStatus, state: State, model: Condensed, delta: Array, **others: Any
    ) -> InverseStep:
        """What the decider has decided by a model, with displacements (m,) as they are at the state."""
        decider, slices, solution = self.decider, model.slices, self.decider.solution()
        return InverseStep(
            status,
            state,
            {name: state.efforts[slices[name]] for name in self.actuators},
            {name: delta[slices[name]] for name in self.actuators},
            self._by_effector(delta[self.question.wanted.rows] - decider.desk.course.wanted),
            decider.active(solution),
            decider.relaxed if status is DecisionStatus.RELAXED else (),
            solution=solution,
            compliance=decider.compliance(),
            **others,
        )

    def _answer(self, model: Condensed, aims: Mapping[str, Array], interval: float | None) -> DecisionStatus:
        """How the decision ended; the answer is the decider's."""
        question, decider, desk = self.question, self.decider, self.decider.desk
        desk.course.wanted[:] = question.goal(aims, model.references)
        desk.holding.wanted[:] = question.goal_of_given(model.references)
        decider.efforts[:], decider.displacements[:] = model.efforts[question.sought], model.delta[question.sought]
        return decider.decide(question.numbers(model), -1.0 if interval is None else interval)

    def solve_pose(
        self,
        state: State | None = None,
        *,
        tolerance: float = 1e-9,
        max_iterations: int = 60,
        statics: Statics | None = None,
        **targets: ArrayLike,
    ) -> InverseStep:
        """Efforts whose *nonlinear* equilibrium is at the targets, or closest to them within the limits (offline).

        Decisions and equilibria alternate; an update that does not lower the error is halved. Ends when the efforts change
        by less than `tolerance` of their size, or where no shorter update helps. The robot's own efforts stay as they are:
        what was found is in the answer's `efforts` and `state`.
        """
        self.question.require_current("inverse")
        aims = self.question.aims(targets)
        statics = statics if statics is not None else Statics(self.robot, tolerance=1e-11)
        state = self.robot.rest() if state is None else state
        current = self._equilibrium(statics, state, state.efforts)
        step = self._held(current, DecisionStatus.NOT_CONVERGED)
        decider, scale, sought = self.decider, self.decider.desk.problem.scale, self.question.sought
        for iteration in range(1, max_iterations + 1):
            model = self.robot.linearize(current, tangent=self.tangent).model
            status = self._answer(model, aims, None)
            if not status.ok:
                return replace(step, status=DecisionStatus.FAILED, iterations=iteration)
            step = self._decided(status, current, model, model.delta, iterations=iteration, times=model.times)
            change = decider.all_efforts(model.efforts) - model.efforts
            if np.abs(change[sought] / scale).max() <= tolerance * max(np.abs(decider.efforts / scale).max(), 1e-12):
                return step
            moved = self._shortened(statics, current, change, aims)
            if moved is None:
                return step
            current = moved
        return replace(step, status=DecisionStatus.NOT_CONVERGED)

    def _shortened(self, statics: Statics, current: State, change: Array, aims: Mapping[str, Array]) -> State | None:
        """The equilibrium after the longest part 1, 1/2, 1/4 ... of a change of efforts that lowers the error."""
        merit = self._merit(current, aims)
        for halvings in range(12):
            with suppress(PliantError):
                there = self._equilibrium(statics, current, current.efforts + 0.5**halvings * change)
                if self._merit(there, aims) < merit * (1 - 1e-14):
                    return there
        return None

    def _merit(self, state: State, aims: Mapping[str, Array]) -> float:
        """Squared, weighted tracking error."""
        robot = self.robot
        errors = [robot.ports[name].weight * robot.shortfall(state, name, aims[name]) for name in self.effectors]
        return float(sum(error @ error for error in errors))

    def _equilibrium(self, statics: Statics, state: State, efforts: Array) -> State:
        """The equilibrium under these efforts of the actuators, from a state next to it."""
        given: Array = self.robot.efforts
        given[self.question.sought] = efforts[self.question.sought]
        return statics.solve(state, efforts=given).require().state

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
