"""Compiled: what contacts go on from, and where their rows begin (see `one_way.OneWay`)."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from math import sqrt

from pliant.algebra.compiled import exact_kernel


@exact_kernel
def fill_frames(normals, frames):
    """Right-handed frames (c, 3, 3) whose first rows are the normals (c, 3): they turn with those as little as possible."""
    for k in range(len(normals)):
        x, y, z = normals[k, 0], normals[k, 1], normals[k, 2]
        a, b, c = abs(x), abs(y), abs(z)
        if a <= b and a <= c:
            u, v, w = 0.0, z, -y
        elif b <= c:
            u, v, w = -z, 0.0, x
        else:
            u, v, w = y, -x, 0.0
        per = 1.0 / sqrt(u * u + v * v + w * w)
        u, v, w = per * u, per * v, per * w
        frames[k, 0, 0], frames[k, 0, 1], frames[k, 0, 2] = x, y, z
        frames[k, 1, 0], frames[k, 1, 1], frames[k, 1, 2] = u, v, w
        frames[k, 2, 0], frames[k, 2, 1], frames[k, 2, 2] = y * w - z * v, z * u - x * w, x * v - y * u


@exact_kernel
def go_on(ids, frames, keeps, known, known_forces, known_faces, known_anchors, forces, fresh, stuck_to, anchors):
    """Forces (c, 3) of contacts of points ids (c,) along their frames, and where they stick, from those of known points (m,),
    in rising order both; keeps: whether points are the same material as before."""
    j = 0
    for k in range(len(ids)):
        fresh[k] = True
        while j < len(known) and known[j] < ids[k]:
            j += 1
        found = j < len(known) and known[j] == ids[k]
        for r in range(3):
            forces[k, r] = 0.0
            if found:
                for i in range(3):
                    forces[k, r] += frames[k, r, i] * known_forces[j, i]
        if found and keeps:
            fresh[k], stuck_to[k] = False, known_faces[j]
            for i in range(3):
                anchors[k, i] = known_anchors[j, i]


@exact_kernel
def begin_rows(nodes, lifting, slipping, x, frames, offsets, gaps, keeps, close, latest, origins, depths):
    """Origins (c, 3) of the rows of contacts, so that the normal ones are the gaps (c,) with the nodes at x (n, 3), and slips
    are since the anchors' offsets (c, 3), or, where points are not kept, since now; depths (c,): left to later steps."""
    for k in range(len(nodes)):
        px, py, pz, qx, qy, qz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        for j in range(nodes.shape[1]):
            a, b, c = x[nodes[k, j], 0], x[nodes[k, j], 1], x[nodes[k, j], 2]
            px, py, pz = px + lifting[k, j] * a, py + lifting[k, j] * b, pz + lifting[k, j] * c
            qx, qy, qz = qx + slipping[k, j] * a, qy + slipping[k, j] * b, qz + slipping[k, j] * c
        if keeps:
            qx, qy, qz = offsets[k, 0], offsets[k, 1], offsets[k, 2]
        origins[k, 0] = frames[k, 0, 0] * px + frames[k, 0, 1] * py + frames[k, 0, 2] * pz - gaps[k]
        for r in range(1, 3):
            origins[k, r] = frames[k, r, 0] * qx + frames[k, r, 1] * qy + frames[k, r, 2] * qz
        depths[k] = min(gaps[k] + latest, 0.0) if gaps[k] < -close else 0.0
