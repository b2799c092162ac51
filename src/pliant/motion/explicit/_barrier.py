"""Where threads wait for each other: a counter that every thread raises once per meeting."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from pliant.algebra.compiled import kernel
from pliant.motion.explicit import _vectors as vec

yield_processor = types.ExternalFunction("sched_yield", types.int32())
"""POSIX: let another thread run. A waiting thread must not hold the core that the others need."""

PATIENCE = 4000
"""Looks at the counter before the processor is given away: some microseconds."""


@intrinsic  # type: ignore[untyped-decorator]
def _raise_by_one(typing: Any, counter: Any) -> Any:
    """Add one to counter[0] atomically."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at, _ = vec.address(context, builder, counter, args[0])
        builder.atomic_rmw("add", builder.inttoptr(at, vec.INT64.as_pointer()), vec.constant(1), "seq_cst")
        return context.get_dummy_value()

    return types.void(counter), codegen


@intrinsic  # type: ignore[untyped-decorator]
def _read(typing: Any, counter: Any) -> Any:
    """counter[0] as it is now, read from memory."""

    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        at, _ = vec.address(context, builder, counter, args[0])
        pointer = builder.inttoptr(at, ir.IntType(64).as_pointer())
        return builder.load_atomic(pointer, "seq_cst", 8, typ=vec.INT64)

    return types.int64(counter), codegen


@kernel
def meet(counter: Any, goal: int) -> None:
    """Wait until counter[0] has reached `goal`, which is the number of threads times the number of meetings so far."""
    _raise_by_one(counter)
    looks = 0
    while _read(counter) < goal:
        looks += 1
        if looks > PATIENCE:
            yield_processor()
