"""Hostile arguments of pages and pictures, hostile requests and messages to an open page: never a traceback, and the page
lives on."""

from __future__ import annotations

import contextlib
import itertools
from dataclasses import replace

import msgspec
import numpy as np
import pytest
from hostile import VALUES, refused_or_made
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from viser._messages import Message
from websockets.exceptions import ConnectionClosed

import pliant as pl
from pliant.contact import Plane
from pliant.control.trajectory import Line
from pliant.device import Feed, Guard, opened_drive
from pliant.motion import Statics
from pliant.motion.explicit import Explicit, Sine
from pliant.view import MotionPage, Moving, Page, draw_bodies, draw_stills, film_bodies, film_mode
from pliant.view.page import MotionSession, Setting
from pliant.view.page.session import Session
from stranger import CAMERA, HANDSHAKE, asked, drag, joined, place, press, say, token
from waiting import until

pytestmark = [
    pytest.mark.thorough,
    pytest.mark.filterwarnings("ignore"),
]


def arm():
    """A small arm along x with a tendon to decide, one whose length is given, a load, and a tip."""
    mesh = pl.make.box((0.1, 0.016, 0.016), (5, 1, 1))
    body = pl.TetBody(mesh, pl.Corotational(E=300e3, nu=0.4), density=1000, fixed=mesh.where(x_below=0))
    robot = pl.Robot(body, gravity=(0, 0, -9.81))
    for name, (y, z) in {"up": (0.008, 0.014), "left": (0.014, 0.008)}.items():
        cable = pl.Cable([(x, y, z) for x in np.linspace(0.005, 0.095, 4)], pull=(-0.02, y, z))
        if name == "up":
            robot.actuate(name, cable, effort=(0, 20), displacement=(-0.02, 0.02), displacement_rate=0.1)
        else:
            robot.impose(name, cable, displacement=0.001)
    robot.impose("push", pl.Force((0.1, 0.008, 0.016), direction=(0, 0, -1)), effort=0.0)
    robot.effect("tip", pl.Point(near=(0.1, 0.008, 0.008)))
    return robot


def block(gait="breathe", settings=None):
    lattice = pl.Lattice.block((2, 1, 1), 0.01)
    body = pl.SpringBody(lattice, 5e4)
    engine = Explicit(
        body, gravity=(0, 0, -9.81), ground=Plane(), damping=5.0, actuation={0: Sine(0.1, 5.0)}, threads=1
    )
    return Moving(body, engine)


ROBOT, BLOCK = arm(), block()
HOME = Statics(ROBOT).solve().require().state
TIP, UP = ROBOT.displacement(HOME, "tip"), np.array([0.0, 0.0, 0.001])
WAY = Line(TIP, TIP + 5 * UP, 0.01)
PAGES = {
    "robot": lambda value: Page(value),
    "paths": lambda value: Page(ROBOT, paths=value),
    "a path": lambda value: Page(ROBOT, paths={"way": value}),
    "a trajectory": lambda value: Page(ROBOT, paths={"way": {"tip": value}}),
    "an effector": lambda value: Page(ROBOT, paths={"way": {value: WAY}}),
    "a path's name": lambda value: Page(ROBOT, paths={value: {"tip": WAY}}),
    "rate": lambda value: Page(ROBOT, rate=value),
    "title": lambda value: Page(ROBOT, title=value),
    "loads": lambda value: Page(ROBOT, loads=value),
    "a range": lambda value: Page(ROBOT, loads={"push": value}),
    "start": lambda value: Page(ROBOT, paths={"way": {"tip": WAY}}, start=value),
    "feed": lambda value: Page(ROBOT, feed=value),
    "theory": lambda value: Page(ROBOT, theory=value),
    "port": lambda value: Page(ROBOT).open(port=value) if not _is_port(value) else None,
    "host": lambda value: Page(ROBOT).open(host=value),
    "build": lambda value: None if callable(value) else MotionPage(value, ["a"]),
    "what build gives": lambda value: MotionPage(lambda gait, settings: value, ["a"]),
    "gaits": lambda value: MotionPage(block, value),
    "a gait": lambda value: MotionPage(block, [value]),
    "the gait": lambda value: MotionPage(block, ["a"], gait=value),
    "settings": lambda value: MotionPage(block, ["a"], value),
    "a setting": lambda value: MotionPage(block, ["a"], [value]),
    "name of a setting": lambda value: Setting(value, "", 0.0, 1.0, 0.5),
    "low": lambda value: Setting("a", "", value, 1.0, 0.5),
    "high": lambda value: Setting("a", "", 0.0, value, 0.5),
    "value": lambda value: Setting("a", "", 0.0, 1.0, value),
    "told": lambda value: MotionPage(block, ["a"], told=value),
    "regions": lambda value: MotionPage(block, ["a"], regions=value),
    "engine": lambda value: MotionPage.of(value),
    "title of an engine": lambda value: MotionPage.of(block().engine, title=value),
}


