"""Compiled loop over springs: energy, forces and stiffness blocks."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from math import sqrt

from pliant.algebra.compiled import kernel


@kernel
def assemble_springs(springs, diagonal, constants, lengths, x, exact, warped, force, blocks):
    """Energy [J] of springs (m, 2); adds forces [n, 3] and blocks [nb, 3, 3].

    Block `diagonal[i]` belongs to point i, and that of spring s is s + springs[s, 0] + 1: springs are sorted, and blocks by
    column with the diagonal first. What belongs to the first point of springs is summed before it is stored. A spring of
    length zero has no direction and counts as without force.
    """
    energy = 0.0
    stiff = exact != 0.0 or warped != 0.0
    s, count = 0, springs.shape[0]
    while s < count:
        i = springs[s, 0]
        fx, fy, fz = 0.0, 0.0, 0.0
        xx, xy, xz, yy, yz, zz = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
        while s < count and springs[s, 0] == i:
            j = springs[s, 1]
            dx, dy, dz = x[j, 0] - x[i, 0], x[j, 1] - x[i, 1], x[j, 2] - x[i, 2]
            length = sqrt(dx * dx + dy * dy + dz * dz)
            k, c = constants[s], s + i + 1
            stretch = length - lengths[s]
            energy += 0.5 * k * stretch * stretch
            s += 1
            if length == 0.0:
                continue
            each = 1.0 / length
            nx, ny, nz = dx * each, dy * each, dz * each
            tension = k * stretch
            force[j, 0] += tension * nx
            force[j, 1] += tension * ny
            force[j, 2] += tension * nz
            fx += tension * nx
            fy += tension * ny
            fz += tension * nz
            if not stiff:
                continue
            across = exact * tension * each
            along = (exact + warped) * k - across
            ux, uy, uz = along * nx, along * ny, along * nz
            a, b, d = ux * nx + across, uy * ny + across, uz * nz + across
            e, f, g = ux * ny, ux * nz, uy * nz
            xx, yy, zz, xy, xz, yz = xx + a, yy + b, zz + d, xy + e, xz + f, yz + g
            _add(blocks, diagonal[j], a, b, d, e, f, g)
            _add(blocks, c, -a, -b, -d, -e, -f, -g)
        force[i, 0] -= fx
        force[i, 1] -= fy
        force[i, 2] -= fz
        if stiff:
            _add(blocks, diagonal[i], xx, yy, zz, xy, xz, yz)
    return energy


@kernel
def _add(blocks, t, xx, yy, zz, xy, xz, yz):
    """blocks[t] += a symmetric matrix."""
    blocks[t, 0, 0] += xx
    blocks[t, 0, 1] += xy
    blocks[t, 0, 2] += xz
    blocks[t, 1, 0] += xy
    blocks[t, 1, 1] += yy
    blocks[t, 1, 2] += yz
    blocks[t, 2, 0] += xz
    blocks[t, 2, 1] += yz
    blocks[t, 2, 2] += zz
