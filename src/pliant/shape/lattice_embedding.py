"""Points carried by the cells of a lattice, and how its cells deform."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import number
from pliant.errors import InputError, PliantWarning
from pliant.shape.embedding import Embedding, checked_points, containing
from pliant.shape.lattice_voxels import CORNERS
from pliant.shape.mesh import some
from pliant.shape.tetmesh import TetMesh
from pliant.shape.topology import FloatArray

if TYPE_CHECKING:
    from pliant.shape.lattice import Grid, Lattice


def embedded(lattice: Lattice, points: ArrayLike, max_distance: float | None) -> tuple[NDArray[np.int64], FloatArray]:
    """Points [p, 3] as means of lattice points: numbers [p, 8] or [p, 4] and weights that sum to 1.

    A surface that a lattice stands for is a little outside its cells; up to the default distance that is not worth a word.
    """
    if lattice.grid is None:
        with warnings.catch_warnings():
            if max_distance is None:
                warnings.simplefilter("ignore", PliantWarning)
            embedding = Embedding.of(TetMesh(lattice.points, lattice.cells), points, max_distance)
        return embedding.nodes.astype(np.int64), embedding.weights
    return _in_voxels(lattice, lattice.grid, checked_points(points), max_distance)


def contained(lattice: Lattice, points: FloatArray) -> NDArray[np.bool_]:
    """Whether each of the points [p, 3] [m] is in a cell, [p]."""
    if lattice.grid is None:
        found = containing(TetMesh(lattice.points, lattice.cells), np.ascontiguousarray(points))
        return np.asarray(found >= 0)
    return np.asarray(_beyond(lattice, lattice.grid, points)[2] <= 1e-9 * lattice.grid.size)


def _beyond(lattice: Lattice, grid: Grid, points: FloatArray) -> tuple[NDArray[np.intp], FloatArray, FloatArray]:
    """The nearest cube of each point, its place in that (0 to 1 inside), and how far it is outside [m]."""
    from scipy.spatial import cKDTree

    middles = lattice.centers
    cell = cKDTree(middles).query(points, p=np.inf)[1]
    local = (points - middles[cell]) / grid.size + 0.5
    beyond = np.linalg.norm(np.maximum(np.abs(local - 0.5) - 0.5, 0.0), axis=1) * grid.size
    return cell, local, beyond


def _in_voxels(
    lattice: Lattice, grid: Grid, points: FloatArray, max_distance: float | None
) -> tuple[NDArray[np.int64], FloatArray]:
    """Trilinear weights in the nearest cube; outside it they go on linearly along each axis."""
    allowed = grid.size if max_distance is None else number(max_distance, "max_distance", unit="m", least=0.0)
    cell, local, beyond = _beyond(lattice, grid, points)
    far = np.flatnonzero(beyond > allowed * (1 + 1e-9))
    if len(far):
        worst = far[beyond[far].argmax()]
        raise InputError(
            f"points {some(far)} are up to {beyond[worst]:.3g} m outside the lattice (point {worst} at "
            f"{points[worst].tolist()}), more than {allowed:.3g} m",
            remedy=f"check their units and frame (the lattice spans {lattice.bounds[0].round(6).tolist()} to "
            f"{lattice.bounds[1].round(6).tolist()} m), or give max_distance",
            points=far,
        )
    away = np.flatnonzero(beyond > grid.size)
    if len(away):
        warnings.warn(
            f"points {some(away)} are up to {beyond.max():.3g} m outside the lattice and were attached to the nearest cell",
            PliantWarning,
            stacklevel=4,
        )
    weights = np.prod(np.where(CORNERS[None] == 1, local[:, None, :], 1.0 - local[:, None, :]), axis=2)
    weights[np.abs(weights) < 1e-9] = 0.0
    return lattice.cells[cell].astype(np.int64), weights / weights.sum(axis=1, keepdims=True)


def deformation_gradients(lattice: Lattice, x: FloatArray) -> FloatArray:
    """Mean F of every cell [c, 3, 3]: the constant of a tet, the value in the middle of a cube."""
    corners = x[lattice.cells]
    if lattice.grid is not None:
        slopes = (2.0 * CORNERS - 1.0) / (4.0 * lattice.grid.size)
        return np.asarray(np.einsum("cai,aj->cij", corners, slopes))
    rest = lattice.points[lattice.cells]
    inverse = np.linalg.inv(np.swapaxes(rest[:, 1:] - rest[:, :1], 1, 2))
    return np.asarray(np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2) @ inverse)
