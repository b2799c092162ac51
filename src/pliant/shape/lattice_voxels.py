"""Voxel lattices: cubes of one size, with springs along edges, face diagonals and body diagonals.

Constants by homogenization, C_ijkl = (1/V) sum over springs of k L^2 n_i n_j n_k n_l. With edges k1, face diagonals k2 and
body diagonals k3 of cubes of size a, the lattice is isotropic with Young's modulus E and nu = 1/4 when

    k1 = k2 + 8/3 k3,     k2 + 4/3 k3 = 2/5 E a.

Four cubes share an edge, two share a face diagonal: each cube contributes k1/4, k2/2, k3, so that springs on the boundary
get their share only, and a block in tension has the modulus E and nu = 1/4 exactly.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.checks import number
from pliant.errors import InputError, MeshError, PliantWarning
from pliant.shape.lattice_solid import Solid
from pliant.shape.topology import FloatArray, IntArray

CORNERS = np.stack(np.meshgrid([0, 1], [0, 1], [0, 1], indexing="ij"), axis=-1).reshape(8, 3)
"""Corner 4 i + 2 j + k of a cell is at its lower corner plus (i, j, k) times the size."""
FACES = np.array([[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]])
"""Corners of the six faces, counterclockwise from outside."""

MOST_CELLS = 50_000_000
"""Cells that the box around a solid may have; more is nearly always a size in the wrong unit."""
LARGEST_BODY_SHARE = 0.3
"""k3 = 0.3 E a is where the face diagonals vanish."""
VOLUME_TOLERANCE = 0.05
SKIN = 1e-6
"""Points within so much of a cell's size are on the surface."""


def voxel_springs(body_diagonals: float) -> tuple[NDArray[np.int64], FloatArray]:
    """Pairs of corners (p, 2) and what one cell of size 1 m and modulus 1 Pa adds to their springs (p,) [m].

    body_diagonals: k3 / (E a), from 0 (no such springs) to below 0.3.
    """
    if not 0.0 <= body_diagonals < LARGEST_BODY_SHARE:
        raise InputError(
            f"body_diagonals is {body_diagonals}",
            remedy="give k3 / (E a) from 0 to below 0.3, where face diagonals would be negative",
        )
    k3 = body_diagonals
    k2 = 0.4 - 4 / 3 * k3
    k1 = k2 + 8 / 3 * k3
    a, b = np.triu_indices(8, 1)
    steps = np.abs(CORNERS[a] - CORNERS[b]).sum(axis=1)
    shares = np.array([0.0, k1 / 4, k2 / 2, k3])[steps]
    used = shares > 0.0
    return np.stack([a, b], axis=1)[used].astype(np.int64), shares[used]


def voxels_inside(solid: Solid, size: float, whole: bool) -> tuple[FloatArray, NDArray[np.bool_]]:
    """Lower corner [m] (3,) of a grid of cells in the middle of the solid's box, and which cells belong to it, 3-D.

    A cell belongs to the solid when its middle is inside or on the surface (the volume is then right on average), or with
    `whole` when all its corners are. On the surface: to 1e-6 of the size, so that rounding does not decide.
    """
    size = number(size, "size", unit="m", above=0.0, remedy="give a positive cell size in metres")
    extent = solid.extent
    if extent.min() < size * (1 - 1e-9):
        raise InputError(
            f"cells of {size:.3g} m are larger than the solid, which is {extent.min():.3g} m thick "
            f"along {'xyz'[extent.argmin()]}",
            remedy="give a smaller size, or check the units",
        )
    if float(np.prod(extent / size)) > MOST_CELLS:
        raise InputError(
            f"size {size:.3g} m in a solid {extent.max():.3g} m wide asks for {np.prod(extent / size):.2g} cells",
            remedy="give a larger size, or check the unit that the part was read with",
        )
    counts = np.maximum(np.round(extent / size).astype(np.int64), 1)
    origin = solid.bounds.mean(axis=0) - counts * size / 2
    if whole:
        inside = solid.inside_or_on(_grid_points(origin, size, counts + 1), SKIN * size).reshape(tuple(counts + 1))
        cells = np.ones(tuple(counts), bool)
        for i, j, k in CORNERS:
            cells &= inside[i : i + counts[0], j : j + counts[1], k : k + counts[2]]
    else:
        middles = _grid_points(origin + size / 2, size, counts)
        cells = solid.inside_or_on(middles, SKIN * size).reshape(tuple(counts))
    if not cells.any():
        raise MeshError(f"no cell of {size:.3g} m lies inside the solid", remedy="give a smaller size, below its walls")
    return origin, cells


def _grid_points(origin: FloatArray, size: float, counts: NDArray[np.int64]) -> FloatArray:
    axes = [origin[c] + size * np.arange(counts[c]) for c in range(3)]
    return np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)


def without_loose_cells(cells: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Cells without those that hang on others by an edge or a corner only: such a hinge carries no moment."""
    from scipy import ndimage

    faces, count = ndimage.label(cells)
    touching, parts = ndimage.label(cells, np.ones((3, 3, 3)))
    if count == parts:
        return cells
    sizes = np.bincount(faces.ravel(), minlength=count + 1)
    part_of = np.zeros(count + 1, np.int64)
    part_of[faces[cells]] = touching[cells]
    keep = np.zeros(count + 1, bool)
    for part in range(1, parts + 1):
        members = np.flatnonzero(part_of == part)
        keep[members[sizes[members].argmax()]] = True
    kept: NDArray[np.bool_] = cells & keep[faces]
    warnings.warn(
        f"{int(cells.sum() - kept.sum())} of {int(cells.sum())} cells hang on others by an edge or a corner only and were "
        "left out; give a smaller size where the solid is thin",
        PliantWarning,
        stacklevel=4,
    )
    return kept


def warn_of_lost_volume(solid: Solid, volume: float, size: float) -> None:
    """Tell when the cells have another volume than the surface that they stand for."""
    if solid.surface is None:
        return
    error = volume / solid.surface.volume - 1.0
    if abs(error) > VOLUME_TOLERANCE:
        warnings.warn(
            f"the lattice's volume is off by {100 * error:+.1f} %; give a size smaller than {size:.3g} m, or one that "
            "divides the solid's edges",
            PliantWarning,
            stacklevel=4,
        )


def numbered(cells: NDArray[np.bool_]) -> tuple[IntArray, NDArray[np.int64], IntArray]:
    """Node of each point of the grid, -1 where there is none (flat, last axis fastest), grid place of every node
    (n, 3), and the corners (c, 8) of the cells."""
    shape = np.array(cells.shape) + 1
    lower = np.argwhere(cells)
    flat: NDArray[np.int64] = np.ravel_multi_index(
        tuple((lower[:, None, :] + CORNERS).transpose(2, 0, 1)), tuple(shape)
    )
    used = np.zeros(int(np.prod(shape)), bool)
    used[flat.ravel()] = True
    node_of = np.where(used, np.cumsum(used) - 1, -1).astype(np.int32)
    places: Any = np.unravel_index(np.flatnonzero(used), tuple(shape))
    return node_of, np.stack(places, axis=1), node_of[flat].astype(np.int32)
