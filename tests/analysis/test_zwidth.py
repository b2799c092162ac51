"""Z-width: the edges of what is stable are found, and the haptic device's own are where they should be."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pliant.analysis.zwidth import stable_range, zwidth
from pliant.errors import InputError
from pliant.gallery import tripods_wall


def test_both_edges_are_found():
    """To a few per cent; an end that is stable is the answer; nothing is said where the middle is not."""
    softest, stiffest = stable_range(lambda k: 50.0 < k < 2000.0, 10.0, 1e5, rounds=12)
    assert softest == pytest.approx(50.0, rel=0.02)
    assert stiffest == pytest.approx(2000.0, rel=0.02)
    assert stable_range(lambda k: True, 10.0, 1e5) == (10.0, 1e5)
    assert np.isnan(stable_range(lambda k: False, 10.0, 1e5)).all()
    with pytest.raises(InputError, match="low < high"):
        stable_range(lambda k: True, 2.0, 1.0)


def edges(rate, delay):
    """As a device would answer."""
    return [{"rate": rate, "delay": delay, "softest": 10.0, "stiffest": rate / (1 + 100 * delay)}]


def test_a_table_over_rates_and_delays():
    """In order."""
    with ThreadPoolExecutor(1) as one:
        table = zwidth(edges, (100, 200), (0.0, 0.01), executor=one, show=False)
    assert table["rate"].tolist() == [100, 100, 200, 200]
    assert table["stiffest"].tolist() == [100, 50, 200, 100]


@pytest.mark.thorough
def test_the_device_renders_a_stiff_wall_and_not_every_soft_one():
    """At 250 Hz without delay a wall of 20,000 N/m comes to rest; one of 20 N/m, a twentieth of the device's own stiffness,
    cannot be rendered by going along."""
    assert tripods_wall.is_stable(20e3, 250.0, 0.0)
    assert not tripods_wall.is_stable(20.0, 250.0, 0.03)
