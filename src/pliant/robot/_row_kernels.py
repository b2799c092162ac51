"""The rows of H from nodes to free coordinates, in compressed rows."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from pliant.algebra.compiled import kernel


@kernel
def rows_on_coordinates(begin, nodes, vectors, plain, order, link_begin, links, matrices, indptr, indices, data):
    """H T for rows that are lists of (node, 3-vector): entries begin[r]:begin[r + 1] of nodes [e] and vectors [e, 3].

    plain [n], links [k, 2], matrices [k, 3, 3]: see body/_assembly_kernels.py; the links of node n are
    order[link_begin[n]:link_begin[n + 1]]. Fills indptr [m + 1], and indices and data as far as needed.
    """
    t = 0
    indptr[0] = 0
    for r in range(begin.shape[0] - 1):
        for e in range(begin[r], begin[r + 1]):
            if vectors[e, 0] == 0.0 and vectors[e, 1] == 0.0 and vectors[e, 2] == 0.0:
                continue  # a node of the port that has no part in this row
            n = nodes[e]
            c = plain[n]
            if c >= 0:
                for i in range(3):
                    indices[t] = 3 * c + i
                    data[t] = vectors[e, i]
                    t += 1
            for place in range(link_begin[n], link_begin[n + 1]):
                k = order[place]
                for i in range(3):
                    total = 0.0
                    for j in range(3):
                        total += matrices[k, j, i] * vectors[e, j]
                    indices[t] = 3 * links[k, 1] + i
                    data[t] = total
                    t += 1
        indptr[r + 1] = t
