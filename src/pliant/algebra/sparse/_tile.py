"""The register tile: a small matrix product held in vector registers, written directly in LLVM.

All dense work of the factorization is made of it. A tile of C has `vectors * LANES` rows and 6 or 3 columns; the loop
runs over the inner dimension and does one broadcast and `vectors` fused multiply-adds per column.

    subtract:   C <- C - A B^T
    negate:     C <- - A B^T                    (C is not read: no need to zero it first)
    solve:      C <- (C - A B^T) L^-T           (L lower triangular, with reciprocals on its diagonal)

Addresses are integers (bytes), strides count doubles. A and C are column-major with unit stride down the rows; entry
(j, p) of B is at b + 8 (j + p * ldb).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import binding, ir
from numba import types
from numba.extending import intrinsic

LANES = 8 if binding.get_host_cpu_features().get("avx512f", False) else 4
"""Doubles per vector: AVX-512 has 32 registers of 8; AVX2 16 of 4; elsewhere LLVM splits the vector of 4."""

_HEIGHTS = (3, 2, 1) if LANES == 8 else (2, 1, 1)
TALL, MIDDLE = _HEIGHTS[0] * LANES, _HEIGHTS[1] * LANES
"""Rows of the tiles; the smallest has LANES. The tall one has 18 or 12 accumulators for 6 columns, which hides the
latency of the multiply-add and reaches the peak of the machine."""

WIDE = 6
"""Columns of the large tile: two nodes. The small one has 3, and so no remainder is left."""

DOUBLE, INT64, INT32 = ir.DoubleType(), ir.IntType(64), ir.IntType(32)
VECTOR = ir.VectorType(DOUBLE, LANES)
CONTRACT = ("contract",)


def constant(value: int) -> Any:
    """A 64-bit integer."""
    return ir.Constant(INT64, value)


def pointer_to(builder: Any, base: Any, offset: int, kind: Any) -> Any:
    """The address base + offset as a pointer."""
    return builder.inttoptr(builder.add(base, constant(offset)), kind.as_pointer())


def broadcast(builder: Any, base: Any, offset: int) -> Any:
    """A vector with the double at base + offset in every lane."""
    undefined = ir.Constant(VECTOR, ir.Undefined)
    lanes = ir.Constant(ir.VectorType(INT32, LANES), [0] * LANES)
    scalar = builder.load(pointer_to(builder, base, offset, DOUBLE), align=8, typ=DOUBLE)
    return builder.shuffle_vector(builder.insert_element(undefined, scalar, ir.Constant(INT32, 0)), undefined, lanes)


def _columns_of(builder: Any, base: Any, stride: Any, vectors: int, columns: int) -> list[Any]:
    """Pointers to the vectors of a column-major tile, column after column."""
    out = []
    for j in range(columns):
        column = builder.add(base, builder.mul(stride, constant(8 * j)))
        out += [pointer_to(builder, column, 8 * LANES * v, VECTOR) for v in range(vectors)]
    return out


def _prefetch(builder: Any, place: Any) -> None:
    """Ask for the cache line at `place`, to be written: it arrives while the product is computed."""
    pointer = ir.IntType(8).as_pointer()
    kind = ir.FunctionType(ir.VoidType(), [pointer, INT32, INT32, INT32])
    prefetch = builder.module.declare_intrinsic("llvm.prefetch", [pointer], kind)
    to_write, keep, data = (ir.Constant(INT32, k) for k in (1, 3, 1))
    builder.call(prefetch, [builder.bitcast(place, pointer), to_write, keep, data])


def _product_loop(builder: Any, vectors: int, columns: int, args: Any) -> list[Any]:
    """- A B^T by a loop over the inner dimension, which may be zero; returns the vectors of the tile."""
    a, lda, b, ldb, depth = args
    start = [ir.Constant(VECTOR, [0.0] * LANES)] * (vectors * columns)
    before = builder.block
    loop = builder.append_basic_block("tile.loop")
    done = builder.append_basic_block("tile.done")
    step_a = builder.mul(lda, constant(8))
    step_b = builder.mul(ldb, constant(8))
    builder.cbranch(builder.icmp_signed(">", depth, constant(0)), loop, done)
    builder.position_at_end(loop)
    left, at_a, at_b = builder.phi(INT64), builder.phi(INT64), builder.phi(INT64)
    old = [builder.phi(VECTOR) for _ in start]
    column = [
        builder.load(pointer_to(builder, at_a, 8 * LANES * v, VECTOR), align=8, typ=VECTOR) for v in range(vectors)
    ]
    new = []
    for j in range(columns):
        factor = broadcast(builder, at_b, 8 * j)
        for v in range(vectors):
            product = builder.fmul(column[v], factor, flags=CONTRACT)
            new.append(builder.fsub(old[j * vectors + v], product, flags=CONTRACT))
    remaining = builder.sub(left, constant(1))
    for phi, first, after in (
        (left, depth, remaining),
        (at_a, a, builder.add(at_a, step_a)),
        (at_b, b, builder.add(at_b, step_b)),
        *zip(old, start, new, strict=True),
    ):
        phi.add_incoming(first, before)
        phi.add_incoming(after, loop)
    builder.cbranch(builder.icmp_signed(">", remaining, constant(0)), loop, done)
    builder.position_at_end(done)
    result = [builder.phi(VECTOR) for _ in start]
    for phi, first, after in zip(result, start, new, strict=True):
        phi.add_incoming(first, before)
        phi.add_incoming(after, loop)
    return result


def _substitute(builder: Any, tile: list[Any], vectors: int, columns: int, triangle: Any) -> list[Any]:
    """tile L^-T by forward substitution over the columns; L is packed by columns of WIDE at `triangle`."""
    tile = list(tile)
    for j in range(columns):
        for q in range(j):
            factor = broadcast(builder, triangle, 8 * (WIDE * q + j))
            for v in range(vectors):
                product = builder.fmul(tile[q * vectors + v], factor, flags=CONTRACT)
                tile[j * vectors + v] = builder.fsub(tile[j * vectors + v], product, flags=CONTRACT)
        reciprocal = broadcast(builder, triangle, 8 * (WIDE * j + j))
        for v in range(vectors):
            tile[j * vectors + v] = builder.fmul(tile[j * vectors + v], reciprocal)
    return tile


def _make(vectors: int, columns: int, mode: str) -> Callable[..., None]:
    """Build the tile (c, ldc, a, lda, b, ldb, depth[, triangle]) -> None as a numba intrinsic."""
    arguments = 8 if mode == "solve" else 7

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        c, ldc, a, lda, b, ldb, depth = args[:7]
        places = _columns_of(builder, c, ldc, vectors, columns)
        for place in places:
            _prefetch(builder, place)
        tile = _product_loop(builder, vectors, columns, (a, lda, b, ldb, depth))
        if mode != "negate":
            before = [builder.load(place, align=8, typ=VECTOR) for place in places]
            tile = [builder.fadd(x, y) for x, y in zip(before, tile, strict=True)]
        if mode == "solve":
            tile = _substitute(builder, tile, vectors, columns, args[7])
        for place, vector in zip(places, tile, strict=True):
            builder.store(vector, place, align=8)
        return context.get_dummy_value()

    signature = types.void(*[types.intp] * arguments)
    if mode == "solve":

        def typed(typing: Any, c: Any, ldc: Any, a: Any, lda: Any, b: Any, ldb: Any, depth: Any, triangle: Any) -> Any:
            return signature, codegen
    else:

        def typed(typing: Any, c: Any, ldc: Any, a: Any, lda: Any, b: Any, ldb: Any, depth: Any) -> Any:  # type: ignore[misc]
            return signature, codegen

    typed.__name__ = f"tile_{mode}_{vectors}x{columns}"
    return intrinsic(typed)  # type: ignore[no-any-return]


subtract_tall_wide = _make(_HEIGHTS[0], 6, "subtract")
subtract_tall_slim = _make(_HEIGHTS[0], 3, "subtract")
subtract_middle_wide = _make(_HEIGHTS[1], 6, "subtract")
subtract_middle_slim = _make(_HEIGHTS[1], 3, "subtract")
subtract_flat_wide = _make(_HEIGHTS[2], 6, "subtract")
subtract_flat_slim = _make(_HEIGHTS[2], 3, "subtract")
negate_tall_wide = _make(_HEIGHTS[0], 6, "negate")
negate_tall_slim = _make(_HEIGHTS[0], 3, "negate")
negate_middle_wide = _make(_HEIGHTS[1], 6, "negate")
negate_middle_slim = _make(_HEIGHTS[1], 3, "negate")
negate_flat_wide = _make(_HEIGHTS[2], 6, "negate")
negate_flat_slim = _make(_HEIGHTS[2], 3, "negate")
solve_tall_wide = _make(_HEIGHTS[0], 6, "solve")
solve_tall_slim = _make(_HEIGHTS[0], 3, "solve")
solve_middle_wide = _make(_HEIGHTS[1], 6, "solve")
solve_middle_slim = _make(_HEIGHTS[1], 3, "solve")
solve_flat_wide = _make(_HEIGHTS[2], 6, "solve")
solve_flat_slim = _make(_HEIGHTS[2], 3, "solve")
