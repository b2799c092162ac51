"""The controller at two rates without clocks: the same decisions, the same numbers every time."""

from __future__ import annotations

import tracemalloc
from dataclasses import fields

import numpy as np
import pytest
from two_rate_robots import arm, arm_plant, near, run_alone, spring_arm

from pliant import Cable, Capstan, Frame
from pliant.control import Controller, Correction, DecisionStatus, ModelLoop, PathTargets, Question, simulate
from pliant.control._desk_kernels import lay_out
from pliant.control.commander import Commander
from pliant.control.model_box import ModelBox
from pliant.control.trajectory import Circle, Waypoints
from pliant.device import Guard, SimulatedPlant
from pliant.device.guard import Event
from pliant.errors import InputError


def circle(speed=0.04):
    return PathTargets(Circle(near(-0.001, 0.0, 0.004), 0.006, speed, normal=(1, 0, 0)), 400.0)


def simulated(robot, **options):
    plant = SimulatedPlant(arm_plant(), 0.005, kind="displacement", settling=0.02)
    settings = {"seconds": 1.5, "rate": 400.0, "model_rate": 15.0} | options
    return simulate(robot, plant, circle(), **settings)


@pytest.mark.parametrize("robot", [arm(order=2, divisions=(8, 1, 1)), spring_arm()], ids=["tets", "springs"])
def test_two_rates_follow_better_than_one(robot):
    """On a plant of tets with another mesh, order, law and stiffness, and motors that lag: smaller error and a smoother
    command, whether the controller's model is made of tets or of springs."""
    one, two = simulated(robot, together=True), simulated(robot)
    late = slice(200, None)
    assert two.error[late].mean() < 0.8 * one.error[late].mean()
    assert two.roughness < 0.9 * one.roughness


def test_who_knows_how_late_a_robot_follows_is_ahead_of_it():
    """With the 20 ms that its motors need told to the controller, a plant is nearer to where it should be by now; a target
    that stays is none the wiser."""
    off, place = [], near(-0.001, 0.004, 0.005)
    for lag in (0.0, 0.02):
        late = simulated(arm(order=2, divisions=(8, 1, 1)), model_rate=60.0, lag=lag)
        plant = SimulatedPlant(arm_plant(), 0.005, kind="displacement", settling=0.02)
        off.append((late.error[200:].mean(), simulate(arm(), plant, place, seconds=0.3, rate=200.0, lag=lag).error[-1]))
    assert off[1][0] < 0.8 * off[0][0]
    assert off[1][1] == off[0][1]
    with pytest.raises(InputError, match="lag"):
        simulated(arm(), lag=-1.0)


def test_commands_are_not_left_a_model_behind_a_fast_target():
    """The model leads while steps must be short. One that is as long as a step may be, or a target that moves on, is no reason
    to go on leading: from a start far off, a target at 100 mm/s is followed closer than it goes in one model's time."""
    path = PathTargets(Circle(near(-0.001, 0.0, 0.004), 0.012, 0.1, normal=(1, 0, 0)), 400.0)
    plant = SimulatedPlant(arm_plant(), 0.005, kind="displacement", settling=0.02)
    run = simulate(arm(), plant, path, seconds=1.5, rate=400.0, model_rate=15.0)
    assert run.error[-300:].mean() < 0.1 / 15.0


def test_simulated_time_repeats_bit_for_bit():
    """Two runs with noise and friction give the same numbers; other noise gives others, for it is what the correction sees."""
    runs = []
    for seed in (3, 3, 4):
        plant = SimulatedPlant(
            arm_plant(), 0.005, kind="displacement", settling=0.02, friction=0.1, noise=1e-4, seed=seed
        )
        runs.append(simulate(arm(), plant, circle(), seconds=0.5, rate=400.0, correction=Correction(3, 2.0, 0.01)))
    for field in fields(runs[0]):
        np.testing.assert_array_equal(getattr(runs[0], field.name), getattr(runs[1], field.name))
    assert np.abs(runs[0].command - runs[2].command).max() > 1e-6


def test_measured_errors_are_taken_out():
    """What another stiffness leaves over is gone with the correction, which keeps its limit and ignores what is no number."""
    place = near(-0.001, 0.004, 0.005)
    finals = []
    for correction in (None, Correction(3, 4.0, 0.004)):
        plant = SimulatedPlant(arm_plant(), 0.005, kind="displacement", settling=0.02)
        run = simulate(arm(), plant, place, seconds=3.0, rate=200.0, correction=correction)
        finals.append(run.error[-20:].mean())
    assert finals[1] < 0.1 * finals[0]
    assert np.abs(correction.value).max() <= 0.004
    before = correction.value.copy()
    assert correction.adjust(place, np.array([np.nan, 0.0, 0.0]), 0.1) == pytest.approx(place + before)
    for _ in range(100):
        correction.adjust(place, place - 1.0, 0.1)
    assert np.abs(correction.value).max() == 0.004


