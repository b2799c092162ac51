"""The controller at two rates, with real processes: it never stops, and nothing forbidden ever reaches the drive."""

from __future__ import annotations

import os
import re
import signal
import time

import numpy as np
import pytest
from two_rate_robots import Judge, Wish, arm, follows, home, lives, near, play

from pliant.control import Correction, DecisionStatus, HeldTarget, LoopLog, PathTargets, TwoRates
from pliant.control.pace import Timing
from pliant.control.trajectory import Circle
from pliant.device import Guard, read_recording
from pliant.device.guard import Event
from pliant.device.wiring import Wiring
from pliant.errors import InputError, PliantWarning
from pliant.view import recorded_paths
from waiting import until

pytestmark = pytest.mark.xdist_group("two rates")  # they share a controller
RATE = 400.0


@pytest.fixture(scope="module")
def controller():
    """At a set rate of models: it also lives beside tests that do not use it, and must leave them the machine."""
    with TwoRates(arm, rate=RATE, model_rate=60.0, kind="displacement", restarts=20) as made:
        yield made


def test_models_come_and_the_tip_arrives(controller):
    """A target 8 mm off is reached by the model to a hundredth of a millimetre, many models later; every period had its
    command, or is counted as missed."""
    judge, place = Judge(controller), near(-0.001, 0.005, 0.006)
    tip = controller.robot.ports["tip"].rows

    def acts():
        yield lambda: len(judge.commands) > 0
        first = controller.box.number
        yield lambda: controller.box.number > first + 20
        yield lambda: np.linalg.norm(controller.box.delta[tip] - place) < 1e-5

    begin = time.monotonic()
    run = play(controller, acts(), place, judge)
    whole = time.monotonic() - begin
    assert run.models > 20
    assert judge.audit.verdict.clean
    assert run.timing.count == len(judge.times)
    assert (judge.times[-1] - judge.times[0]) * RATE - 2 < run.timing.count + run.missed < whole * RATE + 2


def test_what_is_not_a_number_or_far_away_is_no_danger(controller):
    """A target that is NaN for a while, and one that jumps by a metre: every command keeps bounds and rates; while it is NaN
    the command is held."""
    judge, wish = Judge(controller), Wish(home())
    sent = judge.commands

    def acts():
        yield lambda: len(sent) > 100
        wish.place = np.full(3, np.nan)
        begin = len(sent)
        yield lambda: len(sent) > begin + 200
        wish.place = near(0, 0, 1.0)
        assert np.abs(np.diff(sent[begin + 1 :], axis=0)).max() == 0.0
        yield lambda: len(sent) > begin + 500

    run = play(controller, acts(), wish, judge)
    assert 200 <= run.statuses["HELD"] <= 202
    assert judge.audit.verdict.clean


class Ages:
    """Watches how old the model was at every command, and what the guard did."""

    def __init__(self):
        self.seen = []

    def __call__(self, seconds, two):
        self.seen.append((two.woke - two.box.stamp, two.events, two.guard.command.copy()))

    def require_kept(self, controller):
        """Every command kept the guard's rule for its model's age: followed, held where it was, or on its way to the safe one.
        (Which of them there were, and how many, is up to the machine.)"""
        guard, before = controller.guard, None
        for age, events, command in self.seen:
            assert bool(events & Event.HELD) == (guard.stale < age <= guard.hold)
            assert bool(events & Event.RAMPING) == (age > guard.hold)
            if before is not None and events & Event.HELD:
                assert (command == before).all()
            if before is not None and events & Event.RAMPING:
                assert (np.abs(command - guard.safe) <= np.abs(before - guard.safe)).all()
            before = command


