"""The engine: tables in memory, threads that work on them, integrators as rules. It knows no user."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from numpy.typing import DTypeLike

from pliant.motion.explicit import tables
from pliant.motion.explicit._loop_kernels import advance
from pliant.motion.explicit._motor_kernels import motor_forces
from pliant.motion.explicit._node_kernels import hold
from pliant.motion.explicit.layouts import Layout
from pliant.motion.explicit.motors import motors_table
from pliant.motion.explicit.setup import (
    SignalBox,
    Surroundings,
    given_table,
    holds_table,
    loads_table,
    material_tables,
    no_odd_springs,
    signals_table,
    world_table,
)
from pliant.motion.explicit.signals import Signal
from pliant.motion.explicit.springs import Array, Ids, Springs

INTEGRATORS = {
    "verlet": tables.VERLET,
    "semi-implicit": tables.SEMI_IMPLICIT,
    "forward": tables.FORWARD,
    "rk4": tables.RUNGE_KUTTA,
}

SPRINGS_PER_THREAD = 50_000
"""Below this a second thread waits more than it works."""


def coefficients(integrator: int, when: str, c: float, h: float) -> tuple[float, float, float]:
    """keep, push and drift of v <- keep v + push a, x <- x + drift v.

    Damping c is a rate, dv/dt = a - c v, taken in the middle of the step (Verlet) or at its end (semi-implicit), which is
    stable for any c. when: Verlet opens with half a push, goes on steadily with velocities between the steps, and closes
    with the other half.
    """
    middle = 0.5 * c * h
    return {
        (tables.VERLET, "opening"): (1.0 - middle, 0.5 * h, h),
        (tables.VERLET, "steady"): ((1.0 - middle) / (1.0 + middle), h / (1.0 + middle), h),
        (tables.VERLET, "closing"): (1.0 / (1.0 + middle), 0.5 * h / (1.0 + middle), 0.0),
        (tables.SEMI_IMPLICIT, "steady"): (1.0 / (1.0 + c * h), h / (1.0 + c * h), h),
        (tables.FORWARD, "steady"): (1.0 - c * h, h, h),
        (tables.RUNGE_KUTTA, "steady"): (1.0, 0.5 * h, h),
    }[integrator, when]


class Engine:
    """State and tables of one lattice, or of one batch of robots side by side."""

    def __init__(
        self,
        springs: Springs,
        layout: Layout,
        around: Surroundings,
        *,
        step: float,
        integrator: str,
        dtype: DTypeLike,
        actuation: tables.Actuation | None = None,
        signals: Sequence[Signal] = (),
    ) -> None:
        """actuation, signals: as they are, where the layout came with its springs filled in (lanes)."""
        box = SignalBox(signals)
        if actuation is None:
            actuation, odd = material_tables(springs, layout, around, box, dtype)
        else:
            odd = no_odd_springs(layout, dtype)
        given = given_table(springs, layout, around, box, dtype)
        loads = loads_table(springs, layout, around, box, dtype)
        self.springs, self.layout, self.links = springs, layout, layout.links
        self.actuation, self.odd, self.given, self.loads = actuation, odd, given, loads
        self.world = world_table(springs, layout, around, dtype)
        self.holds = holds_table(springs, layout, around, dtype)
        self.motors = motors_table(springs, layout, around.motors)
        self.signals = signals_table(box)
        self.box = box
        self.step, self.integrator, self.dtype = step, INTEGRATORS[integrator], np.dtype(dtype)
        held = np.concatenate([springs.supports.fixed, springs.supports.prescribed])
        self.nodes = _nodes(springs, layout, held, given.node, self.integrator, self.dtype)
        self.now, self.number, self.synchronous = 0, 0, True
        self.rotations = np.tile(np.eye(3), (len(around.motors), 1, 1))
        self.put(springs.points, np.zeros_like(springs.points))

    def put(self, x: Array, v: Array) -> None:
        """Set positions [n, 3] [m] and velocities [n, 3] [m/s]; nodes that are held do not move, nor leave their
        planes and lines."""
        place, nodes = self.layout.place, self.nodes
        for buffer in range(2):
            nodes.x[buffer][:, place] = x.T
            nodes.packed[buffer][: len(nodes.packed[buffer]), :3] = nodes.x[buffer][:, : nodes.packed.shape[1]].T
        nodes.v[:, place] = v.T
        nodes.v[:] *= nodes.mobile
        hold(nodes.v, self.holds, 0, len(self.holds.node))
        self.synchronous = True

    @property
    def x(self) -> Array:
        """Positions now [n, 3] [m]."""
        return np.asarray(self.nodes.x[self.now][:, self.layout.place].T.astype(float))

    @property
    def v(self) -> Array:
        """Velocities now [n, 3] [m/s]; within a run of Verlet those of half a step before."""
        return np.asarray(self.nodes.v[:, self.layout.place].T.astype(float))

    @property
    def good(self) -> bool:
        """Whether all numbers are finite."""
        total = self.nodes.x[self.now].sum(dtype=float) + self.nodes.v.sum(dtype=float)
        return bool(np.isfinite(total))

    def rewind(self) -> None:
        """Back to rest at time zero."""
        self.put(self.springs.points, np.zeros_like(self.springs.points))
        self.rotations = np.tile(np.eye(3), (len(self.rotations), 1, 1))
        self.number = 0

    def snapshot(self) -> tuple[Array, Array, int, bool, Array]:
        """State to come back to."""
        x, v = self.nodes.x[self.now].copy(), self.nodes.v.copy()
        return x, v, self.number, self.synchronous, self.rotations.copy()

    def restore(self, state: tuple[Array, Array, int, bool, Array]) -> None:
        """Come back to a state."""
        x, v, self.number, self.synchronous, rotations = state
        self.rotations = rotations.copy()
        for buffer in range(2):
            self.nodes.x[buffer] = x
            self.nodes.packed[buffer][:, :3] = x[:, : self.nodes.packed.shape[1]].T
        self.nodes.v[:] = v

    def record_table(self, ids: Ids, every: int, samples: int) -> tables.Record:
        """Where samples of nodes go."""
        places = self.layout.place[ids]
        order = np.argsort(places, kind="stable")
        shape = (samples, len(ids), 3)
        torque = np.zeros((samples, len(self.motors.axis)))
        x, v = np.zeros(shape, self.dtype), np.zeros(shape, self.dtype)
        return tables.Record(
            places[order], order.astype(np.int64), self.layout.starts(places[order]), every, x, v, torque
        )

    def run(self, steps: int, damping: float, record: tables.Record, origin: int, crew: Crew) -> None:
        """Advance by so many steps. Verlet's velocities stay half a step behind until `synchronize`."""
        while steps > 0:
            opening = self.integrator == tables.VERLET and self.synchronous
            count = 1 if opening else steps
            self._pass(self._rule(damping, origin, "opening" if opening else "steady"), count, record, crew)
            self.number += count
            steps -= count
            if self.integrator == tables.VERLET:
                self.synchronous = False

    def synchronize(self, damping: float, crew: Crew) -> None:
        """Bring the velocities of Verlet to the time of the positions."""
        if not self.synchronous:
            none = self.record_table(np.empty(0, np.int64), 0, 0)
            self._pass(self._rule(damping, 0, "closing"), 1, none, crew)
            self.synchronous = True

    def torques(self) -> Array:
        """Torques of the motors now, [m] [N m]."""
        m, out = self.motors, np.zeros(len(self.motors.axis))
        forces = np.zeros((len(m.hub) + len(m.base), 3))
        motor_forces(m, self.nodes.x[self.now], self.number * self.step, self.rotations.copy(), forces, out)
        return out

    def change_loads(self, around: Surroundings) -> None:
        """Take other loads."""
        known = len(self.box.signals)
        self.loads = loads_table(self.springs, self.layout, around, self.box, self.dtype)
        if len(self.box.signals) > known:
            self.signals = signals_table(self.box)

    def scale_springs(self, on: Array) -> None:
        """Take the constants of all springs times `on` [m]; actuated ones keep it too."""
        self.layout.fill(self.springs.constants * on, self.springs.lengths)
        factor = np.ones(self.links.k.size)
        factor[self.layout.slots] = on[:, None]
        linear = np.zeros(self.links.k.size)
        linear[self.layout.slots] = (self.springs.constants * self.springs.lengths)[:, None]
        self.actuation.base[:, 0] = (linear * factor)[self.actuation.place]

    def _rule(self, c: float, origin: int, when: str) -> tables.Rule:
        """The rule of a pass, with damping c as a rate."""
        h = self.step
        keep, push, drift = coefficients(self.integrator, when, c, h)
        numbers = np.array([keep, push, drift, c, h, 2.0, h / 6.0], self.dtype)
        synchronous = when != "steady" or self.integrator != tables.VERLET
        return tables.Rule(self.integrator, synchronous, numbers, float(h), self.number, origin)

    def _pass(self, rule: tables.Rule, steps: int, record: tables.Record, crew: Crew) -> None:
        blocks = crew.shared_blocks(self.nodes.edges)
        counter = np.zeros(2, np.int64)
        rotations = np.tile(self.rotations, (len(blocks) - 1, 1, 1, 1))

        def part(number: int) -> int:
            found: int = advance(
                self.nodes,
                self.links,
                self.actuation,
                self.signals,
                self.world,
                self.holds,
                self.given,
                self.loads,
                self.odd,
                self.motors,
                record,
                rule,
                self.now,
                steps,
                blocks,
                number,
                rotations[number],
                counter,
            )
            return found

        self.now = crew.work(part, len(blocks) - 1)
        self.rotations = rotations[0]


