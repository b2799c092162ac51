"""The simulation behind a page, without a page: steps, pause, reset, faults."""

from __future__ import annotations

import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant.control.trajectory import Circle, Line
from pliant.device import Feed, Guard, opened_drive, read_recording
from pliant.errors import InputError
from pliant.gallery import Choices, Follower
from pliant.view import print_signals
from pliant.view.page.loads import load_ranges
from pliant.view.page.session import Session, _folded
from pliant.view.page.snapshot import STAGES, by_stage
from waiting import until


def finger(*, effector=True, load=False):
    """A silicone finger along x, clamped at x = 0, with a cable above and one below its axis."""
    mesh = pl.make.box((0.1, 0.01, 0.02), (10, 1, 2))
    body = pl.TetBody(mesh, pl.Corotational(E=300e3, nu=0.4), density=1000, fixed=mesh.where(x_below=0))
    robot = pl.Robot(body, gravity=(0, 0, -9.81))
    for name, z in (("upper", 0.018), ("lower", 0.002)):
        points = [(x, 0.005, z) for x in (0.03, 0.06, 0.095)]
        robot.actuate(name, pl.Cable(points, pull=(-0.01, 0.005, z)), effort=(0, 8), displacement=(-0.02, 0.02))
    if effector:
        robot.effect("tip", pl.Point(near=(0.1, 0.005, 0.01), axes="xyz"), weight=(0, 0, 1))
    if load:
        robot.impose("push", pl.Force((0.1, 0.005, 0.02), direction=(0, 0, -1)), effort=0.0)
    return robot


@pytest.fixture
def session():
    made = Session(finger())
    yield made
    made.end()


def test_a_target_is_reached_by_steps(session):
    """The tip goes to where it is told, in steps: the error falls, and the first step does not jump there."""
    home = session.snapshot.wish.targets["tip"]
    session.aim("tip", home + np.array([0, 0, 0.01]))
    first = session.advance().errors["tip"]
    assert 0.005 < first < 0.01
    for _ in range(30):
        snapshot = session.advance()
    assert abs(session.robot.displacement(snapshot.state, "tip")[2] - home[2] - 0.01) < 1e-4
    assert snapshot.outcome.ok
    assert set(snapshot.outcome.times) & {"factor", "decide", "update"}


def test_out_of_reach_names_the_limit_and_comes_back(session):
    """A target far away leaves the robot whole at a limit that is named; a target within reach is then reached."""
    home = session.snapshot.wish.targets["tip"]
    session.aim("tip", home + np.array([0, 0, 1.0]))
    for _ in range(80):
        snapshot = session.advance()
    assert snapshot.outcome.active
    assert np.abs(snapshot.state.x).max() < 0.2
    session.aim("tip", home + np.array([0, 0, 0.002]))
    for _ in range(80):
        snapshot = session.advance()
    assert abs(session.robot.displacement(snapshot.state, "tip")[2] - home[2] - 0.002) < 1e-4


def test_not_a_number_holds_the_last_good_state(session):
    """A target that is not a number gives a status with its remedy, and the robot stays where it is."""
    before = session.advance().state
    session.aim("tip", [np.nan, 0, 0])
    snapshot = session.advance()
    assert not snapshot.outcome.ok
    assert "held" in snapshot.outcome.remedy
    assert np.array_equal(snapshot.state.x, before.x)
    assert np.isfinite(snapshot.state.x).all()


def test_a_fault_is_a_status_not_an_end(session, monkeypatch):
    """Whatever a step raises, the session pauses, tells it and holds the state; reset goes on."""
    before = session.advance().state

    def broken(*_, **__):
        raise ZeroDivisionError("a port of one's own")

    monkeypatch.setattr(session._stepping, "step", broken)
    session.start()
    until(lambda: session.snapshot.outcome.word == "FAULT")
    until(lambda: not session.snapshot.running)
    assert "ZeroDivisionError" in session.snapshot.outcome.remedy
    assert session.snapshot.state is before
    session.reset()
    session.start()
    until(lambda: session.snapshot.outcome.word == "REACHED")


def test_pause_makes_no_step_and_start_goes_on(session):
    """After pause() returns not one more step is made; after start() there are."""
    session.start()
    until(lambda: session.snapshot.count > 5)
    session.pause()
    count = session.snapshot.count
    threading.Event().wait(0.2)
    assert session.snapshot.count == count
    assert not session.snapshot.running
    session.start()
    until(lambda: session.snapshot.count > count)


