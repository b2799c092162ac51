"""What rigid parts cost: a step of a chain of a thousand of them beside one with as many plain coordinates."""

from __future__ import annotations

from pliant.bench.clock import smallest_times
from pliant.body import SpringBody
from pliant.motion import Dynamics
from pliant.robot import Robot, State
from pliant.shape import Lattice
from pliant.view import Figure
from pliant.view.figures import bounded

PARTS = 1000
STEP = 0.01
"""Time step [s]."""


def measure() -> list[Figure]:
    """Steps of dynamics of two bars of springs with 2,000 coordinates each: one whose 1,000 cross-sections of four nodes are
    rigid parts, and one of 500 such cross-sections whose nodes are plain."""
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
