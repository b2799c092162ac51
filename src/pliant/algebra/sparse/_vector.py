"""Products of a few columns of a panel with one or two vectors, written directly in LLVM.

    subtract_columns:   z <- z - P x,       P of shape (rows, columns), z and x one or two vectors
    dot_columns:        x <- P^T z

Addresses are integers (bytes), strides count doubles; rows is a multiple of STEP, at least STEP. `z_step` and
`x_step` lead from the first vector to the second.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pliant.algebra.sparse._move import Loop
from pliant.algebra.sparse._tile import CONTRACT, DOUBLE, INT32, constant, pointer_to

STEP = 4
"""Doubles per vector: loads from memory are the limit here, and short vectors waste less at the ends of columns."""

_VECTOR = ir.VectorType(DOUBLE, STEP)


def _starts(builder: Any, base: Any, step: Any, count: int) -> list[Any]:
    """base, base + step, ..."""
    return [builder.add(base, builder.mul(step, constant(8 * k))) for k in range(count)]


def _load(builder: Any, address: Any) -> Any:
    return builder.load(pointer_to(builder, address, 0, _VECTOR), align=8, typ=_VECTOR)


def _broadcast(builder: Any, address: Any, offset: int) -> Any:
    """A vector with the double at address + offset in every lane."""
    undefined = ir.Constant(_VECTOR, ir.Undefined)
    lanes = ir.Constant(ir.VectorType(INT32, STEP), [0] * STEP)
    scalar = builder.load(pointer_to(builder, address, offset, DOUBLE), align=8, typ=DOUBLE)
    return builder.shuffle_vector(builder.insert_element(undefined, scalar, ir.Constant(INT32, 0)), undefined, lanes)


def _sum(builder: Any, vector: Any) -> Any:
    """The sum of the lanes."""
    name = f"llvm.vector.reduce.fadd.v{STEP}f64"
    function = builder.module.globals.get(name)
    if function is None:
        function = ir.Function(builder.module, ir.FunctionType(DOUBLE, [DOUBLE, _VECTOR]), name)
    return builder.call(function, [ir.Constant(DOUBLE, 0.0), vector], fastmath=("reassoc", "nsz"))


def _make(columns: int, vectors: int, mode: str) -> Callable[..., None]:
    """Build (z, z_step, panel, stride, x, x_step, rows) -> None as a numba intrinsic."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        z, z_step, panel, stride, x, x_step, rows = args
        addresses = _starts(builder, panel, stride, columns) + _starts(builder, z, z_step, vectors)
        coefficients = _starts(builder, x, x_step, vectors)
        count = builder.sdiv(rows, constant(STEP))
        if mode == "subtract":
            factors = [_broadcast(builder, at, 8 * j) for at in coefficients for j in range(columns)]
            loop = Loop(builder, "rows", count, addresses)
            entries = [_load(builder, address) for address in loop.carried[:columns]]
            for v, address in enumerate(loop.carried[columns:]):
                value = _load(builder, address)
                for j, entry in enumerate(entries):
                    product = builder.fmul(entry, factors[v * columns + j], flags=CONTRACT)
                    value = builder.fsub(value, product, flags=CONTRACT)
                builder.store(value, pointer_to(builder, address, 0, _VECTOR), align=8)
            loop.close([builder.add(address, constant(8 * STEP)) for address in loop.carried])
        else:
            zeros = [ir.Constant(_VECTOR, [0.0] * STEP)] * (columns * vectors)
            loop = Loop(builder, "rows", count, addresses + zeros)
            places, sums = loop.carried[: columns + vectors], loop.carried[columns + vectors :]
            entries = [_load(builder, address) for address in places[:columns]]
            added = []
            for v, address in enumerate(places[columns:]):
                value = _load(builder, address)
                for j, entry in enumerate(entries):
                    product = builder.fmul(entry, value, flags=CONTRACT)
                    added.append(builder.fadd(sums[v * columns + j], product, flags=CONTRACT))
            loop.close([builder.add(address, constant(8 * STEP)) for address in places] + added)
            for v, at in enumerate(coefficients):
                for j in range(columns):
                    builder.store(
                        _sum(builder, added[v * columns + j]), pointer_to(builder, at, 8 * j, DOUBLE), align=8
                    )
        return context.get_dummy_value()

    def typed(typing: Any, z: Any, z_step: Any, panel: Any, stride: Any, x: Any, x_step: Any, rows: Any) -> Any:
        return types.void(*[types.intp] * 7), codegen

    typed.__name__ = f"{mode}_{columns}_columns_{vectors}_vectors"
    return intrinsic(typed)  # type: ignore[no-any-return]


subtract_six_from_one = _make(6, 1, "subtract")
subtract_six_from_two = _make(6, 2, "subtract")
subtract_three_from_one = _make(3, 1, "subtract")
subtract_three_from_two = _make(3, 2, "subtract")
dot_six_with_one = _make(6, 1, "dot")
dot_six_with_two = _make(6, 2, "dot")
dot_three_with_one = _make(3, 1, "dot")
dot_three_with_two = _make(3, 2, "dot")
