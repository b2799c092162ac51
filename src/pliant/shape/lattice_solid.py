"""What a lattice is cut from: a closed surface, a tet mesh, or any function that tells inside from outside."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import InputError, SurfaceError
from pliant.shape.select import as_region
from pliant.shape.surface import SurfaceMesh
from pliant.shape.tetmesh import TetMesh
from pliant.shape.topology import FloatArray

PARTS = 64
"""Boxes along the longest side of a solid whose side of the surface is found once."""
MANY = 100_000
"""Points from which on it pays to find that out."""

SolidLike: TypeAlias = "SurfaceMesh | TetMesh | Callable[[FloatArray], Any]"
"""A closed surface, a tet mesh, or a function (or `Region`) points (n, 3) [m] -> bool (n,)."""


class Side(IntEnum):
    """Where a box of space lies."""

    OUTSIDE = 0
    INSIDE = 1
    UNKNOWN = 2


@dataclass(frozen=True, eq=False)
class Boxes:
    """Space around a solid in boxes that are wholly inside, wholly outside, or to be asked about point by point."""

    origin: FloatArray
    size: float
    sides: NDArray[np.int8]
    """A `Side` per box, 3-D."""

    def side(self, points: FloatArray) -> NDArray[np.int8]:
        """The side of points (n, 3) [m]; outside where there is no box."""
        place = np.floor((points - self.origin) / self.size).astype(np.int64)
        there = ((place >= 0) & (place < self.sides.shape)).all(axis=1)
        side = np.zeros(len(points), np.int8)
        side[there] = self.sides[tuple(place[there].T)]
        return side

    def middles(self, sides: NDArray[np.bool_]) -> FloatArray:
        """Middles [m] of the chosen boxes (3-D mask), (k, 3)."""
        return np.asarray(self.origin + self.size * (np.argwhere(sides) + 0.5))


@dataclass(frozen=True, eq=False)
class Solid:
    """A volume in space: its box, which points are inside, and its surface where that is known."""

    bounds: FloatArray
    """Lower and upper corner [m], (2, 3)."""
    surface: SurfaceMesh | None
    region: Callable[[FloatArray], NDArray[np.bool_]]
    """Which points are inside, asked one by one."""

    @property
    def extent(self) -> FloatArray:
        """Edges of the box [m], (3,)."""
        return np.asarray(self.bounds[1] - self.bounds[0])

    @cached_property
    def boxes(self) -> Boxes:
        """The box in parts. Of a surface: a part whose middle is farther from it than its corners are is on one side."""
        size = float(self.extent.max()) / PARTS
        counts = np.floor(self.extent / size).astype(np.int64) + 1
        sides = np.full(tuple(counts), Side.UNKNOWN, np.int8)
        boxes = Boxes(self.bounds.mean(axis=0) - counts * size / 2, size, sides)
        if self.surface is not None:
            middles = boxes.middles(np.ones(sides.shape, bool))
            sure = self.surface.tree.closest(middles)[0] > 0.51 * np.sqrt(3) * size
            sides.reshape(-1)[sure] = self.region(middles[sure])
        return boxes

    def inside(self, points: FloatArray) -> NDArray[np.bool_]:
        """Which points (n, 3) [m] are inside."""
        if self.surface is None or len(points) < MANY:
            return self.region(points)
        side = self.boxes.side(points)
        unknown = np.flatnonzero(side == Side.UNKNOWN)
        within: NDArray[np.bool_] = side == Side.INSIDE
        within[unknown] = self.region(points[unknown])
        return within

    def inside_or_on(self, points: FloatArray, tolerance: float) -> NDArray[np.bool_]:
        """Which points (n, 3) [m] are inside, or nearer to the surface, where that is known, than a tolerance [m]."""
        found = self.inside(points)
        if self.surface is not None:
            doubtful = np.flatnonzero(~found)
            if len(points) >= MANY:
                doubtful = doubtful[self.boxes.side(points[doubtful]) == Side.UNKNOWN]
            found[doubtful] = self.surface.tree.closest(points[doubtful])[0] < tolerance
        return found


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
