"""Explicit: a lattice of springs through time, by small steps that solve nothing."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.body import SpringBody
from pliant.contact import Obstacle
from pliant.errors import InputError, PliantWarning
from pliant.exchange import usable_cores
from pliant.motion.explicit import layouts
from pliant.motion.explicit.bound import REACH, highest_frequency
from pliant.motion.explicit.course import Course
from pliant.motion.explicit.drives import GivenMotion, Load, Motor, SpringLaw
from pliant.motion.explicit.energy import energies
from pliant.motion.explicit.engine import SPRINGS_PER_THREAD, Engine
from pliant.motion.explicit.motors import Coupling, hub_and_base, hub_stiffness
from pliant.motion.explicit.progress import Progress
from pliant.motion.explicit.result import ExplicitRun
from pliant.motion.explicit.setup import Surroundings, node_ids
from pliant.motion.explicit.signals import Signal
from pliant.motion.explicit.springs import Array, Cells, Springs

T = TypeVar("T")
Integrator = Literal["verlet", "semi-implicit", "rk4", "forward"]
SAFE = 0.5
"""Default step relative to the longest stable one: lattices get stiffer where they are pressed together."""


class Explicit:
    """A lattice of springs stepped through time.

    Every node moves by Newton's law, m dv/dt = f - c m v + m g, under the forces of its springs, of what it touches and of
    what drives it. Integrators: "verlet" (velocity Verlet, second order, keeps energy), "semi-implicit" (symplectic Euler: the
    same positions, velocities half a step off), "rk4" (classical Runge-Kutta, four times the work, loses a little energy) and
    "forward" (Euler's, gains energy at any step: for comparison only).

    >>> from pliant.shape import Lattice
    >>> lattice = Lattice.block((8, 2, 2), size=0.01)
    >>> beam = SpringBody(lattice, E=1e5, fixed=lattice.where(x_below=1e-3))
    >>> run = Explicit(beam, gravity=(0, 0, -9.81), damping=5.0).run(0.05, record=[80])
    >>> run.ok, run.positions.shape[1:]
    (True, (1, 3))
    """

    def __init__(
        self,
        body: SpringBody | Springs,
        *,
        step: float | None = None,
        integrator: Integrator = "verlet",
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        damping: float = 0.0,
        ground: Obstacle | Sequence[Obstacle] = (),
        actuation: Mapping[int, Signal] | None = None,
        laws: Mapping[int, SpringLaw] | None = None,
        motors: Motor | Sequence[Motor] = (),
        loads: Load | Sequence[Load] = (),
        motions: GivenMotion | Sequence[GivenMotion] = (),
        lines: Sequence[tuple[ArrayLike, ArrayLike]] = (),
        precision: Literal["double", "single"] = "double",
        threads: int | None = None,
        layout: Literal["structured", "general"] | None = None,
        device: str = "cpu",
    ) -> None:
        """body: what moves, with its fixed, prescribed and sliding nodes.

        step [s]: default half of the longest stable one, `limit`. gravity [m/s^2], damping: rate c [1/s]. ground: planes and
        spheres. actuation: strain of the rest lengths of a material (label of the lattice) over time. laws: force by a table
        for a material. motors, loads, motions (of given nodes), lines: pairs (nodes, direction) of nodes that move along a
        direction only. precision: "single" is twice as fast and resolves 1e-7 of the largest coordinate. threads: default all
        processors for large lattices, one for small ones; the result is the same. layout: default "structured" for voxel
        lattices that fill enough of their box, else "general". device: "cpu", or "cuda" (or "warp-cpu") with the extra `warp`.
        """
        self.around = Surroundings(
            as_three(gravity, "gravity"),
            several(ground, Obstacle, "ground"),  # type: ignore[type-abstract]
            several(loads, Load, "loads"),
            several(motions, GivenMotion, "motions"),
            tuple(lines),
            several(motors, Motor, "motors"),
            dict(actuation or {}),
            dict(laws or {}),
        )
        materials = bool(self.around.actuation or self.around.laws)
        self.springs = body if isinstance(body, Springs) else Springs.of(body, materials=materials)
        self.cells = Cells(body.lattice.cells, body.lattice.labels) if isinstance(body, SpringBody) else None
        """What the springs stand for; None where they come from arrays of your own."""
        if integrator not in REACH:
            raise InputError(f"integrator is {integrator!r}", remedy=f"choose among {list(REACH)}")
        if precision not in ("double", "single"):
            raise InputError(f"precision is {precision!r}", remedy="choose 'double' or 'single'")
        self.integrator, self.dtype = integrator, np.dtype(np.float64 if precision == "double" else np.float32)
        turning = enumerate(self.around.motors)
        bases = [Coupling.of(self.springs, m, motor) for m, motor in turning if motor.base is not None]
        highest = highest_frequency(self.springs, self._stiffness_outside(), self._steepness(), bases)
        self.limit = REACH[integrator] / highest
        self.step = self._checked_step(step)
        self.damping = damping
        self.threads = self._checked_threads(threads)
        self.on = np.ones(len(self.springs.springs))
        self.engine = self._make_engine(layout, device)

    def __repr__(self) -> str:
        sizes = f"{len(self.springs.points)} nodes, {len(self.springs.springs)} springs"
        return f"Explicit({sizes}, {self.integrator}, step {self.step:.3g} s, at {self.time:.6g} s)"

    def _make_engine(self, layout: str | None, device: str) -> Any:
        """The engine that does the steps."""
        arguments: dict[str, Any] = {"step": self.step, "integrator": self.integrator, "dtype": self.dtype}
        if device != "cpu":
            from pliant.motion.explicit.warp_engine import WarpEngine

            if layout not in (None, "general"):
                raise InputError(
                    f"layout {layout!r} on a Warp device", remedy="leave `layout` to pliant, or use device='cpu'"
                )
            self.layout = "general"
            return WarpEngine(self.springs, self.around, device=device, **arguments)
        found = None
        if layout in (None, "structured"):
            found = layouts.structured(self.springs, self.dtype, even_if_sparse=layout is not None)
        if found is None and layout == "structured":
            raise InputError(
                "these springs are not the edges and diagonals of a voxel lattice", remedy="leave `layout` to pliant"
            )
        if layout not in (None, "structured", "general"):
            raise InputError(f"layout is {layout!r}", remedy="choose 'structured' or 'general', or leave it to pliant")
        self.layout = "general" if found is None else "structured"
        found = layouts.general(self.springs, self.dtype) if found is None else found
        return Engine(self.springs, found, self.around, **arguments)

    def _stiffness_outside(self) -> Array:
        """Largest stiffness [N/m] of each node against obstacles and motors, [n]."""
        extra, own = np.zeros(len(self.springs.points)), self.springs.node_stiffness
        for obstacle in self.around.obstacles:
            z = obstacle.damping
            extra += (obstacle.stiffness or own) * (z + np.sqrt(1.0 + z * z)) ** 2
        for m, motor in enumerate(self.around.motors):
            hub, _ = hub_and_base(self.springs, m, motor)
            extra[hub] += hub_stiffness(self.springs, motor, hub)
        return extra

    def _steepness(self) -> Array | None:
        """Factor on the constants where laws are steeper than linear, [m]."""
        steepest = max((law.steepest for law in self.around.laws.values()), default=1.0)
        return None if steepest <= 1.0 else np.full(len(self.springs.springs), steepest)

    def _checked_step(self, step: float | None) -> float:
        if step is None:
            return float(SAFE * self.limit)
        if not (np.isfinite(step) and step > 0):
            raise InputError(f"step is {step} s", remedy=f"give a positive number, at most {self.limit:.3g} s")
        if step > self.limit:
            warnings.warn(
                f"a step of {step:.3g} s is above the longest stable one of {self.limit:.3g} s: the run will most likely "
                f"diverge; take at most {SAFE * self.limit:.3g} s",
                PliantWarning,
                stacklevel=3,
            )
        return float(step)

    def _checked_threads(self, threads: int | None) -> int:
        if threads is None:
            return int(max(1, min(len(usable_cores()), len(self.springs.springs) // SPRINGS_PER_THREAD)))
        if threads < 1:
            raise InputError(f"{threads} threads", remedy="give at least one")
        return int(threads)

    @property
    def damping(self) -> float:
        """Rate c [1/s] of m dv/dt = f - c m v; may be changed between runs."""
        return self._damping

    @damping.setter
    def damping(self, rate: float) -> None:
        if not (np.isfinite(rate) and rate >= 0):
            raise InputError(f"damping is {rate} 1/s", remedy="give a rate >= 0")
        self._damping = float(rate)

    @property
    def x(self) -> Array:
        """Positions now [n, 3] [m], a copy that cannot be written to; may be set as a whole."""
        return _read_only(self.engine.x)

    @x.setter
    def x(self, value: ArrayLike) -> None:
        self.engine.put(self._per_node(value, "x"), self.engine.v)

    @property
    def v(self) -> Array:
        """Velocities now [n, 3] [m/s], a copy that cannot be written to; may be set as a whole."""
        return _read_only(self.engine.v)

    @v.setter
    def v(self, value: ArrayLike) -> None:
        self.engine.put(self.engine.x, self._per_node(value, "v"))

    @property
    def time(self) -> float:
        """Now [s]."""
        return float(self.engine.number * self.step)

    def reset(self) -> None:
        """Back to rest at time zero."""
        self.engine.rewind()

    def replace_loads(self, loads: Load | Sequence[Load]) -> None:
        """Other loads from now on, without signals or with those in use."""
        self.around.loads = several(loads, Load, "loads")
        self.engine.change_loads(self.around)

    def switch_off(self, springs: ArrayLike) -> None:
        """Break springs (their numbers): they pull no more."""
        self._switch(springs, 0.0)

    def switch_on(self, springs: ArrayLike) -> None:
        """Mend springs that were switched off."""
        self._switch(springs, 1.0)

    def _switch(self, springs: ArrayLike, value: float) -> None:
        if self.around.laws:
            raise InputError("springs with laws cannot be switched", remedy="leave them out of the body")
        ids = node_ids(springs, len(self.on), "those to switch", "spring")
        self.on[ids] = value
        self.engine.scale_springs(self.on)

    def energies(self) -> dict[str, float]:
        """Kinetic, elastic, gravitational and contact energy now [J]."""
        values = energies(self.springs, self.on, self.around, self.x, self.v, self.time)
        return dict(zip(("kinetic", "elastic", "gravitational", "contact"), values, strict=True))

    def run(
        self,
        duration: float,
        *,
        record: ArrayLike = (),
        every: int = 1,
        energy_every: int | None = None,
        stop: Callable[[Explicit], bool] | None = None,
        stop_every: float | None = None,
        progress: Progress = None,
    ) -> ExplicitRun:
        """Go on for `duration` seconds of simulated time.

        record: nodes whose positions and velocities are written down every so many steps. energy_every: steps between samples
        of the energies (none by default). stop: asked every `stop_every` seconds (default: a twentieth of the run), ends the
        run by True. progress: a bar on stderr with the time left, by default on a terminal only; or a function that is told
        the share done, 0 to 1.
        """
        steps = self._checked_steps(duration, every, energy_every)
        require_interval(stop_every)
        pause = steps if stop is None else max(1, round((stop_every or duration / 20.0) / self.step))
        ids = node_ids(
            np.asarray(record, dtype=np.int64) if not np.size(record) else record, len(self.springs.points), "record"
        )
        return Course(self, steps, ids, every, energy_every, stop, pause).run(progress)

    def _checked_steps(self, duration: float, every: int, energy_every: int | None) -> int:
        if not (np.isfinite(duration) and duration > 0):
            raise InputError(f"a run of {duration} s", remedy="give a positive duration")
        if every < 1 or (energy_every is not None and energy_every < 1):
            raise InputError(f"a sample every {every} steps, energy every {energy_every}", remedy="give at least 1")
        return max(1, round(duration / self.step))

    def _per_node(self, value: ArrayLike, name: str) -> Array:
        array = np.array(value, dtype=float)
        shape = self.springs.points.shape
        if array.shape != shape:
            raise InputError(f"{name} has shape {array.shape}", remedy=f"give finite numbers of shape {shape}")
        wrong = np.flatnonzero(~np.isfinite(array).all(axis=1))
        if len(wrong):
            raise InputError(
                f"{name} of node {wrong[0]} is {array[wrong[0]].tolist()} ({len(wrong)} such nodes)",
                remedy="give finite numbers",
            )
        return array


def require_interval(seconds: float | None) -> None:
    if seconds is not None and not (np.isfinite(seconds) and seconds > 0):
        raise InputError(f"stop_every is {seconds} s", remedy="give a positive number, or leave it out")


def _read_only(array: Array) -> Array:
    array.flags.writeable = False
    return array


def several(given: T | Sequence[T], kind: type[T], name: str) -> tuple[T, ...]:
    """One thing or some of a kind, checked."""
    items = (given,) if isinstance(given, kind) else given
    if not isinstance(items, Sequence) or not all(isinstance(item, kind) for item in items):
        raise InputError(f"{name} is {given!r}", remedy=f"give one {kind.__name__}, or a list of them")
    return tuple(items)


def as_three(vector: ArrayLike, name: str) -> Array:
    array = np.asarray(vector, dtype=float)
    if array.shape != (3,) or not np.isfinite(array).all():
        raise InputError(f"{name} is {vector}", remedy="give three finite numbers")
    return array
