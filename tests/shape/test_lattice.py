"""Lattices: which points and springs a solid gets, what each cell contributes, regions, embedding, bad input."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import InputError, MeshError, OpenSurfaceError, PliantWarning, SurfaceError
from pliant.shape import Ball, Lattice, SurfaceMesh, make, solids
from pliant.shape.lattice_solid import as_solid


def test_a_cube_has_all_its_diagonals():
    """One cell: 12 edges, 12 face diagonals, 4 body diagonals; without the last 24 springs."""
    cube = Lattice.block((1, 1, 1), 0.01)
    assert np.bincount(np.round((cube.lengths / 0.01) ** 2).astype(int)).tolist() == [0, 12, 12, 4]
    assert len(Lattice.block((1, 1, 1), 0.01, body_diagonals=0.0).springs) == 24


def test_shared_springs_are_there_once_and_sum_up():
    """In a block an inner edge has four times the share of a corner edge, a face diagonal inside twice that outside."""
    block = Lattice.block((2, 2, 2), 0.01, body_diagonals=0.1)
    k = block.stiffness_shares @ np.ones(8)
    a, b = block.points[block.springs[:, 0]] - 0.01, block.points[block.springs[:, 1]] - 0.01
    steps = np.round((block.lengths / 0.01) ** 2).astype(int)
    # A spring is shared across every coordinate plane that it lies in.
    on_planes = ((np.abs(a) < 1e-9) & (np.abs(b) < 1e-9)).sum(axis=1)
    k3, k2, k1 = 0.1, 0.4 - 4 / 3 * 0.1, 0.4 + 4 / 3 * 0.1
    expected = 0.01 * np.array([0, k1 / 4, k2 / 2, k3])[steps] * 2.0**on_planes
    assert k == pytest.approx(expected, rel=1e-12)
    assert k.max() == pytest.approx(0.01 * k1)


@pytest.mark.parametrize("body_diagonals", [0.0, 0.1, 0.2])
def test_homogenized_stiffness_is_isotropic(body_diagonals):
    """(1/V) sum k L^2 n n n n of a block is Hooke's law with nu = 1/4: lambda = mu = 2/5 E."""
    block = Lattice.block((3, 2, 2), 0.01, body_diagonals=body_diagonals)
    d = block.points[block.springs[:, 1]] - block.points[block.springs[:, 0]]
    n = d / block.lengths[:, None]
    k = block.stiffness_shares @ np.full(12, 7e4)
    C = np.einsum("s,si,sj,sk,sl->ijkl", k * block.lengths**2, n, n, n, n) / block.volume
    one = np.eye(3)
    hooke = np.einsum("ij,kl->ijkl", one, one) + np.einsum("ik,jl->ijkl", one, one) + np.einsum("il,jk->ijkl", one, one)
    assert np.abs(C - 0.4 * 7e4 * hooke).max() < 1e-9 * 7e4


def test_springs_are_sorted_and_unique():
    """The lower point first, rows in lexicographic order, none twice: what a body's blocks rely on."""
    springs = Lattice.voxels(solids.sphere(0.02), 0.0035).springs
    keys = springs[:, 0].astype(np.int64) * 100_000 + springs[:, 1]
    assert (springs[:, 0] < springs[:, 1]).all()
    assert (np.diff(keys) > 0).all()


def test_the_grid_finds_every_point():
    """`node_of` is the inverse of the places: every point is where the grid says."""
    ball = Lattice.voxels(solids.sphere(0.02), 0.0035)
    grid = ball.grid
    at = np.argwhere(grid.node_of.reshape(grid.shape) >= 0)
    assert np.allclose(ball.points, grid.origin + grid.size * at)
    assert grid.node_of[grid.node_of >= 0].tolist() == list(range(len(ball.points)))


def test_a_ball_has_its_volume_and_no_outside_cells():
    """Cells by their middles have the ball's volume within 3 % at 16 across; with whole=True no point is outside."""
    surface = solids.sphere(0.02)
    assert Lattice.voxels(surface, 0.0025).volume == pytest.approx(surface.volume, rel=0.03)
    with pytest.warns(PliantWarning, match="volume is off by"):
        whole = Lattice.voxels(surface, 0.0025, whole=True)
    assert np.linalg.norm(whole.points, axis=1).max() <= 0.02
    # the same ball from a formula
    formula = Lattice.voxels(Ball((0, 0, 0), 0.02), 0.0025, bounds=((-0.02,) * 3, (0.02,) * 3))
    assert formula.volume == pytest.approx(4 / 3 * np.pi * 0.02**3, rel=0.03)


