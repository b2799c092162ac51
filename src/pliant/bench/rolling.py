"""The wheel that rolls: what a step of the inverse with contact costs, and how good its search among pieces is."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np

from pliant.algebra.qpcc import Search, solve_qpcc
from pliant.control import Inverse
from pliant.control.contact_decision import ContactDecision
from pliant.gallery import wheel_robot
from pliant.gallery.rolling import Course, rolled
from pliant.gallery.tracks import TOUCH, TRACKS
from pliant.robot import Robot, State
from pliant.shape import TetMesh
from pliant.view import Figure
from pliant.view.figures import bounded

WAY, APART, TRIES = 0.03, 4, 9
"""How far it rolls [m]; every how manieth step is looked at, how often: the best counts."""
AHEAD = 0.003
"""Of targets, from where the wheel is [m]."""
SAME, LONGEST = 1e-7, 20_000
"""Objectives that differ by less are the same; QPs after which the exact search is left."""


def measure(prefix: str, mesh: TetMesh | None = None) -> list[Figure]:
    """Times of steps along a way, each the best of some tries, the median of all; and of the searches of the same problems."""
    shape = None if mesh is None else wheel_robot.placed(mesh)
    robot = wheel_robot.build("flat", shape)
    inverse = wheel_robot.inverse(robot)
    run = rolled(robot, inverse, Course(TRACKS["flat"], wheel_robot.under(shape)), WAY)
    states = [step.state for step in run.steps[::APART]]
    stages = [_stages(robot, inverse, state) for state in states]
    steps = {name: 1e3 * float(np.median([own[name] for own in stages])) for name in stages[0]}
    # as in the paper: without cones
    glued = wheel_robot.inverse(robot, friction="stick")
    problems = [own for state in states if (own := _decided(robot, glued, state)) is not None]
    default, paper = ([_fastest(own, search) for own in problems] for search in ("flips", "paper"))
    share, left = exact_share(problems)
    return [
        Figure(f"{prefix}_nodes", sum(len(body.rest) for body in robot.bodies), "nodes"),
        Figure(f"{prefix}_candidates", robot.touches[TOUCH].side.count, "points"),
        Figure(f"{prefix}_contacts", float(np.mean([len(own.problem.sizes) for own in problems])), "near, on average"),
        bounded(f"{prefix}_step_ms", steps["whole"], "ms", 5.0, "lower", "bound"),
        bounded(f"{prefix}_W_ms", steps["condense"], "ms", 0.79, "lower", "bound; coevoet2019: 7.91"),
        Figure(f"{prefix}_factor_ms", steps["factor"], "ms", better="lower"),
        bounded(f"{prefix}_qp_ms", 1e3 * float(np.median(default)), "ms", 1.0, "lower", "bound"),
        bounded(f"{prefix}_qp_paper_ms", 1e3 * float(np.median(paper)), "ms", 0.21, "lower", "coevoet2019"),
        bounded(f"{prefix}_exact_share", share, "", 0.97, "higher", "bound"),
        Figure(f"{prefix}_exact_left_out", left, "problems"),
    ]


def _stages(robot: Robot, inverse: Inverse, state: State) -> dict[str, float]:
    """Seconds of each stage of a step, and of the whole: the best of some tries each."""
    target = robot.displacement(state, "center") + np.array([AHEAD, 0.0, 0.0])
    tries = []
    for _ in range(TRIES):
        begin = time.perf_counter()
        step = inverse.step(state, center=target).require()
        tries.append({**step.times, "whole": time.perf_counter() - begin})
    return {name: min(own[name] for own in tries) for name in tries[0]}


def _decided(robot: Robot, inverse: Inverse, state: State) -> ContactDecision | None:
    target = robot.displacement(state, "center") + np.array([AHEAD, 0.0, 0.0])
    return inverse.step(state, center=target).contact


def _fastest(own: ContactDecision, search: Search) -> float:
    """Seconds of a search, the best of some tries."""
    return min(solve_qpcc(own.problem, own.now, pieces=own.begun, search=search).seconds for _ in range(TRIES))


def exact_share(problems: Sequence[ContactDecision]) -> tuple[float, int]:
    """The share of decisions that are exactly optimal, of those where the exact search ends in time; how many it does not."""
    same, left = [], 0
    for own in problems:
        exact = solve_qpcc(own.problem, own.now, pieces=own.begun, search="exact", budget=LONGEST)
        if exact.status.name != "EXACT":
            left += 1
            continue
        found = solve_qpcc(own.problem, own.now, pieces=own.begun)
        same.append(found.value - exact.value <= SAME * max(1.0, abs(exact.value)))
    return float(np.mean(same)) if same else float("nan"), left
