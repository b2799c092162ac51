"""The page in a real browser: what a person sees and does."""

from __future__ import annotations

import re
import shutil
import signal
import subprocess
import sys
import time
from contextlib import contextmanager
from dataclasses import replace
from urllib.parse import urlsplit

import numpy as np
import pytest
from visitor import COUNT_UPDATES, FLAGS, Visitor, missing

import pliant as pl
from pliant.algebra.rotation import from_quaternion, logarithm
from pliant.contact import Plane, Sphere
from pliant.device import Channel, Feed, Guard, Recorder, opened_drive
from pliant.gallery import Choices, find, tendon
from pliant.motion import Statics
from pliant.view import Page

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.xdist_group("browser"),  # one at a time: two on two cores starve each other
]


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    """A browser context with an empty profile; what goes wrong in it, and what it asks for, is kept on it."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("playwright is not installed: pip install 'pliant[test]'")
    path = next(
        (found for name in ("chromium", "chromium-browser", "google-chrome") if (found := shutil.which(name))), None
    )
    if path is None:
        missing("no chromium found: apt-get install chromium")
    with sync_playwright() as playwright:
        profile = tmp_path_factory.mktemp("profile")
        context = playwright.chromium.launch_persistent_context(
            str(profile),
            executable_path=path,
            args=FLAGS,
            viewport={"width": 1280, "height": 800},
            device_scale_factor=0.5,  # a quarter of the pixels to draw in software
        )
        context.set_default_timeout(60_000)
        context.add_init_script(COUNT_UPDATES)
        yield context
        context.close()


def on_its_way_or_there(visitor):
    """Whether the page says that the robot goes where it is told, or is there."""
    return any(word in text_of(visitor) for word in ("SOLVED", "REACHED"))


def text_of(visitor) -> str:
    return visitor.tab.locator("body").inner_text()


def test_a_robot_without_actuators_has_sliders_for_its_loads(chromium):
    """On the cantilever's page a slider gives the load: the beam bends, an arrow shows the force, nobody complains."""
    exhibit = find("cantilever")
    with Page(exhibit.built_from(None), title=exhibit.title) as page:
        page.open(port=8765)
        visitor = Visitor(chromium, page)
        visitor.until(lambda: page.session.snapshot.count == 1, "it is in balance")
        drop = page.session.robot.displacement(page.session.snapshot.state, "tip")[2]
        thumb = visitor.tab.get_by_role("slider").first
        thumb.focus()
        for _ in range(10):
            thumb.press("ArrowRight")
        visitor.until(lambda: page.session.snapshot.wish.efforts["load"][0] > 0.005, "the load rises")
        visitor.until(
            lambda: page.session.robot.displacement(page.session.snapshot.state, "tip")[2] < drop - 1e-3, "it bends"
        )
        visitor.until(lambda: "CONVERGED" in text_of(visitor), "the status is told")
        assert visitor.complaints == []
        visitor.tab.close()


@pytest.mark.slow
def test_the_emergency_stop_of_the_page_stops_the_drive(chromium):
    """With a drive, the page has a red button: pressed, the drive's command goes to the safe one and stays; Release ends it."""
    robot = find("diamond").built_from(None)
    feed = Feed(Guard.of_robot(robot, "displacement"), opened_drive("simulated", robot, "displacement"), rate=50)
    with Page(robot, feed=feed) as page:
        page.open(port=8770)
        visitor = Visitor(chromium, page)
        visitor.until(lambda: "FOLLOWING" in text_of(visitor), "the drive follows")
        visitor.until(lambda: not feed.is_safe, "it was told something")
        visitor.tab.get_by_role("button", name="Emergency stop").click()
        visitor.until(lambda: feed.stopped and feed.is_safe, "the safe command is out")
        visitor.until(lambda: "STOPPED" in text_of(visitor), "the page says so")
        visitor.tab.get_by_role("button", name="Release").click()
        visitor.until(lambda: not feed.stopped and not feed.is_safe, "it follows again")
        assert visitor.complaints == []
        visitor.tab.close()
    assert feed.is_safe


