"""The equations of a robot, assembled at a pose.

potential  Pi(q) = E(q) - sum m g . x - lambda . delta(q),   gradient  r = f - g - H^T lambda   (statics: r = 0)
tangent    K_t = df/dq - sum lambda_i d2 delta_i / dq2                                          ("exact")
           R K0 R^T                                                                            ("warped")
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.sparse import Cholesky, multiply
from pliant.body import Assembly, Body, Jointed, Pose
from pliant.body._assembly_kernels import add_momentum
from pliant.body.body import Tangent
from pliant.checks import number, one_of
from pliant.port import PlacedPort
from pliant.robot._load_kernels import subtract_pull, subtract_weight
from pliant.robot.extra import NO_ROWS, ExtraRows
from pliant.robot.factored import Factored
from pliant.robot.mounted import Mounted
from pliant.robot.rows import Rows

Array = NDArray[np.float64]

SINGULAR = 1e-13
"""Smallest ratio of a pivot to its diagonal entry that counts as a stiffness and not as rounding."""

EXACT, AT_ONCE, MIXED = (1.0,), (1.0, 0.0), (0.75, 0.5, 0.0)
"""How much of the exact tangent is taken, the warped one being the rest, one after the other until it is positive definite:
for looking at it, for single steps, and where Newton's iteration knows that the exact one will not do."""


@dataclass
class Times:
    """Seconds spent per stage since this was made."""

    seconds: dict[str, float] = field(default_factory=dict)
    _last: float = field(default_factory=time.perf_counter)

    def mark(self, stage: str) -> None:
        """Book the time since the last mark on a stage."""
        now = time.perf_counter()
        self.seconds[stage] = self.seconds.get(stage, 0.0) + now - self._last
        self._last = now


def require_tangent(tangent: str) -> None:
    """Raise an InputError unless the tangent is one that there is."""
    one_of(tangent, "tangent", ("exact", "warped"))


@dataclass(frozen=True)
class Loads:
    """What acts on a robot: efforts of all port rows and then of the extra rows, (m + k,), and gravity (3,) [m/s^2]."""

    efforts: Array
    gravity: Array
    extra: ExtraRows = NO_ROWS


@dataclass(frozen=True)
class Evaluation:
    """The potential [J] at a pose, its gradient on the nodes (n, 3) [N], and the largest load on a node [N]."""

    potential: float
    gradient: Array
    largest_load: float


