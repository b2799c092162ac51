"""The haptic device's paper: what is read from runs is what is in them, and all its findings hold."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.control.haptic_run import HapticRun
from pliant.paper import all_papers
from pliant.paper import koehler2023_runs as runs


def made(x, wrench, seconds=4.0):
    """A run with these poses and wrenches over time."""
    time = np.arange(0.0, seconds, 0.002)
    rows, none = np.zeros((len(time), 5)), np.zeros(len(time), int)
    true_x, true_wrench = rows + x(time)[:, None], rows + wrench(time)[:, None]
    sensed = true_x + 1e-3
    return HapticRun(
        time, sensed, rows, true_x, true_wrench, rows, true_wrench, rows, np.zeros((len(time), 6)), none, none, none,
        none == 0,
    )  # fmt: skip


def test_a_slope_is_that_of_the_ramp():
    """330 N/m along x, whatever the force was before."""
    ramp = made(lambda t: 0.004 * np.clip(t - 0.5, 0, 1), lambda t: 3.0 + 330.0 * 0.004 * np.clip(t - 0.5, 0, 1))
    assert runs.slope(ramp, "translation") == pytest.approx(330.0, rel=1e-6)


def test_a_line_is_found_between_its_frequencies():
    """A tremble of 0.3 mm at 20 Hz is one, to 5 %, at 2 Hz it is none."""
    for rate, size in ((20.0, 3e-4), (2.0, 0.0)):
        found = made(lambda t, rate=rate: 3e-4 * np.sin(2 * np.pi * rate * t), np.zeros_like)
        assert runs.spectral_lines(found)[0] == pytest.approx(size, abs=0.05 * 3e-4)


def test_penetration_is_beyond_the_wall():
    """At the end and at most, sensed and true."""
    beyond = made(lambda t: runs.WALL + 0.02 * np.clip(t - 1.0, 0, 1) + 0.01 * ((t > 2.0) & (t < 2.1)), np.zeros_like)
    found = runs.penetration(beyond)
    assert found.true_steady == pytest.approx(0.02)
    assert found.true_peak == pytest.approx(0.03, abs=1e-3)
    assert found.steady == pytest.approx(0.02, abs=2e-3)


def test_distance_from_a_circle():
    """In its plane and out of it."""
    x = np.zeros((3, 5))
    x[0, 0], x[1, :2], x[2, 2] = runs.RADIUS, (runs.RADIUS, 0.004), runs.RADIUS + 0.003
    assert runs.off_circle(x) == pytest.approx([0.0, 0.004, 0.003])


@pytest.mark.slow
def test_everything_holds(tmp_path):
    """Every figure of the paper is drawn, and every bound is kept."""
    found = all_papers["koehler2023"].reproduce(tmp_path, None)
    assert [f.name for f in found.figures if f.holds is False] == []
    assert all(path.stat().st_size > 5000 for path in found.plots)
    assert len(found.plots) >= 14
