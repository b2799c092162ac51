"""Between nodes and free coordinates: x = Phi(q), with the slope T = dx/dq.

A plain node is one coordinate (a 3-vector) itself; a held node has none. The other nodes have *links* (node, coordinate,
3x3 matrix M) with dx = sum M dq: one for a node that slides in a plane, two for a node of a rigid part.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from math import sqrt

from pliant.algebra.compiled import kernel


@kernel
def to_coordinates(plain, links, matrices, force, out):
    """out [nc, 3] = T^T force: plain [n] is the coordinate of a plain node or -1, links [k, 2], matrices [k, 3, 3]."""
    for c in range(out.shape[0]):
        for i in range(3):
            out[c, i] = 0.0
    for n in range(plain.shape[0]):
        c = plain[n]
        if c >= 0:
            for i in range(3):
                out[c, i] = force[n, i]
    for k in range(links.shape[0]):
        n, c = links[k, 0], links[k, 1]
        for i in range(3):
            for j in range(3):
                out[c, i] += matrices[k, j, i] * force[n, j]


@kernel
def to_nodes(plain, links, matrices, motion, out):
    """out [n, 3] = T motion; zero at held nodes."""
    for n in range(plain.shape[0]):
        c = plain[n]
        for i in range(3):
            out[n, i] = motion[c, i] if c >= 0 else 0.0
    for k in range(links.shape[0]):
        n, c = links[k, 0], links[k, 1]
        for i in range(3):
            for j in range(3):
                out[n, i] += matrices[k, i, j] * motion[c, j]


@kernel
def pull_back(jobs, matrices, values, out):
    """Add M_a^T B M_b to the blocks `out` for every job (block B, link a, link b, target, mode).

    A link of -1 is the identity. mode 1: add the transpose instead; mode 2: add both (two nodes of one coordinate).
    """
    for t in range(jobs.shape[0]):
        block, a, b, target, mode = jobs[t, 0], jobs[t, 1], jobs[t, 2], jobs[t, 3], jobs[t, 4]
        for i in range(3):
            for j in range(3):
                total = 0.0
                for k in range(3):
                    left = (1.0 if k == i else 0.0) if a < 0 else matrices[a, k, i]
                    if left == 0.0:
                        continue
                    for l in range(3):
                        right = (1.0 if l == j else 0.0) if b < 0 else matrices[b, l, j]
                        total += left * values[block, k, l] * right
                if mode != 1:
                    out[target, i, j] += total
                if mode != 0:
                    out[target, j, i] += total


@kernel
def add_momentum(rows, cols, weights, v, out):
    """out [n, 3] += M v for a mass matrix of blocks weights[t] I at (rows[t], cols[t]), mirrored."""
    for t in range(rows.shape[0]):
        i, j, w = rows[t], cols[t], weights[t]
        if w == 0.0:
            continue
        for c in range(3):
            out[i, c] += w * v[j, c]
            if i != j:
                out[j, c] += w * v[i, c]


@kernel
def distortion(rows, cols, lengths, before, after):
    """Largest change of the distance of two coupled nodes rows[t], cols[t], and their largest distance, over `lengths` [b]
    at rest. Not a number where a position is not one."""
    change, stretch = 0.0, 0.0
    for t in range(rows.shape[0]):
        i, j = rows[t], cols[t]
        old, new = 0.0, 0.0
        for c in range(3):
            old += (before[i, c] - before[j, c]) ** 2
            new += (after[i, c] - after[j, c]) ** 2
        length, scale = sqrt(new), 1.0 / lengths[t]
        moved = abs(length - sqrt(old)) * scale
        if moved != moved:
            return moved, moved
        change = max(change, moved)
        stretch = max(stretch, length * scale)
    return change, stretch


@kernel
def largest_entries(rows, cols, values, out):
    """out [n]: the largest entry, without sign, of the blocks that couple a node with any."""
    for n in range(out.shape[0]):
        out[n] = 0.0
    for t in range(rows.shape[0]):
        largest = 0.0
        for i in range(3):
            for j in range(3):
                largest = max(largest, abs(values[t, i, j]))
        out[rows[t]] = max(out[rows[t]], largest)
        out[cols[t]] = max(out[cols[t]], largest)
