"""The contract of a port, and a port attached to the nodes of a body."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.body import Body
from pliant.checks import as_numbers
from pliant.errors import InputError
from pliant.port._chain_kernels import carry, spread, spread_curvature

Array = NDArray[np.float64]
Ids = NDArray[np.int64]

FARTHEST = 1e6
"""No point of a robot is farther away than this [m]."""


CONJUGATE = {"m": "N", "rad": "N m", "m^3": "Pa"}
"""Units of efforts that do work on displacements in these units."""


class Placing(NamedTuple):
    """How points are carried: point k by nodes[begin[k]:begin[k + 1]] with these weights; slots: where those are among the
    `entries` nodes that rows of H have entries at."""

    begin: Ids
    nodes: Ids
    weights: Array
    slots: Ids
    entries: int


class Couplings(NamedTuple):
    """How curved pairs of points couple nodes: weights[t] times the block of pairs[t] goes to the block slots[t] >> 1,
    transposed where the lowest bit is set."""

    pairs: Ids
    slots: Ids
    weights: Array


@dataclass(frozen=True)
class InnerLaw:
    """Efforts that follow from the port itself (friction): -(delta - anchor) / compliance, between low and high; each [rows].

    Where the compliance is zero, delta is held at its anchor as far as the limits allow.
    """

    anchor: Array
    low: Array
    high: Array
    compliance: Array


class Port(ABC):
    """A displacement delta [m rows] as a function of material points p [k, 3] of a body.

    A subclass says where its points are at rest, and gives delta(p), its slope and, where it is not linear, its curvature.
    The chain rule from points to nodes is done once, by `Attachment`.

    A *relative* port measures delta from a reference, an array of its own making (the orientation of a `Frame` where it was
    linearized): `reference(p)` takes it, `measured_from(reference)` is the port that uses it, and `goal(target)` says
    which delta a target asks for, from the same reference.
    """

    effort_unit: ClassVar[str]
    displacement_unit: ClassVar[str]
    relative: ClassVar[bool] = False
    """Whether delta is measured from a reference that moves along with the robot."""
    straight: bool = False
    """Whether delta is linear in the points: then its slope is the same everywhere, and is asked for once."""
    spans: ClassVar[bool] = True
    """Whether its points, or regions, may be on several bodies."""
    sensed_only: ClassVar[bool] = False
    """Whether it has no effort at all."""
    load_only: ClassVar[bool] = False
    """Whether its displacement is no function of the pose, so that it can only be imposed by its effort, or looked at."""
    remembers: ClassVar[bool] = False
    """Whether rows beyond `given_rows` have a law of their own with memory (see `inner_law`)."""

    points: Array
    """Material points at rest [m], [k, 3]."""
    nodes: Ids | None = None
    """Nodes of the body that the points are, [k], where they are nodes; None: points anywhere in the body."""
    row_names: tuple[str, ...] = ("",)
    """Names of the rows: ("",) for a scalar, ("x", "y", "z") for a position."""
    row_units: tuple[str, ...] = ()
    """Units of the rows' displacements where they differ; empty: all have `displacement_unit`."""
    curved_pairs: Ids = np.empty((0, 2), np.int64)
    """Pairs (a, b) of points that the curvature couples, each once, [c, 2]."""

    effort_range: tuple[float, float] = (-np.inf, np.inf)
    """Efforts (low, high) that the port can have at all: a cable does not push."""

    @property
    def displacement_units(self) -> tuple[str, ...]:
        """The unit of every row's displacement."""
        return self.row_units or (self.displacement_unit,) * len(self.row_names)

    @property
    def effort_units(self) -> tuple[str, ...]:
        """The unit of every row's effort: what does work on its displacement."""
        if self.row_units:
            return tuple(CONJUGATE.get(unit, "") for unit in self.row_units)
        return (self.effort_unit,) * len(self.row_names)

    def labels(self, name: str) -> tuple[str, ...]:
        """Names of the rows of a port of this name: "tip.x", or "tendon" for a scalar."""
        return tuple(f"{name}.{row}" if row else name for row in self.row_names)

    def seen_by(self, body: Body) -> Port:
        """The port as it is attached to this body: itself, unless the body's shape functions ask for more points."""
        return self

    def check_place(self, body: Body) -> None:
        """Raise an InputError where the port, as this body sees it, means nothing on it; here it always does something."""
        return

    def reference(self, p: Array) -> Array:
        """What delta is measured from when the points are at p; empty for a port that is not relative."""
        return np.empty(0)

    def measured_from(self, reference: Array) -> Port:
        """The same port with delta measured from a reference; itself where it is not relative."""
        return self

    @property
    def target_names(self) -> tuple[str, ...]:
        """Names of the numbers that a target consists of: those of the rows, unless the port says otherwise."""
        return self.row_names

    def as_target(self, target: ArrayLike) -> Array:
        """A target as numbers, [t]; NaN where it means nothing. A wrong count raises an InputError."""
        names = self.target_names
        value = as_numbers(target).reshape(-1)
        if value.shape == (len(names),) and value.size > 1:
            return value
        if value.size == 1 and np.isnan(value).all() and not isinstance(target, (float, np.ndarray, list, tuple)):
            raise InputError(f"a target is {target!r}", remedy=f"give {len(names)} number(s)")
        if value.shape != (len(names),):
            said = f" ({' '.join(names)})" if any(names) else ""
            raise InputError(f"a target has {value.size} values", remedy=f"give {len(names)}{said}")
        return value

    def goal(self, target: Array) -> Array:
        """The displacement that a target asks for, from this port's reference, [rows]: here the target itself."""
        return target

    @property
    def goal_places(self) -> tuple[tuple[int, int], ...] | None:
        """What `goal` does, for compiled code: of every given row, where in a target its goal stands, and -1; or, for a row
        that is an entry of the rotation vector from the reference (a matrix), where a quaternion begins, and which entry. None:
        only `goal` knows."""
        return None if self.relative else tuple((k, -1) for k in range(self.given_rows))

    def reading(self, p: Array) -> Array:
        """Where the port is, said as a target, [t]: here the displacement itself."""
        return self.displacement(p)

    @property
    def given_rows(self) -> int:
        """How many of the rows a user gives an effort or a displacement; the others follow from `inner_law`."""
        return len(self.row_names)

    def swirl(self, p: Array, efforts: Array) -> tuple[Array, Array] | None:
        """Rows B [r, k, 3] and a skew matrix S [r, r]: with the points moved by dp, the forces of efforts [rows] that have no
        potential change by B^T S B dp besides what `curvature` says. None where they have one."""
        return None

    def first_memory(self) -> Array:
        """What a port that remembers knows at rest."""
        return np.empty(0)

    def remembered(self, p: Array, memory: Array) -> Array:
        """What it knows after a step to p that was accepted."""
        return memory

    def inner_law(self, p: Array, efforts: Array, memory: Array) -> InnerLaw:
        """The law of the rows beyond `given_rows` near p and these efforts [all rows]."""
        return InnerLaw(*(np.empty(0) for _ in range(4)))

    def check_efforts(self, low: Array, high: Array) -> None:
        """Raise an InputError where efforts between low and high [rows] are not those that the port can have."""
        least, most = self.effort_range
        given = slice(0, self.given_rows)
        if (low[given] < least).any() or (high[given] > most).any():
            value = low[given].min() if (low[given] < least).any() else high[given].max()
            raise InputError(
                f"an effort of {value:g} {self.effort_unit} is not one of a {type(self).__name__}",
                remedy=f"give {least:g} to {most:g} {self.effort_unit} (a wire that pushes is Cable(..., pushes=True))",
            )

    def trusted_change(self, efforts: Array) -> Array | None:
        """How far from these efforts one linearization may be trusted, [rows]; None: no limit."""
        return None

    @abstractmethod
    def displacement(self, p: Array) -> Array:
        """delta(p), [rows]."""

    @abstractmethod
    def slope(self, p: Array) -> Array:
        """d delta / dp, [rows, k, 3]."""

    def curvature(self, p: Array, efforts: Array) -> Array:
        """sum_i efforts_i d2 delta_i / dp_a dp_b for the curved pairs, [c, 3, 3]; the pair (a, a) has both halves."""
        return np.empty((0, 3, 3))

    def placed(self, on: Placing, x: Array) -> tuple[Array, Array, Array] | None:
        """Points [k, 3], delta [rows] and H on the entry nodes [rows, e, 3] with the nodes at x, in one compiled call; None for
        most ports, of which `displacement` and `slope` are asked one after the other."""
        return None

    def curved(self, on: Couplings, p: Array, efforts: Array, out: Array) -> bool:
        """out <- sum_i efforts_i d2 delta_i on the pairs of nodes [b, 3, 3], in one compiled call; False for most ports, of
        which `curvature` is asked."""
        return False

    def warped_curvature(self, p: Array, efforts: Array) -> Array | None:
        """What stands for the curvature in the warped tangent, [c, 3, 3]: never more than positive definite blocks can bear.
        None for most ports, which the warped tangent leaves out."""
        return None


