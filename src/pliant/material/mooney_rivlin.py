"""Mooney-Rivlin rubber."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.algebra.compiled import kernel
from pliant.errors import MaterialError
from pliant.material._invariant_kernels import add_second_curvature, find_invariants, from_invariants
from pliant.material._lanes import DERIVATIVES, ENERGY, INVARIANTS, LANES, PARAMETERS
from pliant.material.law import Array, Law, check_constant, lame_constants


@dataclass(frozen=True, kw_only=True)
class MooneyRivlin(Law):
    """Psi = C10 (I1 J^-2/3 - 3) + C01 (I2 J^-4/3 - 3) + K/2 (J - 1)^2.

    C10 + C01 = mu / 2 is fixed by E and nu, `second_share` = C01 / (C10 + C01) says how they divide (0: a neo-Hookean
    law in isochoric invariants). K = E / (3 (1 - 2 nu)). An inverted point (J <= 0) has infinite energy.
    """

    second_share: float = 0.2

    code: ClassVar[int] = 4

    def __post_init__(self) -> None:
        super().__post_init__()
        check_constant("second_share", self.second_share, remedy="give the share C01 / (C10 + C01) between 0 and 1")
        if self.second_share > 1:
            raise MaterialError(
                f"second_share is {self.second_share}", remedy="give the share C01 / (C10 + C01) between 0 and 1"
            )

    @classmethod
    def from_constants(cls, *, C10: float, C01: float, K: float) -> MooneyRivlin:
        """The law with the constants C10, C01 and bulk modulus K [Pa] of a data sheet."""
        remedy = "give constants in pascal, C10 and C01 not both zero, K > 0"
        shear = 2 * (check_constant("C10", C10, remedy=remedy) + check_constant("C01", C01, remedy=remedy))
        if shear == 0 or check_constant("K", K, remedy=remedy) == 0:
            raise MaterialError(f"C10 = {C10}, C01 = {C01}, K = {K}", remedy=remedy)
        E = 9 * K * shear / (3 * K + shear)
        return cls(E=E, nu=(3 * K - 2 * shear) / (2 * (3 * K + shear)), second_share=2 * C01 / shear)

    def parameters(self) -> Array:
        lam, mu = lame_constants(self.E, self.nu)
        C01 = 0.5 * mu * self.second_share
        return np.array([lam, mu, lam + 2 * mu / 3, 0.5 * mu - C01, C01])


@kernel
def respond_mooney_rivlin(work, count, level):
    """Energy, stress and (level 2) stiffness, from the derivatives of the energy by the invariants."""
    count = min(count, LANES)
    find_invariants(work, count)
    for l in range(count):
        k, C10 = work[(PARAMETERS + 2) * LANES + l], work[(PARAMETERS + 3) * LANES + l]
        C01 = work[(PARAMETERS + 4) * LANES + l]
        I1, I2, J = work[INVARIANTS * LANES + l], work[(INVARIANTS + 1) * LANES + l], work[(INVARIANTS + 2) * LANES + l]
        a = math.exp(-2.0 / 3.0 * math.log(J)) if J > 0.0 else np.nan
        b, growth = a * a, J - 1.0
        for t in range(9):
            work[(DERIVATIVES + t) * LANES + l] = 0.0
        slope = -2.0 / 3.0 * C10 * I1 * a / J - 4.0 / 3.0 * C01 * I2 * b / J + k * growth
        work[DERIVATIVES * LANES + l] = C10 * a
        work[(DERIVATIVES + 1) * LANES + l] = C01 * b
        work[(DERIVATIVES + 2) * LANES + l] = slope
        work[(DERIVATIVES + 5) * LANES + l] = -2.0 / 3.0 * C10 * a / J
        work[(DERIVATIVES + 7) * LANES + l] = -4.0 / 3.0 * C01 * b / J
        work[(DERIVATIVES + 8) * LANES + l] = (10.0 * C10 * I1 * a + 28.0 * C01 * I2 * b) / (9.0 * J * J) + k
        energy = C10 * (I1 * a - 3.0) + C01 * (I2 * b - 3.0) + 0.5 * k * growth * growth
        work[ENERGY * LANES + l] = energy if J > 0.0 else np.inf
    from_invariants(work, count, level)
    if level > 1:
        add_second_curvature(work, count)
