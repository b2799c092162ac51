"""Tet elements of four or ten nodes: energy, force and stiffness, LANES elements at a time.

An element has k nodes with shape functions N_a, straight edges, and q integration points, so that everything follows from
the constant gradients of its four corners: grad N_a = sum_i table[q, a, i] grad L_i. With w the weight times the volume:

    F = sum_a x_a (x) grad N_a
    f_a  += w P grad N_a
    K_ab += w grad N_a . C . grad N_b        (pairs a >= b; pair number a (a + 1) / 2 + b)
"""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from typing import Final

import numpy as np

from pliant.algebra.compiled import inlined, kernel
from pliant.body._scatter import ABREAST, add_abreast
from pliant.body._stiffness_kernels import (
    add_stiffness,
    add_turned_stiffness,
    find_rotation,
    resist_as_hooke,
    resist_as_law,
    turn_gradients,
)
from pliant.body._tet_rows import (
    ALL_ROWS,
    BACK,
    CORNERS,
    FORCES,
    FORE,
    GRADIENTS,
    PAIRS,
    POSITIONS,
    WEIGHT,
    bring,
    take,
)
from pliant.material._lanes import ENERGY, LANES, PARAMETERS, SCALE, SLOPE, THETA, F, P, R
from pliant.material._respond_kernels import COROTATIONAL, add_dilation_curvature, dilate, respond

NOTHING: Final = np.empty(0)


@kernel
def work_space():
    """Scratch memory for one thread."""
    return np.zeros(ALL_ROWS * LANES)


@kernel
def assemble(
    batches, first, last, law, nodes, lanes, volumes, table, weights, slots, x, exact, warped, pressure, force, blocks,
    work
):  # fmt: skip
    """Add the force and `exact` K + `warped` R K0 R^T of the elements of batches first..last; returns their energy.

    batches [b + 1]: first element of each batch (one law, at most LANES elements); lanes [b, 17 LANES]: the gradients of
    its corners and its parameters (`fill_lanes`); law [m], nodes [m, k], volumes [m] per element; table [q, k, 4],
    weights [q]; slots [m, pairs]: 2 x block number, plus one where the block is stored transposed; x [n, 3]; force
    [n, 3]; blocks [9 nb], left alone when both factors are zero. pressure [m]: the pressure of the element's patch, or
    empty where every element keeps its own volume.
    """
    energy = 0.0
    stiff = exact != 0.0 or warped != 0.0
    for batch in range(first, last):
        begin, count = batches[batch], batches[batch + 1] - batches[batch]
        _load(begin, count, nodes, lanes[batch], x, work)
        if stiff:
            work[PAIRS * LANES : (PAIRS + 9 * slots.shape[1]) * LANES] = 0.0
        for q in range(table.shape[0]):
            _deform(count, nodes.shape[1], table[q], work)
            for l in range(count):
                work[WEIGHT * LANES + l] = weights[q] * volumes[begin + l]
            turned = law[begin] == COROTATIONAL
            respond(law[begin], work, count, 2 if exact != 0.0 and not turned else 1)
            if pressure.shape[0] > 0:
                _add_pressure(law[begin], begin, count, pressure, exact != 0.0, work)
            energy += _add_force(count, nodes.shape[1], work)
            if exact != 0.0 and not turned:
                add_stiffness(count, nodes.shape[1], exact, work)
            if warped != 0.0 or (exact != 0.0 and turned):
                find_rotation(law[begin], count, work)
                turn_gradients(count, nodes.shape[1], work)
            if exact != 0.0 and turned:
                resist_as_law(count, work)
                add_turned_stiffness(count, nodes.shape[1], exact, work)
            if warped != 0.0:
                resist_as_hooke(count, work)
                add_turned_stiffness(count, nodes.shape[1], warped, work)
        _scatter_force(begin, count, nodes, force, work)
        if stiff:
            _scatter_blocks(begin, count, slots, blocks, work)
    return energy


@kernel
def fill_lanes(batches, corners, parameters, patched, out):
    """What a batch needs of its elements and never changes, lane by lane: corners [m, 12] and parameters [m, 5] to
    out [b, 17 LANES]; where dilation belongs to patches, without the part of the modulus that they take."""
    for batch in range(batches.shape[0] - 1):
        for l in range(batches[batch + 1] - batches[batch]):
            e = batches[batch] + l
            shared = max(parameters[e, 0], 0.0) if patched else 0.0
            for t in range(12):
                out[batch, t * LANES + l] = corners[e, t]
            for t in range(5):
                out[batch, (12 + t) * LANES + l] = parameters[e, t] - (shared if t == 0 or t == 2 else 0.0)


