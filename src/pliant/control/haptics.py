"""One period of a haptic device: observe, ask the fixture, render, filter, guard (koehler2023, section VIII).

observe   where the effector is and what the hand does, by sensors and the newest model           (`Observer`)
ask       where it should be, and under which wrench, for the hand to feel the fixture             (`Coupling`)
render    the motors' displacements that bring it there under that wrench: min |S (x - goal)|      (`Controller`; eqs. 26-29)
filter    a low-pass with a time constant, whatever the rate (eq. 30)
guard     bounds, rates; where nothing can be observed, or models are old, the command goes to the safe one   (`Guard`)
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import number, require_kind_of
from pliant.control.controller import Controller
from pliant.control.coupling import Coupling, Manner
from pliant.control.effector_places import EffectorPlaces
from pliant.control.fixtures import Fixture, FreeSpace
from pliant.control.model_box import ModelBox
from pliant.control.observer import Observer
from pliant.control.status import DecisionStatus
from pliant.device import Guard
from pliant.robot import Robot

Array = NDArray[np.float64]

FILTER = 0.006
"""Time constant of the low-pass [s], the paper's."""
LEAK = 0.02
"""Share of the hand's wrench that is not believed."""


class Haptics:
    """What a hand feels of a robot whose motors hold displacements. No clocks: whoever calls `tick` keeps the time.

    Of the last period: observer (pose, wrench, deviations), coupling (goal, assumed wrench, what is touched), status of the
    decision, events of the guard, and `fault`: why the command is not the fixture's, "" where it is."""

    def __init__(
        self,
        robot: Robot,
        deviations: Mapping[str, float],
        *,
        fixture: Fixture | None = None,
        manner: Manner = "hybrid",
        mobility: ArrayLike = 0.0,
        cap: ArrayLike | None = None,
        leak: float = LEAK,
        time_constant: float = FILTER,
        rates: Mapping[str, float] | None = None,
        guard: Guard | None = None,
        energy: float = 1e-6,
    ) -> None:
        """deviations, rates: as of `Observer`; fixture, manner, mobility, cap, leak: as of `Coupling`, by default free space
        and a cap of 20 N and 1 N m; time_constant [s]: of the low-pass, 0 for none; guard: by default one with the robot's
        limits; energy: weight of the motors' work, by which redundant ones agree."""
        require_kind_of(robot, "robot", Robot)
        self.robot = robot
        self.observer = Observer(robot, deviations, rates=rates)
        self.controller = Controller(robot, energy=energy, speed=np.inf)
        self.box = ModelBox(self.controller.question)
        self.places = EffectorPlaces(self.controller.question)
        self.time_constant = number(time_constant, "time_constant", unit="s", least=0.0)
        self.guard = Guard.of_robot(robot, "displacement") if guard is None else guard
        self._weights = self.controller.question.weights
        units = [robot.ports[name].port.displacement_units for name in self.controller.question.effectors]
        self._leak = leak
        self._cap = np.where(np.concatenate(units) == "rad", 1.0, 20.0) if cap is None else cap
        self.couple(FreeSpace() if fixture is None else fixture, manner=manner, mobility=mobility)
        self.status, self.events, self.fault = DecisionStatus.SOLVED, 0, ""
        self._filtered = self.guard.command.copy()
        self._good = -np.inf
        self._give_number, self._give = -1, np.zeros((len(self._weights),) * 2)

    def couple(self, fixture: Fixture, *, manner: Manner = "hybrid", mobility: ArrayLike = 0.0) -> None:
        """Render another fixture from the next period on."""
        require_kind_of(fixture, "fixture", Fixture)
        self.coupling = Coupling(
            fixture, self._weights, manner=manner, mobility=mobility, cap=self._cap, leak=self._leak
        )

    def start(self, command: Array) -> None:
        """Begin with the motors at displacements (n,)."""
        self.guard.command[:] = np.clip(command, self.guard.low, self.guard.high)
        self._filtered[:] = self.guard.command
        self.controller.displacements[:] = self.guard.command

    def tick(self, now: float, measured: Array, interval: float, *, age: float = 0.0) -> Array:
        """The command (n,) that may leave for the motors, by what was measured (k,), in the order of `observer.labels`, `age`
        seconds ago; interval [s]: since the last period."""
        seen = self.observer.observe(self.box.model, measured, interval=interval, number=self.box.number)
        self.fault = "" if seen.ok else seen.value
        if seen.ok:
            self._render(interval)
        if not self.fault:
            self._good = now - age
            share = -np.expm1(-interval / self.time_constant) if self.time_constant > 0 else 1.0
            self._filtered += share * (self.controller.displacements - self._filtered)
        held = now - self._good if np.isfinite(self._good) else self.guard.hold
        self.events = self.guard.check(self._filtered, now, max(now - self.box.stamp, held))
        if self.events:  # nothing winds up behind the guard
            self._filtered[:] = self.guard.command
            self.controller.displacements[:] = self.guard.command
        return self.guard.command

    def _render(self, interval: float) -> None:
        """Displacements of the motors for what the coupling asks."""
        model, observer, coupling = self.box.model, self.observer, self.coupling
        coupling.ask(observer.x, observer.wrench, self._compliance(), interval)
        here = self.places.targets(observer.rows, model.references)
        target = self.places.targets_from_rest(coupling.goal, here)
        model.efforts[self.controller.question.wanted.rows] = coupling.wrench
        self.status = self.controller.decide(model, target, interval)
        if not self.status.ok:
            self.fault = self.status.value

    def _compliance(self) -> Array:
        """Of the effector with its motors held, (e, e), by the model that is here."""
        if self._give_number != self.box.number:
            W, question = self.box.model.W, self.controller.question
            e, a = question.wanted.rows, question.sought
            held = np.linalg.solve(W[np.ix_(a, a)], W[np.ix_(a, e)])
            self._give, self._give_number = W[np.ix_(e, e)] - W[np.ix_(e, a)] @ held, self.box.number
        return self._give

    def close(self) -> None:
        """Let go of the box of models."""
        self.box.close()