def test_the_correction_does_not_wind_up():
    """A target 50 mm beyond the reach of the arm: the correction becomes what the model is wrong by, a few millimetres; as an
    integral of the error it would have run to its limit."""
    far = near(0.05, 0.0, 0.0)
    correction, loose = Correction(3, 4.0, 0.02), Correction(3, 4.0, 0.02)
    plant = SimulatedPlant(arm_plant(), 0.005, kind="displacement", settling=0.02)
    run = simulate(arm(), plant, far, seconds=1.0, rate=200.0, correction=correction)
    assert run.error[-1] > 0.04
    assert abs(correction.value[0]) < 0.002
    for _ in range(200):
        loose.adjust(far, run.position[-1], 0.005)
    assert loose.value[0] == 0.02


def test_the_guard_is_in_simulated_time_too():
    """Whatever the target does, commands keep their bounds and rates; models that are older than the guard allows are not
    followed."""
    jump = PathTargets(Waypoints([near(0, 0.01, 0), near(0, -0.01, 0)], speed=100.0), 400.0)
    robot = arm()
    plant = SimulatedPlant(arm_plant(), 0.005, kind="displacement", settling=0.02)
    run = simulate(robot, plant, jump, seconds=0.5, rate=400.0)
    guard = Guard.of_robot(robot, "displacement")
    assert np.abs(np.diff(run.command, axis=0)).max() <= guard.rate.max() / 400.0 * (1 + 1e-9)
    impatient = Guard.of_robot(robot, "displacement", hold=0.1)
    plant = SimulatedPlant(arm_plant(), 0.005, kind="displacement", settling=0.02)
    old = simulate(robot, plant, circle(), seconds=0.5, rate=400.0, guard=impatient)
    held = (old.events & (Event.HELD | Event.RAMPING)) != 0
    assert held.any()
    assert (old.model_age[held] > impatient.stale).all()


def test_a_correction_of_a_plant_that_is_the_model_learns_nothing():
    """Not in the first period either, when there was no decision yet: the model knows where the effectors are."""
    robot, correction = arm(), Correction(3, 2.0, 0.01)
    plant = SimulatedPlant(arm(), 0.005, kind="displacement", settling=0.02)
    there = plant.robot.displacement(plant.state, "tip")
    simulate(robot, plant, there, seconds=0.01, rate=400.0, correction=correction)
    assert np.abs(correction.value).max() < 1e-5


@pytest.fixture
def commander():
    """A controller with its guard and one model, and nobody who keeps the time."""
    robot = arm()
    controller = Controller(robot)
    question = controller.question
    loop, box = ModelLoop(question, kind="displacement"), ModelBox(question)
    made = Commander(controller, box, kind="displacement", rate=1000.0)
    made.start(loop.model.delta, loop.model.efforts, question.targets_at(loop.state))
    loop.put(box, loop.here, stamp=0.0)
    box.newest()
    yield made
    box.close()


def test_a_period_is_a_decision_and_then_the_guard(commander):
    """The one kernel of a period does what the controller and the guard do one after the other."""
    robot, box = commander.robot, commander.box
    apart, guard = Controller(robot), Guard.of_robot(robot, "displacement")
    apart.start(box.delta, box.model.efforts, box.targets)
    guard.command[:] = commander.guard.command
    target = near(0, 0.004, 0.003)
    for k in range(150):
        now = 0.001 * k
        command = commander.tick(now, target, 0.001)
        decided = apart.decide(box.model, target, 0.001)
        assert commander.status is decided or (decided is DecisionStatus.SOLVED and commander.status.at_rest)
        flags = guard.check(apart.command("displacement"), now, now)
        if flags:
            apart.command("displacement")[:] = guard.command
        assert flags == commander.events
        np.testing.assert_array_equal(command, guard.command)
    assert commander.events & Event.HELD  # the model is 0.15 s old by now


def test_a_period_makes_no_arrays(commander):
    """Not for a target within reach, not for one where limits must be dropped, not for one that is no number."""
    targets = [near(0, 0.004, 0.003), near(0, 1.0, 0), np.full(3, np.nan)]
    correction, now = Correction(3, 2.0, 0.01), 0.0

    def periods(count):
        nonlocal now
        for target in targets:
            for _ in range(count):
                now += 1e-5
                commander.get_ready()
                aim = correction.adjust(target, target, 1e-3, predicted=commander.predicted())
                commander.tick(now, aim, 1e-3)

    periods(5)
    tracemalloc.start()
    periods(5)
    before, _ = tracemalloc.get_traced_memory()
    tracemalloc.reset_peak()
    periods(50)
    after, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert after - before < 256
    assert peak - before < 1024  # numbers come and go; the smallest array here has 100 bytes beside its numbers


