"""What sensors say of the effectors: where they are, and what pushes them (koehler2023, eqs. 17-22).

One more question to the condensed model delta = W lambda + delta_free. Sought are the efforts that nobody told: the wrench of
whoever holds the effectors, and the torques of motors that hold displacements. Wanted is what was measured, each row weighted
by the inverse of its standard deviation sigma:

    min over lambda_s   1/2 sum_r ((W lambda + delta_free - measured)_r / sigma_r)^2,    low <= lambda_s <= high

Efforts of motors that are told efforts are known. The answer gives the effectors' places W_e lambda + delta_free_e and, as its
wrench, their efforts. How well both are known follows from the sigmas, with P0 from the limits of the wrench:

    cov lambda_s = (W_ms^T diag(1/sigma^2) W_ms + P0)^-1,    cov x = W_es cov lambda_s W_es^T

The same observer stands at both rates: the slow loop linearizes where it says that the robot is, the fast one asks it between.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import as_numbers
from pliant.control.decider import Decider
from pliant.control.effector_places import EffectorPlaces
from pliant.control.question import ModelNumbers, Question, Wanted
from pliant.device.wiring import Kind, require_kind
from pliant.errors import InputError
from pliant.robot import Robot, Role

Array = NDArray[np.float64]

ENERGY = 1e-14
"""Weight of the efforts' work: next to nothing, so that the answer is one where sensors leave several."""
MISFIT = 6.0
"""Root mean square of what is left over, in standard deviations, beyond which measurements contradict each other."""


class ObserverStatus(Enum):
    """How an observation ended; the value is the explanation with its remedy."""

    OBSERVED = "all that was measured counts"
    WITHOUT_SOME = "some rows were not usable numbers or jumped; the others are enough, and deviations say so"
    CONTRADICTED = "what was measured contradicts the model by more than it can; look at encoders and calibration"
    BLIND = "too little was measured; the last observation stands"

    @property
    def ok(self) -> bool:
        """Whether there is an observation to act on."""
        return self in (ObserverStatus.OBSERVED, ObserverStatus.WITHOUT_SOME)


class SensingQuestion(Question):
    """Whose efforts are not known, and what was measured."""

    def __init__(self, robot: Robot, deviations: Mapping[str, float], motors: Kind, wrench: Array) -> None:
        """robot: with its effectors as effectors; wrench (e, 2): limits of what may push them."""
        super().__init__(robot)
        known = [*robot.named(Role.ACTUATOR), *robot.named(Role.SENSOR)]
        for name in deviations:
            if name not in known:
                raise InputError(f"{name!r} is not measured", remedy=f"choose among {', '.join(known)}")
        if not deviations:
            raise InputError("nothing is measured", remedy="give {port: standard deviation}")
        effectors, ports = self.wanted.rows, robot.ports
        self.of_effectors = effectors
        held = self.sought if motors == "displacement" else self.sought[:0]
        limits = self.effort if motors == "displacement" else self.effort[:0]
        self.known = self.sought[len(held) :]
        """Rows of efforts that are told."""
        self.sought = np.concatenate([held, effectors])
        self.wanted = Wanted(robot, tuple(deviations), self.reference_places)
        rows = [np.full(ports[name].port.given_rows, float(value)) for name, value in deviations.items()]
        sigma = np.concatenate(rows)
        if len(sigma) != len(self.wanted.rows) or not ((sigma > 0) & np.isfinite(sigma)).all():
            raise InputError(
                f"standard deviations are {dict(deviations)}", remedy="give positive numbers, of ports of rows"
            )
        self.weights = 1.0 / sigma
        self.effort = np.concatenate([limits, wrench])
        n = len(self.sought)
        self.course = np.tile([-np.inf, np.inf], (n, 1))
        self.effort_rate, self.displacement_rate = np.full(n, np.inf), np.full(n, np.inf)
        self.endless = self._boundless = np.full(n, np.inf)
        """As far as efforts may go from the model's."""
        self._wary = []


