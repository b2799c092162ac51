"""Search trees and their compiled loops against plain NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.shape import SurfaceMesh, make, solids
from pliant.shape.tree import BoxTree, TriangleTree


def closest_by_brute_force(point, corners, n=60):
    """Nearest distance to a triangle soup by sampling each triangle densely, then exactly on segments and planes."""
    best = np.inf
    for a, b, c in corners:
        normal = np.cross(b - a, c - a)
        foot = point - normal * ((point - a) @ normal) / (normal @ normal)
        weights = np.linalg.lstsq(np.column_stack([b - a, c - a]), foot - a, rcond=None)[0]
        if weights.min() >= 0 and weights.sum() <= 1:
            best = min(best, np.linalg.norm(point - foot))
        for p, q in ((a, b), (b, c), (c, a)):
            t = np.clip((point - p) @ (q - p) / ((q - p) @ (q - p)), 0, 1)
            best = min(best, np.linalg.norm(point - p - t * (q - p)))
    return best


@pytest.mark.parametrize("count", [1, 3, 4, 5, 37, 200])
def test_tree_holds_every_box_once_and_boxes_contain_their_children(count):
    """Any number of boxes is ordered without loss, and each node of the tree encloses what is below it."""
    rng = np.random.default_rng(count)
    lower = rng.normal(size=(count, 3))
    upper = lower + rng.uniform(0, 0.5, size=(count, 3))
    tree = BoxTree.of(lower, upper)
    assert sorted(tree.order) == list(range(count))
    leaves = len(tree.starts) - 1
    assert len(tree.lower) == 2 * leaves - 1
    for node in range(leaves - 1):
        for child in (2 * node + 1, 2 * node + 2):
            assert (tree.lower[node] <= tree.lower[child]).all()
            assert (tree.upper[node] >= tree.upper[child]).all()
    for leaf in range(leaves):
        mine = tree.order[tree.starts[leaf] : tree.starts[leaf + 1]]
        assert len(mine) <= 4
        np.testing.assert_array_equal(tree.lower[leaves - 1 + leaf], lower[mine].min(axis=0))


def test_closest_points_match_brute_force():
    """Distance, triangle and place of the nearest point are those of asking every triangle."""
    rng = np.random.default_rng(1)
    nodes = rng.normal(size=(30, 3)) * 0.1
    triangles = np.array([rng.choice(30, 3, replace=False) for _ in range(40)], dtype=np.int32)
    tree = TriangleTree.of(nodes, triangles)
    points = rng.normal(size=(60, 3)) * 0.2
    distance, triangle, place = tree.closest(points)
    wanted = [closest_by_brute_force(p, nodes[triangles]) for p in points]
    np.testing.assert_allclose(distance, wanted, atol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(points - place, axis=1), distance, atol=1e-12)
    for p, t, d in zip(points[:20], triangle[:20], distance[:20], strict=True):
        assert closest_by_brute_force(p, nodes[triangles[[t]]]) == pytest.approx(d, abs=1e-12)


def winding_by_brute_force(points, corners):
    """Sum of the solid angles of all triangles over 4 pi (van Oosterom and Strackee 1983)."""
    a, b, c = (corners[None, :, k] - points[:, None] for k in range(3))
    la, lb, lc = (np.linalg.norm(v, axis=2) for v in (a, b, c))
    det = np.einsum("pti,pti->pt", a, np.cross(b, c))
    dot = [np.einsum("pti,pti->pt", u, v) for u, v in ((a, b), (b, c), (c, a))]
    return np.arctan2(det, la * lb * lc + dot[0] * lc + dot[1] * la + dot[2] * lb).sum(axis=1) / (2 * np.pi)


def test_winding_number_matches_the_sum_of_solid_angles():
    """The tree's approximation is within 0.05 of the exact sum, which is a whole number for closed surfaces."""
    surface = make.hollow_sphere(0.01, 0.02, 0.006).surface()
    rng = np.random.default_rng(2)
    points = rng.uniform(-0.03, 0.03, size=(300, 3))
    exact = winding_by_brute_force(points, surface.nodes[surface.triangles])
    np.testing.assert_allclose(exact, np.round(exact), atol=1e-9)
    np.testing.assert_allclose(surface.tree.winding(points), exact, atol=0.05)
    assert {0, 1} == set(np.round(exact).astype(int))


def test_winding_number_counts_overlap():
    """Inside two overlapping boxes the winding number is two, inside a cavity zero."""
    a, b = solids.box((0.1, 0.1, 0.1)), solids.box((0.1, 0.1, 0.1), at=(0.05, 0, 0))
    both = SurfaceMesh(np.vstack([a.nodes, b.nodes]), np.vstack([a.triangles, b.triangles + len(a.nodes)]))
    points = np.array([[0.07, 0.05, 0.05], [0.02, 0.05, 0.05], [0.3, 0, 0]])
    np.testing.assert_allclose(both.tree.winding(points), [2, 1, 0], atol=0.05)
