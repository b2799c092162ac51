"""What held rows cost a forward step, and what it costs that rows come and go."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pliant.bench.clock import smallest_times
from pliant.body import TetBody
from pliant.material import Corotational
from pliant.motion import Dynamics
from pliant.port import Point
from pliant.robot import ExtraRows, Robot, State
from pliant.shape import HalfSpace, TetMesh, make, read
from pliant.view import Figure
from pliant.view.figures import bounded

Array = NDArray[np.float64]

POINTS = 24
"""Points that are held, three rows each."""
ROWS = 80
"""Rows that come and go."""
STEP = 0.01
"""Time step [s]."""


def measure(mesh: Path | None = None) -> list[Figure]:
    """All figures: on a block of 756 nodes, and on the user's own mesh (in millimetres)."""
    figures = _measure_one("held", make.box((0.2, 0.05, 0.05), (20, 5, 5)))
    if mesh is not None:
        shape = read(mesh, "mm")
        figures += _measure_one("held.own", shape if isinstance(shape, TetMesh) else shape.filled(0.006))
    return figures


def _measure_one(prefix: str, mesh: TetMesh) -> list[Figure]:
    """Steps of dynamics without held rows, with 24 points held by a port each, and by one port; W of 80 rows in a port, of 80
    extra rows that stay, and of 80 others every time."""
    rng = np.random.default_rng(0)
    plain, each, together, port, changing = (_robot(mesh) for _ in range(5))
    free = np.setdiff1d(np.arange(len(mesh.nodes)), plain.bodies[0].supports.fixed)
    places = mesh.nodes[rng.choice(free, POINTS, replace=False)]
    goals = places + 1e-3 * rng.normal(size=(POINTS, 3))
    for k in range(POINTS):
        each.impose(f"point {k}", Point(near=places[k]), displacement=goals[k])
    together.impose("points", Point(near=places), displacement=goals.reshape(-1))
    up = np.tile([0.0, 0.0, 1.0], (ROWS, 1))
    picks = [_inner_points(mesh, free, rng) for _ in range(8)]
    nodes, weights = picks[0]
    stay, turns = ExtraRows.of(nodes, weights, up), cycle(picks)
    port.sense("rows", Point(near=np.einsum("kj,kji->ki", weights, mesh.nodes[nodes]), axes="z"))
    _check(port, changing, stay)
    states = {robot: _moving(robot) for robot in (plain, each, together, port, changing)}
    steps = {robot: Dynamics(robot, STEP) for robot in (plain, each, together)}
    analysed = {changing.equations.cholesky}

    def change() -> None:
        changing.linearize(states[changing], extra=ExtraRows.of(*next(turns), up))
        analysed.add(changing.equations.cholesky)

    times = smallest_times(
        {
            "plain": lambda: steps[plain].step(states[plain]).require(),
            "each": lambda: steps[each].step(states[each]).require(),
            "together": lambda: steps[together].step(states[together]).require(),
            "port": lambda: port.linearize(states[port]),
            "stay": lambda: changing.linearize(states[changing], extra=stay),
            "change": change,
        },
        seconds=6.0,
    )
    milliseconds = {
        "step_ms": "plain", "step_held72_ms": "each", "step_held72_one_port_ms": "together",
        "port80_ms": "port", "fixed80_ms": "stay", "changing80_ms": "change",
    }  # fmt: skip
    ratios = [
        ("held72_over_none", times["each"] / times["plain"], 1.5),
        ("held72_one_port_over_none", times["together"] / times["plain"], 1.5),
        ("changing80_over_fixed", times["change"] / times["stay"], 1.2),
    ]
    return [
        Figure(f"{prefix}.nodes", len(mesh.nodes), "nodes"),
        *(Figure(f"{prefix}.{name}", 1e3 * times[key], "ms", better="lower") for name, key in milliseconds.items()),
        *(bounded(f"{prefix}.{name}", value, "x", bound, "lower", "bound") for name, value, bound in ratios),
        bounded(f"{prefix}.new_analyses", len(analysed) - 1, "", 0, "lower", "bound"),
    ]


def _robot(mesh: TetMesh) -> Robot:
    """The body fixed at the lowest 4 % of its longest side, in a field of gravity across it."""
    axis = int(np.argmax(mesh.size))
    fixed = mesh.where(HalfSpace(mesh.bounds[0] + 0.04 * mesh.size, np.eye(3)[axis]))
    body = TetBody(mesh, Corotational(E=180e3, nu=0.45), fixed=fixed, damping=(0.0, 0.01))
    return Robot(body, gravity=np.roll([0.0, 0.0, -9.81], axis))


def _moving(robot: Robot) -> State:
    """On its way, a few steps after it was let go."""
    state, motion = robot.rest(), Dynamics(robot, STEP)
    for _ in range(5):
        state = motion.step(state).require().state
    return state


def _inner_points(mesh: TetMesh, free: NDArray[np.int64], rng: np.random.Generator) -> tuple[NDArray[np.int64], Array]:
    """Points inside elements that nothing holds: the nodes that carry each (k, 4), and their weights (k, 4)."""
    loose = np.flatnonzero(np.isin(mesh.tets, free).all(axis=1))
    return mesh.tets[rng.choice(loose, ROWS, replace=False)], rng.dirichlet(np.full(4, 3.0), ROWS)


def _check(port: Robot, changing: Robot, rows: ExtraRows) -> None:
    """A fast wrong answer is not an answer: the same rows have the same W, as a port or as extra rows."""
    as_port, as_extra = port.linearize(port.rest()).model.W, changing.linearize(changing.rest(), extra=rows).model.W
    if np.abs(as_extra - as_port).max() > 1e-9 * np.abs(as_port).max():
        raise ArithmeticError("the compliance of extra rows differs from that of a port")
