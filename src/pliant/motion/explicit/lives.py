"""What a population is made of and what becomes of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import InputError, MaterialError
from pliant.motion.explicit.engine import Crew, Engine
from pliant.motion.explicit.lanes import width
from pliant.motion.explicit.signals import Signal, require_strain
from pliant.motion.explicit.springs import Array, Ids

if TYPE_CHECKING:
    from pliant.motion.explicit.population import Population

Stop = Callable[[NDArray[np.int64], float, Array, Array], ArrayLike]
"""Numbers of robots [b], time [s], positions and velocities [b, n, 3] -> which of them end here [b]."""


@dataclass(frozen=True)
class Material:
    """Young's modulus E [Pa], density [kg/m^3], and the strain of the rest lengths over time."""

    E: float
    density: float = 1070.0
    strain: Signal | None = None

    def __post_init__(self) -> None:
        if not (np.isfinite((self.E, self.density)).all() and self.E > 0 and self.density > 0):
            raise MaterialError(f"{self}", remedy="give positive numbers")
        require_strain(self.strain, "a material")


@dataclass(frozen=True, eq=False, repr=False)
class PopulationRun:
    """What became of each robot. Robots that failed or were stopped keep their last good state.

    Nodes that only empty cells touch stay where the lattice has them: `present` tells them from the others.
    """

    failed: NDArray[np.bool_]
    """Positions were no numbers any more, [r]."""
    stopped: NDArray[np.bool_]
    """Ended before the others, as asked, [r]."""
    end_times: Array
    """[s], [r]."""
    x: Array
    """Positions at the end, [r, n, 3] [m]."""
    v: Array
    """Velocities at the end, [r, n, 3] [m/s]."""
    masses: Array
    """Of the nodes [kg], [r, n]; zero where a robot has no cell."""
    times: Array
    """Of the samples [s], [s]."""
    positions: Array
    """Of the recorded nodes, [r, s, p, 3] [m]; not a number after a robot's end."""
    fitness: Array
    """[r]; minus infinity for robots that failed, not a number without a fitness function."""
    seconds: float
    springs_per_second: float
    """Springs times steps per second of the clock; a step of Runge-Kutta counts once, though it sums forces four times."""

    def __repr__(self) -> str:
        robots, nodes = self.masses.shape
        counts = f"{int(self.failed.sum())} failed, {int(self.stopped.sum())} stopped"
        return f"PopulationRun({robots} robots of {nodes} nodes, {self.end_times.max():.6g} s, {counts})"

    @property
    def present(self) -> NDArray[np.bool_]:
        """Nodes that a robot has, [r, n]."""
        return self.masses > 0.0

    @property
    def middle(self) -> Array:
        """Center of mass of each robot at the end, [r, 3] [m]."""
        return np.asarray(np.einsum("rn,rna->ra", self.masses, self.x) / self.masses.sum(axis=1)[:, None])


class Lives:
    """One batch of robots through a run."""

    def __init__(self, population: Population, robots: Ids, engine: Engine) -> None:
        self.population, self.robots, self.engine = population, robots, engine
        self.x, self.v = self._state()
        self.failed, self.stopped = np.zeros(len(robots), bool), np.zeros(len(robots), bool)
        self.end_steps = np.zeros(len(robots), np.int64)
        self.positions = np.empty(0)

    def _state(self) -> tuple[Array, Array]:
        n, b = len(self.population.lattice.points), len(self.robots)
        return self.engine.x.reshape(-1, n, 3)[:b], self.engine.v.reshape(-1, n, 3)[:b]

    def run(
        self, steps: int, pause: int, nodes: Ids, every: int, stop: Stop | None, advance: Callable[[float], None]
    ) -> Lives:
        """Go on until the end, or until no robot is left; advance: told of the steps that are done, or not needed."""
        n, lanes, engine = len(self.population.lattice.points), width(self.engine.dtype), self.engine
        ids = (np.arange(lanes)[:, None] * n + nodes).ravel()
        record = engine.record_table(ids, every, steps // every + 1)
        with Crew(1) as crew:
            while engine.number < steps and not (self.failed | self.stopped).all():
                count = min(pause, steps - engine.number)
                engine.run(count, self.population.damping, record, 0, crew)
                advance(count)
                between = engine.snapshot()
                engine.synchronize(self.population.damping, crew)
                self._look(stop if engine.number < steps else None)
                engine.restore(between)
        advance(steps - engine.number)
        samples = np.moveaxis(record.x.reshape(len(record.x), lanes, len(nodes), 3), 1, 0)[: len(self.robots)]
        self.positions = samples.astype(float)
        last = every * np.arange(len(record.x))
        whole = np.flatnonzero(self.end_steps % every == 0)
        self.positions[whole, self.end_steps[whole] // every] = self.x[whole][:, nodes]
        self.positions[last > self.end_steps[:, None]] = np.nan
        return self

    def _look(self, stop: Stop | None) -> None:
        """Who failed, who is to stop; take over the states of the others."""
        x, v = self._state()
        going = ~(self.failed | self.stopped)
        good = np.isfinite(x).all(axis=(1, 2)) & np.isfinite(v).all(axis=(1, 2))
        self.failed |= going & ~good
        going &= good
        self.x[going], self.v[going] = x[going], v[going]
        self.end_steps[going] = self.engine.number
        if stop is not None and going.any():
            time = self.engine.number * self.population.step
            answer = np.asarray(stop(self.robots[going], time, self.x[going], self.v[going]), bool)
            self.stopped[np.flatnonzero(going)[np.broadcast_to(answer, going.sum())]] = True


def judged(result: PopulationRun, fitness: Callable[[PopulationRun], ArrayLike]) -> PopulationRun:
    """The result with its fitness."""
    values = np.array(fitness(result), dtype=float)
    if values.shape != result.failed.shape:
        raise InputError(
            f"the fitness has shape {values.shape}", remedy=f"return one number per robot, {result.failed.shape}"
        )
    return replace(result, fitness=np.where(result.failed, -np.inf, values))
