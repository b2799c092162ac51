"""Compiled loop over springs: energy, forces and stiffness blocks."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from math import sqrt

from pliant.algebra.compiled import kernel


@kernel
def assemble_springs(springs, diagonal, constants, lengths, x, exact, warped, force, blocks):
    """Energy [J] of springs (m, 2); adds forces [n, 3] and blocks [nb, 3, 3].

    Block `diagonal[i]` belongs to point i, and that of spring s is s + springs[s, 0] + 1: springs are sorted, and blocks by
    column with the diagonal first. A spring of length zero has no direction and counts as without force.
    """
    energy = 0.0
    stiff = exact != 0.0 or warped != 0.0
    for s in range(springs.shape[0]):
        i, j = springs[s, 0], springs[s, 1]
        dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
        length = sqrt(dx * dx + dy * dy + dz * dz)
        k = constants[s]
        stretch = length - lengths[s]
        energy += 0.5 * k * stretch * stretch
        if length == 0.0:
            continue
        nx, ny, nz = dx / length, dy / length, dz / length
        tension = k * stretch
        force[j, 0] += tension * nx
        force[j, 1] += tension * ny
        force[j, 2] += tension * nz
        force[i, 0] -= tension * nx
        force[i, 1] -= tension * ny
        force[i, 2] -= tension * nz
        if not stiff:
            continue
        across = exact * tension / length
        along = (exact + warped) * k - across
        n = (nx, ny, nz)
        a, b, c = diagonal[i], diagonal[j], s + i + 1
        for p in range(3):
            for q in range(3):
                value = along * n[p] * n[q]
                if p == q:
                    value += across
                blocks[a, p, q] += value
                blocks[b, p, q] += value
                blocks[c, p, q] -= value
    return energy