LOADS_NOTHING = """
import gc
import numpy as np
from numba.core.dispatcher import Dispatcher
from two_rate_robots import arm
from pliant.control import Controller, Correction, DecisionStatus, ModelLoop
from pliant.control.commander import Commander
from pliant.control.model_box import ModelBox

robot = arm()
controller = Controller(robot)
loop, box = ModelLoop(controller.question, kind="displacement"), ModelBox(controller.question)
commander, correction = Commander(controller, box, kind="displacement", rate=1000.0), Correction(3, 1.0, 0.01)
commander.start(loop.model.delta, loop.model.efforts, controller.question.targets_at(loop.state))
loop.put(box, loop.here, stamp=0.0)
commander.get_ready()
kernels = [item for item in gc.get_objects() if isinstance(item, Dispatcher)]
before = [len(item.overloads) for item in kernels]
assert sum(before) > 10
home, statuses = commander.controller.goal.copy(), set()
for k, target in enumerate([home, home + [0, 0.004, 0.003], home + [0, 1, 0], np.full(3, np.nan)] * 20):
    commander.get_ready()
    aim = correction.adjust(target, home, 1e-3, predicted=commander.predicted())
    commander.tick(0.001 * k, aim, 1e-3)
    statuses.add(commander.status)
    if k == 30:  # a contradiction: the slow way
        commander.controller.displacements[:] = 0.5
        commander.controller.efforts[:] = 4.0
moving = {status for status in statuses if not status.at_rest}
assert moving == {DecisionStatus.SOLVED, DecisionStatus.RELAXED, DecisionStatus.HELD}, statuses
late = [item for item, count in zip(kernels, before) if len(item.overloads) != count]
assert late == [], late
box.close()
"""


def test_a_loop_loads_no_kernel():
    """In a fresh process all that periods need, the slow ways too, is compiled or loaded before the first of them: that takes a
    second, and a period a thousandth."""
    done = run_alone(LOADS_NOTHING)
    assert done.returncode == 0, done.stderr


def test_everything_has_its_own_place_on_the_desk():
    """The parts that compiled code cuts out of the controller's one array lie one after the other, and fill it."""
    robot = arm()
    robot.impose("rope", Cable([(0.05, 0.008, 0.008)], pull=(0.05, 0.008, 0.1)), displacement=0.0)
    controller = Controller(robot)
    desk = controller.decider.desk
    fields = [value for part in lay_out(*desk.arrays) for value in part]
    for values in (desk.numbers, desk.whole):
        own = [field for field in fields if field.dtype == values.dtype and field.size]
        values[:] = -1
        for number, field in enumerate(own):
            assert (field == -1).all()
            field[...] = number
        found = np.unique(values, return_counts=True)
        assert found[0].tolist() == list(range(len(own)))
        assert found[1].tolist() == [field.size for field in own]
    assert controller.goal[0] == desk.course.goal[0]
    assert controller.efforts.shape == (4,)


def test_a_model_loop_survives_commands_that_lead_nowhere():
    """Absurd displacements are approached in parts; what is no number leaves the model where it was."""
    loop = ModelLoop(Question(arm()), kind="displacement", tangent="warped")
    for _ in range(30):
        loop.cycle(np.array([0.5, -0.5, 0.5, 0.5]))
        assert np.isfinite(loop.state.x).all()
    before = loop.state
    assert loop.cycle(np.full(4, np.nan)) is None
    assert loop.state is before
    assert loop.cycle(loop.command()) is not None


def test_ports_that_two_rates_do_not_know_are_named():
    """A port of a user's own that is relative and does not say what its targets ask; a cable with friction."""

    class Own(Frame):
        goal_places = None

    robot = arm()
    robot.effect("own", Own(robot.bodies[0].mesh.where(x_above=0.06)))
    with pytest.raises(InputError, match="'own' is a Own, whose targets"):
        Controller(robot)
    robot = arm()
    robot.impose("rope", Capstan([(0.05, 0.008, 0.008)], pull=(0.05, 0.008, 0.1), friction=0.1), effort=0.0)
    with pytest.raises(InputError, match="'rope' has friction"):
        Controller(robot)
    with pytest.raises(InputError, match="0 < model_rate <= rate"):
        simulated(arm(), model_rate=500.0)
    with pytest.raises(InputError, match=r"a run of -1.0 s"):
        simulated(arm(), seconds=-1.0)
    with pytest.raises(InputError, match="the correction has 2 rows"):
        simulated(arm(), correction=Correction(2, 1.0, 0.01))
