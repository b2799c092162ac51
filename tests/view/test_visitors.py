"""Who may come to a page, and who of them steers; without a browser."""

from __future__ import annotations

import itertools
import socket
import urllib.error
import urllib.request

import numpy as np
import pytest
from websockets.exceptions import InvalidStatus

import pliant as pl
from pliant.device import Feed, Guard, opened_drive
from pliant.errors import InputError, PageError
from pliant.view import Page
from stranger import CAMERA, HANDSHAKE, asked, drag, joined, place, press, say, token
from waiting import until


def arm():
    """A small arm along x with a tendon above its axis, whose tip is to be somewhere."""
    mesh = pl.make.box((0.1, 0.016, 0.016), (6, 1, 1))
    body = pl.TetBody(mesh, pl.Corotational(E=300e3, nu=0.4), density=1000, fixed=mesh.where(x_below=0))
    robot = pl.Robot(body, gravity=(0, 0, -9.81))
    cable = pl.Cable([(x, 0.008, 0.014) for x in np.linspace(0.005, 0.095, 5)], pull=(-0.02, 0.008, 0.014))
    robot.actuate("tendon", cable, effort=(0, 20), displacement=(-0.02, 0.02), displacement_rate=0.1)
    robot.effect("tip", pl.Point(near=(0.1, 0.008, 0.008), axes="z"))
    return robot


@pytest.fixture(scope="module")
def page():
    """An arm on a page, with a simulated drive and its emergency stop."""
    robot = arm()
    feed = Feed(Guard.of_robot(robot, "displacement"), opened_drive("simulated", robot, "displacement"), rate=50)
    with Page(robot, feed=feed) as made:
        made.open(port=8820)
        yield made


@pytest.fixture
def alone(page):
    """The page without any visitor, its drive following."""
    until(lambda: not page.server.get_clients())
    until(lambda: not getattr(page, "helm", None) or not page.helm.visitors)
    page.session.feed.release()
    page.session.reset()
    return page


def control(page, label):
    """The handle of a control by its label."""
    handles = page.server.gui._gui_input_handle_from_uuid.values()
    return next(handle for handle in handles if getattr(handle, "label", "") == label)


def gizmo(page):
    return page._scene.grips[0].gizmo


def target(page):
    return page.session.snapshot.wish.targets["tip"]


def here(page, count):
    """Wait until so many visitors have drawn their first picture."""
    until(lambda: len(page.server.get_clients()) == count)


def heard(page, line, mark):
    """Wait until all that a visitor has said is heard: it then looks from a place of its own, [m]."""
    say(line, CAMERA | {"position": [float(mark), 0.0, 1.0]})
    until(lambda: any(client.camera.position[0] == mark for client in page.server.get_clients().values()))


@pytest.mark.parametrize(
    "path", ["/", "/index.html", "/?token=", "/?token=wrong", "/?token={half}", "/nothing", "/../x"]
)
def test_without_the_token_nothing_is_served(page, path):
    """Also on this machine, a request without the token, or with a part of it, is refused, and told what is missing."""
    host, port = place(page.address)
    path = path.format(half=token(page.address)[:-1])
    status, text = asked(page.address, path, {"Host": f"{host}:{port}"})
    assert status == 403
    assert "token" in text
    assert "<script" not in text
    status, _ = asked(page.address, path, {"Host": f"{host}:{port}", "Origin": f"http://{host}:{port}", **HANDSHAKE})
    assert status == 403


def test_the_address_has_the_token_and_gives_a_cookie(page):
    """Who opens the address gets a cookie that scripts cannot read and other sites cannot use, and then the page itself; a
    query other than the token is not passed on, so that nobody can make the page listen to another server."""
    host, port = place(page.address)
    answer = urllib.request.urlopen(page.address, timeout=30)
    assert answer.status == 200
    cookie = answer.headers["Set-Cookie"]
    assert {"HttpOnly", "SameSite=Strict", "Path=/"} <= set(cookie.split("; "))
    known = {"Cookie": f"other=1; {cookie.split(';')[0]}"}
    whole = urllib.request.urlopen(urllib.request.Request(f"http://{host}:{port}/", headers=known), timeout=30)
    assert b"<script" in whole.read()
    assert f"ws://{host}:{port}" in whole.headers["Content-Security-Policy"]
    assert whole.headers["X-Frame-Options"] == "DENY"
    foreign = f"http://{host}:{port}/?websocket=ws://evil.example"
    clean = urllib.request.urlopen(urllib.request.Request(foreign, headers=known), timeout=30)
    assert b"<script" not in clean.read()


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "null",
        "http://127.0.0.1",
        "http://127.0.0.1:1",
        "https://{host}",
        "http://{host}.evil.example",
        None,
    ],
)
def test_a_foreign_origin_is_refused(page, origin):
    """Another web page cannot open a socket, not even with the token; nor can what does not say where it comes from."""
    host, port = place(page.address)
    origin = origin and origin.format(host=f"{host}:{port}")
    with pytest.raises(InvalidStatus, match="403"):
        joined(page.address, origin=origin)
    if origin:
        headers = {"Host": f"{host}:{port}", "Origin": origin}
        assert asked(page.address, f"/?token={token(page.address)}", headers)[0] == 403


