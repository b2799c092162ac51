"""Compiled sums over the nodes of pieces that nothing acts on (see `isolated.Isolated`)."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from pliant.algebra.compiled import kernel


@kernel
def moment_about_center(nodes, masses, x, p, center, product):
    """The centre of mass of nodes (k,) with masses (n,) at x (n, 3) into center (3,), and sum (x - c) p^T into product (3, 3),
    for p (n, 3); returns their mass."""
    total = 0.0
    center[:] = 0.0
    for n in nodes:
        total += masses[n]
        for i in range(3):
            center[i] += masses[n] * x[n, i]
    center /= max(total, 1e-300)
    product[:] = 0.0
    for n in nodes:
        for i in range(3):
            arm = x[n, i] - center[i]
            for j in range(3):
                product[i, j] += arm * p[n, j]
    return total


@kernel
def add_spin(nodes, x, center, spin, v):
    """v (n, 3) += w x (x - c) at nodes (k,)."""
    for n in nodes:
        a, b, c = x[n, 0] - center[0], x[n, 1] - center[1], x[n, 2] - center[2]
        v[n, 0] += spin[1] * c - spin[2] * b
        v[n, 1] += spin[2] * a - spin[0] * c
        v[n, 2] += spin[0] * b - spin[1] * a


@kernel
def put_mean(nodes, masses, goal, a):
    """a (n, 3) of nodes (k,) shifted so that their mean, by masses (n,), is the goal (3,)."""
    for i in range(3):
        total, had = 0.0, 0.0
        for n in nodes:
            total += masses[n]
            had += masses[n] * a[n, i]
        shift = goal[i] - had / max(total, 1e-300)
        for n in nodes:
            a[n, i] += shift
