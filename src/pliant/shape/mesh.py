"""What meshes and lattices share: nodes, how they are selected, and (of meshes) how they are moved."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import as_array, as_numbers, number
from pliant.errors import EmptyMeshError, InputError, MeshError, PliantWarning
from pliant.shape.topology import FloatArray, IntArray

if TYPE_CHECKING:
    from typing_extensions import Self

    from pliant.shape.select import Region

RegionLike: TypeAlias = "Region | Callable[[FloatArray], Any]"

PLAUSIBLE_SIZE = (1e-3, 10.0)
"""A soft robot is between 1 mm and 10 m wide; anything else is probably in other units than metres."""


FARTHEST = 1e9
"""Coordinates beyond this [m] are no places: their squares and cubes would not be numbers."""


class NodeSet(ABC):
    """Nodes (n, 3) [m] of something made of cells, to be measured and selected by place; base of meshes and lattices."""

    nodes: FloatArray

    @abstractmethod
    def _surface_nodes(self) -> NDArray[np.intp]:
        """Indices of the nodes on the surface."""

    @abstractmethod
    def _labelled_nodes(self, label: int) -> NDArray[np.intp]:
        """Indices of the nodes of the cells with this label."""

    @property
    def bounds(self) -> FloatArray:
        """Lower and upper corner of the bounding box [m], shape (2, 3)."""
        return np.stack([self.nodes.min(axis=0), self.nodes.max(axis=0)])

    @property
    def size(self) -> FloatArray:
        """Edge lengths of the bounding box [m], shape (3,)."""
        return np.asarray(np.ptp(self.nodes, axis=0))

    @property
    def diameter(self) -> float:
        """Diagonal of the bounding box [m]: the length that tolerances are relative to."""
        return float(np.linalg.norm(self.size))

    def where(
        self,
        region: RegionLike | None = None,
        *,
        x_below: float | None = None,
        x_above: float | None = None,
        y_below: float | None = None,
        y_above: float | None = None,
        z_below: float | None = None,
        z_above: float | None = None,
        box: tuple[ArrayLike, ArrayLike] | None = None,
        ball: tuple[ArrayLike, float] | None = None,
        near: ArrayLike | None = None,
        surface: bool | None = None,
        label: int | None = None,
    ) -> NDArray[np.intp]:
        """Sorted indices of the nodes that meet *all* conditions given.

        `region` is a `Region` (see `pliant.shape.select`) or a callable points (n, 3) -> bool (n,). Limits are
        inclusive, with a slack of 1e-9 of the mesh's diameter. `box` is (lower, upper) [m], `ball` is (center,
        radius) [m], `surface` takes nodes on (or off) the surface, `label` the nodes of the cells with that label.
        `near` (3,) [m] leaves, of the nodes that meet the other conditions, the one nearest to that point.
        A selection that matches nothing raises `InputError`.
        """
        from pliant.shape import select

        limits = {"x": (x_above, x_below), "y": (y_above, y_below), "z": (z_above, z_below)}
        conditions = select.conditions(region, limits=limits, box=box, ball=ball, surface=surface, label=label)
        return select.selected(self, conditions, near)


class Mesh(NodeSet):
    """Nodes (n, 3) [m] and the cells between them; base of `TetMesh` and `SurfaceMesh`, which are final.

    Meshes are immutable: their arrays are read-only and every method returns a new mesh.
    """

    @abstractmethod
    def _moved(self, nodes: FloatArray, *, mirrored: bool) -> Self:
        """The same cells on other nodes; `mirrored` says that the motion turned the cells inside out."""

    def translated(self, offset: ArrayLike) -> Self:
        """Moved by `offset` (3,) [m]."""
        return self._moved(self.nodes + vector(offset, "offset"), mirrored=False)

    def scaled(self, factor: float | ArrayLike, *, center: ArrayLike = (0.0, 0.0, 0.0)) -> Self:
        """Stretched by one factor or by one per axis about `center` [m]; 1e-3 turns millimetres into metres."""
        factors = as_numbers(factor)
        if factors.shape not in ((), (3,)):
            raise InputError(f"factor is {factor!r}", remedy="give one number, or three")
        return self.transformed(np.diag(np.broadcast_to(factors, (3,))), center=center)

    def rotated(self, axis: ArrayLike, angle: float, *, center: ArrayLike = (0.0, 0.0, 0.0)) -> Self:
        """Turned by `angle` [rad] about the line through `center` [m] along `axis` (right hand)."""
        a = vector(axis, "axis")
        length = float(np.linalg.norm(a))
        if length == 0.0:
            raise InputError("rotation axis has length zero", remedy="give a direction such as (0, 0, 1)")
        x, y, z = a / length
        angle = number(angle, "angle", unit="rad")
        cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
        # Rodrigues' formula.
        rotation = np.eye(3) + np.sin(angle) * cross + (1.0 - np.cos(angle)) * cross @ cross
        return self.transformed(rotation, center=center)

    def transformed(self, matrix: ArrayLike, *, center: ArrayLike = (0.0, 0.0, 0.0)) -> Self:
        """Mapped by x -> A (x - center) + center with A (3, 3), or by a homogeneous matrix (4, 4).

        A reflection also reorders the corners of the cells, so that volumes stay positive and normals stay outward.
        """
        m = as_numbers(matrix)
        if m.shape not in ((3, 3), (4, 4)) or not np.isfinite(m).all():
            raise InputError(
                f"transformation has shape {m.shape} or is not finite", remedy="give a finite (3, 3) or (4, 4) matrix"
            )
        a, offset = m[:3, :3], m[:3, 3] if m.shape == (4, 4) else np.zeros(3)
        det = float(np.linalg.det(a))
        if not (1e-60 < abs(det) < 1e60):
            raise InputError("transformation is singular", remedy="use nonzero scale factors", matrix=m)
        c = vector(center, "center")
        return self._moved((self.nodes - c) @ a.T + c + offset, mirrored=det < 0.0)


def vector(value: ArrayLike, name: str) -> FloatArray:
    """`value` as three finite floats, or an `InputError` that names it."""
    v = as_numbers(value)
    if v.shape != (3,) or not np.isfinite(v).all():
        raise InputError(f"{name} is {value!r}", remedy="give three finite numbers (x, y, z)", name=name)
    return v


def checked_nodes(nodes: ArrayLike) -> FloatArray:
    """Nodes as a finite read-only (n, 3) float64 copy, or an error that names the offending node."""
    x = np.ascontiguousarray(as_numbers(nodes))
    if x.size == 0:
        raise EmptyMeshError("the mesh has no nodes", remedy="check the file or the arrays it was built from")
    if x.ndim != 2 or x.shape[1] != 3:
        raise InputError(f"nodes have shape {x.shape}", remedy="give an (n, 3) array of coordinates in metres")
    bad = np.flatnonzero(~(np.abs(x) < FARTHEST).all(axis=1))
    if len(bad):
        raise MeshError(
            f"node {bad[0]} is at {x[bad[0]]} ({len(bad)} such nodes)",
            remedy=f"remove or repair nodes whose coordinates are not finite, or beyond {FARTHEST:g} m",
            nodes=bad,
        )
    x.setflags(write=False)
    return x


def checked_cells(cells: ArrayLike, corners: int, node_count: int, noun: str) -> IntArray:
    """Cells as a read-only (m, corners) int32 copy whose indices exist, or an error that names the offending cell."""
    c = as_array(cells)
    if c.size == 0:
        raise EmptyMeshError(f"the mesh has no {noun}s", remedy="check the file or the arrays it was built from")
    if c.ndim != 2 or c.shape[1] != corners or not np.issubdtype(c.dtype, np.integer):
        raise InputError(
            f"{noun}s have shape {c.shape} and type {c.dtype}", remedy=f"give an (m, {corners}) array of node indices"
        )
    wrong = np.flatnonzero(((c < 0) | (c >= node_count)).any(axis=1))
    if len(wrong):
        hint = " (indices count from 0)" if c.min() == 1 and c.max() == node_count else ""
        raise MeshError(
            f"{noun} {wrong[0]} refers to nodes {c[wrong[0]].tolist()} but there are {node_count}",
            remedy=f"use indices 0 ... {node_count - 1}{hint}",
            cells=wrong,
        )
    repeated = np.flatnonzero((np.diff(np.sort(c, axis=1), axis=1) == 0).any(axis=1))
    if len(repeated):
        raise MeshError(
            f"{noun} {repeated[0]} uses a node twice: {c[repeated[0]].tolist()}",
            remedy=f"remove such {noun}s, for example with cleaned(...)",
            cells=repeated,
        )
    c = np.array(c, dtype=np.int32, order="C")
    c.setflags(write=False)
    return c


def warn_of_implausible_size(size: FloatArray) -> None:
    """Warn when a bounding box is not one of a soft robot in metres."""
    width = float(np.max(size))
    low, high = PLAUSIBLE_SIZE
    if width > high:
        hint = "if it is in millimetres read it with unit='mm' or use scaled(1e-3)"
        warnings.warn(f"this mesh is {width:.3g} m wide; {hint}", PliantWarning, stacklevel=5)
    elif width < low:
        hint = "if its numbers are not metres read it with the right unit or use scaled(...)"
        warnings.warn(f"this mesh is {width:.3g} m wide; {hint}", PliantWarning, stacklevel=5)


def coinciding(nodes: FloatArray, tolerance: float) -> NDArray[np.intp]:
    """For each node the lowest index of those at the same place (coordinates rounded to `tolerance`), shape (n,)."""
    from pliant.shape.topology import unique_rows

    lattice = np.round((nodes - nodes.min(axis=0)) / max(tolerance, 1e-300)).astype(np.int64)
    first, group = unique_rows(lattice)
    lowest = np.full(len(first), len(nodes), dtype=np.intp)
    np.minimum.at(lowest, group, np.arange(len(nodes)))
    return lowest[group]


def some(ids: Sequence[int] | NDArray[Any], limit: int = 5) -> str:
    """The first few of many ids as text: '3, 4, 5, ... (120 in all)'."""
    shown = ", ".join(str(int(i)) for i in ids[:limit])
    return shown if len(ids) <= limit else f"{shown}, ... ({len(ids)} in all)"
