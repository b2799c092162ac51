"""Contacts of a robot in one step through time."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pliant.contact import Contacts, Remembered
from pliant.motion.result import Status, StepResult
from pliant.robot import ExtraRows, Robot, State

Array = NDArray[np.float64]
Friction = Literal["none", "stick", "cone"]
"""What contacts are taken to do sideways: slip freely, stick whatever that takes, or stick within Coulomb's cone."""

MISSED = 1e-6
"""By how much, over the largest effort, contact forces may miss Coulomb's law and nothing is said."""
DEEP = 0.05
"""How deep a point may be in an obstacle after a step and nothing is said, over the edge of its skin."""
CLOSE = 1e-6
"""Gaps of contacts that bear, and depths, that count as none in an equilibrium, over the size of the robot."""


class Touching:
    """What a robot may touch on from a state: rows for it, efforts to begin with, and what is remembered.

    extra: all rows that come and go, the user's own first; contacts: by the name of their touch, in the order of their rows;
    state: the same with the efforts of those rows.
    """

    def __init__(self, robot: Robot, state: State, contacts: dict[str, Contacts], own: ExtraRows) -> None:
        self._robot, self.contacts = robot, contacts
        self._own, self._looked_at = len(own), state.x
        self.extra = own.with_contacts(tuple(self.contacts.values()))
        self.state = state
        if robot.touches:
            begin = state.extra[: self._own] if len(state.extra) >= self._own else np.zeros(self._own)
            forces = [part.forces.reshape(-1) for part in self.contacts.values()]
            self.state = replace(state, extra=np.concatenate([begin, *forces]))

    @classmethod
    def in_step(cls, robot: Robot, state: State, h: float, own: ExtraRows, friction: Friction = "cone") -> Touching:
        """In a step of h seconds; friction: what is decided about may stick without a cone, or slip freely."""
        if not robot.touches:
            return cls(robot, state, {}, own)
        ahead = state.x + h * state.v + h * h * robot.gravity
        contacts = {k: _movable(robot, t.contacts(state.x, ahead, _of(state, k))) for k, t in robot.touches.items()}
        if friction != "cone":
            mu = np.inf if friction == "stick" else 0.0
            contacts = {k: replace(own, friction=np.full(len(own), mu)) for k, own in contacts.items()}
        return cls(robot, state, contacts, own)

    @classmethod
    def at(cls, robot: Robot, state: State, x: Array, own: ExtraRows) -> Touching:
        """In an equilibrium on from a state that is close to nodes at x (n, 3): gaps are measured there, and slips from where
        points stick or are in the state."""
        contacts = {}
        for name, touch in robot.touches.items():
            found = _movable(robot, touch.contacts(x, x, _of(state, name)))
            began = np.einsum("cki,cj,cji->ck", found.frames, found.weights, state.x[found.nodes])
            origins = np.where(found.fresh[:, None] & np.array([False, True, True]), began, found.origins)
            contacts[name] = replace(found, origins=origins, depths=np.zeros(len(found)))
        out = cls(robot, state, contacts, own)
        out._looked_at = x
        return out

    def fits(self, state: State) -> bool:
        """Whether contacts are, with the nodes where a state has them, as far from what they touch as they were taken to be;
        what bodies do to each other acts where it was looked for, so between bodies nothing may have moved since."""
        close, ended = CLOSE * self._robot.size, self.ended(state)
        between = any(touch.obstacle is None for touch in self._robot.touches.values())
        if between and np.abs(state.x - self._looked_at).max() > close:
            return False
        for name, touch in self._robot.touches.items():
            found = _movable(self._robot, touch.contacts(state.x, state.x, ended.contacts[name]))
            bears = np.isin(ended.contacts[name].ids, found.ids[found.gaps < close])
            if (found.gaps < -close).any() or not bears.all():
                return False
        return True

    def ended(self, state: State) -> State:
        """The state after the step, with its contacts."""
        if not self._robot.touches:
            return state
        contacts, first = {}, self._own
        for name, own in self.contacts.items():
            forces = state.extra[first : first + 3 * len(own)].reshape(-1, 3)
            first += 3 * len(own)
            contacts[name] = self._robot.touches[name].remembered(own, forces, state.x)
        return replace(state, contacts=contacts, extra=state.extra[: self._own])

    def depths(self, state: State) -> tuple[float, bool]:
        """How deep points are inside what they touch at a state [m], and whether that is worth a word."""
        deepest, inside = 0.0, False
        for touch in self._robot.touches.values():
            depth = -float(touch.seen(state.x).gaps.min(initial=0.0))
            deepest, inside = max(deepest, depth), inside or depth > DEEP * touch.edge
        return deepest, inside

    def judged(self, result: StepResult) -> StepResult:
        """A step that was taken, with how deep points are inside obstacles after it, and what its status has to say of that."""
        deepest, inside = self.depths(result.state)
        status = Status.INSIDE if inside else Status.ROUGH if result.missed > MISSED else result.status
        return replace(result, status=status, penetration=deepest)


def _movable(robot: Robot, contacts: Contacts) -> Contacts:
    """Those contacts whose gaps anything can change: what is held on both sides stays as it is, whatever pushes."""
    moves = robot.equations.assembly.coordinates_per_node > 0
    able = (moves[contacts.nodes] & (contacts.lifting != 0.0)).any(axis=1)
    return contacts if able.all() else contacts.chosen(able)


def _of(state: State, name: str) -> Remembered:
    return state.contacts.get(name, Remembered.nothing())
