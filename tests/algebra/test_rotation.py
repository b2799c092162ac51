"""Rotations: logarithm, quaternions, and the derivatives of the logarithm."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.algebra.rotation import (
    exponential,
    from_quaternion,
    logarithm,
    logarithm_curvature,
    logarithm_slope,
    to_quaternion,
)

ANGLES = [0.0, 1e-9, 1e-4, 0.04, 0.06, 1.0, 2.5, 3.1, np.pi - 1e-7]


def axes(rng):
    return [np.eye(3)[k] for k in range(3)] + [v / np.linalg.norm(v) for v in rng.normal(size=(5, 3))]


@pytest.mark.parametrize("angle", ANGLES)
def test_logarithm_inverts_the_exponential(angle, rng):
    """Up to half a turn, about axes of space and others; so do the quaternions."""
    for axis in axes(rng):
        R = exponential(angle * axis)
        assert logarithm(R) == pytest.approx(angle * axis, abs=1e-8 if angle > 3 else 1e-13)
        q = to_quaternion(R)
        assert np.linalg.norm(q) == pytest.approx(1.0)
        assert q[0] >= 0
        assert np.abs(from_quaternion(q) - R).max() < 1e-14
        assert np.abs(from_quaternion(-q) - R).max() < 1e-14


@pytest.mark.parametrize("angle", ANGLES[:-1])
def test_derivatives_of_the_logarithm(angle, rng):
    """Slope and curvature by central differences along spins, on both sides of the switch to the series."""
    for axis in axes(rng):
        theta, w, row, h = angle * axis, rng.normal(size=3), rng.normal(size=3), 1e-5
        R = exponential(theta)
        if np.linalg.norm(theta) + 2e-5 * np.linalg.norm(w) < np.pi:
            slope = (logarithm(exponential(h * w) @ R) - logarithm(exponential(-h * w) @ R)) / (2 * h)
            assert logarithm_slope(theta) @ w == pytest.approx(slope, abs=1e-8 * max(1, np.abs(slope).max()))
        change = (logarithm_slope(theta + h * w) - logarithm_slope(theta - h * w)).T @ row / (2 * h)
        expected = logarithm_curvature(theta, row) @ w
        assert expected == pytest.approx(change, abs=1e-6 * max(1, np.abs(change).max()))
