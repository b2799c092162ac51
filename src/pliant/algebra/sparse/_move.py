"""Copying and adding dense pieces with vectors, written directly in LLVM because the pieces are short.

Addresses are integers (bytes), strides count doubles.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pliant.algebra.sparse._tile import DOUBLE, INT32, INT64, LANES, MIDDLE, TALL, VECTOR, WIDE, constant, pointer_to


class Loop:
    """A counted loop, run at least once, with values carried from one turn to the next."""

    def __init__(self, builder: Any, name: str, count: Any, carried: list[Any]) -> None:
        self.builder = builder
        self.before = builder.block
        self.body = builder.append_basic_block(f"{name}.body")
        self.done = builder.append_basic_block(f"{name}.done")
        builder.branch(self.body)
        builder.position_at_end(self.body)
        self.left = builder.phi(INT64)
        self.left.add_incoming(count, self.before)
        self.carried = [builder.phi(value.type) for value in carried]
        for phi, value in zip(self.carried, carried, strict=True):
            phi.add_incoming(value, self.before)

    def close(self, after: list[Any]) -> None:
        """Go round again with the values `after`, or leave."""
        builder, end = self.builder, self.builder.block
        left = builder.sub(self.left, constant(1))
        for phi, value in zip([self.left, *self.carried], [left, *after], strict=True):
            phi.add_incoming(value, end)
        builder.cbranch(builder.icmp_signed(">", left, constant(0)), self.body, self.done)
        builder.position_at_end(self.done)


def _make_copy(height: int) -> Callable[..., None]:
    """Build (to, source, stride, depth) -> None: copy `height` rows of a column-major matrix to contiguous memory."""
    column = ir.VectorType(DOUBLE, height)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        to, source, stride, depth = args
        step = builder.mul(stride, constant(8))
        loop = Loop(builder, "copy", depth, [to, source])
        at_to, at = loop.carried
        value = builder.load(pointer_to(builder, at, 0, column), align=8, typ=column)
        builder.store(value, pointer_to(builder, at_to, 0, column), align=8)
        loop.close([builder.add(at_to, constant(8 * height)), builder.add(at, step)])
        return context.get_dummy_value()

    def typed(typing: Any, to: Any, source: Any, stride: Any, depth: Any) -> Any:
        return types.void(*[types.intp] * 4), codegen

    typed.__name__ = f"copy_{height}"
    return intrinsic(typed)  # type: ignore[no-any-return]


copy_tall = _make_copy(TALL)
copy_middle = _make_copy(MIDDLE)
copy_flat = _make_copy(LANES)
copy_wide = _make_copy(WIDE)
copy_slim = _make_copy(3)


def _add_multiple(typing: Any, to: Any, source: Any, factor: Any, rows: Any) -> Any:
    """Build (to, source, factor, rows) -> None: to <- to + 2 f source, with f at the address `factor` and whole vectors."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        to, source, factor, rows = args
        one = builder.load(pointer_to(builder, factor, 0, DOUBLE), align=8, typ=DOUBLE)
        twice = builder.fadd(one, one)
        undefined = ir.Constant(VECTOR, ir.Undefined)
        zeros = ir.Constant(ir.VectorType(INT32, LANES), [0] * LANES)
        factors = builder.shuffle_vector(
            builder.insert_element(undefined, twice, ir.Constant(INT32, 0)), undefined, zeros
        )
        loop = Loop(builder, "rows", builder.sdiv(rows, constant(LANES)), [to, source])
        place = pointer_to(builder, loop.carried[0], 0, VECTOR)
        old = builder.load(place, align=8, typ=VECTOR)
        new = builder.load(pointer_to(builder, loop.carried[1], 0, VECTOR), align=8, typ=VECTOR)
        builder.store(builder.fadd(old, builder.fmul(factors, new)), place, align=8)
        loop.close([builder.add(address, constant(8 * LANES)) for address in loop.carried])
        return context.get_dummy_value()

    return types.void(*[types.intp] * 4), codegen


add_multiple = intrinsic(_add_multiple)


def _masked(builder: Any, what: str, result: Any, arguments: list[Any]) -> Any:
    """Call llvm.masked.load or llvm.masked.store."""
    name = f"llvm.masked.{what}.v{LANES}f64.p0"
    function = builder.module.globals.get(name)
    if function is None:
        function = ir.Function(builder.module, ir.FunctionType(result, [value.type for value in arguments]), name)
    return builder.call(function, arguments)


def _first_lanes(builder: Any, count: Any) -> Any:
    """A mask that is true in the first `count` lanes."""
    kind = ir.VectorType(INT64, LANES)
    undefined = ir.Constant(kind, ir.Undefined)
    zeros = ir.Constant(ir.VectorType(INT32, LANES), [0] * LANES)
    counts = builder.shuffle_vector(builder.insert_element(undefined, count, ir.Constant(INT32, 0)), undefined, zeros)
    return builder.icmp_signed("<", ir.Constant(kind, list(range(LANES))), counts)


def _add_tail(builder: Any, to: Any, source: Any, mask: Any) -> None:
    """Add one vector under a mask; memory outside the mask is not touched."""
    align = ir.Constant(INT32, 8)
    nothing = ir.Constant(VECTOR, [0.0] * LANES)
    at_to = pointer_to(builder, to, 0, VECTOR)
    old = _masked(builder, "load", VECTOR, [at_to, align, mask, nothing])
    new = _masked(builder, "load", VECTOR, [pointer_to(builder, source, 0, VECTOR), align, mask, nothing])
    _masked(builder, "store", ir.VoidType(), [builder.fadd(old, new), at_to, align, mask])


def _add_columns(builder: Any, full: Any, mask: Any, args: Any) -> None:
    """Add all columns, each of `full` whole vectors (0 is passed as None) and a tail."""
    to, ldto, source, ldsource, columns = args
    step_to, step = builder.mul(ldto, constant(8)), builder.mul(ldsource, constant(8))
    loop = Loop(builder, "columns", columns, [to, source])
    at_to, at = loop.carried
    tail_to, tail = at_to, at
    if full is not None:
        inner = Loop(builder, "rows", full, [at_to, at])
        place = pointer_to(builder, inner.carried[0], 0, VECTOR)
        old = builder.load(place, align=8, typ=VECTOR)
        new = builder.load(pointer_to(builder, inner.carried[1], 0, VECTOR), align=8, typ=VECTOR)
        builder.store(builder.fadd(old, new), place, align=8)
        tail_to, tail = (builder.add(address, constant(8 * LANES)) for address in inner.carried)
        inner.close([tail_to, tail])
    _add_tail(builder, tail_to, tail, mask)
    loop.close([builder.add(at_to, step_to), builder.add(at, step)])


def _add_rectangle(typing: Any, to: Any, ldto: Any, source: Any, ldsource: Any, rows: Any, columns: Any) -> Any:
    """Build (to, ldto, source, ldsource, rows, columns) -> None: add one column-major rectangle to another."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        to, ldto, source, ldsource, rows, columns = args
        full = builder.sdiv(builder.sub(rows, constant(1)), constant(LANES))
        mask = _first_lanes(builder, builder.sub(rows, builder.mul(full, constant(LANES))))
        pieces = (to, ldto, source, ldsource, columns)
        with builder.if_else(builder.icmp_signed("==", full, constant(0))) as (short, long):
            with short:
                _add_columns(builder, None, mask, pieces)
            with long:
                _add_columns(builder, full, mask, pieces)
        return context.get_dummy_value()

    return types.void(*[types.intp] * 6), codegen


add_rectangle = intrinsic(_add_rectangle)
