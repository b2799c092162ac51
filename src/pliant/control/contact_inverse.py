"""One step through time of a robot that touches something: what it may touch, the decision, and the state that follows."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.qpcc import Search
from pliant.body.body import Tangent
from pliant.checks import number, one_of
from pliant.control.contact_decider import ContactDecider
from pliant.control.contact_problem import ContactProblem
from pliant.control.inverse_step import InverseStep
from pliant.control.question import Question
from pliant.control.status import DecisionStatus
from pliant.errors import InputError
from pliant.motion.touching import Friction, Touching
from pliant.robot import Robot, State
from pliant.robot.extra import NO_ROWS
from pliant.robot.time_step import Scheme

Array = NDArray[np.float64]
Forces = Mapping[str, float]

STILL, THERE = 1e-6, 1e-5
"""Shares of the robot's size: nodes that move less in a step are at rest, effectors that are closer are at their targets."""
LATE = 0.5
"""Share of the step by which the time of a state may differ from that at the end of the last step and goes on from it."""


class ContactInverse:
    """The inverse of a robot that touches something, by steps of h seconds (coevoet2019).

    friction: "stick" takes a contact that bears to stick, whatever that takes; "cone" within a polygon in Coulomb's cone;
    "none" lets it slip. The contacts are found, and remembered by the states, as those of `Dynamics`.
    """

    def __init__(
        self,
        question: Question,
        *,
        h: float,
        scheme: Scheme,
        tangent: Tangent,
        energy: float,
        friction: Friction,
        search: Search,
        sliding: bool,
        grip: Forces,
        most_force: Forces,
    ) -> None:
        self.question, self.robot, self.h = question, question.robot, h
        self._scheme: Scheme = scheme
        self._tangent: Tangent = tangent
        self.friction: Friction = one_of(friction, "friction", ("none", "stick", "cone"))
        forces = _limits(grip, most_force)
        self.decider = ContactDecider(
            question, energy=energy, search=search, forces=forces, frictionless=friction == "none", sliding=sliding
        )
        self._time: float | None = None

    def step(self, state: State, aims: Mapping[str, Array], interval: float | None) -> InverseStep | None:
        """The decision for aims and the state after it; None where the robot has no usable model here."""
        if self._time is None or abs(state.time - self._time) > LATE * self.h:
            self.decider.releases.forget()
        self._time = state.time + self.h
        begin = time.perf_counter()
        touching = Touching.in_step(self.robot, state, self.h, NO_ROWS, self.friction)
        found = time.perf_counter()
        here = self.robot.linearize(
            touching.state, tangent=self._tangent, h=self.h, scheme=self._scheme, extra=touching.extra
        )
        model = here.model
        if not math.isfinite(model.W.trace() + model.delta_free.sum()):
            return None
        linearized = time.perf_counter()
        goal = self.question.goal(aims, model.references)
        rows = self.decider.rows_per_contact
        problem = ContactProblem(self.question, model, touching, goal, self.decider.forces, interval, rows)
        efforts, contact = self.decider.decide(problem, interval)
        decided = time.perf_counter()
        followed = here.follow(efforts, smooth=not _closes(model.efforts, efforts, len(self.question.row_names)))
        if followed.balance == 0.0:
            return None
        after = touching.ended(followed.state)
        depth, inside = touching.depths(after)
        delta = model.predicted(efforts)
        error = delta[self.question.wanted.rows] - goal
        active, relaxed = self.decider.active(efforts, delta), self.decider.relaxed
        way = float(np.abs(after.x - state.x).max())
        times = dict(model.times) | {
            "detect": found - begin, "decide": decided - linearized, "search": contact.seconds,
            "update": time.perf_counter() - decided
        }  # fmt: skip
        slices = self.robot.equations.slices
        return InverseStep(
            self._judged(way, error, active, relaxed, followed.share),
            after,
            {name: efforts[slices[name]] for name in self.question.actuators},
            {name: delta[slices[name]] for name in self.question.actuators},
            {name: error[part] for name, part in self.question.wanted.parts.items()},
            active=active,
            relaxed=relaxed,
            times=times,
            share=followed.share,
            compliance=self.decider.compliance(efforts),
            contact=replace(contact, penetration=depth, inside=inside),
        )

    def _judged(
        self, way: float, error: Array, active: tuple[str, ...], relaxed: tuple[str, ...], share: float
    ) -> DecisionStatus:
        """In a word, how a step ended that moved no node by more than `way` [m]."""
        size = self.robot.size
        if relaxed:
            return DecisionStatus.RELAXED
        if share < 1.0:
            return DecisionStatus.SLOWED
        if way > STILL * size:
            return DecisionStatus.SOLVED
        if float(np.linalg.norm(self.question.weights * error)) <= THERE * size:
            return DecisionStatus.REACHED
        return DecisionStatus.LIMITED if active else DecisionStatus.CLOSEST


def _closes(before: Array, after: Array, first: int) -> bool:
    """Whether a contact bears after a step that bore nothing before it: an impact."""
    return bool(((before[first::3] <= 0.0) & (after[first::3] > 0.0)).any())


def _limits(grip: Forces, most_force: Forces) -> dict[str, tuple[float, float]]:
    """Limits of the sum of the normal forces of touches [N], from the least and the most."""
    out = {}
    for name in (*grip, *(own for own in most_force if own not in grip)):
        low = number(grip.get(name, 0.0), f"grip of {name!r}", unit="N", least=0.0)
        high = number(most_force.get(name, np.inf), f"most_force of {name!r}", unit="N", above=0.0, endless=True)
        if low > high:
            raise InputError(
                f"touch {name!r} is to press with {low:g} N at least and {high:g} N at most",
                remedy="give a grip below most_force",
            )
        out[name] = (low, high)
    return out


def require_time_step(robot: Robot, h: float | None) -> None:
    """Raise an InputError for a robot that only moves through time, without a time step."""
    if h is None and robot.touches:
        raise InputError(
            f"the robot touches something ({next(iter(robot.touches))!r}), and contact is decided about through time",
            remedy="give the inverse a time step: Inverse(robot, h=0.01)",
        )
    if h is None and not robot.is_supported:
        raise InputError(
            "nothing holds the robot or a part of it, so it has no equilibrium to step to",
            remedy="give the inverse a time step: Inverse(robot, h=0.01)",
        )
