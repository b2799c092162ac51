"""Several visitors of one page, and strangers, in real browsers."""

from __future__ import annotations

import http.server
import re
import shutil
import threading
import time
from unittest.mock import patch

import numpy as np
import pytest
import viser
from visitor import FLAGS, missing

import pliant as pl
from pliant.device import Feed, Guard, opened_drive
from pliant.view import Page
from stranger import place, token
from waiting import until

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.xdist_group("browser"),
]


def arm():
    """A small arm along x with a tendon above its axis, whose tip is to be somewhere."""
    mesh = pl.make.box((0.1, 0.016, 0.016), (6, 1, 1))
    body = pl.TetBody(mesh, pl.Corotational(E=300e3, nu=0.4), density=1000, fixed=mesh.where(x_below=0))
    robot = pl.Robot(body, gravity=(0, 0, -9.81))
    cable = pl.Cable([(x, 0.008, 0.014) for x in np.linspace(0.005, 0.095, 5)], pull=(-0.02, 0.008, 0.014))
    robot.actuate("tendon", cable, effort=(0, 20), displacement=(-0.02, 0.02), displacement_rate=0.1)
    robot.effect("tip", pl.Point(near=(0.1, 0.008, 0.008), axes="z"))
    robot.impose("push", pl.Force((0.1, 0.008, 0.016), direction=(0, 0, -1)), effort=0.0)
    return robot


@pytest.fixture(scope="module")
def page():
    """An arm with a simulated drive on a page."""
    robot = arm()
    feed = Feed(Guard.of_robot(robot, "displacement"), opened_drive("simulated", robot, "displacement"), rate=50)
    with Page(robot, feed=feed) as made:
        made.open(port=8880)
        yield made


@pytest.fixture(scope="module")
def browser():
    """A browser in which a name of a stranger points to this machine."""
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
        flags = [*FLAGS, "--host-resolver-rules=MAP evil.example 127.0.0.1"]
        made = playwright.chromium.launch(executable_path=path, args=flags)
        yield made
        made.close()


@pytest.fixture
def guests(browser, page):
    """Opens the page in windows of different people."""
    contexts = []

    def come():
        context = browser.new_context(viewport={"width": 900, "height": 700}, device_scale_factor=0.25)
        context.set_default_timeout(60_000)
        contexts.append(context)
        tab = context.new_page()
        tab.complaints = []
        tab.on("console", lambda line: tab.complaints.append(line.text) if line.type == "error" else None)
        tab.goto(page.address)
        tab.get_by_role("button", name="Emergency stop").wait_for()
        count = len(contexts)
        wait(tab, lambda: len([v for v in page.helm.visitors if v.client is not None]) == count)
        return tab

    yield come
    for context in contexts:
        context.close()
    until(lambda: not page.helm.visitors)
    page.session.feed.release()


def wait(tab, holds, seconds=120.0):
    """Wait for something, letting the browser's events come in."""
    end = time.monotonic() + seconds
    while not (value := holds()):
        assert time.monotonic() < end, "it never came"
        tab.wait_for_timeout(50)
    return value


def button(tab, name):
    return tab.get_by_role("button", name=name, exact=True)


def test_the_second_visitor_looks_on_until_the_first_hands_over(page, guests):
    """The second visitor's controls are grey, and what is pressed all the same has no effect; both see who steers. The first
    hands over, the second takes over, and it is the other way round."""
    session = page.session
    first, second = guests(), guests()
    second.get_by_text("You look on").wait_for()
    first.get_by_text("You steer").wait_for()
    assert button(second, "Pause").is_disabled()
    assert button(second, "Release").is_disabled()
    assert button(second, "Emergency stop").is_enabled()
    assert button(first, "Pause").is_enabled()
    assert second.get_by_role("slider").count() == 0, "a slider that cannot be moved has no thumb"
    assert first.get_by_role("slider").count() > 0
    button(second, "Pause").dispatch_event("click")  # as who takes the grey away
    button(first, "Pause").click()
    wait(first, lambda: not session.snapshot.running)
    button(first, "Start").click()
    wait(first, lambda: session.snapshot.running)
    button(first, "Hand over").click()
    button(second, "Take over").click()
    second.get_by_text("You steer").wait_for()
    first.get_by_text("You look on").wait_for()
    wait(first, lambda: button(first, "Pause").is_disabled() and button(second, "Pause").is_enabled())
    button(second, "Pause").click()
    wait(second, lambda: not session.snapshot.running)
    button(second, "Start").click()
    wait(second, lambda: session.snapshot.running)
    assert first.complaints == second.complaints == []


