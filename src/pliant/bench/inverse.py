"""The real-time step of the inverse on the diamond robot, beside a general sparse solver."""

from __future__ import annotations

import time
from pathlib import Path

import numpy as np

from pliant.bench.splu import Splu
from pliant.control import Inverse
from pliant.gallery import diamond
from pliant.gallery.tracking import track_converged, track_in_real_time
from pliant.motion import Statics
from pliant.robot import Robot
from pliant.shape import TetMesh, read
from pliant.view import Figure
from pliant.view.figures import bounded


def measure(mesh: Path | None = None) -> list[Figure]:
    """Step time, its split, its ratio to splu, and the errors on the square, on pliant's own mesh and on another one.

    mesh: the diamond of the SoftRobots plugin (its own axes, millimetres).
    """
    figures = _measure_one("inverse", diamond.build())
    if mesh is not None:
        shape = read(mesh, "mm")
        if isinstance(shape, TetMesh):
            figures += _measure_one("inverse.own", diamond.build(diamond.placed(shape)))
    return figures


def _measure_one(prefix: str, robot: Robot) -> list[Figure]:
    hanging = Statics(robot).solve().require().state
    paths = diamond.paths(robot, hanging)["square"]
    path = paths["top"]
    live = track_in_real_time(prefix, robot, hanging, paths, diamond.RATE)
    converged = track_converged(prefix, robot, hanging, paths, points=8)
    errors = {figure.name: figure.value for figure in [*live.figures, *converged]}
    inverse = Inverse(robot)
    state = inverse.step(hanging, top=path.position(0.0)).require().state
    reference = Splu(robot.linearize(state).matrix())
    steps, splu = [], []
    split: dict[str, float] = {}
    for k in range(150):
        target = path.position(0.02 * k)
        begin = time.perf_counter()
        step = inverse.step(state, top=target).require()
        middle = time.perf_counter()
        reference.factor()
        if k >= 10:
            steps.append(middle - begin)
            splu.append(time.perf_counter() - middle)
            for stage, seconds in step.times.items():
                split[stage] = min(split.get(stage, np.inf), seconds)
        state = step.state
    ratio = min(steps) / min(splu)
    return [
        Figure(f"{prefix}.nodes", robot.bodies[0].node_count, "nodes"),
        Figure(f"{prefix}.step_ms", 1e3 * min(steps), "ms", better="lower"),
        *(Figure(f"{prefix}.step_{stage}_ms", 1e3 * seconds, "ms", better="lower") for stage, seconds in split.items()),
        Figure(f"{prefix}.rate", 1 / min(steps), "Hz", better="higher"),
        bounded(f"{prefix}.step_over_splu", ratio, "x", 0.33, "lower", "bound"),
        bounded(f"{prefix}.square_error_mm", errors[f"{prefix}.converged_error_mean"], "mm", 1e-3, "lower", "bound"),
        bounded(
            f"{prefix}.square_error_realtime_mm", errors[f"{prefix}.realtime_error_mean"], "mm", 0.3, "lower", "bound"
        ),
    ]