@pytest.mark.parametrize("axis", [0, 1, 2])
def test_middles_on_the_surface_are_kept_alike(axis):
    """A hole whose wall runs through middles of cells is the same in every layer, and as symmetric as the solid."""
    place = np.roll([-0.01, 0.05, 0.012], axis)
    drill = solids.cylinder(0.006, 0.05, at=place, axis=np.eye(3)[axis])
    solid = solids.box(np.roll([0.024, 0.10, 0.024], axis)) - drill
    lattice = Lattice.voxels(solid, 0.004)
    cells = np.zeros(np.roll([6, 25, 6], axis), bool)
    cells[tuple(np.floor(lattice.centers / 0.004).astype(int).T)] = True
    cells = np.moveaxis(cells, axis, 0)
    assert 0 < (~cells).sum() < 50
    assert (cells == cells[:1]).all()
    assert (cells == cells[:, ::-1]).all()
    assert (cells == cells[:, :, ::-1]).all()


def test_many_cells_are_told_apart_as_few():
    """Where the solid is asked box by box, a face through middles of cells counts as it does point by point."""
    solid = solids.box((0.105, 0.10, 0.11))
    points = np.stack(np.meshgrid(*(np.linspace(-0.005, e, 49) for e in (0.105, 0.1, 0.11))), axis=-1).reshape(-1, 3)
    shape = as_solid(solid)
    points = np.concatenate([points, points])
    few = np.concatenate([shape.inside_or_on(part, 1e-8) for part in np.array_split(points, 3)])
    np.testing.assert_array_equal(shape.inside_or_on(points, 1e-8), few)
    np.testing.assert_array_equal(few, ((points > -1e-8) & (points < np.array([0.105, 0.1, 0.11]) + 1e-8)).all(axis=1))


def test_cavities_stay_empty():
    """A hollow box keeps its cavity, and its hull has two shells."""
    hollow = solids.box((0.05, 0.05, 0.05)) - solids.box((0.03, 0.03, 0.03), at=(0.01, 0.01, 0.01))
    lattice = Lattice.voxels(hollow, 0.005)
    assert lattice.volume == pytest.approx(hollow.volume, rel=1e-9)
    hull = SurfaceMesh(*_compact(lattice.points, lattice.boundary_triangles()))
    assert len(hull.parts()) == 2
    assert hull.volume == pytest.approx(hollow.volume, rel=1e-9)


def _compact(points, triangles):
    used, compact = np.unique(triangles, return_inverse=True)
    return points[used], compact.reshape(-1, 3)


def test_masses_are_those_of_the_cells():
    """Volume shares sum to the volume of the block; inner points have eight times those of a corner."""
    block = Lattice.block((3, 3, 3), 0.01)
    share = block.volume_shares @ np.ones(27)
    assert share.sum() == pytest.approx(27e-6)
    assert share.max() == pytest.approx(8 * share.min())


def test_regions_by_function_and_by_solids():
    """Labels from a function of place or from a list of solids, the last one winning."""
    block = Lattice.block((10, 4, 4), 0.01)
    half = block.labelled(lambda middle: middle[:, 0] > 0.05)
    assert np.bincount(half.labels).tolist() == [80, 80]
    ball, core = Ball((0.05, 0.02, 0.02), 0.02), solids.box((0.02, 0.02, 0.02), at=(0.04, 0.01, 0.01))
    marked = block.labelled([ball, core])
    assert set(marked.labels.tolist()) == {0, 1, 2}
    assert (marked.labels == 2).sum() == 8
    inside = np.linalg.norm(marked.centers[marked.labels == 1] - [0.05, 0.02, 0.02], axis=1)
    assert inside.max() <= 0.02
    assert len(block.where(x_below=0.0)) == 25
    assert len(half.where(label=1)) == 6 * 25
    with pytest.raises(InputError, match="solid 0 has no cell"):
        block.labelled([Ball((1.0, 0, 0), 0.1)])
    with pytest.raises(InputError, match="one whole number per cell"):
        block.labelled(lambda middle: middle[:, 0])


def test_embedded_points_follow_affine_motion(rng):
    """Inside and a little outside, weights sum to one and reproduce any affine motion; a point on a node is that node."""
    lattice = Lattice.voxels(solids.sphere(0.02), 0.0035)
    points = solids.sphere(0.02, segments=24).nodes
    nodes, weights = lattice.embed(points)
    F, offset = np.eye(3) + 0.3 * rng.normal(size=(3, 3)), rng.normal(size=3)
    x = lattice.points @ F.T + offset
    assert np.einsum("pk,pkc->pc", weights, x[nodes]) == pytest.approx(points @ F.T + offset, abs=1e-12)
    nodes, weights = lattice.embed(lattice.points[7:9])
    assert np.take_along_axis(nodes, weights.argmax(axis=1)[:, None], axis=1).ravel().tolist() == [7, 8]
    assert (np.sort(weights, axis=1)[:, :-1] == 0).all()
    assert lattice.deformation_gradients(x) == pytest.approx(np.broadcast_to(F, (len(lattice.cells), 3, 3)))
    with pytest.raises(InputError, match="outside the lattice"):
        lattice.embed([[0.1, 0, 0]])
    with pytest.warns(PliantWarning, match="attached to the nearest cell"):
        lattice.embed([[0.03, 0, 0]], max_distance=0.02)


