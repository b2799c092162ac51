"""Mitchell's best candidate: points that keep away from each other.

Of many random candidates the one that is farthest from the points so far becomes the next point (Mitchell 1991; clay2021
takes 100 candidates and the distances to the k nearest). A grid of buckets finds the neighbours, so that the cost grows in
proportion to the number of points.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pliant.shape import _best_candidate_kernels as kernels
from pliant.shape.topology import FloatArray

MOST_AT_ONCE = 2048
"""Points placed with one grid; between the grids its cells shrink with the spacing."""
MOST_BUCKETS = 4_000_000


def best_candidates(
    existing: FloatArray,
    draw: Callable[[int], FloatArray],
    count: int,
    spacing: float,
    dimension: int,
    *,
    candidates: int = 100,
    neighbours: int = 1,
    closest: float = 0.0,
) -> FloatArray:
    """The points `existing` [n, 3] and up to `count` new ones [m], each the best of so many candidates.

    draw(k): k random points of the shape to fill, of a dimension (a curve 1, a surface 2, a volume 3), which is to end with
    about this `spacing` [m]. neighbours: how many nearest points a candidate's mean distance is taken to. closest: where
    the best candidate is nearer than that [m], the shape counts as full.
    """
    first = len(existing)
    points = np.empty((first + count, 3))
    points[:first] = existing
    placed = first
    while placed < len(points):
        batch = min(max(placed - first, 8), MOST_AT_ONCE, len(points) - placed)
        drawn = draw(batch * candidates).reshape(batch, candidates, 3)
        # the distance between points so far, when they are spread evenly
        now = spacing * (count / (placed - first + 0.5 * batch)) ** (1.0 / dimension)
        low = np.minimum(drawn.min(axis=(0, 1)), points[:placed].min(axis=0, initial=np.inf))
        high = np.maximum(drawn.max(axis=(0, 1)), points[:placed].max(axis=0, initial=-np.inf))
        cell = max(now, float(np.prod(np.maximum(high - low, now)) / MOST_BUCKETS) ** (1 / 3))
        shape = np.maximum(np.ceil((high - low) / cell), 1).astype(np.int64)
        before = placed
        placed = int(kernels.place_best(points, placed, drawn, neighbours, closest, low, cell, shape))
        if placed < before + batch:
            break
    return points[:placed]
