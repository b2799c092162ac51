"""Compiled search of the best candidate among points in a grid of buckets."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from math import sqrt

import numpy as np

from pliant.algebra.compiled import exact_kernel


@exact_kernel
def bucket(point, origin, cell, shape):
    """Bucket of a point along each axis; points outside belong to the last one."""
    x = min(max(int((point[0] - origin[0]) / cell), 0), shape[0] - 1)
    y = min(max(int((point[1] - origin[1]) / cell), 0), shape[1] - 1)
    z = min(max(int((point[2] - origin[2]) / cell), 0), shape[2] - 1)
    return x, y, z


@exact_kernel
def score(point, points, heads, following, origin, cell, shape, nearest, best):
    """Mean distance [m] of a point to its nearest neighbours, as many as `nearest` has room for; or something not above
    `best` as soon as it is known not to be above it.

    Buckets are searched in shells: outside the first r shells every point is at least r cells away.
    """
    k = nearest.shape[0]
    found = 0
    bx, by, bz = bucket(point, origin, cell, shape)
    most = max(shape[0], shape[1], shape[2])
    for r in range(most + 1):
        for x in range(max(bx - r, 0), min(bx + r, shape[0] - 1) + 1):
            for y in range(max(by - r, 0), min(by + r, shape[1] - 1) + 1):
                flat = abs(x - bx) == r or abs(y - by) == r
                step = 1 if flat or r == 0 else 2 * r
                for z in range(bz - r, bz + r + 1, step):
                    if z < 0 or z >= shape[2]:
                        continue
                    p = heads[(x * shape[1] + y) * shape[2] + z]
                    while p >= 0:
                        d = (
                            (points[p, 0] - point[0]) ** 2
                            + (points[p, 1] - point[1]) ** 2
                            + (points[p, 2] - point[2]) ** 2
                        )
                        if found < k or d < nearest[found - 1]:
                            spot = found if found < k else k - 1
                            found = min(found + 1, k)
                            while spot > 0 and nearest[spot - 1] > d:
                                nearest[spot] = nearest[spot - 1]
                                spot -= 1
                            nearest[spot] = d
                        p = following[p]
        if found == k:
            total = 0.0
            for i in range(k):
                total += sqrt(nearest[i])
            if total <= best * k or nearest[k - 1] <= (r * cell) ** 2:
                return total / k
    total = 0.0
    for i in range(found):
        total += sqrt(nearest[i])
    return total / max(found, 1)


@exact_kernel
def insert(points, p, heads, following, origin, cell, shape):
    """Put point p into its bucket."""
    x, y, z = bucket(points[p], origin, cell, shape)
    b = (x * shape[1] + y) * shape[2] + z
    following[p] = heads[b]
    heads[b] = p


@exact_kernel
def place_best(points, count, drawn, neighbours, closest, origin, cell, shape):
    """Add to the first `count` of points [n, 3] the best of each group of candidates `drawn` [t, c, 3]; returns how many
    there are then. Stops early when the best candidate is nearer than `closest` [m] to a point on average."""
    heads = np.full(shape[0] * shape[1] * shape[2], -1, dtype=np.int64)
    following = np.full(points.shape[0], -1, dtype=np.int64)
    for p in range(count):
        insert(points, p, heads, following, origin, cell, shape)
    for t in range(drawn.shape[0]):
        nearest = np.empty(min(neighbours, max(count, 1)))
        best, which = -1.0, 0
        for c in range(drawn.shape[1]):
            value = score(drawn[t, c], points, heads, following, origin, cell, shape, nearest, best)
            if value > best:
                best, which = value, c
        if count > 0 and best < closest:
            break
        for axis in range(3):
            points[count, axis] = drawn[t, which, axis]
        insert(points, count, heads, following, origin, cell, shape)
        count += 1
    return count
