"""Embedding: points carried by the tetrahedra of a mesh, wherever its nodes go."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import as_numbers, number
from pliant.errors import InputError, PliantWarning
from pliant.shape import _tree_kernels as kernels
from pliant.shape.mesh import some
from pliant.shape.tetmesh import TetMesh
from pliant.shape.topology import TET_EDGES, FloatArray, IntArray
from pliant.shape.tree import BoxTree, TriangleTree

if TYPE_CHECKING:
    from scipy.sparse import csr_array

REACH = 0.5
"""Default `max_distance` of points outside, as a share of the mesh's mean edge length."""

WORTH_A_WORD = 1e-3
"""Share of the mean edge up to which a point outside is not worth a warning: files round coordinates to single precision."""

_COINCIDENCE = 1e-9
"""Weights this close to 0 and 1 are taken as exactly that, so that a point on a node is that node."""


@dataclass(frozen=True, eq=False)
class Embedding:
    """Points as weighted means of nodes: p_i = sum_k weights[i, k] x[nodes[i, k]].

    A point inside a tet has its barycentric coordinates as weights (all >= 0), a point on a node has weight 1 there.
    A point outside is extrapolated linearly from the nearest tet, so some of its weights are negative; it moves
    exactly with an affine motion of that tet, as all others do.
    """

    elements: IntArray
    """Tet that carries each point, shape (p,)."""
    nodes: IntArray
    """Nodes of that tet, shape (p, 4)."""
    weights: FloatArray
    """Barycentric coordinates, rows sum to 1, shape (p, 4)."""
    distances: FloatArray
    """How far each point is outside the mesh [m], zero inside, shape (p,)."""
    node_count: int
    """Number of nodes of the mesh."""

    @classmethod
    def of(cls, mesh: TetMesh, points: ArrayLike, max_distance: float | None = None) -> Embedding:
        """Attach points (p, 3) [m], given in the rest shape, to a mesh.

        Points outside attach to the tet behind the nearest boundary face when they are at most `max_distance` [m]
        away (default: half the mean edge length), with a `PliantWarning` that lists those beyond a thousandth of that
        edge; farther ones raise `InputError`.
        """
        p = checked_points(points)
        if max_distance is not None:
            max_distance = number(max_distance, "max_distance", unit="m", least=0.0)
        elements = containing(mesh, p)
        distances = np.zeros(len(p))
        outside = np.flatnonzero(elements < 0)
        if len(outside):
            elements[outside], distances[outside] = _nearest(mesh, p[outside])
            _judge_outside(mesh, p, outside, distances[outside], max_distance)
        weights = np.empty((len(p), 4))
        kernels.tet_weights(p, mesh.nodes, mesh.tets, elements, weights)
        return cls(elements, mesh.tets[elements], _snapped(weights), distances, len(mesh.nodes))

    @classmethod
    def conforming(cls, mesh: TetMesh, node_ids: ArrayLike) -> Embedding:
        """The special case of points that are nodes of the mesh: weight 1 on each of them."""
        ids = np.atleast_1d(np.asarray(node_ids))
        if ids.ndim != 1 or not np.issubdtype(ids.dtype, np.integer) or len(ids) == 0:
            raise InputError("node ids are not a list of integers", remedy="give indices such as mesh.where(...)")
        if ids.min() < 0 or ids.max() >= len(mesh.nodes):
            raise InputError(
                f"node ids reach from {ids.min()} to {ids.max()}", remedy=f"use 0 ... {len(mesh.nodes) - 1}"
            )
        carrier = np.empty(len(mesh.nodes), dtype=np.int32)
        carrier[mesh.tets.ravel()] = np.repeat(np.arange(len(mesh.tets), dtype=np.int32), 4)
        elements = carrier[ids]
        nodes = mesh.tets[elements]
        weights = (nodes == ids[:, None]).astype(np.float64)
        return cls(elements, nodes, weights, np.zeros(len(ids)), len(mesh.nodes))

    def __len__(self) -> int:
        return len(self.elements)

    @property
    def barycentric(self) -> FloatArray:
        """Barycentric coordinates of the points in their elements, shape (p, 4): the linear weights."""
        return self.weights

    def positions(self, x: FloatArray) -> FloatArray:
        """Places of the points [m], shape (p, 3), when the nodes are at x (n, 3) [m]; any (n, k) field works."""
        return np.asarray(np.einsum("pk,pkc->pc", self.weights, x[self.nodes]))

    def matrix(self) -> csr_array:
        """The weights as a sparse matrix (p, n): positions(x) = matrix @ x."""
        from scipy.sparse import csr_array

        return _matrix(self.nodes, self.weights, self.node_count, csr_array)

    def quadratic(self, midnode_ids: ArrayLike) -> tuple[IntArray, FloatArray]:
        """Nodes (p, 10) and weights (p, 10) in the 10-node tets that have the same corners and straight edges.

        `midnode_ids` (m, 6) are the mid-edge nodes of every tet, edges in the order 01, 12, 20, 03, 13, 23, as
        `n + mesh.quadratic_edges()[1]`. Shape functions L (2 L - 1) at corners, 4 L_a L_b at mid-edges.
        """
        middle = np.asarray(midnode_ids)[self.elements].astype(np.int32)
        corner = self.weights * (2.0 * self.weights - 1.0)
        edge = 4.0 * self.weights[:, TET_EDGES[:, 0]] * self.weights[:, TET_EDGES[:, 1]]
        return np.hstack([self.nodes, middle]), np.hstack([corner, edge])


