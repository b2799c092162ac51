"""The controller at two rates, with real processes: it never stops, and nothing forbidden ever reaches the drive."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path

import numpy as np
import pytest
from two_rate_robots import arm, home, near

from pliant.control import Correction, LoopLog, TwoRates, Verdict
from pliant.control.trajectory import Circle
from pliant.device import Drive, Guard, read_recording
from pliant.device.audit import Audit
from pliant.device.guard import Event
from pliant.device.wiring import Wiring
from pliant.errors import InputError, PliantWarning
from pliant.exchange import taken_by_host
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


def follows(controller):
    """Whether the last command was the decided one, and not held or on its way to the safe one."""
    return not controller.events & (Event.HELD | Event.RAMPING)


def has_recovered(controller, followed):
    """Whether commands were followed again, and still are, but for a model that is too old at this very moment."""
    return followed and (follows(controller) or controller.woke - controller.box.stamp > controller.guard.stale)


class TimeGiven:
    """Checks that a loop went on: commands in four fifths of the periods of the time that the machine had, and no second
    without one."""

    def __init__(self) -> None:
        self._taken = taken_by_host()

    def check(self, run, seconds):
        assert run.timing.count > 0.8 * (seconds - (taken_by_host() - self._taken)) * RATE
        assert run.timing.count + run.missed > 0.95 * seconds * RATE
        assert run.timing.periods.max() < 1.0


class Still:
    """A target that stays, or does what a function of time says."""

    def __init__(self, place) -> None:
        self.place = place

    def fill(self, seconds, out):
        out[:] = self.place(seconds) if callable(self.place) else self.place


@pytest.fixture(scope="module")
def controller():
    """At a set rate of models: it also lives beside tests that do not use it, and must leave them the machine."""
    with TwoRates(arm, rate=RATE, model_rate=60.0, kind="displacement", restarts=20) as made:
        yield made


@pytest.mark.alone
def test_models_come_and_the_tip_arrives(controller):
    """A target 8 mm off is reached by the model to a hundredth of a millimetre, many models later."""
    judge, place = Judge(controller), near(-0.001, 0.005, 0.006)
    given = TimeGiven()
    run = controller.run(2.0, Still(place), judge)
    given.check(run, 2.0)
    assert run.models > 20
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
            time.sleep(12.0)  # the spare needs its time, too, and more of it where the host takes half

        def watch(seconds, two):
            if seconds > 0.8 and "killed" not in seen:
                seen["killed"], seen["process"] = time.monotonic(), two.link.box.process
                os.kill(two.link.box.process, signal.SIGKILL)
            if "killed" in seen and "back" not in seen and two.link.box.process != seen["process"]:
                seen["back"] = time.monotonic()
            seen["follows"] = seen.get("follows", False) or ("back" in seen and follows(two))

        place, given = Still(near(0, 0.004, 0.004)), TimeGiven()
        run = controller.run(2.0 + within, place, judge, watch=watch)
        given.check(run, 2.0 + within)
        with capsys.disabled():
            print(f"\n  model back {seen['back'] - seen['killed']:.2f} s after kill -9 (spare: {standby})")
        assert seen["back"] - seen["killed"] < within
        assert judge.audit.verdict.clean
        if not standby:  # the spare is there before the model is even stale
            assert run.events["stale-held"] > 0
            assert run.events["ramping"] > 0
            assert run.events["recovered"] > 0
        assert has_recovered(controller, seen["follows"])


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
        seen["follows"] = seen.get("follows", False) or ("back" in seen and follows(two))

    run = controller.run(4.0, Still(near(0, 0.004, 0.004)), judge, watch=watch)
    assert seen["safe"] == pytest.approx(controller.guard.safe, abs=1e-9)
    assert seen["back"] - seen["continued"] < 1.0
    assert judge.audit.verdict.clean
    assert run.events["ramping"] > 0.5 * RATE
    assert has_recovered(controller, seen["follows"])


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
    assert {control.units[field] for field in ("target", "command", "measured", "displacements")} == {"m"}
    assert control.units["efforts"] == "N"
    assert np.isnan(control["measured_age"]).all() or np.isinf(control["measured_age"]).all()  # nothing was measured
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


@pytest.mark.alone
@pytest.mark.parametrize("how", ["api", "watch", "target"])
def test_what_goes_wrong_ends_at_the_safe_command(controller, how):
    """A stop from the program, or an exception from who watches or gives targets: the safe command within the rates, and the
    drive is told to stop."""
    judge, place = Judge(controller), near(0, 0.006, 0.0)

    def targets(seconds):
        if how == "target" and seconds > 0.4:
            raise RuntimeError("no more targets")
        return place

    def watch(seconds, two):
        if how == "watch" and seconds > 0.4:
            raise RuntimeError("the disk is full")
        if how == "api" and seconds > 0.4:
            two.guard.stop()

    if how == "api":
        assert controller.run(20.0, Still(targets), judge, watch=watch).interrupted
    else:
        with pytest.raises(RuntimeError):
            controller.run(20.0, Still(targets), judge, watch=watch)
    assert judge.stopped
    assert np.abs(np.array(judge.commands) - controller.guard.safe).max() > 1e-4
    assert judge.commands[-1] == pytest.approx(controller.guard.safe, abs=1e-9)
    assert judge.audit.verdict.clean
    controller.guard.release()


@pytest.mark.alone
def test_places_and_paths_are_targets(controller):
    """Three numbers, or a trajectory."""
    place = near(0, 0.003, 0.003)
    controller.run(1.0, place, Judge(controller))
    assert controller.target == pytest.approx(place)
    controller.run(0.5, Circle(near(-0.001, 0.0, 0.004), 0.006, 0.01, normal=(1, 0, 0)), Judge(controller))
    assert np.linalg.norm(controller.target - near(-0.001, 0.0, 0.004)) == pytest.approx(0.006, rel=1e-6)


def test_what_cannot_be_run_is_named(controller):
    """Drives of other units or ports, targets of other rows, corrections, times, robots instead of functions."""
    judge = Judge(controller)
    other = Judge(controller)
    other.wiring = Wiring.of_robot(controller.robot, "effort")
    for bad, message in (
        (lambda: controller.run(1.0, home(), other), "the drive takes efforts"),
        (lambda: controller.run(-1.0, home(), judge), "a run of -1.0 s"),
        (lambda: controller.run(1.0, np.zeros(2), judge), "the target has 2 numbers"),
        (lambda: controller.run(1.0, "there", judge), "a str is no target"),
        (lambda: controller.run(1.0, home(), judge, correction=Correction(2, 1.0, 1.0)), "the correction has 2 rows"),
        (lambda: TwoRates(arm()), "build is a Robot"),
        (lambda: TwoRates(arm, guard=Guard.of_robot(arm(), "displacement")), "the guard is for displacements"),
        (lambda: TwoRates(lambda: arm()), "another process cannot find build"),
    ):
        with pytest.raises(InputError, match=message):
            bad()
    assert judge.commands == []


class Slow(Judge):
    """A drive that waits, as none should."""

    def send(self, command, now):
        time.sleep(0.02)
        return super().send(command, now)


@pytest.mark.alone
def test_a_drive_that_waits_is_told_about(controller):
    """Most periods are missed: the run says how many, and warns."""
    with pytest.warns(PliantWarning, match="periods had no command; a command took up to 0.0.* s with its Slow"):
        run = controller.run(0.5, home(), Slow(controller))
    assert run.missed > 5 * run.timing.count


def lives(pid):
    """Whether there is such a process that is not merely waiting to be collected."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


