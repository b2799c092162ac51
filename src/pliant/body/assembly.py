"""Several bodies as one system: which coordinates are free, and how nodes follow them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.sparse import BlockPattern
from pliant.body import _assembly_kernels as kernels
from pliant.body import _part_kernels as part_kernels
from pliant.body.body import Array, Body, Ids, Led
from pliant.body.carried import CarriedBlocks, Carriers, PulledBlocks
from pliant.body.connected import connected, held_pieces, require_supported
from pliant.body.parts import Part, Parts, free_basis
from pliant.body.tied import NO_TIES, Ties
from pliant.errors import SupportError


@dataclass(frozen=True)
class Pose:
    """Where everything is: node positions x [n, 3] [m], and the pivots [p, 3] [m] and rotations [p, 3, 3] of the rigid
    parts; led: the step that has led there, where a body wants to know. Treated as immutable."""

    x: Array
    centers: Array
    rotations: Array
    led: Led | None = None


@dataclass(frozen=True, eq=False)
class Slope:
    """T = dx/dq at a pose: levers of the nodes on parts (s, 3), matrices of the links (k, 3, 3), and of the parts the
    directions of their shifts and turns in space (p, 3, 3) and the pivots (p, 3)."""

    levers: Array
    matrices: Array
    slides: Array
    turns: Array
    centers: Array


class Assembly:
    """Bodies and further couplings between their nodes, with the free coordinates q of the whole.

    Coordinates are 3-vectors: one per plain or sliding node, then up to two per rigid part (its shift, its turn). Nodes of all
    bodies are numbered in a row. The system's matrices live in one array `values` of 3x3 blocks:

        the blocks of the bodies | of the couplings | on carriers | pulled back by links | curvature of parts | constants

    of which `pattern` takes those that act on free coordinates. For carriers and links see `_assembly_kernels.py`; where all
    nodes are plain there are none of the last four.
    """

    def __init__(
        self,
        bodies: Sequence[Body],
        couplings: Sequence[tuple[Ids, Ids]] = (),
        *,
        parts: Sequence[Part] | None = None,
        ties: Ties = NO_TIES,
        held: Ids | None = None,
    ) -> None:
        """couplings: pairs (rows, cols) of node numbers, each a further list of blocks (the ports' curvature). parts: the tree
        of rigid parts, by default those of the bodies, each by itself; ties: nodes that follow others; held (k,): further nodes
        that never move."""
        self.bodies = tuple(bodies)
        self.predicts = any(body.predicts for body in self.bodies)
        self.begin = np.concatenate([[0], np.cumsum([body.node_count for body in bodies])]).astype(np.int64)
        self.node_count = int(self.begin[-1])
        self.rest_x = np.concatenate([body.rest for body in bodies])
        self.ties = ties
        self._collect_supports(np.empty(0, np.int64) if held is None else held)
        self._number_coordinates(rigid_parts(bodies) if parts is None else parts)
        self._lay_out_blocks(couplings)
        self._make_pattern()

    def distortion(self, before: Array, after: Array) -> tuple[float, float]:
        """How far a motion of the nodes distorts the bodies: the largest change of the distance of two coupled nodes, and
        their largest distance afterwards, both over their distance at rest."""
        change, stretch = kernels.distortion(*self._neighbours, before, after)
        return float(change), float(stretch)

    @cached_property
    def _neighbours(self) -> tuple[Ids, Ids, Array]:
        """Pairs of nodes that the bodies couple, and their distances at rest [m], [b] each; without those in one place or on
        one part, which stay as far apart as they are."""
        own = [part for body, part in zip(self.bodies, self.body_slices, strict=True) if body.deforms]
        rows, cols = (
            np.concatenate([np.empty(0, np.int64), *(ids[part] for part in own)])
            for ids in (self.node_rows, self.node_cols)
        )
        lengths = np.linalg.norm(self.rest_x[rows] - self.rest_x[cols], axis=1)
        part = np.full(self.node_count, -1)
        part[self.parts.seats[:, 0]] = self.parts.seats[:, 1]
        apart = (lengths > 1e-12 * np.ptp(self.rest_x)) & ((part[rows] < 0) | (part[rows] != part[cols]))
        return rows[apart], cols[apart], lengths[apart]

    def largest_entries(self, values: Array) -> Array:
        """The largest entry, without sign, of the blocks that each coordinate has a part in, [nc]; for coordinates that are
        no plain node the largest of all."""
        on_nodes = np.empty(self.node_count)
        kernels.largest_entries(self.node_rows, self.node_cols, values, on_nodes)
        out = np.full(self.coordinate_count, on_nodes.max(initial=0.0))
        plain = self.plain >= 0
        out[self.plain[plain]] = on_nodes[plain]
        return out

    @cached_property
    def reaches(self) -> Array:
        """What a force [N] on a node may be on each coordinate, over it, (nc, 1): 1 for shifts, and for turns the length [m] of
        the longest lever."""
        out = np.ones((self.coordinate_count, 1))
        turning = self.parts.numbers[:, 1]
        shortest = 1e-6 * float(np.ptp(self.rest_x))  # of a part whose nodes are all at its pivot
        out[turning[turning >= 0], 0] = np.maximum(self.parts.reaches(self.rest_x), shortest)[turning >= 0]
        return out

    @cached_property
    def coordinates_per_node(self) -> Ids:
        """How many coordinates each node follows, (n,)."""
        counts = self.carriers.counts
        if len(self.ties.tied):
            np.add.at(counts, np.repeat(self.ties.tied, np.diff(self.ties.begin)), counts[self.ties.masters])
        return counts

    @property
    def is_plain(self) -> bool:
        """Whether all coordinates are positions of nodes."""
        return self.block_count == len(self.node_rows)

    def inverted_count(self, x: Array) -> int:
        """How many elements are inside out that must not be."""
        parts = zip(self.bodies, self.begin[:-1], self.begin[1:], strict=True)
        return sum(body.inverted_count(x[first:last]) for body, first, last in parts)

    def _collect_supports(self, held: Ids) -> None:
        """Held nodes, and the free directions of sliding ones, in the numbering of the whole."""
        self.prescribed = self._joined([body.supports.prescribed for body in self.bodies])
        fixed = self._joined([body.supports.fixed for body in self.bodies])
        normals: dict[int, list[Array]] = {}
        for begin, body in zip(self.begin, self.bodies, strict=False):
            for ids, normal in body.supports.sliding:
                for node in begin + ids:
                    normals.setdefault(int(node), []).append(normal)
        bases = {node: free_basis(_projector(planes)) for node, planes in sorted(normals.items())}
        pinned = [node for node, basis in bases.items() if not basis.any()]
        sliding = {node: basis for node, basis in bases.items() if basis.any()}
        self.sliding = np.array(list(sliding), np.int64)
        """Nodes that slide."""
        self.sliding_bases = np.array(list(sliding.values())).reshape(-1, 3, 3)
        """Their free directions, columns (k, 3, 3), zeros where there is none."""
        self.held = np.zeros(self.node_count, bool)
        self.held[np.concatenate([fixed, self.prescribed, held, np.array(pinned, np.int64)])] = True

    def _joined(self, lists: Sequence[Ids]) -> Ids:
        return np.concatenate([begin + ids for begin, ids in zip(self.begin, lists, strict=False)])

    def _number_coordinates(self, tree: Sequence[Part]) -> None:
        single = ~self.held
        single[self.ties.tied] = False
        for part in tree:
            single[part.nodes] = False
        number = np.where(single, np.cumsum(single) - 1, -1)
        count = int(single.sum())
        self.parts = Parts(tree, count)
        self.coordinate_count = count + self.parts.coordinate_count
        if self.coordinate_count == 0:
            raise SupportError("every node is held, nothing can move", remedy="leave some nodes out of fixed")
        self.plain = number.copy()
        self.plain[self.sliding] = -1
        self.carriers = Carriers.of(number, self.sliding, self.parts)
        self._sliding_pairs = np.stack([self.sliding, number[self.sliding]], axis=1)
        self._arms = self.parts.arms(self.rest_x)

    def _lay_out_blocks(self, couplings: Sequence[tuple[Ids, Ids]]) -> None:
        pieces = [
            (begin + body.rows, begin + body.cols) for begin, body in zip(self.begin, self.bodies, strict=False)
        ] + [(np.asarray(rows, np.int64), np.asarray(cols, np.int64)) for rows, cols in couplings]
        ends = np.cumsum([len(rows) for rows, _ in pieces])
        slices = [slice(int(end) - len(rows), int(end)) for end, (rows, _) in zip(ends, pieces, strict=True)]
        self.body_slices, self.coupling_slices = slices[: len(self.bodies)], slices[len(self.bodies) :]
        self.node_rows = np.concatenate([rows for rows, _ in pieces])
        self.node_cols = np.concatenate([cols for _, cols in pieces])

    def _make_pattern(self) -> None:
        plain, i, j = self.plain, self.node_rows, self.node_cols
        plainly = np.flatnonzero((plain[i] >= 0) & (plain[j] >= 0))
        self._carry = CarriedBlocks(i, j, self.carriers, self.ties, plain)
        self._pull = PulledBlocks(self._carry, self.carriers, self.coordinate_count)
        locked = self._locked_coordinates()
        counts = [len(i), len(self._carry.rows), len(self._pull.rows), len(self.parts.curved), len(locked)]
        ends = np.cumsum(counts)
        self._carried, self._pulled, self._curved, self._constant = (slice(int(a), int(b)) for a, b in pairwise(ends))
        self.block_count = int(ends[-1])
        direct = self._carry.direct_places
        curved = self.parts.curved_coordinates
        self.pattern = BlockPattern(
            self.coordinate_count,
            np.concatenate([plain[i[plainly]], self._carry.coordinates[0], self._pull.rows, curved[:, 0], locked]),
            np.concatenate([plain[j[plainly]], self._carry.coordinates[1], self._pull.cols, curved[:, 1], locked]),
            np.concatenate([plainly, ends[0] + direct, np.arange(ends[1], ends[-1])]),
            self._coordinate_points(),
        )

    def _locked_coordinates(self) -> Ids:
        """Coordinates that are not free in all three entries; ones on the diagonal keep the others at zero."""
        free = np.ones((self.coordinate_count, 3), bool)
        free[self.carriers.carrier[self.sliding]] = self.sliding_bases.any(axis=1)
        free[self.coordinate_count - self.parts.coordinate_count :] = self.parts.free
        locked = np.flatnonzero(~free.all(axis=1))
        self._constants = np.einsum("ij,kj->kij", np.eye(3), ~free[locked]).astype(float)
        return locked

    def _coordinate_points(self) -> Array:
        points = np.empty((self.coordinate_count, 3))
        nodes = np.flatnonzero((self.carriers.carrier >= 0) & (self.carriers.carrier < self.parts.first))
        points[self.carriers.carrier[nodes]] = self.rest_x[nodes]
        for column in self.parts.numbers.T:
            points[column[column >= 0]] = self.parts.pivots[column >= 0]
        return points

    def rest(self) -> Pose:
        """The pose without load."""
        count = len(self.parts.parts)
        return Pose(self.rest_x.copy(), self.parts.pivots.copy(), np.broadcast_to(np.eye(3), (count, 3, 3)).copy())

    @cached_property
    def _level(self) -> Slope:
        """T where there are no parts: the same everywhere."""
        nothing = np.empty((0, 3, 3))
        return Slope(np.empty((0, 3)), self.sliding_bases, nothing, nothing, np.empty((0, 3)))

    def slope(self, pose: Pose) -> Slope:
        """T at this pose, which the maps below take."""
        if not self.parts.parts:
            return self._level
        levers = np.empty((len(self.parts.seats), 3))
        part_kernels.find_levers(self.parts.seats, pose.centers, pose.x, levers)
        slides, turns = self.parts.in_space(pose.rotations)
        matrices = np.empty((len(self.carriers.links), 3, 3))
        matrices[: len(self.sliding)] = self.sliding_bases
        part_kernels.fill_links(self.parts.kinds, slides, turns, pose.centers, matrices[len(self.sliding) :])
        return Slope(levers, matrices, slides, turns, pose.centers)

    def force_on_coordinates(self, T: Slope, force: Array) -> Array:
        """T^T f (nc, 3) of forces on nodes (n, 3)."""
        out = np.empty((self.coordinate_count, 3))
        kernels.to_coordinates(*self.carriers.arrays(T.levers, T.matrices), self.ties.on_masters(force), out)
        return out

    def motion_of_nodes(self, T: Slope, motion: Array) -> Array:
        """T u (n, 3) of a motion (a velocity or a small step) of the coordinates (nc, 3); zero at held nodes."""
        out = np.empty((self.node_count, 3))
        kernels.to_nodes(*self.carriers.arrays(T.levers, T.matrices), motion.reshape(-1, 3), out)
        self.ties.follow(out)
        return out

    def pull_back(self, T: Slope, values: Array, gradient: Array | None) -> None:
        """Fill the blocks of sliding and tied nodes and of rigid parts from those of the nodes: T^T K T, plus sum f . d2 Phi
        where the total gradient (n, 3) of the energy on the nodes is given (the exact tangent)."""
        if self.is_plain:
            return
        carried, pulled = values[self._carried], values[self._pulled]
        carried[:], pulled[:] = 0.0, 0.0
        kernels.carry_blocks(self._carry.groups, self._carry.jobs, self._carry.scales, T.levers, values, carried)
        kernels.pull_back(self._pull.jobs, T.matrices, carried, pulled)
        values[self._constant] = self._constants
        values[self._curved] = 0.0
        if gradient is not None and len(self.parts.curved):
            forces, moments = self.loads_of_parts(T, gradient)
            part_kernels.curve(self.parts.curved, T.slides, T.turns, forces, moments, values[self._curved])

    def loads_of_parts(self, T: Slope, force: Array) -> tuple[Array, Array]:
        """Of forces on nodes (n, 3), those on every part and all that hangs on it: sum f (p, 3), sum f r^T (p, 3, 3), r from
        its pivot."""
        parts = self.parts
        out = np.empty((len(parts.parts), 3)), np.empty((len(parts.parts), 3, 3))
        part_kernels.sum_loads(parts.seats, T.levers, parts.parents, T.centers, self.ties.on_masters(force), *out)
        return out

    def moved(self, pose: Pose, step: Array, prescribed: Array | None = None) -> Pose:
        """The pose after a step of the coordinates [nc, 3]; `prescribed` [k, 3] are new positions of those nodes."""
        step = step.reshape(-1, 3)
        x = np.empty((self.node_count, 3))
        kernels.shift_nodes(self.plain, self._sliding_pairs, self.sliding_bases, step, pose.x, x)
        if prescribed is not None:
            x[self.prescribed] = prescribed
        centers, rotations = pose.centers, pose.rotations
        if self.parts.parts:
            centers, rotations = self.parts.moved(centers, rotations, step)
            part_kernels.place_nodes(self.parts.seats, self._arms, centers, rotations, x)
        self.ties.follow(x)
        led = Led(pose.x, self.motion_of_nodes(self.slope(pose), step)) if self.predicts else None
        return Pose(x, centers, rotations, led)

    def describe(self, coordinate: int) -> str:
        """What a coordinate belongs to, for messages: "node 12 of body 0 at (0.1, 0, 0)" or "rigid part 'tip'"."""
        parts = np.flatnonzero((self.parts.numbers == coordinate).any(axis=1))
        if len(parts):
            return f"rigid part {self.parts.parts[parts[0]].name!r}"
        node = int(np.flatnonzero(self.carriers.carrier == coordinate)[0])
        body = int(np.searchsorted(self.begin, node, side="right") - 1)
        place = ", ".join(f"{value:.4g}" for value in self.rest_x[node])
        name = f"node {node - int(self.begin[body])}" + (f" of body {body}" if len(self.bodies) > 1 else "")
        return f"{name} at rest at ({place}) m"

    def require_supported(self) -> None:
        """Raise a SupportError that names a connected part with nothing to hold it, where there is one."""
        require_supported(self.rest_x, self._pieces, self._held_pieces)

    @cached_property
    def _pieces(self) -> Ids:
        """The connected piece of each node, and then of each part, (n + p,)."""
        return connected(self.node_count, self.node_rows, self.node_cols, self.parts, self.ties)

    @property
    def _held_pieces(self) -> NDArray[np.bool_]:
        """Which pieces something holds; whether they can still move is for the factorization to tell."""
        holding = self.held.copy()
        holding[self.sliding] = True
        return held_pieces(self._pieces, holding, self.parts)

    def loose_pieces(self) -> list[tuple[Ids, Ids]]:
        """The nodes and the parts of each connected piece that nothing holds."""
        nodes, parts = self._pieces[: self.node_count], self._pieces[self.node_count :]
        loose = np.flatnonzero(~self._held_pieces)
        return [(np.flatnonzero(nodes == piece), np.flatnonzero(parts == piece)) for piece in loose]


def rigid_parts(bodies: Sequence[Body]) -> list[Part]:
    """The rigid parts of bodies, each by itself and free to go anywhere."""
    out, first = [], 0
    for body in bodies:
        for name, ids in body.supports.rigid.items():
            turns = np.zeros((3, 3)) if name in body.supports.unturned else np.eye(3)
            out.append(Part(name, first + ids, body.rest[ids].mean(axis=0), turns=turns))
        first += body.node_count
    return out


def _projector(normals: Sequence[Array]) -> Array:
    """The projection onto the directions orthogonal to all normals; zero where nothing is left free."""
    _, s, vt = np.linalg.svd(np.array(normals))
    basis = vt[: int((s > 1e-9).sum())]
    if len(basis) == 3:
        return np.zeros((3, 3))
    projector: Array = np.eye(3) - basis.T @ basis
    return projector
