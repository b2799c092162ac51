"""Emergency stops and ends of a controller at two rates: the robot is safe first, whatever happens, and nothing hangs."""

from __future__ import annotations

import os
import signal
import time
from contextlib import contextmanager

import numpy as np
import pytest
from two_rate_robots import Judge, Wish, arm, follows, home, lives, moved, near, play, run_alone

from pliant.control import TwoRates
from pliant.control.pace import real_time
from pliant.errors import InputError, PliantWarning
from waiting import until

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.xdist_group("stops at two rates"),  # they share a controller
]
RATE = 400.0


@pytest.fixture(scope="module")
def controller():
    """At a set rate of models: it also lives beside tests that do not use it, and must leave them the machine."""
    with TwoRates(arm, rate=RATE, model_rate=60.0, kind="displacement", restarts=20) as made:
        yield made


def require_safe(controller, judge):
    """The safe command is out, within the rates all the way, and the drive was told; then the guard is released."""
    assert judge.stopped
    assert judge.commands[-1] == pytest.approx(controller.guard.safe, abs=1e-9)
    assert judge.audit.verdict.clean
    assert controller.guard.stopped
    controller.guard.release()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_an_interrupt_is_an_emergency_stop(controller, number):
    """Ctrl-C, the end of a service, a closed terminal: the command goes to the safe one within its rates, the drive is told,
    and the run ends."""
    judge = Judge(controller)

    def acts():
        yield lambda: moved(controller)
        os.kill(os.getpid(), number)
        yield lambda: False

    run = play(controller, acts(), near(0, 0.006, 0.0), judge)
    assert run.interrupted
    require_safe(controller, judge)


def test_a_stop_just_before_the_end_is_kept(controller):
    """The time is over when the loop wakes: the robot is brought to safety all the same, and the drive is told."""
    judge = Judge(controller)
    play(controller, iter([lambda: moved(controller)]), near(0, 0.006, 0.0), judge)

    def stop_and_be_late(seconds, two):
        if not two.guard.stopped:
            two.guard.stop()
            time.sleep(2.0)

    run = controller.run(2.0, near(0, 0.006, 0.0), judge, watch=stop_and_be_late)
    assert run.interrupted
    require_safe(controller, judge)


def test_a_watch_that_stops_and_ends_the_run_is_obeyed_in_both(controller):
    """The stop first: the run is over when the robot is safe, and whoever said that it is over is not asked again."""
    judge, said = Judge(controller), []

    def stop_and_leave(seconds, two):
        if moved(two):
            two.guard.stop()
            said.append(seconds)
        return bool(said)

    run = controller.run(np.inf, near(0, 0.006, 0.0), judge, watch=stop_and_leave)
    assert run.interrupted
    assert len(said) == 1
    require_safe(controller, judge)


def test_a_signal_when_all_is_over_is_kept(controller, monkeypatch):
    """It comes after the last period, before its handler is gone."""
    judge = Judge(controller)

    @contextmanager
    def ends_with_a_signal(*given):
        with real_time(*given) as rights:
            yield rights
        os.kill(os.getpid(), signal.SIGTERM)

    monkeypatch.setattr("pliant.control.two_rates.real_time", ends_with_a_signal)
    run = play(controller, iter([lambda: moved(controller)]), near(0, 0.006, 0.0), judge)
    assert run.interrupted
    require_safe(controller, judge)


class Unplugged(Judge):
    """A drive that raises, as none should, from some time on, and says when it is told to stop."""

    def __init__(self, controller):
        super().__init__(controller)
        self.asked, self.safe = 0, controller.guard.safe

    def send(self, command, now):
        if len(self.commands) > 20 and np.abs(self.commands[-1] - self.safe).max() > 1e-3:
            self.asked += 1
            raise OSError("unplugged")
        return super().send(command, now)


def test_a_drive_that_raises_is_told_to_stop(controller):
    """The ramp goes on without it, what it raises is counted and comes out in the end."""
    drive = Unplugged(controller)
    with pytest.raises(OSError, match="unplugged"):
        controller.run(60.0, near(0, 0.006, 0.0), drive)
    assert drive.stopped
    assert drive.asked > 2
    assert drive.status.faults == drive.asked - 1
    assert controller.is_safe
    controller.guard.release()


class NoMore(Wish):
    """A target that is lost at some time."""

    def __init__(self, place, controller):
        super().__init__(place)
        self.controller = controller

    def fill(self, seconds, out):
        if moved(self.controller):
            raise RuntimeError("no more targets")
        super().fill(seconds, out)