def test_the_tip_of_the_tendon_robot_is_dragged_with_its_orientation(chromium):
    """A ring of the target turns it about one axis and leaves its place; an arrow moves it along one and leaves its
    orientation; the robot follows both. Rod and discs are in the picture."""
    robot = tendon.build()
    with Page(robot, title="tendon") as page:
        page.open(port=8772)
        visitor = Visitor(chromium, page)
        session = page.session
        visitor.until(lambda: session.snapshot.errors["tip"] < 1e-6, "it hangs")
        reach = 0.22 * session.size  # of the arrows; rings are at 0.65 of that
        home = session.snapshot.wish.targets["tip"].copy()
        frame = from_quaternion(home[3:])

        def ring(angle):
            return home[:3] + 0.65 * reach * (np.cos(angle) * frame[:, 0] + np.sin(angle) * frame[:, 2])

        drag_until(visitor, ring(0.8), ring(1.05), lambda: np.abs(target_of(session)[3:] - home[3:]).max() > 0.01)
        turned = target_of(session)
        turn = frame.T @ logarithm(from_quaternion(turned[3:]) @ frame.T)
        assert np.abs(turn[1]) > 0.02
        assert np.abs(turn[[0, 2]]).max() < 1e-3, "about the axis of the ring only"
        assert np.abs(turned[:3] - home[:3]).max() < 1e-9, "in its place"

        def tip():
            return robot.displacement(session.snapshot.state, "tip", as_target=True)

        way = logarithm(from_quaternion(turned[3:]) @ frame.T)
        visitor.until(lambda: logarithm(from_quaternion(tip()[3:]) @ frame.T) @ way > 0.3 * way @ way, "the tip turns")
        frame = from_quaternion(turned[3:])
        begin = turned[:3] + 0.6 * reach * frame[:, 0]
        drag_until(visitor, begin, begin + 0.01 * frame[:, 0], lambda: target_of(session)[0] != home[0])
        moved = target_of(session)
        shift = frame.T @ (moved[:3] - turned[:3])
        assert shift[0] > 0.002
        assert np.abs(shift[1:]).max() < 1e-6, "along its arrow only"
        assert moved[3:] == pytest.approx(turned[3:], abs=1e-9)
        start = tip()[:3]
        visitor.until(lambda: np.linalg.norm(tip()[:3] - moved[:3]) < 0.01, f"the tip follows from {start}")
        assert visitor.complaints == []
        visitor.tab.close()


def target_of(session):
    """The pose that the tip is to have."""
    return session.snapshot.wish.targets["tip"].copy()


def drag_until(visitor, start, end, holds) -> None:
    """Drag from one place to another; again where a slow browser missed the mouse."""
    for _ in range(5):
        visitor.drag(start, end)
        try:
            visitor.until(holds, "", seconds=3.0)
            return
        except AssertionError:
            continue
    raise AssertionError("the mouse never caught the target")


@pytest.mark.slow
@pytest.mark.parametrize(("name", "path"), [("finger", "close"), ("pneunet", "bend"), ("trunk", "swing")])
def test_robots_of_the_gallery_follow_their_paths(chromium, name, path):
    """`pliant run ROBOT --trajectory PATH` opens a page where the robot moves along the path within 0.2 mm, all of it in the
    picture at first, and nobody complains."""
    with served("run", name, "--trajectory", path) as address:
        visitor = Visitor(chromium, None, address)
        visitor.tab.locator(f"input[value='{path}']").first.wait_for()
        shape = visitor.robot_pixels()
        high, wide = (np.flatnonzero(shape.any(axis=axis)) for axis in (1, 0))
        assert 0 < high[0] < high[-1] < shape.shape[0] - 1
        assert 0 < wide[0] < wide[-1] < shape.shape[1] - 1
        visitor.until(lambda: (visitor.robot_pixels() ^ shape).sum() > 1000, "it moves")
        visitor.until(lambda: on_its_way_or_there(visitor) and visitor.error() < 0.2, "it is on its path")
        assert visitor.complaints == []
        visitor.tab.close()


@pytest.mark.slow
def test_a_recording_runs_again_on_the_page(chromium, tmp_path):
    """`pliant replay FILE --page`: the robot that was recorded follows the targets that were recorded."""
    robot = find("diamond").built_from(None)
    home = robot.displacement(Statics(robot).solve().require().state, "top")
    fields = np.dtype([("time", "f8"), ("target", "f8", (3,))])
    channel = Channel("control", fields, rows={"target": ("top.x", "top.y", "top.z")})
    with Recorder(tmp_path / "run.mcap", [channel], about={"robot": "pliant.gallery.diamond.build"}) as recorder:
        ring = recorder.ring("control")
        record = ring.blank()
        for k in range(201):
            record["time"] = 100.0 + 0.01 * k
            record["target"] = home + np.array([0.01 * np.sin(np.pi * k / 100), 0.0, 0.01])
            ring.push(record)
    with served("replay", str(tmp_path / "run.mcap"), "--page", "--out", str(tmp_path)) as address:
        visitor = Visitor(chromium, None, address)
        visitor.tab.locator("input[value='recording']").first.wait_for()
        shape = visitor.robot_pixels()
        visitor.until(lambda: (visitor.robot_pixels() ^ shape).sum() > 300, "it moves")
        visitor.until(lambda: on_its_way_or_there(visitor) and visitor.error() < 0.5, "it is where it was told to be")
        assert visitor.complaints == []
        visitor.tab.close()


