"""Whether a surface passes through itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from pliant.shape import _crossing_kernels as kernels

if TYPE_CHECKING:
    from pliant.shape.surface import SurfaceMesh

TOLERANCE = 1e-7
"""An edge must come out on the other side of a triangle by this share of the sizes involved to count as crossing."""


def first_crossing(surface: SurfaceMesh) -> tuple[int, int] | None:
    """Two triangles of which an edge of one pierces the inside of the other; None if there are none.

    Pairs whose boxes overlap come from the search tree. Triangles that share a corner are compared without the edges
    at that corner, those that share an edge are neighbours and cannot cross. Touching and coplanar overlap are not
    crossings: `fill` finds overlapping solids by their winding number.
    """
    tree = surface.tree
    ids = np.ascontiguousarray(surface.triangles[tree.tree.order].astype(np.int64))
    pair = np.full(2, -1, dtype=np.int64)
    kernels.find_crossing(tree.tree.starts, tree.tree.lower, tree.tree.upper, tree.corners, ids, TOLERANCE, pair)
    if pair[0] < 0:
        return None
    first, second = sorted(int(tree.tree.order[k]) for k in pair)
    return first, second
