"""The chain rule from material points to nodes: p = W x, for points carried by few nodes each."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from pliant.algebra.compiled import kernel


@kernel
def carry(begin, nodes, weights, x, out):
    """out [k, 3] = W x: point k is carried by nodes[begin[k]:begin[k + 1]]."""
    for k in range(begin.shape[0] - 1):
        for c in range(3):
            total = 0.0
            for t in range(begin[k], begin[k + 1]):
                total += weights[t] * x[nodes[t], c]
            out[k, c] = total


@kernel
def spread(begin, slots, weights, slope, out):
    """out [r, e, 3] += slope [r, k, 3] W, the nodes numbered by their slots [e]."""
    for r in range(slope.shape[0]):
        for k in range(begin.shape[0] - 1):
            for t in range(begin[k], begin[k + 1]):
                for c in range(3):
                    out[r, slots[t], c] += weights[t] * slope[r, k, c]


@kernel
def spread_curvature(pairs, slots, weights, blocks, out):
    """out [b, 3, 3] += weights[t] blocks[pairs[t]] at slots[t] >> 1, transposed where its lowest bit is set."""
    for t in range(pairs.shape[0]):
        w, slot = weights[t], slots[t] >> 1
        for i in range(3):
            for j in range(3):
                if slots[t] & 1:
                    out[slot, j, i] += w * blocks[pairs[t], i, j]
                else:
                    out[slot, i, j] += w * blocks[pairs[t], i, j]
