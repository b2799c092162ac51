"""The haptic device of koehler2023: its condensed model, where its handle goes, and a plant that is not the model."""

from __future__ import annotations

import numpy as np
import pytest

from pliant import Inverse
from pliant.control import DecisionStatus
from pliant.errors import InputError
from pliant.gallery import tripods
from pliant.motion import Statics
from pliant.robot.roles import Role

ROWS = (*tripods.MOTORS, "pose")


@pytest.fixture(scope="module")
def device():
    """The device with its handle's wrench as a load, and how it hangs."""
    robot = tripods.build().with_roles({"pose": Role.IMPOSED})
    return robot, Statics(robot, tolerance=1e-13).solve().require().state


def test_it_is_symmetric(device):
    """Turned by 120 degrees about its axis it is the same: the handle hangs upright on the axis, lower by its weight,
    and motors of one tripod are turned alike; at rest without weight it is free of stress."""
    robot, hanging = device
    place = robot.displacement(hanging, "pose")
    assert np.abs(place[[0, 2, 3, 4]]).max() < 1e-12
    assert -0.005 < place[1] < -0.0005
    angles = np.array([robot.displacement(hanging, name)[0] for name in tripods.MOTORS])
    assert np.abs(angles.reshape(3, 2) - angles[:2]).max() < 1e-9
    light = tripods.build(gravity=0.0)
    assert np.abs(Statics(light).solve().require().state.x - light.rest().x).max() < 1e-12


@pytest.mark.parametrize("torques", [np.zeros(6), np.array([0.03, -0.02, 0.04, 0.05, -0.03, 0.01])])
def test_its_model_is_that_of_small_changes(device, torques):
    """W over motors and handle is symmetric, positive definite, and within 1e-6 of central differences of the nonlinear
    statics, entry by entry over the roots of the diagonal."""
    robot, hanging = device
    statics = Statics(robot, tolerance=1e-13)
    for name, value in zip(tripods.MOTORS, torques, strict=True):
        robot.set_effort(name, value)
    state = statics.solve(hanging).require().state
    model = robot.linearize(state).model
    rows = model.rows(*ROWS)
    W = model.W[np.ix_(rows, rows)]
    assert np.array_equal(W, W.T)
    assert np.linalg.eigvalsh(W)[0] > 1e-4 * np.linalg.eigvalsh(W)[-1]
    efforts, scale = np.concatenate([torques, np.zeros(5)]), np.sqrt(np.diag(W))
    found = np.empty_like(W)
    for k in range(len(rows)):
        sides = []
        for sign in (1, -1):
            loads = efforts.copy()
            loads[k] += sign * 2e-5 / scale[k]
            give(robot, loads)
            moved = statics.solve(state).require().state
            sides.append(read_from(robot, moved, model))
        found[:, k] = (sides[0] - sides[1]) / (4e-5 / scale[k])
    give(robot, np.zeros(11))
    assert np.abs((found - W) / np.outer(scale, scale)).max() < 1e-6


def give(robot, efforts):
    """Torques of the motors (6) and the wrench on the handle (5)."""
    for name, value in zip(tripods.MOTORS, efforts, strict=False):
        robot.set_effort(name, value)
    robot.set_effort("pose", efforts[6:])


def read_from(robot, state, model):
    """Displacements of motors and handle, rotations from where the model was made."""
    port = robot.ports["pose"].attachment
    pose = port.port.measured_from(model.references["pose"]).displacement(port.at(state.x).p)
    return np.concatenate([*(robot.displacement(state, name) for name in tripods.MOTORS), pose])


def hidden_poses(robot, count, seed):
    """Poses of the free handle at motor angles that nobody is told, half of what they may be, by forward equilibria."""
    held = robot.with_roles(dict.fromkeys(tripods.MOTORS, Role.HELD))
    statics, rng = Statics(held), np.random.default_rng(seed)
    for _ in range(count):
        for name in tripods.MOTORS:
            held.set_displacement(name, rng.uniform(-0.5, 0.5) * tripods.ANGLE)
        state = statics.solve().require().state
        turn = held.displacement(state, "pose")[3:]
        yield tripods.pose(held.displacement(state, "pose")[:3], turn)


def test_poses_inside_its_workspace_are_reached():
    """Without load on the handle, ten hidden poses within 0.1 mm and 1e-3 rad, in the nonlinear balance at the motor angles
    that were decided."""
    robot = tripods.build()
    held = robot.with_roles(dict.fromkeys(tripods.MOTORS, Role.HELD))
    hanging, inverse = Statics(robot).solve().require().state, Inverse(robot)
    far = 0.0
    for target in hidden_poses(robot, 10, seed=3):
        step = inverse.solve_pose(hanging, pose=target).require()
        assert step.status is DecisionStatus.REACHED
        for name in tripods.MOTORS:
            held.set_displacement(name, step.displacements[name])
        off = held.shortfall(Statics(held).solve(step.state).require().state, "pose", target)
        assert np.linalg.norm(off[:3]) < 1e-4
        assert np.linalg.norm(off[3:]) < 1e-3
        far = max(far, float(np.linalg.norm(target[:3])))
    assert far > 0.015


def test_its_model_lasts_from_one_decision_to_the_next():
    """At 100 mm/s on a circle of 25 mm and 500 models a second, W when it is used is within 2 % of W where the robot has come
    to by then."""
    robot = tripods.build()
    state, inverse, worst = Statics(robot).solve().require().state, Inverse(robot), 0.0
    period, speed, radius = 1 / 500, 0.1, 0.025
    for k in range(60):
        angle = speed * k * period / radius
        place = min(1.0, k / 20) * radius * np.array([np.cos(angle), 0.0, np.sin(angle)])
        before = robot.linearize(state).model
        state = inverse.step(state, pose=tripods.pose(place)).require().state
        after = robot.linearize(state).model
        rows = before.rows(*ROWS)
        one, other = (m.W[np.ix_(rows, rows)] for m in (before, after))
        if k > 25:
            scale = np.sqrt(np.diag(other))
            worst = max(worst, np.abs((one - other) / np.outer(scale, scale)).max())
    assert 0 < worst < 0.02


def test_a_plant_of_it_is_not_the_model():
    """Told angles, the plant comes to rest within 3 mm of where the model would be, and not within 0.001 mm."""
    robot = tripods.build()
    held = robot.with_roles(dict.fromkeys(tripods.MOTORS, Role.HELD))
    angles = np.array([0.2, -0.1, 0.3, 0.0, -0.2, 0.1])
    for name, angle in zip(tripods.MOTORS, angles, strict=True):
        held.set_displacement(name, angle)
    there = held.displacement(Statics(held).solve().require().state, "pose")
    plant = tripods.plant(h=0.01)
    plant.advance(angles, 1.0)
    off = np.abs(plant.robot.displacement(plant.state, "pose") - there)
    assert plant.failures == 0
    assert 1e-6 < off[:3].max() < 3e-3
    assert off[3:].max() < 0.03


def test_designs_that_cannot_be_are_refused():
    """Motors inside of the handle, or rods without thickness."""
    with pytest.raises(InputError, match="larger radius"):
        tripods.Design(radius=0.005)
    with pytest.raises(InputError, match="thickness"):
        tripods.Design(thickness=0.0)
