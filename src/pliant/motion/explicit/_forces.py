"""Forces of linear springs on nodes, in three layouts, written directly in LLVM.

    grid_forces     nodes of a grid: the 26 neighbours are at fixed distances in memory
    graph_forces    any springs: LANES nodes at a time, with lists of neighbours of equal length
    batch_forces    the same springs in several robots side by side: a lane is a robot

Each node of the first two sums over its own springs in a fixed order (every spring is computed twice, nothing is written
but the sum), so there are no races and the result does not depend on who computes which node.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pliant.algebra.sparse._move import Loop
from pliant.motion.explicit import _vectors as vec

DIRECTIONS = 13
"""Half of the 26 neighbours of a node of a grid."""


def robots_side_by_side(size: int) -> int:
    """Robots of a batch, for numbers of so many bytes: 64 bytes of each coordinate."""
    return 64 // size


@intrinsic  # type: ignore[untyped-decorator]
def grid_forces(typing: Any, x: Any, f: Any, k: Any, kl: Any, offsets: Any, first: Any, count: Any) -> Any:
    """Forces f[:, :count] on the nodes first .. first + count of x [3, N].

    k, kl [13, N]: stiffness, and stiffness times rest length, of the spring from a node to its neighbour at `offsets` [13]
    (in nodes). count is a multiple of LANES, at least LANES.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        element = vec.element_of(x)
        size, vector = vec.bytes_of(element), ir.VectorType(element, vec.LANES)
        at_x, (row, _) = vec.address(context, builder, x, args[0])
        at_f, (f_row, _) = vec.address(context, builder, f, args[1])
        at_k, (k_row, _) = vec.address(context, builder, k, args[2])
        at_kl, _ = vec.address(context, builder, kl, args[3])
        at_offsets, _ = vec.address(context, builder, offsets, args[4])
        shift = builder.mul(args[5], vec.constant(size))
        zero = vec.filled(vector, 0.0)

        def along(at: Any, stride: Any, axis: int) -> Any:
            return builder.add(at, builder.mul(stride, vec.constant(axis)))

        starts = [builder.add(at, shift) for at in (at_x, at_k, at_kl)]
        nodes = Loop(builder, "nodes", builder.sdiv(args[6], vec.constant(vec.LANES)), [at_f, *starts])
        here_f, here, here_k, here_kl = nodes.carried
        own = [vec.load(builder, along(here, row, a), vector, size) for a in range(3)]
        ways = Loop(builder, "ways", vec.constant(DIRECTIONS), [here_k, here_kl, at_offsets, *[zero] * 6])
        way_k, way_kl, way = ways.carried[:3]
        sums = list(ways.carried[3:])
        offset = builder.mul(vec.load(builder, way, vec.INT64, 8), vec.constant(size))
        for side, move in enumerate((builder.add, builder.sub)):
            there = move(here, offset)
            difference = [builder.fsub(vec.load(builder, along(there, row, a), vector, size), own[a]) for a in range(3)]
            owner = [way_k, way_kl] if side == 0 else [builder.sub(way_k, offset), builder.sub(way_kl, offset)]
            constants = [vec.load(builder, at, vector, size) for at in owner]
            factor = vec.tension_factor(builder, difference, *constants)
            for a in range(3):
                sums[3 * side + a] = vec.plus_product(builder, sums[3 * side + a], factor, difference[a])
        after = [builder.add(way_k, k_row), builder.add(way_kl, k_row), builder.add(way, vec.constant(8))]
        ways.close([*after, *sums])
        for a in range(3):
            vec.store(builder, builder.fadd(sums[a], sums[3 + a]), along(here_f, f_row, a), size)
        step = vec.constant(vec.LANES * size)
        nodes.close([builder.add(at, step) for at in (here_f, here, here_k, here_kl)])
        return context.get_dummy_value()

    return types.void(x, f, k, kl, offsets, types.intp, types.intp), codegen


