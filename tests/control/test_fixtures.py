"""Fixtures: which directions are not free, what a hand is asked to feel of them, and that a new one takes ten lines."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.control.coupling import Coupling
from pliant.control.fixtures import All, Box, Circle, Fixture, FreeSpace, Limit, Line, Point, Wall
from pliant.errors import InputError

WEIGHTS = np.array([1.0, 1.0, 1.0, 0.15, 0.15])
GIVE = np.diag([1 / 300.0] * 3 + [1 / 1.5] * 2)
X = np.array([0.01, -0.004, 0.006, 0.05, -0.1])
W = np.array([1.0, -2.0, 0.5, 0.03, 0.02])


def asked(fixture, x=X, wrench=W, **options):
    """Goal and wrench for a pose and a wrench."""
    coupling = Coupling(fixture, WEIGHTS, **options)
    coupling.ask(x, wrench, GIVE, 0.002)
    return coupling.goal, coupling.wrench, coupling


def test_in_free_space_the_device_is_where_the_hand_is():
    """With no force at all (koehler2023, eq. 24)."""
    goal, wrench, _ = asked(FreeSpace())
    assert np.array_equal(goal, X)
    assert not wrench.any()


def test_a_point_holds_every_row():
    """At its place, under the force that is there (eq. 25); some rows only, and the others are free."""
    place = np.array([0.0, 0.001, 0.0, 0.0, 0.02])
    goal, wrench, _ = asked(Point(place))
    assert goal == pytest.approx(place, abs=1e-9)
    assert wrench == pytest.approx(W, rel=1e-6)
    goal, wrench, _ = asked(Point(place, rows=[1]))
    assert goal == pytest.approx([X[0], 0.001, *X[2:]])
    assert wrench == pytest.approx([0, W[1], 0, 0, 0])


def test_a_wall_is_felt_beyond_it_and_before_it_is_left():
    """Beyond: the goal is its surface and the push stays. On this side: nothing. At its surface a hand that presses stays on
    it, one that pulls is let go."""
    wall = Wall([1.0, 0, 0, 0, 0], 0.012)
    goal, wrench, coupling = asked(wall, wrench=-W)
    assert goal == pytest.approx([0.012, *X[1:]])
    assert wrench == pytest.approx([-W[0], 0, 0, 0, 0])
    assert coupling.touching == (0,)
    away = X + np.array([0.05, 0, 0, 0, 0])
    assert asked(wall, away)[2].touching == ()
    surface = np.array([0.0121, *X[1:]])
    assert asked(wall, surface, np.array([-1.0, 0, 0, 0, 0]))[2].touching == (0,)
    assert asked(wall, surface, np.array([0.2, 0, 0, 0, 0]))[2].touching == ()


def test_walls_are_in_angles_too():
    """A tilt about z that may not exceed -0.05 rad."""
    goal, wrench, _ = asked(Wall([0, 0, 0, 0, 1.0], -0.05), wrench=-W)
    assert goal == pytest.approx([*X[:4], -0.05])
    assert wrench == pytest.approx([0, 0, 0, 0, -W[4]])


def test_lines_and_circles_leave_their_own_way_free():
    """The goal is the nearest place on them; what pushes along them vanishes, what pushes across stays. Tilts are free, or
    held."""
    along = np.array([1.0, 1.0, 0.0]) / np.sqrt(2)
    goal, wrench, _ = asked(Line((0, 0, 0), along))
    assert goal[:3] == pytest.approx((X[:3] @ along) * along, abs=1e-9)
    assert wrench[:3] == pytest.approx(W[:3] - (W[:3] @ along) * along, abs=1e-6)
    assert np.array_equal(goal[3:], X[3:])
    goal, wrench, _ = asked(Line((0, 0, 0), along, tilts=(0.0, 0.0)))
    assert goal[3:] == pytest.approx((0, 0), abs=1e-9)
    circle = Circle((0, 0, 0), 0.03, (0, 1, 0))
    goal, wrench, _ = asked(circle)
    outward = np.array([X[0], 0, X[2]]) / np.hypot(X[0], X[2])
    assert goal[:3] == pytest.approx(0.03 * outward, abs=1e-9)
    tangent = np.cross(outward, (0, 1, 0))
    assert wrench[:3] @ tangent == pytest.approx(0.0, abs=1e-9)


def test_a_box_is_six_walls_and_fixtures_compose():
    """Inside nothing, beyond a corner three walls at once; a sum is both."""
    assert asked(Box((0, 0, 0), 0.02))[2].touching == ()
    out = np.array([0.03, -0.03, 0.03, 0, 0])
    goal, _, coupling = asked(Box((0, 0, 0), 0.02), out, np.zeros(5))
    assert goal[:3] == pytest.approx((0.02, -0.02, 0.02), abs=1e-9)
    assert len(coupling.touching) == 3
    both = Wall([1.0, 0, 0, 0, 0], 0.012) + Point(np.zeros(5), rows=[3, 4])
    goal, _, _ = asked(both, wrench=-W)
    assert goal == pytest.approx([0.012, X[1], X[2], 0, 0], abs=1e-9)
    assert isinstance(both, All)


def test_a_spring_stays_behind_by_its_force():
    """A wall of 500 N/m that is pressed with 1 N: the goal is 2 mm behind its surface; with a damper it gets there slowly, at
    the spring's and damper's own rate."""
    press = np.array([-1.0, 0, 0, 0, 0])
    at = np.array([0.011, 0, 0, 0, 0])
    goal, _, _ = asked(Wall([1.0, 0, 0, 0, 0], 0.012, stiffness=500.0), at, press)
    assert goal[0] == pytest.approx(0.010)
    coupling = Coupling(Wall([1.0, 0, 0, 0, 0], 0.012, stiffness=500.0, damping=50.0), WEIGHTS)
    stretches = []
    for _ in range(400):
        coupling.ask(at, press, GIVE, 1e-3)
        stretches.append(-coupling.stretch[0])
    assert np.array(stretches) == pytest.approx(0.002 * -np.expm1(-np.arange(1, 401) * 1e-3 * 500 / 50), abs=2e-5)


def test_admittance_goes_along_with_a_push():
    """Along what is free, by the mobility; across it stays. The wrench is the hand's own, capped."""
    mobility = np.array([1e-3] * 3 + [0.1] * 2)
    goal, wrench, _ = asked(Line((0, 0, 0), (1, 0, 0), tilts=(0, 0)), manner="admittance", mobility=mobility)
    assert goal == pytest.approx([X[0] + 1e-3 * W[0], 0, 0, 0, 0], abs=1e-8)
    assert wrench == pytest.approx(W)
    _, wrench, _ = asked(Point(np.zeros(5)), wrench=100 * W, cap=[20.0] * 3 + [1.0] * 2)
    assert np.abs(wrench[:3]).max() <= 20.0 + 1e-9
    assert np.abs(wrench[3:]).max() <= 1.0 + 1e-9


class Ramp(Fixture):
    """A floor that rises with x."""

    def limits(self, x):
        n = np.array([-0.3, 1.0, 0.0, 0.0, 0.0]) / np.hypot(0.3, 1.0)
        return [Limit(n, -(n @ x), one_sided=True)]


def test_a_fixture_of_ones_own():
    """Ten lines: below the ramp the goal is on it."""
    goal, _, _ = asked(Ramp())
    assert goal[1] == pytest.approx(0.3 * goal[0])


def test_what_cannot_be_is_refused():
    """With the remedy."""
    with pytest.raises(InputError, match="not all zero"):
        Wall(np.zeros(5), 0.0)
    with pytest.raises(InputError, match="stiffness"):
        Wall([1.0, 0, 0, 0, 0], 0.0, stiffness=0.0)
    with pytest.raises(InputError, match="radius"):
        Circle((0, 0, 0), 0.0, (0, 1, 0))
    with pytest.raises(InputError, match="manner"):
        Coupling(FreeSpace(), WEIGHTS, manner="soft")
    with pytest.raises(InputError, match="negative"):
        Coupling(FreeSpace(), WEIGHTS, cap=0.0)
    with pytest.raises(InputError, match="from 0 on"):
        Point(np.zeros(5), rows=[7])
