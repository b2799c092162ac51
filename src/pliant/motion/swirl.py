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
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import block_diag

from pliant.port import PlacedPort
from pliant.robot.factored import Factored
from pliant.robot.rows import Rows

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Spins:
    """Rows B, by their nodes (r, j) and the slopes there (r, j, 3), and the skew matrix S (r, r) between them."""

    nodes: Ids
    vectors: Array
    S: Array

    def __len__(self) -> int:
        return len(self.nodes)


def spins_of(placed: Sequence[PlacedPort], slices: Sequence[slice], efforts: Array) -> Spins | None:
    """Of all ports whose efforts have no potential; None where there is none."""
    found = [
        (port.attachment.entry_nodes, *swirl)
        for port, rows in zip(placed, slices, strict=True)
        if port.port.relative and (swirl := port.swirl(efforts[rows])) is not None
    ]
    if not found:
        return None
    width = max(len(ids) for ids, _, _ in found)
    nodes = [np.tile(np.pad(ids, (0, width - len(ids))), (len(S), 1)) for ids, _, S in found]
    vectors = [np.pad(own, ((0, 0), (0, width - len(ids)), (0, 0))) for ids, own, _ in found]
    return Spins(np.concatenate(nodes), np.concatenate(vectors), block_diag(*(S for _, _, S in found)))


def swirled(at: Factored, force: Array, spins: Spins) -> Array:
    """The step (nc, 3) under a force on the nodes (n, 3) with all of the stiffness; not a number where that is singular."""
    compliance = at.condense(Rows(at.equations.assembly, []).at([], at.T, spins), force)
    S = at.scale * spins.S
    turning = np.eye(len(spins)) - compliance.W @ S
    if not np.isfinite(turning).all() or np.linalg.det(turning) == 0.0:
        return np.full((at.equations.assembly.coordinate_count, 3), np.nan)
    return compliance.resume(S @ np.linalg.solve(turning, compliance.shift))