def _is_port(value):
    return isinstance(value, int) and not isinstance(value, bool) and 0 < value < 65536


def unhashable(value):
    try:
        hash(value)
    except TypeError:
        return True
    return False


@pytest.mark.parametrize("argument", PAGES)
def test_hostile_arguments_of_pages_are_refused_or_usable(argument):
    """Whatever stands in place of an argument, a page is made or refused with its remedy."""
    for value in VALUES.values():
        if argument in ("an effector", "a path's name") and unhashable(value):
            continue
        refused_or_made(lambda: PAGES[argument](value))  # noqa: B023


def actions(session):
    """What can be asked of a session."""
    home = session.snapshot.wish.targets["tip"]
    return {
        "target": lambda value: session.aim("tip", value),
        "effector": lambda value: session.aim(value, home),
        "effort": lambda value: session.load("push", value),
        "load": lambda value: session.load(value, 0.0),
        "displacement": lambda value: session.give("left", value),
        "held port": lambda value: session.give(value, 0.0),
        "path": lambda value: session.follow(value),
        "speed": lambda value: setattr(session, "speed", value),
    }


def test_hostile_wishes_are_refused_or_met_as_far_as_possible():
    """Every wish is refused, or the next step holds, reaches or nears it: it raises nothing and its state is finite."""
    session = Session(arm(), {"way": {"tip": WAY}})
    for name in actions(session):
        for value in VALUES.values():
            refused_or_made(lambda: actions(session)[name](value))  # noqa: B023
            snapshot = session.advance()
            assert np.isfinite(snapshot.state.x).all()
            assert snapshot.outcome.word != "FAULT", (name, value, snapshot.outcome.remedy)
        session.reset()
    assert session.advance().outcome.ok


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(width=64), min_size=3, max_size=3), st.floats(width=64), st.floats(width=64))
def test_numbers_of_all_sizes_are_survived(target, effort, displacement):
    """Targets, efforts and displacements of any size, infinite or none, leave the robot at finite places."""
    session = Session(arm())
    refused_or_made(lambda: session.aim("tip", target))
    refused_or_made(lambda: session.load("push", effort))
    refused_or_made(lambda: session.give("left", displacement))
    for _ in range(3):
        assert np.isfinite(session.advance().state.x).all()


def test_hostile_gaits_and_settings_are_refused():
    """The same of a robot that moves by itself."""
    session = MotionSession(block, ["breathe"], [Setting("friction", "", 0.0, 1.0, 0.5)])
    for value in VALUES.values():
        refused_or_made(lambda: session.choose(value))  # noqa: B023
        refused_or_made(lambda: session.set("friction", value))  # noqa: B023
        refused_or_made(lambda: session.set(value, 0.5))  # noqa: B023
        assert np.isfinite(session.advance().x).all()


@pytest.fixture(scope="module")
def modes():
    return pl.natural_modes(ROBOT, count=2)


