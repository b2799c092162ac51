"""Largilliere, Verona, Coevoet, Sanz-Lopez, Dequidt, Duriez: Real-time control of soft-robots using asynchronous finite element
modeling (ICRA 2015).

The robot is `gallery.diamond`. Where the paper measured its silicone robot, ours is a plant: a finer mesh, a neo-Hookean law
that is 4 % stiffer, damping, friction of the cables, motors that need 10 ms, backward Euler with its own step. It sees commands
only. Commands are lengths of the cables: under given tensions the robot is close to buckling, and a model that is 67 ms old
is too old for that.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pliant.body.body import Tangent
from pliant.control import Inverse, Question
from pliant.control.controller import Controller
from pliant.control.model_loop import ModelLoop
from pliant.control.simulated import SimulatedRun, simulate
from pliant.control.targets import PathTargets
from pliant.control.trajectory import Line, Square
from pliant.device import SimulatedPlant
from pliant.gallery import diamond
from pliant.material import NeoHookean
from pliant.motion import Statics, natural_modes
from pliant.paper import largilliere2015_plots as plots
from pliant.paper.paper import Paper, Reproduction
from pliant.robot import Robot, State
from pliant.view import Figure
from pliant.view.figures import bounded

Array = NDArray[np.float64]

PAPERS_VARIATION = {
    6.25: 1.2, 12.5: 2.97, 25.0: 5.28, 37.5: 5.66, 50.0: 5.0, 62.5: 9.09, 75.0: 7.34, 87.5: 8.94, 100.0: 10.67,
    112.5: 12.52, 125.0: 38.0, 150.0: 38.01,
}  # fmt: skip
"""Speed of the effector [mm/s] and the largest variation of the QP's matrix [%], as the paper's table has them."""
PAPERS_SYNC, PAPERS_ASYNC, PAPERS_STATIC = 2.33, 1.82, 1.4
"""Mean errors of the paper [mm]: square at one rate, square at two rates, static positions."""
RATE, MODEL_RATE = 600.0, 15.0
"""Of commands and of models [Hz]: the paper's."""
SPEED = 0.040
"""Of the square [m/s]; the paper does not say."""
LOW, HIGH = 0.004, 0.034
"""The line: upwards between these heights above where the top hangs [m]; the paper does not say which it took."""
MASSES = (4.0, 1.0, 1 / 4, 1 / 16)
"""Of the plants whose first natural frequencies are compared, relative to silicone."""


@dataclass(frozen=True)
class Variation:
    """The largest change of the matrix M = W_ea^T W_ea of the QP from one model to the next, in percent: of its norm
    | |M'| - |M| | / |M|, as the paper counts, and of the matrix |M' - M| / |M|, which is no less; infinity norms."""

    of_norm: float
    of_matrix: float


def variation(robot: Robot, hanging: State, speed: float, model_rate: float, tangent: Tangent = "warped") -> Variation:
    """Along a line upwards at a speed [m/s], with models at a rate [Hz] that follow their own commands."""
    controller, home = Controller(robot), robot.displacement(hanging, "top")
    loop = ModelLoop(controller.question, hanging, kind="displacement", tangent=tangent)
    controller.start(loop.model.delta, loop.model.efforts, home)
    path = Line(home + np.array([0.0, 0.0, LOW]), home + np.array([0.0, 0.0, HIGH]), speed)
    shares = np.minimum(np.arange(1, 81) / 60, 1.0)
    for share in shares:  # to where the line begins, and there for a while
        _follow(loop, controller, home + share * (path.position(0.0) - home), 1.0)
    block = np.ix_(loop.model.rows("top"), controller.rows)
    matrices = []
    for k in range(int(path.duration * model_rate) + 1):
        W = loop.model.W[block]
        matrices.append(W.T @ W)
        _follow(loop, controller, path.position((k + 1) / model_rate), 1 / model_rate)
    norms = np.array([np.abs(M).sum(axis=1).max() for M in matrices])
    changes = np.array([np.abs(b - a).sum(axis=1).max() for a, b in pairwise(matrices)])
    return Variation(100 * float(np.abs(np.diff(norms) / norms[:-1]).max()), 100 * float((changes / norms[:-1]).max()))