@kernel
def _load(begin, count, nodes, lanes, x, work):
    """Bring a batch of elements into the lanes. The gradients of four-node elements are those of their corners."""
    corners = GRADIENTS if nodes.shape[1] == 4 else CORNERS
    work[corners * LANES : (corners + 12) * LANES] = lanes[: 12 * LANES]
    work[PARAMETERS * LANES : (PARAMETERS + 5) * LANES] = lanes[12 * LANES :]
    work[FORCES * LANES : (FORCES + 3 * nodes.shape[1]) * LANES] = 0.0
    for l in range(count):
        for a in range(nodes.shape[1]):
            i = nodes[begin + l, a]
            for c in range(3):
                work[(POSITIONS + 3 * a + c) * LANES + l] = x[i, c]


@kernel
def _deform(count, k, table, work):
    """Gradients of the shape functions at one point, and F."""
    count = min(count, LANES)
    if k > 4:
        for a in range(k):
            c0, c1, c2, c3 = table[a, 0], table[a, 1], table[a, 2], table[a, 3]
            gradient = work[(GRADIENTS + 3 * a) * LANES : (GRADIENTS + 3 * a + 3) * LANES]
            for l in range(count):
                for j in range(3):
                    gradient[j * LANES + l] = (
                        c0 * work[(CORNERS + j) * LANES + l]
                        + c1 * work[(CORNERS + 3 + j) * LANES + l]
                        + c2 * work[(CORNERS + 6 + j) * LANES + l]
                        + c3 * work[(CORNERS + 9 + j) * LANES + l]
                    )
    for l in range(count):
        for t in range(9):
            work[(F + t) * LANES + l] = 0.0
    if k == 4:
        _add_gradient(count, work, POSITIONS, GRADIENTS)
        _add_gradient(count, work, POSITIONS + 3, GRADIENTS + 3)
        _add_gradient(count, work, POSITIONS + 6, GRADIENTS + 6)
        _add_gradient(count, work, POSITIONS + 9, GRADIENTS + 9)
        return
    for a in range(k):
        bring(count, POSITIONS + 3 * a, work, BACK)
        bring(count, GRADIENTS + 3 * a, work, FORE)
        _add_gradient(count, work, BACK, FORE)


@inlined
def _add_gradient(count, work, place, gradient):
    """F += x (x) g for a node's position x and the gradient g of its shape function, in these rows."""
    for l in range(count):
        for i in range(3):
            for j in range(3):
                work[(F + 3 * i + j) * LANES + l] += work[(place + i) * LANES + l] * work[(gradient + j) * LANES + l]


@kernel
def _add_force(count, k, work):
    """f_a += w P grad N_a; returns the energy of the lanes."""
    count = min(count, LANES)
    energy = 0.0
    for l in range(count):
        energy += work[WEIGHT * LANES + l] * work[ENERGY * LANES + l]
    if k == 4:
        _add_node_force(count, work, GRADIENTS, FORCES)
        _add_node_force(count, work, GRADIENTS + 3, FORCES + 3)
        _add_node_force(count, work, GRADIENTS + 6, FORCES + 6)
        _add_node_force(count, work, GRADIENTS + 9, FORCES + 9)
        return energy
    for a in range(k):
        bring(count, GRADIENTS + 3 * a, work, FORE)
        bring(count, FORCES + 3 * a, work, BACK)
        _add_node_force(count, work, FORE, BACK)
        take(count, BACK, work, FORCES + 3 * a)
    return energy


@inlined
def _add_node_force(count, work, gradient, out):
    """f += w P g for the gradient g, in these rows."""
    for l in range(count):
        for i in range(3):
            work[(out + i) * LANES + l] += work[WEIGHT * LANES + l] * (
                work[(P + 3 * i) * LANES + l] * work[gradient * LANES + l]
                + work[(P + 3 * i + 1) * LANES + l] * work[(gradient + 1) * LANES + l]
                + work[(P + 3 * i + 2) * LANES + l] * work[(gradient + 2) * LANES + l]
            )


@kernel
def _scatter_force(begin, count, nodes, force, work):
    for l in range(count):
        for a in range(nodes.shape[1]):
            i = nodes[begin + l, a]
            for c in range(3):
                force[i, c] += work[(FORCES + 3 * a + c) * LANES + l]


@kernel
def _scatter_blocks(begin, count, slots, blocks, work):
    """Add the pairs' stiffness to the blocks [9 nb]."""
    pairs = slots.shape[1]
    for pair in range(pairs):
        rows = (PAIRS + 9 * pair) * LANES
        abreast = count // ABREAST * ABREAST
        for l in range(0, abreast, ABREAST):
            slot = slots.ctypes.data + 4 * ((begin + l) * pairs + pair)
            add_abreast(work.ctypes.data + 8 * (rows + l), slot, 4 * pairs, blocks.ctypes.data)
        for l in range(abreast, count):
            _scatter_block(slots[begin + l, pair], rows + l, work, blocks)


