"""Stable neo-Hookean rubber."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.algebra.compiled import kernel
from pliant.material._invariant_kernels import find_invariants, from_invariants
from pliant.material._lanes import DERIVATIVES, ENERGY, INVARIANTS, LANES, PARAMETERS
from pliant.material.law import Array, Law, lame_constants


@dataclass(frozen=True, kw_only=True)
class NeoHookean(Law):
    """Stable neo-Hookean law: Psi = mu/2 (I1 - 3) - mu (J - 1) + k/2 (J - 1)^2 with k = lambda + mu.

    The law of Smith, de Goes and Kim (2018) without its logarithm: finite energy and smooth forces for any F, inverted
    ones included; k is chosen so that small strains see the Lamé constants of E and nu.
    """

    code: ClassVar[int] = 3
    survives_inversion: ClassVar[bool] = True

    def parameters(self) -> Array:
        lam, mu = lame_constants(self.E, self.nu)
        return np.array([lam, mu, lam + mu, 0.0, 0.0])


@kernel
def respond_neo_hookean(work, count, level):
    """Energy, stress and (level 2) stiffness, from the derivatives of the energy by the invariants."""
    count = min(count, LANES)
    find_invariants(work, count)
    for l in range(count):
        mu, k = work[(PARAMETERS + 1) * LANES + l], work[(PARAMETERS + 2) * LANES + l]
        I1, growth = work[INVARIANTS * LANES + l], work[(INVARIANTS + 2) * LANES + l] - 1.0
        for t in range(9):
            work[(DERIVATIVES + t) * LANES + l] = 0.0
        work[DERIVATIVES * LANES + l] = 0.5 * mu
        work[(DERIVATIVES + 2) * LANES + l] = k * growth - mu
        work[(DERIVATIVES + 8) * LANES + l] = k
        work[ENERGY * LANES + l] = 0.5 * mu * (I1 - 3.0) - mu * growth + 0.5 * k * growth * growth
    from_invariants(work, count, level)