@pytest.mark.parametrize(
    "hosts",
    [["evil.example:{port}"], ["evil.example"], ["127.0.0.1.evil.example:{port}"], ["10.0.0.1:{port}"], [],
     ["127.0.0.1:{port}", "evil.example:{port}"], ["127.0.0.1:{port}@evil.example"], ["127.0.0.1:{port}/x"], [""]],
)  # fmt: skip
def test_a_wrong_host_is_refused(page, hosts):
    """A name that was made to point to this machine does not help, although browser and page agree on it; nor do two."""
    _, port = place(page.address)
    hosts = [host.format(port=port) for host in hosts]
    pairs = [("Host", host) for host in hosts]
    path = f"/?token={token(page.address)}"
    assert asked(page.address, path, pairs)[0] in (400, 403)
    pairs += [("Origin", f"http://{host}") for host in hosts[:1]]
    assert asked(page.address, path, [*pairs, *HANDSHAKE.items()])[0] in (400, 403)


def test_a_tunnel_may_have_a_port_of_its_own(page):
    """Who comes through a tunnel says another port, in Host and Origin alike; localhost is this machine too."""
    path, before = f"/?token={token(page.address)}", page.helm._count
    for host in ("localhost:9000", "127.0.0.1:9000", "LOCALHOST:9000", "[::1]:9000"):
        status, text = asked(page.address, path, {"Host": host})
        assert status == 200
        assert "pliant-9000=" in text
        assert asked(page.address, path, {"Host": host, "Origin": f"http://{host}", **HANDSHAKE})[0] == 101
    until(lambda: page.helm._count == before + 4 and not page.helm.visitors)  # they have come and gone


def test_the_first_visitor_steers_and_the_second_looks_on(alone):
    """What the second visitor presses or drags has no effect, on the robot or on what the first one sees; after the first
    hands over, the second takes over and steers, and the first does not."""
    page, speed, home = alone, control(alone, "Simulation"), target(alone)[0]
    with joined(page.address) as first, joined(page.address) as second:
        here(page, 2)
        one, two = page.helm.visitors
        assert page.helm.steering is one
        for message in (
            press(speed, "Pause"),
            drag(gizmo(page), [0.1, 0, 0.05], "Start"),
            drag(gizmo(page), [0.1, 0, 0.05]),
        ):
            say(second, message)
        take = next(iter(two.own))
        say(second, {"type": "GuiUpdateMessage", "uuid": take, "updates": {"value": True}})
        heard(page, second, 7)
        say(first, drag(gizmo(page), [0.1, 0.008, home + 0.002]))
        until(lambda: target(page)[0] == pytest.approx(home + 0.002))
        assert page.session.snapshot.running
        assert page.helm.steering is one
        give = next(iter(one.own))
        say(first, {"type": "GuiUpdateMessage", "uuid": give, "updates": {"value": True}})
        until(lambda: page.helm.steering is None)
        say(first, drag(gizmo(page), [0.1, 0, 0.05]))
        say(second, {"type": "GuiUpdateMessage", "uuid": take, "updates": {"value": True}})
        until(lambda: page.helm.steering is two)
        say(first, drag(gizmo(page), [0.1, 0, 0.05]))
        heard(page, first, 8)
        say(second, drag(gizmo(page), [0.1, 0.008, home + 0.003]))
        until(lambda: target(page)[0] == pytest.approx(home + 0.003))


def test_anyone_may_stop_and_only_who_steers_may_release(alone):
    """The emergency stop is for all; an onlooker's release is not heard, that of who steers is; and when that visitor has
    left nobody releases before taking over."""
    page, feed = alone, alone.session.feed
    stop, release = control(page, "Emergency stop"), control(page, "Release")
    with joined(page.address) as first:
        here(page, 1)
        with joined(page.address) as second:
            here(page, 2)
            say(second, press(stop))
            until(lambda: feed.stopped)
            for _ in range(3):
                say(second, press(release))
            heard(page, second, 9)
            assert feed.stopped
            say(first, press(release))
            until(lambda: not feed.stopped)
            say(first, press(stop))
            until(lambda: feed.stopped)
            first.close()
            until(lambda: len(page.helm.visitors) == 1)
            assert page.helm.steering is None
            say(second, press(release))
            say(
                second,
                {"type": "GuiUpdateMessage", "uuid": next(iter(page.helm.visitors[0].own)), "updates": {"value": True}},
            )
            until(lambda: page.helm.steering is page.helm.visitors[0])
            assert feed.stopped
            say(second, press(release))
            until(lambda: not feed.stopped)