class Attachment:
    """A port on a body: delta, H and curvature as functions of the node positions of the whole assembly.

    Points are carried by nodes, p = W x; the chain rule gives H = (d delta / dp) W on the nodes `entry_nodes` (e,), and the
    curvature W^T (d2 delta / dp2) W as blocks for the pairs of nodes (rows, cols) (b,).
    """

    def __init__(self, port: Port, body: Body, first_node: int, *, loaded: bool = True) -> None:
        """loaded: whether the port may ever have an effort; without, its curvature couples nothing."""
        self.port = port = port.seen_by(body)
        self.loaded = loaded
        self.row_count = len(port.row_names)
        if port.nodes is not None:
            nodes, weights = port.nodes[:, None], np.ones((len(port.nodes), 1))
        else:
            nodes, weights = body.embed(port.points)
        used = weights != 0.0
        self._begin = np.concatenate([[0], np.cumsum(used.sum(axis=1))]).astype(np.int64)
        self._nodes = nodes[used] + first_node
        self._weights = weights[used]
        self.entry_nodes, slots = np.unique(self._nodes, return_inverse=True)
        self._slots = slots.astype(np.int64)
        self._placing = Placing(self._begin, self._nodes, self._weights, self._slots, len(self.entry_nodes))
        self._straight: Array | None = None
        self._couple()

    def _couple(self) -> None:
        """The pairs of nodes that the curvature couples, and how each pair of points adds to them.

        Blocks are mirrored when the matrix is formed (see BlockPattern). So two nodes of one point, which come up as (i, j)
        and as (j, i), count half each time; a node that carries both points of a pair, whose block is not mirrored, gets
        the block and its transpose.
        """
        entries: list[tuple[int, int, int, bool, float]] = []
        for pair, (a, b) in enumerate(self.port.curved_pairs if self.loaded else ()):
            for s in range(self._begin[a], self._begin[a + 1]):
                for t in range(self._begin[b], self._begin[b + 1]):
                    node, other = int(self._nodes[s]), int(self._nodes[t])
                    weight = float(self._weights[s] * self._weights[t])
                    entries.append((pair, node, other, False, 0.5 * weight if a == b and node != other else weight))
                    if a != b and node == other:
                        entries.append((pair, node, other, True, weight))
        i, j = (np.array([entry[k] for entry in entries], np.int64) for k in (1, 2))
        ends = np.stack([np.maximum(i, j), np.minimum(i, j)], axis=1).reshape(-1, 2)
        keys, number = np.unique(ends, axis=0, return_inverse=True)
        self.rows, self.cols = keys[:, 0], keys[:, 1]
        transposed = np.array([entry[3] for entry in entries], bool) ^ (i < j)
        self.couplings = Couplings(
            np.array([entry[0] for entry in entries], np.int64),
            2 * number.reshape(-1).astype(np.int64) + transposed,
            np.array([entry[4] for entry in entries], float),
        )

    def positions(self, x: Array) -> Array:
        """Where the port's points are, (k, 3)."""
        out = np.empty((len(self._begin) - 1, 3))
        carry(self._begin, self._nodes, self._weights, x, out)
        return out

    def at(self, x: Array, reference: Array | None = None) -> PlacedPort:
        """The port with the nodes at x; a relative one measured from a reference, by default from rest."""
        if (all_of_it := self.port.placed(self._placing, x)) is not None:
            return PlacedPort(self, all_of_it[0], None, *all_of_it[1:])
        return PlacedPort(self, self.positions(x), reference)

    def faced(self, x: Array) -> PlacedPort:
        """The port with the nodes at x; a relative one measured from where it is there."""
        if not self.port.relative:
            return self.at(x)
        p = self.positions(x)
        return PlacedPort(self, p, self.port.reference(p))

    def slopes(self, port: Port, p: Array) -> Array:
        """H on the entry nodes (rows, e, 3), of this port (measured from somewhere) with its points at p."""
        if self._straight is not None:
            return self._straight
        out = self.spread_rows(port.slope(p))
        if port.straight:
            self._straight = out
        return out

    def spread_rows(self, rows: Array) -> Array:
        """Rows on the entry nodes (r, e, 3) from those on the points (r, k, 3)."""
        out = np.zeros((len(rows), len(self.entry_nodes), 3))
        spread(self._begin, self._slots, self._weights, rows, out)
        return out

    def spread_blocks(self, blocks: Array) -> Array:
        """Blocks for the pairs of nodes (b, 3, 3) from those of the curved pairs of points (c, 3, 3)."""
        out = np.zeros((len(self.rows), 3, 3))
        spread_curvature(*self.couplings, blocks, out)
        return out

    def replace_port(self, port: Port) -> None:
        """Another port on the same points (a cable whose pull point has moved)."""
        self.port, self._straight = port, None


