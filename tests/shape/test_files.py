"""Reading and writing meshes."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest

from pliant.errors import FileError, InputError, InvertedElementError, PliantWarning
from pliant.shape import SurfaceMesh, TetMesh, make, read, solids, topology, write

DATA = Path(os.environ.get("PLIANT_DATA", Path(__file__).parents[3] / "shared" / "data"))
needs_data = pytest.mark.skipif(not (DATA / "meshes").is_dir(), reason="outside meshes are absent; set PLIANT_DATA")


@pytest.fixture
def labelled() -> TetMesh:
    mesh = make.box((0.1, 0.04, 0.02), (3, 2, 1))
    return mesh.labelled(np.arange(len(mesh.tets)) % 3)


@pytest.mark.parametrize("ending", [".vtk", ".vtu", ".msh"])
@pytest.mark.parametrize("unit", ["m", "mm", 0.01])
def test_volume_formats_round_trip(tmp_path, labelled, ending, unit):
    """Nodes, tets, their order and labels survive writing and reading in any unit."""
    labelled.write(tmp_path / f"part{ending}", unit=unit)
    back = TetMesh.read(tmp_path / f"part{ending}", unit=unit)
    assert isinstance(back, TetMesh)
    np.testing.assert_allclose(back.nodes, labelled.nodes, atol=1e-15)
    np.testing.assert_array_equal(back.tets, labelled.tets)
    np.testing.assert_array_equal(back.labels, labelled.labels)


@pytest.mark.parametrize("ending", [".stl", ".obj", ".ply", ".vtk", ".vtu"])
def test_surface_formats_round_trip(tmp_path, ending):
    """A closed surface comes back closed, with merged vertices, the same volume and the same number of triangles."""
    surface = solids.cylinder(0.02, 0.1, segments=16) - solids.box((0.01, 0.01, 0.05), centered=True)
    surface.write(tmp_path / f"part{ending}", unit="mm")
    back = read(tmp_path / f"part{ending}", unit="mm")
    assert isinstance(back, SurfaceMesh)
    assert back.is_closed
    assert len(back.nodes) == len(surface.nodes)
    assert len(back.triangles) == len(surface.triangles)
    assert back.volume == pytest.approx(surface.volume, rel=1e-5)


@pytest.mark.parametrize("ending", [".stl", ".obj", ".ply"])
def test_surface_files_of_a_volume_hold_its_boundary(tmp_path, labelled, ending):
    """Writing a volume mesh into a surface format writes its skin."""
    labelled.write(tmp_path / f"part{ending}")
    assert read(tmp_path / f"part{ending}").volume == pytest.approx(labelled.volume, rel=1e-6)


def test_ascii_stl(tmp_path):
    """An STL written as text is read like a binary one, its corners merged."""
    box = solids.box((0.1, 0.02, 0.01))
    lines = ["solid box"]
    for (a, b, c), n in zip(box.nodes[box.triangles] * 1e3, box.normals, strict=True):
        lines += [f"facet normal {n[0]} {n[1]} {n[2]}", "outer loop"]
        lines += [f"vertex {p[0]} {p[1]} {p[2]}" for p in (a, b, c)] + ["endloop", "endfacet"]
    file = tmp_path / "box.stl"
    file.write_text("\n".join([*lines, "endsolid box"]))
    back = read(file, unit="mm")
    assert len(back.nodes) == 8
    assert back.volume == pytest.approx(2e-5)


def test_binary_stl_that_begins_with_solid(tmp_path):
    """The word "solid" in the header of a binary file does not make it a text."""
    solids.box((0.1, 0.02, 0.01)).write(tmp_path / "box.stl")
    content = (tmp_path / "box.stl").read_bytes()
    (tmp_path / "box.stl").write_bytes(b"solid box".ljust(80) + content[80:])
    assert len(read(tmp_path / "box.stl").triangles) == 12
    (tmp_path / "box.stl").write_bytes(content[:-60])
    with pytest.raises(FileError, match="length it claims"):
        read(tmp_path / "box.stl")


def test_obj_with_quads_normals_and_negative_indices(tmp_path):
    """Polygons are cut into triangles, `a/b/c` and indices that count from the end are understood."""
    file = tmp_path / "square.obj"
    file.write_text(
        "# a comment\nv 0 0 0\nv 1 0 0\nv 1 1 0\nv 0 1 0\nv 2 0 0\nvn 0 0 1\nf 1//1 2//1 3//1 4//1\nf -4 -1 -3\n"
    )
    surface = read(file, unit="cm")
    assert len(surface.triangles) == 3
    assert surface.area == pytest.approx(1.5e-4)


def test_xml_in_a_vtk_file_is_told_by_its_content(tmp_path, labelled):
    """A .vtk file with XML inside is read as what it is."""
    labelled.write(tmp_path / "part.vtu")
    (tmp_path / "part.vtu").rename(tmp_path / "part.vtk")
    assert TetMesh.read(tmp_path / "part.vtk").volume == pytest.approx(labelled.volume)


def test_gmsh_version_2_is_read(tmp_path):
    """The old text format, with its physical tags as labels, is read."""
    file = tmp_path / "part.msh"
    file.write_text(
        "$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n4\n1 0 0 0\n2 1 0 0\n3 0 1 0\n4 0 0 1\n$EndNodes\n"
        "$Elements\n1\n1 4 2 7 1 1 2 3 4\n$EndElements\n"
    )
    mesh = TetMesh.read(file)
    assert mesh.volume == pytest.approx(1 / 6)
    assert mesh.labels.tolist() == [7]


def test_other_cells_are_split_into_conforming_tets(tmp_path):
    """Hexahedra, prisms and pyramids become tets of the same volume that agree on shared faces."""
    import meshio

    p = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1], [1, 0, 1], [1, 1, 1], [0, 1, 1.0]])
    more = np.array([[0.5, 0.5, 2.0], [2, 0, 0], [2, 0, 1.0]])
    cells = [("hexahedron", [list(range(8))]), ("pyramid", [[4, 5, 6, 7, 8]]), ("wedge", [[1, 9, 2, 5, 10, 6]])]
    meshio.Mesh(np.vstack([p, more]) * 0.1, cells).write(tmp_path / "mixed.vtu")
    mesh = TetMesh.read(tmp_path / "mixed.vtu")
    assert len(mesh.tets) == 6 + 2 + 3
    assert mesh.volume == pytest.approx((1 + 1 / 3 + 1 / 2) * 1e-3)
    assert mesh.surface().is_closed
    assert set(topology.face_counts(mesh.tets).tolist()) == {1, 2}


def test_inverted_tets_in_a_file_are_an_error_unless_asked(tmp_path, labelled):
    """Reading never turns tets silently; orient=True does."""
    import meshio

    flipped = labelled.tets[:, [1, 0, 2, 3]]
    meshio.Mesh(labelled.nodes, [("tetra", flipped)]).write(tmp_path / "flipped.vtu")
    with pytest.raises(InvertedElementError, match="orient=True"):
        TetMesh.read(tmp_path / "flipped.vtu")
    assert TetMesh.read(tmp_path / "flipped.vtu", orient=True).volume == pytest.approx(labelled.volume)


def test_surface_files_give_surfaces_that_fill(tmp_path):
    """TetMesh.read of a surface gives a SurfaceMesh, and `.filled(size)` works on it as on a volume mesh."""
    solids.box((0.1, 0.02, 0.02)).write(tmp_path / "bar.stl", unit="mm")
    skin = TetMesh.read(tmp_path / "bar.stl", unit="mm")
    assert isinstance(skin, SurfaceMesh)
    mesh = skin.filled(size=0.01)
    assert isinstance(mesh, TetMesh)
    assert mesh.volume == pytest.approx(4e-5, rel=1e-3)
    assert mesh.filled(size=0.008).volume == pytest.approx(4e-5, rel=1e-3)
    assert SurfaceMesh.read(tmp_path / "bar.stl", unit="mm").volume == pytest.approx(4e-5, rel=1e-5)


def test_surface_of_a_volume_file(tmp_path, labelled):
    """SurfaceMesh.read takes the boundary of a volume file."""
    labelled.write(tmp_path / "part.vtu")
    assert SurfaceMesh.read(tmp_path / "part.vtu").volume == pytest.approx(labelled.volume)


def test_millimetres_taken_for_metres_are_warned_about(tmp_path):
    """A part in millimetres read as metres is 100 m wide, and the warning says unit='mm'."""
    solids.box((0.1, 0.02, 0.02)).write(tmp_path / "bar.stl", unit="mm")
    with pytest.warns(PliantWarning, match="100 m wide; if it is in millimetres read it with unit='mm'"):
        read(tmp_path / "bar.stl")


def test_units_have_their_sizes(tmp_path):
    """Every unit name and any number of metres scales as it says; other names are refused."""
    solids.box((1.0, 1.0, 1.0)).write(tmp_path / "cube.obj")
    for unit, size in (("m", 1.0), ("cm", 1e-2), ("mm", 1e-3), ("in", 0.0254), (0.5, 0.5)):
        assert read(tmp_path / "cube.obj", unit=unit).size[0] == pytest.approx(size)
    for unit in ("furlong", 0.0, -1.0, np.nan):
        with pytest.raises(InputError, match="unit is"):
            read(tmp_path / "cube.obj", unit=unit)


@pytest.mark.parametrize(
    ("name", "content", "text"),
    [
        ("absent.stl", None, "does not exist"),
        ("empty.stl", b"", "is empty"),
        ("blank.vtk", b"  \n", "is empty"),
        ("noise.vtk", b"\x00\x01garbage", "cannot be read as vtk"),
        ("noise.vtu", b"<VTKFile", "cannot be read as vtu"),
        ("noise.msh", b"$Mesh", "cannot be read as gmsh"),
        ("noise.stl", b"solid x\nfacet normal\nvertex a b c\n", "cannot be read as stl"),
        ("noise.ply", b"ply\nformat what", "cannot be read as ply"),
        ("noise.obj", b"hello\n", "cannot be read as obj"),
        ("bad.obj", b"v 0 0 0\nf 1 2 3\n", "vertex that does not exist"),
        ("points.obj", b"v 0 0 0\nv 1 0 0\n", "no tetrahedra and no triangles"),
        ("part.step", b"ISO-10303", "unknown ending"),
    ],
)
def test_unreadable_files_are_named_with_a_remedy(tmp_path, capsys, name, content, text):
    """Missing, empty, broken and unknown files raise FileError with their name, and nothing is printed."""
    file = tmp_path / name
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(FileError, match=text) as caught:
        read(file)
    assert name in str(caught.value)
    assert caught.value.remedy
    assert capsys.readouterr().out == ""


def test_files_that_cannot_be_written(tmp_path, labelled):
    """An unknown ending or a folder that does not exist raises FileError."""
    with pytest.raises(FileError, match="unknown ending"):
        write(labelled, tmp_path / "part.step")
    with pytest.raises(FileError, match="cannot be written"):
        write(labelled, tmp_path / "no" / "part.vtu")


@needs_data
@pytest.mark.parametrize(
    ("name", "nodes", "tets"),
    [("diamond.vtk", 1628, 4147), ("finger.vtk", 158, 389), ("wheel.vtk", 746, 2475), ("trunk.vtk", 709, 1972)],
)
def test_outside_volume_meshes_are_read(name, nodes, tets):
    """Meshes made elsewhere (binary, text and XML in .vtk files) come in whole, in metres."""
    mesh = TetMesh.read(DATA / "meshes" / name, unit="mm")
    assert (len(mesh.nodes), len(mesh.tets)) == (nodes, tets)
    assert mesh.surface().volume == pytest.approx(mesh.volume, rel=1e-9)
    assert mesh.size.max() < 0.2


@needs_data
def test_outside_hexahedra_are_split_to_the_volume_of_their_surface():
    """The truth cylinder's hexahedra become conforming tets with exactly the volume of its surface file."""
    mesh = TetMesh.read(DATA / "truth_cylinder" / "cylinder_Hexa.msh")
    assert (len(mesh.nodes), len(mesh.tets)) == (5740, 6 * 4920)
    assert set(topology.face_counts(mesh.tets).tolist()) == {1, 2}
    skin = read(DATA / "truth_cylinder" / "cylinder_Surface.obj")
    assert mesh.volume == pytest.approx(skin.volume, rel=1e-9)


