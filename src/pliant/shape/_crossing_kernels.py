"""Compiled search for triangles that pass through each other."""

from __future__ import annotations

from math import sqrt
from typing import Any

import numpy as np

from pliant.algebra.compiled import exact_kernel


@exact_kernel
def signed_volume(t: Any, k: int, px: float, py: float, pz: float) -> float:
    """Six times the volume of the tet that triangle k spans with p; its sign says on which side p is."""
    ax, ay, az = t[k, 0, 0] - px, t[k, 0, 1] - py, t[k, 0, 2] - pz
    bx, by, bz = t[k, 1, 0] - px, t[k, 1, 1] - py, t[k, 1, 2] - pz
    cx, cy, cz = t[k, 2, 0] - px, t[k, 2, 1] - py, t[k, 2, 2] - pz
    volume: float = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    return volume


@exact_kernel
def edge_pierces(t: Any, i: int, edge: int, k: int, tolerance: float) -> bool:
    """Whether an edge of triangle i passes properly through the inside of triangle k.

    The edge's ends are on different sides of the plane, and the line through them has all three edges of the triangle
    on the same side. Each test is a volume, compared with `tolerance` times the lengths cubed.
    """
    a, b = edge, (edge + 1) % 3
    px, py, pz = t[i, a, 0], t[i, a, 1], t[i, a, 2]
    qx, qy, qz = t[i, b, 0], t[i, b, 1], t[i, b, 2]
    dx, dy, dz = qx - px, qy - py, qz - pz
    ux, uy, uz = t[k, 1, 0] - t[k, 0, 0], t[k, 1, 1] - t[k, 0, 1], t[k, 1, 2] - t[k, 0, 2]
    vx, vy, vz = t[k, 2, 0] - t[k, 0, 0], t[k, 2, 1] - t[k, 0, 1], t[k, 2, 2] - t[k, 0, 2]
    longest = sqrt(max(ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz))
    length = sqrt(dx * dx + dy * dy + dz * dz)
    plane_slack = tolerance * longest * longest * max(length, longest)
    sp = signed_volume(t, k, px, py, pz)
    sq = signed_volume(t, k, qx, qy, qz)
    if not ((sp > plane_slack and sq < -plane_slack) or (sp < -plane_slack and sq > plane_slack)):
        return False
    slack = tolerance * length * longest * max(length, longest)
    positive, negative = 0, 0
    for c in range(3):
        e = (c + 1) % 3
        ax, ay, az = t[k, c, 0] - px, t[k, c, 1] - py, t[k, c, 2] - pz
        bx, by, bz = t[k, e, 0] - px, t[k, e, 1] - py, t[k, e, 2] - pz
        side = dx * (ay * bz - az * by) + dy * (az * bx - ax * bz) + dz * (ax * by - ay * bx)
        if side > slack:
            positive += 1
        elif side < -slack:
            negative += 1
    return positive == 3 or negative == 3


@exact_kernel
def triangles_cross(t: Any, ids: Any, i: int, k: int, tolerance: float) -> bool:
    """Whether an edge of one pierces the other, edges that end in a shared corner left out."""
    shared = 0
    for a in range(3):
        for b in range(3):
            if ids[i, a] == ids[k, b]:
                shared += 1
    if shared >= 2:
        return False
    for edge in range(3):
        a, b = edge, (edge + 1) % 3
        free_i, free_k = True, True
        for c in range(3):
            if ids[i, a] == ids[k, c] or ids[i, b] == ids[k, c]:
                free_i = False
            if ids[k, a] == ids[i, c] or ids[k, b] == ids[i, c]:
                free_k = False
        if free_i and edge_pierces(t, i, edge, k, tolerance):
            return True
        if free_k and edge_pierces(t, k, edge, i, tolerance):
            return True
    return False


@exact_kernel
def find_crossing(starts: Any, lower: Any, upper: Any, corners: Any, ids: Any, tolerance: float, pair: Any) -> None:
    """Put the first crossing pair (in tree order) into `pair`, or leave it."""
    leaves = len(starts) - 1
    stack = np.empty(64, dtype=np.int64)
    low = np.empty(3)
    high = np.empty(3)
    for i in range(len(corners)):
        for c in range(3):
            low[c] = min(corners[i, 0, c], corners[i, 1, c], corners[i, 2, c])
            high[c] = max(corners[i, 0, c], corners[i, 1, c], corners[i, 2, c])
        stack[0] = 0
        top = 1
        while top > 0:
            top -= 1
            node = stack[top]
            apart = False
            for c in range(3):
                if lower[node, c] > high[c] or upper[node, c] < low[c]:
                    apart = True
            if apart:
                continue
            leaf = node - (leaves - 1)
            if leaf < 0:
                stack[top] = 2 * node + 1
                stack[top + 1] = 2 * node + 2
                top += 2
                continue
            for k in range(max(starts[leaf], i + 1), starts[leaf + 1]):
                if triangles_cross(corners, ids, i, k, tolerance):
                    pair[0] = i
                    pair[1] = k
                    return
