"""The contract of a body, and how it is held."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, ClassVar, Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import as_array, as_numbers, one_of
from pliant.errors import InputError, PliantWarning

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

    from pliant.body.fields import Fields
    from pliant.body.surface import CarriedSurface

Array = NDArray[np.float64]
Ids = NDArray[np.int64]
Tangent = Literal["exact", "warped"]


class Led(NamedTuple):
    """The step that has led somewhere: where the nodes were, (n, 3) [m], and their motion as far as it is linear, (n, 3)
    [m]."""

    begin: Array
    motion: Array


@dataclass(frozen=True)
class Supports:
    """How the nodes of a body are held; a node is in at most one of these.

    fixed: nodes that never move. prescribed: nodes whose motion is given from outside. sliding: pairs (nodes, normal) of
    nodes that stay in the plane through their rest position with that normal (symmetry planes). rigid: named groups of
    nodes that move as one rigid part, exactly; those that are `unturned` only shift.
    """

    fixed: Ids = field(default_factory=lambda: np.empty(0, np.int64))
    prescribed: Ids = field(default_factory=lambda: np.empty(0, np.int64))
    sliding: tuple[tuple[Ids, Array], ...] = ()
    rigid: Mapping[str, Ids] = field(default_factory=dict)
    unturned: frozenset[str] = frozenset()

    @classmethod
    def checked(
        cls,
        node_count: int,
        fixed: ArrayLike | None = None,
        prescribed: ArrayLike | None = None,
        sliding: Sequence[tuple[ArrayLike, ArrayLike]] = (),
        rigid: Mapping[str, ArrayLike] | None = None,
    ) -> Supports:
        """The supports from user input: indices in range, no node held twice, normals of length one.

        A node may slide on two or three planes at once (an edge or a corner of a symmetric model).
        """
        _require_kinds(sliding, rigid)
        planes = tuple((node_indices(ids, node_count, "sliding"), _unit(normal)) for ids, normal in sliding)
        supports = cls(
            node_indices(fixed, node_count, "fixed"),
            node_indices(prescribed, node_count, "prescribed"),
            planes,
            {name: node_indices(ids, node_count, f"rigid part {name!r}") for name, ids in (rigid or {}).items()},
        )
        supports._require_disjoint(node_count)
        return supports

    def _require_disjoint(self, node_count: int) -> None:
        groups = {"fixed": self.fixed, "prescribed": self.prescribed}
        if self.sliding:
            groups["sliding"] = np.unique(np.concatenate([ids for ids, _ in self.sliding]))
        groups |= {f"rigid part {name!r}": ids for name, ids in self.rigid.items()}
        owner = np.full(node_count, -1)
        names = list(groups)
        for k, (name, ids) in enumerate(groups.items()):
            taken = ids[owner[ids] >= 0]
            if len(taken):
                raise InputError(
                    f"node {taken[0]} is in {names[owner[taken[0]]]} and in {name}",
                    remedy="hold each node in one way, for example with numpy.setdiff1d(a, b)",
                    nodes=taken,
                )
            owner[ids] = k

    def require_extended_parts(self, nodes: Array) -> None:
        """A rigid part needs three nodes that are not on a line, or its rotation means nothing."""
        for name, ids in self.rigid.items():
            spread = (
                np.linalg.svd(nodes[ids] - nodes[ids].mean(axis=0), compute_uv=False) if len(ids) >= 3 else np.zeros(2)
            )
            if not spread[1] > 1e-9 * max(spread[0], 1e-300):
                raise InputError(
                    f"rigid part {name!r} has {len(ids)} nodes, all on one line",
                    remedy="choose three nodes or more that are not on a line",
                )

    def extended(self, edges: Ids, first: int, rest: Array) -> Supports:
        """The supports of a ten-node body: the middle of an edge (node first + e) is held as both its ends are.

        It also slides on a plane when one end does and the other end, in the same plane, is held in another way (where a
        symmetry plane meets a fixed face, a node can be in one of them only).
        """
        otherwise = np.zeros(first, bool)
        for ids in (self.fixed, self.prescribed, *self.rigid.values()):
            otherwise[ids] = True

        def with_middles(ids: Ids) -> Ids:
            held = np.zeros(first, bool)
            held[ids] = True
            return np.concatenate([ids, first + np.flatnonzero(held[edges].all(axis=1))])

        def on_plane(ids: Ids, normal: Array) -> Ids:
            slides = np.zeros(first, bool)
            slides[ids] = True
            a, b = edges.T
            length = np.linalg.norm(rest[a] - rest[b], axis=1)
            flat = np.abs((rest[a] - rest[b]) @ normal) < 1e-6 * length
            both = slides[a] & slides[b]
            one = flat & ((slides[a] & otherwise[b]) | (slides[b] & otherwise[a]))
            return np.concatenate([ids, first + np.flatnonzero(both | one)])

        return Supports(
            with_middles(self.fixed),
            with_middles(self.prescribed),
            tuple((on_plane(ids, normal), normal) for ids, normal in self.sliding),
            {name: with_middles(ids) for name, ids in self.rigid.items()},
            self.unturned,
        )


class Body(ABC):
    """Something elastic on nodes: energy E(x), internal force f = dE/dx, stiffness K = df/dx, mass.

    Node positions are x [n, 3] in metres. Matrices are lists of 3x3 blocks: block t couples the nodes `rows[t]` and
    `cols[t]` (each pair once, rows >= cols).
    """

    rest: Array
    """Node positions without load [m], [n, 3]."""
    rows: Ids
    cols: Ids
    supports: Supports
    mass_weights: Array
    """Mass [kg] of each block: the mass matrix has the blocks mass_weights[t] I."""
    load_masses: Array
    """Mass [kg] that carries a uniform acceleration of each node, [n]: gravity gives the force load_masses g."""
    mass_damping: float
    """Rayleigh coefficient a [1/s] of D = a M + b R K0 R^T."""
    stiffness_damping: float
    """Rayleigh coefficient b [s]."""
    deforms: ClassVar[bool] = True
    """Whether it has elements that strain, and so a stress to look at."""
    predicts: ClassVar[bool] = False
    """Whether it expects stresses where a step has led (`accumulate_led`)."""
    lost: ClassVar[str] = "inside out"
    """What `inverted_elements` are."""
    cell_size: float | None = None
    """Mean edge of the body's elements [m]: surfaces that it carries are cut to about this; None: as they are."""

    @abstractmethod
    def accumulate(self, x: Array, force: Array, blocks: Array, *, exact: float = 0.0, warped: float = 0.0) -> float:
        """Add f(x) to `force` [n, 3] and exact K + warped R K0 R^T to `blocks` [nb, 3, 3]; returns E(x) [J].

        `blocks` is left alone when both factors are zero.
        """

    def accumulate_led(
        self, x: Array, led: Led, force: Array, change: Array, blocks: Array, *, exact: float, warped: float
    ) -> float:
        """As `accumulate`, where a step has led: the exact tangent may take the stresses that were to be expected there, and
        adds what they change of the forces to `change` [n, 3]. Here it does not (see `predicts`)."""
        return self.accumulate(x, force, blocks, exact=exact, warped=warped)

    @abstractmethod
    def embed(self, points: ArrayLike, max_distance: float | None = None) -> tuple[Ids, Array]:
        """Nodes [p, k] and weights [p, k] of material points at rest [p, 3], so that they move as sum_a w_a x_a."""

    @abstractmethod
    def contains(self, points: Array) -> NDArray[np.bool_]:
        """Whether there is material at rest at each of the points [p, 3] [m], [p]."""

    @abstractmethod
    def inverted_elements(self, x: Array) -> Ids:
        """Numbers of the elements that are inside out at x."""

    def inverted_count(self, x: Array) -> int:
        """How many elements are inside out at x that must not be: for every step, so cheap; here none is known."""
        return 0

    def surface(self) -> CarriedSurface:
        """The surface of the body, carried by its nodes; empty where there is none to draw."""
        from pliant.body.surface import NO_SURFACE

        return NO_SURFACE

    def fields(self, x: ArrayLike) -> Fields:
        """Stress and strain energy at x, for pictures and checks."""
        raise InputError(f"a {type(self).__name__} has no stress field", remedy="ask a TetBody or a SpringBody")

    @property
    def is_damped(self) -> bool:
        """Whether anything in it damps motion."""
        return bool(self.mass_damping) or self.is_damped_inside

    @property
    def is_damped_inside(self) -> bool:
        """Whether it damps by more than its mass."""
        return bool(self.stiffness_damping)

    def add_damping(self, x: Array, scale: float, blocks: Array) -> None:
        """Add `scale` x the damping [N s/m] of motions inside the body to `blocks` [nb, 3, 3]: here b R K0 R^T."""
        if self.stiffness_damping:
            self.accumulate(x, np.zeros_like(x), blocks, warped=scale * self.stiffness_damping)

    def completed(self, ids: Ids) -> Ids:
        """Nodes chosen on the mesh, and those between them that the body has besides; here none."""
        return ids

    def part_nodes(self, name: str, who: str) -> Ids:
        """Nodes of a rigid part, by its name, or an InputError that says who asked and which there are."""
        known = self.supports.rigid
        if name not in known:
            raise InputError(
                f"{who}: there is no rigid part {name!r}",
                remedy=f"the body has {', '.join(map(repr, known)) or 'none; give rigid={name: nodes} to the body'}",
            )
        return known[name]

    def parts(self, count: int) -> list[tuple[Body, int]]:
        """The bodies that the regions of a port are on, and the numbers of their first nodes: itself for all."""
        return [(self, 0)] * count

    @property
    def outline(self) -> Array:
        """Points at rest [m], [k, 3], that tell how large the body is: its nodes, or what is drawn of it."""
        return self.rest

    @property
    def node_count(self) -> int:
        """Number of nodes."""
        return len(self.rest)

    def energy(self, x: ArrayLike) -> float:
        """Elastic energy E(x) [J]."""
        position = self._positions(x)
        return self.accumulate(position, np.zeros_like(position), np.empty((0, 3, 3)))

    def force(self, x: ArrayLike) -> Array:
        """Internal force f = dE/dx [N], [n, 3]: what must be applied to hold the nodes at x."""
        position = self._positions(x)
        force = np.zeros_like(position)
        self.accumulate(position, force, np.empty((0, 3, 3)))
        return force

    def stiffness(self, x: ArrayLike, tangent: Tangent = "exact") -> csc_matrix:
        """Stiffness K [N/m], [3n, 3n], of all nodes: df/dx, or R K0 R^T with tangent="warped"."""
        one_of(tangent, "tangent", ("exact", "warped"))
        position = self._positions(x)
        blocks = np.zeros((len(self.rows), 3, 3))
        factors = {"exact": 1.0} if tangent == "exact" else {"warped": 1.0}
        self.accumulate(position, np.zeros_like(position), blocks, **factors)
        return self._pattern().to_csc(blocks)

    def mass(self) -> csc_matrix:
        """Mass matrix [kg], [3n, 3n]."""
        return self._pattern().to_csc(self.mass_weights[:, None, None] * np.eye(3))

    def _pattern(self) -> Any:
        from pliant.algebra.sparse import BlockPattern

        return BlockPattern(self.node_count, self.rows, self.cols)

    def _positions(self, x: ArrayLike) -> Array:
        position = np.ascontiguousarray(x, dtype=float)
        if position.shape != self.rest.shape:
            raise InputError(
                f"positions have shape {position.shape}", remedy=f"give one point per node, shape {self.rest.shape}"
            )
        return position


