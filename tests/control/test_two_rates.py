"""The controller at two rates, with real processes: it never stops, and nothing forbidden ever reaches the drive."""

from __future__ import annotations

import os
import signal
import time

import numpy as np
import pytest
from two_rate_robots import arm, arm_plant, spring_arm

from pliant import Statics
from pliant.control import Controller, Correction, LoopLog, ModelLoop, PathTargets, TwoRates, Verdict, simulate
from pliant.control._decision_kernels import lay_out
from pliant.control.trajectory import Circle
from pliant.device import Drive, SimulatedPlant, read_recording
from pliant.device.audit import Audit
from pliant.device.guard import Event
from pliant.device.wiring import Wiring
from pliant.errors import InputError
from pliant.view import recorded_paths

RATE = 400.0


class Judge(Drive):
    """A drive that checks every command by itself, and keeps them all."""

    def __init__(self, controller: TwoRates) -> None:
        super().__init__(Wiring.of_robot(controller.robot, controller.kind))
        self.audit = Audit(controller.guard.low, controller.guard.high, controller.guard.rate)
        self.times: list[float] = []
        self.commands: list[np.ndarray] = []
        self.stopped = False

    def send(self, command, now):
        self.audit.see(command, now)
        self.times.append(now)
        self.commands.append(command.copy())
        return True

    def read(self):
        return None

    def stop(self):
        self.stopped = True

    def resume(self):
        self.stopped = False

    def close(self):
        pass


class Still:
    """A target that stays, or does what a function of time says."""

    def __init__(self, place) -> None:
        self.place = place

    def fill(self, seconds, out):
        out[:] = self.place(seconds) if callable(self.place) else self.place


def home() -> np.ndarray:
    robot = arm()
    return robot.displacement(Statics(robot).solve().require().state, "tip")


def near(x: float, y: float, z: float) -> np.ndarray:
    """A place so far from where the tip hangs."""
    return home() + np.array([x, y, z])


@pytest.fixture(scope="module")
def controller():
    """At a set rate of models: it also lives beside tests that do not use it, and must leave them the machine."""
    with TwoRates(arm, rate=RATE, model_rate=60.0, kind="displacement", restarts=20) as made:
        yield made


@pytest.mark.alone
def test_models_come_and_the_tip_arrives(controller):
    """A target 8 mm off is reached by the model to a hundredth of a millimetre, many models later."""
    judge, place = Judge(controller), near(-0.001, 0.005, 0.006)
    run = controller.run(2.0, Still(place), judge)
    assert run.models > 20
    assert run.timing.count > 0.8 * 2.0 * RATE
    assert judge.audit.verdict.clean
    tip = controller.link.box.delta[controller.robot.system.slices["tip"]]
    assert np.linalg.norm(tip - place) < 1e-5


@pytest.mark.alone
def test_what_is_not_a_number_or_far_away_is_no_danger(controller):
    """A target that is NaN for a while, and one that jumps by a metre: every command keeps bounds and rates; while it is NaN
    the command is held."""
    judge, place, far = Judge(controller), home(), near(0, 0, 1.0)

    def wild(seconds):
        return far if seconds > 1.2 else np.full(3, np.nan) if seconds > 0.6 else place

    run = controller.run(2.0, Still(wild), judge)
    assert run.verdicts["NOT_A_NUMBER"] > 0.3 * RATE
    assert judge.audit.verdict.clean
    times = np.array(judge.times) - judge.times[0]
    held = np.array(judge.commands)[(times > 0.7) & (times < 1.1)]
    assert np.abs(np.diff(held, axis=0)).max() == 0.0


