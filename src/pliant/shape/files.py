"""Reading and writing meshes: STL, OBJ, PLY, VTK (legacy or XML, told apart by content), VTU, Gmsh .msh 2 and 4."""

from __future__ import annotations

import contextlib
import io
import re
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pliant.checks import number
from pliant.errors import FileError, InputError
from pliant.shape.parsing import parsed_obj, parsed_stl
from pliant.shape.topology import HEX_FACES, PRISM_FACES, PYRAMID_FACES, FloatArray, IntArray, smallest_index_split

if TYPE_CHECKING:
    from pliant.shape.surface import SurfaceMesh
    from pliant.shape.tetmesh import TetMesh

UNITS = {"m": 1.0, "cm": 1e-2, "mm": 1e-3, "um": 1e-6, "in": 0.0254}
"""Metres per unit."""

FORMATS = {".stl": "stl", ".obj": "obj", ".ply": "ply", ".vtk": "vtk", ".vtu": "vtu", ".msh": "gmsh"}

_SPLIT = {"hexahedron": HEX_FACES, "wedge": PRISM_FACES, "pyramid": PYRAMID_FACES}
_LABEL_FIELDS = ("label", "gmsh:physical", "medit:ref", "gmsh:geometrical")


def read(path: str | PathLike[str], unit: str | float = "m", *, orient: bool = False) -> TetMesh | SurfaceMesh:
    """The mesh in a file, in metres: a `TetMesh` if it holds volume cells, else a `SurfaceMesh`.

    `unit` is what one unit of the file is: "m", "mm", "cm", "um", "in" or a number of metres. Hexahedra, prisms and
    pyramids are cut into tets that conform; quadrilaterals into triangles. Vertices that coincide in a surface file
    are merged (STL has no other way to say that triangles share a corner), nodes of no cell are dropped. Tets are
    taken as they are; `orient=True` turns inverted ones.
    """
    from pliant.shape.surface import SurfaceMesh
    from pliant.shape.tetmesh import TetMesh

    file = Path(path)
    scale = metres(unit)
    data = _parsed(file)
    _require_existing_nodes(file, data)
    nodes = np.asarray(data.points, dtype=np.float64)
    if nodes.ndim == 2 and nodes.shape[1] == 2:
        nodes = np.column_stack([nodes, np.zeros(len(nodes))])
    nodes = nodes * scale
    tets, labels, split = _tets(data, nodes)
    if len(tets):
        used, compact = np.unique(tets, return_inverse=True)
        # Splitting leaves the orientation of a piece open, so those are always turned.
        return TetMesh(nodes[used], compact.reshape(-1, 4), labels, orient=orient or split)
    triangles = _triangles(data)
    if len(triangles) == 0:
        kinds = sorted({block.type for block in data.cells})
        raise FileError(
            f"{file} holds no tetrahedra and no triangles (only {kinds or 'points'})",
            remedy="export the part as a surface (STL) or as a linear volume mesh",
            path=file,
        )
    return SurfaceMesh.cleaned(nodes, triangles, merge=_merge_distance(nodes))


def write(mesh: TetMesh | SurfaceMesh, path: str | PathLike[str], unit: str | float = "m") -> None:
    """Write a mesh in the format that the file's ending names, in `unit`.

    STL, OBJ and PLY hold surfaces: of a volume mesh they get its boundary. VTK, VTU and MSH hold volumes and labels.
    """
    import meshio

    from pliant.shape.tetmesh import TetMesh

    file = Path(path)
    kind = FORMATS.get(file.suffix.lower())
    if kind is None:
        raise FileError(f"{file} has an unknown ending", remedy=f"use one of {', '.join(FORMATS)}", path=file)
    factor = 1.0 / metres(unit)
    if isinstance(mesh, TetMesh) and kind not in ("stl", "obj", "ply"):
        data = meshio.Mesh(mesh.nodes * factor, [("tetra", mesh.tets)], cell_data=_label_data(mesh.labels, kind))
    else:
        skin = mesh.surface() if isinstance(mesh, TetMesh) else mesh
        data = meshio.Mesh(skin.nodes * factor, [("triangle", skin.triangles)])
    options: dict[str, Any] = {"binary": True} if kind in ("stl", "gmsh") else {}
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            # Version 2 of Gmsh's format keeps a tag per cell; version 4 ties tags to geometry that we do not have.
            data.write(file, file_format="gmsh22" if kind == "gmsh" else kind, **options)
    except OSError as error:
        raise FileError(f"{file} cannot be written ({error})", remedy="check the folder and its rights") from error


def metres(unit: str | float) -> float:
    """Metres per unit, of a name or of a positive number."""
    if isinstance(unit, str):
        if unit not in UNITS:
            raise InputError(f"unit is {unit!r}", remedy=f"use one of {', '.join(UNITS)} or a number of metres")
        return UNITS[unit]
    return number(unit, "unit", above=0.0, remedy="give a positive number of metres per unit")


