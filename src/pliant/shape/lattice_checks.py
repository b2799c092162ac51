"""What a lattice must be before it can be a body."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING

import numpy as np

from pliant.errors import DisconnectedMeshError, InputError, MeshError, PliantWarning
from pliant.shape.mesh import some

if TYPE_CHECKING:
    from pliant.shape.lattice import Lattice


def require_good_springs(lattice: Lattice) -> None:
    """Springs in order, each once, none without length, and every point at one."""
    keys = lattice.springs[:, 0].astype(np.int64) * len(lattice.points) + lattice.springs[:, 1]
    wrong = np.flatnonzero((np.diff(keys, prepend=-1) <= 0) | (lattice.springs[:, 0] > lattice.springs[:, 1]))
    if len(wrong):
        raise MeshError(
            f"spring {wrong[0]} {lattice.springs[wrong[0]].tolist()} is out of order or there twice",
            remedy="give each pair once, the lower point first, sorted: numpy.unique(numpy.sort(pairs, 1), axis=0)",
            springs=wrong,
        )
    short = np.flatnonzero(lattice.lengths <= 1e-12 * lattice.diameter)
    if len(short):
        a, b = lattice.springs[short[0]]
        raise MeshError(
            f"spring {short[0]} between points {a} and {b} has length {lattice.lengths[short[0]]:.3g} m "
            f"({len(short)} such springs)",
            remedy="join points that coincide, or leave the spring out",
            springs=short,
        )
    loose = np.flatnonzero(np.bincount(lattice.springs.ravel(), minlength=len(lattice.points)) == 0)
    if len(loose):
        raise DisconnectedMeshError(
            f"points {some(loose)} have no spring", remedy="leave them out, or join them to others", points=loose
        )


def require_matrices(lattice: Lattice) -> None:
    """Shares and labels that fit the springs, points and cells, none negative."""
    m, n, c = len(lattice.springs), len(lattice.points), len(lattice.cells)
    wanted = {"stiffness_shares": (m, c), "volume_shares": (n, c), "labels": (c,)}
    for name, shape in wanted.items():
        if getattr(lattice, name).shape != shape:
            raise InputError(f"{name} has shape {getattr(lattice, name).shape}", remedy=f"give shape {shape}")
    for name in ("stiffness_shares", "volume_shares"):
        values = getattr(lattice, name).data
        if not (np.isfinite(values).all() and (values >= 0).all()):
            raise InputError(f"{name} has the entry {values.min()}", remedy="give finite entries >= 0")


def warn_of_parts(lattice: Lattice) -> None:
    """Tell when not all points hang together."""
    parts = np.bincount(lattice.connected_parts())
    if len(parts) > 1:
        warnings.warn(
            f"the lattice falls into {len(parts)} parts of {some(parts)} points; "
            "hold each of them, or give a smaller cell size",
            PliantWarning,
            stacklevel=6,
        )
