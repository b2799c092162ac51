"""St. Venant-Kirchhoff: Hooke's law in the Green strain."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.algebra.compiled import kernel
from pliant.material._invariant_kernels import add_second_curvature, find_invariants, from_invariants
from pliant.material._lanes import DERIVATIVES, ENERGY, INVARIANTS, LANES, PARAMETERS
from pliant.material.law import Array, Law, lame_constants


@dataclass(frozen=True, kw_only=True)
class StVenantKirchhoff(Law):
    """Psi = mu G:G + lambda/2 tr(G)^2 with the Green strain G = (F^T F - I)/2.

    Any rotation, moderate strain. It gets softer under compression and collapses below a stretch of about 0.58
    (1/sqrt(3)): use NeoHookean there. In invariants, with |F^T F|^2 = I1^2 - 2 I2:
    Psi = mu/4 (I1^2 - 2 I2 - 2 I1 + 3) + lambda/8 (I1 - 3)^2.
    """

    code: ClassVar[int] = 2

    def parameters(self) -> Array:
        lam, mu = lame_constants(self.E, self.nu)
        return np.array([lam, mu, lam, 0.0, 0.0])


@kernel
def respond_st_venant_kirchhoff(work, count, level):
    """Energy, stress and (level 2) stiffness, from the derivatives of the energy by the invariants."""
    count = min(count, LANES)
    find_invariants(work, count)
    for l in range(count):
        mu, k = work[(PARAMETERS + 1) * LANES + l], work[(PARAMETERS + 2) * LANES + l]
        I1, I2 = work[INVARIANTS * LANES + l], work[(INVARIANTS + 1) * LANES + l]
        for t in range(9):
            work[(DERIVATIVES + t) * LANES + l] = 0.0
        work[DERIVATIVES * LANES + l] = 0.5 * mu * (I1 - 1.0) + 0.25 * k * (I1 - 3.0)
        work[(DERIVATIVES + 1) * LANES + l] = -0.5 * mu
        work[(DERIVATIVES + 3) * LANES + l] = 0.5 * mu + 0.25 * k
        shape = 0.25 * mu * (I1 * I1 - 2.0 * I2 - 2.0 * I1 + 3.0)
        work[ENERGY * LANES + l] = shape + 0.125 * k * (I1 - 3.0) * (I1 - 3.0)
    from_invariants(work, count, level)
    if level > 1:
        add_second_curvature(work, count)
