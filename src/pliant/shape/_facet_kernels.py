"""Compiled signed distances from triangles that move, and what ways run into them first (see `facets.Facets`)."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from math import atan2, sqrt

import numpy as np

from pliant.algebra.compiled import exact_kernel
from pliant.shape._tree_kernels import box_distance, closest_on_triangle, descend

ON_EDGE = 1e-9
"""A barycentric coordinate below this is zero: the place is on an edge or at a corner."""
ALIKE = 0.2
"""Two surfaces whose normals have a larger product than this look the same way there: they do not touch."""


@exact_kernel
def fit(nodes, triangles, starts, lower, upper, corners, normals, node_areas):
    """Boxes lower, upper (k, 3) of a tree over triangles (t, 3) in its order, with nodes (n, 3) where they are; corners
    (t, 3, 3) and unit normals (t, 3) of the triangles; and of the nodes twice the area vectors around them, summed (n, 3)."""
    node_areas[:] = 0.0
    leaves = len(starts) - 1
    for leaf in range(leaves):
        node = leaves - 1 + leaf
        for c in range(3):
            lower[node, c], upper[node, c] = 1e300, -1e300
        for k in range(starts[leaf], starts[leaf + 1]):
            for a in range(3):
                for c in range(3):
                    value = nodes[triangles[k, a], c]
                    corners[k, a, c] = value
                    lower[node, c] = min(lower[node, c], value)
                    upper[node, c] = max(upper[node, c], value)
            add_normals(k, triangles, corners, normals, node_areas)
    for node in range(leaves - 2, -1, -1):
        for c in range(3):
            lower[node, c] = min(lower[2 * node + 1, c], lower[2 * node + 2, c])
            upper[node, c] = max(upper[2 * node + 1, c], upper[2 * node + 2, c])


@exact_kernel
def add_normals(k, triangles, corners, normals, node_areas):
    """The normal of triangle k, and its area vector on its corners."""
    ox, oy, oz = corners[k, 0, 0], corners[k, 0, 1], corners[k, 0, 2]
    ux, uy, uz = corners[k, 1, 0] - ox, corners[k, 1, 1] - oy, corners[k, 1, 2] - oz
    vx, vy, vz = corners[k, 2, 0] - ox, corners[k, 2, 1] - oy, corners[k, 2, 2] - oz
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    twice = sqrt(nx * nx + ny * ny + nz * nz)
    per = 1.0 / twice if twice > 0.0 else 0.0
    normals[k, 0], normals[k, 1], normals[k, 2] = per * nx, per * ny, per * nz
    for a in range(3):
        node_areas[triangles[k, a], 0] += nx
        node_areas[triangles[k, a], 1] += ny
        node_areas[triangles[k, a], 2] += nz


@exact_kernel
def angle_at(corners, k, a):
    """The angle of triangle k at its corner a [rad]."""
    b, d = (a + 1) % 3, (a + 2) % 3
    ox, oy, oz = corners[k, a, 0], corners[k, a, 1], corners[k, a, 2]
    ux, uy, uz = corners[k, b, 0] - ox, corners[k, b, 1] - oy, corners[k, b, 2] - oz
    vx, vy, vz = corners[k, d, 0] - ox, corners[k, d, 1] - oy, corners[k, d, 2] - oz
    nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
    return atan2(sqrt(nx * nx + ny * ny + nz * nz), ux * vx + uy * vy + uz * vz)


@exact_kernel
def nearest(points, i, facing, most, starts, lower, upper, corners, normals, stack, bound):
    """Triangle nearest to point i (-1: none), its weights of corners 1 and 2 there, and the squared distance; of those only
    whose normal has at most this product with `facing` (3,)."""
    leaves = len(starts) - 1
    best, which, bs, br = 1e300, -1, 0.0, 0.0
    px, py, pz = points[i, 0], points[i, 1], points[i, 2]
    stack[0], bound[0] = 0, 0.0
    top = 1
    while top > 0:
        top -= 1
        node = stack[top]
        if bound[top] >= best:
            continue
        leaf = node - (leaves - 1)
        if leaf >= 0:
            for k in range(starts[leaf], starts[leaf + 1]):
                alike = normals[k, 0] * facing[0] + normals[k, 1] * facing[1] + normals[k, 2] * facing[2]
                if alike > most:
                    continue
                s, r, d = closest_on_triangle(px, py, pz, corners, k)
                if d < best:
                    best, which, bs, br = d, k, s, r
            continue
        descend(points, i, node, lower, upper, stack, bound, top)
        top += 2
    return which, bs, br, best


@exact_kernel
def feature_normal(k, s, r, facing, corners, triangles, normals, around, begin, beside, out):
    """The normal of what a place on triangle k with weights s, r of corners 1 and 2 is on: a triangle, an edge or a corner,
    into `out` (3,); of any length. Returns 0 within a triangle, 1 on an edge or at a corner, 2 where the surface ends there.

    facing (3,), unless zero: of the triangles around the one that looks against it most, instead of their mean.
    """
    w0 = 1.0 - s - r
    z0, z1, z2 = w0 < ON_EDGE, s < ON_EDGE, r < ON_EDGE
    count = int(z0) + int(z1) + int(z2)
    if count == 0:
        for c in range(3):
            out[c] = normals[k, c]
        return 0
    chosen = facing[0] != 0.0 or facing[1] != 0.0 or facing[2] != 0.0
    if count == 1:
        other = beside[k, 0 if z0 else (1 if z1 else 2)]
        best = k
        if other >= 0 and chosen and against(normals, other, facing) < against(normals, k, facing):
            best = other
        for c in range(3):
            out[c] = normals[best, c]
            if other >= 0 and not chosen:
                out[c] += normals[other, c]
        return 1 if other >= 0 else 2
    corner = triangles[k, 0 if w0 > 0.5 else (1 if s > 0.5 else 2)]
    ends, best = False, k
    for j in range(begin[corner], begin[corner + 1]):
        t = around[j]
        for e in range(3):
            if triangles[t, e] != corner and beside[t, e] < 0:
                ends = True
        if chosen and against(normals, t, facing) < against(normals, best, facing):
            best = t
    for c in range(3):
        out[c] = normals[best, c] if chosen else 0.0
    if not chosen:
        for j in range(begin[corner], begin[corner + 1]):
            t = around[j]
            angle = angle_at(corners, t, 0 if triangles[t, 0] == corner else (1 if triangles[t, 1] == corner else 2))
            for c in range(3):
                out[c] += angle * normals[t, c]
    return 2 if ends else 1


@exact_kernel
def against(normals, k, facing):
    """The product of the normal of triangle k and `facing`."""
    return normals[k, 0] * facing[0] + normals[k, 1] * facing[1] + normals[k, 2] * facing[2]


@exact_kernel
def signed_distances(
    points, own, reach, tiny, starts, lower, upper, corners, triangles, normals, around, begin, beside,
    distances, ways, found, shares
):  # fmt: skip
    """Of points (p, 3) that may have a normal of their own (p, 3): signed distances (p,), the way out (p, 3), the triangle in
    the order of the tree (p,) and weights of its corners (p, 3).

    Points farther than reach (p,) from all of the surface are not looked at: infinite, -1. So are those outside on surfaces
    that look the same way as the one next to them; inside, and closer to it than `tiny`, the nearest place that does not look
    so is taken, where there is one.
    """
    stack = np.empty(64, np.int64)
    bound, nobody, out = np.empty(64), np.zeros(3), np.empty(3)
    for i in range(len(points)):
        found[i], distances[i] = -1, np.inf
        for c in range(3):
            ways[i, c], shares[i, c] = 0.0, 0.0
        if box_distance(points, i, lower, upper, 0) > reach[i] * reach[i]:
            continue
        k, s, r, squared = nearest(points, i, own[i], 2.0, starts, lower, upper, corners, normals, stack, bound)
        kind = feature_normal(k, s, r, nobody, corners, triangles, normals, around, begin, beside, out)
        outside = offset(points, i, corners, k, s, r, out) >= 0.0 or kind == 2
        alone = own[i, 0] == 0.0 and own[i, 1] == 0.0 and own[i, 2] == 0.0
        if not alone and (not outside or squared <= tiny * tiny) and along(out, own[i]) > -ALIKE * length(out):
            most = -ALIKE if squared <= tiny * tiny else ALIKE
            other, s2, r2, far2 = nearest(points, i, own[i], most, starts, lower, upper, corners, normals, stack, bound)
            if other >= 0 and (not outside or far2 <= tiny * tiny):
                k, s, r, squared = other, s2, r2, far2
                kind = feature_normal(k, s, r, own[i], corners, triangles, normals, around, begin, beside, out)
                outside = outside and offset(points, i, corners, k, s, r, out) >= 0.0
            elif not outside:
                continue
        far = sqrt(squared)
        found[i] = k
        shares[i, 0], shares[i, 1], shares[i, 2] = 1.0 - s - r, s, r
        if kind > 0 and far > (1e-6 * tiny if alone else tiny):
            sign = 1.0 if outside else -1.0
            distances[i] = sign * far
            for c in range(3):
                ways[i, c] = sign * (points[i, c] - place(corners, k, s, r, c)) / far
        else:
            if kind > 0:
                feature_normal(k, s, r, own[i], corners, triangles, normals, around, begin, beside, out)
            per = 1.0 / max(length(out), 1e-300)
            for c in range(3):
                ways[i, c] = per * out[c]
            distances[i] = per * offset(points, i, corners, k, s, r, out)
        if outside and along(ways[i], own[i]) > ALIKE:
            found[i], distances[i] = -1, np.inf


@exact_kernel
def place(corners, k, s, r, c):
    """Coordinate c of the place with weights s, r of corners 1 and 2 on triangle k."""
    return corners[k, 0, c] + s * (corners[k, 1, c] - corners[k, 0, c]) + r * (corners[k, 2, c] - corners[k, 0, c])


@exact_kernel
def offset(points, i, corners, k, s, r, normal):
    """normal . (point i - place on triangle k)."""
    total = 0.0
    for c in range(3):
        total += normal[c] * (points[i, c] - place(corners, k, s, r, c))
    return total


@exact_kernel
def along(a, b):
    """a . b."""
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@exact_kernel
def length(a):
    """|a|."""
    return sqrt(a[0] * a[0] + a[1] * a[1] + a[2] * a[2])


@exact_kernel
def first_crossings(points, steps, which, starts, lower, upper, corners, normals, found, shares):
    """Of the points numbered `which` (q,) that go by steps (p, 3): the triangle that they run into first, from the front
    (q,), -1: none, and weights of its corners where (q, 3)."""
    stack = np.empty(64, np.int64)
    leaves = len(starts) - 1
    for j in range(len(which)):
        i = which[j]
        found[j], first = -1, 1.0
        stack[0] = 0
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            if not passes(points, steps, i, lower, upper, node, first):
                continue
            leaf = node - (leaves - 1)
            if leaf < 0:
                stack[top], stack[top + 1] = 2 * node + 1, 2 * node + 2
                top += 2
                continue
            for k in range(starts[leaf], starts[leaf + 1]):
                t, s, r = run_into(points, steps, i, corners, normals, k)
                if 0.0 <= t < first:
                    first, found[j] = t, k
                    shares[j, 0], shares[j, 1], shares[j, 2] = 1.0 - s - r, s, r


@exact_kernel
def passes(points, steps, i, lower, upper, node, most):
    """Whether point i on its step, as far as the share `most` of it, comes into a box."""
    first, last = 0.0, most
    for c in range(3):
        p, d = points[i, c], steps[i, c]
        if d == 0.0:
            if p < lower[node, c] or p > upper[node, c]:
                return False
            continue
        a, b = (lower[node, c] - p) / d, (upper[node, c] - p) / d
        first, last = max(first, min(a, b)), min(last, max(a, b))
    return first <= last


@exact_kernel
def run_into(points, steps, i, corners, normals, k):
    """The share of its step after which point i is on triangle k (-1: never, or from behind), and weights of corners 1, 2."""
    speed = against(normals, k, steps[i])
    if speed >= 0.0:
        return -1.0, 0.0, 0.0
    high = 0.0
    for c in range(3):
        high += normals[k, c] * (points[i, c] - corners[k, 0, c])
    t = -high / speed
    if t < 0.0 or t > 1.0:
        return -1.0, 0.0, 0.0
    uu, uv, vv, uw, vw = 0.0, 0.0, 0.0, 0.0, 0.0
    for c in range(3):
        u, v = corners[k, 1, c] - corners[k, 0, c], corners[k, 2, c] - corners[k, 0, c]
        w = points[i, c] + t * steps[i, c] - corners[k, 0, c]
        uu, uv, vv, uw, vw = uu + u * u, uv + u * v, vv + v * v, uw + u * w, vw + v * w
    det = uu * vv - uv * uv
    if det <= 0.0:
        return -1.0, 0.0, 0.0
    s, r = (vv * uw - uv * vw) / det, (uu * vw - uv * uw) / det
    if s < -ON_EDGE or r < -ON_EDGE or s + r > 1.0 + ON_EDGE:
        return -1.0, 0.0, 0.0
    return t, s, r