def _follow(loop: ModelLoop, controller: Controller, target: Array, interval: float) -> None:
    """One decision at the rate of the models, and the model that follows from it."""
    controller.decide(loop.question.numbers(loop.model), target, interval)
    loop.cycle(controller.displacements)


def own_model_rate(robot: Robot, hanging: State, cycles: int = 60) -> float:
    """Models per second that this machine makes of this robot [Hz]."""
    loop = ModelLoop(Question(robot), hanging, kind="displacement", tangent="warped")
    command, times = loop.command(), []
    for _ in range(cycles):
        begin = time.perf_counter()
        loop.cycle(command)
        times.append(time.perf_counter() - begin)
    return 1 / float(np.median(times))


def square_path(robot: Robot, hanging: State, speed: float = SPEED) -> Square:
    """The square of the gallery's diamond, at another speed [m/s]."""
    middle = robot.displacement(hanging, "top") + np.array([0.0, 0.0, diamond.RISE])
    return Square(middle, diamond.SIDE, speed)


def follow_square(
    robot: Robot, hanging: State, plant: SimulatedPlant, *, together: bool, laps: float = 2.0
) -> SimulatedRun:
    """The square on a plant, at one rate (`together`) or at two."""
    path = square_path(robot, hanging)
    return simulate(
        robot, plant, PathTargets(path, RATE), seconds=laps * path.duration, rate=RATE, model_rate=MODEL_RATE,
        together=together, state=hanging
    )  # fmt: skip


def mean_error(run: SimulatedRun) -> float:
    """Mean distance from the target [mm] over the last lap of the square (the first begins with a jump)."""
    lap = round(4 * diamond.SIDE / SPEED * RATE)
    return 1e3 * float(run.error[-lap:].mean())


def different_plant(h: float = 0.005) -> SimulatedPlant:
    """The plant that stands for the paper's robot."""
    return diamond.plant(h, kind="displacement", size=0.0068, friction=0.05, scheme="euler")


def static_errors(robot: Robot, hanging: State, plant: SimulatedPlant, count: int = 8) -> Array:
    """How far the plant at rest is from `count` positions on the square [mm], commanded by the inverse of the model."""
    path, inverse = square_path(robot, hanging), Inverse(robot)
    state, other, errors = hanging, plant.state, []
    for k in range(count):
        target = path.position(k * path.duration / count)
        step = inverse.solve_pose(state, top=target).require()
        state = step.state
        for name in ("east", "north", "west", "south"):
            plant.robot.set_displacement(name, step.displacements[name])
        other = Statics(plant.robot).solve(other).require().state
        errors.append(np.linalg.norm(plant.robot.displacement(other, "top") - target))
    return 1e3 * np.array(errors)


@dataclass(frozen=True)
class AtFrequency:
    """A plant's mass relative to silicone, its first natural frequency [Hz], and its mean errors on the square at one rate and
    at two [mm]."""

    mass: float
    frequency: float
    one_rate: float
    two_rates: float

    @property
    def ratio(self) -> float:
        """Error at two rates over error at one."""
        return self.two_rates / self.one_rate


def at_frequency(robot: Robot, hanging: State, mass: float, size: float = 0.0068) -> AtFrequency:
    """The square on a plant of the same shape, stiffness and weight with so many times its mass.

    Weight stays because gravity is divided by `mass`: so statics, and what is commanded, are the same, and only the time in
    which the plant answers differs. Its damping ratio is kept too, and so is its step relative to its period.
    """
    time_scale = float(np.sqrt(mass))
    runs = {}
    for together in (True, False):
        twin = diamond.build(
            diamond.shape(size), law=NeoHookean(E=156e3, nu=0.45), density=1070.0 * mass,
            damping=(0.5 / time_scale, 0.01 * time_scale)
        )  # fmt: skip
        twin.set_gravity((0.0, 0.0, -9.81 / mass))
        plant = SimulatedPlant(twin, 0.004 * time_scale, kind="displacement", settling=0.01, scheme="euler")
        runs[together] = follow_square(robot, hanging, plant, together=together)
    frequency = float(natural_modes(plant.robot, 1, plant.state).frequencies[0])
    return AtFrequency(mass, frequency, mean_error(runs[True]), mean_error(runs[False]))