@intrinsic  # type: ignore[untyped-decorator]
def graph_forces(
    typing: Any, packed: Any, x: Any, f: Any, k: Any, kl: Any, others: Any, row: Any, rows: Any, node: Any, to: Any
) -> Any:
    """Forces f[:, to : to + LANES] on the LANES nodes from `node` on.

    packed [N, 4]: the same positions as x [3, N], point after point. k, kl, others [r, LANES]: entry (row + s, lane) is the
    s-th spring of node `node` + lane; `others` has the place of the other end in `packed`, in bytes. rows >= 1.
    """

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        element = vec.element_of(x)
        size, vector, point = vec.bytes_of(element), ir.VectorType(element, vec.LANES), ir.VectorType(element, 4)
        at_packed, _ = vec.address(context, builder, packed, args[0])
        at_x, (x_row, _) = vec.address(context, builder, x, args[1])
        at_f, (f_row, _) = vec.address(context, builder, f, args[2])
        tables = [
            vec.address(context, builder, kind, value)[0]
            for kind, value in zip((k, kl, others), args[3:6], strict=True)
        ]
        before = builder.mul(args[6], vec.constant(vec.LANES))
        widths = (size, size, 4)
        starts = [builder.add(at, builder.mul(before, vec.constant(w))) for at, w in zip(tables, widths, strict=True)]

        def place(at: Any, stride: Any, axis: int, entry: Any) -> Any:
            column = builder.add(at, builder.mul(stride, vec.constant(axis)))
            return builder.add(column, builder.mul(entry, vec.constant(size)))

        own = [vec.load(builder, place(at_x, x_row, a, args[8]), vector, size) for a in range(3)]
        loop = Loop(builder, "springs", args[7], [*starts, *[vec.filled(vector, 0.0)] * 3])
        here_k, here_kl, here_other = loop.carried[:3]
        sums = list(loop.carried[3:])
        points = []
        for lane in range(vec.LANES):
            entry = vec.load(builder, builder.add(here_other, vec.constant(4 * lane)), vec.INT32, 4)
            at = builder.add(at_packed, builder.zext(entry, vec.INT64))
            points.append(vec.load(builder, at, point, size))
        difference = [
            builder.fsub(there, here) for there, here in zip(vec.transposed(builder, points), own, strict=True)
        ]
        constants = [vec.load(builder, at, vector, size) for at in (here_k, here_kl)]
        factor = vec.tension_factor(builder, difference, *constants)
        sums = [vec.plus_product(builder, total, factor, part) for total, part in zip(sums, difference, strict=True)]
        steps = [vec.constant(vec.LANES * w) for w in widths]
        loop.close([*[builder.add(at, step) for at, step in zip(loop.carried[:3], steps, strict=True)], *sums])
        for a in range(3):
            vec.store(builder, sums[a], place(at_f, f_row, a, args[9]), size)
        return context.get_dummy_value()

    return types.void(packed, x, f, k, kl, others, *[types.intp] * 4), codegen


