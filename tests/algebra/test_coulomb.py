"""Efforts within limits and Coulomb's cones: the conditions hold, whatever the problem."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.algebra.coulomb import coulomb_efforts
from pliant.algebra.limited import limited_efforts


def problem(rng, contacts, plain, freedom):
    G = rng.normal(size=(plain + 3 * contacts, freedom))
    b = rng.normal(size=len(G))
    b[plain::3] -= 0.5
    return G @ G.T / freedom, b, rng.choice([0.0, 0.1, 0.3, 0.8, 1.2], size=contacts)


def require_coulomb(W, b, limits, mu, efforts):
    """The conditions themselves, one by one."""
    r, p = W @ efforts + b, len(limits)
    small, scale = 1e-6, np.abs(efforts).max()
    for i, (low, high) in enumerate(limits):
        assert low - small * scale <= efforts[i] <= high + small * scale
        if low + small * scale < efforts[i] < high - small * scale:
            assert abs(r[i]) < small * scale * W[i, i] * 10
    for c, friction in enumerate(mu):
        own = slice(p + 3 * c, p + 3 * c + 3)
        (n, *t), (gap, *slip) = efforts[own], r[own]
        limit = 10 * small * scale * W[own, own].trace()
        assert n >= 0.0
        assert gap >= -limit
        assert n * max(gap, 0.0) <= limit * scale
        assert np.hypot(*t) <= friction * n + small * scale
        if np.hypot(*t) < friction * n - small * scale and n > small * scale:
            assert np.hypot(*slip) < limit
        if n > small * scale and friction > 0 and np.hypot(*slip) > 100 * limit:
            assert np.dot(t, slip) / (np.hypot(*t) * np.hypot(*slip)) == pytest.approx(-1.0, abs=1e-4)


@pytest.mark.parametrize("seed", range(40))
def test_the_conditions_hold_in_problems_of_full_rank(seed):
    rng = np.random.default_rng(seed)
    contacts, plain = int(rng.integers(1, 12)), int(rng.integers(0, 4))
    W, b, mu = problem(rng, contacts, plain, 3 * contacts + plain + 5)
    limits = np.tile([-0.5, 0.5] if seed % 2 else [-np.inf, np.inf], (plain, 1))
    found = coulomb_efforts(W, b, limits, mu, np.zeros(len(b)))
    assert found.residual < 1e-6
    require_coulomb(W, b, limits, mu, found.efforts)


def test_without_contacts_it_is_the_answer_of_limited_efforts():
    rng = np.random.default_rng(1)
    W, b, _ = problem(rng, 0, 6, 10)
    limits = np.tile([-0.3, 0.3], (6, 1))
    found = coulomb_efforts(W, b, limits, np.empty(0), np.zeros(6))
    np.testing.assert_allclose(found.efforts, limited_efforts(W, b, limits, np.zeros(6)), atol=1e-6)


def test_rows_that_do_the_same_share_their_effort():
    """Four feet of a rigid table: W has rank 3 in the normals, and every foot bears a quarter."""
    feet = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], float)
    H = np.zeros((12, 6))
    for k, (x, y) in enumerate(feet):
        H[3 * k] = [0, 0, 1, y, -x, 0]
        H[3 * k + 1], H[3 * k + 2] = [1, 0, 0, 0, 0, -y], [0, 1, 0, 0, 0, x]
    b = H @ np.array([0, 0, -4.0, 0, 0, 0])
    found = coulomb_efforts(H @ H.T, b, np.empty((0, 2)), np.full(4, 0.5), np.zeros(12))
    assert found.residual < 1e-6
    np.testing.assert_allclose(found.efforts[::3], 1.0, rtol=1e-5)


def test_a_warm_start_is_not_needed_but_taken():
    rng = np.random.default_rng(5)
    W, b, mu = problem(rng, 8, 0, 40)
    first = coulomb_efforts(W, b, np.empty((0, 2)), mu, np.zeros(24))
    again = coulomb_efforts(W, b, np.empty((0, 2)), mu, first.efforts)
    np.testing.assert_array_equal(again.efforts, first.efforts)


def on_points(points, push):
    """W and b of a rigid unit mass with unit inertia that is pushed (force and moment, (6,)) onto points of the ground."""
    H = np.zeros((3 * len(points), 6))
    for k, (x, y) in enumerate(points):
        H[3 * k] = [0, 0, 1, y, -x, 0]
        H[3 * k + 1], H[3 * k + 2] = [1, 0, 0, 0, 0, -y], [0, 1, 0, 0, 0, x]
    return H @ H.T, H @ np.asarray(push, float)


def test_forces_of_doubled_rows_are_exact_where_they_are_the_only_ones():
    """A table with all its weight over one foot: that foot bears all of it, though rows do the same."""
    feet = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], float)
    W, b = on_points(feet, [0.2, -0.1, -4.0, -4.0, 4.0, 0.0])
    found = coulomb_efforts(W, b, np.empty((0, 2)), np.full(4, 0.5), np.zeros(12))
    assert found.residual < 1e-6
    np.testing.assert_allclose(found.efforts[[0, 3, 6, 9]], [0, 0, 4.0, 0], atol=4e-6)


@pytest.mark.parametrize("seed", range(20))
def test_a_rigid_body_on_many_points_holds_the_law(seed):
    """Sticking, sliding, tipping and turning on 4 to 30 points, most of which do the same."""
    rng = np.random.default_rng(seed)
    points = rng.uniform(-1, 1, size=(int(rng.integers(4, 31)), 2))
    push = np.concatenate([rng.normal(size=2), [-3.0], rng.normal(size=2), rng.normal(size=1)])
    W, b = on_points(points, push)
    limits, mu = np.empty((0, 2)), np.full(len(points), rng.choice([0.0, 0.2, 0.6]))
    found = coulomb_efforts(W, b, limits, mu, np.zeros(len(b)))
    assert found.residual < 1e-6
    require_coulomb(W, b, limits, mu, found.efforts)


def test_anchors_that_no_motion_can_meet_raise_no_forces():
    """Nine feet whose anchors are apart by a millionth: each bears its share of the weight, and nothing sideways."""
    feet = np.stack(np.meshgrid([-1.0, 0.0, 1.0], [-1.0, 0.0, 1.0]), -1).reshape(-1, 2)
    W, b = on_points(feet, [0, 0, -9.0, 0, 0, 0])
    apart = b + 1e-6 * np.where(np.arange(27) % 3 > 0, np.random.default_rng(0).normal(size=27), 0.0)
    start = np.tile([1.0, 0.0, 0.0], 9)
    found = coulomb_efforts(W, apart, np.empty((0, 2)), np.full(9, 0.5), start)
    assert found.residual < 1e-6
    np.testing.assert_allclose(found.efforts[::3], 1.0, rtol=1e-5)
    assert np.abs(found.efforts.reshape(-1, 3)[:, 1:]).max() < 1e-5


def test_stiff_parts_beside_a_long_way_to_go_keep_their_own_compliance():
    """A compliance of 1e-8 beside that of the whole still says how points share: no `SHARED` where rows differ."""
    rng = np.random.default_rng(3)
    G = rng.normal(size=(12, 20))
    points = np.array([(-1, -1), (1, -1), (1, 1), (-1, 1)], float)
    W, b = on_points(points, [0, 0, -4.0, 0.3, 0, 0])
    W = W + 1e-8 * G @ G.T
    found = coulomb_efforts(W, b, np.empty((0, 2)), np.full(4, 10.0), np.zeros(12))
    np.testing.assert_allclose(found.efforts, np.linalg.solve(W, -b), rtol=1e-5, atol=1e-6)


def test_a_contact_that_nothing_can_move_is_let_go():
    W, b = np.zeros((6, 6)), np.array([-1.0, 0.0, 0.0, -1.0, 0.3, 0.0])
    W[3:, 3:] = np.eye(3)
    found = coulomb_efforts(W, b, np.empty((0, 2)), np.full(2, 0.5), np.zeros(6))
    np.testing.assert_allclose(found.efforts, [0, 0, 0, 1.0, -0.3, 0.0], atol=1e-12)


@pytest.mark.parametrize("friction", [0.1, 0.6])
def test_hundreds_of_contacts(friction):
    rng = np.random.default_rng(7)
    W, b, _ = problem(rng, 150, 3, 500)
    limits, mu = np.tile([-0.5, 0.5], (3, 1)), np.full(150, friction)
    found = coulomb_efforts(W, b, limits, mu, np.zeros(453))
    assert found.residual < 1e-6
    require_coulomb(W, b, limits, mu, found.efforts)
