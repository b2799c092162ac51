"""The skin of rods: outlines of their sections, swept."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.body.body import Array
from pliant.body.rod_embedding import RodEmbedding, rod_weights
from pliant.body.rod_layout import RodLayout
from pliant.body.section import POINTS
from pliant.body.surface import CarriedSurface

RINGS = 3
"""Rings per element: its bend is drawn, too."""


def swept(layout: RodLayout, size: float) -> CarriedSurface:
    """One closed tube per curve; rings of outline points carried by the sections before and after them."""
    outlines = np.array([one.outline for one in layout.ends])
    nodes, weights, triangles, count = [], [], [], 0
    for begin, end in zip(layout.first[:-1], layout.first[1:], strict=True):
        element = begin - int(
            np.searchsorted(layout.first, begin)
        )  # elements before: one less than sections, per curve
        steps = np.arange(RINGS * (end - begin - 1) + 1)
        k = np.minimum(steps // RINGS, end - begin - 2)
        t = steps / RINGS - k
        ring = (1 - t)[:, None, None] * outlines[begin + k] + t[:, None, None] * outlines[begin + k + 1]
        beside = np.concatenate([np.zeros((*ring.shape[:2], 1)), ring], axis=2).reshape(-1, 3)
        beside = np.concatenate([beside, np.zeros((2, 3))])  # and the middles of both lids
        k, t = (np.concatenate([np.repeat(own, POINTS), own[[0, -1]]]) for own in (k, t))
        weights.append(rod_weights(t, layout.lengths[element + k], size, beside, beside))
        nodes.append(4 * (begin + k)[:, None] + np.arange(8))
        triangles.append(count + _tube(len(steps)))
        count += len(t)
    return CarriedSurface(np.concatenate(nodes).astype(np.int64), np.concatenate(weights), np.concatenate(triangles))


def _tube(rings: int) -> NDArray[np.int64]:
    """Outward triangles of rings of points in a row, right-handed about their way, with a lid at both ends, whose middles come
    after them."""
    i = np.arange(POINTS)
    j = (i + 1) % POINTS
    side = np.stack([[i, j, j + POINTS], [i, j + POINTS, i + POINTS]]).transpose(0, 2, 1).reshape(-1, 3)
    wall = (POINTS * np.arange(rings - 1)[:, None, None] + side).reshape(-1, 3)
    first, last = POINTS * rings, POINTS * (rings - 1)
    lids = [
        np.stack([j, i, np.full_like(i, first)], axis=1),
        np.stack([last + i, last + j, np.full_like(i, first + 1)], axis=1),
    ]
    return np.concatenate([wall, *lids]).astype(np.int64)


def inside_sections(layout: RodLayout, embedding: RodEmbedding, points: Array) -> NDArray[np.bool_]:
    """Whether points (p, 3) are within the outline of the section next to them, by the number of its sides to their right."""
    e, t = embedding.nearest(points)
    before, after = embedding.beside(e, t, points)
    local = (1 - t)[:, None] * before + t[:, None] * after
    outlines = np.array([one.outline for one in layout.ends])
    ends = layout.elements[e]
    ring = (1 - t)[:, None, None] * outlines[ends[:, 0]] + t[:, None, None] * outlines[ends[:, 1]]
    y, z = ring[:, :, 0], ring[:, :, 1]
    y2, z2 = np.roll(y, -1, axis=1), np.roll(z, -1, axis=1)
    p, q = local[:, 1:2], local[:, 2:3]
    crosses = (z > q) != (z2 > q)
    rise = np.where(crosses, z2 - z, 1.0)
    right = crosses & (p < y + (q - z) / rise * (y2 - y))
    return np.asarray((right.sum(axis=1) % 2 == 1) & (np.abs(local[:, 0]) < 1e-6 * layout.lengths[e]))
