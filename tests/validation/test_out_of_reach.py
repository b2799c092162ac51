"""Robots of the gallery and targets thrown about, in reach and out of it: they come to rest, in balance, and say why where."""

from __future__ import annotations

import os

import numpy as np
import pytest

from pliant import Inverse, Statics, stability
from pliant.control import DecisionStatus, simulate
from pliant.device import SimulatedPlant
from pliant.gallery import diamond, finger, pneunet, trunk
from pliant.material import NeoHookean
from pliant.robot.roles import Role

ROBOTS = {"diamond": diamond, "finger": finger, "pneunet": pneunet, "trunk": trunk}
CASES = [
    (name, kind)
    for name in ROBOTS
    for kind in ("effort", "displacement")
    if (name, kind) != ("pneunet", "displacement")
]
COUNT = int(os.environ.get("PLIANT_TARGETS", "6"))
"""Targets per case."""
STARTS = 5
"""Poses that the closest place is the best of."""
POSES = 72
"""Random poses per case: 504 in all."""
DWELL = 100
SECONDS = DWELL / 15
"""The time of so many models at two rates."""
WORDS = tuple(DecisionStatus)


def hanging_of(name):
    robot = ROBOTS[name].build(None)
    return robot, Statics(robot).solve().require().state


def thrown(robot, hanging, rng):
    """A target up to 0.45 of the robot's size away from where the effector hangs, in any direction."""
    (effector,) = robot.named(Role.EFFECTOR)
    home = robot.displacement(hanging, effector)
    way = rng.normal(size=len(home))
    return effector, home, home + way / np.linalg.norm(way) * rng.uniform(0, 0.45) * robot.size


def elsewhere(poses, hanging, rng):
    """A stable state somewhere else, to begin from."""
    effector, _, target = thrown(poses.robot, hanging, rng)
    found = poses.solve_pose(hanging, **{effector: target})
    return found.state if found.ok else hanging


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
    rng, others = np.random.default_rng(11), np.random.default_rng(12)
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
        begins = hanging, state, *(elsewhere(poses, hanging, others) for _ in range(STARTS - 2))
        best = min(poses.solve_pose(begin, **{effector: target}).distance for begin in begins)
        told = "stability" in step.active or step.status is DecisionStatus.SLOWED
        assert reached <= best + 1e-3 or told, (step.status, step.active, reached, best)
        for _ in range(DWELL):
            step = inverse.step(state, interval=0.02, **{effector: home})
            state = step.state
        assert np.linalg.norm(robot.displacement(state, effector) - home) < 1e-4


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_poses_are_within_limits_wherever_they_are_asked_for(name, kind):
    """To 1e-9 of a limit, in balance, and with a word for how they ended; 500 of them."""
    robot, hanging = hanging_of(name)
    inverse, rng = Inverse(robot, kind=kind), np.random.default_rng(5)
    for _ in range(POSES):
        effector, _, target = thrown(robot, hanging, rng)
        pose = inverse.solve_pose(hanging, **{effector: target})
        assert pose.status.at_rest, pose.status
        assert robot.unbalanced(pose.state) < 1e-3
        for actuator in inverse.actuators:
            limits = robot.ports[actuator].limits
            values = pose.efforts[actuator], robot.displacement(pose.state, actuator)
            for value, (low, high) in zip(values, (limits.effort.T, limits.displacement.T), strict=True):
                allowed = 1e-9 * np.where(np.isfinite(high - low), high - low, 1.0)
                assert (value >= low - allowed).all()
                assert (value <= high + allowed).all()


class InTurn:
    """Places, one after the other."""

    def __init__(self, places):
        self.all = places

    def fill(self, seconds, out):
        out[:] = self.all[min(int(seconds / SECONDS), len(self.all) - 1)]


def other_robot(name, kind, monkeypatch):
    """A robot to command that is not the model: the gallery's own, or of another law, 4 % stiffer, with motors that lag."""
    if name == "diamond":
        return diamond.plant(kind=kind)
    with monkeypatch.context() as patch:
        patch.setattr(ROBOTS[name], "Corotational", lambda E, nu: NeoHookean(E=1.04 * E, nu=nu))
        return SimulatedPlant(ROBOTS[name].build(None), 0.01, kind=kind, scheme="euler")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "kind"), CASES)
def test_at_two_rates_a_robot_that_is_not_the_model_comes_to_rest(name, kind, monkeypatch):
    """In simulated time, with targets thrown about, in reach and out of it: within the time of a hundred models, in the last
    tenth of a second commands go at less than 1 % of their limits, or the word says that the robot is on its way; the plant
    follows; and back home, in as much time again, it is where it was before to a hundredth of its size."""
    robot, hanging = hanging_of(name)
    plant, rng = other_robot(name, kind, monkeypatch), np.random.default_rng(13)
    limits = (robot.ports[actuator].limits for actuator in robot.named(Role.ACTUATOR))
    rate = np.concatenate([getattr(limit, f"{kind}_rate") for limit in limits])
    thrown_about = [thrown(robot, hanging, rng) for _ in range(max(1, COUNT // 3))]  # a run takes its time
    home = thrown_about[0][1]
    places = InTurn([place for _, _, target in thrown_about for place in (target, home)])
    run = simulate(robot, plant, places, seconds=SECONDS * len(places.all), state=hanging)
    assert np.isfinite(run.position).all()
    ends = [np.searchsorted(run.time, SECONDS * (k + 1) - 1e-9) - 1 for k in range(len(places.all))]
    start = np.linalg.norm(run.position[0] - home)  # the plant is another robot: it hangs elsewhere
    for k, end in enumerate(ends):
        speed = np.ptp(run.command[end - 60 : end], axis=0) * 10 / rate
        assert speed.max() < 0.01 or WORDS[run.status[end]] is DecisionStatus.SLOWED, (k, speed, WORDS[run.status[end]])
        if k % 2:
            assert run.error[end] < start + 0.01 * robot.size, (k, run.error[end])
