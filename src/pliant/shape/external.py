"""Other people's meshers, used only when a caller asks for them by name; neither is a dependency of pliant."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pliant.errors import MissingExtraError
from pliant.shape.surface import SurfaceMesh
from pliant.shape.tetmesh import TetMesh
from pliant.shape.topology import FloatArray, IntArray


def tetwild_fill(surface: SurfaceMesh, size: float, **options: Any) -> TetMesh:
    """fTetWild (Hu et al. 2020) through pytetwild; `options` go to `pytetwild.tetrahedralize`."""
    try:
        import pytetwild
    except ImportError as error:
        raise MissingExtraError(
            f"method 'tetwild' needs pytetwild and pyvista ({error})", remedy="pip install 'pliant[tetwild]'"
        ) from error
    share = {"edge_length_fac": size / surface.diameter, **options}
    with _scratch_folder():
        nodes, tets = pytetwild.tetrahedralize(np.array(surface.nodes), np.array(surface.triangles), **share)[:2]
    # It hands out tets the other way round.
    return TetMesh.cleaned(nodes, tets)


@contextmanager
def _scratch_folder() -> Iterator[None]:
    """Work in a folder that is thrown away: fTetWild drops a file where it runs, and that is the user's folder."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def gmsh_fill(surface: SurfaceMesh, size: float, *, crease: float = 40.0, verbose: bool = False) -> TetMesh:
    """Gmsh: the surface is cut into patches at creases of more than `crease` [deg], remeshed and filled."""
    try:
        import gmsh
    except (ImportError, OSError) as error:
        # OSError: the package is there but the machine lacks the X libraries it links to.
        raise MissingExtraError(f"method 'gmsh' needs gmsh ({error})", remedy="pip install 'pliant[gmsh]'") from error
    gmsh.initialize(interruptible=False)
    try:
        gmsh.option.setNumber("General.Terminal", float(verbose))
        nodes, tets = _gmsh_tets(gmsh, surface, size, crease)
    finally:
        gmsh.finalize()
    return TetMesh.cleaned(nodes, tets)


def _gmsh_tets(gmsh: Any, surface: SurfaceMesh, size: float, crease: float) -> tuple[FloatArray, IntArray]:
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "part.stl"
        surface.write(file)
        gmsh.merge(str(file))
    gmsh.model.mesh.classifySurfaces(np.radians(crease), True, True, np.pi)
    gmsh.model.mesh.createGeometry()
    loop = gmsh.model.geo.addSurfaceLoop([tag for _, tag in gmsh.model.getEntities(2)])
    gmsh.model.geo.addVolume([loop])
    gmsh.model.geo.synchronize()
    for name, value in (("MeshSizeMin", size), ("MeshSizeMax", size), ("MeshSizeExtendFromBoundary", 0)):
        gmsh.option.setNumber(f"Mesh.{name}", float(value))
    gmsh.model.mesh.generate(3)
    tags, coordinates, _ = gmsh.model.mesh.getNodes()
    _, corners = gmsh.model.mesh.getElementsByType(4)
    place = np.empty(int(tags.max()) + 1, dtype=np.int64)
    place[tags] = np.arange(len(tags))
    return np.asarray(coordinates).reshape(-1, 3), place[corners].reshape(-1, 4).astype(np.int32)
