"""The hull of cells: outer faces of cubes or tets as triangles."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.shape import lattice_voxels as voxels
from pliant.shape.topology import IntArray, boundary_faces, unique_rows


def outer_triangles(cells: IntArray) -> tuple[IntArray, NDArray[np.intp]]:
    """Triangles of points (b, 3), outward, of the faces that belong to one of the cells (c, 8) or (c, 4) only; and the cell
    that each of them belongs to, (b,)."""
    if cells.shape[1] == 4:
        return boundary_faces(cells)
    quads = cells[:, voxels.FACES].reshape(-1, 4)
    _, group = unique_rows(np.sort(quads, axis=1))
    outer = np.flatnonzero(np.bincount(group)[group] == 1)
    triangles = np.asarray(quads[outer][:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3))
    return triangles, np.repeat(outer // len(voxels.FACES), 2)
