"""The Warp backend on its processor device against the engine for processors."""

from __future__ import annotations

import sys

import numpy as np
import pytest

from pliant.body import SpringBody
from pliant.contact import Plane, Sphere
from pliant.errors import InputError, MissingExtraError
from pliant.motion.explicit import Explicit, Load, Motor, Sine
from pliant.shape import Lattice


def walker():
    """A block with an actuated half."""
    lattice = Lattice.block((6, 2, 3), size=0.01).labelled(lambda c: (c[:, 0] > 0.03).astype(int))
    return SpringBody(lattice, E={0: 1e5, 1: 5e4})


@pytest.mark.parametrize("integrator", ["verlet", "semi-implicit"])
def test_the_trajectory_is_that_of_the_processor(integrator):
    """Gravity, damping, two obstacles with friction, actuation, a load and a line: the same to float32."""
    pytest.importorskip("warp", reason="needs the extra `warp`")
    body = walker()
    around = {
        "integrator": integrator,
        "precision": "single",
        "gravity": (0.5, 0, -9.81),
        "damping": 2.0,
        "ground": [Plane(offset=-1e-4, friction=0.4, damping=0.1), Sphere((0.03, 0.01, -0.05), 0.055, friction=0.3)],
        "actuation": {1: Sine(0.05, 20.0)},
        "loads": [Load([0, 5], (0.01, 0, 0.02))],
        "lines": [([10], (1, 0, 1))],
        "step": 2e-4,
    }
    processor = Explicit(body, **around).run(0.04, record=[3, 40], every=7)
    warp = Explicit(body, device="warp-cpu", **around).run(0.04, record=[3, 40], every=7)
    assert np.abs(processor.x - body.rest).max() > 2e-3
    np.testing.assert_allclose(warp.x, processor.x, atol=2e-6)
    np.testing.assert_allclose(warp.v, processor.v, atol=2e-3)
    np.testing.assert_allclose(warp.positions, processor.positions, atol=2e-6)
    np.testing.assert_allclose(warp.velocities, processor.velocities, atol=2e-3)
    np.testing.assert_allclose(warp.times, processor.times)


def test_what_warp_cannot_do_is_refused():
    """No silent fallback: the missing feature is named."""
    pytest.importorskip("warp", reason="needs the extra `warp`")
    body = walker()
    with pytest.raises(InputError, match="rk4"):
        Explicit(body, device="warp-cpu", precision="single", integrator="rk4")
    with pytest.raises(InputError, match="double"):
        Explicit(body, device="warp-cpu")
    with pytest.raises(InputError, match="motors"):
        Explicit(body, device="warp-cpu", precision="single", motors=[Motor([0, 1, 2], (0, 0, 1), (0, 0, 0))])
    with pytest.raises(InputError, match="device is 'tpu'"):
        Explicit(body, device="tpu", precision="single")


def test_without_warp_the_extra_is_named(monkeypatch):
    """A user without the package learns what to install."""
    monkeypatch.setitem(sys.modules, "warp", None)
    with pytest.raises(MissingExtraError, match=r"pliant\[warp\]"):
        Explicit(walker(), device="cuda", precision="single")