def test_hostile_arguments_of_pictures(tmp_path, modes):
    """Pictures and films are made or refused with the remedy; what is made is a file."""
    png, gif = tmp_path / "a.png", tmp_path / "a.gif"

    def moved(value):
        far = value if isinstance(value, int | float) else 0.0
        return replace(HOME, pose=replace(HOME.pose, x=HOME.x * float(far)))

    rest = BLOCK.rest
    made = {
        "robot": lambda value: draw_bodies(value, HOME, png),
        "state": lambda value: draw_bodies(ROBOT, value, png),
        "x": lambda value: draw_bodies(ROBOT, replace(HOME, pose=replace(HOME.pose, x=value)), png),
        "farther": lambda value: draw_bodies(ROBOT, moved(value), png),
        "path": lambda value: draw_bodies(ROBOT, HOME, value),
        "view": lambda value: draw_bodies(ROBOT, HOME, png, view=value),
        "film's robot": lambda value: film_bodies(value, [HOME], gif),
        "states": lambda value: film_bodies(ROBOT, value, gif),
        "a state": lambda value: film_bodies(ROBOT, [HOME, value], gif),
        "film's path": lambda value: film_bodies(ROBOT, [HOME], value),
        "modes": lambda value: film_mode(ROBOT, value, 0, gif),
        "number": lambda value: film_mode(ROBOT, modes, value, gif, frames=2) if value not in (0, 1) else None,
        "stills' robot": lambda value: draw_stills(value, [0.0], [rest], png),
        "times": lambda value: draw_stills(BLOCK, value, [rest], png),
        "places": lambda value: draw_stills(BLOCK, [0.0], value, png),
        "stills' path": lambda value: draw_stills(BLOCK, [0.0], [rest], value),
        "elevation": lambda value: draw_stills(BLOCK, [0.0], [rest], png, elevation=value),
    }
    for name, action in made.items():
        for value in VALUES.values():
            if name == "number" and isinstance(value, np.ndarray):
                continue
            refused_or_made(lambda: action(value))  # noqa: B023
    for value in VALUES.values():
        refused_or_made(lambda: film_bodies(ROBOT, [HOME], gif, frames_per_second=value))  # noqa: B023
    for value in ("$", "$x", "{", "\\", "a\nb", "x" * 500, 5, None):
        refused_or_made(lambda: draw_bodies(ROBOT, HOME, png, title=value))  # noqa: B023
    for wrong in (tmp_path / "none" / "a.png", tmp_path / "a.xyz", tmp_path / "noending", "", tmp_path):
        assert refused_or_made(lambda: draw_bodies(ROBOT, HOME, wrong)) is None  # noqa: B023


@pytest.fixture(scope="module")
def page():
    """An arm with a simulated drive on a page."""
    robot = arm()
    feed = Feed(Guard.of_robot(robot, "displacement"), opened_drive("simulated", robot, "displacement"), rate=50)
    with Page(robot, paths={"way": {"tip": WAY}}, feed=feed) as made:
        made.open(port=8940)
        yield made


@pytest.fixture
def quiet(page, capfd):
    """The page; afterwards it is alive, a visitor can steer it, and nobody has seen a traceback."""
    capfd.readouterr()
    yield page
    until(lambda: not page.helm.visitors)
    page.session.reset()
    page.session.start()
    with joined(page.address) as line:
        until(lambda: len(page.server.get_clients()) == len(page.helm.visitors) == 1)
        page.helm.take(page.helm.visitors[0])  # where somebody was a moment late to leave
        say(line, drag(page._scene.grips[0].gizmo, TIP + UP))
        until(lambda: page.session.snapshot.wish.targets["tip"][2] == pytest.approx(TIP[2] + UP[2]))
        count = page.session.snapshot.count
        until(lambda: page.session.snapshot.count > count)
    assert page._threads[0].is_alive(), "it draws"
    assert "Traceback" not in "".join(capfd.readouterr())


