"""Between nodes and free coordinates: x = Phi(q), with the slope T = dx/dq, in two stages.

Nodes follow *carriers*, which are 3-vectors: a plain or sliding node its own, a node on a part the velocity of the part's pivot
(carrier c) and its spin (c + 1), dx = u_c + u_(c + 1) x r with the lever r. A tied node follows other nodes, dx = sum w dx_m. A
held node follows nothing (carrier -1).
Carriers follow coordinates: most are one (`direct`), the others have links (coordinate, matrix M), u_c = sum M dq.
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from math import sqrt

import numpy as np

from pliant.algebra.compiled import kernel


@kernel
def to_coordinates(carrier, seat, levers, direct, link_begin, links, matrices, force, out):
    """out [nc, 3] = T^T force: carrier, seat [n] (of nodes: the first of their carriers, and where their lever is, or -1),
    levers [s, 3]; direct [nk], links link_begin[c]:link_begin[c + 1] of carrier c, [k], matrices [k, 3, 3]."""
    for c in range(out.shape[0]):
        for i in range(3):
            out[c, i] = 0.0
    carried = np.zeros((direct.shape[0], 3))
    for n in range(carrier.shape[0]):
        c, s = carrier[n], seat[n]
        if c < 0:
            continue
        x, y, z = force[n, 0], force[n, 1], force[n, 2]
        carried[c, 0] += x
        carried[c, 1] += y
        carried[c, 2] += z
        if s >= 0:
            u, v, w = levers[s, 0], levers[s, 1], levers[s, 2]
            carried[c + 1, 0] += v * z - w * y
            carried[c + 1, 1] += w * x - u * z
            carried[c + 1, 2] += u * y - v * x
    for c in range(direct.shape[0]):
        d = direct[c]
        if d >= 0:
            for i in range(3):
                out[d, i] += carried[c, i]
        for k in range(link_begin[c], link_begin[c + 1]):
            for i in range(3):
                for j in range(3):
                    out[links[k], i] += matrices[k, j, i] * carried[c, j]


@kernel
def to_nodes(carrier, seat, levers, direct, link_begin, links, matrices, motion, out):
    """out [n, 3] = T motion; zero at held nodes, and at tied ones (see `follow_ties`)."""
    carried = np.empty((direct.shape[0], 3))
    for c in range(direct.shape[0]):
        d = direct[c]
        for i in range(3):
            carried[c, i] = motion[d, i] if d >= 0 else 0.0
        for k in range(link_begin[c], link_begin[c + 1]):
            for i in range(3):
                for j in range(3):
                    carried[c, i] += matrices[k, i, j] * motion[links[k], j]
    for n in range(carrier.shape[0]):
        c, s = carrier[n], seat[n]
        for i in range(3):
            out[n, i] = carried[c, i] if c >= 0 else 0.0
        if s >= 0:
            x, y, z = levers[s, 0], levers[s, 1], levers[s, 2]
            u, v, w = carried[c + 1, 0], carried[c + 1, 1], carried[c + 1, 2]
            out[n, 0] += v * z - w * y
            out[n, 1] += w * x - u * z
            out[n, 2] += u * y - v * x


@kernel
def shift_nodes(plain, sliding, bases, step, x, out):
    """out [n, 3] = x + step [nc, 3] for plain nodes and, along the columns of bases [k, 3, 3], for sliding [k, 2] ones (node,
    coordinate); the others stay."""
    for n in range(plain.shape[0]):
        c = plain[n]
        for i in range(3):
            out[n, i] = x[n, i] + step[c, i] if c >= 0 else x[n, i]
    for k in range(sliding.shape[0]):
        n, c = sliding[k, 0], sliding[k, 1]
        for i in range(3):
            for j in range(3):
                out[n, i] += bases[k, i, j] * step[c, j]


@kernel
def follow_ties(tied, begin, masters, weights, x):
    """x [n, 3] of tied nodes [t] = sum w x of their masters begin[k]:begin[k + 1]."""
    for k in range(tied.shape[0]):
        for i in range(3):
            total = 0.0
            for m in range(begin[k], begin[k + 1]):
                total += weights[m] * x[masters[m], i]
            x[tied[k], i] = total


@kernel
def load_masters(tied, begin, masters, weights, force):
    """Hand the forces [n, 3] on tied nodes over to their masters."""
    for k in range(tied.shape[0]):
        for i in range(3):
            for m in range(begin[k], begin[k + 1]):
                force[masters[m], i] += weights[m] * force[tied[k], i]
            force[tied[k], i] = 0.0


@kernel
def carry_blocks(groups, jobs, scales, levers, values, out):
    """Add the blocks of pairs of nodes to those of their carriers `out`.

    A group (seat of a, four targets, jobs from, to) is what a node a has to do with the nodes b of one carrier, a job (2 x
    block B, plus 1 where B^T stands for B; seat of b) one such pair. With L = -[r] the lever of a node, a group adds

        S = sum B,   L_a^T S,   P = sum B L_b,   L_a^T P

    to its targets, where they are not -1. scales: of the jobs; none where all are one.
    """
    flat = values.reshape(-1)
    scaled = len(scales) > 0
    for g in range(groups.shape[0]):
        S = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        P = S
        for t in range(groups[g, 5], groups[g, 6]):
            code, b = jobs[t, 0], jobs[t, 1]
            B = _block(flat, 9 * (code >> 1), code & 1)
            if scaled:
                B = _scaled(B, scales[t])
            S = _sum(S, B)
            if b >= 0:
                P = _sum(P, _on_lever(B, levers[b, 0], levers[b, 1], levers[b, 2]))
        a = groups[g, 0]
        _add(out, groups[g, 1], S)
        if groups[g, 3] >= 0:
            _add(out, groups[g, 3], P)
        if a >= 0:
            _add(out, groups[g, 2], _turned(levers[a], S))
            if groups[g, 4] >= 0:
                _add(out, groups[g, 4], _turned(levers[a], P))


@kernel
def _block(flat, k, flipped):
    """A block that begins at k, or its transpose, as nine numbers, row by row."""
    r, c = (1, 3) if flipped else (3, 1)
    return (
        flat[k], flat[k + c], flat[k + 2 * c],
        flat[k + r], flat[k + 4], flat[k + r + 2 * c],
        flat[k + 2 * r], flat[k + 2 * r + c], flat[k + 8],
    )  # fmt: skip


@kernel
def _scaled(B, scale):
    return (
        scale * B[0], scale * B[1], scale * B[2], scale * B[3], scale * B[4], scale * B[5], scale * B[6], scale * B[7],
        scale * B[8],
    )  # fmt: skip


@kernel
def _sum(A, B):
    return (
        A[0] + B[0], A[1] + B[1], A[2] + B[2], A[3] + B[3], A[4] + B[4], A[5] + B[5], A[6] + B[6], A[7] + B[7], A[8] + B[8],
    )  # fmt: skip


@kernel
def _on_lever(B, x, y, z):
    """-B [r], r = (x, y, z)."""
    return (
        B[2] * y - B[1] * z, B[0] * z - B[2] * x, B[1] * x - B[0] * y,
        B[5] * y - B[4] * z, B[3] * z - B[5] * x, B[4] * x - B[3] * y,
        B[8] * y - B[7] * z, B[6] * z - B[8] * x, B[7] * x - B[6] * y,
    )  # fmt: skip


@kernel
def _turned(r, B):
    """[r] B."""
    x, y, z = r[0], r[1], r[2]
    return (
        y * B[6] - z * B[3], y * B[7] - z * B[4], y * B[8] - z * B[5],
        z * B[0] - x * B[6], z * B[1] - x * B[7], z * B[2] - x * B[8],
        x * B[3] - y * B[0], x * B[4] - y * B[1], x * B[5] - y * B[2],
    )  # fmt: skip


@kernel
def _add(out, k, B):
    """out[k] [3, 3] += B."""
    out[k, 0, 0] += B[0]
    out[k, 0, 1] += B[1]
    out[k, 0, 2] += B[2]
    out[k, 1, 0] += B[3]
    out[k, 1, 1] += B[4]
    out[k, 1, 2] += B[5]
    out[k, 2, 0] += B[6]
    out[k, 2, 1] += B[7]
    out[k, 2, 2] += B[8]


@kernel
def pull_back(jobs, matrices, values, out):
    """Add M_a^T B M_b to the blocks `out` for every job (block B, link a, link b, target, mode).

    A link of -1 is the identity. mode 1: add the transpose instead; mode 2: add both (two carriers of one coordinate).
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
def add_mass(weights, factor, blocks):
    """blocks [nb, 3, 3] += factor weights [nb] I."""
    for t in range(weights.shape[0]):
        w = factor * weights[t]
        if w != 0.0:
            for c in range(3):
                blocks[t, c, c] += w


@kernel
def add_momentum(rows, cols, weights, factor, v, out):
    """out [n, 3] += factor M v for a mass matrix of blocks weights[t] I at (rows[t], cols[t]), mirrored."""
    for t in range(rows.shape[0]):
        i, j, w = rows[t], cols[t], factor * weights[t]
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
