"""What the compiled loop works on: plain arrays in named tuples. T stands for float32 or float64.

Nodes are in the order of a layout (`structured`, `general`, `lanes`), with empty places between or behind them: N places.
They are worked on in blocks, contiguous ranges of places; lists of special nodes are sorted by place, and `start[b]` is the
first entry of block b.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

STRUCTURED: Final = 0
GENERAL: Final = 1
LANES: Final = 2
"""Layouts."""

VERLET: Final = 0
SEMI_IMPLICIT: Final = 1
FORWARD: Final = 2
RUNGE_KUTTA: Final = 3
"""Integrators."""


class Nodes(NamedTuple):
    """State and masses."""

    x: Any  # T [2, 3, N] positions, two buffers: one is read, the other written
    v: Any  # T [3, N] velocities; between steps of Verlet those of half a step before
    packed: Any  # T [2, N, 4] the positions, point after point (general layout)
    inverse_mass: Any  # T [N] 1/kg, zero for nodes that forces do not move and empty places
    mobile: Any  # T [N] 1 or 0
    stage: Any  # T [4, 3, N] for Runge-Kutta: start x, start v, sums of the slopes of x and v
    edges: Any  # int64 [blocks + 1] places where blocks begin


class Links(NamedTuple):
    """Linear springs in one of the layouts (see `_forces`)."""

    layout: int
    k: Any  # T 2D, stiffness
    kl: Any  # T 2D, stiffness times rest length now
    others: Any  # uint32 2D, other ends (general, lanes)
    table: Any  # int64: offsets [13]; or first row of every LANES nodes; or first spring of every node


class Actuation(NamedTuple):
    """Springs whose rest length follows signals: kl = base * (1 + sum over signals of weight * signal).

    Structured and general: entry e changes kl.flat[place[e]]; `mix[e]` is its row of `weights`. Lanes: row place[e] of kl is
    changed in all robots, kl[row] = base[e] + sum over materials m of gain[m, e] * signal[m].
    """

    place: Any  # int64 [a]
    base: Any  # T [a] or [a, robots]
    mix: Any  # int32 [a]
    weights: Any  # float64 [mixes, signals]
    gain: Any  # T [materials, a, robots]
    start: Any  # int64 [blocks + 1]


class Signals(NamedTuple):
    """Functions of time (see `_signal_kernels`)."""

    kind: Any  # int64 [s]
    numbers: Any  # float64 [s, 6]
    start: Any  # int64 [s + 1] entries of the tables
    times: Any  # float64 [t]
    values: Any  # float64 [t]


class World(NamedTuple):
    """Gravity and obstacles."""

    gravity: Any  # T [3]
    kind: Any  # int64 [o] 0 plane, 1 sphere to stay out of, 2 sphere to stay in
    shape: Any  # T [o, 4] normal and offset, or middle and radius
    touch: Any  # T [o, 3] friction, damping ratio, stiffness (0: the node's own)
    stiffness: Any  # T [N] N/m of every node against obstacles


class Holds(NamedTuple):
    """Nodes that move in a plane or along a line: v <- P v with P symmetric (xx, yy, zz, xy, yz, xz)."""

    node: Any  # int64 [h]
    projector: Any  # T [h, 6]
    start: Any


class Given(NamedTuple):
    """Nodes whose place is given: x = rest + direction * signal(t)."""

    node: Any
    rest: Any  # T [g, 3]
    direction: Any  # T [g, 3]
    signal: Any  # int64 [g]
    start: Any


class Loads(NamedTuple):
    """Forces on nodes, times a signal (-1: constant)."""

    node: Any
    force: Any  # T [l, 3]
    signal: Any
    start: Any


class Odd(NamedTuple):
    """Springs with a law of their own, once for each end: tension = k L g(strain), g from a table."""

    node: Any
    other: Any
    k: Any  # T [e] N/m
    length: Any  # T [e] m
    mix: Any  # int64 [e] row of the weights of Actuation, -1: the rest length is constant
    law: Any  # int64 [e]
    law_start: Any  # int64 [laws + 1]
    strain: Any  # float64 [t]
    tension: Any  # float64 [t] divided by k L
    start: Any


class Motors(NamedTuple):
    """Hubs turned about axes that are fixed in groups of nodes."""

    hub: Any  # int64 [h] places of all hubs' nodes, motor after motor
    hub_start: Any  # int64 [m + 1]
    arm: Any  # float64 [h, 3] from the axle to the nodes at rest
    hub_stiffness: Any  # float64 [h] N/m
    base: Any  # int64 [b]
    base_start: Any  # int64 [m + 1]; empty: the axis is fixed in the world
    base_arm: Any  # float64 [b, 3] from the base's center of mass at rest
    base_mass: Any  # float64 [b]
    axle: Any  # float64 [m, 3] point of the axis from the base's center of mass at rest
    axis: Any  # float64 [m, 3]
    drive: Any  # float64 [m, 3] speed [rad/s], phase [rad], seconds until both are reached
    order: Any  # int64 [q] entries of hubs (0 .. h) and bases (h ..), sorted by place
    start: Any  # int64 [blocks + 1] entries of `order`


class Record(NamedTuple):
    """Which nodes are written down, every so many steps."""

    node: Any  # int64 [p] sorted by place
    column: Any  # int64 [p] where it goes
    start: Any
    every: int
    x: Any  # T [samples, p, 3]
    v: Any  # T [samples, p, 3]
    torque: Any  # float64 [samples, motors]


class Rule(NamedTuple):
    """How a pass changes velocities and places: v <- keep v + push (f / m + g), x <- x + drift v."""

    integrator: int
    synchronous: bool  # whether v belongs to the same time as x before the pass
    numbers: Any  # T [7] keep, push, drift, rate of damping [1/s], step [s], 2, step / 6
    step: float  # [s]
    first: int  # number of the first step: time is its number times the step
    origin: int  # number of the step of the first sample
