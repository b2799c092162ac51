"""Files that were damaged on the way: meshes, states, trajectories. They are refused by name, or what is read is whole."""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest
from hostile import refused_or_made
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import pliant as pl
from pliant.control.trajectory import Recorded
from pliant.shape import SurfaceMesh, TetMesh, read

MESH = pl.make.box((0.06, 0.02, 0.02), (2, 1, 1))
ENDINGS = (".stl", ".obj", ".ply", ".vtk", ".vtu", ".msh")
NUMBERS = (b"-1", b"nan", b"1e400", b"4294967299", b"99999999999999999999", b"x", b"", b"0", b"1e-320")

quick = settings(
    max_examples=60, deadline=None, derandomize=True, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


@pytest.fixture(scope="module")
def originals(tmp_path_factory):
    """The bytes of one good file per format."""
    folder = tmp_path_factory.mktemp("whole")
    for ending in ENDINGS:
        MESH.write(folder / f"part{ending}")
    (folder / "text.stl").write_text(_text_stl())
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def _text_stl():
    surface = MESH.surface()
    facets = [
        "facet normal 0 0 0\nouter loop\n"
        + "\n".join(f"vertex {x} {y} {z}" for x, y, z in corners)
        + "\nendloop\nendfacet"
        for corners in surface.nodes[surface.triangles]
    ]
    return "solid part\n" + "\n".join(facets) + "\nendsolid\n"


def damaged(data, content):
    """One of the ways in which a file goes wrong."""
    how = data.draw(st.sampled_from(["cut", "flip", "swap a number", "insert", "repeat", "remove lines"]))
    at = data.draw(st.integers(0, max(len(content) - 1, 0)))
    if how == "cut":
        return content[:at]
    if how == "flip":
        return content[:at] + bytes([content[at] ^ data.draw(st.integers(1, 255))]) + content[at + 1 :]
    if how == "insert":
        return content[:at] + data.draw(st.binary(min_size=1, max_size=20)) + content[at:]
    if how == "repeat":
        return content[:at] + content[max(at - 40, 0) :]
    words = content.split(b" ") if how == "swap a number" else content.split(b"\n")
    where = data.draw(st.integers(0, len(words) - 1))
    if how == "remove lines":
        return b"\n".join(words[:where] + words[where + 1 :])
    return b" ".join([*words[:where], data.draw(st.sampled_from(NUMBERS)), *words[where + 1 :]])


@pytest.mark.parametrize("name", ["part.stl", "text.stl", "part.obj", "part.ply", "part.vtk", "part.vtu", "part.msh"])
def test_damaged_meshes_are_refused_or_whole(originals, tmp_path, name):
    """Whatever is read has nodes that exist and are finite, and cells that refer to them."""

    @quick
    @given(st.data())
    def one(data):
        file = tmp_path / name
        file.write_bytes(damaged(data, originals[name]))
        mesh = refused_or_made(lambda: read(file))
        if mesh is None:
            return
        assert isinstance(mesh, (TetMesh, SurfaceMesh))
        cells = mesh.tets if isinstance(mesh, TetMesh) else mesh.triangles
        assert np.isfinite(mesh.nodes).all()
        assert 0 <= cells.min() <= cells.max() < len(mesh.nodes)
        if isinstance(mesh, TetMesh):
            assert (mesh.volumes > 0).all()

    one()


@quick
@given(content=st.binary(max_size=300), ending=st.sampled_from(ENDINGS))
def test_noise_is_no_mesh(tmp_path, content, ending):
    """Random bytes under any ending are refused by name."""
    file = Path(tmp_path) / f"noise{ending}"
    file.write_bytes(content)
    assert refused_or_made(lambda: read(file)) is None


def test_damaged_states_are_refused_or_fit(tmp_path):
    """A saved state with any byte changed is refused, or is one that the robot takes or refuses."""
    robot = pl.Robot(
        pl.TetBody(MESH, pl.Corotational(E=1e5, nu=0.4), fixed=MESH.where(x_below=0)), gravity=(0, 0, -9.81)
    )
    robot.rest().save(tmp_path / "state.npz")
    content = (tmp_path / "state.npz").read_bytes()

    @quick
    @given(st.data())
    def one(data):
        (tmp_path / "bad.npz").write_bytes(damaged(data, content))
        state = refused_or_made(lambda: pl.State.load(tmp_path / "bad.npz"))
        if state is not None:
            refused_or_made(lambda: robot.linearize(state))

    one()


@quick
@given(
    lines=st.lists(
        st.lists(st.sampled_from(["0", "1", "2.5", "-1", "nan", "inf", "x", "", "1e400", " 3 "]), max_size=6)
    )
)
def test_tables_of_positions_are_refused_or_finite(tmp_path, lines):
    """A trajectory from a file is finite everywhere, or is refused with its line."""
    file = tmp_path / "path.csv"
    file.write_text("\n".join(",".join(line) for line in lines))
    path = refused_or_made(lambda: Recorded.read(file))
    if path is not None:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            assert all(np.isfinite(path.position(t)).all() for t in (0.0, 0.5 * path.duration, 1e9))


@quick
@given(
    efforts=st.lists(st.floats(-1e4, 1e4), min_size=2, max_size=2),
    modulus=st.floats(1.0, 1e12),
    density=st.floats(1e-3, 1e6),
    h=st.floats(1e-6, 10.0),
)
def test_absurd_loads_end_in_a_state_or_in_a_status(efforts, modulus, density, h):
    """Any load on any material, in statics and in time: an ok state is finite and within reason, anything else says so."""
    body = pl.TetBody(MESH, pl.Corotational(E=modulus, nu=0.4), density=density, fixed=MESH.where(x_below=0))
    robot = pl.Robot(body, gravity=(0, 0, -9.81))
    robot.impose("push", pl.Force((0.06, 0.01, 0.01), direction=(-1, 0, 0.2)), effort=efforts[0])
    robot.impose("lift", pl.Force((0.06, 0.01, 0.01), direction=(0, 1, 1)), effort=efforts[1])
    results = [pl.Statics(robot, max_iterations=15).solve(), pl.Dynamics(robot, h).step(robot.rest())]
    results.append(pl.Dynamics(robot, h, method="newton", max_iterations=10).step(robot.rest()))
    for result in results:
        assert np.isfinite(result.state.x).all()
        if result.ok:
            assert np.ptp(result.state.x, axis=0).max() < 20 * 0.06
        else:
            assert result.status.value
