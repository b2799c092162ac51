"""Robots of the gallery and targets thrown about, in reach and out of it: they come to rest, in balance, and say why where."""

from __future__ import annotations

import numpy as np
import pytest

from pliant import Inverse, Statics, stability
from pliant.control import DecisionStatus, simulate
from pliant.gallery import diamond, finger, pneunet, trunk
from pliant.robot.roles import Role

ROBOTS = {"diamond": diamond, "finger": finger, "pneunet": pneunet, "trunk": trunk}
CASES = [
    (name, kind)
    for name in ROBOTS
    for kind in ("effort", "displacement")
    if (name, kind) != ("pneunet", "displacement")
]
COUNT = 6
"""Targets per case."""
DWELL = 100


def hanging_of(name):
    robot = ROBOTS[name].build(None)
    return robot, Statics(robot).solve().require().state


def thrown(robot, hanging, rng):
    """A target up to 0.45 of the robot's size away from where the effector hangs, in any direction."""
    (effector,) = robot.named(Role.EFFECTOR)
    home = robot.displacement(hanging, effector)
    way = rng.normal(size=len(home))
    return effector, home, home + way / np.linalg.norm(way) * rng.uniform(0, 0.45) * robot.size


def speeds(robot, inverse, before, after, kind):
    """How fast each actuator went in 1/50 s, over its limit."""
    out = []
    for name in inverse.actuators:
        limits = robot.ports[name].limits
        if kind == "effort":
            out.append(np.abs(after.efforts[name] - before.efforts[name]) * 50 / limits.effort_rate)
        else:
            out.append(np.abs(after.displacements[name] - before.displacements[name]) * 50 / limits.displacement_rate)
    return float(np.max(out))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_targets_thrown_about_are_approached_until_the_robot_rests(name, kind):
    """After every change of the target, within 100 steps: actuators go at less than 1 % of their limits; the effector is within
    1 mm of the closest place that poses from elsewhere find, or the word says what is in the way; what is green is in balance
    to 1 %; and home is reached again, whatever was before."""
    robot, hanging = hanging_of(name)
    inverse, poses, state = Inverse(robot, kind=kind), Inverse(robot, kind=kind), hanging
    rng = np.random.default_rng(11)
    for _ in range(COUNT):
        effector, home, target = thrown(robot, hanging, rng)
        step = None
        for k in range(DWELL):
            last, step = step, inverse.step(state, interval=0.02, **{effector: target})
            state = step.state
            if k % 7 == 0 and step.status is not DecisionStatus.SLOWED:
                assert robot.unbalanced(state) <= 0.0105
        assert speeds(robot, inverse, last, step, kind) < 0.01
        assert robot.unbalanced(state) < 0.01
        if kind == "effort":
            assert stability(robot, state).is_stable
        reached = float(np.linalg.norm(robot.displacement(state, effector) - target))
        best = min(poses.solve_pose(begin, **{effector: target}).distance for begin in (hanging, state))
        told = "stability" in step.active or step.status is DecisionStatus.SLOWED
        assert reached <= best + 1e-3 or told, (step.status, step.active, reached, best)
        for _ in range(DWELL):
            step = inverse.step(state, interval=0.02, **{effector: home})
            state = step.state
        assert np.linalg.norm(robot.displacement(state, effector) - home) < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["effort", "displacement"])
def test_at_two_rates_a_robot_that_is_not_the_model_comes_to_rest(kind):
    """The diamond with a plant of another mesh, law and step, in simulated time, told targets far out of reach: within the time
    of a hundred models commands come to rest."""
    robot, hanging = hanging_of("diamond")
    home = robot.displacement(hanging, "top")
    for off in ((0, 0, 0.04), (0, 0.08, -0.03)):
        run = simulate(robot, diamond.plant(kind=kind), home + np.array(off), seconds=6.7, state=hanging)
        limit = diamond.EFFORT_RATE if kind == "effort" else diamond.LENGTH_RATE
        last = run.command[-60:]
        assert np.ptp(last, axis=0).max() * 10 < 0.01 * limit  # in a tenth of a second
        assert np.isfinite(run.position).all()
        assert run.error[-1] < np.linalg.norm(off) + 0.01
