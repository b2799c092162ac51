"""What every body promises: forces are slopes of the energy, stiffness is the slope of the force."""

from __future__ import annotations

import numpy as np
import pytest

from conftest import random_rotation
from pliant.body import RigidBody, RodBody, Section, SpringBody, TetBody, all_bodies
from pliant.material import all_laws
from pliant.shape import Curve, Lattice, make, solids

MESH = make.box((0.06, 0.02, 0.03), (3, 1, 2))
KINDS = [(1, "elements"), (2, "elements"), (1, "patches")]
BODIES = {
    f"{law.__name__}-{order}-{volume}": TetBody(MESH, law(E=1e5, nu=0.45), order=order, volume=volume)
    for law in all_laws
    for order, volume in KINDS
} | {
    "voxels": SpringBody(Lattice.block((4, 2, 3), 0.01), 1e5),
    "voxels18": SpringBody(Lattice.block((3, 2, 2), 0.01, body_diagonals=0.0), 1e5),
    "scattered": SpringBody(Lattice.scattered(solids.box((0.03, 0.02, 0.02)), 0.006), 1e5),
    "rod": RodBody(Curve([(0, 0, 0), (0.1, 0, 0)]), Section.rectangle(0.02, 0.01), 1e5, 0.4, 1000, count=4),
    "rods": RodBody(
        [
            Curve.helix((0, 0, 0), (0.04, 0, 0), (0, 0, 1), turns=0.6, pitch=0.05),
            Curve([(0.04, 0, 0), (0.1, 0.05, 0)]),
        ],
        Section.taper(Section.circle(0.02), Section.tube(0.01, 0.005)),
        E=1e5,
        nu=0.4,
        density=1000,
        count=[5, 3],
    ),
}

every_body = pytest.mark.parametrize("body", BODIES.values(), ids=BODIES)


def deformed(body, rng, size=1.5e-3):
    """Random displacements, then a rotation where the body allows one."""
    x = body.rest + size * rng.uniform(-1, 1, body.rest.shape)
    turned = not (isinstance(body, TetBody) and body.laws[0].feels_rotation)
    return x @ random_rotation(rng).T if turned else x


def test_all_bodies_are_here():
    """None that is registered is left out; a rigid body has no energy to look at (see test_rigid)."""
    assert {type(body) for body in BODIES.values()} | {RigidBody} == set(all_bodies)


@every_body
def test_force_is_the_slope_of_the_energy(body, rng):
    """f = dE/dx by central differences along random directions at a deformed state."""
    x, h = deformed(body, rng), 1e-7
    f = body.force(x)
    for _ in range(5):
        d = rng.normal(size=x.shape)
        slope = (body.energy(x + h * d) - body.energy(x - h * d)) / (2 * h)
        assert slope == pytest.approx(np.vdot(f, d), rel=1e-6, abs=1e-7 * np.abs(f).max())


@every_body
def test_exact_stiffness_is_the_slope_of_the_force(body, rng):
    """K = df/dx by central differences, symmetric."""
    x, h = deformed(body, rng), 1e-7
    K = body.stiffness(x)
    for _ in range(5):
        d = rng.normal(size=x.shape)
        slope = (body.force(x + h * d) - body.force(x - h * d)).ravel() / (2 * h)
        assert np.abs(slope - K @ d.ravel()).max() < 1e-6 * np.abs(slope).max()
    assert abs(K - K.T).max() < 1e-12 * abs(K).max()