def _require_kinds(sliding: Any, rigid: Any) -> None:
    """Refuse supports that are no pairs, or have no names."""
    pairs = isinstance(sliding, (list, tuple)) and all(isinstance(p, (list, tuple)) and len(p) == 2 for p in sliding)
    if not pairs:
        raise InputError(f"sliding is {sliding!r}", remedy="give a list of pairs (nodes, normal)")
    if rigid is not None and not isinstance(rigid, Mapping):
        raise InputError(f"rigid is {rigid!r}", remedy="give nodes by name: {'plate': mesh.where(...)}")


def node_indices(ids: ArrayLike | None, node_count: int, name: str) -> Ids:
    """Sorted unique node indices, or an InputError that names the first bad one."""
    if ids is None:
        return np.empty(0, np.int64)
    array = np.atleast_1d(as_array(ids))
    if array.ndim != 1:
        raise InputError(f"{name} nodes have shape {array.shape}", remedy="give a list of node indices")
    if array.dtype == bool:
        if len(array) != node_count:
            raise InputError(f"{name} mask has {len(array)} entries", remedy=f"the body has {node_count} nodes")
        array = np.flatnonzero(array)
    if array.size and not np.issubdtype(array.dtype, np.integer):
        raise InputError(f"{name} nodes have type {array.dtype}", remedy="give node indices, as mesh.where(...) does")
    array = np.unique(array.astype(np.int64))
    bad = array[(array < 0) | (array >= node_count)]
    if len(bad):
        raise InputError(f"{name} node {bad[0]} does not exist", remedy=f"the body has nodes 0 to {node_count - 1}")
    return array