def checked_points(points: ArrayLike) -> FloatArray:
    p = np.atleast_2d(np.ascontiguousarray(as_numbers(points)))
    if p.ndim != 2 or p.shape[1] != 3 or len(p) == 0:
        raise InputError(f"points have shape {p.shape}", remedy="give a (p, 3) array of coordinates in metres")
    bad = np.flatnonzero(~np.isfinite(p).all(axis=1))
    if len(bad):
        raise InputError(f"points {some(bad)} are not finite", remedy="remove them", points=bad)
    return p


def containing(mesh: TetMesh, points: FloatArray) -> IntArray:
    """Tet that contains each point, -1 for points outside, shape (p,)."""
    corners = mesh.nodes[mesh.tets]
    slack = _COINCIDENCE * mesh.diameter
    tree = BoxTree.of(corners.min(axis=1) - slack, corners.max(axis=1) + slack)
    found = np.empty(len(points), dtype=np.int32)
    kernels.containing_tets(
        points, tree.starts, tree.order, tree.lower, tree.upper, mesh.nodes, mesh.tets, _COINCIDENCE, found
    )
    return found


def _nearest(mesh: TetMesh, points: FloatArray) -> tuple[NDArray[np.intp], FloatArray]:
    """Tet behind the nearest boundary face of each point, and the distance to that face [m]."""
    triangles, owners = mesh.boundary_triangles()
    distance, triangle, _ = TriangleTree.of(mesh.nodes, triangles).closest(points)
    return owners[triangle], distance


def _judge_outside(
    mesh: TetMesh, points: FloatArray, outside: NDArray[np.intp], distance: FloatArray, max_distance: float | None
) -> None:
    """Raise for points too far outside, warn of the others."""
    allowed = REACH * mesh.mean_edge() if max_distance is None else float(max_distance)
    far = distance > allowed
    if far.any():
        worst = outside[distance.argmax()]
        limit = "half the mean edge of its tets," if max_distance is None else "max_distance ="
        raise InputError(
            f"points {some(outside[far])} are up to {distance.max():.3g} m outside the mesh (point {worst} at "
            f"{points[worst].tolist()}), more than {limit} {allowed:.3g} m",
            remedy=f"check their units and frame (the mesh spans {mesh.bounds[0].round(6).tolist()} to "
            f"{mesh.bounds[1].round(6).tolist()} m), or move them onto the mesh",
            points=outside[far],
        )
    away = distance > WORTH_A_WORD * mesh.mean_edge()
    if away.any():
        warnings.warn(
            f"points {some(outside[away])} are up to {distance.max():.3g} m outside the mesh and were attached to the "
            "nearest tet",
            PliantWarning,
            stacklevel=4,
        )


def _snapped(weights: FloatArray) -> FloatArray:
    """Weights with rounding removed: those within 1e-9 of zero are zero, and the rest sums to one."""
    w = np.where(np.abs(weights) < _COINCIDENCE, 0.0, weights)
    return np.asarray(w / w.sum(axis=1, keepdims=True))


def _matrix(nodes: IntArray, weights: FloatArray, columns: int, kind: Any) -> Any:
    count, width = nodes.shape
    matrix = kind((weights.ravel(), nodes.ravel(), np.arange(0, count * width + 1, width)), shape=(count, columns))
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix
