"""The rows of H: how ports, and rows that come and go, move with the free coordinates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pliant.body import Assembly, Slope
from pliant.port import Attachment, PlacedPort
from pliant.robot._row_kernels import rows_on_coordinates, rows_times
from pliant.robot.extra import NO_ROWS

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


class NodeRows(Protocol):
    """Rows that are given by their slopes at nodes, the same number of nodes each."""

    def __len__(self) -> int: ...

    @property
    def nodes(self) -> Ids:
        """(k, j)."""

    @property
    def vectors(self) -> Array:
        """(k, j, 3)."""


class CompressedRows(NamedTuple):
    """H on the free coordinates, in compressed rows."""

    indptr: Ids
    indices: Ids
    data: Array

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def chosen(self, which: NDArray[np.bool_]) -> CompressedRows:
        """Some of them (m,)."""
        counts = np.diff(self.indptr)
        entries = np.flatnonzero(np.repeat(which, counts))
        indptr = np.concatenate([[0], np.cumsum(counts[which])])
        return CompressedRows(indptr, self.indices[entries], self.data[entries])

    def times(self, motion: Array) -> Array:
        """H dq (m,) of a motion of the coordinates (nc, 3)."""
        out = np.empty(len(self))
        rows_times(*self, motion.reshape(-1), out)
        return out


class Rows:
    """Some rows of some ports, with the places of their entries laid out once."""

    def __init__(self, assembly: Assembly, parts: Sequence[tuple[Attachment, slice]]) -> None:
        """parts: attachments, and which rows of each."""
        self._assembly, ties = assembly, assembly.ties
        self._ties = ties.numbers(assembly.node_count), ties.begin, ties.masters, ties.weights
        self._parts = [part for _, part in parts]
        per_row = [a.entry_nodes for a, part in parts for _ in range(*part.indices(a.row_count))]
        self._nodes = np.concatenate([np.empty(0, np.int64), *per_row])
        self._begin = np.concatenate([[0], np.cumsum([len(nodes) for nodes in per_row])]).astype(np.int64)
        self._counts = assembly.coordinates_per_node
        self._size = 3 * int(self._counts[self._nodes].sum())

    def at(self, placed: Sequence[PlacedPort], T: Slope, extra: NodeRows = NO_ROWS) -> CompressedRows:
        """H with these ports (those of the parts) where they are, and then the extra rows; T: see `Assembly.slope`."""
        vectors = [p.slopes[part].reshape(-1, 3) for p, part in zip(placed, self._parts, strict=True)]
        begin, nodes, size = self._begin, self._nodes, self._size
        if len(extra):
            vectors.append(extra.vectors.reshape(-1, 3))
            begin = np.concatenate([begin, begin[-1] + extra.nodes.shape[1] * np.arange(1, len(extra) + 1)])
            nodes = np.concatenate([nodes, extra.nodes.reshape(-1)])
            size += 3 * int(self._counts[extra.nodes].sum())
        stacked = np.concatenate(vectors) if vectors else np.empty((0, 3))
        carriers = self._assembly.carriers
        out = CompressedRows(np.empty(len(begin), np.int64), np.empty(size, np.int64), np.empty(size))
        rows_on_coordinates(
            begin, nodes, stacked, self._ties, (carriers.carrier, carriers.seat),
            (carriers.direct, carriers.begin, carriers.links), T.levers, T.matrices, *out
        )  # fmt: skip
        return out
