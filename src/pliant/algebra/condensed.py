"""The condensed model: everything that a decision needs to know of a robot, in a few dozen numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.limited import limited_efforts
from pliant.errors import InputError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Condensed:
    """How all ports move together when their efforts change: delta = W lambda + delta_free.

    lambda are *total* efforts, not changes. Rows are scalar and named ("tendon", "tip.x", ...), `slices` gives the rows of
    each port. The units of row i are those of its port: W_ij is displacement i per effort j. `Robot.linearize` makes one.

    >>> W, zero = np.array([[2e-3, 1e-3], [1e-3, 5e-2]]), np.zeros(2)
    >>> model = Condensed(W, zero, zero, zero, ("tendon", "tip.z"), {"tendon": slice(0, 1), "tip": slice(1, 2)})
    >>> model.predicted(np.array([3.0, 0.0]))  # 3 N on the tendon: 6 mm of cable, and the tip rises by 3 mm
    array([0.006, 0.003])
    """

    W: Array
    """Compliance, [m, m], symmetric."""
    delta_free: Array
    """Displacements without any effort, [m]."""
    delta: Array
    """Displacements at the point of linearization, [m]."""
    efforts: Array
    """Efforts at the point of linearization, [m]."""
    names: tuple[str, ...]
    slices: Mapping[str, slice]
    time: float = 0.0
    sequence: int = 0
    positive_definite: bool = True
    """False where the exact tangent is not: the warped one stands in for it, unless `negatives` says otherwise."""
    times: Mapping[str, float] = field(default_factory=dict)
    """Seconds per stage: assemble, ports, factor, condense."""
    references: Mapping[str, Array] = field(default_factory=dict)
    """What the displacements of relative ports are measured from, by port: an array of the port's own making."""
    negatives: int = 0
    """Negative eigenvalues of the tangent, where that was taken as it is; W then is indefinite, too."""
    length: float = 0.0
    """Of the motion that brings forces into balance, (r^T K^-1 r)^1/2 [J^1/2] with the forces r out of balance."""
    unbalanced: float = 0.0
    """The largest force out of balance over the largest force at work."""
    pivot: float = 1.0
    """The smallest pivot of the tangent over its diagonal entry: goes to zero as stability is lost."""

    def rows(self, *ports: str) -> NDArray[np.intp]:
        """Row numbers of these ports, in this order."""
        for port in ports:
            if port not in self.slices:
                raise InputError(f"there is no port {port!r}", remedy=f"choose among {', '.join(self.slices)}")
        return np.concatenate([np.arange(len(self.names))[self.slices[port]] for port in ports])

    def predicted(self, efforts: Array) -> Array:
        """Displacements [m] that the linear model expects at these total efforts."""
        delta: Array = self.W @ efforts + self.delta_free
        return delta

    def efforts_holding(
        self, rows: NDArray[np.integer], displacement: Array, limits: Array | None = None, efforts: Array | None = None
    ) -> Array:
        """All efforts (m,), with those of some rows such that these have a given displacement (k,), as far as their limits
        (k, 2) let them; efforts (m,): of the other rows, by default the model's."""
        out: Array = (self.efforts if efforts is None else efforts).copy()
        if not len(rows):  # the usual case
            return out
        now = out[rows]
        out[rows] = 0.0
        off = self.predicted(out)[rows] - displacement
        wide = np.tile([-np.inf, np.inf], (len(rows), 1)) if limits is None else limits
        out[rows] = limited_efforts(self.W[np.ix_(rows, rows)], off, wide, now)
        return out
