"""The rows of H from nodes to free coordinates, in compressed rows."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from pliant.algebra.compiled import kernel


@kernel
def rows_on_coordinates(begin, nodes, vectors, ties, carriers, links, levers, matrices, indptr, indices, data):
    """H T for rows that are lists of (node, 3-vector): entries begin[r]:begin[r + 1] of nodes [e] and vectors [e, 3].

    ties: (number of its tie per node or -1, begin, masters, weights); carriers: (carrier, seat) per node; links: (direct,
    begin, coordinates) per carrier; levers, matrices: see body/_assembly_kernels.py. Fills indptr [m + 1], and indices and
    data as far as needed.
    """
    tie, tie_begin, masters, weights = ties
    t = 0
    indptr[0] = 0
    for r in range(begin.shape[0] - 1):
        for e in range(begin[r], begin[r + 1]):
            x, y, z = vectors[e, 0], vectors[e, 1], vectors[e, 2]
            if x == 0.0 and y == 0.0 and z == 0.0:
                continue  # a node of the port that has no part in this row
            k = tie[nodes[e]]
            if k < 0:
                t = _add(nodes[e], x, y, z, carriers, links, levers, matrices, indices, data, t)
                continue
            for m in range(tie_begin[k], tie_begin[k + 1]):
                w = weights[m]
                t = _add(masters[m], w * x, w * y, w * z, carriers, links, levers, matrices, indices, data, t)
        indptr[r + 1] = t


@kernel
def rows_times(indptr, indices, data, motion, out):
    """H dq [m] of a motion of the coordinates dq [3 nc]."""
    for r in range(out.shape[0]):
        value = 0.0
        for t in range(indptr[r], indptr[r + 1]):
            value += data[t] * motion[indices[t]]
        out[r] = value


@kernel
def _add(n, x, y, z, carriers, links, levers, matrices, indices, data, t):
    """A vector on a node as one on its carriers, and so on coordinates; returns how many entries there are then."""
    carrier, seat = carriers
    c, s = carrier[n], seat[n]
    if c < 0:
        return t
    t = _add_carried(c, x, y, z, links, matrices, indices, data, t)
    if s >= 0:
        u, v, w = levers[s, 0], levers[s, 1], levers[s, 2]
        t = _add_carried(c + 1, v * z - w * y, w * x - u * z, u * y - v * x, links, matrices, indices, data, t)
    return t


@kernel
def _add_carried(c, x, y, z, links, matrices, indices, data, t):
    direct, link_begin, coordinates = links
    if direct[c] >= 0:
        for i in range(3):
            indices[t] = 3 * direct[c] + i
            t += 1
        data[t - 3], data[t - 2], data[t - 1] = x, y, z
    for k in range(link_begin[c], link_begin[c + 1]):
        for i in range(3):
            indices[t] = 3 * coordinates[k] + i
            data[t] = matrices[k, 0, i] * x + matrices[k, 1, i] * y + matrices[k, 2, i] * z
            t += 1
    return t
