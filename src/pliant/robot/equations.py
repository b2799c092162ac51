"""The equations of a robot, assembled at a pose.

potential  Pi(q) = E(q) - sum m g . x - lambda . delta(q),   gradient  r = f - g - H^T lambda   (statics: r = 0)
tangent    K_t = df/dq - sum lambda_i d2 delta_i / dq2                                          ("exact")
           R K0 R^T                                                                            ("warped")
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.sparse import Cholesky, aligned, multiply
from pliant.body import Assembly, Body, Jointed, Pose
from pliant.body._assembly_kernels import add_mass, add_momentum
from pliant.body.body import Led, Tangent
from pliant.checks import one_of
from pliant.port import PlacedPort
from pliant.robot._load_kernels import subtract_pull, subtract_weight
from pliant.robot.begun import Loose, begun, loose_parts
from pliant.robot.extra import NO_ROWS, ExtraRows
from pliant.robot.factored import Factored, largest_entry
from pliant.robot.isolated import Isolated
from pliant.robot.mounted import Mounted
from pliant.robot.rows import Rows
from pliant.robot.state import State
from pliant.robot.time_step import TimeStep

Array = NDArray[np.float64]

SINGULAR = 1e-13
"""Smallest ratio of a pivot to its diagonal entry that counts as a stiffness and not as rounding."""

NOTICED = 1e6
"""A load counts from so many times of what rounding of the positions does to forces."""

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


@dataclass(frozen=True)
class Unloaded:
    """The smallest pivot ratio of the stiffness, and the load below which there is none [N]."""

    pivot: float
    smallest_load: float


class Equations:
    """Bodies and ports as equations, with the memory to assemble and factorize them again and again.

    Every answer is a function of what is given to it; only the factorization stands on memory that the next one reuses
    (`Factored` knows). Not for two threads at the same time; make one robot per thread (bodies may be shared).
    """

    def __init__(self, bodies: Sequence[Body], ports: Mapping[str, Mounted], threads: int, joined: Jointed) -> None:
        self.attachments = {name: mounted.attachment for name, mounted in ports.items()}
        self.relative = [(k, name) for k, (name, a) in enumerate(self.attachments.items()) if a.port.relative]
        """Numbers and names of the ports that are measured from a reference."""
        self.slices = {name: mounted.rows for name, mounted in ports.items()}
        bodies = [*bodies, *([] if joined.frames is None else [joined.frames])]
        couplings = [(a.rows, a.cols) for a in self.attachments.values()]
        self.assembly = Assembly(bodies, couplings, parts=joined.parts, ties=joined.ties, held=joined.held)
        self.masses = np.concatenate([body.load_masses for body in bodies])
        self._heaviest = float(self.masses.max())
        self.values = aligned(9 * self.assembly.block_count).reshape(-1, 3, 3)
        self._threads = threads
        self.stamp = 0
        """How often the memory has been written to."""
        self.rows = Rows(self.assembly, [(a, slice(None)) for a in self.attachments.values()])

    @cached_property
    def cholesky(self) -> Cholesky:
        """The factorization; its analysis is done at first use."""
        return Cholesky(self.assembly.pattern, threads=self._threads)

    @cached_property
    def unloaded(self) -> Unloaded:
        """The robot as it was made, without loads: what a loaded one is compared with. Overwrites the factorization."""
        rest = self.assembly.rest()
        nothing = Loads(np.zeros(sum(a.row_count for a in self.attachments.values())), np.zeros(3))
        found = self.factor(rest, nothing)
        pivot = found.report.smallest_ratio if found.report.ok else np.nan
        return Unloaded(pivot, NOTICED * float(found.force_rounding().max()))

    def unbalanced(self, force: Array, here: Evaluation) -> float:
        """The largest force out of balance over the largest load on a node, both at one pose; force: what is out of balance on
        the coordinates (nc, 3). Moments count as forces at the end of their longest lever."""
        off = force / self.assembly.reaches if self.assembly.parts.parts else force
        return largest_entry(off) / max(here.largest_load, self.unloaded.smallest_load)

    @cached_property
    def isolated(self) -> Isolated:
        """What keeps its angular momentum."""
        return Isolated(self.assembly, list(self.attachments.values()), self.momentum)

    @cached_property
    def _loose(self) -> list[Loose]:
        return loose_parts(self.assembly)

    def begun(self, state: State, step: TimeStep) -> tuple[Pose, Pose | None]:
        """The pose about which a step through time is linearized, and the chart of its rigid parts (`begun`)."""
        return begun(self.assembly, self._loose, state, step)

    def evaluate(self, pose: Pose, loads: Loads, near: Sequence[PlacedPort] | None = None) -> Evaluation:
        """The potential and its gradient; relative ports are measured as those placed `near`, else from where they are."""
        gradient = np.zeros((self.assembly.node_count, 3))
        energy = self._add_bodies(pose, gradient, 0.0, 0.0)
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
        step: TimeStep | None = None,
        damping: Array | None = None,
        chart: Pose | None = None,
        times: Times | None = None,
        pushed: bool = False,
    ) -> Factored:
        """Assemble and factorize K_t, or A = M + tau D + tau sigma K_t for a step through time.

        shares: of the exact tangent in mixtures with the warped one, to be tried until one is positive definite (`AT_ONCE`,
        `MIXED`); signed: an indefinite one will do. damping: the blocks of D (`damping_blocks`) where they are not to be taken
        where the step says. chart: the pose with rigid parts farther on, which their nodes turn about (`begun`). pushed: half
        of the solve for the step is done along the way (`Factored.push`).
        """
        require_tangent(tangent)
        cholesky, times = self.cholesky, times or Times()
        T = self.assembly.slope(pose if chart is None else chart)
        placed = [a.faced(pose.x) for a in self.attachments.values()]
        times.mark("ports")
        scale, push, lead = 1.0 if step is None else step.scale, None, None if chart is None else chart.x - pose.x
        for exactness in shares if tangent == "exact" else (0.0,):
            self.stamp += 1
            exact, warped = exactness * scale, (1 - exactness) * scale
            self.values[: len(self.assembly.node_rows)].fill(0.0)
            gradient = np.zeros((self.assembly.node_count, 3))
            drag = None if step is None else self._add_inertia(pose, step, damping)
            change = np.zeros_like(gradient) if pose.led is not None else None
            energy = self._add_bodies(pose, gradient, exact, warped, change)
            times.mark("assemble")
            potential, largest = self._add_loads(pose, loads, placed, gradient, exact, warped)
            curving = gradient if change is None else gradient + change
            self.assembly.pull_back(T, self.values, exact * curving if exact else None)
            here = Evaluation(energy + potential, gradient, largest)
            if pushed:
                push = self.assembly.force_on_coordinates(T, self.force_of_step(here, step, pose.x, drag, lead))
            times.mark("ports")
            report = cholesky.factor(self.values, None if push is None else push.reshape(-1))
            if report.usable and (report.smallest_ratio < SINGULAR or not math.isfinite(gradient.sum())):
                report = replace(report, usable=False, index=report.smallest_index, axis=-1)
            times.mark("factor")
            if report.usable and (signed or report.negatives == 0):
                break
        as_asked = exactness == 1.0 or tangent == "warped"
        return Factored(self, chart or pose, loads, here, placed, T, step, report, as_asked, drag, lead, push)

    def force_of_step(
        self, here: Evaluation, step: TimeStep | None, x: Array, drag: Array | None, lead: Array | None
    ) -> Array:
        """f (n, 3) such that A^-1 f is the step: what is out of balance here, in statics, or at the end of a step through time
        if the nodes stayed at x, times the scale, and less what it takes to be ahead. See `Factored` for drag and lead."""
        if step is None:
            return -here.gradient
        out: Array = step.sigma * self.momentum(step.vb - step.velocity(x)) - step.scale * here.gradient
        if drag is not None:
            out -= step.scale * drag
        return out if lead is None else out - self.times(lead)

    def times(self, motion: Array) -> Array:
        """A dx (n, 3) of a motion of the nodes dx (n, 3), with A as it was assembled last."""
        out = np.zeros_like(motion)
        rows, cols = self.assembly.node_rows, self.assembly.node_cols
        multiply(rows, cols, self.values, motion.reshape(-1), out.reshape(-1))
        return out

    def _add_bodies(
        self, pose: Pose, gradient: Array, exact: float, warped: float, change: Array | None = None
    ) -> float:
        """Internal forces and stiffness; returns the elastic energy. change (n, 3): of forces, by the stresses that the tangent
        takes in place of those at the pose."""
        energy = 0.0
        for k, body in enumerate(self.assembly.bodies):
            own, blocks = self._part(k), self.values[self.assembly.body_slices[k]]
            x, force = pose.x[own], gradient[own]
            if body.predicts and pose.led is not None and change is not None:
                led = Led(pose.led.begin[own], pose.led.motion[own])
                energy += body.accumulate_led(x, led, force, change[own], blocks, exact=exact, warped=warped)
            else:
                energy += body.accumulate(x, force, blocks, exact=exact, warped=warped)
        return energy

    def _add_inertia(self, pose: Pose, step: TimeStep, damping: Array | None) -> Array | None:
        """M + tau D; returns D v (n, 3) [N] with the v that the step ends with if it leaves the nodes at the pose, None where
        that is nothing."""
        bodies, slices, tau = self.assembly.bodies, self.assembly.body_slices, step.tau
        blocks, drag = self.values[: slices[-1].stop], None
        if damping is not None:
            blocks += tau * damping
            for body, own in zip(bodies, slices, strict=True):
                add_mass(body.mass_weights, 1.0, self.values[own])
            return None
        if step.damped_at is not None and any(body.is_damped for body in bodies):
            drag = self.momentum(v := step.velocity(pose.x), damped=True)
        inside = self._add_damping_inside(pose.x if step.damped_at is None else step.damped_at, blocks, tau)
        if inside and drag is not None:
            drag += self.times_blocks(blocks, v) / tau
        for body, own in zip(bodies, slices, strict=True):
            add_mass(body.mass_weights, 1.0 + tau * body.mass_damping, self.values[own])
        return drag

    def _part(self, body: int) -> slice:
        """The nodes of a body."""
        return slice(int(self.assembly.begin[body]), int(self.assembly.begin[body + 1]))

    def _add_loads(
        self, pose: Pose, loads: Loads, placed: Sequence[PlacedPort], gradient: Array, exact: float, warped: float
    ) -> tuple[float, float]:
        """Subtract gravity and the ports' forces from the gradient, and from the tangent `exact` x their curvature and
        `warped` x what stands for it in the warped one; returns their potential and the largest of them on a node."""
        potential, largest = 0.0, 0.0
        gravity = max(map(abs, loads.gravity.tolist()))
        if gravity:
            potential = float(subtract_weight(self.masses, loads.gravity, pose.x, self.assembly.rest_x, gradient))
            largest = self._heaviest * gravity
        for rows, port, place in zip(self.slices.values(), placed, self.assembly.coupling_slices, strict=True):
            own = loads.efforts[rows]
            if not any(own.tolist()):
                continue
            most, work = subtract_pull(own, port.displacement, port.slopes, port.attachment.entry_nodes, gradient)
            largest, potential = max(largest, most), potential - work
            if place.stop > place.start and exact:
                port.curve(-exact * own, self.values[place])
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

    def damping_blocks(self, x: Array) -> Array:
        """The blocks of D = a M + b R K0 R^T of all bodies with the nodes at x (n, 3), (nb, 3, 3)."""
        out = np.zeros((self.assembly.body_slices[-1].stop, 3, 3))
        self._add_damping_inside(x, out, 1.0)
        for body, own in zip(self.assembly.bodies, self.assembly.body_slices, strict=True):
            add_mass(body.mass_weights, body.mass_damping, out[own])
        return out

    def _add_damping_inside(self, x: Array, out: Array, weight: float) -> bool:
        """Add weight x D to blocks without what goes with the mass; returns whether there is any."""
        damped = [k for k, body in enumerate(self.assembly.bodies) if body.is_damped_inside]
        for k in damped:
            self.assembly.bodies[k].add_damping(x[self._part(k)], weight, out[self.assembly.body_slices[k]])
        return bool(damped)

    def times_blocks(self, blocks: Array, v: Array) -> Array:
        """The product of the bodies' blocks (nb, 3, 3) with a vector on the nodes, (n, 3)."""
        out = np.zeros_like(v)
        rows, cols = self.assembly.node_rows[: len(blocks)], self.assembly.node_cols[: len(blocks)]
        multiply(rows, cols, blocks, v.reshape(-1), out.reshape(-1))
        return out

    def momentum(self, v: Array, *, damped: bool = False) -> Array:
        """M v [kg m/s], (n, 3); damped: a M v [N] with Rayleigh's coefficient of every body."""
        out = np.zeros_like(v)
        for k, body in enumerate(self.assembly.bodies):
            part, factor = self._part(k), body.mass_damping if damped else 1.0
            if factor:
                add_momentum(body.rows, body.cols, body.mass_weights, factor, v[part], out[part])
        return out