@intrinsic  # type: ignore[untyped-decorator]
def batch_forces(typing: Any, x: Any, f: Any, k: Any, kl: Any, others: Any, spring: Any, count: Any, node: Any) -> Any:
    """Add the forces of the springs spring .. spring + count, all of them from one node, to f [3, nodes * robots].

    x [3, nodes * robots]: `robots_side_by_side` robots. k, kl [s, robots]; others [s, 1]: the other end. count >= 1.
    """
    width = robots_side_by_side(x.dtype.bitwidth // 8)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        element = vec.element_of(x)
        size, vector = vec.bytes_of(element), ir.VectorType(element, width)
        step = vec.constant(width * size)
        at_x, (x_row, _) = vec.address(context, builder, x, args[0])
        at_f, (f_row, _) = vec.address(context, builder, f, args[1])
        at_k, at_kl = (
            vec.address(context, builder, kind, value)[0] for kind, value in zip((k, kl), args[2:4], strict=True)
        )
        at_other, _ = vec.address(context, builder, others, args[4])
        before = builder.mul(args[5], step)
        starts = [
            builder.add(at_k, before),
            builder.add(at_kl, before),
            builder.add(at_other, builder.mul(args[5], vec.constant(4))),
        ]

        def places(at: Any, stride: Any, shift: Any) -> list[Any]:
            return [builder.add(builder.add(at, builder.mul(stride, vec.constant(a))), shift) for a in range(3)]

        own_shift = builder.mul(args[7], step)
        own = [vec.load(builder, at, vector, size) for at in places(at_x, x_row, own_shift)]
        loop = Loop(builder, "springs", args[6], [*starts, *[vec.filled(vector, 0.0)] * 3])
        here_k, here_kl, here_other = loop.carried[:3]
        other = builder.zext(vec.load(builder, here_other, vec.INT32, 4), vec.INT64)
        shift = builder.mul(other, step)
        there = [vec.load(builder, at, vector, size) for at in places(at_x, x_row, shift)]
        difference = [builder.fsub(a, b) for a, b in zip(there, own, strict=True)]
        constants = [vec.load(builder, at, vector, size) for at in (here_k, here_kl)]
        factor = vec.tension_factor(builder, difference, *constants)
        sums = [
            vec.plus_product(builder, total, factor, part)
            for total, part in zip(loop.carried[3:], difference, strict=True)
        ]
        for at, part in zip(places(at_f, f_row, shift), difference, strict=True):
            vec.store(builder, vec.minus_product(builder, vec.load(builder, at, vector, size), factor, part), at, size)
        after = [builder.add(here_k, step), builder.add(here_kl, step), builder.add(here_other, vec.constant(4))]
        loop.close([*after, *sums])
        for at, total in zip(places(at_f, f_row, own_shift), sums, strict=True):
            vec.store(builder, builder.fadd(vec.load(builder, at, vector, size), total), at, size)
        return context.get_dummy_value()

    return types.void(x, f, k, kl, others, types.intp, types.intp, types.intp), codegen


@intrinsic  # type: ignore[untyped-decorator]
def batch_lengths(typing: Any, kl: Any, base: Any, gain: Any, rows: Any, signals: Any, first: Any, count: Any) -> Any:
    """kl[rows[e]] = base[e] + sum over materials m of gain[m, e] * signals[m] for the entries first .. first + count.

    kl [s, robots], base [a, robots], gain [m, a, robots], signals [m, robots]. At least one material; count >= 1.
    """
    width = robots_side_by_side(kl.dtype.bitwidth // 8)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        element = vec.element_of(kl)
        size, vector = vec.bytes_of(element), ir.VectorType(element, width)
        step = vec.constant(width * size)
        at_kl, _ = vec.address(context, builder, kl, args[0])
        at_base, _ = vec.address(context, builder, base, args[1])
        at_gain, (material, _, _) = vec.address(context, builder, gain, args[2])
        at_rows, _ = vec.address(context, builder, rows, args[3])
        at_signals, _ = vec.address(context, builder, signals, args[4])
        shift = builder.mul(args[5], step)
        row = builder.add(at_rows, builder.mul(args[5], vec.constant(8)))
        entries = Loop(builder, "entries", args[6], [builder.add(at_base, shift), builder.add(at_gain, shift), row])
        here_base, here_gain, here_row = entries.carried
        start = vec.load(builder, here_base, vector, size)
        materials = vec.length(context, builder, signals, args[4])
        sums = Loop(builder, "materials", materials, [here_gain, at_signals, start])
        at, signal, total = sums.carried
        factor, value = vec.load(builder, at, vector, size), vec.load(builder, signal, vector, size)
        total = vec.plus_product(builder, total, factor, value)
        sums.close([builder.add(at, material), builder.add(signal, step), total])
        place = builder.add(at_kl, builder.mul(vec.load(builder, here_row, vec.INT64, 8), step))
        vec.store(builder, total, place, size)
        after = [builder.add(here_base, step), builder.add(here_gain, step), builder.add(here_row, vec.constant(8))]
        entries.close(after)
        return context.get_dummy_value()

    return types.void(kl, base, gain, rows, signals, types.intp, types.intp), codegen
