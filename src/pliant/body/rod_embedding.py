"""How points follow the sections of rods.

The centreline of an element of length L is the cubic through the centres of its two sections with their x axes as tangents, and
a point beside it stays in place as seen from both, mixed linearly. With 0 <= t <= 1 along the element and h the cubics of
Hermite,

    p = h00 c_a + h01 c_b + L (h10 x_a + h11 x_b) + (1 - t) R_a o_a + t R_b o_b,    x_a = (tip - c_a) / size

Both are linear in the nodes, sum w_n x_n with sum w_n = 1, so any motion of the whole carries points along exactly; those of a
section follow its four nodes only.
"""

from __future__ import annotations

import numpy as np

from pliant.body.body import Array, Ids

SNAP = 1e-9
"""Points as near to a section as that, over the length of an element, are on it."""


def rod_weights(t: Array, lengths: Array, size: float, before: Array, after: Array) -> Array:
    """Weights (p, 8) on the nodes of two sections of points at t (p,) of elements of lengths (p,), beside the centreline by (p,
    3) as seen from the one section and from the other [m]."""
    t = np.where(t < SNAP, 0.0, np.where(t > 1 - SNAP, 1.0, t))
    out = np.zeros((len(t), 8))
    out[:, 1:4] = (1 - t)[:, None] * before / size
    out[:, 5:8] = t[:, None] * after / size
    out[:, 1] += lengths * t * (1 - t) ** 2 / size
    out[:, 5] -= lengths * t * t * (1 - t) / size
    out[:, 0] = (1 + 2 * t) * (1 - t) ** 2 - out[:, 1:4].sum(axis=1)
    out[:, 4] = t * t * (3 - 2 * t) - out[:, 5:8].sum(axis=1)
    return out


class RodEmbedding:
    """Finds points beside rods at rest."""

    def __init__(self, rest: Array, elements: Ids, lengths: Array, size: float) -> None:
        """rest (f, 4, 3): the nodes of the sections; elements (m, 2), lengths (m,); size: of the sections' frames [m]."""
        self._elements, self._lengths, self._size = elements, lengths, size
        self._nodes = rest[elements].reshape(-1, 8, 3)
        self._frames = (rest[:, 1:] - rest[:, :1]).swapaxes(1, 2) / size

    def _center(self, e: Ids, t: Array) -> tuple[Array, Array]:
        """The centreline at t of elements e, and its slope by t, (p, 3) each [m]."""
        a, b = self._nodes[e, 0], self._nodes[e, 4]
        lengths = (self._lengths[e] / self._size)[:, None]
        x, y = lengths * (self._nodes[e, 1] - a), lengths * (self._nodes[e, 5] - b)
        t = t[:, None]
        there = a + t * t * (3 - 2 * t) * (b - a) + t * (1 - t) ** 2 * x - t * t * (1 - t) * y
        return there, 6 * t * (1 - t) * (b - a) + (1 - t) * (1 - 3 * t) * x - t * (2 - 3 * t) * y

    def centers(self, e: Ids, t: Array) -> Array:
        """The centreline at t (p,) of elements e (p,), (p, 3) [m]."""
        return self._center(e, t)[0]

    def nearest(self, points: Array) -> tuple[Ids, Array]:
        """The element (p,) that each of the points (p, 3) is nearest to, and where along it, 0 <= t <= 1 (p,)."""
        a, b = self._nodes[:, 0], self._nodes[:, 4]
        chord = b - a
        t = np.einsum("pmi,mi->pm", points[:, None] - a, chord) / np.einsum("mi,mi->m", chord, chord)
        t = np.clip(t, 0.0, 1.0)
        e = np.linalg.norm(a + t[:, :, None] * chord - points[:, None], axis=2).argmin(axis=1)
        t = t[np.arange(len(points)), e]
        for _ in range(20):
            here, along = self._center(e, t)
            off = np.einsum("pi,pi->p", points - here, along) / np.einsum("pi,pi->p", along, along)
            t = np.clip(t + off, 0.0, 1.0)
        return e, t

    def beside(self, e: Ids, t: Array, points: Array) -> tuple[Array, Array]:
        """Points (p, 3) as they are beside the centreline at t of elements e, seen from both sections, (p, 3) each [m]."""
        off = points - self.centers(e, t)
        ends = self._elements[e]
        before, after = (np.einsum("pij,pi->pj", self._frames[ends[:, k]], off) for k in (0, 1))
        return before, after

    def weights(self, points: Array) -> tuple[Ids, Array, Array]:
        """Nodes (p, 8) and weights (p, 8) of points (p, 3), and how far they are from the centreline (p,) [m]."""
        e, t = self.nearest(points)
        before, after = self.beside(e, t, points)
        nodes = (4 * self._elements[e][:, :, None] + np.arange(4)).reshape(-1, 8)
        weights = rod_weights(t, self._lengths[e], self._size, before, after)
        return nodes, weights, np.linalg.norm(before, axis=1)
