"""A haptic device in simulated time: the same periods, models and guard as in real time, no clocks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.checks import number
from pliant.control.haptics import Haptics
from pliant.control.observer import Observer, measured_rows
from pliant.control.sensing_loop import SensingLoop
from pliant.device import SimulatedPlant
from pliant.errors import InputError
from pliant.robot import Role, State

Array = NDArray[np.float64]
Meddler = Callable[[float, Array], Array]


@dataclass(frozen=True)
class HapticRun:
    """What happened, a row per period: time [s]; pose x and wrench as sensed, with standard deviations, and as they truly were
    (e,) [m, rad; N, N m] (wrench: NaN where nobody holds it); goal (e,); commands (n,); how many limits held; the observer's
    status, by its number; the guard's flags; and whether the fixture was rendered."""

    time: Array
    x: Array
    x_deviations: Array
    true_x: Array
    wrench: Array
    wrench_deviations: Array
    true_wrench: Array
    goal: Array
    command: Array
    touching: NDArray[np.int64]
    observed: NDArray[np.int64]
    events: NDArray[np.int64]
    rendered: NDArray[np.bool_]

    def between(self, first: float, last: float) -> HapticRun:
        """The part from `first` to `last` [s]."""
        inside = (self.time >= first) & (self.time <= last)
        return HapticRun(**{name: value[inside] for name, value in vars(self).items()})


def render(
    haptics: Haptics,
    plant: SimulatedPlant,
    *,
    seconds: float,
    rate: float = 500.0,
    model_rate: float = 100.0,
    delay: float = 0.0,
    effector: str = "pose",
    hand: str = "hand",
    state: State | None = None,
    meddle: Meddler | None = None,
    render: bool = True,
) -> HapticRun:
    """Render on a plant for so long; it goes on from where it is.

    rate, model_rate [Hz]: of commands, and of models, which come one interval after what they were made of; delay [s]: of
    measurements; effector, hand: ports of the plant that judge; state: of the model at the start; meddle: what measurements
    (k,) become on their way at a time [s] (faults); render: False only observes, and the motors stay."""
    rate, model_rate = (
        number(rate, "rate", unit="Hz", above=0.0),
        number(model_rate, "model_rate", unit="Hz", above=0.0),
    )
    if not model_rate <= rate:
        raise InputError(f"model_rate is {model_rate} Hz, rate is {rate} Hz", remedy="give model_rate <= rate")
    rows = measured_rows(haptics.observer.labels, plant.wiring.measurements)
    late = round(number(delay, "delay", unit="s", least=0.0) * rate)
    slow = SensingLoop(haptics.robot, _twin(haptics.observer, haptics), state)
    begin, measured = plant.time, plant.measure().values[rows].copy()
    slow.settle(measured)
    slow.put(haptics.box, slow.here, stamp=0.0)
    haptics.box.newest()
    haptics.start(plant.motors)
    waiting, taken = [measured] * (late + 1), 0
    out: list[tuple[object, ...]] = []
    held = hand in plant.robot.named(Role.HELD)
    for tick in range(int(np.floor(seconds * rate))):
        now, interval = tick / rate, 1 / rate
        measured = plant.measure().values[rows].copy()
        waiting = [*waiting[1:], measured if meddle is None else meddle(now, measured)]
        seen = waiting[0]
        if int(now * model_rate + 1e-9) > taken:  # what was begun one interval ago is there, the next begins
            taken = int(now * model_rate + 1e-9)
            slow.put(haptics.box, slow.here, stamp=max(0.0, (taken - 1) / model_rate))
            haptics.box.newest()
            slow.cycle(seen)
        command = haptics.tick(now, seen, interval)
        truth = plant.robot.displacement(plant.state, effector)
        wrench = plant.robot.effort(plant.state, hand) if held else np.full(len(truth), np.nan)
        own, coupling = haptics.observer, haptics.coupling
        out.append((
            now, own.x.copy(), own.x_deviations.copy(), truth, own.wrench.copy(), own.wrench_deviations.copy(),
            wrench.copy(), coupling.goal.copy(), command.copy(), len(coupling.touching),
            list(type(own.status)).index(own.status), haptics.events, not haptics.fault,
        ))  # fmt: skip
        plant.advance(command if render else plant.motors.copy(), begin + (tick + 1) / rate + 1e-9)
    return HapticRun(*(np.array(column) for column in zip(*out, strict=True)))


def _twin(observer: Observer, haptics: Haptics) -> Observer:
    """An observer that is told the same, for the slow loop: each keeps what it measured last to itself."""
    parts, question = observer.question.wanted.parts, observer.question
    sigma = 1.0 / question.weights
    deviations = {name: float(sigma[rows][0]) for name, rows in parts.items()}
    most = question.effort[-len(observer.x) :, 1]
    return Observer(haptics.robot, deviations, motors=observer.motors, wrench=most, rates=observer.rates)
