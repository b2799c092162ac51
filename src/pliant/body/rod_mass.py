"""The mass of rods on the nodes of their sections."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.body.body import Array
from pliant.body.rod_embedding import rod_weights
from pliant.body.section import Section


def element_masses(sections: Sequence[Section], lengths: Array, density: float, size: float, kind: str) -> Array:
    """Scalar masses M_ab = int w_a w_b dm (m, 8, 8) [kg] of elements on the nodes of their two sections, with the weights by
    which points follow them: consistent, or (lumped) with half of the element at each section. Rotary inertia is in both."""
    points, shares = np.polynomial.legendre.leggauss(5) if kind == "consistent" else (np.array([-1.0, 1.0]), np.ones(2))
    out = np.zeros((len(lengths), 8, 8))
    areas, Iy, Iz = (np.array([getattr(one, name) for one in sections]) for name in ("area", "Iy", "Iz"))
    nothing = np.zeros((len(lengths), 3))
    for point, share in zip(points, shares, strict=True):
        t = np.full(len(lengths), 0.5 + 0.5 * point)
        center = rod_weights(t, lengths, size, nothing, nothing)
        for factor, axis in ((areas, None), (Iz, 1), (Iy, 2)):  # int y^2 dA = Iz
            w = center
            if axis is not None:
                beside = np.tile(np.eye(3)[axis], (len(lengths), 1))
                w = rod_weights(t, lengths, size, beside, beside) - center
            out += (0.5 * share * density * lengths * factor)[:, None, None] * w[:, :, None] * w[:, None, :]
    return out
