"""The corotational law: Hooke's law in the rotating frame of each material point."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from pliant.algebra.compiled import inlined, kernel
from pliant.material._lanes import ENERGY, LANES, PARAMETERS, SCALE, C, F, P, R
from pliant.material._polar_kernels import add_rotation_slope, resist_turning, rotate
from pliant.material.law import Array, Law, lame_constants


@dataclass(frozen=True, kw_only=True)
class Corotational(Law):
    """Corotational elasticity: Psi = mu |F - R|^2 + lambda/2 (tr(R^T F) - 3)^2 with the polar rotation R of F.

    Any rotation, small strain; the law of the papers (Müller and Gross 2004; with the polar decomposition, so that the
    force is the gradient of an energy, Chao et al. 2010). With S = R^T F, the derivative of the rotation is
    dR = R [omega], omega = (tr(S) I - S)^-1 axial(R^T dF - dF^T R), which gives

        P = 2 mu (F - R) + lambda (tr S - 3) R
        C : dF = 2 mu dF + lambda (R : dF) R + (lambda (tr S - 3) - 2 mu) dR.
    """

    code: ClassVar[int] = 1

    def parameters(self) -> Array:
        lam, mu = lame_constants(self.E, self.nu)
        return np.array([lam, mu, lam, 0.0, 0.0])


@kernel
def respond_corotational(work, count, level):
    """Energy, stress and (level 2) stiffness of the corotational law."""
    count = min(count, LANES)
    rotate(work, count)
    for l in range(count):
        mu, k = work[(PARAMETERS + 1) * LANES + l], work[(PARAMETERS + 2) * LANES + l]
        theta, square = -3.0, 0.0
        for t in range(9):
            f, r = work[(F + t) * LANES + l], work[(R + t) * LANES + l]
            theta += r * f
            square += (f - r) * (f - r)
            work[(P + t) * LANES + l] = 2.0 * mu * (f - r)
        for t in range(9):
            work[(P + t) * LANES + l] += k * theta * work[(R + t) * LANES + l]
        work[ENERGY * LANES + l] = mu * square + 0.5 * k * theta * theta
        work[SCALE * LANES + l] = k * theta - 2.0 * mu
    if level > 1:
        _stretch_rows(work, count, 0)
        _stretch_rows(work, count, 1)
        _stretch_rows(work, count, 2)
        resist_turning(work, count)
        add_rotation_slope(work, count)


@inlined
def _stretch_rows(work, count, i):
    """The rows (i, .) of C = k R (x) R + 2 mu I: the stiffness at a fixed rotation."""
    for l in range(count):
        mu2, k = 2.0 * work[(PARAMETERS + 1) * LANES + l], work[(PARAMETERS + 2) * LANES + l]
        for j in range(3):
            a = k * work[(R + 3 * i + j) * LANES + l]
            for t in range(9):
                value = a * work[(R + t) * LANES + l] + (mu2 if t == 3 * i + j else 0.0)
                work[(C + 9 * (3 * i + j) + t) * LANES + l] = value
