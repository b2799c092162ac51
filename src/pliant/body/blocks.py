"""Which 3x3 blocks a body's matrices have, and where each pair of an element's nodes finds its block."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Ids = NDArray[np.int64]


def pair_nodes(groups: Ids) -> tuple[Ids, Ids]:
    """All pairs a >= b of the nodes of every group [m, k], in the order a (a + 1) / 2 + b; two arrays [m, pairs]."""
    k = groups.shape[1]
    a, b = np.tril_indices(k)
    return groups[:, a].astype(np.int64), groups[:, b].astype(np.int64)


class BlockIndex:
    """The distinct blocks among many pairs of nodes, rows >= cols, sorted by column.

    `slots(i, j)` codes the block of each pair: 2 x number, plus one where i < j, so that the pair's matrix is to be
    transposed before it is added.
    """

    def __init__(self, node_count: int, pairs: list[tuple[Ids, Ids]]) -> None:
        self._size = node_count
        self._keys = np.unique(np.concatenate([self._key(i, j).ravel() for i, j in pairs]))
        self.cols, self.rows = np.divmod(self._keys, node_count)

    def _key(self, i: Ids, j: Ids) -> Ids:
        key: Ids = np.minimum(i, j) * self._size + np.maximum(i, j)
        return key

    def slots(self, i: Ids, j: Ids) -> NDArray[np.int32]:
        """Coded block numbers, shape of i and j."""
        number = np.searchsorted(self._keys, self._key(i, j))
        return (2 * number + (i < j)).astype(np.int32)
