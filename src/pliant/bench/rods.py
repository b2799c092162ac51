"""What rigid parts cost, and what rods do: a model of a device of six rods, Newton's iterations, and their error.

A step of a chain of a thousand parts is measured beside one with as many plain coordinates."""

from __future__ import annotations

import numpy as np

from pliant.bench.clock import smallest_times
from pliant.body import Revolute, RigidBody, RodBody, Section, SpringBody, Weld
from pliant.motion import Dynamics, Statics
from pliant.motion.result import StepResult
from pliant.port import Force, Frame, Hinge
from pliant.robot import Robot, State
from pliant.shape import Curve, Lattice, solids
from pliant.view import Figure
from pliant.view.figures import bounded

PARTS = 1000
STEP = 0.01
"""Time step [s]."""
ELEMENTS = 14
"""Of each rod of the device."""
ELASTICA = {1: 0.301720, 5: 0.713792, 10: 0.810609}
"""Drop of the tip over the length under P L^2 / EI (Mattiasson 1981)."""


def measure() -> list[Figure]:
    """All figures."""
    return [*_parts(), *_models(), *_slender()]


def _parts() -> list[Figure]:
    """Steps of dynamics of two bars of springs with 2,000 coordinates each: one whose 1,000 cross-sections of four nodes are
    rigid parts, and one of 500 such cross-sections whose nodes are plain.

    The springs inside a rigid section (6 of 22) cannot stretch, and `SpringBody` leaves them out: the ratio was
    measured as 1.65, and as 1.8 with all springs kept."""
    sections, nodes = _bar(PARTS, rigid=True), _bar(PARTS // 2, rigid=False)
    count = {robot: robot.equations.assembly.coordinate_count for robot in (sections, nodes)}
    if set(count.values()) != {2 * PARTS}:
        raise ArithmeticError(f"the bars have {sorted(count.values())} coordinates, not {2 * PARTS} each")
    states = {robot: _moving(robot) for robot in (sections, nodes)}
    steps = {robot: Dynamics(robot, STEP) for robot in (sections, nodes)}
    times = smallest_times(
        {
            "parts": lambda: steps[sections].step(states[sections]).require(),
            "blocks": lambda: steps[nodes].step(states[nodes]).require(),
        },
        seconds=6.0,
    )
    ratio = times["parts"] / times["blocks"]
    return [
        Figure("rods.parts_1000_step_ms", 1e3 * times["parts"], "ms", better="lower"),
        Figure("rods.blocks_2000_step_ms", 1e3 * times["blocks"], "ms", better="lower"),
        bounded("rods.parts_1000_over_blocks", ratio, "x", 2.0, "lower", "bound"),
    ]


def _models() -> list[Figure]:
    """Linearized and condensed models of the device per second, at its equilibrium."""
    robot = device()
    state = Statics(robot).solve().require().state
    times = smallest_times({"model": lambda: robot.linearize(state)}, seconds=3.0)
    return [bounded("rods.model_hz", 1 / times["model"], "Hz", 500.0, "higher", "bound")]


def _slender() -> list[Figure]:
    """The elastica at 20 elements, and how many iterations it takes whatever the slenderness."""
    errors = [abs(_drop(_bent(load, 100)) / there - 1) for load, there in ELASTICA.items()]
    iterations = {slender: _bent(1, slender).iterations for slender in (20, 100, 500)}
    return [
        bounded("rods.elastica_error", max(errors), "x", 1e-3, "lower", "bound"),
        Figure("rods.newton_iterations_20", iterations[20], "x", better="lower"),
        Figure("rods.newton_iterations_100", iterations[100], "x", better="lower"),
        bounded("rods.newton_iterations_500", iterations[500], "x", 13, "lower", "bound"),
    ]


def _bent(load: float, slender: float) -> StepResult:
    """A cantilever of 1 m, so many times as long as thick, under P L^2 / EI at its tip."""
    section = Section.rectangle(1 / slender, 1 / slender)
    line = Curve([(0, 0, 0), (1, 0, 0)])
    robot = Robot(RodBody(line, section, 1e9, 0.3, 1000.0, count=20, fixed="start"))
    robot.impose("tip", Force((1, 0, 0), direction=(0, 0, -1)), effort=load * 1e9 * section.Iy)
    return Statics(robot, max_iterations=200).solve().require()


def _drop(result: StepResult) -> float:
    return -float(result.state.x[-4, 2])


def device() -> Robot:
    """Six bent rods from motors around to a handle in the middle: six hinges, one frame, six sensors of bending."""
    curves, axes = [], []
    for k in range(6):
        side, out = (-1) ** k, np.array([np.cos(np.pi / 3 * k), np.sin(np.pi / 3 * k), 0.0])
        a, b, c = ((r * out + (0, 0, side * z)) for r, z in ((0.15, -0.055), (0.13, 0.09), (0.01, 0.04)))
        t = np.linspace(0, 1, 9)[:, None]
        points = (1 - t) ** 2 * a + 2 * t * (1 - t) * b + t * t * c
        axes.append(np.cross((0, 0, 1), out))
        curves.append(Curve.spline(points, up=np.cross(axes[-1], points[1] - points[0])))
    rods = RodBody(curves, Section.rectangle(0.01, 0.004), 76.4e6, 0.4, 1040.0, count=ELEMENTS)
    handle = RigidBody(solids.cylinder(0.01, 0.09, at=(0, 0, -0.045)), density=1200.0)
    starts = [curve.at(0.0)[0] for curve in curves]
    hinges = {f"hinge {k}": Revolute(("rods", f"{k}.start"), point=starts[k], axis=axes[k]) for k in range(6)}
    welds = {f"weld {k}": Weld(("rods", f"{k}.end"), "handle") for k in range(6)}
    robot = Robot({"rods": rods, "handle": handle}, joints={**hinges, **welds}, gravity=(0, 0, -9.81))
    for k in range(6):
        robot.actuate(f"motor {k}", Hinge.on(f"hinge {k}"), effort=(-0.5, 0.5))
    robot.effect("pose", Frame("whole"), body="handle")
    near, far = ELEMENTS // 4, ELEMENTS // 2
    for k in range(6):
        bend = Hinge(f"{k}.{far}", against=f"{k}.{near}", point=starts[k], axis=axes[k])
        robot.sense(f"bend {k}", bend, body="rods")
    return robot


def _bar(sections: int, *, rigid: bool) -> Robot:
    """A bar of so many cross-sections of four nodes besides a fixed one, each of them a rigid part or not."""
    lattice = Lattice.block((sections, 1, 1), 0.01)
    x = lattice.points[:, 0]
    names = range(1, sections + 1) if rigid else range(0)
    parts = {f"section {k}": lattice.where(x_above=0.01 * k, x_below=0.01 * k) for k in names}
    body = SpringBody(lattice, 1e6, fixed=x < 0.005, rigid=parts, damping=(1.0, 0.0))
    return Robot(body, gravity=(0, 0, -9.81))


def _moving(robot: Robot) -> State:
    """On its way, a few steps after it was let go."""
    state, motion = robot.rest(), Dynamics(robot, STEP)
    for _ in range(5):
        state = motion.step(state).require().state
    return state
