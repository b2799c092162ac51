"""SurfaceMesh: triangles that bound a solid, or any other surface; immutable."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import InputError, OpenSurfaceError, SelfIntersectionError, SurfaceError
from pliant.shape import topology
from pliant.shape.mesh import Mesh, checked_cells, checked_nodes, coinciding, some, warn_of_implausible_size
from pliant.shape.topology import FloatArray, IntArray

if TYPE_CHECKING:
    from pliant.shape.tetmesh import TetMesh
    from pliant.shape.tree import TriangleTree

_EDGES = np.array([[0, 1], [1, 2], [2, 0]])


@dataclass(frozen=True, eq=False, init=False, repr=False)
class SurfaceMesh(Mesh):
    """Nodes (n, 3) [m] and triangles (t, 3), counterclockwise seen from outside.

    The surface of a solid is closed, its outer shells look outward and its cavities inward, so that `volume` is that
    of the material. Open surfaces are allowed (a patch to draw or to collide with); what needs a solid asks
    `require_closed()`. `node_ids` (n,) are the nodes' indices in the volume mesh that the surface was taken from.
    """

    nodes: FloatArray
    triangles: IntArray
    node_ids: NDArray[np.intp] | None

    def __init__(self, nodes: ArrayLike, triangles: ArrayLike, *, node_ids: ArrayLike | None = None) -> None:
        x = checked_nodes(nodes)
        t = checked_cells(triangles, 3, len(x), "triangle")
        ids = None if node_ids is None else np.array(node_ids, dtype=np.intp)
        if ids is not None:
            if ids.shape != (len(x),):
                raise InputError(f"node_ids have shape {ids.shape}", remedy=f"give one per node, ({len(x)},)")
            ids.setflags(write=False)
        object.__setattr__(self, "nodes", x)
        object.__setattr__(self, "triangles", t)
        object.__setattr__(self, "node_ids", ids)
        _require_areas(self)
        _require_distinct(t)
        warn_of_implausible_size(self.size)

    def __repr__(self) -> str:
        size = " x ".join(f"{s:.3g}" for s in self.size)
        kind = "closed" if self.is_closed else "open"
        return f"SurfaceMesh({len(self.nodes)} nodes, {len(self.triangles)} triangles, {kind}, {size} m)"

    @classmethod
    def read(cls, path: str | PathLike[str], unit: str | float = "m") -> SurfaceMesh:
        """The surface in a file, scaled from `unit` to metres; of a volume file its boundary."""
        from pliant.shape.files import read

        mesh = read(path, unit)
        return mesh if isinstance(mesh, SurfaceMesh) else mesh.surface()

    @classmethod
    def cleaned(cls, nodes: ArrayLike, triangles: ArrayLike, *, merge: float = 0.0) -> SurfaceMesh:
        """A surface from triangle soup: nodes within `merge` [m] joined; flat, repeated and loose parts dropped."""
        x = checked_nodes(nodes)
        t = np.asarray(triangles)
        size = float(np.linalg.norm(np.ptp(x, axis=0)))
        t = coinciding(x, max(merge, 1e-12 * size))[t]
        t = t[(np.diff(np.sort(t, axis=1), axis=1) > 0).all(axis=1)]
        t = t[_areas(x, t) > _flat_areas(x, t)]
        first, _ = topology.unique_rows(np.sort(t, axis=1))
        used, compact = np.unique(t[np.sort(first)], return_inverse=True)
        return cls(x[used], compact.reshape(-1, 3))

    def write(self, path: str | PathLike[str], unit: str | float = "m") -> None:
        """Write the surface; the ending chooses the format (.stl, .obj, .ply, .vtk, .vtu)."""
        from pliant.shape.files import write

        write(self, path, unit)

    @cached_property
    def _area_vectors(self) -> FloatArray:
        a, b, c = self.nodes[self.triangles].transpose(1, 0, 2)
        return np.cross(b - a, c - a) / 2.0

    @property
    def areas(self) -> FloatArray:
        """Area of each triangle [m^2], shape (t,)."""
        return np.asarray(np.linalg.norm(self._area_vectors, axis=1))

    @property
    def area(self) -> float:
        """Area of the surface [m^2]."""
        return float(self.areas.sum())

    @property
    def normals(self) -> FloatArray:
        """Unit normal of each triangle, shape (t, 3)."""
        return self._area_vectors / self.areas[:, None]

    @property
    def volume(self) -> float:
        """Enclosed volume [m^3], cavities subtracted; negative when the surface is inside out."""
        self.require_closed()
        # Relative to the middle, so that a part far from the origin loses no digits.
        middle = self.nodes[self.triangles].mean(axis=1) - self.bounds.mean(axis=0)
        return float(np.einsum("ij,ij->", middle, self._area_vectors)) / 3.0

    def edges(self) -> IntArray:
        """Edges (ne, 2) as node indices, lower first, each once."""
        return topology.unique_edges(self.triangles, _EDGES)[0]

    @cached_property
    def _open_edges(self) -> IntArray:
        """Directed edges (k, 2) that no triangle runs through the other way as often."""
        directed = self.triangles[:, _EDGES].reshape(-1, 2)
        _, group = topology.unique_rows(np.sort(directed, axis=1))
        balance = np.bincount(group, weights=np.where(directed[:, 0] < directed[:, 1], 1.0, -1.0))
        return np.asarray(directed[balance[group] != 0.0])

    @property
    def is_closed(self) -> bool:
        """Whether every edge is passed in both directions equally often: no hole and consistent orientation."""
        return len(self._open_edges) == 0

    def require_closed(self) -> SurfaceMesh:
        """This surface if it is closed, else an `OpenSurfaceError` that names open edges."""
        if not self.is_closed:
            edge = self._open_edges[0]
            place = self.nodes[edge].mean(axis=0)
            raise OpenSurfaceError(
                f"{len(self._open_edges)} edges of the surface are open or border a flipped triangle, "
                f"for example between nodes {edge[0]} and {edge[1]} at {np.round(place, 6).tolist()} m",
                remedy="close the holes, merge double nodes with SurfaceMesh.cleaned(..., merge=...), "
                "or make orientations agree with oriented()",
                edges=self._open_edges,
            )
        return self

    def components(self) -> IntArray:
        """Number of the connected part of each node, shape (n,)."""
        return topology.connected_parts(len(self.nodes), self.triangles)

    def parts(self) -> list[SurfaceMesh]:
        """The connected parts as surfaces of their own: outer shells and cavities."""
        owner = self.components()[self.triangles[:, 0]]
        return [self._kept(owner == k) for k in np.unique(owner)]

    def flipped(self) -> SurfaceMesh:
        """The same surface, inside out."""
        return SurfaceMesh(self.nodes, self.triangles[:, ::-1], node_ids=self.node_ids)

    def oriented(self) -> SurfaceMesh:
        """Neighbours made to agree, outer shells outward, shells inside others inward (cavities), and so on."""
        from pliant.shape.orientation import oriented_triangles

        return SurfaceMesh(self.nodes, oriented_triangles(self), node_ids=self.node_ids)

    @cached_property
    def tree(self) -> TriangleTree:
        """Search tree over the triangles, for nearest points and winding numbers."""
        from pliant.shape.tree import TriangleTree

        return TriangleTree.of(self.nodes, self.triangles)

    def crossing(self) -> tuple[int, int] | None:
        """Two triangles that pass through each other, or None; touching is not crossing."""
        from pliant.shape.crossing import first_crossing

        return first_crossing(self)

    def require_simple(self) -> SurfaceMesh:
        """This surface if it does not pass through itself, else a `SelfIntersectionError` that names two triangles."""
        pair = self.crossing()
        if pair is not None:
            place = self.nodes[self.triangles[pair[0]]].mean(axis=0)
            raise SelfIntersectionError(
                f"triangles {pair[0]} and {pair[1]} pass through each other near {np.round(place, 6).tolist()} m",
                remedy="join overlapping parts with union(*surface.parts()) or repair the surface",
                triangles=pair,
            )
        return self

    def filled(self, size: float, method: str = "stuffing", **options: Any) -> TetMesh:
        """The solid inside as tets with edges of about `size` [m]; see `pliant.shape.fill`."""
        from pliant.shape.fill import filled

        return filled(self, size, method, **options)

    def __or__(self, other: SurfaceMesh) -> SurfaceMesh:
        from pliant.shape.solids import union

        return union(self, other)

    __add__ = __or__

    def __and__(self, other: SurfaceMesh) -> SurfaceMesh:
        from pliant.shape.solids import intersection

        return intersection(self, other)

    def __sub__(self, other: SurfaceMesh) -> SurfaceMesh:
        from pliant.shape.solids import difference

        return difference(self, other)

    def _kept(self, chosen: NDArray[np.bool_]) -> SurfaceMesh:
        used, triangles = np.unique(self.triangles[chosen], return_inverse=True)
        ids = None if self.node_ids is None else self.node_ids[used]
        return SurfaceMesh(self.nodes[used], triangles.reshape(-1, 3), node_ids=ids)

    def _moved(self, nodes: FloatArray, *, mirrored: bool) -> SurfaceMesh:
        return SurfaceMesh(nodes, self.triangles[:, ::-1] if mirrored else self.triangles, node_ids=self.node_ids)

    def _surface_nodes(self) -> NDArray[np.intp]:
        return np.arange(len(self.nodes))

    def _labelled_nodes(self, label: int) -> NDArray[np.intp]:
        raise InputError(f"a surface has no region labels (asked for {label})", remedy="select by place instead")


def _areas(nodes: FloatArray, triangles: NDArray[Any]) -> FloatArray:
    a, b, c = nodes[triangles].transpose(1, 0, 2)
    return np.asarray(np.linalg.norm(np.cross(b - a, c - a), axis=1)) / 2.0


def _flat_areas(nodes: FloatArray, triangles: NDArray[Any]) -> FloatArray:
    """Area below which each triangle counts as degenerate [m^2]: 1e-12 of its longest edge squared."""
    corners = nodes[triangles]
    edges = corners[:, _EDGES[:, 0]] - corners[:, _EDGES[:, 1]]
    return np.asarray(1e-12 * (edges**2).sum(axis=2).max(axis=1))


def _require_areas(surface: SurfaceMesh) -> None:
    flat = np.flatnonzero(~(surface.areas > _flat_areas(surface.nodes, surface.triangles)))
    if len(flat):
        raise SurfaceError(
            f"triangle {flat[0]} has no area ({len(flat)} such triangles)",
            remedy="drop them with SurfaceMesh.cleaned(...)",
            triangles=flat,
        )


def _require_distinct(triangles: IntArray) -> None:
    first, group = topology.unique_rows(np.sort(triangles, axis=1))
    if len(first) < len(triangles):
        again = np.flatnonzero(first[group] != np.arange(len(triangles)))
        raise SurfaceError(
            f"triangles {some(again)} repeat others, such as {first[group[again[0]]]}",
            remedy="drop them with SurfaceMesh.cleaned(...)",
            triangles=again,
        )
