"""TetMesh: a solid as tetrahedra, checked once when it is made and immutable from then on."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import as_array
from pliant.errors import DisconnectedMeshError, InputError, InvertedElementError, MeshError, PliantWarning
from pliant.shape import topology
from pliant.shape.mesh import Mesh, checked_cells, checked_nodes, coinciding, some, warn_of_implausible_size
from pliant.shape.topology import FloatArray, IntArray

if TYPE_CHECKING:
    from pliant.shape.quality import QualityReport
    from pliant.shape.surface import SurfaceMesh

FLATNESS = 1e-12
"""A tet is flat when its volume is below this share of its longest edge cubed."""


@dataclass(frozen=True, eq=False, init=False, repr=False)
class TetMesh(Mesh):
    """Nodes (n, 3) [m], tets (m, 4) with positive volumes, and one region label per tet (m,), 0 unless given.

    The constructor refuses what cannot be simulated (no tets, indices that do not exist, coordinates that are not
    finite, inverted or flat or repeated tets, nodes of no tet), naming the offender. It never reorients a tet unless
    asked to with `orient=True`. Several disconnected parts are allowed: see `components`. Coinciding nodes and an
    implausible size are warned about.

    >>> mesh = TetMesh([[0, 0, 0], [0.1, 0, 0], [0, 0.1, 0], [0, 0, 0.1]], [[0, 1, 2, 3]])
    >>> round(mesh.volume * 6e3, 12)
    1.0
    """

    nodes: FloatArray
    tets: IntArray
    labels: IntArray

    def __init__(
        self, nodes: ArrayLike, tets: ArrayLike, labels: ArrayLike | None = None, *, orient: bool = False
    ) -> None:
        x = checked_nodes(nodes)
        t = checked_cells(tets, 4, len(x), "tet")
        if orient:
            t = topology.oriented_tets(x, t)
            t.setflags(write=False)
        object.__setattr__(self, "nodes", x)
        object.__setattr__(self, "tets", t)
        object.__setattr__(self, "labels", _checked_labels(labels, len(t)))
        _require_positive_volumes(self)
        _require_distinct_tets(t)
        _require_used_nodes(len(x), t)
        _warn_of_coinciding_nodes(self)
        warn_of_implausible_size(self.size)

    def __repr__(self) -> str:
        size = " x ".join(f"{s:.3g}" for s in self.size)
        return f"TetMesh({len(self.nodes)} nodes, {len(self.tets)} tets, {size} m)"

    @classmethod
    def read(cls, path: str | PathLike[str], unit: str | float = "m", *, orient: bool = False) -> TetMesh | SurfaceMesh:
        """The mesh in a file, scaled from `unit` ("m", "mm", "cm", "um", "in" or metres per unit) to metres.

        A file with tetrahedra (or hexahedra, prisms, pyramids, which are split) gives a `TetMesh`. A file with
        triangles only gives a `SurfaceMesh`, whose `filled(size)` is the `TetMesh`; both have `filled`, so
        `TetMesh.read("part.stl", unit="mm").filled(size=4e-3)` works for either.
        """
        from pliant.shape.files import read

        return read(path, unit, orient=orient)

    @classmethod
    def cleaned(
        cls, nodes: ArrayLike, tets: ArrayLike, labels: ArrayLike | None = None, *, merge: float | None = None
    ) -> TetMesh:
        """A mesh from arrays with common faults, repaired: a remedy that one asks for, never a default.

        Merges nodes closer than `merge` [m] (None: none are merged), drops repeated and flat tets, orients the
        others and drops nodes of no tet.
        """
        x = checked_nodes(nodes)
        t = np.array(tets, dtype=np.int32)
        kept = _checked_labels(labels, len(t))
        if merge is not None:
            t = coinciding(x, merge)[t].astype(np.int32)
        usable = (np.diff(np.sort(t, axis=1), axis=1) > 0).all(axis=1)
        usable &= np.abs(topology.tet_volumes(x, t)) > _flat_volumes(x, t)
        t, kept = t[usable], kept[usable]
        first, _ = topology.unique_rows(np.sort(t, axis=1))
        first = np.sort(first)
        used, compact = np.unique(t[first], return_inverse=True)
        return cls(x[used], compact.reshape(-1, 4), kept[first], orient=True)

    def write(self, path: str | PathLike[str], unit: str | float = "m") -> None:
        """Write nodes, tets and labels; the ending chooses the format (.vtu, .vtk, .msh; .stl, .obj, .ply: surface)."""
        from pliant.shape.files import write

        write(self, path, unit)

    @cached_property
    def volumes(self) -> FloatArray:
        """Volume of each tet [m^3], shape (m,), all positive."""
        volumes = topology.tet_volumes(self.nodes, self.tets)
        volumes.setflags(write=False)
        return volumes

    @property
    def volume(self) -> float:
        """Volume of the whole mesh [m^3]."""
        return float(self.volumes.sum())

    def quality(self) -> QualityReport:
        """Angles, radius ratios and sizes of the tets; print it for a short table."""
        from pliant.shape.quality import QualityReport

        return QualityReport.of(self.nodes, self.tets)

    @cached_property
    def _boundary(self) -> tuple[IntArray, NDArray[np.intp]]:
        return topology.boundary_faces(self.tets)

    @cached_property
    def _edges(self) -> tuple[IntArray, IntArray]:
        return topology.unique_edges(self.tets, topology.TET_EDGES)

    def edges(self) -> IntArray:
        """Edges (ne, 2) as node indices, lower first, each once."""
        return self._edges[0]

    def quadratic_edges(self) -> tuple[IntArray, IntArray]:
        """Edges (ne, 2), and the edge ids (m, 6) of each tet in the order 01, 12, 20, 03, 13, 23.

        The node of edge e of a 10-node mesh is n + e; its place is `midpoints()[e]`.
        """
        return self._edges

    def midpoints(self) -> FloatArray:
        """Midpoints of the edges [m], shape (ne, 3), in the order of `edges()`."""
        return np.asarray(self.nodes[self._edges[0]].mean(axis=1))

    def mean_edge(self) -> float:
        """Mean edge length [m]."""
        a, b = self.nodes[self._edges[0]].transpose(1, 0, 2)
        return float(np.linalg.norm(a - b, axis=1).mean())

    @cached_property
    def boundary_nodes(self) -> NDArray[np.intp]:
        """Sorted indices of the nodes on the boundary."""
        return np.unique(self._boundary[0]).astype(np.intp)

    def boundary_triangles(self) -> tuple[IntArray, NDArray[np.intp]]:
        """Boundary faces as node indices of this mesh (b, 3), outward, and the tet behind each (b,)."""
        return self._boundary

    def surface(self) -> SurfaceMesh:
        """The boundary as a closed surface, outward; its `node_ids` are the indices of its nodes in this mesh."""
        from pliant.shape.surface import SurfaceMesh

        ids, triangles = np.unique(self._boundary[0], return_inverse=True)
        return SurfaceMesh(self.nodes[ids], triangles.reshape(-1, 3), node_ids=ids)

    def components(self) -> IntArray:
        """Number of the connected part of each node, shape (n,); all zero when the mesh is one piece."""
        return topology.connected_parts(len(self.nodes), self.tets)

    def refined(self, times: int = 1) -> TetMesh:
        """Each tet cut into eight, `times` times; same volume, labels inherited (Bey 1995, shortest diagonal)."""
        mesh = self
        for _ in range(times):
            nodes, tets = topology.refined_tets(mesh.nodes, mesh.tets)
            mesh = TetMesh(nodes, tets, np.repeat(mesh.labels, 8))
        return mesh

    def labelled(self, labels: ArrayLike) -> TetMesh:
        """The same mesh with other region labels (m,)."""
        return TetMesh(self.nodes, self.tets, labels)

    def part(self, *, label: int | None = None, component: int | None = None) -> TetMesh:
        """The tets with a region label, or of a connected component, as a mesh of its own."""
        keep = np.ones(len(self.tets), dtype=bool)
        if label is not None:
            keep &= self.labels == label
        if component is not None:
            keep &= self.components()[self.tets[:, 0]] == component
        if not keep.any():
            raise InputError(
                f"no tet has label {label}, component {component}",
                remedy=f"labels are {np.unique(self.labels).tolist()}, components 0 ... {self.components().max()}",
            )
        used, tets = np.unique(self.tets[keep], return_inverse=True)
        return TetMesh(self.nodes[used], tets.reshape(-1, 4), self.labels[keep])

    def filled(self, size: float, method: str = "stuffing", **options: Any) -> TetMesh:
        """A new mesh of the same solid with another element size [m]: the surface is kept, the inside is redone."""
        return self.surface().filled(size, method, **options)

    def _moved(self, nodes: FloatArray, *, mirrored: bool) -> TetMesh:
        return TetMesh(nodes, self.tets[:, [0, 1, 3, 2]] if mirrored else self.tets, self.labels)

    def _surface_nodes(self) -> NDArray[np.intp]:
        return self.boundary_nodes

    def _labelled_nodes(self, label: int) -> NDArray[np.intp]:
        return np.unique(self.tets[self.labels == label]).astype(np.intp)


def _checked_labels(labels: ArrayLike | None, count: int) -> IntArray:
    if labels is None:
        result = np.zeros(count, dtype=np.int32)
    else:
        given = as_array(labels)
        if given.shape != (count,) or not np.issubdtype(given.dtype, np.integer):
            raise InputError(
                f"labels have shape {given.shape} and type {given.dtype}",
                remedy=f"give one integer per tet, shape ({count},)",
            )
        result = given.astype(np.int32)
    result.setflags(write=False)
    return result


def _flat_volumes(nodes: FloatArray, tets: IntArray) -> FloatArray:
    """Volume below which each tet counts as flat [m^3], shape (m,)."""
    corners = nodes[tets]
    longest = np.max([((corners[:, a] - corners[:, b]) ** 2).sum(axis=1) for a, b in topology.TET_EDGES], axis=0)
    return FLATNESS * np.asarray(longest**1.5, dtype=np.float64)


def _require_positive_volumes(mesh: TetMesh) -> None:
    volumes = mesh.volumes
    flat = _flat_volumes(mesh.nodes, mesh.tets)
    if (volumes > flat).all():
        return
    inverted = np.flatnonzero(volumes < -flat)
    if len(inverted):
        first = inverted[0]
        raise InvertedElementError(
            f"tet {first} has volume {volumes[first]:.3g} m^3 ({len(inverted)} of {len(volumes)} tets are inverted)",
            remedy="make the mesh with orient=True, or check the units and the order of the corners",
            tets=inverted,
        )
    squashed = np.flatnonzero(volumes <= flat)
    first = squashed[0]
    raise InvertedElementError(
        f"tet {first} is flat: volume {volumes[first]:.3g} m^3 ({len(squashed)} such tets)",
        remedy="remove flat tets with TetMesh.cleaned(...)",
        tets=squashed,
    )


def _require_distinct_tets(tets: IntArray) -> None:
    first, group = topology.unique_rows(np.sort(tets, axis=1))
    if len(first) < len(tets):
        again = np.flatnonzero(first[group] != np.arange(len(tets)))
        raise MeshError(
            f"tet {again[0]} repeats tet {first[group[again[0]]]}",
            remedy="remove repeated tets with TetMesh.cleaned(...)",
            tets=again,
        )


def _require_used_nodes(count: int, tets: IntArray) -> None:
    loose = np.flatnonzero(np.bincount(tets.ravel(), minlength=count) == 0)
    if len(loose):
        raise DisconnectedMeshError(
            f"nodes {some(loose)} belong to no tet", remedy="drop them with TetMesh.cleaned(...)", nodes=loose
        )


def _warn_of_coinciding_nodes(mesh: TetMesh) -> None:
    twins = np.flatnonzero(coinciding(mesh.nodes, 1e-9 * mesh.diameter) != np.arange(len(mesh.nodes)))
    if len(twins):
        warnings.warn(
            f"nodes {some(twins)} lie where other nodes are, so the parts there are not joined; "
            "join them with TetMesh.cleaned(..., merge=1e-9)",
            PliantWarning,
            stacklevel=4,
        )