def _unit(normal: ArrayLike) -> Array:
    vector = as_numbers(normal)
    length = float(np.linalg.norm(vector)) if vector.shape == (3,) else 0.0
    if not (np.isfinite(length) and length > 0):
        raise InputError(f"sliding normal is {normal!r}", remedy="give three numbers, not all zero, such as (1, 0, 0)")
    return vector / length


def rayleigh_coefficients(damping: tuple[float, float]) -> tuple[float, float]:
    """Rayleigh's (a [1/s], b [s]), both finite and not negative."""
    found = as_numbers(damping)
    if found.shape != (2,) or not (np.isfinite(found).all() and (found >= 0).all()):
        raise InputError(f"damping is {damping!r}", remedy="give Rayleigh's coefficients (a [1/s], b [s]), both >= 0")
    return float(found[0]), float(found[1])


def warn_of_unused(values: Mapping[int, Any], labels: NDArray[np.integer], name: str, element: str) -> None:
    """Tell when there is a value for a label that nothing has: most likely the labels were forgotten."""
    there = np.unique(labels).tolist()
    unused = sorted(set(values) - set(there))
    if unused:
        warnings.warn(
            f"there is {name} for label {unused[0]}, but no {element} has it: the labels are {there}; set them with "
            "labelled(...), or leave it out",
            PliantWarning,
            stacklevel=4,
        )
