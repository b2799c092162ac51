"""The stiffness of small strains."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from pliant.algebra.compiled import inlined, kernel
from pliant.material._lanes import LANES, PARAMETERS, C


@kernel
def hooke(work, count):
    """C_ijkl = k delta_ij delta_kl + mu (delta_ik delta_jl + delta_il delta_jk)."""
    count = min(count, LANES)
    _hooke_rows(work, count, 0)
    _hooke_rows(work, count, 1)
    _hooke_rows(work, count, 2)


@inlined
def _hooke_rows(work, count, i):
    """The rows (i, .) of `hooke`."""
    for l in range(count):
        mu, k = work[(PARAMETERS + 1) * LANES + l], work[(PARAMETERS + 2) * LANES + l]
        for j in range(3):
            for n in range(3):
                for m in range(3):
                    value = k if i == j and n == m else 0.0
                    value += mu if i == n and j == m else 0.0
                    value += mu if i == m and j == n else 0.0
                    work[(C + 9 * (3 * i + j) + 3 * n + m) * LANES + l] = value
