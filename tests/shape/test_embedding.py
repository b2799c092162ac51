"""Embedding: points carried by tets."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

from pliant.errors import InputError, PliantWarning
from pliant.shape import Embedding, TetMesh, _tree_kernels, make
from pliant.shape.embedding import containing


@pytest.fixture(scope="module")
def ball() -> TetMesh:
    return make.sphere(0.02, 0.006)


def points_inside(count: int, seed: int = 0) -> np.ndarray:
    rng = np.random.default_rng(seed)
    direction = rng.normal(size=(count, 3))
    radius = 0.0185 * rng.uniform(size=(count, 1)) ** (1 / 3)
    return radius * direction / np.linalg.norm(direction, axis=1, keepdims=True)


def test_linear_fields_are_reproduced_exactly(ball):
    """Any affine motion of the nodes moves the points with it, to rounding."""
    points = points_inside(500)
    carried = Embedding.of(ball, points)
    a = np.random.default_rng(1).normal(size=(3, 3))
    np.testing.assert_allclose(carried.positions(ball.nodes @ a + 0.3), points @ a + 0.3, atol=1e-14)
    assert carried.weights.min() >= 0.0
    np.testing.assert_allclose(carried.weights.sum(axis=1), 1.0, atol=1e-15)
    assert (carried.distances == 0).all()


def test_carrier_contains_its_point(ball):
    """The tet found is one that contains the point, as solving for barycentric coordinates one by one says."""
    points = points_inside(100)
    carried = Embedding.of(ball, points)
    for point, element, weights in zip(points, carried.elements, carried.weights, strict=True):
        corners = ball.nodes[ball.tets[element]]
        wanted = np.linalg.solve(np.vstack([corners.T, np.ones(4)]), np.append(point, 1.0))
        np.testing.assert_allclose(weights, wanted, atol=1e-8)
        assert wanted.min() > -1e-9


def test_compiled_search_finds_a_tet_whenever_brute_force_does(ball):
    """Points inside and outside are told apart as testing every tet does."""
    points = np.random.default_rng(5).uniform(-0.025, 0.025, size=(150, 3))
    corners = np.concatenate([ball.nodes[ball.tets], np.ones((len(ball.tets), 4, 1))], axis=2)
    inverse = np.linalg.inv(corners.transpose(0, 2, 1))
    weights = np.einsum("tij,pj->pti", inverse, np.column_stack([points, np.ones(len(points))]))
    inside = (weights.min(axis=2) > 0).any(axis=1)
    np.testing.assert_array_equal(containing(ball, points) >= 0, inside)
    assert 10 < inside.sum() < 140


def test_weights_kernel_matches_a_linear_solve():
    """Barycentric coordinates of one point outside one tet, against a 4 x 4 solve."""
    x = np.random.default_rng(2).normal(size=(4, 3))
    point = np.array([[2.0, -1.0, 0.5]])
    weights = np.empty((1, 4))
    _tree_kernels.tet_weights(point, x, np.array([[0, 1, 2, 3]], dtype=np.int32), np.zeros(1, dtype=np.int32), weights)
    wanted = np.linalg.solve(np.vstack([x.T, np.ones(4)]), np.append(point[0], 1.0))
    np.testing.assert_allclose(weights[0], wanted, rtol=1e-10)


def test_a_point_on_a_node_is_that_node(ball):
    """Nodes as points have exactly one weight, equal to one, also with rounding noise of 1e-12."""
    noise = 1e-12 * ball.diameter * np.random.default_rng(0).normal(size=ball.nodes.shape)
    for points in (ball.nodes, ball.nodes + noise):
        carried = Embedding.of(ball, points)
        assert (carried.weights.max(axis=1) == 1.0).all()
        np.testing.assert_array_equal(carried.nodes[carried.weights == 1.0], np.arange(len(ball.nodes)))
        assert carried.matrix().nnz == len(ball.nodes)


def test_conforming_is_the_special_case(ball):
    """Given node ids need no search and are the same nodes."""
    ids = ball.where(z_above=0.01)
    carried = Embedding.conforming(ball, ids)
    np.testing.assert_array_equal(carried.positions(ball.nodes), ball.nodes[ids])
    with pytest.raises(InputError, match="node ids reach"):
        Embedding.conforming(ball, [len(ball.nodes)])
    with pytest.raises(InputError, match="integers"):
        Embedding.conforming(ball, [0.5])


def test_matrix_does_what_positions_does(ball):
    """The sparse matrix (p, n) times the nodes gives the points, and its rows sum to one."""
    points = points_inside(50)
    carried = Embedding.of(ball, points)
    matrix = carried.matrix()
    assert matrix.shape == (50, len(ball.nodes))
    np.testing.assert_allclose(matrix @ ball.nodes, points, atol=1e-15)
    np.testing.assert_allclose(matrix.sum(axis=1), 1.0)


def test_points_on_shared_faces_are_found(ball):
    """Points exactly on faces, edges and nodes of the mesh belong to it, without a warning."""
    on_faces = ball.nodes[ball.surface().node_ids[ball.surface().triangles]].mean(axis=1)
    on_edges = ball.midpoints()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for points in (on_faces, on_edges):
            carried = Embedding.of(ball, points)
            np.testing.assert_allclose(carried.positions(ball.nodes), points, atol=1e-15)


def test_points_outside_are_extrapolated_with_a_warning(ball):
    """A point 0.5 mm outside is attached to the nearest tet, listed, and follows affine motions exactly."""
    points = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0205]])
    with pytest.warns(PliantWarning, match="points 1 are up to 0.000"):
        carried = Embedding.of(ball, points)
    assert carried.distances[0] == 0.0
    assert carried.distances[1] == pytest.approx(0.0005, abs=5e-4)
    assert carried.weights[1].min() < 0.0
    a = np.array([[1.0, 0.2, 0], [0, 0.9, 0.1], [0.3, 0, 1.1]])
    np.testing.assert_allclose(carried.positions(ball.nodes @ a), points @ a, atol=1e-15)


def test_points_far_outside_are_refused_by_name(ball):
    """Beyond max_distance an error names the points and where the mesh is; a larger max_distance lets them pass."""
    points = np.array([[0.0, 0.0, 0.0], [0.0, 0.0, 0.05], [0.0, 0.05, 0.0]])
    with pytest.raises(InputError, match=r"points 1, 2 are up to 0\.03.*half the mean edge") as caught:
        Embedding.of(ball, points)
    assert "the mesh spans [-0.019589, -0.019589, -0.019589] to [0.019589, 0.019589, 0.019589] m" in caught.value.remedy
    assert caught.value.evidence["points"].tolist() == [1, 2]
    with pytest.warns(PliantWarning, match="points 1, 2"):
        Embedding.of(ball, points, max_distance=0.1)
    with pytest.raises(InputError, match="max_distance = 0 m"):
        Embedding.of(ball, [[0, 0, 0.021]], max_distance=0.0)
    with pytest.raises(InputError, match="max_distance is -1"):
        Embedding.of(ball, points, max_distance=-1.0)


@pytest.mark.parametrize("points", [np.zeros((2, 2)), np.zeros((0, 3)), [[np.nan, 0, 0]], [["a", "b", "c"]]])
def test_bad_points_are_refused(ball, points):
    """Points of the wrong shape, none, or not finite are input errors."""
    with pytest.raises(InputError):
        Embedding.of(ball, points)


def test_quadratic_weights_reproduce_quadratic_fields(ball):
    """With mid-edge nodes the ten weights interpolate any quadratic exactly."""
    points = points_inside(200)
    carried = Embedding.of(ball, points)
    nodes, weights = carried.quadratic(len(ball.nodes) + ball.quadratic_edges()[1])
    everything = np.vstack([ball.nodes, ball.midpoints()])

    def field(p):
        return 1 + p[:, 0] ** 2 - 3 * p[:, 0] * p[:, 1] + 2 * p[:, 2] ** 2 + p[:, 1]

    np.testing.assert_allclose((weights * field(everything)[nodes]).sum(axis=1), field(points), atol=1e-14)
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-14)
    assert nodes.shape == weights.shape == (200, 10)


def test_rounding_of_a_file_is_not_worth_a_warning():
    """Points that single precision puts a nanometre outside attach without a word; a tenth of a millimetre is told."""
    mesh = make.box((0.1, 0.02, 0.02), (10, 2, 2))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        Embedding.of(mesh, [(0.1 + 3e-10, 0.01, 0.01), (0.1 + 4e-9, 0.01, 0.01)])
    with pytest.warns(PliantWarning, match="outside the mesh"):
        Embedding.of(mesh, [(0.1 + 1e-4, 0.01, 0.01)])
