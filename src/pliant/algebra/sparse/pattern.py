"""Where the 3x3 blocks of a symmetric matrix sit."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from pliant.algebra.sparse.arrays import FloatArray, IntArray
from pliant.errors import InputError


class Graph(NamedTuple):
    """Neighbours of node v: `indices[indptr[v]:indptr[v + 1]]`, sorted, without v itself, in both directions."""

    indptr: IntArray
    indices: IntArray

    @property
    def size(self) -> int:
        """Number of nodes."""
        return len(self.indptr) - 1


class BlockPattern:
    """The block structure of a symmetric matrix A with `size` unknown 3-vectors.

    Block t is `values[source[t]]`, a 3x3 matrix B. It is added to A at block row `rows[t]` and block column `cols[t]`,
    and, off the diagonal, B^T is added at the mirrored place:

        A = sum_t  E_i B E_j^T + [i != j] E_j B^T E_i^T,     i = rows[t], j = cols[t]

    So each coupling is listed once, in either orientation, and repeated blocks are summed. Blocks on the diagonal must
    be symmetric; only their lower triangles are guaranteed to be read.
    """

    def __init__(
        self,
        size: int,
        rows: npt.ArrayLike,
        cols: npt.ArrayLike,
        source: npt.ArrayLike | None = None,
        points: npt.ArrayLike | None = None,
    ) -> None:
        """Check and keep the structure.

        size: number of 3-vector unknowns.
        rows, cols: block positions, shape [t].
        source: which entry of `values` each block takes, shape [t]; default: the t-th. Entries may be left out (fixed
            nodes) or used more than once.
        points: a position per unknown, shape [size, 3]; lets large bulky systems be ordered by geometry.
        """
        self.size = int(size)
        self.rows = _indices(rows, "rows")
        self.cols = _indices(cols, "cols")
        self.source = np.arange(len(self.rows)) if source is None else _indices(source, "source")
        self.points = None if points is None else np.ascontiguousarray(points, np.float64)
        self._check()
        for array in (self.rows, self.cols, self.source):
            array.setflags(write=False)

    def _check(self) -> None:
        if self.size < 1:
            raise InputError(f"a block pattern of size {self.size} has no unknowns", remedy="give size >= 1")
        if not len(self.rows) == len(self.cols) == len(self.source):
            raise InputError(
                f"rows, cols and source have {len(self.rows)}, {len(self.cols)} and {len(self.source)} entries",
                remedy="give one entry per block in each",
            )
        for name, array, end in (("rows", self.rows, self.size), ("cols", self.cols, self.size)):
            bad = np.flatnonzero((array < 0) | (array >= end))
            if len(bad):
                raise InputError(
                    f"block {bad[0]} has {name} = {array[bad[0]]}, outside 0 ... {end - 1}",
                    remedy="number the unknowns from 0 to size - 1",
                    block=int(bad[0]),
                )
        if len(self.source) and self.source.min() < 0:
            raise InputError("source has negative entries", remedy="let it index the values from 0")
        if self.points is not None and self.points.shape != (self.size, 3):
            raise InputError(
                f"points has shape {self.points.shape}", remedy=f"give one position per unknown, shape ({self.size}, 3)"
            )

    @property
    def values_needed(self) -> int:
        """The smallest number of entries that `values` must have."""
        return int(self.source.max()) + 1 if len(self.source) else 0

    def graph(self) -> Graph:
        """The graph of the couplings between different unknowns."""
        apart = self.rows != self.cols
        i, j = self.rows[apart], self.cols[apart]
        pairs = np.unique(np.concatenate([i * self.size + j, j * self.size + i]))
        indptr = np.searchsorted(pairs, np.arange(self.size + 1) * self.size)
        return Graph(indptr.astype(np.int64), pairs % self.size)

    def check_values(self, values: FloatArray) -> FloatArray:
        """`values` as a C-contiguous float64 array of shape [nb, 3, 3] (itself, if it already is one)."""
        values = np.ascontiguousarray(values, np.float64)
        if values.ndim != 3 or values.shape[1:] != (3, 3) or len(values) < self.values_needed:
            raise InputError(
                f"values has shape {values.shape}",
                remedy=f"give 3x3 blocks, shape ({self.values_needed} or more, 3, 3)",
            )
        return values

    def to_csc(self, values: FloatArray) -> Any:
        """The full symmetric matrix as a scipy CSC matrix, shape [3 size, 3 size]."""
        from scipy.sparse import csc_matrix

        blocks = self.check_values(values)[self.source]
        apart = self.rows != self.cols
        rows = np.concatenate([self.rows, self.cols[apart]])
        cols = np.concatenate([self.cols, self.rows[apart]])
        blocks = np.concatenate([blocks, blocks[apart].transpose(0, 2, 1)])
        axis = np.arange(3)
        i = np.broadcast_to(3 * rows[:, None, None] + axis[None, :, None], blocks.shape)
        j = np.broadcast_to(3 * cols[:, None, None] + axis[None, None, :], blocks.shape)
        return csc_matrix((blocks.ravel(), (i.ravel(), j.ravel())), shape=(3 * self.size, 3 * self.size))


def _indices(array: npt.ArrayLike, name: str) -> IntArray:
    given = np.asarray(array)
    if given.ndim != 1 or (given.size and not np.issubdtype(given.dtype, np.integer)):
        raise InputError(
            f"{name} is not a list of integers (shape {given.shape}, {given.dtype})", remedy="give one index per block"
        )
    return given.astype(np.int64)  # a copy: the caller may go on writing to the original
