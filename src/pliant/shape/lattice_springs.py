"""From cells to springs: each pair of a cell's corners once, and how much of a spring belongs to each cell."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.shape.topology import FloatArray, IntArray


def springs_of_cells(
    cells: IntArray, pairs: NDArray[np.integer[Any]], shares: FloatArray, node_count: int
) -> tuple[IntArray, Any]:
    """Springs (m, 2) between the corners of cells, each once, and the sparse matrix (m, c) of what each cell adds.

    pairs (p, 2): corners that a spring joins; shares (c, p) or (p,): what the spring gets from the cell [m].
    """
    from scipy.sparse import csr_array

    a, b = cells[:, pairs[:, 0]].astype(np.int64).ravel(), cells[:, pairs[:, 1]].astype(np.int64).ravel()
    keys, spring = np.unique(np.minimum(a, b) * node_count + np.maximum(a, b), return_inverse=True)
    springs = np.stack(np.divmod(keys, node_count), axis=1).astype(np.int32)
    cell = np.repeat(np.arange(len(cells), dtype=np.int32), len(pairs))
    values = np.broadcast_to(shares, (len(cells), len(pairs))).ravel()
    matrix = csr_array((values, (spring.ravel().astype(np.int32), cell)), shape=(len(springs), len(cells)))
    return springs, matrix


def corner_shares(cells: IntArray, volumes: FloatArray, node_count: int) -> Any:
    """The sparse matrix (n, c) that gives each corner of a cell the same part of its volume [m^3]."""
    from scipy.sparse import csr_array

    corners = cells.shape[1]
    cell = np.repeat(np.arange(len(cells), dtype=np.int32), corners)
    return csr_array((np.repeat(volumes / corners, corners), (cells.ravel(), cell)), shape=(node_count, len(cells)))
