"""What the model is wrong by, learned row by row."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math

from pliant.algebra.compiled import kernel


@kernel
def learn(predicted, measured, share, limit, value):
    """value [e] <- value + share (predicted - measured - value), within the limit; nothing where one is no number."""
    for r in range(value.shape[0]):
        if not abs(predicted[r] - measured[r]) < math.inf:
            return
    for r in range(value.shape[0]):
        value[r] = min(max(value[r] + share * (predicted[r] - measured[r] - value[r]), -limit), limit)