def test_who_leaves_while_dragging_lets_go(alone):
    """A visitor who leaves with the target in hand does not hold it for ever."""
    page = alone
    grip = page._scene.grips[0]
    with joined(page.address) as first:
        here(page, 1)
        say(first, drag(gizmo(page), [0.1, 0.008, 0.01], "Start"))
        until(lambda: grip._dragged)
    until(lambda: not grip._dragged)


def test_a_control_may_be_used_but_not_rewired(alone):
    """Of a control only the value can be changed by a message, also by who steers."""
    page = alone
    speed = control(page, "Stress")
    with joined(page.address) as line:
        here(page, 1)
        for updates in ({"update_cb": []}, {"value": True, "update_cb": []}, {"sync_cb": None}, {}, {"removed": True}):
            say(line, {"type": "GuiUpdateMessage", "uuid": speed._impl.uuid, "updates": updates})
        say(line, press(speed, True))
        until(lambda: page._scene.look.stress)
        assert speed._impl.update_cb
        say(line, press(speed, False))
        until(lambda: not page._scene.look.stress)


def test_who_comes_again_alone_steers_again(alone):
    """A visitor who reloads the page and finds nobody steers at once."""
    for _ in range(2):
        with joined(alone.address):
            here(alone, 1)
            assert alone.helm.steering is alone.helm.visitors[0]
        until(lambda: not alone.helm.visitors)


def test_every_page_has_a_token_of_its_own():
    """The address of a page that is closed opens no other one."""
    seen = set()
    for _ in range(2):
        with Page(arm()) as page:
            page.open(port=8840)
            seen.add(token(page.address))
            host, port = place(page.address)
            wrong = asked(page.address, f"/?token={next(iter(seen))}", {"Host": f"{host}:{port}"})[0]
    assert len(seen) == 2
    assert min(map(len, seen)) > 30
    assert wrong in (200, 403)


def test_another_interface_is_served_with_the_token_only():
    """On all interfaces the page answers to this machine's addresses, and asks for the token as ever; a foreign name is not
    answered; an interface that this machine does not have is named."""
    with Page(arm()) as page:
        address = page.open(port=8850, host="0.0.0.0")
        _, port = place(address)
        assert urllib.request.urlopen(address, timeout=30).status == 200
        path = f"/?token={token(address)}"
        own = socket.gethostname()
        for host, status in ((f"10.1.2.3:{port}", 200), (f"{own}:{port}", 200), (f"evil.example:{port}", 403)):
            assert asked(address, path, {"Host": host})[0] == status
            assert asked(address, "/", {"Host": host})[0] == 403
    for host in ("192.0.2.1", "no.such.host.invalid", "", "not a host", 5):
        with Page(arm()) as page, pytest.raises(InputError, match="host is"):
            page.open(port=8850, host=host)


@pytest.mark.parametrize("port", [0, -1, 65536, "8080", 80.5, float("nan"), None])
def test_a_port_that_is_none_is_named(port):
    """A port out of range, or no number, is refused."""
    with Page(arm()) as page, pytest.raises(InputError, match="port is"):
        page.open(port=port)


def test_ports_run_out_with_an_error():
    """Where no port is left above the one asked for, that is said at once; it used to wait for ever."""
    with socket.create_server(("127.0.0.1", 65535)), Page(arm()) as page, pytest.raises(PageError, match="65535"):
        page.open(port=65535)


def test_a_server_that_cannot_be_guarded_is_not_left_running(monkeypatch):
    """Where the page's server does not start through the function that is guarded, there is an error and no page."""
    import types

    import viser.infra._infra as infra
    import websockets
    import websockets.asyncio.server

    plain = websockets.asyncio.server.serve
    inside = types.SimpleNamespace(server=types.SimpleNamespace(serve=plain, ServerConnection=object))
    other = types.SimpleNamespace(
        asyncio=inside, exceptions=websockets.exceptions, datastructures=websockets.datastructures
    )
    monkeypatch.setattr(infra, "websockets", other)
    with Page(arm()) as page, pytest.raises(PageError, match="cannot guard"):
        page.open(port=8860)
    assert websockets.asyncio.server.serve is plain
    for port in itertools.islice(itertools.count(8860), 3):
        with pytest.raises((OSError, urllib.error.URLError)):
            urllib.request.urlopen(f"http://127.0.0.1:{port}", timeout=5)


def test_other_servers_are_none_of_its_business():
    """A socket server of somebody else, started while a page is up, is as it always was."""
    from websockets.sync.client import connect
    from websockets.sync.server import serve

    with Page(arm()) as page:
        page.open(port=8870)
        with serve(lambda line: line.send("hello"), "127.0.0.1", 0) as server:
            import threading

            threading.Thread(target=server.serve_forever, daemon=True).start()
            with connect(f"ws://127.0.0.1:{server.socket.getsockname()[1]}") as line:
                assert line.recv(timeout=30) == "hello"
            server.shutdown()