class Crew:
    """Threads that share the blocks of an engine."""

    def __init__(self, threads: int) -> None:
        self.threads = threads
        self._pool = ThreadPoolExecutor(threads - 1) if threads > 1 else None

    def __enter__(self) -> Crew:
        return self

    def __exit__(self, *error: object) -> None:
        if self._pool is not None:
            self._pool.shutdown()

    def shared_blocks(self, edges: Ids) -> Ids:
        """First block of every thread, [threads + 1]; no more threads than blocks."""
        count = len(edges) - 1
        parts = min(self.threads, count)
        goals = edges[0] + (edges[-1] - edges[0]) * np.arange(1, parts) // parts
        inner = np.clip(np.searchsorted(edges, goals), np.arange(1, parts), count - parts + np.arange(1, parts))
        return np.concatenate([[0], np.maximum.accumulate(inner), [count]]).astype(np.int64)

    def work(self, part: Callable[[int], int], parts: int) -> int:
        """Run all parts at the same time; returns the result of the first."""
        if self._pool is None or parts == 1:
            return part(0)
        others = [self._pool.submit(part, number) for number in range(1, parts)]
        first = part(0)
        for other in others:
            other.result()
        return first


def _nodes(springs: Springs, layout: Layout, held: Ids, given: Ids, integrator: int, dtype: DTypeLike) -> tables.Nodes:
    n = layout.count
    mobile = np.zeros(n, dtype)
    mobile[layout.place] = 1.0
    mobile[layout.place[held]] = 0.0
    mobile[given] = 0.0
    inverse = np.zeros(n, dtype)
    inverse[layout.place] = 1.0 / springs.masses
    packed = n if layout.links.layout == tables.GENERAL else 0
    stage = n if integrator == tables.RUNGE_KUTTA else 1
    return tables.Nodes(
        np.zeros((2, 3, n), dtype),
        np.zeros((3, n), dtype),
        np.zeros((2, packed, 4), dtype),
        inverse * mobile,
        mobile,
        np.zeros((4, 3, stage), dtype),
        layout.edges,
    )
