"""The slow loop of a two-rate controller: it keeps the condensed model of a robot up to date (largilliere2015, section III)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.condensed import Condensed
from pliant.algebra.limited import limited_efforts
from pliant.body.body import Tangent
from pliant.device.wiring import Kind
from pliant.errors import PliantError
from pliant.motion import beginning
from pliant.robot import Robot, Role, State

Array = NDArray[np.float64]


class ModelLoop:
    """The model of a robot, quasi-static, one linearization per cycle: the state goes where the last model says that the
    efforts applied since lead, and the model is made anew there. No clocks: whoever calls it keeps the time."""

    def __init__(
        self,
        robot: Robot,
        state: State | None = None,
        *,
        kind: Kind = "effort",
        tangent: Tangent = "warped",
        largest_move: float = 0.05,
    ) -> None:
        """state: where the robot is now (default: in balance under its efforts); kind: what the motors hold, and so what
        `cycle` is told; largest_move: how far a node may move in a cycle, as a share of the robot's size."""
        self.robot = robot
        self.state = beginning(robot) if state is None else state
        self._tangent, self.kind = tangent, kind
        self._reach = largest_move * robot.size
        self._here = robot.linearize(self.state, tangent=tangent)
        names = robot.named(Role.ACTUATOR)
        self._rows = self.model.rows(*names)
        self._limits = np.concatenate([robot.ports[name].able for name in names])
        self.failures = 0

    @property
    def model(self) -> Condensed:
        """The condensed model where the robot is."""
        return self._here.model

    def command(self) -> Array:
        """What the motors hold where the model is, efforts or displacements [n]."""
        return np.asarray((self.model.efforts if self.kind == "effort" else self.model.delta)[self._rows])

    def settle(self, command: Array, cycles: int = 40) -> None:
        """Go to where a command [n] leads, from wherever the model is: a start in the middle of a run. Ends when no node moves
        by more than 1e-4 of the robot's size in a cycle."""
        for _ in range(cycles):
            before = self.state
            if self.cycle(command) is None or np.abs(self.state.x - before.x).max() < 2e-3 * self._reach:
                return

    def cycle(self, command: Array) -> Condensed | None:
        """The model after a command was applied, efforts or displacements of all actuator rows [n]; None where it cannot be
        made there: then the state is as before, and the next cycle tries again from it.

        Motors that hold a displacement (the length of a cable) have whatever effort that takes by the model, within their
        limits: a robot that would buckle under given tensions need not under given lengths.
        """
        before = self.state
        try:
            if not np.isfinite(command).all():
                raise PliantError("the command is not a number", remedy="give one number per actuator row")
            after, share = self._here.follow(self._efforts(command), largest_move=self._reach)
            if share == 0.0:
                raise PliantError("the command would tear the robot", remedy="start again from the last good state")
            here = self.robot.linearize(after, tangent=self._tangent)
            model = here.model
            if not (np.isfinite(model.W).all() and np.isfinite(model.delta_free).all()):
                raise PliantError("the model is not a number", remedy="start again from the last good state")
        except PliantError:
            self.failures += 1
            self._here = self.robot.linearize(before, tangent=self._tangent)  # as it was
            return None
        self.state, self._here = after, here
        return model

    def _efforts(self, command: Array) -> Array:
        """Efforts of all port rows that a command leads to, by the model."""
        efforts: Array = self.model.efforts.copy()
        if self.kind == "effort":
            efforts[self._rows] = command
            return efforts
        efforts[self._rows] = 0.0
        W = self.model.W[np.ix_(self._rows, self._rows)]
        off = self.model.predicted(efforts)[self._rows] - command
        efforts[self._rows] = limited_efforts(W, off, self._limits, self.model.efforts[self._rows])
        return efforts
