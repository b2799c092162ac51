"""The solid body: tets of four or ten nodes under any material law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from threading import Lock
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.algebra.sparse import aligned
from pliant.body import _tet_kernels as kernels
from pliant.body.blocks import BlockIndex, pair_nodes
from pliant.body.body import Array, Body, Ids, Supports, rayleigh_coefficients, warn_of_unused
from pliant.body.discretization import DiscretizationError, discretization_error, warn_of_locking
from pliant.body.element import tet_element
from pliant.body.fields import Fields, tet_fields
from pliant.body.patches import Patches, build_patches, choose_patches
from pliant.body.surface import CarriedSurface
from pliant.checks import as_numbers, one_of
from pliant.errors import InputError, MaterialError
from pliant.material import Law
from pliant.material._lanes import LANES
from pliant.shape import Embedding, TetMesh
from pliant.shape.embedding import containing

Laws: TypeAlias = "Law | Mapping[int, Law]"


class TetBody(Body):
    """A solid of tetrahedra.

    order=1: four-node tets, fast, too stiff in bending on coarse meshes (a cantilever of four elements through the height
    deflects by about 14 % too little at nu 0.3; `discretization_error()` tells for your mesh). order=2: ten-node tets,
    accurate at two elements through the height; the middles of the edges become nodes, numbered after the corners.

    volume="patches" averages the dilation of four-node tets over patches (see `body/patches.py`): the remedy for nu close
    to 1/2 at order 1. It couples more nodes, so a step costs two to four times as much.

    >>> from pliant.material import Corotational
    >>> from pliant.shape import make
    >>> mesh = make.box((0.1, 0.02, 0.02), (10, 2, 2))
    >>> TetBody(mesh, Corotational(E=150e3, nu=0.45), density=1070, fixed=mesh.where(x_below=0))  # Pa, kg/m^3
    TetBody(240 tets of order 1, 99 nodes, Corotational(E=150000.0, nu=0.45))
    """

    def __init__(
        self,
        mesh: TetMesh,
        law: Laws,
        *,
        density: float | Mapping[int, float] = 1070.0,
        order: Literal[1, 2] = 1,
        volume: Literal["elements", "patches"] = "elements",
        fixed: ArrayLike | None = None,
        prescribed: ArrayLike | None = None,
        sliding: Sequence[tuple[ArrayLike, ArrayLike]] = (),
        rigid: Mapping[str, ArrayLike] | None = None,
        mass: Literal["consistent", "lumped"] = "consistent",
        damping: tuple[float, float] = (0.0, 0.0),
        threads: int = 1,
    ) -> None:
        """Build the body at rest on `mesh`.

        law: one law, or one per region label of the mesh. density [kg/m^3]: likewise. fixed, prescribed: indices of mesh
        nodes (`mesh.where(...)`). sliding: pairs (nodes, normal) of nodes that keep to a plane. rigid: named groups of
        nodes that move as one rigid part. mass: consistent with the shape functions, or lumped to the nodes. damping:
        Rayleigh's (a [1/s], b [s]) in D = a M + b K0, K0 turning with the material. threads: for the assembly.
        """
        if not isinstance(mesh, TetMesh):
            raise InputError(
                f"a TetBody needs a TetMesh, not a {type(mesh).__name__}",
                remedy="fill the surface: surface.filled(size)",
            )
        self._build(
            mesh=mesh, law=law, density=density, order=order, volume=volume, fixed=fixed, prescribed=prescribed,
            sliding=sliding, rigid=rigid, mass=mass, damping=damping, threads=threads
        )  # fmt: skip
        warn_of_locking(self)

    def _build(
        self, *, mesh: TetMesh, law: Laws, order: Any, volume: Any, fixed: Any, prescribed: Any, sliding: Any, rigid: Any,
        density: Any, mass: Any, damping: Any, threads: int
    ) -> None:  # fmt: skip
        """See `__init__`."""
        self._recipe: dict[str, Any] = {
            "mesh": mesh, "law": law, "density": density, "volume": volume, "fixed": fixed, "prescribed": prescribed,
            "sliding": sliding, "rigid": rigid, "mass": mass, "damping": damping, "threads": threads,
        }  # fmt: skip
        self.mesh = mesh
        self.cell_size = mesh.mean_edge()
        self.order = order
        self.volume = one_of(volume, "volume", ("elements", "patches"))
        self.element = tet_element(one_of(order, "order", (1, 2)))
        if order == 2 and volume == "patches":
            raise InputError("volume='patches' is for order=1", remedy="ten-node tets need no remedy: leave it out")
        self.laws, region = _laws_by_region(law, mesh.labels)
        self._sort_elements(region)
        supports = Supports.checked(len(mesh.nodes), fixed, prescribed, sliding, rigid)
        supports.require_extended_parts(mesh.nodes)
        self._make_nodes(supports)
        self._make_blocks()
        self.density = _density_by_element(density, mesh.labels)[self.tet_ids]
        self._make_mass(one_of(mass, "mass", ("consistent", "lumped")))
        self.mass_damping, self.stiffness_damping = rayleigh_coefficients(damping)
        self._prepare_threads(threads)

    def _sort_elements(self, region: Ids) -> None:
        """Elements of one law, one patch and the same nodes next to each other; `tet_ids`: their numbers in the mesh."""
        codes = np.array([law.code for law in self.laws])[region]
        patch = choose_patches(self.mesh.tets.astype(np.int64), region) if self.volume == "patches" else codes
        self.tet_ids = np.lexsort((self.mesh.tets.max(axis=1), patch, codes))
        self.law_numbers = region[self.tet_ids]
        self.law_codes = codes[self.tet_ids]
        self.parameters = np.array([law.parameters() for law in self.laws])[region[self.tet_ids]]
        self.volumes = self.mesh.volumes[self.tet_ids]
        self._corner_nodes = self.mesh.tets[self.tet_ids].astype(np.int64)
        if self.order == 1:  # ascending, so that no block of a pair ever has to be transposed
            self._corner_nodes.sort(axis=1)
        corners = self.mesh.nodes[self._corner_nodes]
        inverse = np.linalg.inv(np.swapaxes(corners[:, 1:] - corners[:, :1], 1, 2))
        self.corner_gradients = np.concatenate([-inverse.sum(axis=1, keepdims=True), inverse], axis=1).reshape(-1, 12)
        starts = np.flatnonzero(np.diff(self.law_codes, prepend=-1))
        ends = np.append(starts[1:], len(codes))
        batches = [np.arange(a, b, LANES) for a, b in zip(starts, ends, strict=True)]
        self._batches = np.append(np.concatenate(batches), len(codes)).astype(np.int64)
        self._lanes = aligned((len(self._batches) - 1) * 17 * LANES).reshape(-1, 17 * LANES)
        patched = self.volume == "patches"
        kernels.fill_lanes(self._batches, self.corner_gradients, self.parameters, patched, self._lanes)
        self._patches: Patches | None = None
        if self.volume == "patches":
            ordered = patch[self.tet_ids]
            number = np.cumsum(np.diff(ordered, prepend=ordered[0]) != 0)
            self._patches = build_patches(
                self._corner_nodes, number, self.volumes, np.maximum(self.parameters[:, 0], 0.0)
            )

    def _make_nodes(self, supports: Supports) -> None:
        if self.order == 1:
            self.rest, self.nodes, self.supports = self.mesh.nodes, self._corner_nodes, supports
            self._edges = np.empty((0, 2), np.int64)
        else:
            edges, tet_edges = self.mesh.quadratic_edges()
            first = len(self.mesh.nodes)
            self.rest = np.concatenate([self.mesh.nodes, self.mesh.nodes[edges].mean(axis=1)])
            self.nodes = np.concatenate([self._corner_nodes, first + tet_edges[self.tet_ids]], axis=1).astype(np.int64)
            self._edges = edges.astype(np.int64)
            self.supports = supports.extended(self._edges, first, self.mesh.nodes)
        self.rest = np.ascontiguousarray(self.rest)

    def completed(self, ids: Ids) -> Ids:
        """See `Body.completed`: at order 2 with the middles of edges between chosen nodes."""
        chosen = np.zeros(self.node_count, bool)
        chosen[ids] = True
        middles = len(self.mesh.nodes) + np.flatnonzero(chosen[self._edges].all(axis=1))
        return np.union1d(ids, middles).astype(np.int64)

    def _make_blocks(self) -> None:
        i, j = pair_nodes(self.nodes)
        pairs = [(i, j)] + (self._patches.pairs() if self._patches else [])
        index = BlockIndex(len(self.rest), [(a.ravel(), b.ravel()) for a, b in pairs])
        self.rows, self.cols = index.rows, index.cols
        self._slots = index.slots(i, j)
        if self._patches:
            self._patch_slots, self._patch_slot_begin = self._patches.slots(index)

    def _make_mass(self, kind: str) -> None:
        masses = self.density * self.volumes
        a, b = np.tril_indices(self.element.node_count)
        shares = self.element.mass[a, b]
        if kind == "lumped":
            shares = np.where(a == b, self.element.lumped_shares()[a], 0.0)
        self.mass_weights = _summed(self._slots >> 1, np.outer(masses, shares), len(self.rows))
        rows, cols, weights = self.rows, self.cols, self.mass_weights
        apart = rows != cols
        self.load_masses = _summed(rows, weights, len(self.rest)) + _summed(cols[apart], weights[apart], len(self.rest))

    def _prepare_threads(self, threads: int) -> None:
        if threads < 1:
            raise InputError(f"threads is {threads}", remedy="give at least 1")
        self._turn = Lock()
        batch_count = len(self._batches) - 1
        self._parts = np.linspace(0, batch_count, min(threads, batch_count) + 1).astype(np.int64)
        self._work = [kernels.work_space() for _ in self._parts[1:]]
        self._pool = ThreadPoolExecutor(len(self._work)) if len(self._work) > 1 else None
        extra = len(self._work) - 1
        self._extra_force = np.empty((extra, *self.rest.shape))
        self._extra_blocks = np.empty((extra, 9 * len(self.rows)))

    def accumulate(self, x: Array, force: Array, blocks: Array, *, exact: float = 0.0, warped: float = 0.0) -> float:
        """See `Body.accumulate`. Threads that share the body take turns."""
        with self._turn:
            return self._accumulate(x, force, blocks, exact, warped)

    def _accumulate(self, x: Array, force: Array, blocks: Array, exact: float, warped: float) -> float:
        flat = blocks.reshape(-1)
        pressure, energy = kernels.NOTHING, 0.0
        if self._patches:
            pressure, energy = self._press(x, flat, exact, warped)
        if self._pool is None:
            return energy + self._run(0, x, pressure, force, flat, exact, warped)
        stiff = exact != 0.0 or warped != 0.0
        self._extra_force[:] = 0.0
        if stiff:
            self._extra_blocks[:] = 0.0
        futures = [
            self._pool.submit(self._run, t + 1, x, pressure, self._extra_force[t], self._extra_blocks[t], exact, warped)
            for t in range(len(self._extra_force))
        ]
        energy += self._run(0, x, pressure, force, flat, exact, warped)
        for t, future in enumerate(futures):
            energy += future.result()
            force += self._extra_force[t]
            if stiff:
                flat += self._extra_blocks[t]
        return energy

    def _run(
        self, part: int, x: Array, pressure: Array, force: Array, blocks: Array, exact: float, warped: float
    ) -> float:
        energy: float = kernels.assemble(
            self._batches, self._parts[part], self._parts[part + 1], self.law_codes, self.nodes, self._lanes,
            self.volumes, self.element.gradients, self.element.weights, self._slots, x, exact, warped, pressure, force,
            blocks, self._work[part]
        )  # fmt: skip
        return energy

    def _press(self, x: Array, blocks: Array, exact: float, warped: float) -> tuple[Array, float]:
        """Pressure of every element's patch, and the energy of the patches; adds their stiffness to the blocks."""
        patches = self._patches
        assert patches is not None
        theta, slope = np.empty(len(self.nodes)), np.empty((len(self.nodes), 12))
        for turned, factor in ((True, warped), (False, exact)):
            if factor != 0.0 or not turned:
                kernels.dilations(
                    self._batches, self.law_codes, self.nodes, self._lanes, self.volumes, self.element.gradients, x,
                    turned, theta, slope, self._work[0]
                )  # fmt: skip
            if factor != 0.0:
                kernels.add_patch_stiffness(
                    patches.begin, patches.node_begin, patches.local, slope, patches.modulus, patches.volume,
                    self._patch_slots, self._patch_slot_begin, factor, blocks, self._work[0]
                )  # fmt: skip
        mean = np.add.reduceat(self.volumes * theta, patches.begin[:-1]) / patches.volume
        energy = 0.5 * float(np.sum(patches.modulus * patches.volume * mean * mean))
        return (patches.modulus * mean)[patches.element_patch], energy

    def embed(self, points: ArrayLike, max_distance: float | None = None) -> tuple[Ids, Array]:
        """See `Body.embed`."""
        embedding = Embedding.of(self.mesh, points, max_distance)
        if self.order == 1:
            return embedding.nodes.astype(np.int64), embedding.weights
        nodes, weights = embedding.quadratic(self.nodes[np.argsort(self.tet_ids)][:, 4:])
        return nodes.astype(np.int64), weights

    def contains(self, points: Array) -> NDArray[np.bool_]:
        """See `Body.contains`."""
        return np.asarray(containing(self.mesh, np.ascontiguousarray(points)) >= 0)

    def deformation_gradients(self, x: Array) -> Array:
        """F at every integration point, [m, q, 3, 3], elements in the order of the mesh."""
        corners = self.corner_gradients.reshape(-1, 4, 3)
        F = np.einsum("eai,qak,ekj->eqij", x[self.nodes], self.element.gradients, corners)
        return np.asarray(F[np.argsort(self.tet_ids)])

    def __repr__(self) -> str:
        laws = ", ".join(map(repr, self.laws))
        return f"TetBody({len(self.nodes)} tets of order {self.order}, {self.node_count} nodes, {laws})"

    def surface(self) -> CarriedSurface:
        """See `Body.surface`; corners only."""
        return CarriedSurface.of_nodes(self.mesh.boundary_triangles()[0])

    def fields(self, x: ArrayLike) -> Fields:
        """See `Body.fields`."""
        return tet_fields(self, self._positions(x))

    def patch_dilations(self, theta: Array) -> Array:
        """Dilation [m] of every element's patch, from those of the elements [m], in the order of the mesh; without patches
        the elements' own."""
        if self._patches is None:
            return theta
        own = self.volumes * theta[self.tet_ids]
        mean = np.add.reduceat(own, self._patches.begin[:-1]) / self._patches.volume
        return np.asarray(mean[self._patches.element_patch][np.argsort(self.tet_ids)])

    def discretization_error(self) -> DiscretizationError:
        """How much softer the body is with ten-node tets than with four-node ones, under unit loads at rest."""
        return discretization_error(self)

    def with_order(self, order: Literal[1, 2]) -> TetBody:
        """The same body with four-node or ten-node tets."""
        twin = object.__new__(TetBody)  # whoever made this one has been told of its mesh and law
        twin._build(**{**self._recipe, "order": order, "volume": "elements" if order == 2 else self.volume})
        return twin

    def inverted_count(self, x: Array) -> int:
        """See `Body.inverted_count`: tets by their corners; none where the law survives it."""
        if all(law.survives_inversion for law in self.laws):
            return 0
        return int(kernels.count_inverted(self.mesh.tets, x))  # whose corners are in the order of a positive volume

    def inverted_elements(self, x: Array) -> Ids:
        """See `Body.inverted_elements`; numbers of tets of the mesh."""
        gradients = self.deformation_gradients(self._positions(x))
        return np.flatnonzero((np.linalg.det(gradients) <= 0).any(axis=1))