def test_cells_that_hang_on_an_edge_are_left_out():
    """Two cubes that touch along an edge would be a hinge: the smaller side goes, and it is said."""

    def two(points):
        x, y = points[:, 0], points[:, 1]
        return (x < 0.03) & (y < 0.03) | (x > 0.03) & (y > 0.03) & (x < 0.05)

    with pytest.warns(PliantWarning, match="12 of 39 cells hang on others by an edge"):
        lattice = Lattice.voxels(two, 0.01, bounds=((0, 0, 0), (0.06, 0.05, 0.03)))
    assert len(lattice.cells) == 27
    assert lattice.connected_parts().max() == 0


def test_separate_parts_are_told():
    """Parts with nothing between them are kept, with a warning that counts them."""
    with pytest.warns(PliantWarning, match="falls into 2 parts"):
        lattice = Lattice.voxels(lambda p: np.abs(p[:, 0] - 0.05) > 0.02, 0.01, bounds=((0, 0, 0), (0.1, 0.02, 0.02)))
    assert np.bincount(lattice.connected_parts()).tolist() == [36, 36]


@pytest.mark.parametrize(
    ("solid", "options", "error", "message"),
    [
        (solids.box((0.05, 0.05, 0.01)), {"size": 0.02}, InputError, r"larger than the solid.*0.01 m thick along z"),
        (solids.box((0.05, 0.05, 0.01)), {"size": 0.0}, InputError, "size is 0.0"),
        (solids.box((0.05, 0.05, 0.01)), {"size": float("nan")}, InputError, "size is nan"),
        (solids.box((0.05, 0.05, 0.01)), {"size": 1e-5}, InputError, "asks for"),
        (solids.box((0.05, 0.05, 0.01)), {"size": 5e-3, "body_diagonals": 0.3}, InputError, "body_diagonals is 0.3"),
        (solids.box((0.05, 0.05, 0.01)).flipped(), {"size": 5e-3}, SurfaceError, "inside out"),
        (SurfaceMesh([[0, 0, 0], [1, 0, 0], [0, 1, 0]], [[0, 1, 2]]), {"size": 0.1}, OpenSurfaceError, "are open"),
        (Ball((0, 0, 0), 1.0), {"size": 0.1}, InputError, "bounds are None"),
        (Ball((9, 0, 0), 1.0), {"size": 0.1, "bounds": ((0, 0, 0), (1, 1, 1))}, MeshError, "no cell of 0.1 m"),
        (3.0, {"size": 0.1}, InputError, "is not a region"),
    ],
)
def test_bad_solids_are_named(solid, options, error, message):
    """Each raises an error that names the offender."""
    with pytest.raises(error, match=message):
        Lattice.voxels(solid, **options)


def raw(**changes):
    """A valid lattice of one tet, with changes."""
    from scipy.sparse import csr_array

    given = {
        "points": [[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]],
        "springs": [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]],
        "cells": [[0, 1, 2, 3]],
        "labels": [0],
        "stiffness_shares": csr_array(np.full((6, 1), 0.01)),
        "volume_shares": csr_array(np.full((4, 1), 1e-5)),
    }
    return Lattice(**(given | changes))


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"points": [[0, 0, 0], [0, 0, 0], [0, 0.1, 0], [0, 0, 0.1]]}, "spring 0 between points 0 and 1 has length 0"),
        ({"points": [[0, 0, 0], [0.1, 0, np.nan], [0, 0.1, 0], [0, 0, 0.1]]}, "node 1 is at"),
        ({"springs": [[0, 1], [0, 1], [0, 3], [1, 2], [1, 3], [2, 3]]}, r"spring 1 \[0, 1\] is out of order"),
        ({"springs": [[1, 0], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]]}, r"spring 0 \[1, 0\] is out of order"),
        ({"springs": [[0, 1], [0, 2], [1, 2]], "stiffness_shares": np.ones((3, 1))}, "points 3 have no spring"),
        ({"springs": [[0, 1], [0, 9], [1, 2]]}, "spring 1 refers to nodes"),
        ({"stiffness_shares": np.ones((2, 1))}, "stiffness_shares has shape"),
        ({"labels": [0, 1]}, "labels has shape"),
        ({"cells": [[0, 1, 2]]}, "cells have 3 corners"),
    ],
)
def test_bad_lattices_are_named(changes, message):
    """A lattice from arrays is checked: the offending point or spring is in the message."""
    from scipy.sparse import csr_array

    if "stiffness_shares" in changes:
        changes = changes | {"stiffness_shares": csr_array(changes["stiffness_shares"])}
    with pytest.raises((InputError, MeshError), match=message):
        raw(**changes)


def test_a_lattice_from_a_tet_mesh_uses_its_surface():
    """The solid may be a tet mesh."""
    mesh = make.box((0.04, 0.02, 0.02), (4, 2, 2))
    assert len(Lattice.voxels(mesh, 0.01).cells) == 16
