"""The inverse model: efforts that bring effectors to their targets (largilliere2015, section II).

A decision is a small QP (see decision.py). Ports with an imposed displacement are held exactly: their efforts are eliminated
from the model (`Condensed.holding`), and those that would leave their limits (a cable that would have to push) are let go at
the limit.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.algebra.condensed import Condensed
from pliant.algebra.qp import QuadraticSolution, solve_qp
from pliant.body.body import Tangent
from pliant.checks import number
from pliant.control.decision import RELAXATION, Decision, DecisionProblem
from pliant.errors import InputError, NotConvergedError, PliantError
from pliant.motion import Statics
from pliant.robot import Linearization, Robot, Role, State
from pliant.robot.diagnosis import hardest_load
from pliant.robot.equations import require_tangent

Array = NDArray[np.float64]


FARTHEST = 1e6
"""Targets beyond this are no targets, in whatever unit."""


class InverseStatus(Enum):
    """How a decision ended; the value is the explanation with its remedy."""

    SOLVED = "the efforts are optimal for the model"
    RELAXED = "the limits contradict each other; those named in `relaxed` were dropped, effort limits never are"
    SLOWED = "the step was shortened: the target is far off or out of reach, or the robot snaps; go on, or move it back"
    HELD = "the target or the interval is not a usable number; the last efforts are held"
    FAILED = "the model cannot be made here; the last efforts are held"
    NOT_CONVERGED = "the iteration limit was reached; raise max_iterations or move the target in smaller parts"

    @property
    def ok(self) -> bool:
        """Whether a decision was made."""
        return self in (InverseStatus.SOLVED, InverseStatus.RELAXED, InverseStatus.SLOWED)


@dataclass(frozen=True)
class _Answer:
    """What the QP says: the decision, the model that it was made with, limits dropped, and efforts of all rows."""

    decision: Decision
    solution: QuadraticSolution
    relaxed: tuple[str, ...]
    model: Condensed
    efforts: Array


@dataclass(frozen=True)
class InverseStep:
    """What `Inverse.step` or `Inverse.solve_pose` decided, and the state after it.

    status           how it ended, an `InverseStatus`; its value is the explanation with the remedy. `ok` says whether a
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
    rank, condition  of the scaled compliance from actuators to effectors: a rank below the number of effector rows means
                     that they cannot be moved independently
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

    status: InverseStatus
    state: State
    efforts: Mapping[str, Array]
    displacements: Mapping[str, Array]
    error: Mapping[str, Array]
    active: tuple[str, ...] = ()
    relaxed: tuple[str, ...] = ()
    rank: int = 0
    condition: float = float("nan")
    iterations: int = 1
    solution: QuadraticSolution | None = None
    times: Mapping[str, float] = field(default_factory=dict)
    cause: PliantError | None = None
    share: float = 1.0

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
        largest_move: float = 0.05,
    ) -> None:
        """energy: weight of the actuators' work relative to the tracking error; h: time step [s] of dynamic stepping, None
        for quasi-static; tangent: as in `Robot.linearize`; largest_move: how far a node may move in one quasi-static step, as
        a share of the robot's size (steps that would go farther are shortened: status SLOWED)."""
        self.robot = robot
        self._problem = DecisionProblem(robot, energy)
        self.actuators, self.effectors = self._problem.actuator_names, self._problem.effector_names
        if robot.remembering:
            raise InputError(
                f"{robot.remembering[0]!r} has friction, which the condensed model does not know",
                remedy="give the inverse a robot with a Cable instead, and keep the friction for the plant",
            )
        require_tangent(tangent)
        remedy = "give a positive share of the robot's size, or inf"
        largest_move = number(largest_move, "largest_move", above=0.0, endless=True, remedy=remedy)
        if h is not None:
            h = number(h, "the time step", unit="s", above=0.0, remedy="give a positive step, or None for statics")
        self.tangent, self.h = tangent, h
        self._made_for = robot.row_names
        self._reach = np.inf if h is not None else largest_move * robot.size
        self._warm: Array | None = None
        self._driven = robot.named(Role.DRIVEN)
        self._wary = [
            name
            for name in self.actuators
            if robot.ports[name].attachment.port.trusted_change(robot.ports[name].effort) is not None
        ]

    def step(self, state: State, *, interval: float | None = None, **targets: ArrayLike) -> InverseStep:
        """One decision and the state that follows from it (real time): linearize, condense, decide, update.

        targets: one per effector, in its unit and shape (a `Frame`: position and quaternion wxyz). interval [s]: since the
        last decision, for rate limits (default: the time step; without one, rates do not limit). A target or an interval that
        is not finite, or an interval below zero (a clock that was set back), holds the last efforts.
        """
        self.robot.require_unchanged(self._made_for, "inverse")
        try:
            aims = self._aims(targets)
            interval = self.h if interval is None else _duration(interval)
        except _NotANumber as error:
            return self._held(state, InverseStatus.HELD, error)
        try:
            here = self.robot.linearize(state, tangent=self.tangent, h=self.h)
        except PliantError as error:
            return self._held(state, InverseStatus.FAILED, error)
        model = here.model
        if not (np.isfinite(np.diag(model.W)).all() and np.isfinite(model.delta_free).all()):
            return self._held(state, InverseStatus.FAILED, self._meaningless(state))
        return self._decide(here, self._goal(aims, model), interval)

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

    def build(
        self, model: Condensed, target: Array, *, interval: float | None = None, drop: tuple[str, ...] = ()
    ) -> Decision:
        """The QP; target [e]: the displacements asked of all effector rows; `drop` leaves out kinds of limits (see
        `RELAXATION`)."""
        return self._problem.of(model, target, interval=interval, drop=drop, trust=self._trust(model))

    def _trust(self, model: Condensed) -> Array | None:
        """How far each actuator's effort may go from the model's [n], for ports whose model does not reach far."""
        if not self._wary:
            return None
        out = np.full(len(self._problem.actuators), np.inf)
        for name in self._wary:
            change = self.robot.ports[name].attachment.port.trusted_change(model.efforts[model.slices[name]])
            if change is not None:
                out[np.isin(self._problem.actuators, model.rows(name))] = change
        return out

    def _decide(self, here: Linearization, goal: Array, interval: float | None) -> InverseStep:
        state, model, begin = here.state, here.model, time.perf_counter()
        answer = self._solve(model, goal, interval)
        if not answer.solution.ok:
            return self._held(state, InverseStatus.FAILED, None)
        decision, solution, efforts = answer.decision, answer.solution, answer.efforts
        decided = time.perf_counter()
        after, share = here.follow(efforts, largest_move=self._reach)
        if share == 0.0:
            return self._held(state, InverseStatus.FAILED, self._too_far(state))
        times = dict(model.times) | {"decide": decided - begin, "update": time.perf_counter() - decided}
        predicted = model.delta + share * (model.predicted(efforts) - model.delta)
        efforts = after.efforts
        W_ea = answer.model.W[np.ix_(decision.effectors, decision.actuators)] * decision.scale
        singular = np.linalg.svd(W_ea, compute_uv=False)
        status = InverseStatus.SLOWED if share < 1 else InverseStatus.SOLVED
        return InverseStep(
            InverseStatus.RELAXED if answer.relaxed else status,
            after,
            {name: efforts[model.slices[name]] for name in self.actuators},
            {name: predicted[model.slices[name]] for name in self.actuators},
            self._errors(model, predicted, goal),
            tuple(decision.limit_names[k] for k in solution.active()),
            answer.relaxed,
            int((singular > 1e-6 * singular[0]).sum()),
            float(singular[0] / singular[-1]) if singular[-1] > 0 else np.inf,
            1,
            solution,
            times,
            share=share,
        )

    def _solve(self, model: Condensed, goal: Array, interval: float | None) -> _Answer:
        """The QP's answer; ports with an imposed displacement that would leave their effort limits are let go there."""
        if not self._driven:
            return self._solve_held(model, goal, interval, None)
        given = self._given(model)
        limits = np.concatenate([self.robot.ports[name].able for name in self._driven])
        rows = model.rows(*self._driven)
        at_limit = np.zeros(len(rows), int)
        for _ in range(2 * len(rows) + 2):
            efforts = model.efforts.copy()
            efforts[rows] = np.where(at_limit < 0, limits[:, 0], np.where(at_limit > 0, limits[:, 1], efforts[rows]))
            held = at_limit == 0
            answer = self._solve_held(replace(model, efforts=efforts), goal, interval, (rows[held], given[held]))
            if not answer.solution.ok:
                break
            short = model.predicted(answer.efforts)[rows] - given
            own = answer.efforts[rows]
            after = np.where(held, np.where(own < limits[:, 0], -1, np.where(own > limits[:, 1], 1, 0)), at_limit)
            after[(at_limit < 0) & (short < 0) | (at_limit > 0) & (short > 0)] = 0
            if np.array_equal(after, at_limit):
                break
            at_limit = after
        answer.efforts[rows] = np.clip(answer.efforts[rows], limits[:, 0], limits[:, 1])
        return answer

    def _given(self, model: Condensed) -> Array:
        """The displacements imposed on driven rows, from the references of the model."""
        return self._goal({name: self.robot.ports[name].displacement for name in self._driven}, model)

    def _solve_held(
        self, model: Condensed, goal: Array, interval: float | None, held: tuple[NDArray[np.intp], Array] | None
    ) -> _Answer:
        """The answer with some rows held; where limits contradict, without those of RELAXATION, one kind after the other."""
        whole, model = model, model if held is None else model.holding(*held)
        for k in range(len(RELAXATION) + 1):
            decision = self.build(model, goal, interval=interval, drop=RELAXATION[:k])
            warm = self._warm if self._warm is not None and len(self._warm) == len(decision.limit_names) else None
            solution = solve_qp(decision.problem, warm)
            if solution.ok:
                self._warm = solution.multipliers
                break
        efforts = whole.efforts.copy()
        if solution.ok:
            efforts[decision.actuators] = self._clipped(decision, solution)
            efforts = efforts if held is None else whole.efforts_holding(*held, efforts)
        return _Answer(decision, solution, RELAXATION[:k], model, efforts)

    @staticmethod
    def _clipped(decision: Decision, solution: QuadraticSolution) -> Array:
        """Efforts in their units, rounded into their limits."""
        problem = decision.problem
        return np.asarray(np.clip(solution.x, problem.lower, problem.upper) * decision.scale)

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
        self.robot.require_unchanged(self._made_for, "inverse")
        return self._converged(self._aims(targets), state, statics, tolerance, max_iterations)

    def _converged(
        self,
        aims: Mapping[str, Array],
        state: State | None,
        statics: Statics | None,
        tolerance: float,
        max_iterations: int,
    ) -> InverseStep:
        """See `solve_pose`."""
        statics = statics if statics is not None else Statics(self.robot, tolerance=1e-11)
        current = self._equilibrium(statics, self.robot.rest() if state is None else state)
        step = self._held(current, InverseStatus.NOT_CONVERGED, None)
        for iteration in range(1, max_iterations + 1):
            model = self.robot.linearize(current, tangent=self.tangent).model
            goal = self._goal(aims, model)
            answer = self._solve(model, goal, None)
            decision, solution, relaxed, proposal = answer.decision, answer.solution, answer.relaxed, answer.efforts
            if not solution.ok:
                return replace(step, status=InverseStatus.FAILED, iterations=iteration)
            merit = self._merit(current, aims)
            change = proposal - model.efforts
            size = np.abs(change[decision.actuators] / decision.scale).max()
            whole = np.abs(proposal[decision.actuators] / decision.scale).max()
            errors = self._errors(model, model.delta, goal)
            step = InverseStep(
                InverseStatus.RELAXED if relaxed else InverseStatus.SOLVED,
                current,
                {name: model.efforts[model.slices[name]] for name in self.actuators},
                {name: model.delta[model.slices[name]] for name in self.actuators},
                errors,
                tuple(decision.limit_names[k] for k in solution.active()),
                relaxed,
                iterations=iteration,
                solution=solution,
                times=model.times,
            )
            if size <= tolerance * max(whole, 1e-12):
                return step
            moved = self._shortened(statics, current, change, merit, aims)
            if moved is None:
                return step
            current = moved
        return replace(step, status=InverseStatus.NOT_CONVERGED)

    def _shortened(
        self, statics: Statics, current: State, change: Array, merit: float, aims: Mapping[str, Array]
    ) -> State | None:
        """The equilibrium after the longest part 1, 1/2, 1/4 ... of a change of efforts that lowers the error."""
        length = 1.0
        for _ in range(12):
            try:
                there = self._equilibrium(statics, current, current.efforts + length * change)
            except PliantError:
                there = None
            if there is not None and self._merit(there, aims) < merit * (1 - 1e-14):
                return there
            length *= 0.5
        return None

    def _merit(self, state: State, aims: Mapping[str, Array]) -> float:
        """Squared, weighted tracking error."""
        robot = self.robot
        errors = [robot.ports[name].weight * robot.shortfall(state, name, aims[name]) for name in self.effectors]
        return float(sum(error @ error for error in errors))

    def _equilibrium(self, statics: Statics, state: State, efforts: Array | None = None) -> State:
        """The equilibrium under given efforts, from a state next to it."""
        given: Array = self.robot.efforts
        actuators = self._problem.actuators
        given[actuators] = (state.efforts if efforts is None else efforts)[actuators]
        return statics.solve(state, efforts=given).require().state

    def _errors(self, model: Condensed, delta: Array, goal: Array) -> dict[str, Array]:
        out, begin = {}, 0
        for name in self.effectors:
            rows = model.slices[name]
            count = rows.stop - rows.start
            out[name] = delta[rows] - goal[begin : begin + count]
            begin += count
        return out

    def _goal(self, aims: Mapping[str, Array], model: Condensed) -> Array:
        """The displacements that the targets ask of all effector rows, [e], from the references of the model."""
        ports = self.robot.ports
        return np.concatenate(
            [
                ports[name].attachment.port.measured_from(model.references[name]).goal(aim)
                if name in model.references
                else aim
                for name, aim in aims.items()
            ]
        )

    def _aims(self, targets: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """The targets of all effectors as numbers."""
        unknown = set(targets) - set(self.effectors)
        if unknown:
            raise InputError(
                f"there is no effector {sorted(unknown)[0]!r}", remedy=f"choose among {', '.join(self.effectors)}"
            )
        aims = {}
        for name in self.effectors:
            if name not in targets:
                raise InputError(f"effector {name!r} has no target", remedy=f"give {name}=... ")
            try:
                aims[name] = self.robot.ports[name].port.as_target(targets[name])
            except InputError as error:
                raise InputError(f"effector {name!r}: {error.what}", remedy=error.remedy) from error
        for name, aim in aims.items():
            if not (np.abs(aim) < FARTHEST).all():
                raise _NotANumber(
                    f"target of {name!r} is {targets[name]}", remedy="give finite numbers, quaternions of length 1"
                )
        return aims

    def _held(self, state: State, status: InverseStatus, cause: PliantError | None) -> InverseStep:
        robot = self.robot
        efforts = {name: robot.effort(state, name) for name in self.actuators}
        nothing = {name: np.full(len(robot.ports[name].labels), np.nan) for name in self.effectors}
        displacements = {name: robot.displacement(state, name) for name in self.actuators}
        return InverseStep(status, state, efforts, displacements, nothing, cause=cause)


class _NotANumber(InputError):
    """A target, or an interval, that is not a usable number."""


def _duration(interval: float) -> float:
    """Seconds since the last decision, not negative."""
    if not isinstance(interval, (int, float, np.integer, np.floating)):
        raise InputError(f"the interval is {interval!r}", remedy="give seconds since the last decision")
    seconds = float(interval)
    if not 0 <= seconds < np.inf:
        raise _NotANumber(f"the interval is {seconds} s", remedy="give finite seconds since the last decision, >= 0")
    return seconds