@contextmanager
def served(*arguments):
    """`pliant` with these arguments in a process of its own: the address of the page that it opens; ended by Ctrl-C."""
    command = [sys.executable, "-m", "pliant.cli", *arguments, "--no-open", "--port", "8780"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address, said = None, ""
        while address is None and (line := process.stdout.readline()):
            said += line
            address = re.search(r"http://127\.0\.0\.1:\d+\S*", line)
        assert address, said + process.stderr.read()
        yield address.group()
    finally:
        process.send_signal(signal.SIGINT)
        complaints = process.communicate(timeout=60)[1]
    assert process.returncode == 0, complaints


@pytest.mark.slow
def test_a_robot_that_runs_is_seen_running(chromium):
    """On the page of the walker time and distance are told and the robot moves; Pause holds it, Reset brings it back."""
    with find("multigait").page(Choices(gait="undulate")) as page:
        page.open(port=8770)
        visitor = Visitor(chromium, page)
        shape = visitor.robot_pixels()
        visitor.until(lambda: (visitor.robot_pixels() ^ shape).sum() > 1000, "it moves")
        visitor.until(lambda: "MOVING" in text_of(visitor), "the status is told")
        visitor.press("Pause")
        visitor.until(lambda: "PAUSED" in text_of(visitor), "it is paused")
        held = page.session.moment.time
        assert held > 0
        visitor.tab.wait_for_timeout(300)
        assert page.session.moment.time == held
        visitor.press("Reset")
        visitor.until(lambda: page.session.moment.time == 0, "it is back at rest")
        visitor.press("Play")
        visitor.until(lambda: page.session.moment.time > 0.1, "it moves again")
        assert visitor.complaints == []
        visitor.tab.close()


@pytest.fixture(scope="module")
def diamond(chromium):
    """The four-legged robot on its page, with a visitor."""
    exhibit = find("diamond")
    robot = exhibit.built_from(None)
    hanging = Statics(robot).solve().require().state
    with Page(robot, paths=exhibit.paths(robot, hanging), rate=exhibit.rate, title=exhibit.title) as page:
        page.open(port=8765)
        yield Visitor(chromium, page)


@pytest.fixture
def visitor(diamond):
    """The visitor of the diamond, with the robot running as it hangs."""
    diamond.press("Reset")
    diamond.press("Start")
    session = diamond.page.session
    diamond.until(lambda: session.snapshot.running and session.snapshot.errors["top"] < 1e-6, "the robot hangs")
    return diamond


def test_the_page_shows_the_robot_and_says_what_it_does(visitor):
    """The robot is in the picture; the panel tells status, rate, nodes, error, and how good the mesh is."""
    pixels = visitor.robot_pixels()
    assert 0.02 < pixels.mean() < 0.6
    columns = np.nonzero(pixels)[1]
    assert abs(columns.mean() / pixels.shape[1] - 0.5) < 0.15, "the robot is in the middle"
    visitor.until(lambda: "times as stiff as the true solid" in text_of(visitor), "the mesh is judged")
    visitor.until(lambda: on_its_way_or_there(visitor), "the status is told")
    text = text_of(visitor)
    for word in ("1,680 nodes", "Hz", "ms per step", "from its target", "east", "tracking error", "time per stage"):
        assert word in text


def test_dragging_the_target_moves_the_robot(visitor):
    """The mouse drags the upward arrow of the target away from a paused robot; started, it follows, and the error falls."""
    session = visitor.page.session
    home = session.snapshot.wish.targets["top"].copy()
    before, shape = visitor.picture(), visitor.robot_pixels()
    visitor.press("Pause")
    visitor.until(lambda: not session.snapshot.running, "the session pauses")
    drag_upwards(visitor, 0.02)
    far = session.snapshot.errors["top"]
    target = session.snapshot.wish.targets["top"]
    assert far > 0.005, "the mouse has moved the target"
    assert np.abs(target - home)[:2].max() < 1e-6, "along its arrow only"
    visitor.press("Start")
    visitor.until(lambda: session.snapshot.errors["top"] < 1e-5, "the top arrives")
    top = session.robot.displacement(session.snapshot.state, "top")
    assert np.linalg.norm(top - target) < 1e-5
    assert max(session.snapshot.state.efforts[:4]) > 0.1, "the cables pull"
    visitor.until(lambda: (visitor.robot_pixels() ^ shape).sum() > 1000, "the robot's pixels have changed")
    assert (np.abs(visitor.picture() - before).max(axis=2) > 40).sum() > 1000
    print(f"\ndrag: {1e3 * far:.2f} mm from the target, then {1e3 * session.snapshot.errors['top']:.6f} mm")


def test_a_running_robot_follows_the_mouse(visitor):
    """Dragged while it runs, the robot is where the target is; what it followed before is left."""
    session = visitor.page.session
    home = session.snapshot.wish.targets["top"].copy()
    drag_upwards(visitor, 0.01)
    visitor.until(lambda: session.snapshot.errors["top"] < 1e-5, "the top arrives")
    assert session.robot.displacement(session.snapshot.state, "top")[2] > home[2] + 0.003
    assert session.snapshot.path is None


def drag_upwards(visitor, height) -> None:
    """Drag the upward arrow of the target; again where a slow browser missed the mouse."""
    session = visitor.page.session
    for _ in range(5):
        place = session.snapshot.wish.targets["top"]
        arrow = place + np.array([0, 0, 0.6 * 0.22 * session.size])
        visitor.drag(arrow, arrow + np.array([0, 0, height]))
        try:
            visitor.until(lambda: session.snapshot.wish.targets["top"][2] > place[2] + 0.3 * height, "", seconds=3.0)  # noqa: B023
            return
        except AssertionError:
            continue
    raise AssertionError("the mouse never caught the arrow")


def test_following_a_path_sends_the_body_often_enough(visitor):
    """Chosen from the list, a path is followed; at least 20 times per second new vertices arrive in the page, or as often as
    0.6 of the steps where the machine has no time for 33 of them."""
    session = visitor.page.session
    visitor.tab.locator("input[value='by hand']").first.click()
    visitor.tab.get_by_role("option", name="square").click()
    visitor.until(lambda: session.snapshot.path == "square", "the path is chosen")
    visitor.until(lambda: visitor.updates() > 0, "updates arrive")
    best, frames, wanted = 0.0, 0.0, 20.0
    for _ in range(10):
        begin, sent, count, drawn = time.monotonic(), visitor.page.frames, visitor.updates(), _drawn(visitor)
        visitor.tab.wait_for_timeout(3000)
        arrived, now_sent, now_drawn = visitor.updates(), visitor.page.frames, _drawn(visitor)
        seconds = time.monotonic() - begin
        best, frames = max(best, (arrived - count) / seconds), max(frames, (now_drawn - drawn) / seconds)
        wanted = min(20.0, 0.6 * session.measured_rate())
        if best >= wanted:
            break
    print(f"\nper second: {(now_sent - sent) / seconds:.1f} updates sent, {best:.1f} received, {frames:.1f} drawn")
    print(f"steps per second: {session.measured_rate():.1f}")
    assert len(session.snapshot.state.x) > 1600
    assert best >= wanted
    assert session.snapshot.errors["top"] < 1e-4
    clock = session.snapshot.clock
    visitor.until(lambda: min(visitor.tab.evaluate(ENDS_OF_PLOTS)) > clock, "both plots go on")
    session.pause()


ENDS_OF_PLOTS = "Object.values(window.__viserTestpoints.uplots).map((plot) => plot.chart.scales.x.max)"


def _drawn(visitor) -> int:
    return visitor.tab.evaluate("window.pliantFrames")


@pytest.mark.slow
def test_a_robot_that_touches_is_seen_to_travel(chromium):
    """A ball rolls away over a plane: it stays in the picture with the arrow of its force, and the panel tells the force."""
    body = pl.RigidBody(pl.solids.sphere(0.02).translated((0, 0, 0.02)), density=1000)
    robot = pl.Robot(body, gravity=(0, 0, -9.81))
    robot.touch("ground", Plane(), surface=Sphere((0, 0, 0.02), 0.02))
    start = robot.rest()
    start = replace(start, v=np.tile([0.3, 0.0, 0.0], (len(start.x), 1)))
    with Page(robot, begin=start) as page:
        page.open(port=8795)
        visitor, session = Visitor(chromium, page), page.session
        middle = ball_pixels(visitor).mean(axis=1)
        weight = 9.81 * body.load_masses.sum()
        visitor.until(lambda: f"{weight:.3f} N" in text_of(visitor), "the panel tells the force")
        count, here = session.snapshot.count, session.snapshot.state.x[0, 0]
        visitor.until(lambda: session.snapshot.state.x[0, 0] > here + 0.2, "it rolls by five times its size")
        assert session.snapshot.count > count
        assert np.abs(ball_pixels(visitor).mean(axis=1) - middle).max() < 25
        r, g, b = visitor.picture().transpose(2, 0, 1)
        assert ((g > r + 40) & (g > b + 5)).sum() > 20, "its arrow is seen"
        assert visitor.complaints == []
        visitor.tab.close()


def ball_pixels(visitor) -> np.ndarray:
    """Rows and columns (2, n) of what is blue, however thin."""
    r, _, b = visitor.picture().transpose(2, 0, 1)
    return np.array(np.nonzero(b > r + 20))


def test_pause_pauses_and_reset_goes_home(visitor):
    """The button Pause stops the steps, Start resumes them, Reset brings the robot back to where it hangs."""
    session = visitor.page.session
    session.aim("top", session.snapshot.wish.targets["top"] + [0, 0, 0.01])
    visitor.until(lambda: session.snapshot.errors["top"] < 1e-5, "the top arrives")
    visitor.press("Pause")
    visitor.until(lambda: not session.snapshot.running, "the session pauses")
    count = session.snapshot.count
    visitor.until(lambda: "PAUSED" in text_of(visitor), "the page says so")
    assert session.snapshot.count == count
    visitor.press("Start")
    visitor.until(lambda: session.snapshot.count > count, "it goes on")
    visitor.press("Reset")
    visitor.until(lambda: np.abs(session.snapshot.state.x - session.hanging.x).max() < 1e-6, "it hangs")


def test_a_fault_is_told_and_reset_goes_on(visitor, monkeypatch):
    """A step that raises does not end the page: it tells the fault, holds the robot, and goes on after Reset and Start."""
    session = visitor.page.session

    def broken(*_):
        raise RuntimeError("a port of one's own")

    monkeypatch.setattr(session._stepping, "step", broken)
    visitor.until(
        lambda: "FAULT" in text_of(visitor) and "a port of one's own" in text_of(visitor), "the fault is told"
    )
    assert visitor.robot_pixels().sum() > 2000
    visitor.press("Reset")
    visitor.press("Start")
    visitor.until(lambda: on_its_way_or_there(visitor), "it goes on")


def test_a_slider_sets_the_speed(visitor):
    """The arrow keys move the slider of the speed, and the session hears of it."""
    session = visitor.page.session
    before = session.speed
    thumb = visitor.tab.get_by_role("slider").first
    thumb.focus()
    for _ in range(5):
        thumb.press("ArrowRight")
    visitor.until(lambda: session.speed > before + 0.3, "the speed rises")
    assert session.speed <= 5.0


def test_stress_shows_colours_and_a_legend(visitor):
    """With the checkbox on, the robot has many colours, and the legend tells what they mean; off, it is plain again."""
    plain = visitor.robot_pixels().sum()
    visitor.tab.get_by_text("Stress", exact=True).click()
    visitor.until(lambda: "von Mises stress [kPa]" in text_of(visitor), "the legend is shown")

    def hues():
        """How many different hues cover a good part of the picture."""
        r, g, b = visitor.picture().transpose(2, 0, 1)
        strong = (np.max([r, g, b], axis=0) - np.min([r, g, b], axis=0)) > 60
        hue = np.arctan2(np.sqrt(3.0) * (g - b), 2 * r - g - b)[strong]
        return int((np.histogram(hue, bins=24, range=(-np.pi, np.pi))[0] > 150).sum())

    visitor.until(lambda: hues() >= 6, "bands of stress are drawn")
    visitor.tab.get_by_text("Stress", exact=True).click()
    visitor.until(lambda: visitor.robot_pixels().sum() > 0.8 * plain, "the robot is plain again")


def test_nothing_comes_from_outside_and_nobody_complains(visitor):
    """Every request of the page went to this machine, and the console has no error."""
    hosts = {urlsplit(url).hostname for url in visitor.requests if not url.startswith(("data:", "blob:"))}
    assert hosts == {"127.0.0.1"}
    assert visitor.complaints == []