@pytest.mark.alone
@pytest.mark.parametrize(("standby", "within"), [(False, 5.0), (True, 1.0)])
def test_a_killed_model_process_is_replaced(standby, within, capsys):
    """kill -9 at full rate: the loop goes on, the command goes to the safe one, and models come again: with a spare within
    a second, else within five."""
    with TwoRates(arm, rate=RATE, kind="displacement", standby=standby, restarts=1) as controller:
        judge, seen = Judge(controller), {}
        if standby:
            time.sleep(6.0)  # the spare needs its time, too

        def watch(seconds, two):
            if seconds > 0.8 and "killed" not in seen:
                seen["killed"], seen["process"] = time.monotonic(), two.link.box.process
                os.kill(two.link.box.process, signal.SIGKILL)
            if "killed" in seen and "back" not in seen and two.link.box.process != seen["process"]:
                seen["back"] = time.monotonic()

        run = controller.run(2.0 + within, Still(near(0, 0.004, 0.004)), judge, watch=watch)
        with capsys.disabled():
            print(f"\n  model back {seen['back'] - seen['killed']:.2f} s after kill -9 (spare: {standby})")
        assert seen["back"] - seen["killed"] < within
        assert judge.audit.verdict.clean
        assert run.timing.count > 0.8 * (2.0 + within) * RATE
        if not standby:  # the spare is there before the model is even stale
            assert run.events["stale-held"] > 0
            assert run.events["ramping"] > 0
            assert run.events["recovered"] > 0
        assert not controller.events & (Event.HELD | Event.RAMPING)


@pytest.mark.alone
def test_a_stopped_model_process_comes_back(controller):
    """SIGSTOP for two seconds: held, then ramped to the safe command; a fresh model within a second of SIGCONT."""
    judge, seen = Judge(controller), {}

    def watch(seconds, two):
        if seconds > 0.5 and "stopped" not in seen:
            seen["stopped"] = two.link.box.process
            os.kill(seen["stopped"], signal.SIGSTOP)
        if seconds > 2.5 and "continued" not in seen:
            seen["before"], seen["continued"] = two.link.box.number, time.monotonic()
            seen["safe"] = two.guard.command.copy()
            os.kill(seen["stopped"], signal.SIGCONT)
        if "continued" in seen and "back" not in seen and two.link.box.number > seen["before"] + 1:
            seen["back"] = time.monotonic()

    run = controller.run(4.0, Still(near(0, 0.004, 0.004)), judge, watch=watch)
    assert seen["safe"] == pytest.approx(controller.guard.safe, abs=1e-9)
    assert seen["back"] - seen["continued"] < 1.0
    assert judge.audit.verdict.clean
    assert run.events["ramping"] > 0.5 * RATE
    assert not controller.events & (Event.HELD | Event.RAMPING)


@pytest.mark.alone
def test_a_run_is_recorded(controller, tmp_path):
    """Every command that reached the drive is in the file, with the models, and the events of a target that was no number."""
    judge, place = Judge(controller), near(0, 0.003, 0.003)

    def gap(seconds):
        return np.full(3, np.nan) if 0.4 < seconds < 0.6 else place

    with LoopLog(tmp_path / "run.mcap", controller) as log:
        run = controller.run(1.0, Still(gap), judge, watch=log)
    recording = read_recording(tmp_path / "run.mcap")
    control, model = recording["control"], recording["model"]
    np.testing.assert_array_equal(control["command"], judge.commands)
    assert (control["verdict"] == Verdict.NOT_A_NUMBER).sum() == run.verdicts["NOT_A_NUMBER"] > 0
    assert len(model["number"]) > 10
    assert (np.diff(model["number"]) > 0).all()
    stamps = control.time - control["model_age"]
    assert (
        np.abs(stamps[:, None] - model.time).min(axis=1).max() < 1e-6
    )  # every command was decided by a recorded model
    assert recording.about["robot"] == "two_rate_robots.arm"
    path = recorded_paths(recording, controller.robot)["tip"]
    assert path.position(0.5) == pytest.approx(place)
    assert path.duration == pytest.approx(np.ptp(control.time))


