"""Two rates take what the inverse takes: poses of frames, and displacements that are given."""

from __future__ import annotations

import os

import numpy as np
import pytest
from two_rate_robots import free_hand, hand, hand_plant, play

from pliant import Inverse
from pliant.algebra.rotation import exponential, from_quaternion, logarithm, to_quaternion
from pliant.control import Controller, Correction, DecisionStatus, ModelLoop, Question, TwoRates, simulate
from pliant.control._goal_kernels import approach, ask
from pliant.device import BusAddress, BusDrive, PlantProcess
from pliant.errors import InputError
from pliant.motion import beginning


def turned(robot, state, ry, rz):
    """Where the hand is, turned a little further [rad]."""
    target = robot.displacement(state, "hand", as_target=True)
    target[3:] = to_quaternion(exponential(np.array([0.0, ry, rz])) @ from_quaternion(target[3:]))
    return target


def test_what_a_pose_asks_is_what_the_port_says(rng):
    """The compiled way from a target to displacements equals `Frame.goal`, for rotations up to a half turn."""
    robot = hand()
    question = Question(robot)
    port = robot.ports["hand"].attachment.port
    for _ in range(200):
        reference, aim = (exponential(rng.uniform(-1.7, 1.7, 3)) for _ in range(2))
        target = np.concatenate([rng.normal(size=3), to_quaternion(aim)])
        out = np.empty(2)
        ask(target, reference.reshape(-1), question.wanted.sources, out)
        assert out == pytest.approx(port.measured_from(reference).goal(target), abs=1e-9)


def test_goals_turn_at_a_speed():
    """A quaternion is approached along the arc, whichever sign it has, and is one on the way; what is none is refused."""
    turns, goal = np.array([3]), np.array([0.0, 0, 0, 1, 0, 0, 0])
    axis = np.array([0.0, 0.6, 0.8])
    target = np.concatenate([[0.0, 0, 0], -to_quaternion(exponential(0.4 * axis))])
    moved, angles = np.empty(7), []
    for _ in range(30):
        assert approach(target, 0.001, 0.05, turns, goal, moved)
        goal[:] = moved
        rotation = logarithm(from_quaternion(goal[3:]))
        angles.append(np.linalg.norm(rotation))
        assert np.cross(rotation, axis) == pytest.approx(np.zeros(3), abs=1e-9)
    assert np.diff(angles[:19]) == pytest.approx(np.full(18, 0.02), rel=0.03)
    assert angles[-1] == pytest.approx(0.4)
    for bad in (np.full(7, np.nan), np.array([0.0, 0, 0, 1, 1, 0, 0]), np.zeros(7)):
        assert not approach(bad, 0.001, 0.05, turns, goal, moved)


@pytest.mark.parametrize("given", [0.001, -0.03])
def test_both_decide_the_same(given):
    """From one state and for one target, the rope taut or slack, two rates without rates decide what the inverse decides."""
    robot = hand()
    robot.set_displacement("rope", given)
    state = beginning(robot)
    target = turned(robot, state, 0.03, 0.04)
    controller = Controller(robot, speed=np.inf)
    loop = ModelLoop(controller.question, state, tangent="exact")
    controller.start(loop.model.delta, loop.model.efforts, controller.question.targets_at(state))
    assert controller.decide(controller.question.numbers(loop.model), target, 1e3) is DecisionStatus.SOLVED
    step = Inverse(robot, largest_move=np.inf).step(state, hand=target).require()
    expected = np.concatenate([step.efforts[name] for name in controller.question.actuators])
    assert controller.efforts == pytest.approx(expected, rel=1e-6, abs=1e-9)
    assert (robot.effort(step.state, "rope")[0] > 0.01) == (given > 0)


def test_a_pose_is_followed_with_a_rope_of_given_length():
    """In simulated time, on a plant that is not the model: the hand turns to its target to a few hundredths of a radian, and
    the rope stays where the plant holds it."""
    robot, plant = hand(), hand_plant()
    target = turned(robot, beginning(robot), 0.15, -0.2)
    run = simulate(robot, plant, target, seconds=1.5, rate=200.0)
    assert run.error[0] > 0.2
    assert run.error[-1] < 0.05
    assert run.position.shape[1] == 7
    good = [DecisionStatus.SOLVED.code, DecisionStatus.REACHED.code]
    assert np.isin(run.status, good).mean() > 0.9
    assert plant.robot.displacement(plant.state, "rope") == pytest.approx([0.001], abs=1e-4)


