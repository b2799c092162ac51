"""Compiled searches in a tree of boxes (see `tree.BoxTree` for its layout)."""

from __future__ import annotations

from math import atan2, pi, sqrt
from typing import Any

import numpy as np

from pliant.algebra.compiled import exact_kernel


@exact_kernel
def box_distance(point: Any, i: int, lower: Any, upper: Any, k: int) -> float:
    """Squared distance of point i to box k."""
    total = 0.0
    for c in range(3):
        gap = max(lower[k, c] - point[i, c], point[i, c] - upper[k, c], 0.0)
        total += gap * gap
    return total


@exact_kernel
def closest_on_triangle(px: float, py: float, pz: float, t: Any, k: int) -> tuple[float, float, float]:
    """Barycentric weights (of corners 1 and 2) of the point of triangle k nearest to p, and the squared distance.

    The unconstrained minimum if it is inside, else the best of the three edges.
    """
    ax, ay, az = t[k, 0, 0], t[k, 0, 1], t[k, 0, 2]
    ux, uy, uz = t[k, 1, 0] - ax, t[k, 1, 1] - ay, t[k, 1, 2] - az
    vx, vy, vz = t[k, 2, 0] - ax, t[k, 2, 1] - ay, t[k, 2, 2] - az
    wx, wy, wz = px - ax, py - ay, pz - az
    uu = ux * ux + uy * uy + uz * uz
    uv = ux * vx + uy * vy + uz * vz
    vv = vx * vx + vy * vy + vz * vz
    uw = ux * wx + uy * wy + uz * wz
    vw = vx * wx + vy * wy + vz * wz
    det = uu * vv - uv * uv
    s, r = -1.0, -1.0
    if det > 0.0:
        s = (vv * uw - uv * vw) / det
        r = (uu * vw - uv * uw) / det
    if s < 0.0 or r < 0.0 or s + r > 1.0:
        best = 1e300
        bs, br = 0.0, 0.0
        for edge in range(3):
            if edge == 0:
                a = min(max(uw / uu if uu > 0.0 else 0.0, 0.0), 1.0)
                es, er = a, 0.0
            elif edge == 1:
                a = min(max(vw / vv if vv > 0.0 else 0.0, 0.0), 1.0)
                es, er = 0.0, a
            else:
                length = uu - 2.0 * uv + vv
                a = (vw - uw + uu - uv) / length if length > 0.0 else 0.0
                a = min(max(a, 0.0), 1.0)
                es, er = 1.0 - a, a
            dx = wx - es * ux - er * vx
            dy = wy - es * uy - er * vy
            dz = wz - es * uz - er * vz
            d = dx * dx + dy * dy + dz * dz
            if d < best:
                best, bs, br = d, es, er
        return bs, br, best
    dx = wx - s * ux - r * vx
    dy = wy - s * uy - r * vy
    dz = wz - s * uz - r * vz
    return s, r, dx * dx + dy * dy + dz * dz


@exact_kernel
def descend(points: Any, i: int, node: int, lower: Any, upper: Any, stack: Any, bound: Any, top: int) -> None:
    """Put both halves of a node on the stack, from `top` on, that which is nearer to point i last, so that it is looked at
    first; with their squared distances."""
    a, b = 2 * node + 1, 2 * node + 2
    da = box_distance(points, i, lower, upper, a)
    db = box_distance(points, i, lower, upper, b)
    if da < db:
        a, b = b, a
        da, db = db, da
    stack[top], bound[top] = a, da
    stack[top + 1], bound[top + 1] = b, db


@exact_kernel
def closest_on_triangles(
    points: Any, starts: Any, lower: Any, upper: Any, corners: Any, squared: Any, triangle: Any, place: Any
) -> None:
    """Nearest triangle (in tree order), squared distance and nearest point of each point."""
    leaves = len(starts) - 1
    stack = np.empty(64, dtype=np.int64)
    bound = np.empty(64, dtype=np.float64)
    for i in range(len(points)):
        best, which, bs, br = 1e300, 0, 0.0, 0.0
        px, py, pz = points[i, 0], points[i, 1], points[i, 2]
        stack[0] = 0
        bound[0] = 0.0
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            if bound[top] >= best:
                continue
            leaf = node - (leaves - 1)
            if leaf >= 0:
                for k in range(starts[leaf], starts[leaf + 1]):
                    s, r, d = closest_on_triangle(px, py, pz, corners, k)
                    if d < best:
                        best, which, bs, br = d, k, s, r
                continue
            descend(points, i, node, lower, upper, stack, bound, top)
            top += 2
        squared[i] = best
        triangle[i] = which
        for c in range(3):
            a0 = corners[which, 0, c]
            place[i, c] = a0 + bs * (corners[which, 1, c] - a0) + br * (corners[which, 2, c] - a0)