def test_reset_goes_back_to_where_it_hangs(session):
    """Reset gives the hanging state, targets at the effectors, no path, an empty record."""
    session.aim("tip", session.snapshot.wish.targets["tip"] + [0, 0, 0.01])
    for _ in range(10):
        session.advance()
    session.reset()
    snapshot = session.snapshot
    assert snapshot.state is session.hanging
    assert snapshot.errors["tip"] == 0.0
    assert snapshot.count == 0
    assert len(session.record.errors(("tip",))[0]) == 0


def test_warming_up_leaves_no_trace(session):
    """A step to compile what must be compiled is not seen."""
    before = session.snapshot
    session.warm_up()
    assert session.snapshot is before
    assert session.advance().count == 1


def test_paths_are_followed_and_a_hand_takes_over():
    """A chosen path moves the target; aiming by hand leaves it; an unknown one is refused."""
    robot = finger()
    tip = robot.displacement(pl.Statics(robot).solve().require().state, "tip")
    session = Session(robot, {"up": {"tip": Line(tip, tip + np.array([0, 0, 0.01]), 0.02)}}, rate=50)
    session.follow("up")
    targets = [session.advance().wish.targets["tip"][2] for _ in range(40)]
    assert max(targets) == pytest.approx(tip[2] + 0.01, abs=1e-3)
    assert targets[-1] < max(targets) - 1e-3
    session.speed = 2.0
    session.aim("tip", tip)
    assert session.snapshot.path is None
    with pytest.raises(InputError, match="choose one of: up"):
        session.follow("down")
    with pytest.raises(InputError, match="no effector"):
        Session(robot, {"up": {"tap": Line(tip, tip + np.array([0, 0, 0.01]), 0.02)}})


def test_times_fold_round_closed_paths_and_back_on_open_ones():
    """A circle goes on and on; a line comes back."""
    circle, line = Circle((0, 0, 0), 1.0, 1.0), Line((0, 0, 0), (1, 0, 0), 1.0)
    assert _folded(circle, circle.duration + 0.5) == pytest.approx(0.5)
    assert _folded(line, 1.25) == pytest.approx(0.75)
    assert _folded(line, 2.25) == pytest.approx(0.25)


def test_without_effectors_efforts_are_given():
    """A robot that nothing controls is in balance under what sliders give, and rests in between."""
    session = Session(finger(effector=False, load=True))
    assert not session.follows
    ranges = load_ranges(session)
    assert ranges["upper"] == (0.0, 8.0)
    assert ranges["push"][0] == -ranges["push"][1] < 0
    session.start()
    until(lambda: session.snapshot.count == 1)
    session.load("push", 0.02)
    until(lambda: session.snapshot.count == 2)
    robot = finger(effector=False, load=True)
    robot.set_effort("push", 0.02)
    expected = pl.Statics(robot).solve().require().state
    assert session.snapshot.outcome.word == "CONVERGED"
    assert np.abs(session.snapshot.state.x - expected.x).max() < 1e-6
    assert not session._needs_step()
    session.end()


def test_ranges_come_from_compliance_or_from_the_user():
    """The slider of a load moves its port by about a quarter of the robot's size; a wrong name or range is refused."""
    session = Session(finger(load=True))
    assert session.follows
    high = load_ranges(session)["push"][1]
    W = session.robot.linearize(session.hanging).model.W
    row = session.robot.ports["push"].rows.start
    assert 0.25 * session.size <= W[row, row] * high <= 0.25 * session.size * 2.6
    assert load_ranges(session, {"push": (0, 1)})["push"] == (0.0, 1.0)
    with pytest.raises(InputError, match="choose one of: push"):
        load_ranges(session, {"pull": (0, 1)})
    with pytest.raises(InputError, match="give \\(low, high\\)"):
        load_ranges(session, {"push": (1, 0)})


def test_a_load_beside_the_inverse_is_felt():
    """A load given while effectors follow enters the equilibrium: the actuators work against it."""
    session = Session(finger(load=True))
    for _ in range(20):
        before = session.advance()
    session.load("push", 0.05)
    for _ in range(40):
        after = session.advance()
    row = session.robot.ports["upper"].rows.start
    assert after.state.efforts[row] > before.state.efforts[row] + 0.05
    assert abs(session.robot.displacement(after.state, "tip")[2] - session.snapshot.wish.targets["tip"][2]) < 1e-4


