"""The page of free motion, without a browser: its session, its scene, its stills."""

from __future__ import annotations

import time
import urllib.request

import numpy as np
import pytest

from pliant.body import SpringBody
from pliant.contact import Plane
from pliant.errors import InputError
from pliant.motion.explicit import Explicit, Sine
from pliant.shape import Lattice
from pliant.view import MotionPage, Moving, draw_stills
from pliant.view.page import MotionSession, Setting
from pliant.view.page.motion_page import motion_text
from waiting import until

SETTINGS = (Setting("friction", "", 0.0, 1.0, 0.5),)


def block(gait, settings):
    """A block that breathes on the ground; gait "still": it only lies there; "wild": it explodes."""
    lattice = Lattice.block((3, 2, 2), 0.01).labelled(lambda centers: centers[:, 0] > 0.02)
    body = SpringBody(lattice, 5e4)
    actuation = {} if gait == "still" else {1: Sine(0.1, 5.0, offset=0.0 if gait == "breathe" else 1e300)}
    ground = Plane(friction=settings["friction"], damping=0.5)
    engine = Explicit(body, gravity=(0, 0, -9.81), damping=5.0, ground=ground, actuation=actuation, threads=1)
    return Moving(body, engine)


def test_a_slice_is_a_thirtieth_of_a_second():
    """Slices give the same motion as one run of the engine; friction feels where it is cut, by less than a micrometre."""
    session = MotionSession(block, ("breathe", "still"), SETTINGS)
    for _ in range(6):
        moment = session.advance()
    steps = 6 * round(1 / 30 / session.moving.engine.step)
    whole = block("breathe", {"friction": 0.5}).engine
    whole.run(steps * whole.step, progress=False)
    assert moment.time == pytest.approx(0.2, rel=1e-2)
    assert moment.x == pytest.approx(whole.x, abs=1e-6)
    assert moment.distance == pytest.approx(
        session.moving.middle(moment.x) - session.moving.middle(session.moving.body.rest)
    )


def test_gaits_and_settings_start_anew():
    """Each change goes back to time zero with the new choice; what does not exist is refused with the choices."""
    session = MotionSession(block, ("breathe", "still"), SETTINGS)
    session.advance()
    session.set("friction", 0.25)
    assert session.moment.time == 0
    assert session.moving.engine.around.obstacles[0].friction == 0.25
    session.advance()
    session.choose("still")
    assert session.moment.time == 0
    assert session.moving.engine.around.actuation == {}
    with pytest.raises(InputError, match="choose one of: breathe, still"):
        session.choose("hop")
    with pytest.raises(InputError, match="choose one of: friction"):
        session.set("fiction", 0.1)
    with pytest.raises(InputError, match=r"give 0\.0 to 1\.0"):
        session.set("friction", 2.0)


def test_a_session_plays_pauses_and_resets_in_its_thread():
    """While it plays time goes on; paused it does not; reset brings it back to rest, also when paused."""
    session = MotionSession(block, ("breathe",), SETTINGS)
    try:
        session.start()
        until(lambda: session.moment.time > 0.3)
        session.pause()
        held = session.moment.time
        time.sleep(0.2)
        assert session.moment.time == held
        session.reset()
        until(lambda: session.moment.time == 0)
        assert not session.moment.running
        session.start()
        until(lambda: session.moment.time > 0.1)
    finally:
        session.end()


def test_a_fault_is_told_and_held():
    """An explosion does not raise: the last good state is held and the status tells the remedy."""
    session = MotionSession(block, ("wild",), SETTINGS)
    for _ in range(30):
        moment = session.advance()
        if moment.fault:
            break
    assert "smaller step" in moment.fault
    assert np.isfinite(moment.x).all()
    assert "FAULT" in motion_text(moment, "")


def test_a_build_that_fails_while_paused_is_told():
    """A setting that the robot cannot be made with: the fault is shown, and the thread lives on for another value."""

    def build(gait, settings):
        if settings["friction"] > 0.5:
            raise ValueError("too rough a ground")
        return block(gait, settings)

    session = MotionSession(build, ("still",), SETTINGS)
    session.start()
    try:
        session.pause()
        session.set("friction", 0.75)
        until(lambda: session.moment.fault)
        assert session.moment.fault == "ValueError: too rough a ground"
        session.set("friction", 0.25)
        until(lambda: not session.moment.fault)
        assert session._thread.is_alive()
    finally:
        session.end()


def test_a_page_of_free_motion_opens_and_moves():
    """It answers at its address, sends the robot again and again, and goes along with it."""
    with MotionPage(block, ("breathe", "still"), SETTINGS, title="block", gait="breathe") as page:
        address = page.open(port=8810)
        assert urllib.request.urlopen(address, timeout=30).status == 200
        until(lambda: page.frames > 5 and page.session.moment.time > 0.2)
        until(lambda: "MOVING" in page._status.content)
        assert len(page._meshes) == 2, "one for every region"


def test_stills(tmp_path):
    """A picture of some moments; none, or times that do not match, is refused."""
    moving = block("breathe", {"friction": 0.5})
    rest = moving.body.rest
    draw_stills(moving, [0.0, 1.0], [rest, rest + np.array([0.05, 0, 0])], tmp_path / "stills.png", title="two")
    from PIL import Image

    pixels = np.asarray(Image.open(tmp_path / "stills.png").convert("RGB")).astype(int)
    blue = (pixels[..., 2] > pixels[..., 0] + 40).nonzero()
    half = len(pixels) / 2
    assert blue[1][blue[0] < half].mean() < blue[1][blue[0] > half].mean() - 100, "the second is further to the right"
    with pytest.raises(InputError, match="as many places as times"):
        draw_stills(moving, [0.0], [], tmp_path / "none.png")
