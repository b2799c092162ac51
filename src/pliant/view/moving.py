"""A body of springs and the engine that moves it: what pictures and pages of free motion show."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.body import SpringBody
from pliant.motion import Explicit

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Moving:
    """A body and its engine."""

    body: SpringBody
    engine: Explicit

    @property
    def length(self) -> float:
        """Extent along x at rest [m], the length of a robot that goes along x."""
        return float(np.ptp(self.body.rest[:, 0]))

    def middle(self, x: Array) -> Array:
        """Center of mass [m] (3,) with the nodes at x (n, 3)."""
        return np.asarray(self.body.masses @ x / self.body.masses.sum())

    def surfaces(self) -> dict[int, Ids]:
        """Outer triangles (b, 3) of nodes, by the label of the region that they belong to."""
        triangles = self.body.boundary_triangles()
        labels = self.body.lattice.labels[self.body.lattice.boundary_cells()]
        return {int(label): triangles[labels == label] for label in np.unique(labels)}