@kernel
def _scatter_block(slot, row, work, blocks):
    """Add nine rows of one lane to a block."""
    o = 9 * (slot >> 1)
    for i in range(3):
        for j in range(3):
            blocks[o + (3 * j + i if slot & 1 else 3 * i + j)] += work[row + (3 * i + j) * LANES]


@kernel
def _add_pressure(law, begin, count, pressure, curved, work):
    """P += p dtheta/dF and, where `curved`, C += p d2theta/dF2, with the pressure p of the element's patch."""
    if law == COROTATIONAL:  # whose dtheta/dF is R, and d2theta/dF2 its slope
        for l in range(count):
            p = pressure[begin + l]
            work[SCALE * LANES + l] += p
            for t in range(9):
                work[(P + t) * LANES + l] += p * work[(R + t) * LANES + l]
        return
    dilate(law, work, count)
    for l in range(count):
        p = pressure[begin + l]
        work[SCALE * LANES + l] = p
        for t in range(9):
            work[(P + t) * LANES + l] += p * work[(SLOPE + t) * LANES + l]
    if curved:
        add_dilation_curvature(law, work, count)


@kernel
def dilations(batches, law, nodes, lanes, volumes, table, x, turned, theta, slope, work):
    """Dilation theta [m] of four-node elements and its slope times the volume on their nodes, [m, 12].

    With `turned` the slope is that of the warped tangent, R instead of dtheta/dF.
    """
    for batch in range(batches.shape[0] - 1):
        begin, count = batches[batch], batches[batch + 1] - batches[batch]
        _load(begin, count, nodes, lanes[batch], x, work)
        _deform(count, nodes.shape[1], table[0], work)
        dilate(law[begin], work, count)
        if turned:
            find_rotation(law[begin], count, work)
        for l in range(count):
            theta[begin + l] = work[THETA * LANES + l]
            for a in range(4):
                for i in range(3):
                    value = 0.0
                    for j in range(3):
                        s = work[((R if turned else SLOPE) + 3 * i + j) * LANES + l]
                        value += s * work[(GRADIENTS + 3 * a + j) * LANES + l]
                    slope[begin + l, 3 * a + i] = volumes[begin + l] * value


@kernel
def add_patch_stiffness(patches, rows, local, slope, modulus, volume, slots, begin_slots, factor, blocks, work):
    """Add factor k / V s s^T of every patch, s the sum of the slopes of its elements.

    patches [p + 1]: first element of each patch in `local` [m, 4], the place of an element's nodes among its patch's nodes;
    rows [p + 1]: first node of each patch (only the counts matter); slots from begin_slots[p]: the blocks of all pairs of
    the patch's nodes in the order a (a + 1) / 2 + b, coded as in `assemble`; modulus, volume [p]; work: at least
    3 x nodes of the largest patch.
    """
    for p in range(patches.shape[0] - 1):
        size = rows[p + 1] - rows[p]
        for t in range(3 * size):
            work[t] = 0.0
        for e in range(patches[p], patches[p + 1]):
            for a in range(4):
                for c in range(3):
                    work[3 * local[e, a] + c] += slope[e, 3 * a + c]
        scale = factor * modulus[p] / volume[p]
        slot = begin_slots[p]
        for a in range(size):
            for b in range(a + 1):
                block = blocks[9 * (slots[slot] >> 1) : 9 * (slots[slot] >> 1) + 9]
                flip = slots[slot] & 1
                slot += 1
                for i in range(3):
                    for j in range(3):
                        value = scale * work[3 * a + i] * work[3 * b + j]
                        if flip:
                            block[3 * j + i] += value
                        else:
                            block[3 * i + j] += value


@kernel
def count_inverted(corners, x):
    """How many tets of corners [m, 4] have no positive volume at x."""
    count = 0
    for t in range(corners.shape[0]):
        o, a, b, c = corners[t, 0], corners[t, 1], corners[t, 2], corners[t, 3]
        ax, ay, az = x[a, 0] - x[o, 0], x[a, 1] - x[o, 1], x[a, 2] - x[o, 2]
        bx, by, bz = x[b, 0] - x[o, 0], x[b, 1] - x[o, 1], x[b, 2] - x[o, 2]
        cx, cy, cz = x[c, 0] - x[o, 0], x[c, 1] - x[o, 1], x[c, 2] - x[o, 2]
        volume = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
        count += not volume > 0.0
    return count
