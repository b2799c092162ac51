"""Compiled distances of points of a surface from other parts of the same surface (see `own_wall.OwnWall`)."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from math import sqrt

import numpy as np

from pliant.algebra.compiled import exact_kernel
from pliant.shape._facet_kernels import ON_EDGE, against, along, feature_normal, length, offset, place
from pliant.shape._tree_kernels import box_distance, closest_on_triangle

ALIKE = 0.2
"""Triangles whose normal has a larger product with that of the point than minus this do not look against it."""
IN_FRONT = 0.2
"""A place is in front of a point where the way to it is along the point's normal by this share of its length."""


@exact_kernel
def own_distances(
    points, own, reach, rest, rest_own, rest_corners, apart, deep, tiny, starts, lower, upper, corners, triangles, normals,
    around, begin, beside, distances, ways, found, shares
):  # fmt: skip
    """Of points (p, 3) with normals (p, 3), both at rest too: signed distances (p,) from the nearest place of the surface that
    looks against them and is not theirs at rest (`is_own`), no farther than reach (p,) in front of it and no deeper than `deep`
    behind; the way out (p, 3), the triangle (p,), weights of its corners (p, 3)."""
    stack = np.empty(64, np.int64)
    nobody, out = np.zeros(3), np.empty(3)
    leaves = len(starts) - 1
    for i in range(len(points)):
        found[i], distances[i] = -1, np.inf
        for c in range(3):
            ways[i, c], shares[i, c] = 0.0, 0.0
        best = max(reach[i], deep) ** 2
        px, py, pz = points[i, 0], points[i, 1], points[i, 2]
        stack[0] = 0
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            if box_distance(points, i, lower, upper, node) > best:
                continue
            leaf = node - (leaves - 1)
            if leaf < 0:
                stack[top], stack[top + 1] = 2 * node + 1, 2 * node + 2
                top += 2
                continue
            for k in range(starts[leaf], starts[leaf + 1]):
                if against(normals, k, own[i]) > -ALIKE:
                    continue
                s, r, squared = closest_on_triangle(px, py, pz, corners, k)
                if squared > best or (squared == best and found[i] >= 0):
                    continue
                if is_own(rest, rest_own, i, rest_corners, k, apart, deep):
                    continue
                if not is_lowest(points, i, own[i], k, s, r, squared, tiny, corners, triangles, normals, around, begin):
                    continue
                kind = feature_normal(k, s, r, nobody, corners, triangles, normals, around, begin, beside, out)
                size = max(length(out), 1e-300)
                high, far = offset(points, i, corners, k, s, r, out) / size, sqrt(squared)
                if far > (reach[i] if high >= 0.0 else deep):
                    continue
                if kind > 0 and far > tiny:
                    sign = 1.0 if high >= 0.0 else -1.0
                    for c in range(3):
                        out[c] = sign * (points[i, c] - place(corners, k, s, r, c)) / far
                    size, high = 1.0, sign * far
                elif kind > 0:
                    feature_normal(k, s, r, own[i], corners, triangles, normals, around, begin, beside, out)
                    size = max(length(out), 1e-300)
                    high = offset(points, i, corners, k, s, r, out) / size
                if along(out, own[i]) > 0.0:
                    continue
                best, found[i], distances[i] = squared, k, high
                shares[i, 0], shares[i, 1], shares[i, 2] = 1.0 - s - r, s, r
                for c in range(3):
                    ways[i, c] = out[c] / size


@exact_kernel
def is_own(rest, rest_own, i, rest_corners, k, apart, near):
    """Whether triangle k belongs to the same part as point i, by how they are at rest: closer than `near`, or closer than
    `apart` and not in front of it."""
    s, r, squared = closest_on_triangle(rest[i, 0], rest[i, 1], rest[i, 2], rest_corners, k)
    if squared >= apart * apart:
        return False
    ahead = 0.0
    for c in range(3):
        ahead += rest_own[i, c] * (place(rest_corners, k, s, r, c) - rest[i, c])
    return squared < near * near or ahead < IN_FRONT * sqrt(squared)


@exact_kernel
def is_lowest(points, i, own, k, s, r, squared, tiny, corners, triangles, normals, around, begin):
    """Whether no triangle around the place on triangle k with weights s, r of corners 1 and 2 is closer to point i than the
    place, at this squared distance: whether nothing is left of it where some of them are not looked at. Those that look as the
    point does, with normal `own`, do not count where it is behind them or closer to them than `tiny`: past a rim by as
    little, a point still touches the face that ends there."""
    weights = (1.0 - s - r, s, r)
    for a in range(3):
        if weights[a] < ON_EDGE:
            continue
        corner = triangles[k, a]
        for j in range(begin[corner], begin[corner + 1]):
            t = around[j]
            shared = True
            for b in range(3):
                if weights[b] >= ON_EDGE:
                    has = triangles[t, 0] == triangles[k, b] or triangles[t, 1] == triangles[k, b]
                    shared = shared and (has or triangles[t, 2] == triangles[k, b])
            if not shared or t == k:
                continue
            s2, r2, far2 = closest_on_triangle(points[i, 0], points[i, 1], points[i, 2], corners, t)
            if far2 >= (1.0 - 1e-9) * squared:
                continue
            past = squared <= tiny * tiny or offset(points, i, corners, t, s2, r2, normals[t]) < 0.0
            if not (past and against(normals, t, own) > -ALIKE):
                return False
        return True
    return True
