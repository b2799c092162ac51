"""Hooke's law for small strains and small rotations."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.algebra.compiled import kernel
from pliant.material._hooke_kernels import hooke
from pliant.material._lanes import ENERGY, LANES, PARAMETERS, F, P
from pliant.material.law import Array, Law, lame_constants


@dataclass(frozen=True, kw_only=True)
class Linear(Law):
    """Linear elasticity: Psi = mu eps:eps + lambda/2 tr(eps)^2 with eps = (F + F^T)/2 - I.

    Exact superposition and one solve per answer, but a rigid rotation is taken for a strain: a body turned by an angle a
    feels strains of 1 - cos a. Use it for comparisons with theory, not for robots that bend.
    """

    code: ClassVar[int] = 0
    feels_rotation: ClassVar[bool] = True

    def parameters(self) -> Array:
        lam, mu = lame_constants(self.E, self.nu)
        return np.array([lam, mu, lam, 0.0, 0.0])


@kernel
def respond_linear(work, count, level):
    """Energy, stress and (level 2) stiffness of Hooke's law."""
    count = min(count, LANES)
    for l in range(count):
        mu, k = work[(PARAMETERS + 1) * LANES + l], work[(PARAMETERS + 2) * LANES + l]
        theta = work[F * LANES + l] + work[(F + 4) * LANES + l] + work[(F + 8) * LANES + l] - 3.0
        energy = 0.5 * k * theta * theta
        for i in range(3):
            for j in range(3):
                strain = 0.5 * (work[(F + 3 * i + j) * LANES + l] + work[(F + 3 * j + i) * LANES + l])
                strain -= 1.0 if i == j else 0.0
                energy += mu * strain * strain
                work[(P + 3 * i + j) * LANES + l] = 2.0 * mu * strain + (k * theta if i == j else 0.0)
        work[ENERGY * LANES + l] = energy
    if level > 1:
        hooke(work, count)