@pytest.mark.alone
def test_an_interrupt_is_an_emergency_stop(controller):
    """SIGINT: the command goes to the safe one within its rates, the drive is told, and the run ends."""
    judge = Judge(controller)
    sent = []

    def watch(seconds, two):
        if seconds > 0.5 and not sent:
            sent.append(1)
            os.kill(os.getpid(), signal.SIGINT)

    run = controller.run(20.0, Still(near(0, 0.006, 0.0)), judge, watch=watch)
    assert run.interrupted
    assert judge.stopped
    assert judge.commands[-1] == pytest.approx(controller.guard.safe, abs=1e-9)
    assert judge.audit.verdict.clean
    controller.guard.release()


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


def test_simulated_time_repeats_bit_for_bit():
    """Two runs with noise and friction give the same numbers."""
    runs = []
    for _ in range(2):
        plant = SimulatedPlant(arm_plant(), 0.005, kind="displacement", settling=0.02, friction=0.1, noise=1e-4, seed=3)
        runs.append(simulate(arm(), plant, circle(), seconds=0.5, rate=400.0, correction=Correction(3, 2.0, 0.01)))
    for name in ("time", "target", "position", "command", "model_age", "verdict", "model_norm", "model_change"):
        np.testing.assert_array_equal(getattr(runs[0], name), getattr(runs[1], name))


def test_measured_errors_are_taken_out():
    """What another stiffness leaves over is gone with the correction, which keeps its limit and ignores what is no number."""
    place = near(-0.001, 0.004, 0.005)
    finals = []
    for correction in (None, Correction(3, 4.0, 0.004)):
        plant = SimulatedPlant(arm_plant(), 0.005, kind="displacement", settling=0.02)
        run = simulate(arm(), plant, Still(place), seconds=3.0, rate=200.0, correction=correction)
        finals.append(run.error[-20:].mean())
    assert finals[1] < 0.1 * finals[0]
    assert np.abs(correction.value).max() <= 0.004
    before = correction.value.copy()
    assert correction.adjust(place, np.array([np.nan, 0.0, 0.0]), 0.1) == pytest.approx(place + before)
    for _ in range(100):
        correction.adjust(place, place - 1.0, 0.1)
    assert np.abs(correction.value).max() == 0.004


def test_everything_has_its_own_place_on_the_desk():
    """The parts that compiled code cuts out of the controller's one array lie one after the other, and fill it."""
    controller = Controller(arm())
    n, e, k = controller.sizes
    model = ModelLoop(arm(), kind="displacement").model
    rows, course, reach, problem, work = lay_out(controller.desk, controller.ids, n, e, k, len(model.delta))
    assert (n, e, k) == (4, 3, 4)
    parts = [rows.S, *course, *reach, *problem, *work[1:]]
    for number, part in enumerate(parts):
        part[...] = number
    found = np.unique(controller.desk, return_counts=True)
    assert found[0].tolist() == list(range(len(parts)))
    assert found[1].tolist() == [part.size for part in parts]
    assert sum(part.size for part in (rows.a, rows.e, rows.limited, work.side)) == len(controller.ids)
    assert controller.goal[0] == 1
    assert controller.efforts[0] == 3


def test_a_model_loop_survives_commands_that_lead_nowhere():
    """Absurd displacements are approached in parts; what is no number leaves the model where it was."""
    loop = ModelLoop(arm(), kind="displacement", tangent="warped")
    for _ in range(30):
        loop.cycle(np.array([0.5, -0.5, 0.5, 0.5]))
        assert np.isfinite(loop.state.x).all()
    before = loop.state
    assert loop.cycle(np.full(4, np.nan)) is None
    assert loop.state is before
    assert loop.cycle(loop.command()) is not None


def test_ports_that_two_rates_do_not_know_are_named():
    """A cable with an imposed length."""
    from pliant import Cable

    robot = arm()
    robot.impose("rope", Cable([(0.05, 0.008, 0.008)], pull=(0.05, 0.008, 0.1)), displacement=0.0)
    with pytest.raises(InputError, match="imposed displacement"):
        Controller(robot)
    with pytest.raises(InputError, match="0 < model_rate <= rate"):
        simulated(model_rate=500.0)