@pytest.mark.parametrize("how", ["api", "watch", "target"])
def test_what_goes_wrong_ends_at_the_safe_command(controller, how):
    """A stop from the program, or an exception from who watches or gives targets: the safe command within the rates, and the
    drive is told to stop."""
    judge, place = Judge(controller), near(0, 0.006, 0.0)

    def acts():
        yield lambda: how != "target" and moved(controller)
        if how == "watch":
            raise RuntimeError("the disk is full")
        controller.guard.stop()
        yield lambda: False

    targets = NoMore(place, controller) if how == "target" else place
    if how == "api":
        assert play(controller, acts(), targets, judge).interrupted
    else:
        with pytest.raises(RuntimeError):
            play(controller, acts(), targets, judge)
    require_safe(controller, judge)


def test_a_keeper_that_was_killed_is_started_again():
    """The model's processes end with it; the next run starts others, and says so."""
    with TwoRates(arm, rate=RATE, model_rate=60.0, kind="displacement") as controller:
        first = controller.box.process
        controller.link.keeper.kill()
        controller.link.keeper.join()
        until(lambda: not lives(first))
        judge = Judge(controller)

        def acts():
            yield lambda: controller.is_safe
            yield lambda: controller.box.process != first
            yield lambda: follows(controller) and moved(controller)

        with pytest.warns(PliantWarning, match="another one is started"):
            run = play(controller, acts(), near(0, 0.006, 0.0), judge)
        assert run.processes == 2
        assert run.events["ramping"] > 0
        assert judge.audit.verdict.clean


def test_a_keeper_that_is_killed_in_a_run_is_replaced_and_told():
    """kill -9 of the keeper, whose worker dies with it: the command goes to the safe one, another keeper is started while the
    loop goes on, models come again and are followed; the run counts it."""
    with TwoRates(arm, rate=RATE, model_rate=60.0, kind="displacement", restarts=1) as controller:
        judge = Judge(controller)

        def acts():
            yield lambda: follows(controller) and moved(controller)
            first = controller.box.process
            os.kill(controller.link.keeper.pid, signal.SIGKILL)
            yield lambda: not lives(first)
            yield lambda: controller.is_safe
            yield lambda: controller.box.process != first
            yield lambda: follows(controller) and moved(controller)

        with pytest.warns(PliantWarning, match=r"ended by signal 9 \(Killed\); another one is started"):
            run = play(controller, acts(), near(0, 0.006, 0.0), judge)
        assert (run.keepers_lost, run.processes) == (1, 2)
        assert run.events["ramping"] > 0
        assert judge.audit.verdict.clean
        assert "1 keepers lost" in repr(run)
    with pytest.raises(InputError, match="the controller is closed"):
        controller.run(1.0, home(), judge)


@pytest.mark.parametrize("victim", ["keeper", "worker"])
def test_without_restarts_the_end_of_models_is_told(victim):
    """Nobody is replaced: the command stays at the safe one, and the run says why while it runs."""
    with TwoRates(arm, rate=RATE, model_rate=60.0, kind="displacement", restarts=0) as controller:
        judge = Judge(controller)

        def acts(told):
            yield lambda: follows(controller) and moved(controller)
            first = controller.box.process
            os.kill(controller.link.keeper.pid if victim == "keeper" else first, signal.SIGKILL)
            yield lambda: not lives(first) and controller.is_safe
            yield lambda: len(told) > 0

        with pytest.warns(PliantWarning, match="commands stay at the safe one until the next run") as told:
            run = play(controller, acts(told), near(0, 0.006, 0.0), judge)
        assert run.keepers_lost == (victim == "keeper")
        assert judge.audit.verdict.clean


FORGOTTEN = """
from two_rate_robots import arm
from pliant.control import TwoRates
from pliant.control.model_link import ModelLink

def interrupted(self, seconds=0.0):
    raise KeyboardInterrupt

if __name__ == "__main__":
    two = TwoRates(arm, kind="displacement")
    print(two.link.keeper.pid, flush=True)
    {then}
"""


@pytest.mark.parametrize(
    ("then", "code"),
    [
        ("raise SystemExit(3)", 3),
        ("ModelLink.wait = interrupted; two.__enter__()", -signal.SIGINT),
        ("del two; raise SystemExit(4)", 4),
        ("import os; os.kill(os.getpid(), 9)", -signal.SIGKILL),
    ],
)
def test_nothing_hangs_and_nothing_is_left_behind(then, code):
    """A controller that was never entered, an interrupt on the way in, one that is forgotten, a kill: the script ends, and so
    do its processes."""
    done = run_alone(FORGOTTEN.format(then=then))
    keeper = int(done.stdout)
    assert done.returncode == code, done.stderr
    until(lambda: not lives(keeper))
    assert "leaked" not in done.stderr or code == -signal.SIGKILL
