"""The observer: exact where sensors are, as uncertain as it says where they are not, and sound when they fail."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.analysis.calibration import calibrate
from pliant.control import Observer, ObserverStatus, Question, SensingLoop
from pliant.errors import InputError
from pliant.gallery import diamond, tripods, tripods_device
from pliant.motion import Statics
from pliant.robot import Role

STEP = tripods.ENCODER / tripods.CAPSTAN
DEVIATIONS = dict.fromkeys(tripods.MOTORS, STEP) | dict.fromkeys(tripods.SENSORS, 0.03)
WRENCH = np.array([1.2, -0.8, 0.5, 0.04, -0.03])


def held_and_pushed(robot, angles, wrench):
    """The device with its motors held at angles and a wrench on its handle: its state, and what ideal sensors say."""
    other = robot.with_roles({"pose": Role.IMPOSED} | dict.fromkeys(tripods.MOTORS, Role.HELD))
    for name, angle in zip(tripods.MOTORS, angles, strict=True):
        other.set_displacement(name, angle)
    other.set_effort("pose", wrench)
    state = Statics(other, tolerance=1e-12).solve().require().state
    return other, state, np.array([other.displacement(state, name)[0] for name in (*tripods.MOTORS, *tripods.SENSORS)])


@pytest.fixture(scope="module")
def pushed():
    """A coarse device, pushed; its observer has never been there."""
    robot = tripods.build(elements=8)
    other, state, said = held_and_pushed(robot, np.array([0.2, -0.1, 0.3, 0.0, -0.2, 0.1]), WRENCH)
    observer = Observer(robot, DEVIATIONS)
    loop = SensingLoop(robot, observer)
    loop.settle(said)
    return robot, other, state, said, observer, loop


def test_ideal_sensors_tell_the_pose_and_the_wrench(pushed):
    """From how the device hangs, by encoders and bends alone: 1e-6 m and rad, 1e-5 N and N m; torques come out, too."""
    _, other, state, said, observer, loop = pushed
    assert observer.observe(loop.question.numbers(loop.model), said) is ObserverStatus.OBSERVED
    assert np.abs(observer.x - other.displacement(state, "pose")).max() < 1e-6
    assert np.abs(observer.wrench - WRENCH).max() < 1e-5
    torques = [other.effort(state, name)[0] for name in tripods.MOTORS]
    assert np.abs(observer.torques - torques).max() < 1e-6
    assert observer.misfit < 1e-3


def test_between_models_it_is_right_to_second_order(pushed):
    """What is said 1 mm away is understood by the model from here, to 2 % of the way."""
    robot, _, _, said, observer, loop = pushed
    near, there, other_said = held_and_pushed(
        robot, np.array([0.2, -0.1, 0.3, 0.0, -0.2, 0.1]), WRENCH + np.array([0.4, 0, 0, 0, 0])
    )
    numbers = loop.question.numbers(loop.model)
    observer.observe(numbers, said)
    before = observer.x.copy()
    observer.observe(numbers, other_said)
    way = near.displacement(there, "pose") - before
    assert np.linalg.norm(way[:3]) > 5e-4
    assert np.linalg.norm((observer.x - before - way)[:3]) < 0.02 * np.linalg.norm(way[:3])
    assert observer.wrench[0] - WRENCH[0] == pytest.approx(0.4, rel=0.05)


def test_it_is_as_uncertain_as_it_says(pushed, rng):
    """Noise of the standard deviations that it was told: its errors have those that it tells, to 12 %, in all rows."""
    _, _, _, said, observer, loop = pushed
    numbers, sigma = loop.question.numbers(loop.model), 1.0 / observer.question.weights
    observer.observe(numbers, said)
    x, wrench, poses, wrenches = observer.x.copy(), observer.wrench.copy(), [], []
    for _ in range(600):
        observer.observe(numbers, said + sigma * rng.standard_normal(len(sigma)))
        poses.append(observer.x - x)
        wrenches.append(observer.wrench - wrench)
    assert np.std(poses, axis=0) / observer.x_deviations == pytest.approx(np.ones(5), abs=0.12)
    assert np.std(wrenches, axis=0) / observer.wrench_deviations == pytest.approx(np.ones(5), abs=0.12)


def test_a_sensor_that_fails_is_left_out(pushed):
    """One strip is no number: the pose is still right, and less certain; all of them, and it is blind, and stays where it
    was."""
    _, other, state, said, observer, loop = pushed
    numbers = loop.question.numbers(loop.model)
    observer.observe(numbers, said)
    certain = observer.x_deviations.copy()
    broken = said.copy()
    broken[8] = np.nan
    assert observer.observe(numbers, broken) is ObserverStatus.WITHOUT_SOME
    assert observer.left_out == ("flex2",)
    assert np.abs(observer.x - other.displacement(state, "pose")).max() < 1e-4
    assert (observer.x_deviations > certain).all()
    last = observer.x.copy()
    assert observer.observe(numbers, np.full(12, np.nan)) is ObserverStatus.BLIND
    assert not observer.status.ok
    assert np.array_equal(observer.x, last)
    assert observer.observe(numbers, said) is ObserverStatus.OBSERVED


def test_an_encoder_that_jumps_is_not_believed(pushed):
    """By 1 rad within a millisecond: left out and named, and back when it is back."""
    robot, other, state, said, _, loop = pushed
    observer = Observer(robot, DEVIATIONS, rates=dict.fromkeys(tripods.MOTORS, 10.0))
    numbers = loop.question.numbers(loop.model)
    assert observer.observe(numbers, said, interval=1e-3) is ObserverStatus.OBSERVED
    jumped = said.copy()
    jumped[3] += 1.0
    for _ in range(200):
        assert observer.observe(numbers, jumped, interval=1e-3) is ObserverStatus.WITHOUT_SOME
        assert observer.left_out == ("motor3",)
        assert np.abs(observer.x - other.displacement(state, "pose")).max() < 2e-3
    assert observer.observe(numbers, said, interval=1e-3) is ObserverStatus.OBSERVED


def test_what_contradicts_itself_is_said(pushed):
    """An encoder that is off by 0.3 rad from the beginning cannot go with the strips."""
    _, _, _, said, observer, loop = pushed
    off = said.copy()
    off[0] += 0.3
    off[6:] += (0.5, -0.5, 0.5, -0.5, 0.5, -0.5)
    assert observer.observe(loop.question.numbers(loop.model), off) is ObserverStatus.CONTRADICTED
    assert not observer.status.ok


def test_the_diamond_feels_what_pushes_its_top():
    """By the lengths of its cables, with their tensions known: a push of 0.1 N on its top is found to 1e-3 N."""
    robot = diamond.build()
    push = np.array([0.06, -0.03, -0.08])
    pushed = robot.with_roles({"top": Role.IMPOSED})
    cables = robot.named(Role.ACTUATOR)
    tensions = np.array([0.3, 0.4, 0.35, 0.25])
    for name, tension in zip(cables, tensions, strict=True):
        pushed.set_effort(name, tension)
    pushed.set_effort("top", push)
    state = Statics(pushed).solve().require().state
    said = np.array([pushed.displacement(state, name)[0] for name in cables])
    observer = Observer(robot, dict.fromkeys(cables, 1e-5), motors="effort")
    loop = SensingLoop(robot, observer)
    loop.settle(said, tensions, cycles=30)
    observer.observe(loop.question.numbers(loop.model), said, known=tensions)
    assert observer.wrench == pytest.approx(push, abs=1e-3)
    assert observer.x == pytest.approx(pushed.displacement(state, "top"), abs=1e-5)
    assert (observer.wrench_deviations < 0.05).all()


@pytest.mark.parametrize(
    ("make_it", "said"),
    [
        (lambda r: Observer(r, {}), "nothing is measured"),
        (lambda r: Observer(r, {"pose": 1.0}), "'pose' is not measured"),
        (lambda r: Observer(r, {"motor0": 0.0}), "standard deviations"),
        (lambda r: Observer(r, {"motor0": 1.0}, wrench=-1.0), "positive limits"),
        (lambda r: Observer(r, {"motor0": 1.0}, rates={"motor1": 1.0}), "has a rate and is not measured"),
    ],
)
def test_what_it_cannot_be_is_said(make_it, said, pushed):
    """With the remedy."""
    with pytest.raises(InputError, match=said):
        make_it(pushed[0])


@pytest.mark.slow
def test_on_a_device_that_is_not_the_model():
    """Motors fixed, a hand that moves the handle by 12 mm and 0.12 rad, strips that calibration has left 4.6 % of their
    range: pose errors are within two of its own standard deviations nine times in ten, and those on average not above twice
    the errors."""
    model = tripods.build()
    table = tripods_device.calibration_run(tripods_device.device(0.005))
    found = calibrate(model, table, tripods_device.candidates(model), unit="counts")
    robot = tripods.build(sensors=dict(found.ports()))
    observer = Observer(robot, dict.fromkeys(tripods.MOTORS, STEP) | found.deviations())
    loop = SensingLoop(robot, observer)
    size, rates = np.array([0.012, 0.009, 0.012, 0.12, 0.12]), np.array([0.5, 0.37, 0.61, 0.43, 0.29])

    def hand(time):
        way = size * np.sin(2 * np.pi * rates * time)
        return tripods.pose(way[:3], way[3:])

    device, errors, deviations = tripods_device.device(0.005, hand=hand), [], []
    for k in range(800):
        device.advance(np.zeros(6), 0.005 * (k + 1) + 1e-9)
        loop.cycle(device.measure().values)
        errors.append(observer.x - device.robot.displacement(device.state, "pose"))
        deviations.append(observer.x_deviations.copy())
    inside = np.abs(errors) < 2 * np.array(deviations)
    rms = np.sqrt(np.mean(np.square(errors), axis=0))
    assert inside.mean() > 0.9
    assert (np.mean(deviations, axis=0) < 2 * rms).all()


def test_its_question_is_one_of_the_usual_kind(pushed):
    """The same rows and names as any other question's; sought are motors and the handle's wrench, wanted what is measured."""
    robot, *_, observer, _ = pushed
    assert observer.question.labels == (*tripods.MOTORS, *Question(robot).effector_rows)
    assert observer.question.effector_rows == (*tripods.MOTORS, *tripods.SENSORS)