def test_stages_keep_all_the_time():
    """The stages that a page shows sum up to the whole step."""
    times = {"assemble": 1.0, "ports": 2.0, "factor": 3.0, "condense": 4.0, "solve": 5.0, "decide": 6.0, "update": 7.0}
    assert sum(by_stage(times).values()) == sum(times.values())
    assert tuple(by_stage({})) == tuple(STAGES)


@pytest.mark.parametrize("rate", [0.0, -1.0, np.nan])
def test_a_rate_must_be_positive(rate):
    """A rate of zero, below, or not a number is refused."""
    with pytest.raises(InputError, match="positive rate"):
        Session(finger(), rate=rate)


def rated_finger():
    """The finger with motors whose speeds are limited, as a guard needs them."""
    robot = finger()
    limits = {"effort": (0, 8), "displacement": (-0.02, 0.02), "effort_rate": 50.0, "displacement_rate": 0.2}
    made = pl.Robot(*robot.bodies, gravity=(0, 0, -9.81))
    for name in ("upper", "lower"):
        made.actuate(name, robot.ports[name].port, **limits)
    made.effect("tip", pl.Point(near=(0.1, 0.005, 0.01), axes="xyz"), weight=(0, 0, 1))
    return made


@pytest.mark.alone
def test_a_drive_does_what_the_session_does():
    """A plant behind a feed follows the robot on the page, rests where that is paused, and is safe after the end."""
    robot = rated_finger()
    drive = opened_drive("simulated", robot, "displacement")
    feed = Feed(Guard.of_robot(robot, "displacement"), drive)
    session = Session(robot, feed=feed)
    try:
        session.start()
        home = session.snapshot.wish.targets["tip"]
        session.aim("tip", home + np.array([0, 0, 0.008]))
        lifted = lambda: robot.displacement(session.snapshot.state, "tip")[2] > home[2] + 0.0079  # noqa: E731
        until(lifted)
        taken_in = lambda: robot.displacement(session.snapshot.state, "upper")[0]  # noqa: E731
        until(lambda: abs(feed.guard.command[0] - taken_in()) < 1e-4)
        session.pause()
        time.sleep(0.5)  # longer than the guard holds what nobody wishes any more
        assert abs(feed.guard.command[0] - taken_in()) < 1e-4
        feed.stop()
        until(lambda: feed.is_safe)
    finally:
        session.end()
        feed.close()
    assert feed.guard.command == pytest.approx(feed.guard.safe)
    assert drive.status.faults == 0


def test_a_page_closes_the_drive_of_its_feed(monkeypatch):
    """What `pliant run --drive` opened is stopped and let go of when the page ends, also where the page cannot be made."""
    told = []

    def opened(name, robot, kind):
        drive = opened_drive(name, robot, kind)
        monkeypatch.setattr(drive, "stop", lambda: told.append("stop"))
        monkeypatch.setattr(drive, "close", lambda: told.append("close"))
        return drive

    monkeypatch.setattr("pliant.gallery.follower.opened_drive", opened)
    exhibit = Follower("a finger", lambda mesh: rated_finger(), lambda *_: None, commands=("displacement",))
    page = exhibit.page(Choices(drive="simulated"))
    page.close()
    assert told[-2:] == ["stop", "close"]
    told.clear()
    with pytest.raises(InputError, match="rate is -1"):
        replace(exhibit, rate=-1.0).page(Choices(drive="simulated"))
    assert {"stop", "close"} <= set(told)


def test_an_emergency_stop_on_a_page_is_recorded(tmp_path, capsys):
    """`pliant run ROBOT --drive ... --record FILE`: the stop is in the file that `pliant replay` shows."""
    file = tmp_path / "run.mcap"
    exhibit = Follower("a finger", lambda mesh: rated_finger(), lambda *_: None, commands=("displacement",))
    page = exhibit.page(Choices(drive="simulated", record=file))
    feed = page.session.feed
    try:
        page.session.start()
        until(lambda: feed.drive.status.sent > 20)
        feed.stop()
        until(lambda: feed.drive._stopped)
        feed.release()
        until(lambda: not feed.drive._stopped)
    finally:
        page.close()
    log = read_recording(file)
    assert log.counted("feed", "acts") == {"drive-stopped": 2, "stop": 1, "release": 1, "drive-resumed": 1, "close": 1}
    assert log["feed"].units["command"] == "m"
    assert np.isfinite(log["feed"]["measured"][-1]).all()
    print_signals(log)
    assert "feed: release 1 times" in capsys.readouterr().out