def _parsed(file: Path) -> Any:
    """The file as a meshio mesh, the format told by its content where the ending is ambiguous."""
    import meshio

    try:
        content = file.read_bytes() if file.is_file() else None
    except OSError as error:
        raise FileError(f"{file} cannot be read ({error})", remedy="check its rights", path=file) from error
    if content is None:
        raise FileError(f"{file} does not exist", remedy="check the path", path=file)
    if not content.strip():
        raise FileError(f"{file} is empty", remedy="export it again", path=file)
    kind = _format(file, content)
    said = io.StringIO()
    try:
        if kind in ("stl", "obj"):
            points, triangles = parsed_stl(content) if kind == "stl" else parsed_obj(content)
            return meshio.Mesh(points, [("triangle", triangles)])
        if kind == "vtk":
            _require_small_indices(content)
        # meshio prints its reason to the terminal and ends the program; the error below says it instead.
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            return meshio.read(_Ending(content) if kind == "ply" else file, file_format=kind)
    except (SystemExit, Exception) as error:
        printed = " ".join(said.getvalue().partition("Error:")[0].split()).rstrip(".") or "meshio does not say why"
        reason = printed if isinstance(error, SystemExit) or not str(error) else f"{type(error).__name__}: {error}"
        raise FileError(
            f"{file} cannot be read as {kind} ({reason})",
            remedy="check that it is complete, or export it again as VTU, STL or MSH",
            path=file,
        ) from error


class _Ending(io.BytesIO):
    """A file whose end is told: meshio asks a PLY file without the end of its header for the next line for ever."""

    def readline(self, size: int | None = -1, /) -> bytes:
        """The next line; an EOFError where there is none."""
        line = super().readline(size)
        if not line:
            raise EOFError("it ends too early")
        return line


def _require_existing_nodes(file: Path, data: Any) -> None:
    """Refuse cells that refer to nodes that the file does not have; negative indices would count from the end."""
    count = len(data.points)
    for block in data.cells:
        cells = np.atleast_2d(np.asarray(block.data))
        wrong = np.flatnonzero(((cells < 0) | (cells >= count)).any(axis=1))
        if len(wrong):
            raise FileError(
                f"{block.type} {wrong[0]} of {file} refers to nodes {cells[wrong[0]].tolist()} but there are {count}",
                remedy=f"indices must be 0 ... {count - 1}: export it again",
                path=file,
                cells=wrong,
            )


def _require_small_indices(content: bytes) -> None:
    """Refuse a legacy VTK text file with indices beyond 32 bits: its reader would cut them off and take other nodes."""
    for keyword in (b"CELLS", b"CONNECTIVITY", b"POLYGONS"):
        at = content.find(b"\n" + keyword)
        if at < 0 or b"BINARY" in content[:512]:
            continue
        body = content[content.index(b"\n", at + 1) :]
        numbers = re.match(rb"[\s\d+-]*", body)
        large = re.search(rb"\d{10,}", numbers.group()) if numbers else None
        if large and int(large.group()) > np.iinfo(np.int32).max:
            raise ValueError(f"a cell refers to node {int(large.group())}")


def _format(file: Path, content: bytes) -> str:
    kind = FORMATS.get(file.suffix.lower())
    if kind is None:
        raise FileError(f"{file} has an unknown ending", remedy=f"use one of {', '.join(FORMATS)}", path=file)
    if kind == "vtk" and content[:512].lstrip().startswith((b"<VTKFile", b"<?xml")):
        return "vtu"
    return kind


def _tets(data: Any, nodes: FloatArray) -> tuple[IntArray, IntArray, bool]:
    """Tets (m, 4), their labels (m,), and whether any come from splitting other cells."""
    fields = _label_blocks(data)
    tets: list[IntArray] = [np.empty((0, 4), dtype=np.int32)]
    labels: list[IntArray] = [np.empty(0, dtype=np.int32)]
    split = False
    for block, block_labels in zip(data.cells, fields, strict=True):
        if block.type in ("tetra", "tetra10"):
            cells = np.asarray(block.data)[:, :4]
            owner: NDArray[np.intp] = np.arange(len(cells))
        elif block.type in _SPLIT:
            cells, owner = smallest_index_split(np.asarray(block.data).astype(np.int32), _SPLIT[block.type])
            split = True
        else:
            continue
        tets.append(cells.astype(np.int32))
        labels.append(block_labels[owner])
    return np.vstack(tets), np.concatenate(labels), split


def _triangles(data: Any) -> IntArray:
    found: list[IntArray] = [np.empty((0, 3), dtype=np.int32)]
    for block in data.cells:
        cells = np.asarray(block.data)
        if block.type in ("triangle", "triangle6"):
            found.append(cells[:, :3].astype(np.int32))
        elif block.type == "quad":
            found.append(np.vstack([cells[:, [0, 1, 2]], cells[:, [0, 2, 3]]]).astype(np.int32))
    return np.vstack(found)


def _label_blocks(data: Any) -> list[IntArray]:
    """One integer label per cell of each block, zero where the file has none."""
    for name in _LABEL_FIELDS:
        if name in data.cell_data:
            return [
                np.asarray(values).reshape(len(values), -1)[:, 0].astype(np.int32) for values in data.cell_data[name]
            ]
    return [np.zeros(len(block.data), dtype=np.int32) for block in data.cells]


def _label_data(labels: IntArray, kind: str) -> dict[str, list[IntArray]]:
    # Gmsh knows labels as physical groups and wants both tags of its own, or none.
    return {"gmsh:physical": [labels], "gmsh:geometrical": [labels]} if kind == "gmsh" else {"label": [labels]}


def _merge_distance(nodes: FloatArray) -> float:
    """Distance below which vertices of a surface file are one [m]: what single precision cannot tell apart."""
    return 1e-6 * float(np.linalg.norm(np.ptp(nodes, axis=0)))
