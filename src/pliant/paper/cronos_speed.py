"""Springs per second against the size of the lattice (clay2021, Table 2 and fig. 9), and the time of a step of 8,000 masses
(Table 3), beside what the memory of this machine does in the same run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pliant.bench.clock import smallest_times
from pliant.bench.springs import TRIAD, shaken, steps_of, triad
from pliant.body import SpringBody
from pliant.exchange import usable_cores
from pliant.shape import Lattice
from pliant.view import Figure

PAPERS_SPEEDS = {
    "Nvidia RTX 3090": 9110.0, "Nvidia Tesla V100": 1120.0, "Nvidia RTX 2080": 1010.0, "Nvidia GTX 1080 Ti": 492.34,
    "Nvidia GTX 1070": 328.11, "Intel i7-8700K, 6 cores": 23.38,
}  # fmt: skip
"""Million springs per second at their best size, the paper's Table 2."""
PAPERS_CPU = PAPERS_SPEEDS["Intel i7-8700K, 6 cores"]
PAPERS_STEPS = {"Nvidia Flex": 3.5, "ChainQueen, forward": 0.392, "the paper": 0.216}
"""Milliseconds per step of about 8,000 particles on a GTX 1080 Ti, the paper's Table 3."""
CELLS = (4, 8, 12, 18, 26, 42)
"""Along the edges of cubes: about 1,000 to 1,000,000 springs."""
INTEGRATORS = ("semi-implicit", "verlet", "rk4")
LAYOUTS = ("structured", "general")
WORK = 400_000
"""Springs that a timed action steps at least."""


@dataclass(frozen=True)
class Speed:
    """One lattice, integrator, layout and number of threads, in single precision: millions of springs per second."""

    springs: int
    nodes: int
    integrator: str
    layout: str
    threads: int
    million: float


@dataclass(frozen=True)
class Throughput:
    """All speeds, and the yardstick a = b + 1.5 c in float32 on one thread [GB/s], measured in turns with the largest."""

    speeds: list[Speed]
    bandwidth: float

    def best(self, **wanted: Any) -> Speed:
        """The fastest of those with the given integrator, layout, threads or springs."""
        found = [s for s in self.speeds if all(getattr(s, name) == value for name, value in wanted.items())]
        return max(found, key=lambda s: s.million)


def thread_counts() -> tuple[int, ...]:
    """One, and two where there are two processors."""
    return (1, 2) if len(usable_cores()) > 1 else (1,)


def throughput(cells: tuple[int, ...] = CELLS, seconds: float = 40.0) -> Throughput:
    """Cubes of these cells along an edge, each in about an equal part of the seconds."""
    speeds = []
    numbers = [np.ones(TRIAD, np.float32) for _ in range(3)]
    fastest = float("inf")
    for count in cells:
        body = SpringBody(Lattice.block((count,) * 3, size=0.01), E=1e5)
        springs = len(body.springs)
        steps = max(2, WORK // springs)
        cases = {
            f"{integrator} {layout} {threads}": (integrator, layout, threads)
            for integrator in INTEGRATORS
            for layout in LAYOUTS
            for threads in thread_counts()
        }
        actions = {
            name: steps_of(shaken(body, layout, "single", threads, integrator=integrator), steps)
            for name, (integrator, layout, threads) in cases.items()
        }
        actions["triad"] = lambda: triad(*numbers, np.float32(1.5))
        times = smallest_times(actions, seconds=seconds / len(cells), least=5)
        fastest = min(fastest, times.pop("triad"))
        for name, time in times.items():
            speeds.append(Speed(springs, len(body.rest), *cases[name], steps * springs / time / 1e6))
    return Throughput(speeds, 3 * 4 * TRIAD / fastest / 1e9)


def step_times(seconds: float = 6.0) -> tuple[int, int, dict[str, float]]:
    """8,000 masses that move and 25 that are held, a beam of 320 x 4 x 4 cells: springs, nodes, and milliseconds per step by
    precision and threads."""
    lattice = Lattice.block((320, 4, 4), size=0.01)
    body = SpringBody(lattice, E=1e5, fixed=lattice.where(x_below=1e-3))
    steps = 10
    actions = {
        f"{short}_{threads}t": steps_of(shaken(body, None, precision, threads, integrator="semi-implicit"), steps)
        for short, precision in (("f32", "single"), ("f64", "double"))
        for threads in thread_counts()
    }
    times = smallest_times(actions, seconds=seconds, least=20)
    return len(body.springs), len(body.rest), {name: 1e3 * time / steps for name, time in times.items()}


def figures(found: Throughput, steps: tuple[int, int, dict[str, float]]) -> list[Figure]:
    """Table 2 (the best of each integrator, layout and number of threads) and Table 3."""
    unit = "M springs/s"
    out = []
    for layout in LAYOUTS:
        for integrator in INTEGRATORS:
            for threads in thread_counts():
                best = found.best(layout=layout, integrator=integrator, threads=threads)
                name = f"cronos.peak_{layout}_{integrator.replace('-', '_')}_{threads}t_mps"
                source = f"paper's CPU; {best.springs:,} springs, {best.springs / best.nodes:.1f}/node"
                out.append(Figure(name, best.million, unit, PAPERS_CPU, source, "higher"))
    largest = max(s.springs for s in found.speeds)
    triads = found.bandwidth * 1e9 / 12 / 1e6
    for layout in LAYOUTS:
        one = found.best(layout=layout, integrator="semi-implicit", threads=1, springs=largest)
        per = one.springs / one.nodes
        out += [
            Figure(
                f"cronos.largest_{layout}_1t_mps", one.million, unit, PAPERS_CPU,
                f"paper's CPU; {one.springs:,} springs, {per:.1f}/node", "higher"
            ),
            Figure(f"cronos.largest_{layout}_1t_over_triad", one.million / triads, "x", source="springs per element"),
        ]  # fmt: skip
    out.append(Figure("cronos.triad_gbps", found.bandwidth, "GB/s", source="a = b + 1.5 c, float32, one thread"))
    springs, nodes, times = steps
    for name, time in times.items():
        source = f"paper, 1080 Ti; {springs:,} springs, {springs / nodes:.1f}/node"
        out.append(Figure(f"cronos.step_8000_{name}_ms", time, "ms", PAPERS_STEPS["the paper"], source, "lower"))
    return out
