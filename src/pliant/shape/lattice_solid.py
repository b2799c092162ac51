"""What a lattice is cut from: a closed surface, a tet mesh, or any function that tells inside from outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import InputError, SurfaceError
from pliant.shape.select import as_region
from pliant.shape.surface import SurfaceMesh
from pliant.shape.tetmesh import TetMesh
from pliant.shape.topology import FloatArray

SolidLike: TypeAlias = "SurfaceMesh | TetMesh | Callable[[FloatArray], Any]"
"""A closed surface, a tet mesh, or a function (or `Region`) points (n, 3) [m] -> bool (n,)."""


@dataclass(frozen=True, eq=False)
class Solid:
    """A volume in space: its box, which points are inside, and its surface where that is known."""

    bounds: FloatArray
    """Lower and upper corner [m], (2, 3)."""
    surface: SurfaceMesh | None
    inside: Callable[[FloatArray], NDArray[np.bool_]]

    @property
    def extent(self) -> FloatArray:
        """Edges of the box [m], (3,)."""
        return np.asarray(self.bounds[1] - self.bounds[0])


def as_solid(solid: SolidLike, bounds: ArrayLike | None = None) -> Solid:
    """What the user gave as a `Solid`.

    bounds (2, 3) [m]: the box that a function is to be asked in; a function may bring its own as an attribute `bounds`.
    """
    if isinstance(solid, TetMesh):
        solid = solid.surface()
    if isinstance(solid, SurfaceMesh):
        surface = solid.require_closed()
        if surface.volume <= 0.0:
            raise SurfaceError(
                f"the surface encloses {surface.volume:.3g} m^3: it is inside out", remedy="turn it with oriented()"
            )
        return Solid(surface.bounds, surface, lambda points: inside_surface(surface, points))
    region = as_region(solid)
    box = np.asarray(getattr(solid, "bounds", None) if bounds is None else bounds, dtype=object)
    try:
        corners = box.astype(np.float64)
    except (TypeError, ValueError):
        corners = np.empty(0)
    if corners.shape != (2, 3) or not np.isfinite(corners).all() or not (corners[0] < corners[1]).all():
        raise InputError(
            f"bounds are {bounds!r}", remedy="give the lower and the upper corner of a box around the solid [m]"
        )
    return Solid(corners, None, region)


def inside_surface(surface: SurfaceMesh, points: FloatArray) -> NDArray[np.bool_]:
    """Which points (n, 3) [m] a closed surface encloses; cavities are outside."""
    return surface.tree.winding(points) > 0.5
