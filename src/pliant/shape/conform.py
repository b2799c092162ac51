"""Drawing the boundary of a tet mesh onto a surface, sharp edges and corners included, without spoiling its tets.

Each boundary node goes to the point that is nearest, in the sense of least squares, to all the planes of the surface
that its triangles should lie on (the quadric error of Garland and Heckbert 1997). On a flat or smooth piece that is
the projection, at a crease it is the crease, at a corner the corner. Every move is guarded by the tets around.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.shape import _fill_kernels as kernels
from pliant.shape.surface import SurfaceMesh
from pliant.shape.topology import FloatArray, IntArray, boundary_faces

SAMPLES = np.array([[4, 1, 1], [1, 4, 1], [1, 1, 4], [3, 3, 0], [0, 3, 3], [3, 0, 3]]) / 6.0
"""Where each boundary triangle asks the surface for its plane, as barycentric weights."""

CREASE = 0.03
"""Share of a node's largest quadric eigenvalue from which a direction is held: creases of more than 20 degrees."""

FLOOR = np.sin(np.radians(14.0))
"""Moves towards the surface may not push a dihedral angle below 14 degrees (or above 166)."""

GOOD = np.sin(np.radians(40.0))
"""Smoothing leaves tets alone whose angles are all better than this."""

SHORT = 0.4
"""Edges below this share of the mean edge count as a fault of their tets."""


def conformed(surface: SurfaceMesh, nodes: FloatArray, tets: IntArray, size: float, rounds: int = 10) -> FloatArray:
    """Nodes (n, 3) [m] of the same tets with the boundary drawn onto `surface`.

    `size` [m] is the mean edge, `rounds` how often the boundary is drawn and the tets are smoothed; the last two
    rounds leave the boundary where it was drawn.
    """
    x = np.array(nodes)
    corners = _sharp_corners(surface)
    around = _tets_around(tets, len(x))
    triangles, _ = boundary_faces(tets)
    outer = np.unique(triangles).astype(np.int64)
    inner = np.setdiff1d(np.arange(len(x)), outer)
    everywhere = np.broadcast_to(np.eye(3), (len(inner), 3, 3)).copy()
    short = SHORT * size
    for k in range(rounds):
        target, freedom = _fit(surface, x, triangles, outer)
        _claim_corners(corners, x, outer, 0.7 * size, target, freedom)
        kernels.move_guarded(x, target, tets, *around, outer, FLOOR, short)
        for step in (0.12 * size, 0.05 * size, 0.02 * size):
            kernels.smooth(x, tets, *around, inner, everywhere, step, GOOD, short)
            if k < rounds - 2:
                kernels.smooth(x, tets, *around, outer, freedom, step, GOOD, short)
    return x


def _tets_around(tets: IntArray, count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Tets at each node as (starts, ids)."""
    flat = tets.ravel()
    starts = np.concatenate([[0], np.cumsum(np.bincount(flat, minlength=count))])
    return starts, np.argsort(flat, kind="stable") // 4


def _fit(
    surface: SurfaceMesh, x: FloatArray, triangles: IntArray, outer: NDArray[np.int64]
) -> tuple[FloatArray, FloatArray]:
    """Target of each boundary node [m] (k, 3), and its free directions as rows (k, 3, 3), zero where it is held."""
    corners = x[triangles]
    points = np.einsum("sk,tkc->tsc", SAMPLES, corners)
    _, face, place = surface.tree.closest(points.reshape(-1, 3))
    normal = surface.normals[face]
    area = np.linalg.norm(np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]), axis=1)
    weight = (area[:, None, None] * SAMPLES[None]).reshape(-1, 3)
    owner = np.searchsorted(outer, triangles)[:, None, :].repeat(len(SAMPLES), axis=1).reshape(-1, 3)
    matrix, vector = np.zeros((len(outer), 3, 3)), np.zeros((len(outer), 3))
    kernels.add_quadrics(owner, weight, normal, place, matrix, vector)
    values, axes = np.linalg.eigh(matrix)
    held = values > CREASE * values[:, -1:]
    start = surface.tree.closest(x[outer])[2]
    residual = np.einsum("nki,nk->ni", axes, vector - np.einsum("nij,nj->ni", matrix, start))
    shift = np.where(held, residual / np.where(held, values, 1.0), 0.0)
    moved = start + np.einsum("nki,ni->nk", axes, shift)
    freedom = np.where(held[:, :, None], 0.0, axes.transpose(0, 2, 1))
    return surface.tree.closest(moved)[2], np.ascontiguousarray(freedom)


def _sharp_corners(surface: SurfaceMesh) -> FloatArray:
    """Nodes of the surface whose triangles hold all three directions [m], shape (k, 3)."""
    vectors = surface.areas[:, None, None] * surface.normals[:, :, None] * surface.normals[:, None, :]
    matrix = np.zeros((len(surface.nodes), 3, 3))
    for k in range(3):
        np.add.at(matrix, surface.triangles[:, k], vectors)
    values = np.linalg.eigvalsh(matrix)
    return surface.nodes[values[:, 0] > CREASE * values[:, 2]]


def _claim_corners(
    corners: FloatArray, x: FloatArray, outer: NDArray[np.int64], reach: float, target: FloatArray, freedom: FloatArray
) -> None:
    """Send to each corner the boundary node nearest to it, if one is within `reach` [m], and hold it there."""
    from scipy.spatial import cKDTree

    if len(corners) == 0:
        return
    distance, nearest = cKDTree(x[outer]).query(corners)
    # Farthest first, so that of two corners that want the same node the nearer one gets it.
    for corner in np.argsort(-distance):
        if distance[corner] < reach:
            target[nearest[corner]] = corners[corner]
            freedom[nearest[corner]] = 0.0
