"""A surface cut along levels of a value, so that each band between two levels can have a colour of its own."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, eye_array, vstack

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class Band:
    """A part of a surface: its points are weights [p, v] times the surface's vertices; faces [f, 3] of its points."""

    weights: csr_array
    faces: Ids


def cut_into_bands(values: Array, faces: Ids, levels: Array) -> list[Band]:
    """Bands below the first level, between the first and the second ... and above the last, len(levels) + 1 of them.

    values: at the vertices, [v], linear on every triangle, so that the levels are straight lines there.
    """
    weights, values = eye_array(len(values), format="csr"), np.asarray(values, dtype=float)
    for level in levels:
        weights, values, faces = _cut(weights, values, faces, float(level))
    number = np.searchsorted(levels, values[faces].mean(axis=1), side="left")
    return [_taken(weights, faces[number == k]) for k in range(len(levels) + 1)]


def _taken(weights: csr_array, faces: Ids) -> Band:
    used, own = np.unique(faces, return_inverse=True)
    return Band(weights[used], own.reshape(-1, 3).astype(np.int64))


def _cut(weights: csr_array, values: Array, faces: Ids, level: float) -> tuple[csr_array, Array, Ids]:
    """The surface with the triangles that pass through a level cut in three along it."""
    above = values[faces] > level
    count = above.sum(axis=1)
    crossing = (count == 1) | (count == 2)
    if not crossing.any():
        return weights, values, faces
    cut, mask = faces[crossing], above[crossing]
    lone = np.where(count[crossing] == 1, mask.argmax(axis=1), mask.argmin(axis=1))
    row = np.arange(len(cut))
    a, b, c = (cut[row, (lone + k) % 3] for k in range(3))
    ends = np.sort(np.concatenate([np.stack([a, b], axis=1), np.stack([a, c], axis=1)]), axis=1)
    edges, number = np.unique(ends, axis=0, return_inverse=True)
    p, q = np.split(len(values) + number.reshape(-1), 2)
    low, high = values[edges[:, 0]], values[edges[:, 1]]
    share = (level - low) / (high - low)
    points = weights[edges[:, 0]].multiply(1 - share[:, None]) + weights[edges[:, 1]].multiply(share[:, None])
    pieces = [np.stack(piece, axis=1) for piece in ((a, p, q), (p, b, c), (p, c, q))]
    return (
        csr_array(vstack([weights, points], format="csr")),
        np.concatenate([values, np.full(len(edges), level)]),
        np.concatenate([faces[~crossing], *pieces]),
    )