HOST = "Host: 127.0.0.1\r\n"
REQUESTS = [
    b"", b"\r\n\r\n", b"\x00\x01\x02", b"GET", b"GET /\r\n\r\n", b"POST / HTTP/1.1\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n", b"GET / HTTP/1.1\r\nHost\r\n\r\n", b"GET / HTTP/1.1\r\nHost: \xff\xfe\r\n\r\n",
    b"GET /%00 HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"GET /%2e%2e/%2e%2e/etc/passwd HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"GET /?token=%ff%fe HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"GET /?token=\xff HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n",
    b"GET /?" + b"token=a&" * 500 + b" HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", b"GET /" + b"a" * 20000 + b" HTTP/1.1\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"A: b\r\n" * 1000 + b"\r\n", b"GET / HTTP/1.1\r\nHost: [::1\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1:99999999999\r\n\r\n", b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: \xff=;;;=\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nCookie: pliant-80=\xc3\xa9\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 99999999999\r\n\r\n",
    b"CONNECT evil.example:443 HTTP/1.1\r\nHost: evil.example\r\n\r\n", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    b"\x16\x03\x01" + b"a" * 500,
]  # fmt: skip


def test_hostile_requests_are_refused(quiet):
    """Whatever comes instead of a request is refused or hung up on."""
    for raw in REQUESTS:
        assert asked(quiet.address, raw=raw)[0] in (0, 400, 403, 404, 431, 500), raw


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.binary(max_size=300), st.text(max_size=60), st.text(max_size=60))
def test_random_requests_are_refused(page, raw, path, host):
    """So is random noise, and random words in place of path and Host."""
    assert asked(page.address, raw=raw)[0] in (0, 400, 403, 404, 431)
    words = f"GET /{path} HTTP/1.1\r\nHost: {host}\r\n\r\n".encode("utf-8", "surrogatepass")
    assert asked(page.address, raw=words)[0] in (0, 400, 403, 404, 431)


def test_files_beyond_the_page_are_not_served(quiet):
    """Also who has the token gets the page's own files and nothing else."""
    host, port = place(quiet.address)
    cookie = {"Host": f"{host}:{port}", "Cookie": f"pliant-{port}={token(quiet.address)}"}
    for path in (
        "/../../../etc/passwd",
        "/%2e%2e/%2e%2e/setup.py",
        "/..%2f..%2f",
        "/\\..\\..",
        "/build",
        "//etc/passwd",
        "/\x00",
    ):
        assert asked(quiet.address, path, cookie)[0] in (0, 400, 403, 404), path
    assert asked(quiet.address, "/", cookie)[0] == 200


def test_garbage_in_a_socket_is_not_heard(quiet):
    """Bytes that are no message, text, empty and unknown messages, and messages with wrong fields are dropped."""
    kinds = [each.__name__ for each in Message.get_subclasses()]
    wrong = [
        {},
        {"type": None},
        {"type": "NoSuchMessage"},
        {"type": "Message"},
        {"type": ["a"]},
        {"type": 5},
        [],
        5,
        None,
        "x",
    ]
    fields = {
        "uuid": 5,
        "updates": [],
        "name": None,
        "owner": {},
        "wxyz": "abc",
        "position": [None],
        "value": {"a": {}},
    }
    with joined(quiet.address) as line:
        until(lambda: len(quiet.server.get_clients()) == 1)
        line.send("a text frame")
        for raw in (
            b"",
            b"\x00",
            b"\xff" * 100,
            b"\x81",
            msgspec.msgpack.encode("type"),
            b"\xdd\xff\xff\xff\xff",
            b"\x91" * 5000,
        ):
            line.send(raw)
        for message in (*wrong, *({"type": kind} for kind in kinds), *({"type": kind} | fields for kind in kinds)):
            say(line, message)
        say(line, CAMERA | {"position": [42.0, 0.0, 1.0]})
        until(lambda: next(iter(quiet.server.get_clients().values())).camera.position[0] == 42.0)


