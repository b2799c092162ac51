"""Compiled: edges of two surfaces that cross (see `edges.EdgeWay`)."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from math import sqrt

from pliant.algebra.compiled import exact_kernel

PARALLEL = 0.05
"""Edges whose directions have a smaller sine than this run along each other: their ends tell all."""
WITHIN = 1e-6
"""As a share of an edge, how far from its ends a place is to be on it."""


@exact_kernel
def crossing_edges(a, into_a, step_a, b, into_b, step_b, close, ahead, edge, chosen, where, gaps, normals):
    """Pairs of edges a (m, 2, 3), b (k, 2, 3) [m] that are about to cross: numbers chosen (most, 2), shares where (most, 2) of
    the ways along them, gaps (most,) and normals (most, 3) out of b; returns how many there are, as far as there is room.

    into_a, into_b (., 2, 3): from the edge into the two triangles beside it, across it. A normal belongs to a pair where it
    leads out of all four (the normal cones of both edges have it in common). step_a, step_b (., 2, 3): where the ends go.
    """
    count = 0
    for i in range(len(a)):
        for j in range(len(b)):
            if count == len(chosen):
                return count
            apart = False
            for c in range(3):
                low = min(a[i, 0, c], a[i, 1, c]) - max(b[j, 0, c], b[j, 1, c])
                high = min(b[j, 0, c], b[j, 1, c]) - max(a[i, 0, c], a[i, 1, c])
                apart = apart or low > edge or high > edge
            if apart:
                continue
            ux, uy, uz = a[i, 1, 0] - a[i, 0, 0], a[i, 1, 1] - a[i, 0, 1], a[i, 1, 2] - a[i, 0, 2]
            vx, vy, vz = b[j, 1, 0] - b[j, 0, 0], b[j, 1, 1] - b[j, 0, 1], b[j, 1, 2] - b[j, 0, 2]
            nx, ny, nz = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
            uu, vv, nn = ux * ux + uy * uy + uz * uz, vx * vx + vy * vy + vz * vz, nx * nx + ny * ny + nz * nz
            if nn <= PARALLEL * PARALLEL * uu * vv:
                continue
            per = 1.0 / sqrt(nn)
            nx, ny, nz = per * nx, per * ny, per * nz
            sign = out_of_both(nx, ny, nz, into_a, i, into_b, j)
            if sign == 0.0:
                continue
            nx, ny, nz = sign * nx, sign * ny, sign * nz
            wx, wy, wz = a[i, 0, 0] - b[j, 0, 0], a[i, 0, 1] - b[j, 0, 1], a[i, 0, 2] - b[j, 0, 2]
            uv, uw, vw = ux * vx + uy * vy + uz * vz, ux * wx + uy * wy + uz * wz, vx * wx + vy * wy + vz * wz
            det = uu * vv - uv * uv
            s, t = (uv * vw - vv * uw) / det, (uu * vw - uv * uw) / det
            if s < WITHIN or s > 1.0 - WITHIN or t < WITHIN or t > 1.0 - WITHIN:
                continue
            gap = nx * wx + ny * wy + nz * wz
            if gap > edge or gap < -edge:
                continue
            approach = 0.0
            for c in range(3):
                n = nx if c == 0 else (ny if c == 1 else nz)
                approach += n * ((1.0 - s) * step_a[i, 0, c] + s * step_a[i, 1, c])
                approach -= n * ((1.0 - t) * step_b[j, 0, c] + t * step_b[j, 1, c])
            if gap + ahead * min(approach, 0.0) > close:
                continue
            chosen[count, 0], chosen[count, 1], where[count, 0], where[count, 1], gaps[count] = i, j, s, t, gap
            normals[count, 0], normals[count, 1], normals[count, 2] = nx, ny, nz
            count += 1
    return count


@exact_kernel
def out_of_both(nx, ny, nz, into_a, i, into_b, j):
    """1 where n leads out of edge j and -n out of edge i, -1 where it is the other way round, 0 where neither."""
    out, back = True, True
    for k in range(2):
        p = nx * into_a[i, k, 0] + ny * into_a[i, k, 1] + nz * into_a[i, k, 2]
        q = nx * into_b[j, k, 0] + ny * into_b[j, k, 1] + nz * into_b[j, k, 2]
        out = out and p >= 0.0 and q <= 0.0
        back = back and p <= 0.0 and q >= 0.0
    return 1.0 if out else (-1.0 if back else 0.0)
