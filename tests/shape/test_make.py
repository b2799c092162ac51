"""Structured solids: exact volumes, conformity, boundary nodes on the true surface, angles."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import InputError
from pliant.shape import make, topology

SOLIDS = {
    "box": (lambda h: make.box((0.1, 0.04, 0.02), tuple(max(1, round(s / h)) for s in (0.1, 0.04, 0.02))), 8e-5, 15),
    "cylinder": (lambda h: make.cylinder(0.02, 0.05, h), np.pi * 4e-4 * 0.05, 30),
    "tube": (lambda h: make.tube(0.01, 0.02, 0.05, h), np.pi * 3e-4 * 0.05, 15),
    "sphere": (lambda h: make.sphere(0.02, h), 4 / 3 * np.pi * 8e-6, 35),
    "hollow_sphere": (lambda h: make.hollow_sphere(0.01, 0.02, h), 4 / 3 * np.pi * 7e-6, 20),
    "octant": (lambda h: make.hollow_sphere(0.01, 0.02, h, octant=True), np.pi / 6 * 7e-6, 20),
}


@pytest.mark.parametrize("name", SOLIDS)
def test_solids_conform_and_are_well_shaped(name):
    """Inner faces are shared by exactly two tets, the surface closes, and no angle is small."""
    made, _, angle = SOLIDS[name]
    for h in (0.02, 0.007):
        mesh = made(h)
        assert set(topology.face_counts(mesh.tets).tolist()) <= {1, 2}
        assert mesh.surface().is_closed
        assert mesh.components().max() == 0
    assert mesh.quality().min_dihedral > angle
    assert mesh.quality().max_dihedral < 140


@pytest.mark.parametrize("name", SOLIDS)
def test_volumes_converge_with_the_square_of_the_size(name):
    """The box is exact; curved solids lose a share of their volume that falls fourfold when the size halves."""
    made, exact, _ = SOLIDS[name]
    coarse, fine = (1 - made(h).volume / exact for h in (0.01, 0.005))
    if name == "box":
        assert abs(fine) < 1e-12
    else:
        assert 0 < fine < 0.06
        assert np.log2(coarse / fine) == pytest.approx(2.0, abs=0.35)


def test_edges_have_about_the_asked_size():
    """The median edge is within a third of the size asked for."""
    for made, _, _ in SOLIDS.values():
        assert made(0.005).quality().edge_quantiles[2] == pytest.approx(0.005, rel=0.35)


def test_boundary_nodes_lie_on_the_true_surface():
    """Curved boundaries are met exactly in their nodes."""
    ball = make.sphere(0.02, 0.006)
    np.testing.assert_allclose(np.linalg.norm(ball.surface().nodes, axis=1), 0.02, rtol=1e-12)
    shell = make.hollow_sphere(0.01, 0.02, 0.006)
    radius = np.linalg.norm(shell.surface().nodes, axis=1)
    assert np.minimum(abs(radius - 0.01), abs(radius - 0.02)).max() < 1e-15
    rod = make.cylinder(0.02, 0.05, 0.006)
    side = rod.where(surface=True, z_above=0.001)
    side = side[rod.nodes[side, 2] < 0.049]
    np.testing.assert_allclose(np.hypot(*rod.nodes[side, :2].T), 0.02, rtol=1e-12)


def test_octant_has_exact_symmetry_planes():
    """Nodes on the planes of symmetry have that coordinate exactly zero, so that they can be held there."""
    mesh = make.hollow_sphere(0.01, 0.02, 0.004, octant=True)
    assert mesh.nodes.min() == 0.0
    for axis in range(3):
        on_plane = mesh.nodes[:, axis] == 0.0
        flat = np.isclose(mesh.nodes[:, axis], 0.0, atol=1e-9)
        np.testing.assert_array_equal(on_plane, flat)
        assert on_plane.sum() > 20
    area = mesh.surface().area
    assert area == pytest.approx(np.pi / 2 * (1e-4 + 4e-4) + 3 * np.pi / 4 * (4e-4 - 1e-4), rel=0.02)


def test_axis_turns_without_reflection():
    """A cylinder along x or y is the z one turned."""
    for k, axis in enumerate("xyz"):
        mesh = make.cylinder(0.01, 0.08, 0.005, axis=axis)
        assert mesh.size[k] == pytest.approx(0.08)
        assert mesh.bounds[0, k] == pytest.approx(0.0)


def test_box_places_and_patterns():
    """Origin and center place the box; the mirrored pattern has the box's symmetry, Kuhn's has not."""
    assert make.box((1, 1, 1), 1, center=(0, 0, 0)).bounds[0].tolist() == [-0.5] * 3
    assert make.box((1, 1, 1), 1, origin=np.array([1, 2, 3])).bounds[0].tolist() == [1, 2, 3]

    def edge_set(mesh, flip):
        ends = np.round(mesh.nodes[mesh.edges()] * [flip, 1, 1] * 4).astype(int)
        return {frozenset(map(tuple, pair)) for pair in ends.tolist()}

    for pattern, symmetric in (("mirrored", True), ("kuhn", False)):
        mesh = make.box((1, 1, 1), 2, center=(0, 0, 0), pattern=pattern)
        assert (edge_set(mesh, 1) == edge_set(mesh, -1)) is symmetric
        assert set(topology.face_counts(mesh.tets).tolist()) == {1, 2}


@pytest.mark.parametrize(
    "call",
    [
        lambda: make.box((0.1, 0.1, -0.1), 1),
        lambda: make.box((0.1, 0.1, 0.1), 0),
        lambda: make.box((0.1, 0.1, 0.1), 1.5),
        lambda: make.box((0.1, 0.1, 0.1), 1, origin=(0, 0, 0), center=(0, 0, 0)),
        lambda: make.box((0.1, 0.1, 0.1), 1, pattern="five"),
        lambda: make.cylinder(0.0, 0.1, 0.01),
        lambda: make.cylinder(0.1, 0.1, 0.01, axis="w"),
        lambda: make.tube(0.02, 0.01, 0.1, 0.01),
        lambda: make.sphere(0.1, np.nan),
        lambda: make.hollow_sphere(0.02, 0.01, 0.1),
    ],
)
def test_impossible_solids_are_refused(call):
    """Lengths that are not positive, radii in the wrong order and unknown names are input errors."""
    with pytest.raises(InputError):
        call()


def test_split_cells_agree_on_shared_faces():
    """Hexahedra with any numbering of their nodes split into six tets each, conforming and of the same volume."""
    rng = np.random.default_rng(3)
    grid = np.stack(np.meshgrid(*[np.arange(4.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    number = rng.permutation(64).astype(np.int32)
    nodes = np.empty((64, 3))
    nodes[number] = grid * 0.1
    cells = []
    for i, j, k in np.ndindex(3, 3, 3):
        ring = [(0, 0), (1, 0), (1, 1), (0, 1)]
        cells.append([number[(i + a) * 16 + (j + b) * 4 + k + c] for c in (0, 1) for a, b in ring])
    tets, owner = topology.smallest_index_split(np.array(cells, dtype=np.int32), topology.HEX_FACES)
    tets = topology.oriented_tets(nodes, tets)
    volumes = topology.tet_volumes(nodes, tets)
    assert volumes.min() > 1e-6
    np.testing.assert_allclose(np.bincount(owner, weights=volumes), 1e-3)
    assert sorted(np.bincount(topology.face_counts(tets))) == [0, 108, 27 * 12 - 54]


def test_terrain_looks_up():
    heights = np.array([[0.0, 0.1], [0.2, 0.0], [0.1, 0.3]])
    ground = make.terrain([0, 1, 3], [0, 2], heights)
    np.testing.assert_allclose(ground.nodes[:, 2], heights.reshape(-1))
    corners = ground.nodes[ground.triangles]
    assert (np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])[:, 2] > 0).all()


@pytest.mark.parametrize(
    ("x", "y", "heights"),
    [([0, 0], [0, 1], np.zeros((2, 2))), ([0, 1], [0], np.zeros((2, 1))), ([0, 1], [0, 1], np.zeros((3, 2)))],
)
def test_bad_terrain_is_refused(x, y, heights):
    with pytest.raises(InputError, match="terrain"):
        make.terrain(x, y, heights)
