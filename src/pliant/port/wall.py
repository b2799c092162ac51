"""Walls of cavities as patches: cut to the size of the body's elements, flat or curved like its shape functions."""

from __future__ import annotations

from functools import cache
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


def cut_to_size(points: Array, triangles: Ids, size: float) -> tuple[Array, Ids]:
    """The same flat triangles cut at the middles of edges until none is longer than `size` [m].

    A pressure acts on a body through the wall's points, so these must be as close together as the body's nodes.
    """
    while True:
        edges, number = _edges(triangles)
        long = np.linalg.norm(points[edges[:, 0]] - points[edges[:, 1]], axis=1) > size * (1 + 1e-9)
        if not long.any():
            return points, triangles
        middle = np.where(long, len(points) + np.cumsum(long) - 1, -1)
        points = np.concatenate([points, points[edges[long]].mean(axis=1)])
        triangles = np.concatenate([_cut(t, m) for t, m in zip(triangles, middle[number], strict=True)])


def with_middles(points: Array, triangles: Ids) -> tuple[Array, Ids]:
    """Points and six-node patches [t, 6] (corners, then the middles of edges 01, 12, 20) of flat triangles."""
    edges, number = _edges(triangles)
    return np.concatenate([points, points[edges].mean(axis=1)]), np.concatenate(
        [triangles, len(points) + number], axis=1
    )


def volume_form(patches: Ids) -> tuple[Ids, Array]:
    """Triples [t, 3] of points and factors [t] with V = sum s det [p_a, p_b, p_c] for patches of three or six nodes.

    With x = sum N_a p_a on a patch, V = 1/3 int x . (dx/du x dx/dv) du dv; the determinant is antisymmetric, so only
    triples a < b < c remain. Triples along an edge cancel between neighbours, up to those that do not, which are kept.
    """
    local, factors = _patch_form(patches.shape[1])
    triples = patches[:, local].reshape(-1, 3)
    weights = np.tile(factors, len(patches))
    order = np.argsort(triples, axis=1)
    odd = np.array([[0, 2, 1], [1, 0, 2], [2, 1, 0]])
    sign = np.where((order[:, None] == odd).all(axis=2).any(axis=1), -1.0, 1.0)
    unique, place = np.unique(np.take_along_axis(triples, order, axis=1), axis=0, return_inverse=True)
    total = np.bincount(place.reshape(-1), sign * weights, minlength=len(unique))
    kept = np.abs(total) > 1e-14
    return unique[kept], np.asarray(total[kept], dtype=float)


@cache
def _patch_form(nodes: int) -> tuple[Ids, Array]:
    """Triples of a patch's own nodes and their factors: 1/3 sum over permutations of sign int N_a N_b,u N_c,v."""
    N, Nu, Nv, weights = _triangle_shape(nodes)
    T = np.einsum("q,qa,qb,qc->abc", weights, N, Nu, Nv) / 3
    triples = list(combinations(range(nodes), 3))
    signs = {p: np.linalg.det(np.eye(3)[list(p)]) for p in permutations(range(3))}
    factors = [sum(sign * T[t[p[0]], t[p[1]], t[p[2]]] for p, sign in signs.items()) for t in triples]
    kept = np.abs(factors) > 1e-14
    return np.array(triples, np.int64)[kept], np.array(factors)[kept]


def _triangle_shape(nodes: int) -> tuple[Array, Array, Array, Array]:
    """N, dN/du, dN/dv [q, nodes] and weights of a rule exact for degree 4 (Gauss-Legendre on the collapsed square)."""
    g, w = np.polynomial.legendre.leggauss(4)
    s, t = np.meshgrid((g + 1) / 2, (g + 1) / 2, indexing="ij")
    u, v = s.ravel(), (t * (1 - s)).ravel()
    weights = (np.outer(w, w) / 4 * (1 - s)).ravel()
    L = np.stack([1 - u - v, u, v], axis=1)
    dL = np.array([[-1.0, -1.0], [1.0, 0.0], [0.0, 1.0]])
    if nodes == 3:
        ones = np.ones((len(u), 1))
        return L, ones * dL[:, 0], ones * dL[:, 1], weights
    ends = ((0, 1), (1, 2), (2, 0))
    N = np.concatenate([L * (2 * L - 1), np.stack([4 * L[:, a] * L[:, b] for a, b in ends], axis=1)], axis=1)
    slopes = [
        np.concatenate(
            [
                (4 * L - 1) * dL[:, k],
                np.stack([4 * (L[:, a] * dL[b, k] + L[:, b] * dL[a, k]) for a, b in ends], axis=1),
            ],
            axis=1,
        )
        for k in range(2)
    ]
    return N, slopes[0], slopes[1], weights


def _edges(triangles: Ids) -> tuple[Ids, Ids]:
    """Unique edges [e, 2] and the number of each triangle's edges 01, 12, 20, [t, 3]."""
    ends = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    edges, number = np.unique(ends, axis=0, return_inverse=True)
    return edges, number.reshape(-1, 3).astype(np.int64)


def _cut(triangle: Ids, middle: Ids) -> Ids:
    """A triangle cut at the middles (-1: none) of its edges 01, 12, 20."""
    cuts = int((middle >= 0).sum())
    if cuts == 0:
        return triangle[None]
    first = int(np.argmax(middle >= 0)) if cuts == 1 else (int(np.argmin(middle >= 0)) + 1) % 3 if cuts == 2 else 0
    a, b, c = np.roll(triangle, -first)
    m, n, o = np.roll(middle, -first)
    if cuts == 1:
        return np.array([[a, m, c], [m, b, c]])
    if cuts == 2:  # edges ab and bc
        return np.array([[m, b, n], [a, m, n], [a, n, c]])
    return np.array([[a, m, o], [m, b, n], [o, n, c], [m, n, o]])
