"""Rods in real time: how good the model is that a loop decides with while it moves at 100 mm/s."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pliant.bench.rods import device
from pliant.control import Inverse
from pliant.gallery import tendon
from pliant.motion import Statics
from pliant.view.page.poses import between

SPEED = 0.1
"""Of what is moved [m/s]."""


def far_from(W, true):
    """The largest error of an entry, over the root of the product of the two rows' own compliances."""
    own = np.sqrt(np.abs(np.diag(true)))
    return float(np.abs((W - true) / np.outer(own, own)).max())


def errors_along(robot, state, name, targets, rate):
    """Errors of W at where the decisions have led, against that at the nonlinear equilibrium under the same efforts, with the
    stresses that a step was to lead to and with those that it has; linearizations per decision; speeds of the effector."""
    inverse, statics, out = Inverse(robot), Statics(robot, tolerance=1e-10, max_iterations=200), []
    place = robot.displacement(state, name, as_target=True)[:3]
    for k, target in enumerate(targets):
        step = inverse.step(state, interval=1 / rate, **{name: target}).require()
        state, before = step.state, place
        place = robot.displacement(state, name, as_target=True)[:3]
        if k % 4 == 3:
            found = robot.linearize(state).model.W.copy()
            as_it_is = replace(state, pose=replace(state.pose, led=None))
            plain = robot.linearize(as_it_is).model.W.copy()
            balanced = statics.solve(state, efforts=state.efforts).require().state
            true = robot.linearize(balanced).model.W
            speed = rate * np.linalg.norm(place - before)
            out.append((far_from(found, true), far_from(plain, true), step.iterations, speed))
    return np.array(out)


@pytest.mark.parametrize("rate", [50.0, 100.0])
def test_the_model_of_the_tendon_robot_at_100_mm_per_second(rate, figure):
    """On its way round: W within 2 % by the exact tangent, with two linearizations per decision."""
    robot = tendon.build()
    state = Statics(robot).solve().require().state
    path, port = tendon.paths(robot, state)["round"]["tip"], robot.ports["tip"].port
    home = robot.displacement(state, "tip", as_target=True)
    inverse = Inverse(robot)
    for share in np.linspace(0, 1, 41)[1:]:
        state = inverse.step(state, tip=between(port, home, path.position(0.0), share)).require().state
    faster = SPEED / tendon.SPEED
    targets = [path.position(faster * k / rate) for k in range(1, int(path.duration / faster * rate))]
    found = errors_along(robot, state, "tip", targets, rate)
    figure(f"rods.W_at_100mmps_tendon_{rate:.0f}hz", 100 * found[:, 0].max(), unit="%", reference=2)
    assert np.median(found[:, 3]) == pytest.approx(SPEED, rel=0.1)
    assert found[:, 0].max() < 0.02
    assert found[:, 2].max() == 2


@pytest.mark.parametrize("rate", [50.0, 100.0])
def test_the_model_of_six_rods_at_100_mm_per_second(rate, figure):
    """The handle of the device goes 12 mm along x, y and z and back: W within 2 %, with two linearizations
    per decision, three at most. With the stresses that there are after a
    linear step, in place of those that it was to lead to, it would be off by far more."""
    robot = device()
    state = Statics(robot).solve().require().state
    home = robot.displacement(state, "pose", as_target=True)
    ways = np.concatenate([np.arange(1, 13), np.arange(11, -1, -1)]) * 1e-3
    ways = np.interp(np.arange(SPEED / rate, 0.0240001, SPEED / rate), 1e-3 * np.arange(1, 25), ways)
    targets = [home + way * np.eye(7)[axis] for axis in range(3) for way in ways]
    found = errors_along(robot, state, "pose", targets, rate)
    figure(f"rods.W_at_100mmps_device_{rate:.0f}hz", 100 * found[:, 0].max(), unit="%", reference=2)
    assert found[:, 2].max() <= 3
    assert found[:, 3] == pytest.approx(SPEED, rel=1e-3)
    assert found[:, 0].max() < 0.02
    assert found[:, 1].max() > 2 * found[:, 0].max()
