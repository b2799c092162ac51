"""Connectivity of simplices: faces, edges, parts, and the split of other cells into tetrahedra.

Functions on plain arrays of node indices (and coordinates where a choice depends on them), shared by all meshes.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

FloatArray: TypeAlias = NDArray[np.float64]
IntArray: TypeAlias = NDArray[np.int32]

TET_FACES = np.array([[1, 2, 3], [0, 3, 2], [0, 1, 3], [0, 2, 1]])
"""Face i is opposite to corner i and looks outward when the tet has a positive volume."""

TET_EDGES = np.array([[0, 1], [1, 2], [2, 0], [0, 3], [1, 3], [2, 3]])
"""Edges of a tet in the order of the mid-edge nodes of the 10-node tetrahedron: 01, 12, 20, 03, 13, 23."""

# The octahedron that the four corner tets of a refined tet leave over, cut along one of its three diagonals;
# numbers are mid-edges in the order of TET_EDGES, and all tets have a positive volume.
_CORNER_TETS = np.array([[0, 4, 6, 7], [4, 1, 5, 8], [6, 5, 2, 9], [7, 8, 9, 3]])
_OCTAHEDRON = {
    (0, 5): np.array([[0, 5, 1, 2], [0, 5, 2, 3], [0, 5, 3, 4], [0, 5, 4, 1]]),
    (1, 3): np.array([[1, 3, 2, 0], [1, 3, 5, 2], [1, 3, 4, 5], [1, 3, 0, 4]]),
    (2, 4): np.array([[2, 4, 0, 1], [2, 4, 1, 5], [2, 4, 5, 3], [2, 4, 3, 0]]),
}

# Faces of a hexahedron (VTK order) and of a prism as corner cycles; orientation does not matter to the split.
HEX_FACES = ((0, 1, 2, 3), (4, 5, 6, 7), (0, 1, 5, 4), (1, 2, 6, 5), (2, 3, 7, 6), (3, 0, 4, 7))
PRISM_FACES = ((0, 1, 2), (3, 4, 5), (0, 1, 4, 3), (1, 2, 5, 4), (2, 0, 3, 5))
PYRAMID_FACES = ((0, 1, 2, 3), (0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4))


def unique_rows(rows: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Group equal integer rows (k, c): a representative of each group, and the group of each row.

    Groups are numbered in lexicographic order. Several times faster than `np.unique(axis=0)`.
    """
    order = np.lexsort(rows.T[::-1])
    ranked = rows[order]
    starts = np.ones(len(rows), dtype=bool)
    starts[1:] = (ranked[1:] != ranked[:-1]).any(axis=1)
    group = np.empty(len(rows), dtype=np.intp)
    group[order] = np.cumsum(starts) - 1
    return order[starts], group


def tet_faces(tets: IntArray) -> IntArray:
    """All faces of all tets, outward, shape (4 m, 3); row 4 t + i is the face of tet t opposite to its corner i."""
    return tets[:, TET_FACES].reshape(-1, 3)


def boundary_faces(tets: IntArray) -> tuple[IntArray, NDArray[np.intp]]:
    """Faces that belong to one tet only, outward, shape (b, 3), and the tet that owns each of them, shape (b,)."""
    faces = tet_faces(tets)
    _, group = unique_rows(np.sort(faces, axis=1))
    alone = np.flatnonzero(np.bincount(group)[group] == 1)
    return faces[alone], alone // 4


def face_counts(tets: IntArray) -> NDArray[np.intp]:
    """How many tets share each face; a conforming mesh has 1 (boundary) and 2 (inside) only."""
    _, group = unique_rows(np.sort(tet_faces(tets), axis=1))
    return np.bincount(group)


def unique_edges(cells: IntArray, local: NDArray[Any]) -> tuple[IntArray, IntArray]:
    """Edges (ne, 2), lower index first, and the edge ids (m, k) of each cell; `local` (k, 2) are the cell's edges."""
    pairs = np.sort(cells[:, local].reshape(-1, 2), axis=1)
    first, group = unique_rows(pairs)
    return pairs[first], group.reshape(len(cells), len(local)).astype(np.int32)


def connected_parts(node_count: int, cells: IntArray) -> IntArray:
    """Number of the connected part that each node belongs to, shape (n,); nodes of one cell hang together."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    hub = np.repeat(cells[:, 0], cells.shape[1] - 1)
    spoke = cells[:, 1:].ravel()
    graph = coo_array((np.ones(len(hub), dtype=np.int8), (hub, spoke)), shape=(node_count, node_count))
    _, parts = connected_components(graph, directed=False)
    return np.asarray(parts, dtype=np.int32)


def refined_tets(nodes: FloatArray, tets: IntArray) -> tuple[FloatArray, IntArray]:
    """Each tet cut into eight at its mid-edges; children of tet t are rows 8 t ... 8 t + 7.

    The inner octahedron is cut along its shortest diagonal, which keeps the shapes from degrading (Bey 1995).
    """
    edges, edge_ids = unique_edges(tets, TET_EDGES)
    everything = np.vstack([nodes, nodes[edges].mean(axis=1)])
    local = np.hstack([tets, edge_ids + np.int32(len(nodes))])
    middle = everything[local[:, 4:]]
    lengths = np.stack([((middle[:, a] - middle[:, b]) ** 2).sum(axis=1) for a, b in _OCTAHEDRON], axis=1)
    cuts = 4 + np.stack(list(_OCTAHEDRON.values()))[lengths.argmin(axis=1)]
    inner = np.take_along_axis(local[:, None, :], cuts.reshape(len(tets), 1, 16), axis=2).reshape(-1, 4, 4)
    children = np.concatenate([local[:, _CORNER_TETS], inner], axis=1)
    return everything, children.reshape(-1, 4).astype(np.int32)


def smallest_index_split(cells: IntArray, faces: tuple[tuple[int, ...], ...]) -> tuple[IntArray, NDArray[np.intp]]:
    """Cut hexahedra, prisms or pyramids into tets so that neighbours agree on every shared face.

    Every quadrilateral is cut by the diagonal through its smallest node number, which both neighbours see alike
    (Dompierre et al. 1999); the cell is the cone of its smallest corner over the cut faces that do not touch it.
    Returns tets (unoriented) and the cell that each comes from. No node is added.
    """
    tets, owners = [], []
    smallest = cells.min(axis=1)
    for face in faces:
        corners = cells[:, face]
        away = np.flatnonzero((corners != smallest[:, None]).all(axis=1))
        corners = corners[away]
        turn = corners.argmin(axis=1)[:, None] + np.arange(len(face))
        corners = np.take_along_axis(corners, turn % len(face), axis=1)
        for k in range(1, len(face) - 1):
            tets.append(np.column_stack([corners[:, 0], corners[:, k], corners[:, k + 1], smallest[away]]))
            owners.append(away)
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    return np.concatenate(tets)[order].astype(np.int32), owner[order]


def tet_volumes(nodes: FloatArray, tets: IntArray) -> FloatArray:
    """Signed volumes det(x1 - x0, x2 - x0, x3 - x0) / 6 [m^3], shape (m,)."""
    a, b, c = (nodes[tets[:, k]] - nodes[tets[:, 0]] for k in (1, 2, 3))
    return np.asarray(np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0)


def oriented_tets(nodes: FloatArray, tets: IntArray) -> IntArray:
    """The same tets with their last two corners swapped where the volume is negative."""
    swapped: IntArray = tets.copy()
    inverted = tet_volumes(nodes, tets) < 0.0
    swapped[inverted, 2], swapped[inverted, 3] = tets[inverted, 3], tets[inverted, 2]
    return swapped
