"""A tendon-driven Cosserat rod as a boundary value problem, solved by scipy: nothing of it is shared with what it is beside."""

from __future__ import annotations

import numpy as np
from scipy.integrate import solve_bvp
from scipy.spatial.transform import Rotation

ALONG = np.array([0.0, 0.0, -1.0])
"""The rod at rest."""


def curvature(inward, stiffness, holes, tensions):
    """u (n, 3) [1/m] in the axes of sections with R^T M = inward (n, 3), from K u = R^T M - sum r_i x T_i t_i, where t_i is
    along a + u x r_i; by iteration."""
    u = inward / stiffness
    for _ in range(20):
        way = ALONG + np.cross(u[:, None], holes)
        unit = way / np.linalg.norm(way, axis=2, keepdims=True)
        u = (inward - np.cross(holes, tensions[:, None] * unit).sum(axis=1)) / stiffness
    return u


def tendon_rod(length, stiffness, holes, tensions, ends, force):
    """Place (3,) [m] and rotation (3, 3) of the tip of a rod that bends and twists, and neither stretches nor shears.

    stiffness (3,) [N m^2] along x, y, z of the section at rest; holes (k, 3) [m]: of tendons that run along the rod, with
    tensions (k,) [N], through the first half (ends 0) or all of it (1); force (3,) [N] on the tip. Across a section, rod and
    tendons together carry the force F and the moment M with M' = -p' x F, M(L) = 0: what the rod lacks the tendons have. Halves
    are solved side by side, as the moment in the rod jumps between them.
    """
    half = length / 2
    acting = [tensions, np.where(np.asarray(ends) == 1, tensions, 0.0)]

    def slope(s, y):
        out = np.empty_like(y)
        for part, tension in enumerate(acting):
            own = y[10 * part : 10 * part + 10].T
            q, M = own[:, 3:7], own[:, 7:]
            turn = Rotation.from_quat(q)
            w = turn.apply(curvature(turn.apply(M, inverse=True), stiffness, holes, tension))
            along = turn.apply(np.tile(ALONG, (len(q), 1)))
            spun = 0.5 * (q[:, 3:] * w + np.cross(w, q[:, :3])), -0.5 * np.einsum("ni,ni->n", w, q[:, :3])[:, None]
            out[10 * part : 10 * part + 10] = np.concatenate([along, *spun, -np.cross(along, force)], axis=1).T
        return out

    def ends_meet(a, b):
        start = a[:7] - [0, 0, 0, 0, 0, 0, 1]
        return np.concatenate([start, b[17:], b[:10] - a[10:]])

    s = np.linspace(0, half, 21)
    guess = np.zeros((20, len(s)))
    guess[2], guess[12], guess[[6, 16]] = -s, -half - s, 1.0
    found = solve_bvp(slope, ends_meet, s, guess, tol=1e-5, max_nodes=2000)
    assert found.success, found.message
    tip = found.y[10:, -1]
    return tip[:3], Rotation.from_quat(tip[3:7]).as_matrix()
