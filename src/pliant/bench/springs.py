"""Springs per second of the explicit engine, beside what the memory of the same machine can do in the same run."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np

from pliant.algebra.compiled import kernel
from pliant.bench.clock import smallest_times
from pliant.body import SpringBody
from pliant.exchange import usable_cores
from pliant.motion.explicit import Explicit, Material, Population, Sine
from pliant.motion.explicit.engine import Crew
from pliant.shape import Lattice
from pliant.shape.solids import box
from pliant.view import Figure
from pliant.view.figures import bounded

CELLS = 42
"""Along each edge of the cube: 984,438 springs on 79,507 nodes."""

STEPS = 20
BIG_CELLS, BIG_STEPS = 43, 1000
"""Cells along each edge of a cube of 1,055,908 springs, and steps that it does on the ground."""
POINTS = 50_000
"""Best-candidate points in a cube."""
FLOORS = {"structured_f32_1t": 300.0, "general_f32_1t": 90.0}
TRIAD = 4_000_000
"""Numbers in each array of the yardstick: more than the caches nearest to a core hold."""


@kernel
def triad(a: Any, b: Any, c: Any, factor: float) -> None:
    """a = b + factor c, the yardstick: what plain C does at the speed of memory (McCalpin's STREAM)."""
    for i in range(a.size):
        a[i] = b[i] + factor * c[i]


def measure() -> list[Figure]:
    """Both layouts, float32 and float64, one thread and two, a ragged lattice of several materials, a population; what a
    million springs and 50,000 scattered points take."""
    cube = Lattice.block((CELLS,) * 3, size=0.01)
    explicits, actions = {}, {}
    for layout in ("structured", "general"):
        for short, precision in (("f32", "single"), ("f64", "double")):
            for threads in (1, 2):
                name = f"{layout}_{short}" + ("_1t" if threads == 1 else "")
                explicits[name] = shaken(SpringBody(cube, E=1e5), layout, precision, threads)
    ragged, actuated = _ragged(), shaken(SpringBody(cube, E=1e5), "structured", "single", 1, {0: Sine(0.02, 5.0)})
    explicits["ragged_f32_1t"], explicits["actuated_f32_1t"] = ragged, actuated
    for name, explicit in explicits.items():
        actions[name] = steps_of(explicit)
    numbers = [np.ones(TRIAD, np.float32) for _ in range(3)]
    actions["triad"] = lambda: triad(*numbers, np.float32(1.5))
    times = smallest_times(actions, seconds=25.0, least=5)
    speeds = {name: STEPS * len(e.springs.springs) / times[name] / 1e6 for name, e in explicits.items()}
    bandwidth = 3 * 4 * TRIAD / times["triad"] / 1e9
    return _figures(explicits, speeds, bandwidth) + _population() + _million() + _scattered() + _starts()


def shaken(
    body: SpringBody, layout: Any, precision: Any, threads: int, actuation: Any = None, integrator: Any = "verlet"
) -> Explicit:
    """A lattice in motion: at rest many numbers would be zero, or so small that they slow the processor down."""
    explicit = Explicit(
        body,
        integrator=integrator,
        gravity=(0, 0, -9.81),
        layout=layout,
        precision=precision,
        threads=min(threads, len(usable_cores())),
        actuation=actuation,
    )
    explicit.x = body.rest + np.random.default_rng(0).normal(size=body.rest.shape) * 1e-4
    return explicit


def _ragged() -> Explicit:
    """A ball of three materials: 45 % of the points of its box are empty."""
    radius = 0.01 * CELLS / 2
    ball = Lattice.voxels(lambda p: (p**2).sum(1) < radius**2, 0.01, bounds=((-radius,) * 3, (radius,) * 3))
    ball = ball.labelled(lambda c: np.digitize(c[:, 0], [-radius / 3, radius / 3]))
    return shaken(SpringBody(ball, E={0: 1e5, 1: 3e4, 2: 1e6}), "structured", "single", 1)


def steps_of(explicit: Explicit, count: int = STEPS) -> Callable[[], None]:
    """So many steps of the engine, without the start of a run."""
    engine = explicit.engine
    none = engine.record_table(np.empty(0, np.int64), 0, 0)
    crew = Crew(explicit.threads)

    def steps() -> None:
        engine.run(count, 0.0, none, 0, crew)

    return steps


def _figures(explicits: dict[str, Explicit], speeds: dict[str, float], bandwidth: float) -> list[Figure]:
    figures = []
    for name, speed in speeds.items():
        full, unit = f"springs.{name}_mps", "M springs/s"
        if name in FLOORS:
            figures.append(bounded(full, speed, unit, FLOORS[name], "higher", "one core"))
        else:
            figures.append(Figure(full, speed, unit, better="higher"))
    for layout in ("structured", "general"):
        for short in ("f32", "f64"):
            ratio = speeds[f"{layout}_{short}"] / speeds[f"{layout}_{short}_1t"]
            name = f"springs.{layout}_{short}_two_threads"
            if short == "f32":
                figures.append(bounded(name, ratio, "x", 1.6, "higher", "on idle cores"))
            else:
                figures.append(Figure(name, ratio, "x", better="higher"))
    figures.append(Figure("springs.triad_gbps", bandwidth, "GB/s", source="a = b + 1.5 c, one thread", better="higher"))
    for name in ("structured_f32_1t", "general_f32_1t"):
        triads = bandwidth * 1e9 / 12 / 1e6
        figures.append(Figure(f"springs.{name}_over_triad", speeds[name] / triads, "x", source="springs per element"))
    for name, cube in (("cube", "structured_f32"), ("ragged", "ragged_f32_1t")):
        springs = explicits[cube].springs
        count, nodes = len(springs.springs), len(springs.points)
        figures.append(
            Figure(f"springs.{name}_per_node", count / nodes, "", source=f"{count:,} springs, {nodes:,} nodes")
        )
    return figures


def _population() -> list[Figure]:
    """1,000 lattices of 5x5x5 cells with their own materials and phases beside one lattice of as many springs.

    The time of the population includes building its tables; that of the lattice is its steps alone.
    """
    rng, small = np.random.default_rng(0), Lattice.block((5, 5, 5), size=0.01)
    palette = {
        0: Material(1e5),
        1: Material(3e5, 1500.0),
        2: Material(5e4, strain=Sine(0.1, 5.0)),
        3: Material(8e4, strain=Sine(0.1, 5.0, offset=0.02)),
    }
    ids, phases = rng.integers(0, 4, (1000, 125)), rng.uniform(0, 6, (1000, 4))
    many = Population(small, palette, ids, phases=phases, threads=1, noise=1e-3)
    big = Lattice.block((53, 53, 53), size=0.01).labelled(lambda c: rng.integers(0, 4, len(c)))
    moduli, densities = {q: m.E for q, m in palette.items()}, {q: m.density for q, m in palette.items()}
    strains = {q: m.strain for q, m in palette.items() if m.strain is not None}
    alike = shaken(SpringBody(big, moduli, densities), "structured", "single", 1, strains)
    still = shaken(SpringBody(big, moduli, densities), "structured", "single", 1)
    steps = 1000
    actions = {"alike": steps_of(alike), "still": steps_of(still)}
    best: dict[str, float] = {}
    for _ in range(2):
        speed = many.run(steps * many.step).springs_per_second / 1e6
        best["many"] = max(best.get("many", 0.0), speed)
        times = smallest_times(actions, seconds=2.0, least=3)
        for name, seconds in times.items():
            best[name] = max(best.get(name, 0.0), STEPS * len(big.springs) / seconds / 1e6)
    per_node = len(small.springs) / len(small.points)
    source = f"1,000 x {len(small.springs):,} springs, {per_node:.2f} per node"
    return [
        Figure("springs.population_f32_1t_mps", best["many"], "M springs/s", source=source, better="higher"),
        bounded(
            "springs.population_over_one",
            best["many"] / best["alike"],
            "x",
            0.6,
            "higher",
            "one lattice, same materials",
        ),
        Figure(
            "springs.population_over_passive",
            best["many"] / best["still"],
            "x",
            source="one lattice without signals",
            better="higher",
        ),
    ]


def _million() -> list[Figure]:
    """A process of its own builds a cube of a million springs in double precision and lets it fall onto the ground.

    The memory is the largest that the process had, with Python and pliant in it (on Linux by proc(5): what getrusage says there
    a process inherits from its maker).
    """
    code = (
        "import resource, sys, time\n"
        "import pliant as pl\n"
        "from pliant.contact import Plane\n"
        "def cube(cells):\n"
        "    body = pl.SpringBody(pl.Lattice.block((cells,) * 3, size=0.01), E=1e5)\n"
        "    return pl.Explicit(body, gravity=(0, 0, -9.81), ground=Plane(offset=-1e-4))\n"
        "cube(2).run(0.01)\n"
        "begin = time.perf_counter()\n"
        "big = cube(int(sys.argv[1]))\n"
        "built = time.perf_counter() - begin\n"
        "run = big.run(int(sys.argv[2]) * big.step).require()\n"
        "words = open('/proc/self/status').read().split() if sys.platform == 'linux' else []\n"
        "most = 1024 * int(words[words.index('VmHWM:') + 1]) if words else resource.getrusage(0).ru_maxrss\n"
        "print(len(big.springs.springs), built, most / 1e9, run.seconds)\n"
    )
    command = [sys.executable, "-c", code, str(BIG_CELLS), str(BIG_STEPS)]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    springs, built, memory, seconds = (float(word) for word in answer.split())
    source = f"{springs:,.0f} springs, float64"
    return [
        bounded("springs.million_build_s", built, "s", 30.0, "lower", source),
        bounded("springs.million_memory_gb", memory, "GB", 1.0, "lower", source + ", whole process"),
        Figure(
            "springs.million_steps_s",
            seconds,
            "s",
            source=f"{source}, {BIG_STEPS:,} steps on the ground",
            better="lower",
        ),
    ]


def _scattered() -> list[Figure]:
    """Seconds of a lattice on best-candidate points in a cube, of 100 candidates each, with its springs."""
    cube = box((0.1, 0.1, 0.1))
    Lattice.scattered(cube, count=100)
    begin = time.perf_counter()
    lattice = Lattice.scattered(cube, count=POINTS)
    seconds = time.perf_counter() - begin
    source = f"{len(lattice.points):,} points, {len(lattice.springs):,} springs"
    return [bounded("springs.best_candidate_s", seconds, "s", 60.0, "lower", source)]


def _starts() -> list[Figure]:
    """Seconds of a whole process that steps a small lattice, the kernels being in the cache."""
    code = (
        "import pliant as pl\n"
        "from pliant.shape import Lattice\n"
        "body = pl.SpringBody(Lattice.block((4, 2, 2), size=0.01), E=1e5)\n"
        "pl.Explicit(body, precision='single').run(0.01)\n"
    )
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)
        times.append(time.perf_counter() - begin)
    return [bounded("springs.start_s", min(times), "s", 2.0, "lower", "second process, with import")]
