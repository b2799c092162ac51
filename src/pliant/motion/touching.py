"""Contacts of a robot in one step through time."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pliant.contact import Contacts, Remembered
from pliant.robot import ExtraRows, Robot, State

Array = NDArray[np.float64]


class Touching:
    """What a robot may touch in a step of h seconds from a state: rows for it, efforts to begin with, and what is remembered.

    extra: all rows that come and go, the user's own first; state: the same with the efforts of those rows.
    """

    def __init__(self, robot: Robot, state: State, h: float, own: ExtraRows) -> None:
        ahead = state.x + h * state.v + h * h * robot.gravity
        self._robot = robot
        self._contacts: dict[str, Contacts] = {
            name: touch.contacts(state.x, ahead, state.contacts.get(name, Remembered.nothing()))
            for name, touch in robot.touches.items()
        }
        self._own = len(own)
        self.extra = own.with_contacts(tuple(self._contacts.values()))
        self.state = state
        if robot.touches:
            begin = state.extra[: self._own] if len(state.extra) >= self._own else np.zeros(self._own)
            forces = [part.forces.reshape(-1) for part in self._contacts.values()]
            self.state = replace(state, extra=np.concatenate([begin, *forces]))

    def ended(self, state: State) -> State:
        """The state after the step, with its contacts."""
        if not self._robot.touches:
            return state
        contacts, first = {}, self._own
        for name, own in self._contacts.items():
            forces = state.extra[first : first + 3 * len(own)].reshape(-1, 3)
            first += 3 * len(own)
            contacts[name] = self._robot.touches[name].remembered(own, forces, state.x)
        return replace(state, contacts=contacts, extra=state.extra[: self._own])

    def penetration(self, x: Array) -> float:
        """How deep a point of the robot is in what it touches with the nodes at x (n, 3), at most [m]."""
        deepest = (-touch.seen(x).gaps.min(initial=0.0) for touch in self._robot.touches.values())
        return max([0.0, *map(float, deepest)])
