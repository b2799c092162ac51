"""The diamond robot follows its square."""

from __future__ import annotations

import time

import numpy as np
import pytest

from pliant import Inverse
from pliant.gallery import diamond
from pliant.motion import Statics

pytestmark = pytest.mark.thorough


def test_the_square_is_followed():
    """Converged poses are on the square to 1e-6 m; one decision at a time at 50 Hz and 10 mm/s stays within 0.3 mm, with no
    limit active."""
    robot = diamond.build()
    hanging = Statics(robot).solve().require().state
    report = diamond.EXHIBIT.report(robot, hanging, diamond.paths(robot, hanging)["square"])
    figures = {figure.name.removeprefix("diamond."): figure.value for figure in report.figures}
    assert 1400 < robot.bodies[0].node_count < 1800
    assert figures["converged_error_mean"] < 1e-3
    assert figures["realtime_error_mean"] < 0.3
    assert figures["realtime_error_max"] < 0.6
    assert figures["active_limits"] == 0


def test_the_plant_is_another_robot_and_follows_the_models_lengths():
    """Cable lengths that the model found for two corners of its square bring the plant, of another mesh, law and modulus,
    to within 1 mm of them, but not to 0.05 mm: it is not the model."""
    robot, plant = diamond.build(), diamond.plant(0.01, kind="displacement")
    hanging = Statics(robot).solve().require().state
    square = diamond.paths(robot, hanging)["square"]["top"]
    assert plant.wiring.commands == ("east", "north", "west", "south")
    assert plant.robot.bodies[0].node_count != robot.bodies[0].node_count
    inverse, state, end = Inverse(robot), hanging, 0.0
    for share in (0.1, 0.6):
        target = square.position(share * square.duration)
        state = inverse.solve_pose(state, top=target).require().state
        lengths = np.concatenate([robot.displacement(state, name) for name in plant.wiring.commands])
        before = plant.motors.copy()
        for k in range(1, 21):
            plant.advance(before + k / 20 * (lengths - before), end + 0.02 * k)
        end += 0.9
        plant.advance(lengths, end)
        assert 5e-5 < np.linalg.norm(plant.truth()[:3] - target) < 1e-3
        assert (plant.efforts() > 0.1).all()
    assert plant.failures == 0


@pytest.mark.alone
@pytest.mark.parametrize("kind", ["effort", "displacement"])
def test_the_plant_keeps_up_with_the_clock(kind):
    """A step costs at most twice what linearizing the robot over it costs, in the same run: that keeps up with the clock where
    models do."""
    plant = diamond.plant(kind=kind)
    command, costs, linearizations = plant.motors + (1.0 if kind == "effort" else 0.003), [], []
    for k in range(1, 31):
        before = plant.spent
        plant.advance(command, k * plant.motion.h * 1.0001)
        costs.append(plant.spent - before)
        begin = time.perf_counter()
        plant.robot.linearize(plant.state, h=plant.motion.h, scheme="euler")
        linearizations.append(time.perf_counter() - begin)
    assert min(costs[10:]) < 2 * min(linearizations[10:])
    assert plant.failures == 0
