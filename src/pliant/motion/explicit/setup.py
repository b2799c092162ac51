"""From what a user describes to the tables of the compiled loop."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from pliant.body.body import Supports
from pliant.contact import Obstacle
from pliant.errors import InputError
from pliant.motion.explicit import tables
from pliant.motion.explicit.drives import GivenMotion, Load, Motor, SpringLaw
from pliant.motion.explicit.layouts import Layout
from pliant.motion.explicit.signals import Signal, packed, require_strain
from pliant.motion.explicit.springs import Array, Ids, Springs


@dataclass
class Surroundings:
    """Everything that acts on the springs of a run; see `Explicit` for the meaning."""

    gravity: Array
    obstacles: Sequence[Obstacle] = ()
    loads: Sequence[Load] = ()
    motions: Sequence[GivenMotion] = ()
    lines: Sequence[tuple[ArrayLike, ArrayLike]] = ()
    motors: Sequence[Motor] = ()
    actuation: Mapping[int, Signal] = field(default_factory=dict)
    laws: Mapping[int, SpringLaw] = field(default_factory=dict)


class SignalBox:
    """Signals by number, each once; `first` have the first numbers, as they are."""

    def __init__(self, first: Sequence[Signal] = ()) -> None:
        self.signals: list[Signal] = list(first)

    def number(self, signal: Signal | None) -> int:
        """Number of a signal, -1 for none."""
        if signal is None:
            return -1
        if not isinstance(signal, Signal):
            raise InputError(f"{signal!r} is no signal", remedy="give a Ramp, Thermal, Sine, Pneumatic or Table")
        if signal not in self.signals:
            self.signals.append(signal)
        return self.signals.index(signal)


def node_ids(nodes: ArrayLike, count: int, name: str, kind: str = "node") -> Ids:
    """Checked numbers of nodes (or of another kind) in the order given, or from a mask."""
    ids = np.asarray(nodes)
    if ids.dtype == bool and ids.shape == (count,):
        ids = np.flatnonzero(ids)
    if ids.ndim != 1 or not (np.issubdtype(ids.dtype, np.integer) or ids.size == 0):
        raise InputError(
            f"{kind}s of {name} have shape {ids.shape} and type {ids.dtype}", remedy=f"give {kind} numbers"
        )
    ids = ids.astype(np.int64)
    wrong = ids[(ids < 0) | (ids >= count)]
    if len(wrong):
        raise InputError(f"{kind} {wrong[0]} of {name} does not exist", remedy=f"there are {kind}s 0 to {count - 1}")
    return ids


def world_table(springs: Springs, layout: Layout, around: Surroundings, dtype: DTypeLike) -> tables.World:
    """Gravity and obstacles."""
    codes = [obstacle.encoded() for obstacle in around.obstacles]
    stiffness = np.zeros(layout.count, dtype)
    stiffness[layout.place] = springs.node_stiffness
    touch = [(o.friction, o.damping, o.stiffness or 0.0) for o in around.obstacles]
    return tables.World(
        np.asarray(around.gravity, dtype),
        np.array([kind for kind, _ in codes], np.int64),
        np.array([shape for _, shape in codes], dtype).reshape(-1, 4),
        np.array(touch, dtype).reshape(-1, 3),
        stiffness,
    )


def projectors(supports: Supports, lines: Sequence[tuple[ArrayLike, ArrayLike]], count: int) -> dict[int, Array]:
    """For nodes in planes or on lines: the matrix P [3, 3] that keeps what may move."""
    normals: dict[int, list[Array]] = {}
    for ids, normal in supports.sliding:
        for i in ids:
            normals.setdefault(int(i), []).append(np.asarray(normal))
    for nodes, direction in lines:
        d = np.asarray(direction, float)
        if d.shape != (3,) or not (np.isfinite(d).all() and np.linalg.norm(d) > 0):
            raise InputError(f"direction of a line is {direction}", remedy="give three numbers, not all zero")
        across = np.linalg.svd(d[None] / np.linalg.norm(d))[2][1:]
        for i in node_ids(nodes, count, "lines"):
            normals.setdefault(int(i), []).extend(across)
    out = {}
    for i, rows in normals.items():
        _, sizes, axes = np.linalg.svd(np.array(rows))
        blocked = axes[: int((sizes > 1e-9).sum())]
        out[i] = np.eye(3) - blocked.T @ blocked
    return out


def holds_table(springs: Springs, layout: Layout, around: Surroundings, dtype: DTypeLike) -> tables.Holds:
    """Nodes in planes and on lines."""
    found = projectors(springs.supports, around.lines, len(springs.points))
    nodes = np.array(sorted(found, key=lambda i: layout.place[i]), np.int64)
    matrix = np.array([found[int(i)] for i in nodes]).reshape(-1, 3, 3)
    six = np.stack([matrix[:, a, b] for a, b in ((0, 0), (1, 1), (2, 2), (0, 1), (1, 2), (0, 2))], axis=1)
    places = layout.place[nodes]
    return tables.Holds(places, six.astype(dtype), layout.starts(places))


def given_table(
    springs: Springs, layout: Layout, around: Surroundings, box: SignalBox, dtype: DTypeLike
) -> tables.Given:
    """Nodes whose motion is given. Those that the body calls prescribed and nobody moves stay where they are."""
    motions = [(motion.nodes, motion.direction, motion.signal) for motion in around.motions]
    ids, directions, signals = _gathered(motions, len(springs.points), "a given motion", "direction", layout, box)
    twice = np.flatnonzero(np.diff(ids) == 0)
    if len(twice):
        raise InputError(f"node {ids[twice[0]]} has two given motions", remedy="give each node one")
    places = layout.place[ids]
    return tables.Given(
        places, springs.points[ids].astype(dtype), directions.astype(dtype), signals, layout.starts(places)
    )


def loads_table(
    springs: Springs, layout: Layout, around: Surroundings, box: SignalBox, dtype: DTypeLike
) -> tables.Loads:
    """Forces on nodes."""
    loads = [(load.nodes, load.force, load.signal) for load in around.loads]
    ids, forces, signals = _gathered(loads, len(springs.points), "a load", "force", layout, box)
    places = layout.place[ids]
    return tables.Loads(places, forces.astype(dtype), signals, layout.starts(places))


def _gathered(
    given: Sequence[tuple[ArrayLike, ArrayLike, Signal | None]],
    count: int,
    name: str,
    vector: str,
    layout: Layout,
    box: SignalBox,
) -> tuple[Ids, Array, Ids]:
    """Nodes, vectors [3] and numbers of signals of all that is given, one entry per node, in the order of their places."""
    nodes, vectors, signals = [np.empty(0, np.int64)], [np.empty((0, 3))], [np.empty(0, np.int64)]
    for some, value, signal in given:
        ids = node_ids(some, count, name)
        nodes.append(ids)
        vectors.append(_one_each(value, len(ids), f"{vector} of {name}"))
        signals.append(np.full(len(ids), box.number(signal)))
    ids = np.concatenate(nodes)
    order = np.argsort(layout.place[ids], kind="stable")
    return ids[order], np.concatenate(vectors)[order], np.concatenate(signals)[order]


def _one_each(vector: ArrayLike, count: int, name: str) -> Array:
    array = np.asarray(vector, float)
    if array.shape not in ((3,), (count, 3)) or not np.isfinite(array).all():
        raise InputError(f"{name} has shape {array.shape}", remedy=f"give three finite numbers, or ({count}, 3)")
    return np.broadcast_to(array, (count, 3))


def material_tables(
    springs: Springs, layout: Layout, around: Surroundings, box: SignalBox, dtype: DTypeLike
) -> tuple[tables.Actuation, tables.Odd]:
    """Springs whose rest length or law depends on their material; writes the linear springs into the layout.

    Parts with a law of their own are taken out of the linear springs and pull beside them.
    """
    labels, dense, linear = _split(springs, around)
    layout.fill(linear, springs.lengths)
    weights, row = material_weights(springs, around, box)
    moved = np.flatnonzero(row)
    pure = np.eye(weights.shape[1])
    base = (linear * springs.lengths)[moved]
    actuation = _actuation(layout, moved, base, row[moved], np.concatenate([pure, weights]), len(pure), dtype)
    numbers = {labels[label]: box.number(signal) for label, signal in around.actuation.items()}
    return actuation, _odd_springs(springs, layout, around, dense, labels, numbers, dtype)


def material_weights(springs: Springs, around: Surroundings, box: SignalBox) -> tuple[Array, Ids]:
    """Mixtures of materials: weights of the signals in each, [mixes, signals], the first zero, and that of each spring, [m].

    The rest length of a spring is L (1 + sum of weight * signal): parts with strains e_c and constants k_c side by side are one
    spring with the strain sum k_c e_c / sum k_c.
    """
    labels, dense, linear = _split(springs, around)
    numbers = {labels[label]: box.number(signal) for label, signal in around.actuation.items()}
    weights = np.zeros((len(springs.springs), len(box.signals)))
    share = np.divide(dense, linear[:, None], out=np.zeros_like(dense), where=linear[:, None] > 0)
    lawful = {labels[label] for label in around.laws}
    for column, signal in numbers.items():
        if column not in lawful:
            weights[:, signal] += share[:, column]
    moved = np.flatnonzero(weights.any(axis=1))
    mixes, found = _distinct_rows(weights[moved])
    row = np.zeros(len(weights), np.int64)
    row[moved] = found + 1
    return np.concatenate([np.zeros((1, weights.shape[1])), mixes]), row


def _split(springs: Springs, around: Surroundings) -> tuple[dict[int, int], Array, Array]:
    """Columns of the materials, their parts of the constants [m, c], and the sum of the linear parts [m]."""
    labels = {int(label): c for c, label in enumerate(springs.labels)}
    for name, chosen in (("actuation", around.actuation), ("laws", around.laws)):
        for label in chosen:
            if label not in labels:
                raise InputError(f"{name} of material {label}", remedy=f"the springs have the materials {list(labels)}")
    for label, signal in around.actuation.items():
        require_strain(signal, f"material {label}")
    if not around.actuation and not around.laws:
        return labels, np.zeros((len(springs.constants), len(labels))), springs.constants
    dense = springs.constants[:, None] if springs.parts is None else np.asarray(springs.parts.todense())
    lawful = np.array([label in around.laws for label in labels], bool)
    return labels, dense, dense[:, ~lawful].sum(axis=1) if lawful.any() else springs.constants


def _distinct_rows(rows: Array) -> tuple[Array, Ids]:
    """The different rows, to rounding, and for each row the number of its like."""
    key = np.round(rows, 12) @ np.random.default_rng(0).uniform(size=rows.shape[1])
    _, index, row = np.unique(np.round(key, 12), return_index=True, return_inverse=True)
    return rows[index], row.ravel()


def _actuation(
    layout: Layout, moved: Ids, base: Array, row: Ids, weights: Array, before: int, dtype: DTypeLike
) -> tables.Actuation:
    """Entries of kl that change, sorted by the block that writes them: that of the node that owns them."""
    slots = layout.slots[moved]
    width = slots.shape[1]
    places = slots.ravel()
    links = layout.links
    if links.layout == tables.STRUCTURED:
        owner = places % links.k.shape[1]
    else:
        lanes = links.k.shape[1]
        group = np.searchsorted(links.table, places // lanes, side="right") - 1
        owner = group * lanes + places % lanes
    block = np.searchsorted(layout.edges, owner, side="right")
    order = np.lexsort((places, block))
    return tables.Actuation(
        places[order],
        np.repeat(base, width)[order].astype(dtype)[:, None],
        (np.repeat(row, width)[order] + before).astype(np.int32),
        weights,
        np.zeros((0, 0, 1), dtype),
        np.searchsorted(block[order], np.arange(1, len(layout.edges) + 1)).astype(np.int64),
    )


def _odd_springs(
    springs: Springs,
    layout: Layout,
    around: Surroundings,
    dense: Array,
    labels: Mapping[int, int],
    numbers: Mapping[int, int],
    dtype: DTypeLike,
) -> tables.Odd:
    """Springs with laws, once per end."""
    laws = list(around.laws.items())
    pieces = []
    for number, (label, _) in enumerate(laws):
        column = labels[label]
        chosen = np.flatnonzero(dense[:, column] > 0)
        pieces.append((chosen, dense[chosen, column], numbers.get(column, -1), number))
    ids = np.concatenate([np.empty(0, np.int64), *(chosen for chosen, *_ in pieces)])
    k = np.concatenate([np.empty(0), *(part for _, part, _, _ in pieces)])
    mix = np.concatenate([np.empty(0, np.int64), *(np.full(len(c), signal) for c, _, signal, _ in pieces)])
    law = np.concatenate([np.empty(0, np.int64), *(np.full(len(c), number) for c, _, _, number in pieces)])
    ends = layout.place[springs.springs[ids]].reshape(-1, 2)
    node, other = np.concatenate([ends[:, 0], ends[:, 1]]), np.concatenate([ends[:, 1], ends[:, 0]])
    order = np.lexsort((other, node))

    def twice(values: NDArray[Any]) -> NDArray[Any]:
        return np.concatenate([values, values])[order]

    lengths = [len(curve.strain) for _, curve in laws]
    return tables.Odd(
        node[order],
        other[order],
        twice(k).astype(dtype),
        twice(springs.lengths[ids]).astype(dtype),
        twice(mix),
        twice(law),
        np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64),
        np.concatenate([np.empty(0), *(np.asarray(curve.strain, float) for _, curve in laws)]),
        np.concatenate([np.empty(0), *(np.asarray(curve.tension, float) for _, curve in laws)]),
        layout.starts(node[order]),
    )


def no_odd_springs(layout: Layout, dtype: DTypeLike) -> tables.Odd:
    """All springs are linear."""
    ids, numbers = np.empty(0, np.int64), np.empty(0, dtype)
    none = np.zeros(len(layout.edges), np.int64)
    return tables.Odd(ids, ids, numbers, numbers, ids, ids, np.zeros(1, np.int64), np.empty(0), np.empty(0), none)


def signals_table(box: SignalBox) -> tables.Signals:
    """All signals of a run."""
    return packed(box.signals)
