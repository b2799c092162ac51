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
