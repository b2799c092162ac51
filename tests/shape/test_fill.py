"""Filling surfaces with tets: volume, angles, features, cavities, and what is too coarse."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from pliant.errors import (
    InputError,
    MeshError,
    MissingExtraError,
    PliantWarning,
    SelfIntersectionError,
    SurfaceError,
)
from pliant.shape import SurfaceMesh, _fill_kernels, make, read, solids, topology
from pliant.shape.conform import _sharp_corners
from pliant.shape.quality import dihedral_angles
from pliant.shape.stuffing import Lattice, _signed_distance, stuffed

DATA = Path(os.environ.get("PLIANT_DATA", Path(__file__).parents[3] / "shared" / "data"))

PARTS = {
    "box": (lambda: solids.box((0.1, 0.03, 0.02)), 0.008),
    "turned box": (lambda: solids.box((0.1, 0.03, 0.02)).rotated((1, 2, 3), 0.7), 0.008),
    "cylinder": (lambda: solids.cylinder(0.02, 0.08), 0.006),
    "tube": (lambda: solids.tube(0.012, 0.02, 0.05), 0.006),
    "cavity": (lambda: solids.cylinder(0.02, 0.06) - solids.cylinder(0.012, 0.044, at=(0, 0, 0.008)), 0.005),
    "bracket": (
        lambda: (solids.box((0.06, 0.02, 0.02)) | solids.box((0.02, 0.02, 0.06))).rotated((0.3, 1, 0.1), 0.5),
        0.005,
    ),
}


@pytest.fixture(scope="module")
def fills():
    return {name: (made(), h, made().filled(h)) for name, (made, h) in PARTS.items()}


@pytest.mark.parametrize("name", PARTS)
def test_volume_is_within_a_percent(fills, name):
    """At three to five elements across, the filled volume is that of the surface within 1.2 percent."""
    surface, _, mesh = fills[name]
    assert mesh.volume == pytest.approx(surface.volume, rel=0.012)


@pytest.mark.parametrize("name", PARTS)
def test_angles_stay_good_and_edges_keep_their_size(fills, name):
    """No dihedral angle below 10 or above 170 degrees; edges are about as long as asked."""
    _, h, mesh = fills[name]
    quality = mesh.quality()
    assert quality.min_dihedral > 10
    assert quality.max_dihedral < 170
    assert quality.edge_quantiles[2] == pytest.approx(h, rel=0.25)
    assert quality.edge_quantiles[0] > 0.1 * h


@pytest.mark.parametrize("name", PARTS)
def test_mesh_conforms_and_its_boundary_lies_on_the_surface(fills, name):
    """Inner faces have two tets, the boundary closes, and its nodes lie on the surface."""
    surface, h, mesh = fills[name]
    assert set(topology.face_counts(mesh.tets).tolist()) == {1, 2}
    assert mesh.components().max() == 0
    distance, _, _ = surface.tree.closest(mesh.surface().nodes)
    assert np.quantile(distance, 0.95) < 1e-6 * h
    assert distance.max() < 0.15 * h


@pytest.mark.parametrize("name", ["turned box", "bracket"])
def test_sharp_corners_are_met(fills, name):
    """Corners of a part that is not aligned with the lattice have a node of the mesh on them."""
    surface, h, mesh = fills[name]
    corners = _sharp_corners(surface)
    gaps = np.linalg.norm(corners[:, None] - mesh.nodes[None], axis=2).min(axis=1)
    assert len(corners) == {"turned box": 8, "bracket": 12}[name]
    assert np.median(gaps) < 1e-9
    assert gaps.max() < 0.3 * h


def test_every_corner_gets_a_node():
    """Corners that no node is drawn to by itself are given the nearest one."""
    box = solids.box((0.1, 0.03, 0.02)).rotated((1, 2, 3), 0.7)
    mesh = box.filled(0.005)
    gaps = np.linalg.norm(box.nodes[:, None] - mesh.nodes[None], axis=2).min(axis=1)
    assert gaps.max() < 1e-9


def test_signed_distance_is_right_beyond_acute_edges():
    """Outside a sharp wedge the nearest face can look away: the side is then told by the winding number."""
    wedge = solids.extrusion([(0, 0), (0.06, -0.004), (0.06, 0.004)], 0.03)
    points = np.random.default_rng(0).uniform((-0.03, -0.02, 0.002), (0.02, 0.02, 0.028), size=(4000, 3))
    inside = np.abs(points[:, 1]) < points[:, 0] * 0.004 / 0.06
    assert 20 < inside.sum() < 1000
    np.testing.assert_array_equal(_signed_distance(wedge, points, 1e-12) > 0, inside)


def test_drawing_to_the_surface_matters():
    """Plain stuffing cuts the edges of a turned box; drawing the boundary out regains nearly all of that volume."""
    surface, h = PARTS["turned box"][0](), PARTS["turned box"][1]
    plain = 1 - topology.tet_volumes(*stuffed(surface, h)).sum() / surface.volume
    drawn = 1 - surface.filled(h).volume / surface.volume
    assert plain > 0.03
    assert abs(drawn) < 0.1 * plain


def test_cavities_stay_hollow(fills):
    """The inner shell of a part is an inner boundary of its mesh, of the same volume."""
    surface, _, mesh = fills["cavity"]
    inner = [p.volume for p in mesh.surface().parts() if p.volume < 0]
    wanted = [p.volume for p in surface.parts() if p.volume < 0]
    assert inner == pytest.approx(wanted, rel=0.04)


def test_finer_is_nearer():
    """The volume error of a ball falls about fourfold when the size halves."""
    ball = solids.sphere(0.02, segments=96)
    coarse, fine = (abs(ball.filled(h).volume / ball.volume - 1) for h in (0.006, 0.003))
    assert fine < coarse / 2.5


def test_filling_is_reproducible():
    """The same surface and size give the same mesh, bit for bit."""
    surface = solids.cylinder(0.01, 0.03)
    a, b = surface.filled(0.005), surface.filled(0.005)
    np.testing.assert_array_equal(a.nodes, b.nodes)
    np.testing.assert_array_equal(a.tets, b.tets)


def test_several_parts_are_filled_together():
    """A surface with two separate shells gives a mesh with two components."""
    a = solids.box((0.02, 0.02, 0.02))
    mesh = (a | a.translated((0.05, 0, 0))).filled(0.01)
    assert mesh.components().max() == 1
    assert mesh.volume == pytest.approx(1.6e-5, rel=0.01)


def test_a_wall_too_thin_is_an_error_with_the_remedy():
    """Walls far below the size lose their cavity; that is an error that asks for a smaller size."""
    hollow = solids.box((0.05, 0.05, 0.05)) - solids.box((0.04, 0.04, 0.04), at=(0.005,) * 3)
    hollow = hollow.rotated((1, 2, 3), 0.5)
    with pytest.raises(MeshError, match=r"cavities instead of 1 and 1; give a size smaller than 0\.01 m"):
        hollow.filled(0.01)


def test_a_part_smaller_than_the_size_is_warned_about_or_refused():
    """A rod much thinner than the size is not filled silently with a wrong volume."""
    rod = solids.cylinder(0.002, 0.1).rotated((0, 1, 0.2), 0.9)
    with pytest.raises(MeshError, match="smaller"):
        rod.filled(0.02)


def test_a_hole_that_closes_is_warned_about():
    """A narrow through hole that disappears changes the topology and is reported."""
    plate = solids.box((0.06, 0.06, 0.02)) - solids.cylinder(0.0012, 0.04, at=(0.031, 0.032, -0.01))
    with pytest.warns(PliantWarning, match="a hole was closed or a gap was bridged"):
        plate.filled(0.01)


def test_surfaces_that_are_no_solid_are_refused():
    """Inside-out, overlapping and crossing surfaces do not fill."""
    a = solids.box((0.1, 0.1, 0.1))
    with pytest.raises(SurfaceError, match="inside out; turn it with oriented"):
        a.flipped().filled(0.05)
    b = solids.box((0.1, 0.1, 0.1), at=(0.05, 0, 0))
    overlap = SurfaceMesh(np.vstack([a.nodes, b.nodes]), np.vstack([a.triangles, b.triangles + 8]))
    assert overlap.crossing() is None
    with pytest.raises(SelfIntersectionError, match=r"triangle .* inside or against another part"):
        overlap.filled(0.02)
    inner = solids.box((0.04, 0.04, 0.04), at=(0.03, 0.03, 0.03))
    outward = SurfaceMesh(np.vstack([a.nodes, inner.nodes]), np.vstack([a.triangles, inner.triangles + 8]))
    with pytest.raises(SelfIntersectionError, match="turn cavities inward"):
        outward.filled(0.015)
    assert outward.oriented().filled(0.015).volume == pytest.approx(1e-3 - 0.04**3, rel=0.01)


@pytest.mark.parametrize(("size", "text"), [(0.0, "size is"), (np.nan, "size is"), (1e-6, "nodes")])
def test_impossible_sizes_are_refused(size, text):
    """Sizes that are not positive, or that ask for a billion nodes, are input errors."""
    with pytest.raises(InputError, match=text):
        solids.box((0.1, 0.1, 0.1)).filled(size)


def test_unknown_and_missing_methods():
    """Unknown methods are refused; a known one whose package is missing says how to install it."""
    box = solids.box((0.1, 0.1, 0.1))
    with pytest.raises(InputError, match="use one of stuffing, tetwild, gmsh"):
        box.filled(0.05, method="magic")
    for method, package in (("gmsh", "gmsh"), ("tetwild", "pytetwild")):
        if importlib.util.find_spec(package) is None:
            with pytest.raises(MissingExtraError, match=rf"pip install 'pliant\[{method}\]'"):
                box.filled(0.05, method=method)


@pytest.mark.parametrize(("method", "package"), [("gmsh", "gmsh"), ("tetwild", "pytetwild")])
def test_other_meshers_keep_the_cavity(method, package, tmp_path, monkeypatch):
    """Where they are installed, the other meshers fill a part with a cavity, with its volume, and leave no file."""
    pytest.importorskip(package)
    monkeypatch.chdir(tmp_path)
    surface = solids.cylinder(0.02, 0.06) - solids.cylinder(0.012, 0.044, at=(0, 0, 0.008))
    mesh = surface.filled(0.006, method=method)
    assert mesh.volume == pytest.approx(surface.volume, rel=0.03)
    assert len(mesh.surface().parts()) == 2
    assert list(tmp_path.iterdir()) == []


def test_lattice_tets_are_alike_and_fill_space():
    """All tets of the lattice have the volume of a twelfth cell and dihedral angles of 60 or 90 degrees."""
    lattice = Lattice.around(np.zeros(3), np.ones(3), 0.3)
    tets = topology.oriented_tets(lattice.points, lattice.tets)
    volumes = topology.tet_volumes(lattice.points, tets)
    np.testing.assert_allclose(volumes, np.prod(lattice.cell) / 12, rtol=1e-12)
    angles = np.degrees(dihedral_angles(lattice.points, tets))
    assert np.minimum(abs(angles - 60), abs(angles - 90)).max() < 1e-5
    assert set(topology.face_counts(tets).tolist()) == {1, 2}


def test_sine_quality_kernel_is_the_sine_of_the_worst_angle():
    """The compiled quality equals the smallest sine of the dihedral angles, and marks short edges down."""
    mesh = make.tube(0.01, 0.02, 0.05, 0.01)
    wanted = np.sin(dihedral_angles(mesh.nodes, mesh.tets)).min(axis=1)
    quality = np.empty(len(mesh.tets))
    _fill_kernels.sine_qualities(mesh.nodes, mesh.tets, 0.0, quality)
    np.testing.assert_allclose(quality, wanted, rtol=1e-9)
    _fill_kernels.sine_qualities(mesh.nodes, mesh.tets, 1.0, quality)
    corners = mesh.nodes[mesh.tets]
    lengths = [np.linalg.norm(corners[:, a] - corners[:, b], axis=1) for a, b in topology.TET_EDGES]
    np.testing.assert_allclose(quality, wanted * np.min(lengths, axis=0), rtol=1e-9)
    _fill_kernels.sine_qualities(mesh.nodes, mesh.tets[:, [1, 0, 2, 3]].copy(), 0.0, quality)
    assert (quality < 0).all()


def test_quadric_kernel_adds_planes():
    """The compiled accumulation equals the sum of w n n^T and w n (n . p) written with einsum."""
    rng = np.random.default_rng(0)
    owner, weight = rng.integers(0, 5, size=(20, 3)), rng.uniform(size=(20, 3))
    normal, place = rng.normal(size=(20, 3)), rng.normal(size=(20, 3))
    matrix, vector = np.zeros((5, 3, 3)), np.zeros((5, 3))
    _fill_kernels.add_quadrics(owner, weight, normal, place, matrix, vector)
    one_hot = np.eye(5)[owner]
    height = np.einsum("si,si->s", normal, place)
    np.testing.assert_allclose(matrix, np.einsum("skn,sk,si,sj->nij", one_hot, weight, normal, normal))
    np.testing.assert_allclose(vector, np.einsum("skn,sk,si,s->ni", one_hot, weight, normal, height))


def test_guarded_moves_stop_before_they_spoil():
    """A node sent through its neighbours goes only as far as the floor allows; a harmless move is made in full."""
    mesh = make.box((0.2, 0.2, 0.2), 2)
    middle = mesh.where(surface=False)
    starts = np.concatenate([[0], np.cumsum(np.bincount(mesh.tets.ravel()))])
    ids = np.argsort(mesh.tets.ravel(), kind="stable") // 4
    for goal, reached in (((0.12, 0.1, 0.1), True), ((0.3, 0.1, 0.1), False)):
        x = mesh.nodes.copy()
        _fill_kernels.move_guarded(x, np.array([goal]), mesh.tets, starts, ids, middle, 0.2, 0.0)
        assert np.allclose(x[middle[0]], goal) is reached
        quality = np.empty(len(mesh.tets))
        _fill_kernels.sine_qualities(x, mesh.tets, 0.0, quality)
        assert quality.min() >= 0.2


def test_smoothing_improves_the_worst_tet():
    """A displaced inner node is drawn back until its tets are better, along its free directions only."""
    mesh = make.box((0.2, 0.2, 0.2), 2)
    middle = mesh.where(surface=False)
    starts = np.concatenate([[0], np.cumsum(np.bincount(mesh.tets.ravel()))])
    ids = np.argsort(mesh.tets.ravel(), kind="stable") // 4
    x = mesh.nodes.copy()
    x[middle[0]] = (0.16, 0.1, 0.13)
    before, after = np.empty(len(mesh.tets)), np.empty(len(mesh.tets))
    _fill_kernels.sine_qualities(x, mesh.tets, 0.0, before)
    freedom = np.zeros((1, 3, 3))
    freedom[0, 0] = (1, 0, 0)
    for _ in range(10):
        _fill_kernels.smooth(x, mesh.tets, starts, ids, middle, freedom, 0.01, 1.0, 0.0)
    _fill_kernels.sine_qualities(x, mesh.tets, 0.0, after)
    assert after.min() > 1.5 * before.min()
    np.testing.assert_allclose(x[middle[0], 1:], (0.1, 0.13))


@pytest.mark.skipif(not (DATA / "meshes").is_dir(), reason="outside meshes are absent; set PLIANT_DATA")
@pytest.mark.parametrize(("name", "size", "error"), [("finger.stl", 4e-3, 0.005), ("trunk.stl", 4e-3, 0.03)])
def test_outside_surfaces_are_filled(name, size, error):
    """Robots drawn elsewhere are filled with good angles and nearly their volume."""
    surface = read(DATA / "meshes" / name, unit="mm")
    mesh = surface.filled(size)
    assert mesh.volume == pytest.approx(surface.volume, rel=error)
    assert mesh.quality().min_dihedral > 10


def test_a_wall_of_half_the_size_is_refused_with_the_size():
    """A chamber behind a wall that is half as thick as the tets is not filled wrongly but refused, naming the size."""
    part = solids.box((0.05, 0.02, 0.02)) - solids.box((0.04, 0.012, 0.005), at=(0.005, 0.004, 0.013))
    with pytest.raises(
        MeshError, match=r"at size 0\.004 m the part has 1 solid pieces and 0 cavities instead of 1 and 1"
    ):
        part.filled(0.004)


def test_a_wrong_unit_is_asked_about_before_it_takes_long():
    """A finger read in centimetres instead of millimetres would have hundreds of thousands of nodes."""
    finger = solids.box((1.0, 0.2, 0.2))
    with pytest.raises(InputError, match=r"nodes.*unit.*most_nodes"):
        finger.filled(4e-3)
    few = solids.box((0.1, 0.02, 0.02))
    assert len(few.filled(4e-3, most_nodes=2_000).nodes) < 2_000
    with pytest.raises(InputError, match="most_nodes"):
        few.filled(4e-3, most_nodes=500)


FILL = """
import hashlib
from pliant.shape import solids
bar = solids.box((0.1, 0.02, 0.02))
part = solids.union(bar, bar.rotated((0, 1, 0), 0.7)).filled(6e-3)
print(hashlib.blake2b(part.nodes.tobytes() + part.tets.tobytes()).hexdigest())
"""


def test_meshes_are_the_same_on_every_run(tmp_path):
    """The process that compiles the kernels makes the same mesh, to the bit, as the next one, which loads them."""
    environment = dict(os.environ, NUMBA_CACHE_DIR=str(tmp_path))
    runs = [
        subprocess.run([sys.executable, "-c", FILL], env=environment, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert runs[0] == runs[1] != ""
