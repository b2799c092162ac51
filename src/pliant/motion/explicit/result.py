"""What a run returns."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum

import numpy as np
from numpy.typing import NDArray

from pliant.errors import NotConvergedError

Array = NDArray[np.float64]


class RunStatus(Enum):
    """How a run ended; the value is the explanation with its remedy."""

    COMPLETED = "the run reached its end"
    STOPPED = "the run was stopped before its end, as asked"
    DIVERGED = "positions are no numbers any more; take a smaller step, more damping or weaker loads"

    @property
    def ok(self) -> bool:
        """Whether all that is returned can be used."""
        return self is not RunStatus.DIVERGED


@dataclass(frozen=True, eq=False, repr=False)
class Energies:
    """Energies of a run at times [s], each [e] [J]."""

    times: Array
    kinetic: Array
    elastic: Array
    gravitational: Array
    contact: Array
    """Stored where nodes press into obstacles."""

    def __repr__(self) -> str:
        return f"Energies({len(self.times)} samples)"

    @property
    def total(self) -> Array:
        """Sum of all."""
        return self.kinetic + self.elastic + self.gravitational + self.contact

    def drift(self) -> float:
        """Slope of the total over time, times one second, relative to the largest kinetic energy."""
        slope = float(np.polyfit(self.times - self.times[0], self.total, 1)[0])
        return slope / float(self.kinetic.max())

    def ripple(self) -> float:
        """Largest deviation of the total from its fitted line, relative to the largest kinetic energy."""
        t = self.times - self.times[0]
        line = np.polyval(np.polyfit(t, self.total, 1), t)
        return float(np.abs(self.total - line).max() / self.kinetic.max())


@dataclass(frozen=True, eq=False, repr=False)
class ExplicitRun:
    """What was recorded in a run, and how it went.

    Samples are at the start, then every so many steps. After a run that diverged the state is the last good one, and samples
    and energies end before it.
    """

    status: RunStatus
    times: Array
    """Of the samples [s], [s]."""
    nodes: NDArray[np.int64]
    """That were recorded, [p]."""
    positions: Array
    """[s, p, 3] [m]."""
    velocities: Array
    """[s, p, 3] [m/s]."""
    torques: Array
    """Of the motors on their hubs, [s, motors] [N m]."""
    energies: Energies | None
    x: Array
    """Positions of all nodes at the end, [n, 3] [m]."""
    v: Array
    """Velocities of all nodes at the end, [n, 3] [m/s]."""
    time: float
    """At the end [s]."""
    step: float
    """[s]."""
    steps: int
    seconds: float
    """That the run took."""
    springs_per_second: float
    """Springs times steps per second of the clock; a step of Runge-Kutta counts once, though it sums forces four times."""
    layout: str
    threads: int
    failed_node: int | None = None
    """The first node that is no number any more."""

    def __repr__(self) -> str:
        recorded = f", {len(self.nodes)} recorded in {len(self.times)} samples" if len(self.nodes) else ""
        return (
            f"ExplicitRun({self.status.name} at {self.time:.6g} s, {self.steps} steps, {len(self.x)} nodes{recorded})"
        )

    @property
    def ok(self) -> bool:
        """Whether all that is returned can be used."""
        return self.status.ok

    def require(self) -> ExplicitRun:
        """Itself if ok, or a NotConvergedError."""
        if self.ok:
            return self
        raise NotConvergedError(
            f"the run diverged after {self.time:.4g} s, first at node {self.failed_node}",
            remedy=self.status.value,
            result=self,
        )