class Observer:
    """Where the effectors of a robot are, and what pushes them, by its sensors and a condensed model.

    rows (e,)            places of the effectors, as the model has them (rotations of frames: from its references)
    x (e,)               the same from rest, [m, rad]
    wrench (e,)          efforts on the effectors [N, N m]
    torques (n,)         of the actuators [their unit]
    x_deviations, wrench_deviations (e,)   standard deviations of both
    misfit               root mean square of what is left over, in standard deviations of the rows
    status, left_out     how it went, and the names of rows that were not usable
    """

    def __init__(
        self,
        robot: Robot,
        deviations: Mapping[str, float],
        *,
        motors: Kind = "displacement",
        wrench: ArrayLike | None = None,
        rates: Mapping[str, float] | None = None,
    ) -> None:
        """deviations: standard deviations of what is measured, displacements of actuators and sensors, by name; motors: what
        they hold, "displacement" (their torques are sought) or "effort" (known); wrench (e,): the most that may push each
        effector row [N, N m], by default 50 N and 5 N m; rates: how fast rows can change at most, per second, by name: what
        jumps is left out."""
        require_kind(motors)
        plain = Question(robot)
        units = [robot.ports[name].port.displacement_units for name in plain.effectors]
        default = np.where(np.concatenate(units) == "rad", 5.0, 50.0)
        most = np.broadcast_to(default if wrench is None else as_numbers(wrench), default.shape)
        if not ((most > 0) & np.isfinite(most)).all():
            raise InputError(f"wrench is {wrench!r}", remedy="give positive limits, one per effector row")
        self.motors: Kind = motors
        self.question = SensingQuestion(robot, deviations, motors, np.stack([-most, most], axis=1))
        self.decider = Decider(self.question, ENERGY)
        self.places = EffectorPlaces(plain)
        self._effectors = plain.wanted.rows
        self._actuators = plain.sought
        self.labels = tuple(robot.row_names[k] for k in self.question.wanted.rows)
        count, e = len(self.labels), len(self._effectors)
        self._prior = np.concatenate([np.zeros(len(self.question.sought) - e), 1.0 / most**2])
        fastest = {name: float(rate) for name, rate in (rates or {}).items()}
        unknown = sorted(set(fastest) - set(deviations))
        if unknown:
            raise InputError(f"{unknown[0]!r} has a rate and is not measured", remedy="leave it out")
        self.rates: dict[str, float] = fastest
        self._rates = np.full(count, np.inf)
        for name, rate in fastest.items():
            self._rates[self.question.wanted.parts[name]] = float(rate)
        self._last, self._since = np.full(count, np.nan), np.zeros(count)
        self._efforts, self._delta = np.zeros((2, len(robot.row_names)))
        self.usable = np.ones(count, bool)
        self.rows, self.x, self.wrench = np.zeros(e), np.zeros(e), np.zeros(e)
        self.torques = np.zeros(len(self._actuators))
        self.x_deviations, self.wrench_deviations = np.full(e, np.nan), np.full(e, np.nan)
        self.misfit, self.status = 0.0, ObserverStatus.BLIND
        self._reckoned: tuple[int, bytes] | None = None

    @property
    def left_out(self) -> tuple[str, ...]:
        """Names of rows that did not count in the last observation."""
        return tuple(label for label, own in zip(self.labels, self.usable.tolist(), strict=True) if not own)

    def observe(
        self,
        model: ModelNumbers,
        measured: Array,
        *,
        known: Array | None = None,
        interval: float = np.inf,
        number: int = -1,
    ) -> ObserverStatus:
        """By a model and what was measured (k,), in the order of `labels`. known (a,): efforts of motors that are told efforts;
        interval [s]: since the last measurement; number: of the model, by which it is known again (negative: it is not)."""
        if self.explain(model, measured, known=known, interval=interval) is ObserverStatus.BLIND:
            return self.status
        self.rows[:] = self._delta[self._effectors]
        self.x[:] = self.places.from_rest(self.rows, model.references)
        self.wrench[:], self.torques[:] = self._efforts[self._effectors], self._efforts[self._actuators]
        self._reckon(model, number)
        return self.status

    def explain(
        self, model: ModelNumbers, measured: Array, *, known: Array | None = None, interval: float = np.inf
    ) -> ObserverStatus:
        """The efforts that explain what was measured, and nothing else of `observe`: for whoever goes there."""
        self._sort_out(measured, interval)
        asked, wanted = self.decider.desk.asked, self.decider.desk.course.wanted
        asked.S[:] = np.where(self.usable, self.question.weights, 0.0)
        self.status = ObserverStatus.BLIND
        if self.usable.sum() < min(len(self._effectors), len(self.labels)):
            return self.status
        wanted[:] = np.where(self.usable, measured, 0.0)
        self._efforts[:] = model.efforts
        if known is not None and len(self.question.known):
            self._efforts[self.question.known] = known
        numbers = ModelNumbers(model.W, model.delta_free, self._efforts, model.references, self.question.endless)
        if not self.decider.decide(numbers, -1.0).ok:
            return self.status
        self._efforts[self.question.sought] = self.decider.efforts
        self._delta = model.W @ self._efforts + model.delta_free
        over = asked.S * (self._delta[self.question.wanted.rows] - wanted)
        self.misfit = float(np.sqrt(over @ over / max(1, int(self.usable.sum()))))
        if self.misfit > MISFIT:
            self.status = ObserverStatus.CONTRADICTED
        else:
            self.status = ObserverStatus.OBSERVED if self.usable.all() else ObserverStatus.WITHOUT_SOME
        return self.status

    def efforts(self) -> Array:
        """All efforts (m,) that the last observation leads to (the same array each time)."""
        return self._efforts

    def _sort_out(self, measured: Array, interval: float) -> None:
        """Which rows count: numbers that have not jumped since they last counted."""
        self._since += interval
        self.usable[:] = np.isfinite(measured)
        way = np.abs(measured - self._last)
        slack = 4.0 / self.question.weights
        jumped = way > self._rates * np.minimum(self._since, LONGEST) + slack
        self.usable &= ~(jumped & np.isfinite(self._last))
        self._last[self.usable] = measured[self.usable]
        self._since[self.usable] = 0.0

    def forget(self) -> None:
        """What was measured last does not count any more: believe again what jumped, after it was looked at."""
        self._last[:] = np.nan

    def _reckon(self, model: ModelNumbers, number: int) -> None:
        """Standard deviations, anew where the model or the rows that count are others."""
        key = number, self.usable.tobytes()
        if number >= 0 and key == self._reckoned:
            return
        self._reckoned = key
        W, s, e = model.W, self.question.sought, self._effectors
        J = self.decider.desk.asked.S[:, None] * W[np.ix_(self.question.wanted.rows, s)]
        P = J.T @ J + np.diag(self._prior)
        scale = 1.0 / np.sqrt(np.maximum(np.diag(P), 1e-300))
        ridge = 1e-14 * np.eye(len(s))  # for what no sensor tells of: its deviation is large, not infinite
        covariance = scale[:, None] * np.linalg.inv(scale[:, None] * P * scale + ridge) * scale
        of_x = W[np.ix_(e, s)]
        self.x_deviations[:] = np.sqrt(np.maximum(np.einsum("ij,jk,ik->i", of_x, covariance, of_x), 0.0))
        self.wrench_deviations[:] = np.sqrt(np.maximum(np.diag(covariance)[len(s) - len(e) :], 0.0))


LONGEST = 0.05
"""Seconds since a row last counted that one jump may make up for."""


def measured_rows(labels: Sequence[str], wiring_rows: Sequence[str]) -> NDArray[np.intp]:
    """Where an observer's rows are among those of a drive; an InputError where one is not measured."""
    missing = [label for label in labels if label not in wiring_rows]
    if missing:
        raise InputError(f"{missing[0]!r} is not measured by the drive", remedy="leave it out of the deviations")
    return np.array([list(wiring_rows).index(label) for label in labels])