def reproduce(out: Path | None, data: Path | None = None) -> Reproduction:
    """Table I, figures 4 to 6, the static accuracy, and the authors' open question (needs no `data`)."""
    robot = diamond.build()
    hanging = Statics(robot).solve().require().state
    own_rate = own_model_rate(robot, hanging)
    table = {
        speed: (
            variation(robot, hanging, 1e-3 * speed, MODEL_RATE),
            variation(robot, hanging, 1e-3 * speed, own_rate),
            variation(robot, hanging, 1e-3 * speed, MODEL_RATE, "exact"),
        )
        for speed in PAPERS_VARIATION
    }
    one, two = (
        follow_square(robot, hanging, different_plant(), together=True),
        follow_square(robot, hanging, different_plant(), together=False),
    )
    static = static_errors(robot, hanging, different_plant())
    study = [at_frequency(robot, hanging, mass) for mass in MASSES]
    drawn: list[Path] = []
    if out is not None:
        drawn = [
            plots.draw_variation(out, table, PAPERS_VARIATION, own_rate),
            plots.draw_square(out, one, two),
            plots.draw_study(out, [(s.frequency, s.ratio) for s in study]),
        ]
    return Reproduction(_figures(table, own_rate, one, two, static, study), _lines(own_rate), drawn)


def _figures(
    table: dict[float, tuple[Variation, Variation, Variation]],
    own_rate: float,
    one: SimulatedRun,
    two: SimulatedRun,
    static: Array,
    study: list[AtFrequency],
) -> list[Figure]:
    figures = []
    for speed, (at_15, at_own, exact) in table.items():
        name, paper = f"icra.variation_{speed:g}mmps", PAPERS_VARIATION[speed]
        figures += [
            Figure(f"{name}_percent", at_15.of_norm, "%", paper, "the paper", "lower"),
            Figure(f"{name}_matrix_percent", at_15.of_matrix, "%", better="lower"),
            Figure(f"{name}_own_rate_percent", at_own.of_norm, "%", better="lower"),
            Figure(f"{name}_exact_percent", exact.of_norm, "%", better="lower"),
        ]
    errors = mean_error(one), mean_error(two)
    return [
        *figures,
        Figure("icra.own_model_rate", own_rate, "Hz", MODEL_RATE, "the paper", "higher"),
        Figure("icra.square_sync_mm", errors[0], "mm", PAPERS_SYNC, "the paper", "lower"),
        Figure("icra.square_async_mm", errors[1], "mm", PAPERS_ASYNC, "the paper", "lower"),
        bounded("icra.async_over_sync", errors[1] / errors[0], "x", 1.0, "lower", "bound"),
        bounded("icra.signal_smoothness_ratio", one.roughness / two.roughness, "x", 1.0, "higher", "bound"),
        Figure("icra.static_error_mm", float(static.mean()), "mm", PAPERS_STATIC, "the paper", "lower"),
        *(figure for place in study for figure in _study_figures(place)),
    ]


def _study_figures(place: AtFrequency) -> list[Figure]:
    name = f"icra.mass_{place.mass:g}"
    return [
        Figure(f"{name}_frequency_hz", place.frequency, "Hz"),
        Figure(f"{name}_sync_mm", place.one_rate, "mm", better="lower"),
        Figure(f"{name}_async_over_sync", place.ratio, "x", better="lower"),
    ]


def _lines(own_rate: float) -> list[str]:
    return [
        "variation: largest change of |M|, M = W_ea^T W_ea, from one model to the next along a line upwards, at 15 Hz, and at",
        f"  {own_rate:.0f} Hz, as fast as models are made here; _matrix: of M itself, |M' - M| / |M|; _exact: with the exact",
        "  tangent at 15 Hz, which also sees that the robot softens as its cables are pulled.",
        "square: mean error over the second lap at 40 mm/s; one rate: a command per model (sync), two: 600 Hz (async).",
        "smoothness: root mean square of the second difference of the commands over that of the first, one rate over two.",
        "mass: plants of the same shape, stiffness and weight with so many times the mass: their first natural frequency, the",
        "  error at one rate, and the error at two rates over that.",
    ]


PAPER = Paper(
    "Largilliere et al. 2015: real-time control of soft robots using asynchronous finite element modeling", reproduce
)
