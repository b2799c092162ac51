"""Several bodies as one system: which coordinates are free, and how nodes follow them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.rotation import cross_matrix, exponential, nearest_rotation
from pliant.algebra.sparse import BlockPattern
from pliant.body import _assembly_kernels as kernels
from pliant.body.body import Array, Body, Ids
from pliant.errors import SupportError


@dataclass(frozen=True)
class Pose:
    """Where everything is: node positions x [n, 3] [m], and the centres [r, 3] [m] and rotations [r, 3, 3] of the rigid
    parts. Treated as immutable."""

    x: Array
    centers: Array
    rotations: Array


class Assembly:
    """Bodies and further couplings between their nodes, with the free coordinates q of the whole.

    Coordinates are 3-vectors: one per plain or sliding node, then two per rigid part (translation, rotation vector).
    Nodes of all bodies are numbered in a row. The system's matrices live in one array `values` of 3x3 blocks:

        the blocks of the bodies | of the couplings | pulled back through sliding nodes and rigid parts | constants

    of which `pattern` takes those that act on free coordinates.
    """

    def __init__(self, bodies: Sequence[Body], couplings: Sequence[tuple[Ids, Ids]] = ()) -> None:
        """couplings: pairs (rows, cols) of node numbers, each a further list of blocks (the ports' curvature)."""
        self.bodies = tuple(bodies)
        self.begin = np.concatenate([[0], np.cumsum([body.node_count for body in bodies])]).astype(np.int64)
        self.node_count = int(self.begin[-1])
        self.rest_x = np.concatenate([body.rest for body in bodies])
        self._collect_supports()
        self._number_coordinates()
        self._lay_out_blocks(couplings)
        self._make_pattern()

    def distortion(self, before: Array, after: Array) -> tuple[float, float]:
        """How far a motion of the nodes distorts the bodies: the largest change of the distance of two coupled nodes, and
        their largest distance afterwards, both over their distance at rest."""
        change, stretch = kernels.distortion(*self._neighbours, before, after)
        return float(change), float(stretch)

    @cached_property
    def _neighbours(self) -> tuple[Ids, Ids, Array]:
        """Pairs of nodes that the bodies couple, and their distances at rest [m], [b] each; without those in one place."""
        rows, cols = (ids[: self.body_slices[-1].stop] for ids in (self.node_rows, self.node_cols))
        lengths = np.linalg.norm(self.rest_x[rows] - self.rest_x[cols], axis=1)
        apart = lengths > 1e-12 * np.ptp(self.rest_x)
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

    def inverted_count(self, x: Array) -> int:
        """How many elements are inside out that must not be."""
        parts = zip(self.bodies, self.begin[:-1], self.begin[1:], strict=True)
        return sum(body.inverted_count(x[first:last]) for body, first, last in parts)

    def _collect_supports(self) -> None:
        """Held nodes, constraint normals per sliding node, and rigid groups, in the numbering of the whole."""
        self.prescribed = self._joined([body.supports.prescribed for body in self.bodies])
        fixed = self._joined([body.supports.fixed for body in self.bodies])
        self.rigid_names: list[str] = []
        self.rigid_nodes: list[Ids] = []
        normals: dict[int, list[Array]] = {}
        for begin, body in zip(self.begin, self.bodies, strict=False):
            for name, ids in body.supports.rigid.items():
                self.rigid_names.append(name)
                self.rigid_nodes.append(begin + ids)
            for ids, normal in body.supports.sliding:
                for node in begin + ids:
                    normals.setdefault(int(node), []).append(normal)
        self._projectors = {node: _projector(planes) for node, planes in normals.items()}
        pinned = [node for node, P in self._projectors.items() if not P.any()]
        for node in pinned:
            del self._projectors[node]
        self.held = np.zeros(self.node_count, bool)
        self.held[np.concatenate([fixed, self.prescribed, np.array(pinned, np.int64)])] = True

    def _joined(self, lists: Sequence[Ids]) -> Ids:
        return np.concatenate([begin + ids for begin, ids in zip(self.begin, lists, strict=False)])

    def _number_coordinates(self) -> None:
        rigid = np.zeros(self.node_count, bool)
        for ids in self.rigid_nodes:
            rigid[ids] = True
        single = ~self.held & ~rigid
        number = np.where(single, np.cumsum(single) - 1, -1)
        sliding = np.array(sorted(self._projectors), np.int64)
        links = [(node, number[node]) for node in sliding]
        matrices = [self._projectors[int(node)] for node in sliding]
        count = int(single.sum())
        self._levers: list[tuple[slice, int]] = []
        for part, ids in enumerate(self.rigid_nodes):
            links += [(node, count) for node in ids]
            matrices += [np.eye(3)] * len(ids)
            self._levers.append((slice(len(links), len(links) + len(ids)), part))
            links += [(node, count + 1) for node in ids]
            matrices += [np.zeros((3, 3))] * len(ids)
            count += 2
        self.coordinate_count = count
        if count == 0:
            raise SupportError("every node is held, nothing can move", remedy="leave some nodes out of fixed")
        self.plain = number.copy()
        self.plain[sliding] = -1
        self.links = np.array(links, np.int64).reshape(-1, 2)
        self.matrices = np.array(matrices).reshape(-1, 3, 3)  # see `slope`, which fills in the levers of rigid parts
        self._arms = [self.rest_x[ids] - self.rest_x[ids].mean(axis=0) for ids in self.rigid_nodes]

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
        plain = self.plain
        i, j = self.node_rows, self.node_cols
        direct = np.flatnonzero((plain[i] >= 0) & (plain[j] >= 0))
        jobs, targets = self._pull_back_jobs()
        self._jobs = jobs
        first = len(i)
        self._pulled = slice(first, first + len(targets))
        rotations = [(c + 1, c + 1) for c in self._rigid_coordinates()]
        self._curved = slice(self._pulled.stop, self._pulled.stop + len(rotations))
        constants = [(int(plain_c), int(plain_c)) for plain_c in self.links[: len(self._projectors), 1]]
        self.block_count = self._curved.stop + len(constants)
        extra = np.array(targets + rotations + constants, np.int64).reshape(-1, 2)
        self._constants = np.eye(3) - self.matrices[: len(constants)]
        self.pattern = BlockPattern(
            self.coordinate_count,
            np.concatenate([plain[i[direct]], extra[:, 0]]),
            np.concatenate([plain[j[direct]], extra[:, 1]]),
            np.concatenate([direct, np.arange(first, self.block_count)]),
            self._coordinate_points(),
        )

    def _rigid_coordinates(self) -> list[int]:
        """Translation coordinate of each rigid part; its rotation is the next."""
        count = self.coordinate_count
        return list(range(count - 2 * len(self.rigid_nodes), count, 2))

    def _pull_back_jobs(self) -> tuple[Ids, list[tuple[int, int]]]:
        """Jobs for `kernels.pull_back`, and the coordinates (row, col) of the blocks that they add to."""
        node_links: dict[int, list[int]] = {}
        for k, (node, _) in enumerate(self.links):
            node_links.setdefault(int(node), []).append(k)
        linked = np.zeros(self.node_count, bool)
        linked[self.links[:, 0]] = True
        i, j = self.node_rows, self.node_cols
        special = np.flatnonzero((linked[i] | linked[j]) & ~self.held[i] & ~self.held[j])
        jobs: list[tuple[int, int, int, int, int]] = []
        number: dict[tuple[int, int], int] = {}
        for block in special:
            a_node, b_node = int(i[block]), int(j[block])
            for a in node_links.get(a_node, [-1]):
                for b in node_links.get(b_node, [-1]):
                    row = int(self.links[a, 1] if a >= 0 else self.plain[a_node])
                    col = int(self.links[b, 1] if b >= 0 else self.plain[b_node])
                    if a_node == b_node and row < col:
                        continue  # the mirror image of the job with a and b exchanged
                    target = number.setdefault((max(row, col), min(row, col)), len(number))
                    mode = 2 if row == col and a_node != b_node else int(row < col)
                    jobs.append((int(block), a, b, target, mode))
        return np.array(jobs, np.int64).reshape(-1, 5), list(number)

    def _coordinate_points(self) -> Array:
        points = np.empty((self.coordinate_count, 3))
        nodes = np.flatnonzero(self.plain >= 0)
        points[self.plain[nodes]] = self.rest_x[nodes]
        points[self.links[:, 1]] = self.rest_x[self.links[:, 0]]
        return points

    @property
    def sliding_links(self) -> Ids:
        """Pairs (node, coordinate) of the sliding nodes; their projectors are the first of `matrices`."""
        links: Ids = self.links[: len(self._projectors)]
        return links

    def rest(self) -> Pose:
        """The pose without load."""
        centers = np.array([self.rest_x[ids].mean(axis=0) for ids in self.rigid_nodes]).reshape(-1, 3)
        return Pose(self.rest_x.copy(), centers, np.broadcast_to(np.eye(3), (len(centers), 3, 3)).copy())

    def slope(self, pose: Pose) -> Array:
        """T at this pose, which the maps below take: how linked nodes follow their coordinates, (k, 3, 3)."""
        if not self._levers:
            return np.asarray(self.matrices)
        T = np.array(self.matrices)
        for lever, part in self._levers:
            T[lever] = -cross_matrix(pose.x[self.rigid_nodes[part]] - pose.centers[part])
        return T

    def force_on_coordinates(self, T: Array, force: Array) -> Array:
        """T^T f (nc, 3) of forces on nodes (n, 3)."""
        out = np.empty((self.coordinate_count, 3))
        kernels.to_coordinates(self.plain, self.links, T, force, out)
        return out

    def motion_of_nodes(self, T: Array, motion: Array) -> Array:
        """T u (n, 3) of a motion (a velocity or a small step) of the coordinates (nc, 3); zero at held nodes."""
        out = np.empty((self.node_count, 3))
        kernels.to_nodes(self.plain, self.links, T, motion.reshape(-1, 3), out)
        return out

    def pull_back(self, T: Array, values: Array, gradient: Array | None) -> None:
        """Fill the blocks of sliding nodes and rigid parts from those of the nodes: T^T K T, plus sum f . d2 Phi where the
        total gradient (n, 3) of the energy on the nodes is given (the exact tangent)."""
        if not len(self.links):
            return
        values[self._pulled] = 0.0
        kernels.pull_back(self._jobs, T, values, values[self._pulled])
        values[self._curved.stop :] = self._constants
        values[self._curved] = 0.0
        if gradient is not None:
            for part, (lever, _) in enumerate(self._levers):
                cross = -T[lever]
                arms = np.stack([cross[:, 2, 1], cross[:, 0, 2], cross[:, 1, 0]], axis=1)
                outer = np.einsum("ni,nj->ij", gradient[self.rigid_nodes[part]], arms)
                values[self._curved][part] = 0.5 * (outer + outer.T) - np.trace(outer) * np.eye(3)

    def moved(self, pose: Pose, step: Array, prescribed: Array | None = None) -> Pose:
        """The pose after a step of the coordinates [nc, 3]; `prescribed` [k, 3] are new positions of those nodes."""
        step = step.reshape(-1, 3)
        x = self.motion_of_nodes(self.slope(pose), step)
        x += pose.x
        if prescribed is not None:
            x[self.prescribed] = prescribed
        centers, rotations = pose.centers.copy(), pose.rotations.copy()
        for part, c in enumerate(self._rigid_coordinates()):
            centers[part] += step[c]
            rotations[part] = nearest_rotation(exponential(step[c + 1]) @ rotations[part])
            x[self.rigid_nodes[part]] = centers[part] + self._arms[part] @ rotations[part].T
        return Pose(x, centers, rotations)

    def describe(self, coordinate: int) -> str:
        """What a coordinate belongs to, for messages: "node 12 of body 0 at (0.1, 0, 0)" or "rigid part 'tip'"."""
        rigid = self._rigid_coordinates()
        if rigid and coordinate >= rigid[0]:
            return f"rigid part {self.rigid_names[(coordinate - rigid[0]) // 2]!r}"
        node = int(np.flatnonzero(self._owner() == coordinate)[0])
        body = int(np.searchsorted(self.begin, node, side="right") - 1)
        place = ", ".join(f"{value:.4g}" for value in self.rest_x[node])
        name = f"node {node - int(self.begin[body])}" + (f" of body {body}" if len(self.bodies) > 1 else "")
        return f"{name} at rest at ({place}) m"

    def _owner(self) -> Ids:
        """Coordinate of each plain or sliding node, else -1."""
        owner: Ids = self.plain.copy()
        owner[self.sliding_links[:, 0]] = self.sliding_links[:, 1]
        return owner

    def require_supported(self) -> None:
        """Raise a SupportError that names a connected part with nothing to hold it, where there is one."""
        loose, parts = self.loose_parts(), int(self._parts().max()) + 1
        if not loose:
            return
        nodes = loose[0]
        center = ", ".join(f"{value:.4g}" for value in self.rest_x[nodes].mean(axis=0))
        what = "nothing is fixed" if parts == 1 else f"a part of {len(nodes)} nodes around ({center}) m has no support"
        raise SupportError(
            what,
            remedy="statics needs every part held: give fixed=mesh.where(...) for it, or use dynamics",
            nodes=nodes,
            parts=parts,
        )

    def loose_parts(self) -> list[Ids]:
        """The nodes of each connected part that no support holds."""
        label = self._parts()
        holding = np.zeros(label.max() + 1, bool)
        holding[label[self.held]] = True
        holding[label[np.array(sorted(self._projectors), np.int64)]] = True  # may still slide; the factorization tells
        return [np.flatnonzero(label == part) for part in np.flatnonzero(~holding)]

    def _parts(self) -> NDArray[Any]:
        """Connected part of each node: through elements, couplings and rigid parts."""
        from scipy.sparse import coo_matrix
        from scipy.sparse.csgraph import connected_components

        rows = [self.node_rows] + [ids[1:] for ids in self.rigid_nodes]
        cols = [self.node_cols] + [np.full(len(ids) - 1, ids[0]) for ids in self.rigid_nodes]
        i, j = np.concatenate(rows), np.concatenate(cols)
        graph = coo_matrix((np.ones(len(i), np.int8), (i, j)), shape=(self.node_count, self.node_count))
        return np.asarray(connected_components(graph, directed=False)[1])


def _projector(normals: Sequence[Array]) -> Array:
    """The projection onto the directions orthogonal to all normals; zero where nothing is left free."""
    _, s, vt = np.linalg.svd(np.array(normals))
    basis = vt[: int((s > 1e-9).sum())]
    if len(basis) == 3:
        return np.zeros((3, 3))
    projector: Array = np.eye(3) - basis.T @ basis
    return projector
