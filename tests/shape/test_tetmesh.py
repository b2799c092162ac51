"""TetMesh: what it refuses, what it measures, and how it is refined and moved."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.errors import (
    DisconnectedMeshError,
    EmptyMeshError,
    InputError,
    InvertedElementError,
    MeshError,
    PliantWarning,
)
from pliant.shape import TetMesh, make, topology

CORNER = np.array([[0.0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]])
ONE = np.array([[0, 1, 2, 3]])


def two_tets() -> tuple[np.ndarray, np.ndarray]:
    return np.vstack([CORNER, [[0.1, 0.1, 0.1]]]), np.array([[0, 1, 2, 3], [1, 2, 3, 4]])


def test_one_tet_measures_itself():
    """The corner of a cube of edge a has a sixth of its volume, six edges and four boundary faces."""
    mesh = TetMesh(CORNER, ONE)
    assert mesh.volume == pytest.approx(1e-3 / 6, rel=1e-14)
    assert mesh.edges().shape == (6, 2)
    assert len(mesh.surface().triangles) == 4
    np.testing.assert_array_equal(mesh.bounds, [[0, 0, 0], [0.1, 0.1, 0.1]])
    assert mesh.labels.tolist() == [0]


def test_arrays_are_copies_and_read_only():
    """Neither the caller's array nor the mesh's own can change a mesh."""
    nodes = CORNER.copy()
    mesh = TetMesh(nodes, ONE)
    nodes[0] = 7.0
    assert mesh.nodes[0, 0] == 0.0
    for array in (mesh.nodes, mesh.tets, mesh.labels, mesh.volumes):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1
    with pytest.raises(AttributeError):
        mesh.nodes = nodes  # type: ignore[misc]


def test_types_are_the_conventions():
    """Coordinates are float64 and indices int32 whatever comes in."""
    mesh = TetMesh(CORNER.astype(np.float32), ONE.astype(np.uint64), labels=[3])
    assert mesh.nodes.dtype == np.float64
    assert mesh.tets.dtype == np.int32
    assert mesh.labels.dtype == np.int32


@pytest.mark.parametrize("tets", [np.empty((0, 4), int), []])
def test_no_tets_is_an_error(tets):
    """A mesh without tets cannot be made."""
    with pytest.raises(EmptyMeshError, match="no tets"):
        TetMesh(CORNER, tets)
    with pytest.raises(EmptyMeshError, match="no nodes"):
        TetMesh(np.empty((0, 3)), ONE)


def test_nan_is_named():
    """A coordinate that is not finite is refused and its node named."""
    nodes = CORNER.copy()
    nodes[2, 1] = np.nan
    with pytest.raises(MeshError, match="node 2 ") as caught:
        TetMesh(nodes, ONE)
    assert caught.value.evidence["nodes"].tolist() == [2]


def test_wrong_index_is_named_with_the_counting_hint():
    """Indices beyond the nodes are refused; files that count from 1 get a hint."""
    with pytest.raises(MeshError, match=r"tet 0 refers to nodes .* there are 4; .*count from 0"):
        TetMesh(CORNER, ONE + 1)
    with pytest.raises(MeshError, match="refers"):
        TetMesh(CORNER, [[0, 1, 2, -1]])


@pytest.mark.parametrize(
    ("nodes", "tets"),
    [
        (CORNER[:, :2], ONE),
        (CORNER, ONE[:, :3]),
        (CORNER, ONE.astype(float)),
        ([["a", 0, 0]], ONE),
    ],
)
def test_wrong_shapes_are_input_errors(nodes, tets):
    """Arrays of another shape or type are refused before anything else."""
    with pytest.raises(InputError):
        TetMesh(nodes, tets)


def test_inverted_tet_is_named_with_its_volume_and_orient_turns_it():
    """An inverted tet is never turned silently; orient=True turns it."""
    nodes, tets = two_tets()
    tets = tets.copy()
    tets[1] = tets[1, [1, 0, 2, 3]]
    with pytest.raises(InvertedElementError, match=r"tet 1 has volume -0.000333 m\^3 .*orient=True") as caught:
        TetMesh(nodes, tets)
    assert caught.value.evidence["tets"].tolist() == [1]
    mesh = TetMesh(nodes, tets, orient=True)
    assert (mesh.volumes > 0).all()
    assert mesh.volume == pytest.approx(5e-4)


def test_flat_tet_is_refused_and_cleaned_away():
    """A tet without volume is refused at any size of mesh, and TetMesh.cleaned drops it."""
    nodes = np.vstack([CORNER, [[0.05, 0.05, 0.0]]])
    tets = np.array([[0, 1, 2, 3], [0, 1, 2, 4]])
    for scale in (1.0, 1e-2):
        with pytest.raises(InvertedElementError, match="tet 1 is flat"):
            TetMesh(nodes * scale, tets)
    mesh = TetMesh.cleaned(nodes, tets)
    assert mesh.tets.shape == (1, 4)
    assert len(mesh.nodes) == 4


def test_small_but_sound_tets_are_not_called_flat():
    """Flatness is relative: micrometre tets of good shape are accepted."""
    with pytest.warns(PliantWarning, match="wide"):
        mesh = TetMesh(CORNER * 1e-5, ONE)
    assert mesh.volume == pytest.approx(1e-18 / 6)


def test_repeated_tets_and_corners_are_refused():
    """The same tet twice, also with other corner order, or a corner twice in a tet, is an error."""
    with pytest.raises(MeshError, match="tet 1 repeats tet 0"):
        TetMesh(CORNER, [[0, 1, 2, 3], [1, 2, 0, 3]])
    with pytest.raises(MeshError, match="uses a node twice"):
        TetMesh(CORNER, [[0, 1, 2, 2]])
    assert len(TetMesh.cleaned(CORNER, [[0, 1, 2, 3], [1, 2, 0, 3]]).tets) == 1


def test_loose_nodes_are_named():
    """Nodes of no tet are refused and named; TetMesh.cleaned drops them."""
    nodes = np.vstack([CORNER, [[0.5, 0.5, 0.5]], [[0.6, 0.5, 0.5]]])
    with pytest.raises(DisconnectedMeshError, match="nodes 4, 5 belong to no tet"):
        TetMesh(nodes, ONE)
    assert len(TetMesh.cleaned(nodes, ONE).nodes) == 4


def test_coinciding_nodes_are_warned_about_and_can_be_merged():
    """Two tets on separate copies of a face look joined but are not: a warning says so, merging joins them."""
    nodes, tets = two_tets()
    split = np.vstack([nodes, nodes[[1, 2, 3]]])
    tets = np.array([[0, 1, 2, 3], [5, 6, 7, 4]])
    with pytest.warns(PliantWarning, match="nodes 5, 6, 7 lie where other nodes are"):
        apart = TetMesh(split, tets)
    assert apart.components().max() == 1
    joined = TetMesh.cleaned(split, tets, merge=1e-9)
    assert joined.components().max() == 0
    assert len(joined.nodes) == 5


@pytest.mark.parametrize(("factor", "text"), [(1400.0, "140 m wide; if it is in millimetres"), (1e-3, "wide; if its")])
def test_implausible_size_is_warned_about(factor, text):
    """A robot of 140 m or 0.1 mm is probably in other units, and the warning says how to read it."""
    with pytest.warns(PliantWarning, match=text):
        TetMesh(CORNER * factor, ONE)


def test_components_are_told_apart():
    """Separate parts are allowed, numbered per node, and can be taken out."""
    a = make.box((0.1, 0.1, 0.1), 1)
    nodes = np.vstack([a.nodes, a.translated((0.3, 0, 0)).nodes])
    mesh = TetMesh(nodes, np.vstack([a.tets, a.tets + 8]))
    assert mesh.components().tolist() == [0] * 8 + [1] * 8
    assert mesh.part(component=1).bounds[0, 0] == pytest.approx(0.3)
    with pytest.raises(InputError, match="no tet has label 5"):
        mesh.part(label=5)


def test_labels_select_and_survive():
    """Region labels stay with their tets through refinement and motion, and select nodes."""
    box = make.box((0.2, 0.1, 0.1), (2, 1, 1))
    right = box.nodes[box.tets].mean(axis=1)[:, 0] > 0.1
    mesh = box.labelled(right.astype(int))
    assert mesh.refined().volumes[mesh.refined().labels == 1].sum() == pytest.approx(1e-3)
    assert mesh.rotated((0, 0, 1), 0.3).labels.sum() == right.sum()
    assert mesh.nodes[mesh.where(label=1), 0].min() == pytest.approx(0.1)
    assert mesh.part(label=1).volume == pytest.approx(1e-3)
    with pytest.raises(InputError, match="one integer per tet"):
        box.labelled([1.5] * len(box.tets))


@pytest.mark.parametrize("times", [1, 2])
def test_refinement_keeps_volume_shape_and_conformity(times):
    """Each refinement makes eight tets of one, of the same total volume, and every inner face is shared by two."""
    mesh = make.sphere(0.02, 0.01)
    fine = mesh.refined(times)
    assert len(fine.tets) == len(mesh.tets) * 8**times
    assert fine.volume == pytest.approx(mesh.volume, rel=1e-12)
    assert set(topology.face_counts(fine.tets).tolist()) == {1, 2}
    assert fine.quality().min_dihedral > 0.7 * mesh.quality().min_dihedral


def test_refinement_children_follow_their_parent():
    """Children of tet t are the rows 8 t ... 8 t + 7 and fill it."""
    mesh = make.box((0.1, 0.1, 0.1), 1)
    np.testing.assert_allclose(mesh.refined().volumes.reshape(-1, 8).sum(axis=1), mesh.volumes, rtol=1e-12)


def test_quadratic_edges_are_in_the_ten_node_order():
    """Edge k of a tet joins the corners 01, 12, 20, 03, 13, 23, and its midpoint lies between them."""
    mesh = make.sphere(0.02, 0.01)
    edges, ids = mesh.quadratic_edges()
    for k, (a, b) in enumerate([(0, 1), (1, 2), (2, 0), (0, 3), (1, 3), (2, 3)]):
        wanted = np.sort(mesh.tets[:, [a, b]], axis=1)
        np.testing.assert_array_equal(edges[ids[:, k]], wanted)
        np.testing.assert_allclose(mesh.midpoints()[ids[:, k]], mesh.nodes[wanted].mean(axis=1), atol=1e-15)
    assert len(np.unique(edges, axis=0)) == len(edges)


def test_euler_characteristic_of_a_solid():
    """Nodes - edges + faces - tets is 1 for a ball and 2 for a ball with a cavity."""
    for mesh, wanted in [(make.sphere(0.02, 0.008), 1), (make.hollow_sphere(0.01, 0.02, 0.01), 2)]:
        faces = len(topology.face_counts(mesh.tets))
        assert len(mesh.nodes) - len(mesh.edges()) + faces - len(mesh.tets) == wanted


def test_surface_is_closed_outward_and_maps_back():
    """The boundary encloses the volume of the tets, and node_ids lead back to them."""
    mesh = make.hollow_sphere(0.01, 0.02, 0.01)
    surface = mesh.surface()
    assert surface.volume == pytest.approx(mesh.volume, rel=1e-12)
    np.testing.assert_array_equal(mesh.nodes[surface.node_ids], surface.nodes)
    np.testing.assert_array_equal(np.sort(surface.node_ids), mesh.boundary_nodes)
    assert sorted(np.sign([part.volume for part in surface.parts()])) == [-1, 1]


def test_motions_do_what_they_say():
    """Moving keeps volume, scaling multiplies it, and a reflection keeps volumes positive."""
    mesh = make.box((0.1, 0.05, 0.02), 1)
    assert mesh.translated((1, 2, 3)).bounds[0].tolist() == [1, 2, 3]
    assert mesh.scaled(2.0).volume == pytest.approx(8 * mesh.volume)
    assert mesh.scaled((2, 1, 1)).size[0] == pytest.approx(0.2)
    turned = mesh.rotated((0, 0, 1), np.pi / 2)
    np.testing.assert_allclose(turned.bounds, [[-0.05, 0, 0], [0, 0.1, 0.02]], atol=1e-15)
    assert mesh.scaled((-1, 1, 1)).volume == pytest.approx(mesh.volume)
    homogeneous = np.eye(4)
    homogeneous[:3, 3] = (0.5, 0, 0)
    assert mesh.transformed(homogeneous).bounds[0, 0] == pytest.approx(0.5)


def test_bad_motions_are_refused():
    """A zero axis, a singular or misshapen matrix and a vector of the wrong length are input errors."""
    mesh = make.box((0.1, 0.05, 0.02), 1)
    with pytest.raises(InputError, match="axis"):
        mesh.rotated((0, 0, 0), 1.0)
    with pytest.raises(InputError, match="singular"):
        mesh.scaled(0.0)
    with pytest.raises(InputError, match="shape"):
        mesh.transformed(np.eye(2))
    with pytest.raises(InputError, match="offset"):
        mesh.translated((1, 2))


def test_quality_of_known_tets():
    """A regular tet has dihedral angles of 70.53 degrees and radius ratio 1; a cube corner 54.74 and 90 degrees."""
    regular = TetMesh(0.01 * np.array([[1.0, 1, 1], [1, -1, -1], [-1, 1, -1], [-1, -1, 1]]), ONE, orient=True).quality()
    assert regular.min_dihedral == pytest.approx(70.528779, abs=1e-5)
    assert regular.max_dihedral == pytest.approx(70.528779, abs=1e-5)
    assert regular.min_radius_ratio == pytest.approx(1.0)
    assert regular.max_aspect == pytest.approx(1.0)
    corner = TetMesh(CORNER, ONE).quality()
    assert corner.min_dihedral == pytest.approx(np.degrees(np.arccos(1 / np.sqrt(3))))
    assert corner.max_dihedral == pytest.approx(90.0)
    # Corner of a cube of edge a: inradius a / (3 + sqrt 3), circumradius a sqrt(3) / 2.
    assert corner.min_radius_ratio == pytest.approx(3 / (3 + 3**0.5) / (3**0.5 / 2))


def test_quality_names_the_worst_tet_and_prints():
    """The report points at the tet that was squeezed and fits on a few lines."""
    mesh = make.box((0.1, 0.1, 0.1), 3)
    nodes = mesh.nodes.copy()
    inside = mesh.where(surface=False)[0]
    nodes[inside] += 0.8 * (nodes[mesh.where(near=(0, 0, 0))[0]] - nodes[inside]) * [1, 0, 0]
    report = TetMesh(nodes, mesh.tets).quality()
    assert inside in mesh.tets[report.worst[0]]
    assert report.min_dihedral < mesh.quality().min_dihedral
    assert len(str(report).splitlines()) < 8


def test_repr_tells_the_size():
    """The short description has nodes, tets and the size in metres."""
    assert repr(make.box((0.1, 0.05, 0.02), 1)) == "TetMesh(8 nodes, 6 tets, 0.1 x 0.05 x 0.02 m)"