class Equations:
    """Bodies and ports as equations, with the memory to assemble and factorize them again and again.

    Every answer is a function of what is given to it; only the factorization stands on memory that the next one reuses
    (`Factored` knows). Not for two threads at the same time; make one robot per thread (bodies may be shared).
    """

    def __init__(self, bodies: Sequence[Body], ports: Mapping[str, Mounted], threads: int, joined: Jointed) -> None:
        self.attachments = {name: mounted.attachment for name, mounted in ports.items()}
        self.slices = {name: mounted.rows for name, mounted in ports.items()}
        bodies = [*bodies, *([] if joined.frames is None else [joined.frames])]
        couplings = [(a.rows, a.cols) for a in self.attachments.values()]
        self.assembly = Assembly(bodies, couplings, parts=joined.parts, ties=joined.ties, held=joined.held)
        self.masses = np.concatenate([body.load_masses for body in bodies])
        self._heaviest = float(self.masses.max())
        self.values = np.zeros((self.assembly.block_count, 3, 3))
        self._threads = threads
        self.stamp = 0
        """How often the memory has been written to."""
        self.rows = Rows(self.assembly, [(a, slice(None)) for a in self.attachments.values()])

    @cached_property
    def cholesky(self) -> Cholesky:
        """The factorization; its analysis is done at first use."""
        return Cholesky(self.assembly.pattern, threads=self._threads)

    def evaluate(self, pose: Pose, loads: Loads, near: Sequence[PlacedPort] | None = None) -> Evaluation:
        """The potential and its gradient; relative ports are measured as those placed `near`, else from where they are."""
        gradient = np.zeros((self.assembly.node_count, 3))
        energy = self._add_bodies(pose, gradient, 0.0, 0.0, None, None)
        placed = [
            a.faced(pose.x) if near is None else a.at(pose.x, near[k].reference)
            for k, a in enumerate(self.attachments.values())
        ]
        potential, largest = self._add_loads(pose, loads, placed, gradient, 0.0, 0.0)
        return Evaluation(energy + potential, gradient, largest)

    def factor(
        self,
        pose: Pose,
        loads: Loads,
        *,
        tangent: Tangent = "exact",
        shares: Sequence[float] = EXACT,
        signed: bool = False,
        h: float | None = None,
        damping: Array | None = None,
        times: Times | None = None,
    ) -> Factored:
        """Assemble and factorize K_t, or A = M + h D + h^2 K_t for a time step h [s].

        shares: of the exact tangent in mixtures with the warped one, to be tried until one is positive definite (`AT_ONCE`,
        `MIXED`); signed: an indefinite one will do. damping: the blocks of D (`damping_blocks`) where they are not to be taken
        at this pose.
        """
        require_tangent(tangent)
        if h is not None:
            h = number(h, "the time step", unit="s", above=0.0, remedy="give a positive step, or None for statics")
        cholesky, times = self.cholesky, times or Times()
        T, placed = self.assembly.slope(pose), [a.faced(pose.x) for a in self.attachments.values()]
        times.mark("ports")
        scale = 1.0 if h is None else h * h
        for exactness in shares if tangent == "exact" else (0.0,):
            self.stamp += 1
            exact, warped = exactness * scale, (1 - exactness) * scale
            self.values[: len(self.assembly.node_rows)] = 0.0
            gradient = np.zeros((self.assembly.node_count, 3))
            energy = self._add_bodies(pose, gradient, exact, warped, h, damping)
            times.mark("assemble")
            potential, largest = self._add_loads(pose, loads, placed, gradient, exact, warped)
            self.assembly.pull_back(T, self.values, exact * gradient if exact else None)
            times.mark("ports")
            report = cholesky.factor(self.values)
            if report.usable and (report.smallest_ratio < SINGULAR or not np.isfinite(gradient).all()):
                report = replace(report, usable=False, index=report.smallest_index, axis=-1)
            times.mark("factor")
            if report.usable and (signed or report.negatives == 0):
                break
        here = Evaluation(energy + potential, gradient, largest)
        return Factored(self, pose, loads, here, placed, T, h, report, exactness == 1.0 or tangent == "warped")

    def _add_bodies(
        self, pose: Pose, gradient: Array, exact: float, warped: float, h: float | None, damping: Array | None
    ) -> float:
        """Internal forces, and (with a step) mass and damping; returns the elastic energy."""
        energy = 0.0
        for k, body in enumerate(self.assembly.bodies):
            part, blocks = self._part(k), self.values[self.assembly.body_slices[k]]
            own = h * body.stiffness_damping if h and damping is None else 0.0
            energy += body.accumulate(pose.x[part], gradient[part], blocks, exact=exact, warped=warped + own)
            if h:
                inertia = body.mass_weights * (1 + h * body.mass_damping if damping is None else 1.0)
                np.einsum("bii->bi", blocks)[:] += inertia[:, None]
                if damping is None:
                    body.add_damping(pose.x[part], h, blocks)
            if h and damping is not None:
                blocks += h * damping[self.assembly.body_slices[k]]
        return energy

    def _part(self, body: int) -> slice:
        """The nodes of a body."""
        return slice(int(self.assembly.begin[body]), int(self.assembly.begin[body + 1]))

    def _add_loads(
        self, pose: Pose, loads: Loads, placed: Sequence[PlacedPort], gradient: Array, exact: float, warped: float
    ) -> tuple[float, float]:
        """Subtract gravity and the ports' forces from the gradient, and from the tangent `exact` x their curvature and
        `warped` x what stands for it in the warped one; returns their potential and the largest of them on a node."""
        potential, largest = 0.0, 0.0
        if loads.gravity.any():
            potential = float(subtract_weight(self.masses, loads.gravity, pose.x, self.assembly.rest_x, gradient))
            largest = self._heaviest * float(np.abs(loads.gravity).max())
        for rows, port, place in zip(self.slices.values(), placed, self.assembly.coupling_slices, strict=True):
            own = loads.efforts[rows]
            if not own.any():
                continue
            largest = max(largest, subtract_pull(own, port.slopes, port.attachment.entry_nodes, gradient))
            potential -= float(own @ port.displacement)
            if place.stop > place.start and exact:
                self.values[place] = port.curvature(-exact * own)
            if place.stop > place.start and warped and (blocks := port.warped_curvature(own)) is not None:
                self.values[place] -= warped * blocks
        if len(loads.extra):
            own = loads.efforts[len(loads.efforts) - len(loads.extra) :]
            forces = loads.extra.force(own, len(gradient))
            gradient -= forces
            largest = max(largest, float(np.abs(forces).max()))
            potential -= float(own @ loads.extra.at(pose.x))
        return potential, largest

    def port_force(self, placed: Sequence[PlacedPort], efforts: Array) -> Array:
        """H^T lambda of port rows, the first of these efforts, on the nodes (n, 3) [N]."""
        out = np.zeros((self.assembly.node_count, 3))
        if not efforts.any():
            return out
        for rows, port in zip(self.slices.values(), placed, strict=True):
            if efforts[rows].any():
                out[port.attachment.entry_nodes] += np.tensordot(efforts[rows], port.slopes, 1)
        return out

    def damping_blocks(self, pose: Pose) -> Array:
        """The blocks of D = a M + b R K0 R^T of all bodies at this pose, (nb, 3, 3)."""
        assembly = self.assembly
        out = np.zeros((assembly.body_slices[-1].stop, 3, 3))
        for k, body in enumerate(assembly.bodies):
            part, blocks = self._part(k), out[assembly.body_slices[k]]
            if body.stiffness_damping:
                body.accumulate(pose.x[part], np.zeros_like(pose.x[part]), blocks, warped=body.stiffness_damping)
            np.einsum("bii->bi", blocks)[:] += (body.mass_damping * body.mass_weights)[:, None]
            body.add_damping(pose.x[part], 1.0, blocks)
        return out

    def times_blocks(self, blocks: Array, v: Array) -> Array:
        """The product of the bodies' blocks (nb, 3, 3) with a vector on the nodes, (n, 3)."""
        out = np.zeros_like(v)
        rows, cols = self.assembly.node_rows[: len(blocks)], self.assembly.node_cols[: len(blocks)]
        multiply(rows, cols, blocks, v.reshape(-1), out.reshape(-1))
        return out

    def momentum(self, v: Array) -> Array:
        """M v [kg m/s], (n, 3)."""
        out = np.zeros_like(v)
        for k, body in enumerate(self.assembly.bodies):
            part = self._part(k)
            add_momentum(body.rows, body.cols, body.mass_weights, v[part], out[part])
        return out
