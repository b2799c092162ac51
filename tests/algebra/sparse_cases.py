"""Random block matrices for the tests of the sparse room."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.algebra.sparse import BlockPattern


@dataclass(frozen=True)
class Case:
    """A pattern, values that make it positive definite, and the dense matrix written down independently."""

    pattern: BlockPattern
    values: np.ndarray
    dense: np.ndarray


def dense_matrix(size: int, rows, cols, source, values) -> np.ndarray:
    """The definition of a block pattern, by loops."""
    A = np.zeros((3 * size, 3 * size))
    for i, j, k in zip(rows, cols, source, strict=True):
        A[3 * i : 3 * i + 3, 3 * j : 3 * j + 3] += values[k]
        if i != j:
            A[3 * j : 3 * j + 3, 3 * i : 3 * i + 3] += values[k].T
    return A


def random_case(seed: int, size: int, edges: int, *, shuffled_source: bool = False) -> Case:
    """Random couplings in both orientations with repetitions, and a diagonal split into two dominant parts."""
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, size, (2, edges))
    a, b = a[a != b], b[a != b]
    rows = np.concatenate([np.arange(size), a, np.arange(size)])
    cols = np.concatenate([np.arange(size), b, np.arange(size)])
    values = rng.normal(size=(len(rows), 3, 3))
    degree = np.bincount(np.concatenate([a, b]), minlength=size)
    for part in (slice(0, size), slice(len(rows) - size, len(rows))):
        square = values[part] @ values[part].transpose(0, 2, 1)
        values[part] = square + (1.0 + 3.0 * degree)[:, None, None] * np.eye(3)
    source = np.arange(len(rows))
    if shuffled_source:
        spare = rng.normal(size=(5, 3, 3))  # entries that the pattern leaves out
        sequence = rng.permutation(len(rows) + 5)
        values = np.concatenate([values, spare])[sequence]
        source = np.argsort(sequence)[: len(rows)]
    pattern = BlockPattern(size, rows, cols, source if shuffled_source else None)
    return Case(pattern, values, dense_matrix(size, rows, cols, source, values))


def grid_case(shape: tuple[int, int, int], seed: int = 0) -> Case:
    """A grid of nodes coupled to their 26 neighbours, with positions; the dense matrix is left empty if it is large."""
    index = np.arange(int(np.prod(shape))).reshape(shape)
    points = np.stack(np.unravel_index(index.ravel(), shape), axis=1).astype(float)
    pairs = []
    for step in np.ndindex(3, 3, 3):
        d = np.array(step) - 1
        if tuple(d) > (0, 0, 0):
            near = index[tuple(slice(max(0, -k), n - max(0, k)) for k, n in zip(d, shape, strict=True))]
            far = index[tuple(slice(max(0, k), n - max(0, -k)) for k, n in zip(d, shape, strict=True))]
            pairs.append(np.stack([near.ravel(), far.ravel()]))
    a, b = np.concatenate(pairs, axis=1)
    size = index.size
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(size + len(a), 3, 3))
    values[:size] = values[:size] @ values[:size].transpose(0, 2, 1) + 80.0 * np.eye(3)
    rows, cols = np.concatenate([np.arange(size), a]), np.concatenate([np.arange(size), b])
    pattern = BlockPattern(size, rows, cols, points=points)
    dense = dense_matrix(size, rows, cols, np.arange(len(rows)), values) if size <= 1000 else np.empty((0, 0))
    return Case(pattern, values, dense)
