"""Gaps of points and obstacles."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.contact import Plane, Solid, Sphere
from pliant.errors import InputError
from pliant.motion.explicit import Explicit

PLACES = np.random.default_rng(0).uniform(-0.2, 0.2, (200, 3))
OBSTACLES = {
    "plane": Plane(normal=(1, 2, 3), offset=0.1),
    "ball": Sphere(center=(0.01, 0.02, 0.03), radius=0.1),
    "bowl": Sphere(radius=0.15, inside=True),
    "solid": Solid(pl.solids.box((0.1, 0.12, 0.14))),
}


@pytest.mark.parametrize("name", OBSTACLES)
def test_a_normal_is_the_slope_of_the_distance(name):
    """By differences; and place + distance normal is the point."""
    gaps = OBSTACLES[name].gaps(PLACES)
    np.testing.assert_allclose(gaps.places + gaps.distances[:, None] * gaps.normals, PLACES, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(gaps.normals, axis=1), 1.0)
    h = 1e-7
    slope = np.stack(
        [
            OBSTACLES[name].gaps(PLACES + h * e).distances - OBSTACLES[name].gaps(PLACES - h * e).distances
            for e in np.eye(3)
        ]
    ).T / (2 * h)
    off = np.abs(slope - gaps.normals).max(axis=1)
    assert np.quantile(off, 0.95) < 1e-6  # but where the nearest place is another one next to it


def test_inside_a_solid_distances_are_negative():
    """Of a box, against the formula; also next to its edges and corners, where the nearest place is on none of the faces."""
    size = np.array([0.1, 0.12, 0.14])
    solid = OBSTACLES["solid"]
    low, high = solid.surface.bounds
    away = np.maximum(low - PLACES, PLACES - high)
    outside = np.linalg.norm(np.maximum(away, 0.0), axis=1)
    expected = np.where((away < 0).all(axis=1), away.max(axis=1), outside)
    np.testing.assert_allclose(high - low, size)
    np.testing.assert_allclose(solid.gaps(PLACES).distances, expected, atol=1e-12)


def test_an_open_surface_has_a_front_and_a_back():
    terrain = pl.SurfaceMesh([(0, 0, 0), (1, 0, 0), (1, 1, 0.2), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)])
    gaps = Solid(terrain).gaps(np.array([[0.5, 0.4, 0.5], [0.5, 0.4, -0.5]]))
    assert gaps.distances[0] > 0 > gaps.distances[1]


def test_explicit_steps_refuse_what_they_cannot_do():
    lattice = pl.SpringBody(pl.Lattice.voxels(pl.solids.box((0.02, 0.02, 0.02)), 0.01), E=1e5, density=1000)
    with pytest.raises(InputError, match="Solid"):
        Explicit(lattice, ground=OBSTACLES["solid"]).run(0.001)


@pytest.mark.parametrize("bad", [{"friction": -0.1}, {"friction": float("nan")}])
def test_friction_is_not_negative(bad):
    with pytest.raises(InputError, match="friction"):
        Plane(**bad)