@pytest.mark.parametrize("standby", [False, True])
def test_a_killed_model_process_is_replaced(standby, capsys):
    """kill -9 at full rate: the loop goes on, the command goes to the safe one unless a spare is there at once, models come
    again, and commands follow them. (How long that takes is in `pliant bench realtime`.)"""
    with TwoRates(arm, rate=RATE, kind="displacement", standby=standby, restarts=1) as controller:
        judge, seen, ages = Judge(controller), {}, Ages()
        if standby:
            until(lambda: controller.has_spare)

        def acts():
            yield lambda: len(judge.commands) > 100 and follows(controller)
            process = controller.box.process
            os.kill(process, signal.SIGKILL)
            begin = time.monotonic()
            if not standby:  # the spare may be there before the model is even stale
                yield lambda: controller.is_safe
            yield lambda: controller.box.process != process
            seen["back"] = time.monotonic() - begin
            yield lambda: follows(controller)

        run = play(controller, acts(), near(0, 0.004, 0.004), judge, log=ages)
        with capsys.disabled():
            print(f"\n  model back {seen['back']:.2f} s after kill -9 (spare: {standby})")
        assert not controller.has_spare
        assert judge.audit.verdict.clean
        assert run.processes == 2
        ages.require_kept(controller)
        if not standby:
            assert run.events["ramping"] > 0
            assert run.events["recovered"] > 0


def test_a_stopped_model_process_comes_back(controller):
    """SIGSTOP for two seconds: held, then ramped to the safe command; after SIGCONT fresh models come, and are followed."""
    judge = Judge(controller)

    def acts():
        yield lambda: len(judge.commands) > 100 and follows(controller)
        process, begin = controller.box.process, time.monotonic()
        os.kill(process, signal.SIGSTOP)
        try:
            yield lambda: controller.is_safe and time.monotonic() > begin + 2.0
            before = controller.box.number
        finally:
            os.kill(process, signal.SIGCONT)
        yield lambda: controller.box.number > before + 1
        yield lambda: follows(controller)

    ages = Ages()
    run = play(controller, acts(), near(0, 0.004, 0.004), judge, log=ages)
    assert judge.audit.verdict.clean
    ages.require_kept(controller)
    assert run.events["ramping"] > 0


def test_a_run_is_recorded(controller, tmp_path):
    """Every command that reached the drive is in the file, with the models, and the events of a target that was no number."""
    judge, place = Judge(controller), near(0, 0.003, 0.003)
    wish = Wish(place)

    def acts():
        yield lambda: len(judge.commands) > 100
        first, wish.place = controller.box.number, np.full(3, np.nan)
        yield lambda: len(judge.commands) > 200
        wish.place = place
        yield lambda: len(judge.commands) > 400 and controller.box.number > first + 15

    with LoopLog(tmp_path / "run.mcap", controller) as log:
        run = play(controller, acts(), wish, judge, log=log)
    recording = read_recording(tmp_path / "run.mcap")
    control, model = recording["control"], recording["model"]
    np.testing.assert_array_equal(control["command"], judge.commands)
    assert (control["status"] == DecisionStatus.HELD.code).sum() == run.statuses["HELD"] > 0
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
    assert path.position(0.1) == pytest.approx(place)
    assert path.duration == pytest.approx(np.ptp(control.time))


def test_places_and_paths_are_targets(controller):
    """Three numbers, or a trajectory."""
    for target, middle, away in (
        (near(0, 0.003, 0.003), near(0, 0.003, 0.003), 0.0),
        (Circle(near(-0.001, 0.0, 0.004), 0.006, 0.01, normal=(1, 0, 0)), near(-0.001, 0.0, 0.004), 0.006),
    ):
        judge = Judge(controller)
        play(controller, iter([lambda judge=judge: len(judge.commands) > 20]), target, judge)
        assert np.linalg.norm(controller.target - middle) == pytest.approx(away, rel=1e-6)


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


def test_a_drive_that_waits_is_told_about(controller):
    """Most periods are missed: the run says how many, and warns."""
    with pytest.warns(PliantWarning, match="periods had no command; a command took up to [0-9.]+ s with its Slow"):
        run = controller.run(0.5, home(), Slow(controller))
    assert run.missed > 5 * run.timing.count


class Late(Wish):
    """A target that comes when the run is over."""

    def fill(self, seconds, out):
        time.sleep(0.1)
        super().fill(seconds, out)


def test_a_run_without_commands_is_told_about(controller):
    """There was no time for any: no error but a report."""
    with pytest.warns(PliantWarning, match="periods had no command; a command took up to 0 s .* a period 0 s"):
        run = controller.run(0.05, Late(home()), Judge(controller))
    assert run.timing.count == 0
    assert run.missed > 10


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


