"""Simulated plants: motors, slack cables, friction, noise, and where they end up."""

from __future__ import annotations

import time

import numpy as np
import pytest
from plants import LIMIT, arm, route

from pliant import Capstan, Frame, NeoHookean, Statics
from pliant.device import PlantReport, SimulatedDrive, SimulatedPlant, Wiring
from pliant.errors import InputError, PliantWarning


def equilibrium(**given):
    """The tip of the arm in static equilibrium, its cables imposed."""
    robot = arm()
    bare = type(robot)(*robot.bodies, gravity=robot.gravity)
    for name, value in given.items():
        bare.impose(name, route(name), **value)
    bare.sense("tip", robot.ports["tip"].port)
    state = Statics(bare).solve().require().state
    return bare.displacement(state, "tip"), bare, state


def test_wiring_names_rows_and_units():
    """Commands in the order of the actuators; measurements of effectors and of the commanded ports."""
    wiring = Wiring.of_robot(arm())
    assert wiring.commands == ("up", "down")
    assert wiring.command_units == ("N", "N")
    assert wiring.measurements == ("tip.x", "tip.y", "tip.z", "up", "down")
    assert Wiring.of_robot(arm(), "displacement").command_units == ("m", "m")
    with pytest.raises(InputError, match="one unit per row"):
        Wiring("effort", ("a",), ("N", "N"), (), ())


def test_tensions_settle_at_the_static_equilibrium():
    """A constant command for 3 s: the tip is where statics puts it, the motors where they should be."""
    plant = SimulatedPlant(arm(), 0.01, settling=0.02)
    plant.advance(np.array([3.0, 0.5]), 3.0)
    tip, _, _ = equilibrium(up={"effort": 3.0}, down={"effort": 0.5})
    assert plant.truth()[:3] == pytest.approx(tip, abs=1e-6)
    assert plant.efforts() == pytest.approx([3.0, 0.5])
    assert plant.time == pytest.approx(3.0)
    assert plant.failures == 0


def test_displacements_are_held_and_cables_go_slack():
    """One cable taken in by 4 mm, the other paid out: that length, no tension in the other, the static pose."""
    plant = SimulatedPlant(arm(), 0.01, kind="displacement", settling=0.02)
    begin = plant.motors.copy()
    command = begin + np.array([0.004, -0.01])
    plant.advance(command, 3.0)
    tip, _, _ = equilibrium(up={"displacement": command[0]})
    assert plant.truth()[:3] == pytest.approx(tip, abs=2e-6)
    assert plant.truth()[3] == pytest.approx(command[0], abs=1e-6)
    assert plant.efforts()[0] > 1.0
    assert plant.efforts()[1] == pytest.approx(0.0, abs=1e-12)


def test_a_motor_gives_way_at_its_limit():
    """More length than the motor's limit of effort allows: the tension is that limit."""
    plant = SimulatedPlant(arm(), 0.01, kind="displacement")
    plant.advance(plant.motors + np.array([0.03, -0.03]), 2.0)
    assert plant.efforts()[0] == pytest.approx(LIMIT)
    assert plant.truth()[3] < plant.motors[0] - 1e-3


def test_tensions_beyond_the_limits_are_cut():
    """A command to push, or beyond the motor's limit, does what the motor can."""
    plant = SimulatedPlant(arm(), 0.01)
    plant.advance(np.array([99.0, -5.0]), 0.5)
    assert plant.efforts() == pytest.approx([LIMIT, 0.0])


def test_motors_follow_with_their_settling_time():
    """After one settling time 1 - 1/e of a step is done, whatever the step of time."""
    for step in (0.01, 0.005):
        plant = SimulatedPlant(arm(), step, settling=0.1)
        plant.advance(np.array([2.0, 0.0]), 0.1)
        assert plant.motors[0] == pytest.approx(2.0 * (1 - np.exp(-1.0)))


def test_friction_keeps_tension_from_the_tip():
    """A pulled cable with friction at its bends bends the arm less, and more on the way back: hysteresis."""
    tips = {}
    for mu in (0.0, 0.5):
        plant = SimulatedPlant(arm(), 0.01, settling=0.05, friction=mu)
        plant.advance(np.array([3.0, 0.0]), 2.0)
        there = plant.truth()[2]
        plant.advance(np.array([7.0, 0.0]), 4.0)
        plant.advance(np.array([3.0, 0.0]), 6.0)
        tips[mu] = there, plant.truth()[2]
        assert plant.failures == 0
    assert tips[0.0][0] == pytest.approx(tips[0.0][1], abs=1e-5)
    assert tips[0.5][0] < tips[0.0][0] - 1e-4
    assert tips[0.5][1] > tips[0.5][0] + 1e-4