@exact_kernel
def solid_angle(px: float, py: float, pz: float, t: Any, k: int) -> float:
    """Signed solid angle of triangle k seen from p (van Oosterom and Strackee 1983)."""
    ax, ay, az = t[k, 0, 0] - px, t[k, 0, 1] - py, t[k, 0, 2] - pz
    bx, by, bz = t[k, 1, 0] - px, t[k, 1, 1] - py, t[k, 1, 2] - pz
    cx, cy, cz = t[k, 2, 0] - px, t[k, 2, 1] - py, t[k, 2, 2] - pz
    la = sqrt(ax * ax + ay * ay + az * az)
    lb = sqrt(bx * bx + by * by + bz * bz)
    lc = sqrt(cx * cx + cy * cy + cz * cz)
    det = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    ab = ax * bx + ay * by + az * bz
    bc = bx * cx + by * cy + bz * cz
    ca = cx * ax + cy * ay + cz * az
    return 2.0 * atan2(det, la * lb * lc + ab * lc + bc * la + ca * lb)


@exact_kernel
def winding_numbers(
    points: Any, starts: Any, corners: Any, centers: Any, normals: Any, radii: Any, number: Any
) -> None:
    """Generalized winding number of each point; a tree node farther than three radii counts as one dipole."""
    leaves = len(starts) - 1
    stack = np.empty(64, dtype=np.int64)
    for i in range(len(points)):
        px, py, pz = points[i, 0], points[i, 1], points[i, 2]
        total = 0.0
        stack[0] = 0
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            dx, dy, dz = centers[node, 0] - px, centers[node, 1] - py, centers[node, 2] - pz
            d2 = dx * dx + dy * dy + dz * dz
            if d2 > 9.0 * radii[node] * radii[node]:
                dot = normals[node, 0] * dx + normals[node, 1] * dy + normals[node, 2] * dz
                total += dot / (d2 * sqrt(d2))
                continue
            leaf = node - (leaves - 1)
            if leaf >= 0:
                for k in range(starts[leaf], starts[leaf + 1]):
                    total += solid_angle(px, py, pz, corners, k)
                continue
            stack[top] = 2 * node + 1
            stack[top + 1] = 2 * node + 2
            top += 2
        number[i] = total / (4.0 * pi)


@exact_kernel
def barycentric(px: float, py: float, pz: float, x: Any, tets: Any, t: int) -> tuple[float, float, float, float]:
    """Barycentric coordinates of p in tet t."""
    n0, n1, n2, n3 = tets[t, 0], tets[t, 1], tets[t, 2], tets[t, 3]
    ox, oy, oz = x[n0, 0], x[n0, 1], x[n0, 2]
    ax, ay, az = x[n1, 0] - ox, x[n1, 1] - oy, x[n1, 2] - oz
    bx, by, bz = x[n2, 0] - ox, x[n2, 1] - oy, x[n2, 2] - oz
    cx, cy, cz = x[n3, 0] - ox, x[n3, 1] - oy, x[n3, 2] - oz
    qx, qy, qz = px - ox, py - oy, pz - oz
    ux, uy, uz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    vx, vy, vz = cy * az - cz * ay, cz * ax - cx * az, cx * ay - cy * ax
    wx, wy, wz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    det = ax * ux + ay * uy + az * uz
    w1 = (qx * ux + qy * uy + qz * uz) / det
    w2 = (qx * vx + qy * vy + qz * vz) / det
    w3 = (qx * wx + qy * wy + qz * wz) / det
    return 1.0 - w1 - w2 - w3, w1, w2, w3


@exact_kernel
def containing_tets(
    points: Any, starts: Any, order: Any, lower: Any, upper: Any, x: Any, tets: Any, slack: float, found: Any
) -> None:
    """The tet that contains each point, -1 where none does; of several the one the point is deepest in.

    Weights down to -`slack` count as inside, so that no point is lost between two tets by rounding.
    """
    leaves = len(starts) - 1
    stack = np.empty(64, dtype=np.int64)
    for i in range(len(points)):
        px, py, pz = points[i, 0], points[i, 1], points[i, 2]
        depth, which = -slack, -1
        stack[0] = 0
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            if box_distance(points, i, lower, upper, node) > 0.0:
                continue
            leaf = node - (leaves - 1)
            if leaf < 0:
                stack[top] = 2 * node + 1
                stack[top + 1] = 2 * node + 2
                top += 2
                continue
            for k in range(starts[leaf], starts[leaf + 1]):
                w0, w1, w2, w3 = barycentric(px, py, pz, x, tets, order[k])
                least = min(min(w0, w1), min(w2, w3))
                if least >= depth:
                    depth, which = least, order[k]
        found[i] = which


@exact_kernel
def tet_weights(points: Any, x: Any, tets: Any, elements: Any, weights: Any) -> None:
    """Barycentric coordinates of each point in its element, negative where it is outside."""
    for i in range(len(points)):
        w0, w1, w2, w3 = barycentric(points[i, 0], points[i, 1], points[i, 2], x, tets, elements[i])
        weights[i, 0] = w0
        weights[i, 1] = w1
        weights[i, 2] = w2
        weights[i, 3] = w3