def until(holds, seconds=10.0):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "it never happened"
        time.sleep(0.02)


@pytest.mark.alone
def test_a_stuck_model_process_is_replaced_and_none_is_left_behind():
    """One that hangs for longer than the patience is killed, another takes over; a hanging one does not outlive `close`."""
    with TwoRates(arm, rate=RATE, kind="displacement", restarts=3, patience=0.5) as controller:
        first = controller.box.process
        os.kill(first, signal.SIGSTOP)
        until(lambda: not lives(first))
        until(lambda: controller.box.newest() and controller.box.process != first)
        second = controller.box.process
        os.kill(second, signal.SIGSTOP)
    until(lambda: not lives(second))


@pytest.mark.alone
def test_a_keeper_that_was_killed_is_started_again():
    """The model's processes end with it; the next run starts others, and says so."""
    with TwoRates(arm, rate=RATE, model_rate=60.0, kind="displacement") as controller:
        first = controller.box.process
        controller.link.keeper.kill()
        controller.link.keeper.join()
        until(lambda: not lives(first))
        followed = []

        def watch(seconds, two):
            if two.box.process != first and follows(two):
                followed.append(seconds)

        with pytest.warns(PliantWarning, match="another one is started"):
            run = controller.run(6.0, home(), Judge(controller), watch=watch)
        assert run.processes == 2
        assert run.events["ramping"] > 0
        assert has_recovered(controller, followed)


@pytest.mark.alone
def test_no_process_outlives_a_controller_that_is_killed_at_once():
    """SIGKILL right after the start: the keeper and its worker see that nobody is there."""
    code = "from two_rate_robots import arm; from pliant.control import TwoRates; import os, signal\n"
    code += "if __name__ == '__main__':\n    two = TwoRates(arm); print(two.link.keeper.pid, flush=True)\n"
    code += "    os.kill(os.getpid(), 9)"
    path = os.pathsep.join([str(Path(__file__).parent), *sys.path])
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    keeper = int(done.stdout)
    until(lambda: not lives(keeper), 30.0)