def test_hostile_values_of_controls_and_targets_are_survived(quiet):
    """The one who steers sets every control to what it cannot be, and drags the target to nowhere: told, never obeyed."""
    values = [
        None,
        "",
        "abc",
        -1,
        0,
        1e308,
        -1e308,
        True,
        [],
        [1, 2],
        {},
        {"a": 1},
        2**63,
        "x" * 10000,
        b"x",
        float("nan"),
        float("inf"),
    ]
    places = [[1e308] * 3, [float("nan")] * 3, [0.0], [], [0.0] * 7, ["a", "b", "c"], "abc", None]
    grip, feed = quiet._scene.grips[0].gizmo, quiet.session.feed
    with joined(quiet.address) as line:
        until(lambda: len(quiet.server.get_clients()) == 1)
        for handle, value in itertools.product(list(quiet.server.gui._gui_input_handle_from_uuid.values()), values):
            say(line, press(handle, value))
        for where, turned in itertools.product(places, [[1.0, 0, 0, 0], [0.0] * 4, [float("nan")] * 4, [1.0], "abc"]):
            say(line, drag(grip, [0, 0, 0]) | {"position": where, "wxyz": turned})
        say(line, CAMERA | {"position": [43.0, 0.0, 1.0]})
        until(lambda: next(iter(quiet.server.get_clients().values())).camera.position[0] == 43.0)
    until(lambda: not quiet.helm.visitors)
    assert np.isfinite(quiet.session.snapshot.wish.efforts["push"]).all()
    assert 0.1 <= quiet.session.speed <= 5.0
    feed.release()


LEAVES = st.none() | st.booleans() | st.integers(-(2**63), 2**63 - 1) | st.floats() | st.text() | st.binary()
CONTENT = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4),
    max_leaves=8,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(CONTENT, st.sampled_from([each.__name__ for each in Message.get_subclasses()]))
def test_random_messages_are_survived(page, content, kind):
    """So are messages of random content, and every kind of message with random fields."""
    with joined(page.address, camera=False) as line:
        say(line, content)
        fields = (
            content if isinstance(content, dict) else {"uuid": content, "updates": {"value": content}, "name": "/floor"}
        )
        say(line, fields | {"type": kind})


def test_a_huge_message_ends_its_connection_only(quiet):
    """Sixty megabytes are too much: who sends them is hung up on, others go on."""
    with joined(quiet.address) as first:
        until(lambda: len(quiet.server.get_clients()) == 1)
        with joined(quiet.address) as second:
            until(lambda: len(quiet.server.get_clients()) == 2)
            with contextlib.suppress(ConnectionClosed):
                second.send(b"\x00" * (60 * 2**20))
            until(lambda: len(quiet.server.get_clients()) == 1)  # hung up on, while it would still be there
        say(first, CAMERA | {"position": [44.0, 0.0, 1.0]})
        until(lambda: any(client.camera.position[0] == 44.0 for client in quiet.server.get_clients().values()))


def test_many_who_never_say_anything_do_not_keep_others_out(quiet):
    """Fifty connections that stay silent, half of them without the token, leave room for a visitor."""
    import socket

    host, port = place(quiet.address)
    silent = [socket.create_connection((host, port)) for _ in range(50)]
    known = f"GET /?token={token(quiet.address)} HTTP/1.1\r\nHost: {host}:{port}\r\nOrigin: http://{host}:{port}\r\n"
    known += "".join(f"{key}: {value}\r\n" for key, value in HANDSHAKE.items())
    for line in silent[::2]:
        line.sendall((known + "\r\n").encode())
    try:
        assert asked(quiet.address, f"/?token={token(quiet.address)}", {"Host": f"{host}:{port}"})[0] == 200
    finally:
        for line in silent:
            line.close()