def test_anyone_stops_and_only_who_steers_releases(page, guests):
    """The onlooker's emergency stop stops the drive; releasing it is for who steers."""
    feed = page.session.feed
    first, second = guests(), guests()
    second.get_by_text("You look on").wait_for()
    button(second, "Emergency stop").click()
    wait(second, lambda: feed.stopped)
    with (
        patch.object(feed, "stop", wraps=feed.stop) as stop,
        patch.object(feed, "release", wraps=feed.release) as release,
    ):
        button(second, "Release").evaluate("(item) => { item.disabled = false; item.click() }")
        button(second, "Emergency stop").click()
        wait(second, lambda: stop.called)  # what was said before it has been heard by then
        assert not release.called
    assert feed.stopped
    button(first, "Release").click()
    wait(first, lambda: not feed.stopped)


def test_when_who_steers_leaves_the_next_takes_over(page, guests):
    """The window of the one who steers is closed: the other is told that nobody steers, and takes over with a button."""
    first, second = guests(), guests()
    first.close()
    second.get_by_text("Nobody steers").wait_for()
    assert button(second, "Pause").is_disabled()
    button(second, "Take over").click()
    wait(second, lambda: button(second, "Pause").is_enabled())
    wait(second, lambda: "You look on" not in second.content() and not button(second, "Hand over").is_visible())


SOCKET = """(address) => new Promise((done) => {
  const line = new WebSocket(address, ["viser-v%s"]);
  line.onopen = () => done("open");
  line.onerror = () => done("refused");
})"""


def test_a_foreign_page_cannot_open_a_socket(page, guests):
    """A page of another server on this machine, in the browser that has the cookie of ours, is refused by its Origin; the
    page itself is not. Nor can it show our page inside itself."""
    tab = guests()
    host, port = place(page.address)
    script = SOCKET % viser.__version__
    assert tab.evaluate(script, f"ws://{host}:{port}/") == "open"
    with foreign_server() as other:
        stranger = tab.context.new_page()
        stranger.goto(other)
        assert stranger.evaluate(script, f"ws://{host}:{port}/") == "refused"
        assert stranger.evaluate(script, f"ws://{host}:{port}/?token={token(page.address)}") == "refused"
        stranger.set_content(f'<iframe src="http://{host}:{port}/"></iframe>')
        assert all(
            "viser" not in frame.content().lower() for frame in stranger.frames[1:] if "chrome-error" not in frame.url
        )


def test_another_name_and_no_token_are_refused(page, browser):
    """Neither a name that points here, nor the address without its token, shows the page; both tell what to do."""
    host, port = place(page.address)
    context = browser.new_context()
    tab = context.new_page()
    answer = tab.goto(f"http://evil.example:{port}/?token={token(page.address)}")
    assert answer.status == 403
    assert "another machine" in tab.content()
    assert (
        tab.evaluate(SOCKET % viser.__version__, f"ws://evil.example:{port}/?token={token(page.address)}") == "refused"
    )
    answer = tab.goto(f"http://{host}:{port}/")
    assert answer.status == 403
    assert re.search("token is missing", tab.content())
    assert not page.helm.visitors
    context.close()


class foreign_server:
    """A web page that has nothing to do with us."""

    def __enter__(self):
        class Plain(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200)
                self.send_header("Content-Type", "text/html")
                self.end_headers()
                self.wfile.write(b"<html><body>hello</body></html>")

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Plain)
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        return f"http://127.0.0.1:{self.server.server_address[1]}/"

    def __exit__(self, *_):
        self.server.shutdown()
        self.server.server_close()
