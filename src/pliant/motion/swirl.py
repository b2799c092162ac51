"""Loads without a potential: the part of their stiffness that is not symmetric, in a Newton step.

A moment m on a part that turns by w (in the chart R+ = exp([w]) R of its coordinates) has the generalized force
J(w)^T m+, which is m - w x m / 2 to first order where m keeps its direction in space, and m + w x m / 2 where it follows the
part. With the spin y = B x of the part in a step x of the coordinates, the equations of the step are

    (A - scale B^T S B) x = f,    S = +[m] / 2 or -[m] / 2

and A alone is symmetric. With W = B A^-1 B^T, (3, 3), the step is

    x = A^-1 (f + scale B^T S y),    y = (I - scale W S)^-1 B A^-1 f.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.port import PlacedPort
from pliant.robot.factored import Factored
from pliant.robot.rows import Rows

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


class Spins(NamedTuple):
    """Rows B: their nodes (r, j) and the slopes there (r, j, 3)."""

    nodes: Ids
    vectors: Array

    def __len__(self) -> int:
        return len(self.nodes)


def swirls(placed: Sequence[PlacedPort], slices: Sequence[slice], efforts: Array) -> list[tuple[Spins, Array]]:
    """The rows B and the matrix S of every port whose efforts have no potential."""
    out = []
    for port, rows in zip(placed, slices, strict=True):
        if port.port.relative and (found := port.swirl(efforts[rows])) is not None:
            vectors, S = found
            out.append((Spins(np.tile(port.attachment.entry_nodes, (len(S), 1)), vectors), S))
    return out


def swirled(at: Factored, force: Array, found: Sequence[tuple[Spins, Array]]) -> Array:
    """The step (nc, 3) under a force on the nodes (n, 3) with all of the stiffness."""
    width = max(spins.nodes.shape[1] for spins, _ in found)
    nodes = np.concatenate([np.pad(spins.nodes, ((0, 0), (0, width - spins.nodes.shape[1]))) for spins, _ in found])
    vectors = np.concatenate([np.pad(s.vectors, ((0, 0), (0, width - s.nodes.shape[1]), (0, 0))) for s, _ in found])
    count, S = 0, np.zeros((len(nodes), len(nodes)))
    for _, own in found:
        S[count : count + len(own), count : count + len(own)] = own
        count += len(own)
    compliance = at.condense(Rows(at.equations.assembly, []).at([], at.T, Spins(nodes, vectors)), force)
    S = at.scale * S
    return compliance.resume(S @ np.linalg.solve(np.eye(count) - compliance.W @ S, compliance.shift))
