"""The controller at two rates in simulated time: the same decisions, no clocks, the same numbers every time."""

from __future__ import annotations

from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.body.body import Tangent
from pliant.checks import number, require_kind_of, single
from pliant.control.commander import Commander
from pliant.control.controller import Controller
from pliant.control.correction import Correction
from pliant.control.measured import Measured
from pliant.control.model_box import ModelBox
from pliant.control.model_loop import ModelLoop
from pliant.control.question import Question
from pliant.control.targets import Targets, as_targets
from pliant.control.trajectory import Trajectory
from pliant.device import Guard, SimulatedPlant
from pliant.errors import InputError
from pliant.robot import Robot, State

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SimulatedRun:
    """What happened, one row per control period: time [s], target and position of the plant's effectors, as targets (t,),
    command (n,) in the plant's unit, how old the model was [s], by how much the effectors' rows miss the target (e,), the code
    of the decision's status, the guard's flags."""

    time: Array
    target: Array
    position: Array
    command: Array
    model_age: Array
    missing: Array
    status: NDArray[np.int64]
    events: NDArray[np.int64]

    @property
    def error(self) -> Array:
        """Distance of the effectors from their targets at every period (metres and radians add up as they are)."""
        return np.asarray(np.linalg.norm(self.missing, axis=1))

    @property
    def roughness(self) -> float:
        """Root mean square of the second difference of the commands over that of the first: 0 for a ramp, about 2 for
        steps that go back and forth."""
        first, second = np.diff(self.command, axis=0), np.diff(self.command, 2, axis=0)
        return float(np.sqrt((second**2).mean() / max((first**2).mean(), 1e-300)))


def simulate(
    robot: Robot,
    plant: SimulatedPlant,
    targets: Targets | Trajectory | ArrayLike,
    *,
    seconds: float,
    rate: float = 600.0,
    model_rate: float = 15.0,
    together: bool = False,
    correction: Correction | None = None,
    guard: Guard | None = None,
    energy: float = 1e-8,
    tangent: Tangent = "exact",
    lag: float = 0.0,
    state: State | None = None,
) -> SimulatedRun:
    """Control a plant for so long by models of a robot that is not the plant, with the same buffer, decisions and guard as
    `TwoRates`.

    A model is begun every 1 / model_rate [s] with the command of that moment, and is there to decide by one such interval
    later. Commands are decided at `rate` [Hz]; `together`: at one rate, that is only when a model has come, and held until the
    next. correction: by what the plant measures of its effectors, off by default. guard: by default one with the robot's
    limits. lag [s]: as in `TwoRates.run`. state: of the model at the start.
    """
    require_kind_of(robot, "robot", Robot)
    require_kind_of(plant, "plant", SimulatedPlant)
    rate, model_rate = single(rate, "rate", unit="Hz"), single(model_rate, "model_rate", unit="Hz")
    if not 0 < model_rate <= rate < np.inf:
        raise InputError(f"model_rate is {model_rate} Hz, rate is {rate} Hz", remedy="give 0 < model_rate <= rate")
    if not 0 < single(seconds, "seconds", unit="s") < np.inf:
        raise InputError(f"a run of {seconds} s", remedy="give a positive time")
    lag = number(lag, "lag", unit="s", least=0.0)
    controller = Controller(robot, energy=energy)
    controller.question.require_correctable(correction)
    question, box = controller.question, ModelBox(controller.question)
    with closing(box):
        loop = ModelLoop(question, state, kind=plant.kind, tangent=tangent, energy=energy)
        commander = Commander(controller, box, kind=plant.kind, rate=rate, model_rate=model_rate, guard=guard)
        commander.start(loop.model.delta, loop.model.efforts, question.targets_at(loop.state))
        aims = as_targets(targets, commander.target_rows, rate)
        models = _LateModels(loop, box, model_rate)
        measured = Measured(plant.wiring, commander.effector_rows)
        commander.get_ready()  # so that there is something predicted before the first decision
        interval, target, command = 1 / (model_rate if together else rate), commander.target, commander.guard.command
        asked = target if lag == 0.0 else np.empty_like(target)
        run = _blank(int(np.floor(seconds * rate)) + 1, question)
        for tick in range(len(run.time)):
            now = tick / rate
            fresh = models.look(now, command, controller.goal)
            aims.fill(now, target)
            aims.fill(now + lag, asked)
            if fresh or not together:
                goal = asked
                if correction is not None:
                    measured.take(plant.measure() if plant.time > measured.arrived else None)
                    predicted, held = commander.predicted(), commander.events != 0
                    goal = correction.adjust(asked, measured.values, interval, predicted=predicted, held=held)
                commander.tick(now, goal, interval)
            _note(run, tick, now, commander, plant)
            plant.advance(command, (tick + 1) / rate)
        return run


class _LateModels:
    """Models that are begun at a rate, and are in the box one interval later."""

    def __init__(self, loop: ModelLoop, box: ModelBox, rate: float) -> None:
        self._loop, self._box, self._rate, self._begun = loop, box, rate, 0
        self._show(0.0)

    def _show(self, made: float) -> None:
        self._loop.put(self._box, self._loop.here, stamp=made)
        self._box.newest()

    def look(self, now: float, command: Array, goal: Array) -> bool:
        """Whether another model has come by `now` [s]; the next one is then begun with this command, on the way to a goal."""
        due = int(np.floor(now * self._rate + 1e-9)) + 1
        if due <= self._begun:
            return False
        self._show(max(0.0, (due - 2) / self._rate))
        self._loop.cycle(command, goal, 1 / self._rate)
        self._begun = due
        return True


def _blank(periods: int, question: Question) -> SimulatedRun:
    """A run with room for so many periods."""
    t, n, e = len(question.wanted.labels), len(question.sought), len(question.wanted.rows)

    def room(*columns: int) -> Array:
        return np.zeros((periods, *columns))

    status, events = np.zeros((2, periods), np.int64)
    return SimulatedRun(room(), room(t), room(t), room(n), room(), room(e), status, events)


def _note(run: SimulatedRun, k: int, now: float, commander: Commander, plant: SimulatedPlant) -> None:
    """Fill in one period."""
    run.time[k], run.model_age[k] = now, now - commander.box.stamp
    run.status[k], run.events[k] = commander.status.code, commander.events
    run.target[k], run.command[k] = commander.target, commander.guard.command
    begin = 0
    for name, rows in commander.controller.question.wanted.parts.items():
        place = plant.robot.displacement(plant.state, name, as_target=True)
        end = begin + len(place)
        run.position[k, begin:end] = place
        run.missing[k, rows] = plant.robot.shortfall(plant.state, name, commander.target[begin:end])
        begin = end
