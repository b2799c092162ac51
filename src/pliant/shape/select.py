"""Regions: predicates on points that combine with `&`, `|`, `-` and `~`, to choose the nodes of a mesh.

>>> import numpy as np
>>> region = Box((0, 0, 0), (1, 1, 1)) - Ball((0, 0, 0), 0.5)
>>> region(np.array([[0.1, 0.1, 0.1], [0.9, 0.9, 0.9]]))
array([False,  True])
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import as_numbers, number, whole
from pliant.errors import InputError
from pliant.shape.mesh import NodeSet, RegionLike, vector
from pliant.shape.topology import FloatArray

Mask: TypeAlias = NDArray[np.bool_]

SLACK = 1e-9
"""Regions are closed and a little larger, by this share of the mesh's diameter, so that rounding loses no node."""


class Region(ABC):
    """A set of points in space. `region(points)` asks plain points, `region.of(mesh)` asks the nodes of a mesh."""

    @abstractmethod
    def mask(self, points: FloatArray, slack: float, mesh: NodeSet | None) -> Mask:
        """Which points (n, 3) [m] are inside, grown by `slack` [m]; `mesh` when they are its nodes."""

    def __call__(self, points: ArrayLike) -> Mask:
        return self.mask(np.atleast_2d(np.asarray(points, dtype=np.float64)), 0.0, None)

    def of(self, mesh: NodeSet) -> Mask:
        """Which nodes of the mesh are inside, shape (n,)."""
        return self.mask(mesh.nodes, SLACK * mesh.diameter, mesh)

    def __and__(self, other: RegionLike) -> Region:
        return _Combined(self, as_region(other), np.logical_and)

    def __or__(self, other: RegionLike) -> Region:
        return _Combined(self, as_region(other), np.logical_or)

    def __sub__(self, other: RegionLike) -> Region:
        return _Combined(self, ~as_region(other), np.logical_and)

    def __invert__(self) -> Region:
        return _Outside(self)


@dataclass(frozen=True)
class _Combined(Region):
    a: Region
    b: Region
    combine: Callable[[Mask, Mask], Mask]

    def mask(self, points: FloatArray, slack: float, mesh: NodeSet | None) -> Mask:
        return self.combine(self.a.mask(points, slack, mesh), self.b.mask(points, slack, mesh))


@dataclass(frozen=True)
class _Outside(Region):
    inner: Region

    def mask(self, points: FloatArray, slack: float, mesh: NodeSet | None) -> Mask:
        return ~self.inner.mask(points, slack, mesh)


@dataclass(frozen=True)
class Box(Region):
    """Points between `lower` and `upper` [m]; use -inf and inf for open sides."""

    lower: ArrayLike
    upper: ArrayLike

    def mask(self, points: FloatArray, slack: float, mesh: NodeSet | None) -> Mask:
        low, high = as_numbers(self.lower), as_numbers(self.upper)
        if low.shape != (3,) or high.shape != (3,) or not (low <= high).all():
            raise InputError(f"box from {low} to {high}", remedy="give two corners (3,), lower first")
        return np.asarray(((points >= low - slack) & (points <= high + slack)).all(axis=1))


@dataclass(frozen=True)
class Ball(Region):
    """Points within `radius` [m] of `center` (3,) [m]."""

    center: ArrayLike
    radius: float

    def mask(self, points: FloatArray, slack: float, mesh: NodeSet | None) -> Mask:
        radius = number(self.radius, "ball radius", unit="m", least=0.0)
        distance = np.linalg.norm(points - vector(self.center, "ball center"), axis=1)
        return np.asarray(distance <= radius + slack)


@dataclass(frozen=True)
class HalfSpace(Region):
    """Points on or behind the plane through `point` [m]: (x - point) . normal <= 0."""

    point: ArrayLike
    normal: ArrayLike

    def mask(self, points: FloatArray, slack: float, mesh: NodeSet | None) -> Mask:
        n = vector(self.normal, "half-space normal")
        height = (points - vector(self.point, "half-space point")) @ n
        return np.asarray(height <= slack * np.linalg.norm(n))


@dataclass(frozen=True)
class Near(Region):
    """The `count` nodes nearest to `point` [m]; ties go to the lower index."""

    point: ArrayLike
    count: int = 1

    def mask(self, points: FloatArray, slack: float, mesh: NodeSet | None) -> Mask:
        whole(self.count, "count of nearest nodes", most=len(points))
        distance = np.linalg.norm(points - vector(self.point, "near"), axis=1)
        chosen = np.zeros(len(points), dtype=bool)
        chosen[np.argsort(distance, kind="stable")[: self.count]] = True
        return chosen


