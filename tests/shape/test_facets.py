"""Signed distances from triangles that move, against all triangles one by one."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.shape.facets import Facets

RNG = np.random.default_rng(3)


def squeezed():
    """The surface of a ball after its tree was built, stretched, bent and turned."""
    ball = pl.solids.sphere(0.05)
    x = np.asarray(ball.nodes, float)
    facets = Facets(x, ball.triangles)
    moved = x * (1.4, 0.7, 1.0) + np.stack([0 * x[:, 0], 6.0 * x[:, 0] ** 2, 0.3 * x[:, 1]], axis=1)
    return facets, moved, ball.triangles


def nearest_of_all(points, corners):
    """Distances (p,) from the nearest of triangles (t, 3, 3), by many places on each."""
    weights = np.array([(a, b, 24 - a - b) for a in range(25) for b in range(25 - a)]) / 24
    places = np.einsum("qa,tai->tqi", weights, corners).reshape(-1, 3)
    return np.array([np.linalg.norm(places - p, axis=1).min() for p in points])


def test_distances_follow_a_surface_that_moves():
    """Inside is where the winding number is one."""
    facets, x, triangles = squeezed()
    points = RNG.uniform(-0.08, 0.08, (60, 3))
    hits = facets.at(x).hits(points)
    np.testing.assert_allclose(np.abs(hits.distances), nearest_of_all(points, x[triangles]), atol=3e-4)
    inside = pl.SurfaceMesh(x, triangles).tree.winding(points) > 0.5
    np.testing.assert_array_equal(hits.distances < 0, inside)
    places = facets.at(x).places(hits.triangles, hits.shares)
    np.testing.assert_allclose(places + hits.distances[:, None] * hits.normals, points, atol=1e-9)
    np.testing.assert_allclose(facets.at(x).shares_of(hits.triangles, places), hits.shares, atol=1e-7)


def test_out_of_reach_nothing_is_looked_at():
    facets, x, _ = squeezed()
    points = np.array([[0.3, 0.0, 0.0], [0.08, 0.0, 0.0]])
    hits = facets.at(x).hits(points, reach=np.full(2, 0.05))
    assert hits.triangles[0] == -1
    assert np.isinf(hits.distances[0])
    assert np.isfinite(hits.distances[1])


def test_crossings_are_the_first_from_the_front():
    """Against every triangle by itself."""
    facets, x, triangles = squeezed()
    points, steps = RNG.uniform(-0.1, 0.1, (80, 3)), RNG.uniform(-0.15, 0.15, (80, 3))
    found, shares = facets.at(x).crossed(points, steps, np.arange(80))
    corners = x[triangles]
    for p, d, k, w in zip(points, steps, found, shares, strict=True):
        matrix = np.stack(
            [corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0], np.tile(-d, (len(corners), 1))], axis=2
        )
        s, r, t = np.linalg.solve(matrix, (p - corners[:, 0])[:, :, None])[:, :, 0].T
        normals = np.cross(matrix[:, :, 0], matrix[:, :, 1])
        meets = (s >= 0) & (r >= 0) & (s + r <= 1) & (t >= 0) & (t <= 1) & (normals @ d < 0)
        assert (k >= 0) == meets.any()
        if meets.any():
            first = np.where(meets, t, np.inf).argmin()
            np.testing.assert_allclose(facets.at(x).places([k], w[None])[0], p + t[first] * d, atol=1e-9)


def test_points_do_not_touch_what_looks_the_same_way():
    """Of the top of a thin plate above a box nothing touches the top of the box; of its bottom all does."""
    box = pl.solids.box((0.1, 0.1, 0.1)).translated((-0.05, -0.05, -0.05))
    placed = Facets(np.asarray(box.nodes, float), box.triangles).at(np.asarray(box.nodes, float))
    points = np.array([[0.01, 0.02, 0.051], [0.01, 0.02, 0.050]])
    hits = placed.hits(points, np.array([[0.0, 0.0, 1.0], [0.0, 0.0, -1.0]]))
    assert hits.triangles[0] == -1
    np.testing.assert_allclose(hits.distances[1], 0.0, atol=1e-15)


@pytest.mark.parametrize("aside", [0.0, 1e-12, -1e-12, 1e-6])
@pytest.mark.parametrize("deep", [0.0, 1e-12, 1e-9, -1e-9])
def test_corners_on_corners_meet_the_face_that_looks_against_them(aside, deep):
    """A block right on another of the same size: up, whatever rounding makes of the rim."""
    box = pl.solids.box((0.1, 0.1, 0.1)).translated((-0.05, -0.05, -0.05))
    placed = Facets(np.asarray(box.nodes, float), box.triangles).at(np.asarray(box.nodes, float))
    own = np.array([[1.0, 1.0, -1.0], [1.0, 0.0, -1.0]]) / np.sqrt([[3.0], [2.0]])
    points = np.array([[0.05 + aside, 0.05 + aside, 0.05 - deep], [0.05 + aside, 0.01, 0.05 - deep]])
    hits = placed.hits(points, own)
    np.testing.assert_allclose(hits.normals, [[0, 0, 1]] * 2, atol=1e-12)
    np.testing.assert_allclose(hits.distances, -deep, atol=1e-13)


def test_nothing_is_behind_the_rim_of_an_open_surface():
    terrain = pl.SurfaceMesh([(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)], [(0, 1, 2), (0, 2, 3)])
    placed = Facets(np.asarray(terrain.nodes, float), terrain.triangles).at(np.asarray(terrain.nodes, float))
    hits = placed.hits(np.array([[1.2, 0.5, -0.1], [0.5, 0.5, -0.1]]))
    assert hits.distances[0] > 0 > hits.distances[1]