def test_a_run_and_its_timing_are_printed_in_a_few_lines(controller):
    """The figures that one wants, and what happened."""
    judge = Judge(controller)
    run = play(controller, iter([lambda: len(judge.commands) > 50]), near(0, 0.003, 0.003), judge)
    lines = repr(run).splitlines()
    assert len(lines) == 6
    assert lines[0] == f"<Run of {run.timing.duration:.3f} s: {run.commands} commands, {run.missed} missed"
    assert re.fullmatch(
        r"  latency [\d.]+ ms median, [\d.]+ ms p99.9, [\d.]+ ms max; [\d.]+ % of .*; models .* ms old", lines[1]
    )
    assert re.fullmatch(rf"  models    {run.models}, \d+ per second, by 1 process", lines[2])
    told = [f"{count} {name}" for name, count in run.statuses.items() if count]
    assert told
    assert all(part in lines[3] for part in told)
    assert lines[4].startswith("  events    ")
    assert f"{run.commands} periods of 2.5 ms: latency" in repr(run.timing)
    assert repr(Timing(10, 1e-3)) == "<Timing of 0 periods of 1 ms: no command>"


class Crowded(Judge):
    """A drive on a bus with a second controller."""

    def read(self):
        self.status.foreign += len(self.commands) > 20


def test_a_second_controller_is_told_while_the_loop_runs(controller):
    """Once, however many of its messages come."""
    judge = Crowded(controller)
    with pytest.warns(PliantWarning, match="messages of a second sender are on the bus") as told:
        play(controller, told_and_gone_on(judge, told), near(0, 0.003, 0.003), judge)
    assert len([one for one in told if "second sender" in str(one.message)]) == 1


def told_and_gone_on(judge, told):
    yield lambda: len(told) > 0
    count = len(judge.commands)
    yield lambda: len(judge.commands) > count + 50


def test_wrong_types_are_named(controller):
    """What is no number, no drive, no function: an error that says which, before anything moves."""
    judge = Judge(controller)
    for bad, message in (
        (lambda: controller.run("x", home(), judge), "seconds is 'x'"),
        (lambda: controller.run(np.nan, home(), judge), "a run of nan s"),
        (lambda: controller.run(1.0, ["a", "b", "c"], judge), "a list is no target"),
        (lambda: controller.run(1.0, ["1", "2", "3"], judge), "a list is no target"),
        (lambda: controller.run(1.0, None, judge), "a NoneType is no target"),
        (lambda: controller.run(1.0, home(), "can0"), "drive is 'can0'; give a Drive"),
        (lambda: controller.run(1.0, home(), judge, watch=3), "watch is 3"),
        (lambda: controller.run(1.0, home(), judge, correction=0.5), "correction is 0.5; give a Correction"),
        (lambda: controller.run(1.0, home(), judge, priority="high"), "priority is 'high'"),
        (lambda: TwoRates(arm, rate="fast"), "rate is 'fast'"),
        (lambda: TwoRates(arm, rate=np.nan), "rate is nan;"),
        (lambda: TwoRates(arm, rate=0), "rate is 0 Hz"),
        (lambda: TwoRates(arm, model_rate=-3), "model_rate is -3 Hz"),
        (lambda: TwoRates(arm, kind="force"), "kind is 'force'"),
        (lambda: TwoRates(arm, tangent="good"), "tangent is 'good'"),
        (lambda: TwoRates(arm, restarts=1.5), "restarts is 1.5"),
        (lambda: TwoRates(arm, patience=None), "patience is None"),
        (lambda: TwoRates(arm, energy="little"), "energy is 'little'"),
        (lambda: TwoRates(arm, speed=[1, 2]), "speed is \\[1, 2\\]"),
        (lambda: TwoRates(arm, guard="careful"), "guard is 'careful'; give a Guard"),
        (lambda: TwoRates(home), "build made array"),
        (lambda: Correction("a", 1.0, 1.0), "rows is 'a'"),
        (lambda: Correction(3, None, 1.0), "gain is None"),
        (lambda: LoopLog("x.mcap", judge), "controller is .*; give a TwoRates"),
        (lambda: HeldTarget("there"), "the target is 'there'"),
        (lambda: PathTargets(Circle((0, 0, 0), 1, 1), "fast"), "rate is 'fast'"),
    ):
        with pytest.raises(InputError, match=message):
            bad()
    assert judge.commands == []