def test_a_robot_with_capstan_cables_is_a_plant_as_it_is():
    """Ports that are imposed are commanded where there are no actuators; the same as friction= on plain cables."""
    robot = arm()
    own = type(robot)(*robot.bodies, gravity=robot.gravity)
    for name in ("up", "down"):
        cable = route(name)
        own.impose(name, Capstan(cable.points, cable.pull, friction=0.5), effort=0.0)
    own.sense("tip", robot.ports["tip"].port)
    plants = [SimulatedPlant(own, 0.01), SimulatedPlant(robot, 0.01, friction=0.5)]
    for plant in plants:
        plant.advance(np.array([3.0, 0.0]), 0.5)
    assert plants[0].wiring.commands == ("up", "down")
    assert plants[0].truth() == pytest.approx(plants[1].truth(), abs=1e-12)


def test_noise_has_its_size_and_its_seed():
    """The same seed gives the same noise; its standard deviation is what was asked for."""
    one, two = (SimulatedPlant(arm(), 0.01, noise={"tip": 1e-4}, seed=5) for _ in range(2))
    first = np.array([one.measure().values.copy() for _ in range(2000)])
    second = np.array([two.measure().values.copy() for _ in range(2000)])
    assert (first == second).all()
    spread = (first - one.truth()).std(axis=0)
    assert spread[:3] == pytest.approx(1e-4, rel=0.1)
    assert spread[3:] == pytest.approx(0.0, abs=1e-15)
    assert one.measure().sequence == 2000


def test_the_plant_can_be_another_robot_than_the_model():
    """Another law, order and modulus: the same rows, another answer, by some per cent."""
    plants = [SimulatedPlant(arm(), 0.01), SimulatedPlant(arm(NeoHookean(E=312e3, nu=0.4), order=2), 0.01)]
    drops = []
    for plant in plants:
        before = plant.truth()[2]
        plant.advance(np.array([3.0, 0.0]), 2.0)
        drops.append(plant.truth()[2] - before)
    assert plants[0].wiring == plants[1].wiring
    assert 0.01 < abs(drops[0] / drops[1] - 1) < 0.5


def test_the_robot_that_is_given_stays_as_it_is():
    """Efforts and roles of the user's robot do not change while the plant runs."""
    robot = arm()
    before = robot.efforts.copy(), dict(robot.ports)
    SimulatedPlant(robot, 0.01).advance(np.array([3.0, 1.0]), 0.2)
    assert (robot.efforts == before[0]).all()
    assert dict(robot.ports) == before[1]


def test_a_simulated_drive_gives_time_to_its_plant():
    """Commands act from their time on; a measurement is there once per step of the plant; what is wrong is counted, not
    raised."""
    drive = SimulatedDrive(SimulatedPlant(arm(), 0.01, settling=0.0))
    assert drive.read() is None
    assert drive.send(np.array([2.0, 0.0]), 100.0)
    first = drive.read()
    assert (first.sequence, first.time, first.age(100.0)) == (0, 100.0, 0.0)
    assert drive.read() is None
    for k in range(1, 6):
        drive.send(np.array([2.0, 0.0]), 100.0 + 0.004 * k)
    assert drive.plant.time == pytest.approx(0.02)
    assert drive.read().time == pytest.approx(100.02)
    assert drive.plant.efforts() == pytest.approx([2.0, 0.0])
    assert not drive.send(np.array([np.nan, 0.0]), 100.03)
    assert not drive.send(np.zeros(7), 100.04)
    assert not drive.send(np.zeros(2), np.nan)
    assert drive.status.faults == 3
    drive.send(np.array([2.0, 0.0]), 100.05)
    assert drive.plant.efforts() == pytest.approx([2.0, 0.0])
    drive.stop()
    drive.send(np.array([2.0, 0.0]), 100.07)
    assert drive.plant.efforts() == pytest.approx([0.0, 0.0])
    drive.resume()
    drive.send(np.array([2.0, 0.0]), 100.09)
    assert drive.plant.efforts() == pytest.approx([2.0, 0.0])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"kind": "force"}, "choose 'effort'"),
        ({"settling": -1.0}, "settling"),
        ({"friction": np.nan}, "friction"),
        ({"noise": -1.0}, "noise"),
        ({"noise": {"nose": 1.0}}, "'nose', which is not measured"),
        ({"start": [1.0]}, "give 2 finite values"),
        ({"h": 0.0}, "time step"),
        ({"commands": ["left"]}, "there is no port 'left'"),
    ],
)
def test_bad_input_is_named(options, message):
    """A plant that could not run is not made."""
    with pytest.raises(InputError, match=message):
        SimulatedPlant(arm(), **{"h": 0.01, **options})


