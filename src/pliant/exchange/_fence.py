"""Order among what two processes see of each other's memory.

A processor may let others see what it writes in another order (ARM does; x86 keeps the order of writes and of reads). What
is written before a fence is seen before what is written after it, and likewise for reading.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.extending import intrinsic

from pliant.algebra.compiled import kernel


@intrinsic  # type: ignore[untyped-decorator]
def _fence(typing: Any) -> Any:
    def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        builder.fence("seq_cst")
        return context.get_dummy_value()

    return types.void(), codegen


@kernel
def fence() -> None:
    """All reads and writes before happen before all after (0.1 us)."""
    _fence()
