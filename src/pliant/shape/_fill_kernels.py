"""Compiled loops of the filler: warping lattice points, and moving nodes without spoiling the tets around them."""

from __future__ import annotations

from math import sqrt
from typing import Any

from pliant.algebra.compiled import exact_kernel


@exact_kernel
def warp(points: Any, sign: Any, edges: Any, reach: Any, place: Any, starts: Any, ids: Any, alive: Any) -> None:
    """Move each lattice point that has a cut too near onto the relatively nearest one; its cuts are then gone.

    One point after the other, since a point that has moved onto the surface takes the cuts of its edges along.
    """
    for p in range(len(points)):
        best, which = 1.0, -1
        for s in range(starts[p], starts[p + 1]):
            e = ids[s]
            if not alive[e]:
                continue
            a, b = edges[e, 0], edges[e, 1]
            length, near = 0.0, 0.0
            for c in range(3):
                length += (points[a, c] - points[b, c]) ** 2
                near += (points[p, c] - place[e, c]) ** 2
            share = sqrt(near / length) / reach[e]
            if share < best - 1e-9:  # of equally near ones the first, however they are rounded
                best, which = share, e
        if which >= 0:
            for c in range(3):
                points[p, c] = place[which, c]
            sign[p] = 0
            for s in range(starts[p], starts[p + 1]):
                alive[ids[s]] = False


@exact_kernel
def sine_quality(x: Any, tets: Any, t: int, short: float) -> float:
    """Smallest sine of the six dihedral angles of tet t, negative when it is inverted; 0.943 when regular.

    Tets with an edge below `short` [m] are marked down in proportion, so that nodes do not huddle together.

    sin = 6 V l / (|N_k| |N_l|) with N the doubled area vectors of the faces that meet in the edge of length l.
    """
    n0, n1, n2, n3 = tets[t, 0], tets[t, 1], tets[t, 2], tets[t, 3]
    ax, ay, az = x[n1, 0] - x[n0, 0], x[n1, 1] - x[n0, 1], x[n1, 2] - x[n0, 2]
    bx, by, bz = x[n2, 0] - x[n0, 0], x[n2, 1] - x[n0, 1], x[n2, 2] - x[n0, 2]
    cx, cy, cz = x[n3, 0] - x[n0, 0], x[n3, 1] - x[n0, 1], x[n3, 2] - x[n0, 2]
    # Area vectors of the faces opposite to corners 1, 2, 3 and, their negative sum, 0.
    ux, uy, uz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    vx, vy, vz = cy * az - cz * ay, cz * ax - cx * az, cx * ay - cy * ax
    wx, wy, wz = ay * bz - az * by, az * bx - ax * bz, ax * by - ay * bx
    rx, ry, rz = ux + vx + wx, uy + vy + wy, uz + vz + wz
    volume = ax * ux + ay * uy + az * uz
    l0, l1 = sqrt(rx * rx + ry * ry + rz * rz), sqrt(ux * ux + uy * uy + uz * uz)
    l2, l3 = sqrt(vx * vx + vy * vy + vz * vz), sqrt(wx * wx + wy * wy + wz * wz)
    e01, e02, e03 = (
        sqrt(ax * ax + ay * ay + az * az),
        sqrt(bx * bx + by * by + bz * bz),
        sqrt(cx * cx + cy * cy + cz * cz),
    )
    e12 = sqrt((bx - ax) ** 2 + (by - ay) ** 2 + (bz - az) ** 2)
    e13 = sqrt((cx - ax) ** 2 + (cy - ay) ** 2 + (cz - az) ** 2)
    e23 = sqrt((cx - bx) ** 2 + (cy - by) ** 2 + (cz - bz) ** 2)
    small = 1e-300
    s = min(e01 / (l2 * l3 + small), e02 / (l1 * l3 + small), e03 / (l1 * l2 + small))
    s = min(s, e12 / (l0 * l3 + small), e13 / (l0 * l2 + small), e23 / (l0 * l1 + small))
    if volume <= 0.0:
        # For inverted tets the largest value is the worst; a plain volume ratio orders them well enough.
        return float(volume / (e01 * e02 * e03 + small))
    shortest = min(e01, e02, e03, e12, e13, e23)
    return float(volume * s * (1.0 if shortest >= short else shortest / short))