def _summed(places: NDArray[Any], values: Array, count: int) -> Array:
    """Sum of the values that go to each place, [count]."""
    return np.asarray(np.bincount(places.ravel(), values.ravel(), minlength=count), dtype=float)


def _laws_by_region(law: Laws, labels: NDArray[np.integer]) -> tuple[list[Law], Ids]:
    """The distinct laws, and the number of the law of every tet."""
    if isinstance(law, Law):
        return [law], np.zeros(len(labels), np.int64)
    if not isinstance(law, Mapping) or not all(isinstance(one, Law) for one in law.values()):
        raise MaterialError(
            f"law is {law!r}", remedy="give a law such as Corotational(E=150e3, nu=0.45), or one per label"
        )
    missing = sorted({int(label) for label in np.unique(labels)} - set(law))
    if missing:
        raise MaterialError(
            f"the tets with label {missing[0]} have no law",
            remedy=f"give one per label; the mesh has {np.unique(labels)}",
        )
    warn_of_unused(law, labels, "a law", "tet")
    numbers = {label: k for k, label in enumerate(law)}
    return list(law.values()), np.array([numbers[int(label)] for label in labels], np.int64)


def _density_by_element(density: float | Mapping[int, float], labels: NDArray[np.integer]) -> Array:
    values = density if isinstance(density, Mapping) else {int(label): density for label in np.unique(labels)}
    missing = sorted({int(label) for label in np.unique(labels)} - set(values))
    if missing:
        raise MaterialError(f"the tets with label {missing[0]} have no density", remedy="give one per label [kg/m^3]")
    for label, value in values.items():
        found = as_numbers(value)
        if found.shape != () or not (np.isfinite(found) and found > 0):
            raise MaterialError(
                f"density of label {label} is {value!r} kg/m^3", remedy="give a positive density (silicone: 1070)"
            )
    return np.array([float(values[int(label)]) for label in labels])
