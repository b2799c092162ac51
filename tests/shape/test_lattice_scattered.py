"""Best-candidate points and the lattices on them: spacing, determinism, irregular solids, bad input."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from pliant.errors import InputError, MeshError, OpenSurfaceError
from pliant.shape import Ball, Lattice, SurfaceMesh, make, solids
from pliant.shape.best_candidate import best_candidates
from pliant.shape.lattice_samples import corners_of
from pliant.shape.lattice_solid import as_solid


def draws(rng):
    """Points in a cube, with a record of all that were drawn."""
    record = []

    def draw(count):
        record.append(rng.random((count, 3)))
        return record[-1]

    return draw, record


@pytest.mark.parametrize("neighbours", [1, 3])
def test_every_point_is_the_best_of_its_candidates(neighbours, rng):
    """The kernel with its buckets chooses what a plain search over all distances chooses."""
    draw, record = draws(rng)
    points = best_candidates(np.array([[0.5, 0.5, 0.5]]), draw, 150, 0.2, 3, candidates=20, neighbours=neighbours)
    candidates = np.concatenate([batch.reshape(-1, 20, 3) for batch in record])
    chosen = [np.array([0.5, 0.5, 0.5])]
    for group in candidates:
        near = np.sort(cdist(group, np.array(chosen)), axis=1)[:, :neighbours]
        chosen.append(group[near.mean(axis=1).argmax()])
    assert np.array_equal(points, chosen)


def test_points_keep_their_distance():
    """In a box no two points are nearer than half the spacing; uniform random points of the same number are."""
    lattice = Lattice.scattered(solids.box((0.04, 0.02, 0.02)), 0.0025)
    nearest = cKDTree(lattice.points).query(lattice.points, k=2)[0][:, 1]
    assert nearest.min() > 0.5 * 0.0025
    assert nearest.mean() == pytest.approx(0.86 * 0.0025, rel=0.05)
    assert len(lattice.points) == pytest.approx(0.04 * 0.02 * 0.02 / 0.0025**3 + 4e-3 / 2 / 0.0025**2, rel=0.05)


def test_a_seed_fixes_the_lattice():
    """The same seed gives the same lattice, another seed another one of about as many points."""
    box = solids.box((0.03, 0.02, 0.02))
    one, again, other = (Lattice.scattered(box, count=400, seed=s) for s in (3, 3, 4))
    assert np.array_equal(one.points, again.points)
    assert np.array_equal(one.springs, again.springs)
    assert not np.array_equal(one.points[:50], other.points[:50])
    assert len(one.points) == pytest.approx(400, rel=0.05)


def test_corners_and_creases_are_points_of_the_lattice():
    """A box keeps its eight corners and its volume; a cylinder has creases but no corners."""
    box = solids.box((0.03, 0.02, 0.02))
    corners, creases = corners_of(box)
    assert sorted(map(tuple, corners.tolist())) == sorted(map(tuple, box.nodes.tolist()))
    assert len(creases) == 12
    lattice = Lattice.scattered(box, 0.004)
    assert cKDTree(lattice.points).query(corners)[0].max() == 0
    assert lattice.volume == pytest.approx(box.volume, rel=1e-6)
    corners, creases = corners_of(solids.cylinder(0.02, 0.05))
    assert len(corners) == 0
    assert len(creases) == 128


def test_irregular_solids_that_are_not_convex():
    """A solid with a dent, a leg and a cavity: no spring leaves it by more than a part of the spacing, its volume is right,
    it is one piece, and its cavity is there."""
    body = solids.box((0.06, 0.04, 0.04), centered=True) - solids.sphere(0.018, at=(0.03, 0, 0.01))
    body = (body | solids.cylinder(0.012, 0.04, at=(-0.02, 0, 0.01))) - solids.sphere(0.01, at=(-0.012, 0, 0))
    lattice = Lattice.scattered(body, 0.0035, seed=1)
    assert lattice.volume == pytest.approx(body.volume, rel=0.03)
    assert lattice.connected_parts().max() == 0
    used, triangles = np.unique(lattice.boundary_triangles(), return_inverse=True)
    assert len(SurfaceMesh(lattice.points[used], triangles.reshape(-1, 3)).parts()) == 2
    middles = lattice.points[lattice.springs].mean(axis=1)
    distance = body.tree.closest(middles)[0]
    assert distance[body.tree.winding(middles) < 0.5].max() < 0.3 * 0.0035


def test_a_formula_instead_of_a_surface():
    """A ball given by a function of place: points on its boundary by bisection, and its volume."""
    ball = Ball((0, 0, 0), 0.02)
    lattice = Lattice.scattered(ball, 0.004, bounds=((-0.02,) * 3, (0.02,) * 3))
    assert lattice.volume == pytest.approx(4 / 3 * np.pi * 0.02**3, rel=0.05)
    outer = np.linalg.norm(lattice.points[lattice.where(surface=True)], axis=1)
    assert outer == pytest.approx(0.02, abs=1e-6)


def test_sides_of_many_points_are_those_of_single_ones(rng):
    """Boxes that are known to be inside or outside change no answer."""
    solid = as_solid(solids.sphere(0.02) - solids.cylinder(0.008, 0.05, at=(0, 0, -0.025)))
    points = rng.uniform(-0.021, 0.021, (120_000, 3))
    assert np.array_equal(solid.inside(points), solid.region(points))


def test_springs_on_given_tets():
    """Any tet mesh is a lattice: the constants sum up what every tet gives, s_t / L with s_t = 6 V / sum L."""
    mesh = make.box((0.02, 0.02, 0.02), (2, 2, 2))
    lattice = Lattice.from_tets(mesh.nodes, mesh.tets)
    expected = {}
    for tet, volume in zip(mesh.tets.tolist(), mesh.volumes, strict=True):
        pairs = [(min(a, b), max(a, b)) for k, a in enumerate(tet) for b in tet[k + 1 :]]
        lengths = [np.linalg.norm(mesh.nodes[a] - mesh.nodes[b]) for a, b in pairs]
        for pair, length in zip(pairs, lengths, strict=True):
            expected[pair] = expected.get(pair, 0.0) + 6 * volume / sum(lengths) / length
    k = lattice.stiffness_shares @ np.ones(len(mesh.tets))
    assert k == pytest.approx([expected[tuple(pair)] for pair in lattice.springs.tolist()])
    half = Lattice.from_tets(mesh.nodes, mesh.tets, relaxation=0.5)
    assert half.stiffness_shares.sum() == pytest.approx(2 * lattice.stiffness_shares.sum())


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "needs a spacing or a count"),
        ({"spacing": 0.01, "count": 100}, "needs a spacing or a count"),
        ({"spacing": -1.0}, "spacing is -1.0"),
        ({"spacing": 0.03}, "0.01 m thick"),
        ({"spacing": 1e-5}, "asks for"),
        ({"count": 3}, "count is 3"),
        ({"spacing": 0.004, "candidates": 0}, "candidates is 0"),
        ({"spacing": 0.004, "neighbours": 1.5}, "neighbours is 1.5"),
    ],
)
def test_bad_options_are_named(options, message):
    """Each raises pliant's own error."""
    with pytest.raises(InputError, match=message):
        Lattice.scattered(solids.box((0.03, 0.02, 0.01)), **options)


def test_solids_that_cannot_be_filled_are_named():
    """An open surface, a cut-off that leaves nothing."""
    with pytest.raises(OpenSurfaceError, match="are open"):
        Lattice.scattered(SurfaceMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]), 0.1)
    with pytest.raises(MeshError, match="no tet of the lattice lies inside"):
        Lattice.scattered(solids.box((0.03, 0.02, 0.01)), 0.004, longest=0.1)
