"""Many robots of one lattice in one call: other materials, other phases, the same world."""

from __future__ import annotations

import time as clock
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.body import Supports
from pliant.contact import Obstacle
from pliant.errors import InputError, PliantWarning
from pliant.exchange import usable_cores
from pliant.motion.explicit.bound import REACH, stiffest_cell
from pliant.motion.explicit.engine import Engine
from pliant.motion.explicit.explicit import SAFE, Explicit, Integrator, as_three, require_interval, several
from pliant.motion.explicit.lanes import batch_engine, width
from pliant.motion.explicit.lives import Lives, Material, PopulationRun, Stop, judged
from pliant.motion.explicit.progress import Progress, shown
from pliant.motion.explicit.setup import Surroundings, node_ids
from pliant.motion.explicit.signals import Ramp, Signal
from pliant.motion.explicit.springs import Array, Cells, Ids, Springs
from pliant.shape import Lattice

EMPTY = -1
"""Material of a cell that is not there."""

PIECE = 200
"""Steps between looks at the numbers."""


class Population:
    """Robots cut from one lattice, each cell of a material of a palette.

    >>> from pliant.contact import Plane
    >>> from pliant.motion.explicit import Sine
    >>> lattice = Lattice.block((3, 2, 2), size=0.01)
    >>> palette = {0: Material(E=1e5), 1: Material(E=5e4, strain=Sine(0.1, 5.0))}
    >>> ids = np.random.default_rng(0).integers(0, 2, (20, len(lattice.cells)))
    >>> run = Population(lattice, palette, ids, gravity=(0, 0, -9.81), ground=Plane()).run(0.05)
    >>> run.x.shape, bool(run.failed.any())
    ((20, 36, 3), False)
    """

    def __init__(
        self,
        lattice: Lattice,
        palette: Mapping[int, Material],
        materials: ArrayLike,
        *,
        phases: ArrayLike | None = None,
        seeds: ArrayLike | None = None,
        noise: float = 0.0,
        fixed: ArrayLike = (),
        step: float | None = None,
        integrator: Integrator = "verlet",
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        damping: float = 0.0,
        ground: Obstacle | Sequence[Obstacle] = (),
        precision: str = "single",
        threads: int | None = None,
    ) -> None:
        """materials: [robots, cells], numbers of the palette, -1 where a robot has no cell.

        phases [rad]: [robots, materials] in the order of the palette, added to those of their signals. seeds: one whole number
        per robot (default: its number), for its own random numbers: `noise` [m/s] is the standard deviation of the first
        velocities. fixed: nodes. step [s]: default half of the longest stable one of the stiffest cell. precision:
        "single" by default. The rest is as in `Explicit`.
        """
        self.lattice, self.palette = lattice, dict(palette)
        self.materials = self._checked_materials(materials)
        count = len(self.materials)
        self.phases = self._checked_phases(phases)
        self.seeds = np.arange(count) if seeds is None else np.asarray(seeds)
        if self.seeds.shape != (count,) or not np.issubdtype(self.seeds.dtype, np.integer):
            raise InputError(f"seeds have shape {self.seeds.shape}", remedy=f"give {count} whole numbers")
        if not (np.isfinite(noise) and noise >= 0 and np.isfinite(damping) and damping >= 0):
            raise InputError(f"noise {noise} m/s, damping {damping} 1/s", remedy="give numbers >= 0")
        if integrator not in REACH or precision not in ("single", "double"):
            raise InputError(
                f"integrator {integrator!r}, precision {precision!r}",
                remedy=f"choose among {list(REACH)}; single or double",
            )
        self.noise, self.damping, self.integrator = float(noise), float(damping), integrator
        self.fixed = node_ids(
            np.asarray(fixed, np.int64) if not np.size(fixed) else fixed, len(lattice.points), "fixed"
        )
        obstacles = several(ground, Obstacle, "ground")  # type: ignore[type-abstract]
        self.around = Surroundings(as_three(gravity, "gravity"), obstacles)
        self.dtype = np.dtype(np.float32 if precision == "single" else np.float64)
        if threads is not None and threads < 1:
            raise InputError(f"{threads} threads", remedy="give at least one")
        self.threads = threads or len(usable_cores())
        self.limit = REACH[integrator] / self._highest_frequency()
        self.step = SAFE * self.limit if step is None else float(step)
        if not (np.isfinite(self.step) and self.step > 0):
            raise InputError(f"step is {step} s", remedy=f"give a positive number, at most {self.limit:.3g} s")
        if self.step > self.limit:
            warnings.warn(
                f"a step of {self.step:.3g} s is above the longest one that is stable for certain, {self.limit:.3g} s: robots "
                "may fail",
                PliantWarning,
                stacklevel=2,
            )

    def __len__(self) -> int:
        return len(self.materials)

    def _checked_materials(self, materials: ArrayLike) -> NDArray[np.int64]:
        ids = np.asarray(materials)
        cells = len(self.lattice.cells)
        if ids.ndim != 2 or ids.shape[1] != cells or len(ids) == 0 or not np.issubdtype(ids.dtype, np.integer):
            raise InputError(
                f"materials have shape {ids.shape}", remedy=f"give whole numbers [robots, {cells}], one per cell"
            )
        unknown = np.setdiff1d(ids, [EMPTY, *self.palette])
        if len(unknown):
            robot = int(np.flatnonzero((ids == unknown[0]).any(axis=1))[0])
            raise InputError(
                f"robot {robot} has the material {unknown[0]}",
                remedy=f"the palette has {sorted(self.palette)}; -1 is no cell",
            )
        nothing = np.flatnonzero((ids == EMPTY).all(axis=1))
        if len(nothing):
            raise InputError(f"robot {nothing[0]} has no cell", remedy="leave it out")
        return ids.astype(np.int64)

    def _checked_phases(self, phases: ArrayLike | None) -> Array | None:
        if phases is None:
            return None
        array = np.asarray(phases, float)
        shape = (len(self.materials), len(self.palette))
        if array.shape != shape or not np.isfinite(array).all():
            raise InputError(f"phases have shape {array.shape}", remedy=f"give finite angles of shape {shape}")
        return array

    def _highest_frequency(self) -> float:
        touch = [((o.stiffness or 0.0), (o.damping + np.sqrt(1 + o.damping**2)) ** 2) for o in self.around.obstacles]
        used = [material for number, material in self.palette.items() if (self.materials == number).any()]
        return max(stiffest_cell(self.lattice, material.E, material.density, touch) for material in used)

    def signal(self, robot: int, number: int) -> Signal:
        """The strain of a material of the palette in one robot."""
        signal = self.palette[number].strain
        if signal is None:
            return Ramp(0.0)
        if self.phases is None:
            return signal
        phase = float(self.phases[robot, list(self.palette).index(number)])
        if not hasattr(signal, "phase"):
            raise InputError(
                f"a phase for {signal}", remedy="give phases to materials with a Sine or Pneumatic strain only"
            )
        return replace(signal, phase=signal.phase + phase)  # type: ignore[type-var]

    def single(self, robot: int) -> Explicit:
        """The same robot alone, with the same step: the engine of one lattice. See it move on a page:
        `MotionPage.of(crowd.single(int(run.fitness.argmax()))).serve()`, with `from pliant.view import MotionPage`."""
        if not -len(self) <= robot < len(self):
            raise InputError(f"there is no robot {robot}", remedy=f"give one of 0 to {len(self) - 1}")
        constants, parts, masses, held = self._arrays(np.array([robot]))
        from scipy.sparse import csr_array

        actuation = {number: self.signal(robot, number) for number in self.palette}
        springs = Springs(
            self.lattice.points,
            self.lattice.springs.astype(np.int64),
            constants[:, 0],
            self.lattice.lengths,
            masses[:, 0],
            Supports(fixed=np.flatnonzero(held[:, 0])),
            None if self.lattice.grid is None else (self.lattice.grid.shape, self.lattice.grid.node_of),
            np.array(list(self.palette), np.int64),
            csr_array(np.stack([part[:, 0] for part in parts], axis=1)),
        )
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", PliantWarning)
            alone = Explicit(
                springs,
                step=self.step,
                integrator=self.integrator,
                gravity=self.around.gravity,
                damping=self.damping,
                ground=self.around.obstacles,
                actuation=actuation,
                precision="single" if self.dtype == np.float32 else "double",
                threads=1,
            )
        alone.v = self._first_velocities(np.array([robot]))[0]
        there = self.materials[robot] != EMPTY
        alone.cells = Cells(self.lattice.cells[there], self.materials[robot][there])
        return alone

    def masses(self, robots: ArrayLike | None = None) -> Array:
        """Of the nodes of some robots (default: all) [kg], [r, n]; zero where a robot has no cell."""
        ids = self.materials if robots is None else self.materials[np.asarray(robots)]
        densities = np.zeros(ids.shape)
        for number, material in self.palette.items():
            densities[ids == number] = material.density
        return np.asarray((self.lattice.volume_shares @ densities.T).T)

    def _arrays(self, robots: Ids) -> tuple[Array, list[Array], Array, NDArray[np.bool_]]:
        """Constants [m, b], their parts per material, masses [n, b] and which nodes do not move [n, b]."""
        ids = self.materials[robots].T
        parts, masses = [], self.masses(robots).T.copy()
        for number, material in self.palette.items():
            parts.append(np.asarray(self.lattice.stiffness_shares @ (material.E * (ids == number))))
        held = masses == 0.0
        masses[held] = 1.0
        held[self.fixed] = True
        return np.sum(parts, axis=0), parts, masses, held

    def _first_velocities(self, robots: Ids) -> Array:
        """[b, n, 3] from each robot's own seed."""
        shape = self.lattice.points.shape
        return np.array([self.noise * np.random.default_rng(self.seeds[r]).normal(size=shape) for r in robots])

    def _engine(self, robots: Ids) -> Engine:
        constants, parts, masses, held = self._arrays(robots)
        numbers = list(self.palette)
        active = [number for number in numbers if self.palette[number].strain is not None]
        engine = batch_engine(
            self.lattice.points,
            self.lattice.springs,
            constants,
            self.lattice.lengths,
            [parts[numbers.index(number)] for number in active],
            masses,
            [[self.signal(int(r), number) for r in robots] for number in active],
            held,
            self.around,
            step=self.step,
            integrator=self.integrator,
            dtype=self.dtype,
        )
        engine.put(engine.springs.points, self._first_velocities(robots).reshape(-1, 3))
        return engine

    def run(
        self,
        duration: float,
        *,
        record: ArrayLike = (),
        every: int = 100,
        fitness: Callable[[PopulationRun], ArrayLike] | None = None,
        stop: Stop | None = None,
        stop_every: float | None = None,
        progress: Progress = None,
    ) -> PopulationRun:
        """Run all robots from rest for `duration` seconds of simulated time.

        record: nodes written down every so many steps. fitness: called once with the result, gives one number per robot. stop:
        called every `stop_every` seconds (default: a tenth of the run) with numbers of robots [b], time, positions and
        velocities [b, n, 3]; says which of them end there, [b]. What a robot does depends on no other robot. progress: a bar
        on stderr with the time left, by default on a terminal only; or a function that is told the share done, 0 to 1.
        """
        if not (np.isfinite(duration) and duration > 0) or every < 1:
            raise InputError(f"a run of {duration} s, a sample every {every} steps", remedy="give positive numbers")
        require_interval(stop_every)
        steps = max(1, round(duration / self.step))
        pause = max(1, round((stop_every or duration / 10.0) / self.step)) if stop is not None else PIECE
        n = len(self.lattice.points)
        nodes = node_ids(np.asarray(record, np.int64) if not np.size(record) else record, n, "record")
        begin, b = clock.perf_counter(), width(self.dtype)
        groups = [np.arange(k, min(k + b, len(self))) for k in range(0, len(self), b)]

        def live(robots: Ids) -> Lives:
            lanes = np.concatenate([robots, np.full(b - len(robots), robots[-1])])
            return Lives(self, robots, self._engine(lanes)).run(steps, pause, nodes, every, stop, advance)

        workers = min(self.threads, len(groups))
        with shown(progress, steps * len(groups)) as advance, ThreadPoolExecutor(workers) as pool:
            lives = list(pool.map(live, groups))
        seconds = clock.perf_counter() - begin
        done = float(sum(life.end_steps.sum() for life in lives))
        result = PopulationRun(
            np.concatenate([life.failed for life in lives]),
            np.concatenate([life.stopped for life in lives]),
            np.concatenate([life.end_steps for life in lives]) * self.step,
            np.concatenate([life.x for life in lives]),
            np.concatenate([life.v for life in lives]),
            self.masses(),
            np.asarray(every * self.step * np.arange(steps // every + 1), float),
            np.concatenate([life.positions for life in lives]),
            np.full(len(self), np.nan),
            seconds,
            done * len(self.lattice.springs) / seconds,
        )
        return result if fitness is None else judged(result, fitness)
