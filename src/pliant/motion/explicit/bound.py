"""The longest stable step: from the highest frequency that a lattice can have."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pliant.motion.explicit import _spring_sums as kernels
from pliant.motion.explicit.motors import Coupling
from pliant.motion.explicit.springs import Array, Springs
from pliant.shape import Lattice

REACH = {"verlet": 2.0, "semi-implicit": 2.0, "forward": 2.0, "rk4": 2.0 * np.sqrt(2.0)}
"""Largest omega h of an undamped oscillator at which the integrator is stable. Forward Euler never is: it takes Verlet's."""

ITERATIONS = 30


def highest_frequency(
    springs: Springs, extra: Array, steepness: Array | None = None, couplings: Sequence[Coupling] = ()
) -> float:
    """The highest angular frequency [rad/s] about rest, to about a percent and not below.

    By Lanczos' method on M^-1/2 (K + D) M^-1/2, D = `extra` [n] [N/m] (contact, hubs of motors): the largest Ritz value plus
    its residual, or Gershgorin's bound where that is smaller: max over nodes of (2 sum of k + D) / m. couplings: of hubs with
    their bases, in K, and in Gershgorin's bound by |a - b|^2 <= 2 |a|^2 + 2 |b|^2. steepness [m]: factor on the constants
    where a law is steeper than linear. Supports are left out; they lower frequencies only.
    """
    k = springs.constants if steepness is None else springs.constants * steepness
    ends = springs.springs
    d = springs.points[ends[:, 1]] - springs.points[ends[:, 0]]
    direction = d / np.maximum(np.linalg.norm(d, axis=1), 1e-300)[:, None]
    sums = np.bincount(ends.ravel(), np.repeat(k, 2), minlength=len(springs.points))
    rates = (2.0 * sums + extra) / springs.masses
    for coupling in couplings:
        rates[coupling.hub] += coupling.k / springs.masses[coupling.hub]
        rates[coupling.base] += 2.0 * coupling.rate
    return float(np.sqrt(min(float(rates.max()), _largest_eigenvalue(springs, k, direction, extra, couplings))))


def _largest_eigenvalue(
    springs: Springs, k: Array, direction: Array, extra: Array, couplings: Sequence[Coupling]
) -> float:
    root = 1.0 / np.sqrt(springs.masses)[:, None]
    v = np.random.default_rng(0).normal(size=springs.points.shape)
    v /= np.linalg.norm(v)
    before, product = np.zeros_like(v), np.empty_like(v)
    alpha, beta = [], [0.0]
    for _ in range(min(ITERATIONS, v.size)):
        kernels.times_stiffness(springs.springs, k, direction, extra, root * v, product)
        for coupling in couplings:
            coupling.add(root * v, product)
        w = root * product - beta[-1] * before
        alpha.append(float(np.vdot(v, w)))
        w -= alpha[-1] * v
        beta.append(float(np.linalg.norm(w)))
        if beta[-1] <= 1e-12 * abs(alpha[0]):
            break
        before, v = v, w / beta[-1]
    off = np.array(beta[1 : len(alpha)])
    values, vectors = np.linalg.eigh(np.diag(alpha) + np.diag(off, 1) + np.diag(off, -1))
    return float(values[-1] + beta[-1] * abs(vectors[-1, -1]))


def stiffest_cell(lattice: Lattice, E: float, density: float, touch: Sequence[tuple[float, float]] = ()) -> float:
    """No lattice of these cells, of whatever materials, has a higher angular frequency [rad/s] than its stiffest cell alone.

    With K and M sums over cells, every Rayleigh quotient is a mean of those of the cells (Irons and Treharne 1971). touch: for
    every obstacle its stiffness [N/m] (0: a third of the sum of the node's constants) and a factor for its damping.
    """
    stiffness, volumes = lattice.stiffness_shares.tocsc(), lattice.volume_shares.tocsc()
    cubes = lattice.cells.shape[1] == 8
    highest = 0.0
    for cell in range(1 if cubes else len(lattice.cells)):
        rows = stiffness.indices[stiffness.indptr[cell] : stiffness.indptr[cell + 1]]
        k = E * stiffness.data[stiffness.indptr[cell] : stiffness.indptr[cell + 1]]
        nodes = volumes.indices[volumes.indptr[cell] : volumes.indptr[cell + 1]]
        order = np.argsort(nodes)
        masses = density * volumes.data[volumes.indptr[cell] : volumes.indptr[cell + 1]][order]
        ends = np.searchsorted(nodes[order], lattice.springs[rows])
        own = np.bincount(ends.ravel(), np.repeat(k, 2), minlength=len(nodes)) / 3.0
        extra = np.zeros(len(nodes))
        for given, factor in touch:
            extra += factor * (given if given else own)
        K = np.zeros((len(nodes), 3, len(nodes), 3))
        for (i, j), constant, row in zip(ends, k, rows, strict=True):
            d = lattice.points[lattice.springs[row, 1]] - lattice.points[lattice.springs[row, 0]]
            block = constant * np.outer(d, d) / (d @ d)
            for a, b, sign in ((i, i, 1.0), (j, j, 1.0), (i, j, -1.0), (j, i, -1.0)):
                K[a, :, b, :] += sign * block
        for i in range(len(nodes)):
            K[i, :, i, :] += extra[i] * np.eye(3)
        root = np.repeat(1.0 / np.sqrt(masses), 3)
        matrix = root[:, None] * K.reshape(3 * len(nodes), -1) * root
        highest = max(highest, float(np.linalg.eigvalsh(matrix)[-1]))
    return float(np.sqrt(highest))