@needs_data
def test_outside_open_surfaces_are_recognized():
    """The trunk's collision surfaces are not watertight and say so."""
    assert not read(DATA / "meshes" / "trunk_colli1.stl", unit="mm").is_closed
    assert read(DATA / "meshes" / "trunk.stl", unit="mm").is_closed


PLY = """ply
format ascii 1.0
element vertex 5
property float x
property float y
property float z
element face 4
property list uchar int vertex_indices
end_header
0 0 0
.1 0 0
0 .1 0
0 0 .1
.1 .1 .1
3 0 2 1
3 0 1 3
3 {index} 3 2
3 1 2 3
"""
VTK = """# vtk DataFile Version 3.0
two tets
ASCII
DATASET UNSTRUCTURED_GRID
POINTS 5 float
0 0 0 .1 0 0 0 .1 0 0 0 .1 .1 .1 .1
CELLS 2 10
4 0 1 2 3
4 {index} 2 1 3
CELL_TYPES 2
10 10
"""
OBJ = "v 0 0 0\nv .1 0 0\nv 0 .1 0\nf 1 3 2\nf {index} 1 2\nv 0 0 .1\nf 1 2 4\nf 1 4 3\nf 2 3 4\n"


@pytest.mark.parametrize("index", ["-1", "5", "4294967296", "4294967300", "99999999999999999999"])
@pytest.mark.parametrize(("ending", "text"), [(".ply", PLY), (".vtk", VTK)])
def test_indices_of_nodes_that_do_not_exist_are_refused(tmp_path, ending, text, index):
    """Negative ones are not counted from the end, large ones are not cut to 32 bits."""
    file = tmp_path / f"part{ending}"
    file.write_text(text.format(index=index))
    with pytest.raises(FileError, match=r"refers to|cannot be read"):
        read(file)
    file.write_text(text.format(index="4" if ending == ".vtk" else "0"))
    assert len(read(file).nodes) > 3


@pytest.mark.parametrize("index", ["0", "9", "-9", "4294967297"])
def test_vertices_of_an_obj_file_count_from_one(tmp_path, index):
    """Zero is no vertex, though one that comes later would be in its place."""
    file = tmp_path / "part.obj"
    file.write_text(OBJ.format(index=index))
    with pytest.raises(FileError, match="vertex"):
        read(file)
    file.write_text(OBJ.format(index="3"))
    assert len(read(file).triangles) == 4
