"""A page without a browser: opened, asked, closed."""

from __future__ import annotations

import urllib.request

import numpy as np
import pytest

from pliant.control.trajectory import Circle
from pliant.errors import InputError
from pliant.gallery import cantilever, diamond
from pliant.view import Page
from pliant.view.page.scene import ASPECT, VIEW, _turn_to, fitting_camera, floor_height, up_direction, view_direction


def test_a_page_opens_twice_on_different_ports_and_closes():
    """Two pages that ask for one port get two; each answers at its address, and not any more once it is closed."""
    with Page(cantilever.build(), title="one") as one, Page(cantilever.build(), title="two") as two:
        addresses = one.open(port=8790), two.open(port=8790)
        assert addresses == (one.address, two.address)
        assert addresses[0] != addresses[1]
        for address in addresses:
            assert address.startswith("http://127.0.0.1:")
            assert urllib.request.urlopen(address, timeout=30).status == 200
        assert one.server.get_host() == "127.0.0.1"
        assert one.server.request_share_url() is None, "nothing leaves this machine"
        with pytest.raises(InputError, match="already open"):
            one.open()
    with pytest.raises(OSError, match="refused"):
        urllib.request.urlopen(addresses[0], timeout=5)
    with pytest.raises(InputError, match="not open"):
        _ = one.address


def test_a_page_refuses_what_it_cannot_show():
    """A path to start with that is not there, a path for no effector, and a range for no load name the choice."""
    robot = diamond.build()
    circle = {"circle": {"top": Circle((0, 0, 0.12), 0.01, 0.01)}}
    with pytest.raises(InputError, match="choose one of: circle"):
        Page(robot, paths=circle, start="square")
    with pytest.raises(InputError, match="choose one of: top"):
        Page(robot, paths={"circle": {"tip": circle["circle"]["top"]}})
    with pytest.raises(InputError, match="choose one of: load"):
        Page(cantilever.build(), loads={"lode": (0, 1)})


@pytest.mark.parametrize("gravity", [(0, 0, -9.81), (0, 9.81, 0), (0, 0, 9.81), (0, 0, 0), (1, 2, 3)])
def test_the_floor_is_below(gravity):
    """The floor's normal, z turned by its rotation, points against gravity."""
    up = up_direction(np.array(gravity, float))
    w, *v = _turn_to(up)
    z = np.array([0.0, 0.0, 1.0])
    turned = z + 2 * np.cross(v, np.cross(v, z) + w * z)
    assert turned == pytest.approx(up, abs=1e-6)


@pytest.mark.parametrize("up", [(0.0, 0.0, 1.0), (0.0, 1.0, 0.0)])
def test_the_camera_holds_everything(up, rng):
    """All points are in the picture, with a little room, and at two of its edges they come close to it."""
    points = rng.normal(size=(200, 3)) * [0.3, 0.1, 0.6] + [1.0, 2.0, 3.0]
    away = np.array([0.5, -0.8, 0.3])
    position, look_at = fitting_camera(points, away, np.array(up))
    assert np.cross(position - look_at, away) == pytest.approx([0, 0, 0], abs=1e-9)
    a = away / np.linalg.norm(away)
    r = np.cross(up, a) / np.linalg.norm(np.cross(up, a))
    depth = (position - points) @ a
    tall = np.tan(np.deg2rad(VIEW) / 2)
    shares = [(points - position) @ d / depth / s for d, s in ((r, ASPECT * tall), (np.cross(a, r), tall))]
    assert depth.min() > 0
    assert np.abs(shares).max() < 1.0
    assert np.abs(shares).max() > 0.9


@pytest.mark.parametrize("gravity", [(0, 0, -9.81), (0, 9.81, 0), (0, 0, 9.81), (9.81, 0, 0), (1, 2, 3)])
def test_what_hangs_has_its_floor_below_it_and_is_seen_from_above(gravity):
    """A robot that hangs or sags has the floor well below; one that stands, just below its feet. The camera is higher than
    what it looks at, whatever up is."""
    up = up_direction(np.array(gravity, float))
    assert view_direction(up) @ up > 0.3
    rest = np.array([[0.0, 0, 0], [0, 0, 1.0]])
    hung = rest - [[0.0, 0, 0.1], [0, 0, 0]]
    z = np.array([0.0, 0, 1.0])
    assert floor_height(rest, hung, z, 1.0) == pytest.approx(-0.4)
    assert floor_height(rest, rest, z, 1.0) == pytest.approx(-0.004)