class PlacedPort:
    """A port where the robot is: its points at p (k, 3), and what it measures from, where it is relative."""

    def __init__(
        self,
        attachment: Attachment,
        p: Array,
        reference: Array | None,
        displacement: Array | None = None,
        slopes: Array | None = None,
    ) -> None:
        self.attachment, self.p, self.reference = attachment, p, reference
        self.port = attachment.port if reference is None else attachment.port.measured_from(reference)
        self._displacement, self._slopes = displacement, slopes

    @property
    def displacement(self) -> Array:
        """delta, (rows,)."""
        if self._displacement is None:
            self._displacement = np.asarray(self.port.displacement(self.p))
        return self._displacement

    @property
    def slopes(self) -> Array:
        """H on the entry nodes, (rows, e, 3)."""
        if self._slopes is None:
            self._slopes = self.attachment.slopes(self.port, self.p)
        return self._slopes

    def curve(self, efforts: Array, out: Array) -> None:
        """out <- sum_i efforts_i d2 delta_i / dx2 at (rows, cols), to be mirrored like any list of blocks (b, 3, 3)."""
        if not self.port.curved(self.attachment.couplings, self.p, efforts, out):
            out[:] = self.attachment.spread_blocks(self.port.curvature(self.p, efforts))

    def curvature(self, efforts: Array) -> Array:
        """The same, as a new array."""
        out = np.empty((len(self.attachment.rows), 3, 3))
        self.curve(efforts, out)
        return out

    def warped_curvature(self, efforts: Array) -> Array | None:
        """What the port adds to the warped tangent in its place, or None."""
        blocks = self.port.warped_curvature(self.p, efforts)
        return None if blocks is None else self.attachment.spread_blocks(blocks)

    def swirl(self, efforts: Array) -> tuple[Array, Array] | None:
        """Rows on the entry nodes (r, e, 3) and a skew matrix (r, r) of efforts that have no potential (`Port.swirl`)."""
        found = self.port.swirl(self.p, efforts)
        return None if found is None else (self.attachment.spread_rows(found[0]), found[1])

    def shortfall(self, target: Array) -> Array:
        """delta minus the one that a target asks for, (rows,)."""
        return np.asarray(self.displacement - self.port.goal(target))


def as_points(points: ArrayLike, name: str) -> Array:
    """Finite points of shape [k, 3], or an InputError that names the bad one."""
    array = np.atleast_2d(as_numbers(points))
    if array.ndim != 2 or array.shape[1] != 3 or not len(array):
        raise InputError(f"{name} has shape {array.shape}", remedy="give points of three coordinates in metres")
    bad = np.flatnonzero(~(np.abs(array) < FARTHEST).all(axis=1))
    if len(bad):
        raise InputError(f"{name}, point {bad[0]} is {array[bad[0]]}", remedy="give finite coordinates in metres")
    return array


def as_direction(direction: ArrayLike, name: str) -> Array:
    """A unit vector [3] from any finite vector that is not zero."""
    vector = as_numbers(direction)
    length = float(np.linalg.norm(vector)) if vector.shape == (3,) else 0.0
    if not (np.isfinite(length) and length > 0):
        raise InputError(f"{name} is {direction!r}", remedy="give three numbers, not all zero")
    return vector / length