def test_a_given_displacement_may_change_on_the_way():
    """The next command already goes by the other length, and so does the next model."""
    robot = hand()
    controller = Controller(robot)
    loop = ModelLoop(controller.question)
    controller.start(loop.model.delta, loop.model.efforts, controller.question.targets_at(loop.state))
    controller.decide(controller.question.numbers(loop.model), controller.goal.copy(), 1.0)
    before = controller.efforts.copy()
    robot.set_displacement("rope", 0.004)
    controller.question.take_given(controller.given)
    controller.decide(controller.question.numbers(loop.model), controller.goal.copy(), 1.0)
    assert np.abs(controller.efforts - before).max() > 1e-3
    for _ in range(20):
        loop.cycle(controller.efforts)
    assert robot.displacement(loop.state, "rope") == pytest.approx([0.004], abs=1e-6)


def test_a_robot_that_no_support_holds_is_decided_on():
    """Held at its base by given displacements alone it has, to a thousandth, the model of the robot that is fixed there."""
    models = []
    for robot in (hand(), free_hand()):
        loop = ModelLoop(Question(robot), tangent="warped")
        rows = np.concatenate([loop.question.wanted.rows, loop.question.sought])
        controller = Controller(robot, speed=np.inf)
        controller.start(loop.model.delta, loop.model.efforts, controller.question.targets_at(loop.state))
        target = turned(robot, loop.state, 0.02, 0.03)
        assert controller.decide(controller.question.numbers(loop.model), target, 1e3).ok
        held = loop.question.given.rows
        W = loop.model.W
        left = W - W[:, held] @ np.linalg.solve(W[np.ix_(held, held)], W[held])
        models.append((left[np.ix_(rows, rows)], controller.efforts.copy()))
    (W, efforts), (other, others) = models
    assert np.abs(W - other).max() < 2e-3 * np.abs(W).max()
    assert others == pytest.approx(efforts, rel=0.02, abs=2e-3)


def test_a_correction_of_orientations_is_refused():
    """It would add rotation vectors to quaternions."""
    with pytest.raises(InputError, match="correction of orientations"):
        simulate(hand(), hand_plant(), np.zeros(7), seconds=0.1, correction=Correction(7, 1.0, 0.1))


@pytest.mark.thorough
@pytest.mark.parametrize("build", [hand, free_hand])
def test_a_pose_is_followed_on_a_bus(build):
    """The model in a process of its own, the plant behind a bus: the hand arrives, by what the bus says of it, and the model
    holds the rope at the length that is given, also after another one is given."""
    address = BusAddress("udp_multicast", "239.74.163.2", (("port", 20000 + (os.getpid() * 4 + 3) % 40000),))
    with TwoRates(build, rate=200.0, kind="displacement") as controller:
        robot, guard = controller.robot, controller.guard
        state = beginning(hand())
        target = turned(hand(), state, 0.1, -0.15)
        wanted = logarithm(from_quaternion(target[3:]))[1:]
        rope = robot.ports["rope"].rows.start
        with (
            PlantProcess(hand_plant, address, guard.low, guard.high, guard.rate, interval=0.005) as process,
            BusDrive(address.link(process.wiring)) as drive,
        ):

            def acts():
                yield lambda: np.abs(controller.measured.values - wanted).max() < 0.05
                assert controller.box.delta[rope] == pytest.approx(0.001, abs=2e-4)
                robot.set_displacement("rope", 0.002)
                yield lambda: abs(controller.box.delta[rope] - 0.002) < 2e-4
                yield lambda: controller.status in (DecisionStatus.SOLVED, DecisionStatus.REACHED)

            run = play(controller, acts(), target, drive)
            assert process.close().verdict.clean
    decided = run.commands - run.statuses["HELD"]  # a busy machine's models are late, and its commands held
    assert run.statuses["SOLVED"] + run.statuses["REACHED"] > 0.5 * decided
