"""The stiffness of small strains, in place and in a rotated frame."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from pliant.algebra.compiled import inlined, kernel
from pliant.material._lanes import LANES, PARAMETERS, C, R


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


@kernel
def warped_hooke(work, count):
    """Hooke's stiffness turned with the material, (R K0 R^T of the papers): for dF = R dE the stress is R Hooke(sym dE).

    C_ijkl = lambda R_ij R_kl + mu (delta_ik delta_jl + R_il R_kj), lambda and mu those of small strains.
    """
    count = min(count, LANES)
    _warped_rows(work, count, 0)
    _warped_rows(work, count, 1)
    _warped_rows(work, count, 2)


@inlined
def _warped_rows(work, count, i):
    """The rows (i, .) of `warped_hooke`."""
    for l in range(count):
        mu, lam = work[(PARAMETERS + 1) * LANES + l], work[PARAMETERS * LANES + l]
        for j in range(3):
            a = lam * work[(R + 3 * i + j) * LANES + l]
            for k in range(3):
                b = mu * work[(R + 3 * k + j) * LANES + l]
                for m in range(3):
                    value = a * work[(R + 3 * k + m) * LANES + l] + b * work[(R + 3 * i + m) * LANES + l]
                    value += mu if i == k and j == m else 0.0
                    work[(C + 9 * (3 * i + j) + 3 * k + m) * LANES + l] = value
