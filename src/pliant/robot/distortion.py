"""How far one linearization reaches: what a step may do to the elements before it is not believed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.body import Assembly
from pliant.errors import InvertedElementError, NotConvergedError, PliantError

Array = NDArray[np.float64]

LARGEST_CHANGE = 0.5
"""How much the distance of neighbouring nodes may change in one linearized step, over their distance at rest."""
LARGEST_STRETCH = 20.0
"""How far neighbouring nodes may be apart, over their distance at rest; rubber breaks long before."""
SHORTEST = 1 / 64
"""The smallest part of a step that is tried where the whole one reaches too far."""


@dataclass(frozen=True)
class Distortion:
    """What a motion of the nodes does: the largest change and the largest of the distances of neighbours over those at rest,
    and how many elements it has turned inside out."""

    change: float
    stretch: float
    inverted: int

    @classmethod
    def of(cls, assembly: Assembly, before: Array, after: Array) -> Distortion:
        """Of a motion from node positions to others, [n, 3] each."""
        change, stretch = assembly.distortion(before, after)
        inverted = assembly.inverted_count(after) if change <= LARGEST_CHANGE else 0
        if inverted:
            inverted = max(0, inverted - assembly.inverted_count(before))
        return cls(change, stretch, inverted)

    @property
    def is_believable(self) -> bool:
        """Whether one linear step may do that."""
        return self.change <= LARGEST_CHANGE and self.stretch <= LARGEST_STRETCH and self.inverted == 0

    @property
    def is_material(self) -> bool:
        """Whether anything that holds together can be stretched like that."""
        return self.stretch <= LARGEST_STRETCH

    def error(self, what: str) -> PliantError:
        """Why it is not believed, as an error to raise; what: what has led there."""
        remedy = "check the units of loads and moduli, bring the load on more slowly, or take smaller steps"
        if self.inverted and self.is_material:
            return InvertedElementError(
                f"{what} turns {self.inverted} elements inside out",
                remedy=f"{remedy}; NeoHookean survives it",
                distortion=self,
            )
        return NotConvergedError(
            f"{what} stretches elements to {self.stretch:.3g} times their length"
            + (f", by {self.change:.2g} at once" if self.is_material else ""),
            remedy=f"{remedy}; a load may be more than the material can carry at all",
            distortion=self,
        )
