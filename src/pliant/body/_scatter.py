"""From lanes to blocks: nine rows of a few lanes, transposed in registers and added to one 3x3 block per lane."""

from __future__ import annotations

from typing import Any, Final

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pliant.algebra.sparse._tile import DOUBLE, INT32, INT64, constant, pointer_to
from pliant.material._lanes import LANES

ABREAST: Final = 4
"""Lanes that are added at once."""


def _transposed(builder: Any, rows: list[Any]) -> list[Any]:
    """A square of vectors, transposed by shuffles of pairs of rows: neighbours, then those two apart."""
    count, step = len(rows), 1
    while step < count:
        places = range(count)
        low, high = (
            ir.Constant(ir.VectorType(INT32, count), chosen)
            for chosen in (
                [k if not k & step else count + k - step for k in places],
                [k + step if not k & step else count + k for k in places],
            )
        )
        out = list(rows)
        for i in places:
            if not i & step:
                out[i] = builder.shuffle_vector(rows[i], rows[i + step], low)
                out[i + step] = builder.shuffle_vector(rows[i], rows[i + step], high)
        rows, step = out, 2 * step
    return rows


def _add_abreast(typing: Any, source: Any, slots: Any, step: Any, blocks: Any) -> Any:
    """Build (source, slots, step, blocks) -> None: add nine rows of ABREAST lanes at the address `source` to `blocks`, each
    lane to the block of its slot (int32, 2 x block number), one every `step` bytes."""
    vector = ir.VectorType(DOUBLE, ABREAST)

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        source, slots, step, blocks = args
        rows = [
            builder.load(pointer_to(builder, source, 8 * LANES * row, vector), align=8, typ=vector) for row in range(9)
        ]
        upright = [_transposed(builder, rows[first : first + ABREAST]) for first in (0, ABREAST)]
        flipped = [_transposed(builder, [rows[k] for k in order]) for order in ((0, 3, 6, 1), (4, 7, 2, 5))]
        for lane in range(ABREAST):
            slot = builder.load(pointer_to(builder, slots, 0, INT32), align=4, typ=INT32)
            slots = builder.add(slots, step)
            number = builder.zext(builder.lshr(slot, ir.Constant(INT32, 1)), INT64)
            flip = builder.trunc(slot, ir.IntType(1))
            block = builder.add(blocks, builder.mul(number, constant(72)))
            for k in range(2):
                piece = builder.select(flip, flipped[k][lane], upright[k][lane])
                _add_to(builder, pointer_to(builder, block, 8 * ABREAST * k, vector), vector, piece)
            last = builder.extract_element(rows[8], ir.Constant(INT32, lane))
            _add_to(builder, pointer_to(builder, block, 64, DOUBLE), DOUBLE, last)
        return context.get_dummy_value()

    return types.void(*[types.intp] * 4), codegen


def _add_to(builder: Any, place: Any, kind: Any, value: Any) -> None:
    """Add to what is in memory."""
    builder.store(builder.fadd(builder.load(place, align=8, typ=kind), value), place, align=8)


add_abreast = intrinsic(_add_abreast)