@dataclass(frozen=True)
class OnSurface(Region):
    """Nodes on the boundary of the mesh."""

    def mask(self, points: FloatArray, slack: float, mesh: NodeSet | None) -> Mask:
        return _chosen(_require_mesh(mesh, "OnSurface")._surface_nodes(), len(points))


@dataclass(frozen=True)
class Labelled(Region):
    """Nodes of the cells with a region label."""

    label: int

    def mask(self, points: FloatArray, slack: float, mesh: NodeSet | None) -> Mask:
        label = whole(self.label, "label", least=-(2**31))
        return _chosen(_require_mesh(mesh, "Labelled")._labelled_nodes(label), len(points))


@dataclass(frozen=True)
class Satisfying(Region):
    """Points for which a function points (n, 3) -> bool (n,) says yes."""

    predicate: Callable[[FloatArray], Any]

    def mask(self, points: FloatArray, slack: float, mesh: NodeSet | None) -> Mask:
        answer = np.asarray(self.predicate(points))
        if answer.shape != (len(points),) or answer.dtype != bool:
            raise InputError(
                f"the region function returned shape {answer.shape}, type {answer.dtype}",
                remedy=f"return one bool per point, shape ({len(points)},)",
            )
        return answer


def as_region(region: RegionLike) -> Region:
    """A `Region` as it is, a callable wrapped into one."""
    if isinstance(region, Region):
        return region
    if callable(region):
        return Satisfying(region)
    raise InputError(f"{region!r} is not a region", remedy="give a Region or a function points -> bool")


def conditions(
    region: RegionLike | None,
    *,
    limits: Mapping[str, tuple[float | None, float | None]],
    box: tuple[ArrayLike, ArrayLike] | None,
    ball: tuple[ArrayLike, float] | None,
    surface: bool | None,
    label: int | None,
) -> list[Region]:
    """The keyword arguments of `Mesh.where` as regions to intersect."""
    low = [_limit(limits[axis][0], f"{axis}_above", -np.inf) for axis in "xyz"]
    high = [_limit(limits[axis][1], f"{axis}_below", np.inf) for axis in "xyz"]
    found: list[Region] = []
    if region is not None:
        found.append(as_region(region))
    if np.isfinite(low).any() or np.isfinite(high).any():
        found.append(Box(low, high))
    for name, pair, kind in (("box", box, Box), ("ball", ball, Ball)):
        if pair is not None:
            if not isinstance(pair, (tuple, list, np.ndarray)) or len(pair) != 2:
                raise InputError(f"{name} is {pair!r}", remedy="give box=(lower, upper), ball=(center, radius) [m]")
            found.append(kind(*pair))
    if surface is not None:
        found.append(OnSurface() if surface else ~OnSurface())
    if label is not None:
        found.append(Labelled(label))
    return found


def _limit(value: float | None, name: str, none: float) -> float:
    """A limit [m] of a coordinate, infinite where there is none."""
    if value is None:
        return none
    found = as_numbers(value)
    if found.shape != () or np.isnan(found):
        raise InputError(f"{name} is {value!r}", remedy="give a number in metres")
    return float(found)


def selected(mesh: NodeSet, regions: Sequence[Region], near: ArrayLike | None) -> NDArray[np.intp]:
    """Sorted indices of the nodes in all regions, or the one of them nearest to `near` [m].

    An empty selection is an error that shows where the mesh is.
    """
    if not regions and near is None:
        raise InputError("where() was given no condition", remedy="give at least one, such as x_below=5e-3")
    inside = np.ones(len(mesh.nodes), dtype=bool)
    for region in regions:
        inside &= region.of(mesh)
    chosen = np.flatnonzero(inside)
    if len(chosen) == 0:
        ranges = ", ".join(
            f"{axis} {low:.4g} ... {high:.4g}" for axis, (low, high) in zip("xyz", mesh.bounds.T, strict=True)
        )
        raise InputError(
            f"no node matches the selection {', '.join(map(str, regions))}",
            remedy=f"the mesh spans {ranges} m: choose a region inside, or check the units",
        )
    if near is None:
        return chosen
    return chosen[Near(near)(mesh.nodes[chosen])]


def _require_mesh(mesh: NodeSet | None, name: str) -> NodeSet:
    if mesh is None:
        raise InputError(f"{name} knows nodes of a mesh, not points", remedy="ask it with mesh.where(...)")
    return mesh


def _chosen(ids: NDArray[np.intp], count: int) -> Mask:
    mask = np.zeros(count, dtype=bool)
    mask[ids] = True
    return mask
