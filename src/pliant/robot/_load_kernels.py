"""What loads do to the gradient of the potential on the nodes."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from pliant.algebra.compiled import kernel


@kernel
def subtract_weight(masses, gravity, x, rest, gradient):
    """gradient [n, 3] -= m g for masses [n] and gravity [3]; returns the potential - sum m g . (x - rest)."""
    work = 0.0
    for n in range(masses.shape[0]):
        for i in range(3):
            weight = masses[n] * gravity[i]
            gradient[n, i] -= weight
            work += weight * (x[n, i] - rest[n, i])
    return -work


@kernel
def subtract_pull(efforts, displacement, slopes, nodes, gradient):
    """gradient [n, 3] -= sum_r efforts[r] slopes[r, e, 3] at nodes [e], each of them once; returns the largest entry of what
    was subtracted, without sign, and the work of the efforts on the displacement [r]."""
    largest, work = 0.0, 0.0
    for r in range(efforts.shape[0]):
        work += efforts[r] * displacement[r]
    for e in range(nodes.shape[0]):
        for i in range(3):
            force = 0.0
            for r in range(efforts.shape[0]):
                force += efforts[r] * slopes[r, e, i]
            gradient[nodes[e], i] -= force
            largest = max(largest, abs(force))
    return largest, work


@kernel
def largest_of(values):
    """The largest of values [n], without sign; NaN where one is."""
    largest = 0.0
    for k in range(values.shape[0]):
        size = abs(values[k])
        if not size <= largest:
            largest = size
            if size != size:
                return size
    return largest