def test_a_frame_cannot_be_commanded_by_its_displacement():
    """Its target is a quaternion, which is no row of commands."""
    robot = arm()
    robot.impose("hand", Frame([(0.1, 0.0, 0.0), (0.1, 0.016, 0.0), (0.1, 0.0, 0.016)]), effort=np.zeros(6))
    with pytest.raises(InputError, match="'hand' is a Frame"):
        SimulatedPlant(robot, 0.01, kind="displacement", commands=["hand"])


def slowed(plant, seconds, monkeypatch):
    """A plant whose every step takes so long."""
    step = plant.motion.step

    def slow(state):
        time.sleep(seconds)
        return step(state)

    monkeypatch.setattr(plant.motion, "step", slow)
    return plant


def test_a_plant_that_cannot_keep_up_says_so(monkeypatch):
    """In the clock's time: once, with its speed; it falls behind instead of running after, so that no call takes longer than
    some steps."""
    drive = SimulatedDrive(slowed(SimulatedPlant(arm(), 0.01), 0.015, monkeypatch))
    with pytest.warns(
        PliantWarning, match=r"cannot keep up: it went at 0\.\d+ of the clock's speed \(a step of 10 ms"
    ) as told:
        most = drive_in_real_time(drive, 1.5)
    assert len(told) == 1
    assert most <= 3
    assert drive.plant.time < 1.2
    assert drive.dropped > 0.2
    assert drive.status.faults == 0


def drive_in_real_time(drive, seconds):
    """Commands as fast as they go; the most steps that one of them took."""
    most, begin = 0, time.monotonic()
    while time.monotonic() < begin + seconds:
        before = drive.plant.time
        assert drive.send(np.array([1.0, 0.0]), time.monotonic())
        most = max(most, round((drive.plant.time - before) / drive.plant.motion.h))
    return most


def test_a_pause_is_not_made_up_for():
    """Half a second without a call: the plant goes on from where it was, by what is usual; measurements stay on the clock."""
    drive = SimulatedDrive(SimulatedPlant(arm(), 0.01))
    drive.send(np.array([1.0, 0.0]), time.monotonic())
    time.sleep(0.5)
    now = time.monotonic()
    drive.send(np.array([1.0, 0.0]), now)
    assert drive.plant.time <= 0.13
    assert drive.dropped > 0.3
    assert drive.read().time == pytest.approx(now, abs=0.0101)


def test_simulated_time_is_gone_through_whole():
    """Where the caller's time is not the clock's, no step is left out, however far it goes at once."""
    drive = SimulatedDrive(SimulatedPlant(arm(), 0.01))
    drive.send(np.array([1.0, 0.0]), 0.0)
    drive.send(np.array([1.0, 0.0]), 0.7)
    assert drive.plant.time == pytest.approx(0.7)
    assert drive.dropped == 0.0


def test_a_slow_plant_behind_a_bus_is_reported():
    """From what it told: its speed, and what a step took; not where it was only not let."""
    slow = PlantReport(5.0, 10.0, 9.5, 0.01, 90, None, 0, 0, 0, 0, 0, 0, 0, 0, False)
    assert slow.complaints()["slow"].startswith(
        "the plant cannot keep up: it went at 0.50 of the clock's speed (a step of 10 ms took 19 ms); give it a larger step"
    )
    assert PlantReport(9.8, 10.0, 9.5, 0.01, 1, None, 0, 0, 0, 0, 0, 0, 0, 0, False).complaints() == {}
    assert PlantReport(5.0, 10.0, 1.0, 0.01, 90, None, 0, 0, 0, 0, 0, 0, 0, 0, False).complaints() == {}
