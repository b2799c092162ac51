"""What moves by the explicit engine, as pictures and pages of free motion show it."""

from __future__ import annotations

from abc import ABC
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pliant.body import SpringBody
from pliant.errors import InputError
from pliant.motion import Explicit
from pliant.motion.explicit.springs import Cells
from pliant.shape.lattice_hull import outer_triangles

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


class InMotion(ABC):
    """A robot of springs with the engine that moves it: its shape at rest, its hull, where its middle is."""

    engine: Explicit

    @property
    def cells(self) -> Cells:
        """What its springs stand for."""
        if self.engine.cells is None:
            raise InputError(
                "springs from arrays of your own have no surface to show", remedy="make the Explicit of a SpringBody"
            )
        return self.engine.cells

    @property
    def rest(self) -> Array:
        """Places of all nodes at rest [m] (n, 3)."""
        return self.engine.springs.points

    @cached_property
    def masses(self) -> Array:
        """Of the nodes [kg] (n,); zero for those that no cell touches."""
        there = np.zeros(len(self.rest), bool)
        there[self.cells.corners] = True
        return np.where(there, self.engine.springs.masses, 0.0)

    @property
    def length(self) -> float:
        """Extent along x at rest [m], the length of a robot that goes along x."""
        return float(np.ptp(self.rest[self.masses > 0, 0]))

    def middle(self, x: Array) -> Array:
        """Center of mass [m] (3,) with the nodes at x (n, 3)."""
        return np.asarray(self.masses @ x / self.masses.sum())

    def surfaces(self) -> dict[int, Ids]:
        """Outer triangles (b, 3) of nodes, by the label of the region that they belong to."""
        triangles, owner = outer_triangles(self.cells.corners)
        labels = self.cells.labels[owner]
        return {int(label): triangles[labels == label] for label in np.unique(labels)}


@dataclass(frozen=True, eq=False)
class Moving(InMotion):
    """A body and its engine."""

    body: SpringBody
    engine: Explicit


@dataclass(frozen=True, eq=False)
class Running(InMotion):
    """An engine alone, such as one robot of a population."""

    engine: Explicit