@exact_kernel
def sine_qualities(x: Any, tets: Any, short: float, quality: Any) -> None:
    """`sine_quality` of every tet."""
    for t in range(len(tets)):
        quality[t] = sine_quality(x, tets, t, short)


@exact_kernel
def worst_around(x: Any, tets: Any, starts: Any, ids: Any, p: int, short: float) -> float:
    """Worst quality of the tets at node p."""
    worst = 1e300
    for s in range(starts[p], starts[p + 1]):
        worst = min(worst, sine_quality(x, tets, ids[s], short))
    return worst


@exact_kernel
def move_guarded(x: Any, target: Any, tets: Any, starts: Any, ids: Any, nodes: Any, floor: float, short: float) -> None:
    """Move nodes towards their targets as far (1, 1/2, 1/4, 1/8) as no tet gets worse than `floor` or than it was."""
    for i in range(len(nodes)):
        p = nodes[i]
        ox, oy, oz = x[p, 0], x[p, 1], x[p, 2]
        allowed = min(floor, worst_around(x, tets, starts, ids, p, short))
        step = 1.0
        for _ in range(4):
            x[p, 0] = ox + step * (target[i, 0] - ox)
            x[p, 1] = oy + step * (target[i, 1] - oy)
            x[p, 2] = oz + step * (target[i, 2] - oz)
            if worst_around(x, tets, starts, ids, p, short) >= allowed:
                break
            step *= 0.5
            x[p, 0], x[p, 1], x[p, 2] = ox, oy, oz


@exact_kernel
def smooth(
    x: Any, tets: Any, starts: Any, ids: Any, nodes: Any, freedom: Any, step: float, good: float, short: float
) -> None:
    """Try small moves of each node along its free directions and keep the one that helps its worst tet most.

    `freedom` (k, 3, 3) has up to three directions per node as rows, zero where a direction is not free. Nodes whose
    tets are all better than `good` stay.
    """
    for i in range(len(nodes)):
        p = nodes[i]
        best = worst_around(x, tets, starts, ids, p, short)
        if best >= good:
            continue
        ox, oy, oz = x[p, 0], x[p, 1], x[p, 2]
        bx, by, bz = ox, oy, oz
        for trial in range(6):
            d = trial // 2
            s = step if trial % 2 == 0 else -step
            dx, dy, dz = freedom[i, d, 0], freedom[i, d, 1], freedom[i, d, 2]
            if dx == 0.0 and dy == 0.0 and dz == 0.0:
                continue
            x[p, 0], x[p, 1], x[p, 2] = ox + s * dx, oy + s * dy, oz + s * dz
            quality = worst_around(x, tets, starts, ids, p, short)
            if quality > best:
                best = quality
                bx, by, bz = x[p, 0], x[p, 1], x[p, 2]
        x[p, 0], x[p, 1], x[p, 2] = bx, by, bz


@exact_kernel
def add_quadrics(owner: Any, weight: Any, normal: Any, place: Any, matrix: Any, vector: Any) -> None:
    """Add the plane of every sample to the nodes of its triangle: matrix += w n n^T, vector += w n (n . place)."""
    for i in range(len(owner)):
        height = normal[i, 0] * place[i, 0] + normal[i, 1] * place[i, 1] + normal[i, 2] * place[i, 2]
        for k in range(3):
            p = owner[i, k]
            for a in range(3):
                wn = weight[i, k] * normal[i, a]
                vector[p, a] += wn * height
                for b in range(3):
                    matrix[p, a, b] += wn * normal[i, b]
