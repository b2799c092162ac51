"""Taking away the few tets that hang on a solid by a single edge or node.

Such a hinge transmits no moment and has no inside, so neither mechanics nor the surface is what the part had. Stuffing
leaves some where a part is thinner than the lattice.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.shape.topology import FloatArray, IntArray, boundary_faces, connected_parts, tet_volumes, unique_edges

_EDGES = np.array([[0, 1], [1, 2], [2, 0]])
_ROUNDS = 20

CRUMB = 10
"""Separate pieces of fewer tets than this are taken away, unless there is nothing larger."""


def without_hinges(nodes: FloatArray, tets: IntArray) -> tuple[FloatArray, IntArray]:
    """Nodes and tets of a mesh whose boundary is a manifold; at each hinge the larger side stays."""
    for _ in range(_ROUNDS):
        hinges = _pinched_edges(tets) or _pinched_nodes(tets)
        if not hinges:
            break
        doomed = _lesser_sides(nodes, tets, hinges)
        if len(doomed) == 0:
            # What is left are places where the outside touches itself through a node: thin, but no hinge.
            break
        tets = np.delete(tets, doomed, axis=0)
    part = connected_parts(len(nodes), tets)[tets[:, 0]]
    counts = np.bincount(part)
    tets = tets[counts[part] >= min(CRUMB, counts.max())]
    used, compact = np.unique(tets, return_inverse=True)
    return nodes[used], compact.reshape(-1, 4).astype(np.int32)


def _pinched_edges(tets: IntArray) -> list[tuple[int, ...]]:
    """Edges at which more than two boundary triangles meet."""
    triangles, _ = boundary_faces(tets)
    edges, ids = unique_edges(triangles, _EDGES)
    return [tuple(edge) for edge in edges[np.bincount(ids.ravel()) > 2].tolist()]


def _pinched_nodes(tets: IntArray) -> list[tuple[int, ...]]:
    """Nodes at which the boundary is more than one fan of triangles."""
    triangles, _ = boundary_faces(tets)
    pairs = np.unique(np.column_stack([triangles.ravel(), fans(triangles).ravel()]), axis=0)
    return [(node,) for node in np.flatnonzero(np.bincount(pairs[:, 0]) > 1).tolist()]


def fans(triangles: IntArray) -> IntArray:
    """Number of the fan that each corner belongs to, shape (t, 3); on a manifold every node has one fan.

    Corners of two triangles belong to one fan when they are at the same end of an edge that only these two share.
    """
    edges, ids = unique_edges(triangles, _EDGES)
    order = np.argsort(ids.ravel(), kind="stable")
    starts = np.searchsorted(ids.ravel()[order], np.flatnonzero(np.bincount(ids.ravel()) == 2))
    first, second = order[starts] // 3, order[starts + 1] // 3
    ends = edges[ids.ravel()[order[starts]]].T
    links = [np.column_stack([_corner_at(triangles, t, node) for t in (first, second)]) for node in ends]
    return connected_parts(triangles.size, np.vstack(links).astype(np.int32)).reshape(-1, 3)


def _corner_at(triangles: IntArray, which: NDArray[np.intp], node: IntArray) -> NDArray[np.intp]:
    return np.asarray(3 * which + (triangles[which] == node[:, None]).argmax(axis=1))


def _lesser_sides(nodes: FloatArray, tets: IntArray, hinges: list[tuple[int, ...]]) -> NDArray[np.intp]:
    """Tets at the hinges that do not belong to the largest face-connected group there."""
    volumes = tet_volumes(nodes, tets)
    touching = np.flatnonzero(np.isin(tets, np.unique([node for hinge in hinges for node in hinge])).any(axis=1))
    near = tets[touching]
    doomed: set[int] = set()
    for hinge in hinges:
        star = touching[np.logical_and.reduce([(near == node).any(axis=1) for node in hinge])]
        star = star[[t not in doomed for t in star.tolist()]]
        if not len(star):
            continue
        groups = _face_connected(tets[star])
        weight = np.bincount(groups, weights=volumes[star])
        doomed.update(star[groups != weight.argmax()].tolist())
    return np.array(sorted(doomed), dtype=np.intp)


def _face_connected(tets: IntArray) -> IntArray:
    """Group of each tet; tets with a common face are in one group."""
    shared = (tets[:, None, :, None] == tets[None, :, None, :]).any(axis=3).sum(axis=2)
    links = np.argwhere(shared >= 3).astype(np.int32)
    return connected_parts(len(tets), links)
