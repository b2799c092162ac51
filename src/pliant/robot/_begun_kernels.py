"""Sums over the nodes of a part that turns."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import numpy as np

from pliant.algebra.compiled import kernel


@kernel
def moments(nodes, x, y, middle, product):
    """The mean of x (n, 3) over nodes (k,) into middle (3,), and sum (x - middle) y^T into product (3, 3), for y (n, 3)."""
    middle[:] = 0.0
    for n in nodes:
        for i in range(3):
            middle[i] += x[n, i]
    middle /= len(nodes)
    product[:] = 0.0
    for n in nodes:
        for i in range(3):
            arm = x[n, i] - middle[i]
            for j in range(3):
                product[i, j] += arm * y[n, j]


@kernel
def turn(nodes, x, middle, rotation, goal, out):
    """out (n, 3) = goal + R (x - middle) at nodes (k,)."""
    arm = np.empty(3)
    for n in nodes:
        for j in range(3):
            arm[j] = x[n, j] - middle[j]
        for i in range(3):
            out[n, i] = goal[i]
            for j in range(3):
                out[n, i] += rotation[i, j] * arm[j]
