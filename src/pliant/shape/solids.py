"""Constructive solids: closed surfaces to add, subtract and intersect before filling them with tetrahedra.

A robot with a cavity is a few lines:

>>> body = cylinder(0.02, 0.1) - cylinder(0.012, 0.08, at=(0, 0, 0.01))
>>> body.is_closed, len(body.parts())
(True, 2)

Booleans are computed by manifold3d, whose result is always closed and free of self-intersections. A cavity inside is a
part of its own that looks inward. Curved solids are inscribed polyhedra; `segments` says how many sides a circle has.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.checks import as_numbers, number
from pliant.errors import EmptyMeshError, InputError, SurfaceError
from pliant.shape.mesh import vector
from pliant.shape.surface import SurfaceMesh

SEGMENTS = 64
"""Sides of a circle: the inscribed polygon lacks 0.16 % of its area."""


def box(size: ArrayLike, *, at: ArrayLike = (0.0, 0.0, 0.0), centered: bool = False) -> SurfaceMesh:
    """A box with edges `size` (3,) [m], its lower corner (or its middle if `centered`) at `at` [m]."""
    lengths = vector(size, "size")
    _require_positive(size=float(lengths.min()))
    return _surface(_kernel().Manifold.cube(tuple(lengths), centered)).translated(at)


def cylinder(
    radius: float,
    length: float,
    *,
    top_radius: float | None = None,
    at: ArrayLike = (0.0, 0.0, 0.0),
    axis: ArrayLike = (0.0, 0.0, 1.0),
    segments: int = SEGMENTS,
) -> SurfaceMesh:
    """A cylinder, or a cone frustum with `top_radius`, from `at` [m] along `axis` for `length` [m]."""
    top = radius if top_radius is None else top_radius
    _require_positive(radius=radius, length=length)
    if not top >= 0.0:
        raise InputError(f"top_radius is {top}", remedy="give a length >= 0 in metres")
    made = _surface(_kernel().Manifold.cylinder(length, radius, top, segments))
    return made.transformed(_turn_z_to(vector(axis, "axis"))).translated(at)


def tube(
    inner: float,
    outer: float,
    length: float,
    *,
    at: ArrayLike = (0.0, 0.0, 0.0),
    axis: ArrayLike = (0.0, 0.0, 1.0),
    segments: int = SEGMENTS,
) -> SurfaceMesh:
    """A tube open at both ends, from `at` [m] along `axis` for `length` [m]."""
    _require_positive(inner=inner, outer=outer, length=length)
    if inner >= outer:
        raise InputError(f"inner radius {inner} m >= outer radius {outer} m", remedy="make the inner one smaller")
    hole = cylinder(inner, 1.5 * length, at=(0, 0, -0.25 * length), segments=segments)
    made = difference(cylinder(outer, length, segments=segments), hole)
    return made.transformed(_turn_z_to(vector(axis, "axis"))).translated(at)


def sphere(radius: float, *, at: ArrayLike = (0.0, 0.0, 0.0), segments: int = SEGMENTS) -> SurfaceMesh:
    """A ball around `at` [m]."""
    _require_positive(radius=radius)
    return _surface(_kernel().Manifold.sphere(radius, segments)).translated(at)


def extrusion(outline: ArrayLike, length: float, *, at: ArrayLike = (0.0, 0.0, 0.0)) -> SurfaceMesh:
    """A polygon (k, 2) [m] in the xy plane, extruded along z for `length` [m] and moved to `at` [m]."""
    points = as_numbers(outline)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 3 or not np.isfinite(points).all():
        raise InputError(f"outline has shape {points.shape}", remedy="give a (k, 2) array of at least three points")
    _require_positive(length=length)
    section = _kernel().CrossSection([points], _kernel().FillRule.NonZero)
    if section.area() <= 0.0:
        section = _kernel().CrossSection([points[::-1]], _kernel().FillRule.NonZero)
    return _surface(_kernel().Manifold.extrude(section, length)).translated(at)


def revolution(outline: ArrayLike, *, segments: int = SEGMENTS) -> SurfaceMesh:
    """A polygon (k, 2) of (radius, height) pairs [m], radius >= 0, turned about the z axis."""
    points = as_numbers(outline)
    if points.ndim != 2 or points.shape[1] != 2 or len(points) < 3 or not np.isfinite(points).all():
        raise InputError(f"outline has shape {points.shape}", remedy="give a (k, 2) array of at least three points")
    if points[:, 0].min() < 0.0:
        raise InputError(f"outline reaches radius {points[:, 0].min()}", remedy="keep radii >= 0")
    section = _kernel().CrossSection([points], _kernel().FillRule.EvenOdd)
    return _surface(_kernel().Manifold.revolve(section, segments))


def union(*solids: SurfaceMesh) -> SurfaceMesh:
    """The solid that is in any of them."""
    return _combined(solids, "Add", "union")


def difference(solid: SurfaceMesh, *others: SurfaceMesh) -> SurfaceMesh:
    """The first solid without the others."""
    return _combined((solid, *others), "Subtract", "difference")


def intersection(*solids: SurfaceMesh) -> SurfaceMesh:
    """The solid that is in all of them."""
    return _combined(solids, "Intersect", "intersection")


def _kernel() -> Any:
    # Imported when first used: `import pliant` stays fast.
    import manifold3d

    return manifold3d


def _combined(solids: tuple[SurfaceMesh, ...], operation: str, name: str) -> SurfaceMesh:
    if not solids:
        raise InputError(f"{name} of nothing", remedy="give at least one closed surface")
    manifolds = [_manifold(solid) for solid in solids]
    result = _kernel().Manifold.batch_boolean(manifolds, getattr(_kernel().OpType, operation))
    if result.is_empty():
        raise EmptyMeshError(f"the {name} of these solids is empty", remedy="check where they are and their units")
    return _surface(result)


def _manifold(surface: SurfaceMesh) -> Any:
    surface.require_closed()
    m3d = _kernel()
    mesh = m3d.Mesh64(vert_properties=np.array(surface.nodes), tri_verts=surface.triangles.astype(np.uint64))
    manifold = m3d.Manifold(mesh)
    if manifold.status() != m3d.Error.NoError:
        raise SurfaceError(
            f"this surface is not a solid ({manifold.status().name})",
            remedy="each edge must join exactly two triangles: repair it with SurfaceMesh.cleaned(...)",
        )
    return manifold


def _surface(manifold: Any) -> SurfaceMesh:
    mesh = manifold.to_mesh64()
    # Booleans leave hair-thin triangles and nodes of no triangle behind; neither bounds any volume.
    nodes, triangles = np.asarray(mesh.vert_properties)[:, :3], np.asarray(mesh.tri_verts).astype(np.int32)
    used, compact = np.unique(triangles, return_inverse=True)
    return SurfaceMesh(nodes[used], compact.reshape(-1, 3))


def _turn_z_to(axis: np.ndarray[Any, np.dtype[np.float64]]) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A rotation that takes the z axis to `axis`."""
    length = float(np.linalg.norm(axis))
    if length == 0.0:
        raise InputError("axis has length zero", remedy="give a direction such as (0, 0, 1)")
    z = axis / length
    helper = np.eye(3)[np.abs(z).argmin()]
    x = np.cross(helper, z) / np.linalg.norm(np.cross(helper, z))
    if np.allclose(z, (0, 0, 1)):
        x = np.array([1.0, 0.0, 0.0])
    return np.column_stack([x, np.cross(z, x), z])


def _require_positive(**lengths: float) -> None:
    for name, value in lengths.items():
        number(value, name, unit="m", above=0.0, most=1e9, remedy="give positive lengths in metres")
