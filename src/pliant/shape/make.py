"""Solids that are known exactly, as structured tet meshes: box, blocks, cylinder, tube, sphere, hollow sphere.

Curved boundaries have their nodes exactly on the true surface; the faces between them are flat, so volumes come out a
little small (inscribed) and converge with the square of the size. For other solids see `solids` and `fill`.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import permutations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import as_array, as_numbers, number
from pliant.errors import InputError
from pliant.shape.mesh import coinciding, vector
from pliant.shape.tetmesh import TetMesh
from pliant.shape.topology import HEX_FACES, PRISM_FACES, FloatArray, IntArray, smallest_index_split

if TYPE_CHECKING:
    from pliant.shape.surface import SurfaceMesh

MOST_NODES = 5e5
"""Nodes that a mesh is made with at most."""

_ICOSAHEDRON_EDGE = 1.1071487177940904
"""Angle between neighbouring corners of an icosahedron, seen from its centre [rad]."""


def box(
    size: ArrayLike,
    divisions: int | tuple[int, int, int],
    *,
    origin: ArrayLike | None = None,
    center: ArrayLike | None = None,
    pattern: str = "mirrored",
) -> TetMesh:
    """A box with edges `size` (3,) [m] in `divisions` cells per axis, each cell cut into six tets.

    The lower corner is at `origin` (default (0, 0, 0)), or the middle at `center` [m]. Each cell is cut as Kuhn does:
    the six monotone paths along its edges between two opposite corners. `pattern="kuhn"` puts the same cut into
    every cell, so all diagonals lean the same way; "mirrored" reflects it in every other cell, so that a mesh with
    even divisions has the symmetry of the box. Both conform; all dihedral angles of cubic cells are 45, 60 or 90
    degrees.

    >>> mesh = box((0.1, 0.02, 0.02), (10, 2, 2))
    >>> len(mesh.nodes), len(mesh.tets), round(mesh.volume * 1e6, 9)
    (99, 240, 40.0)
    """
    lengths = _positive(vector(size, "size"), "size")
    counts = as_array(divisions)
    if counts.shape not in ((), (3,)) or counts.dtype.kind not in "iu" or (counts < 1).any():
        raise InputError(f"divisions are {divisions!r}", remedy="give one or three whole numbers >= 1")
    counts = np.broadcast_to(counts, (3,)).astype(int)
    _require_few(float(np.prod(counts + 1.0)))
    if pattern not in ("mirrored", "kuhn"):
        raise InputError(f"pattern is {pattern!r}", remedy="use 'mirrored' or 'kuhn'")
    if origin is not None and center is not None:
        raise InputError("both origin and center were given", remedy="give one of them")
    corner = vector((0, 0, 0) if origin is None else origin, "origin")
    if center is not None:
        corner = vector(center, "center") - lengths / 2
    grid, cells = _grid(counts)
    return TetMesh(corner + grid * (lengths / counts), _cut_cells(cells, counts, pattern), orient=True)


def blocks(x: ArrayLike, y: ArrayLike, z: ArrayLike, keep: Callable[[FloatArray], ArrayLike]) -> TetMesh:
    """Cells of a grid with uneven lines, cut into tets as in `box` ("mirrored"): shapes made of boxes, exactly.

    x, y, z: rising coordinates of the grid's planes [m]. keep: from the middles of the cells (k, 3) [m] to which of them
    belong to the shape (k,); cavities inside are kept empty.

    >>> lines = [0, 0.01, 0.02, 0.03]
    >>> hollow = blocks(lines, lines, lines, lambda middle: abs(middle - 0.015).max(axis=1) > 0.001)
    >>> len(hollow.tets), len(hollow.surface().parts())
    (156, 2)
    """
    lines = [as_numbers(values) for values in (x, y, z)]
    for name, values in zip("xyz", lines, strict=True):
        if values.ndim != 1 or len(values) < 2 or not (np.isfinite(values).all() and (np.diff(values) > 0).all()):
            raise InputError(f"the grid's {name} are {values}", remedy="give at least two rising coordinates [m]")
    counts = np.array([len(values) - 1 for values in lines])
    grid, cells = _grid(counts)
    middles = np.stack([(v[:-1] + v[1:])[c] / 2 for v, c in zip(lines, cells.T, strict=True)], axis=1)
    chosen = np.asarray(keep(middles))
    if chosen.shape != (len(cells),) or chosen.dtype != np.bool_ or not chosen.any():
        raise InputError("keep chose no cells", remedy=f"return {len(cells)} times True or False, some of them True")
    used, tets = np.unique(_cut_cells(cells[chosen], counts, "mirrored"), return_inverse=True)
    nodes = np.stack([v[i] for v, i in zip(lines, grid[used].T, strict=True)], axis=1)
    return TetMesh(nodes, tets.reshape(-1, 4), orient=True)


def _grid(counts: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Grid points and cells, each by three whole numbers."""
    grid = np.stack(np.meshgrid(*(np.arange(c + 1) for c in counts), indexing="ij"), axis=-1).reshape(-1, 3)
    return grid, grid[(grid < counts).all(axis=1)]


def _cut_cells(cells: NDArray[np.intp], counts: NDArray[np.intp], pattern: str) -> NDArray[np.intp]:
    """Six tets per cell, by Kuhn's paths; "mirrored" reflects them in every other cell."""
    flips = cells % 2 if pattern == "mirrored" else np.zeros_like(cells)
    tets = [_grid_index(cells + (path ^ flips[:, None, :])[:, k], counts) for path in _kuhn_paths() for k in range(4)]
    return np.stack(tets, axis=1).reshape(-1, 4)


def cylinder(radius: float, length: float, size: float, *, axis: str = "z") -> TetMesh:
    """A cylinder from 0 to `length` along an axis ("x", "y", "z") with edges of about `size` [m].

    Discs of concentric rings (6 k nodes on ring k) stacked in layers; the prisms between are cut into three tets.
    """
    r, height, h = _positives(radius=radius, length=length, size=size)
    _require_few(np.pi * (r / h + 1) ** 2 * (height / h + 1))
    points, triangles = _disc(_count(r, h))
    layers = _count(height, h)
    nodes = np.vstack(
        [np.column_stack([points * r, np.full(len(points), z)]) for z in np.linspace(0, height, layers + 1)]
    )
    tets, _ = smallest_index_split(_prisms(triangles, len(points), layers), PRISM_FACES)
    return TetMesh(_along(nodes, axis), tets, orient=True)


def tube(inner: float, outer: float, length: float, size: float, *, axis: str = "z") -> TetMesh:
    """A tube between two radii, from 0 to `length` along an axis, with edges of about `size` [m].

    A grid in polar coordinates whose hexahedra are cut into six tets through the smallest node of each face.
    """
    a, b, height, h = _positives(inner=inner, outer=outer, length=length, size=size)
    _require_order(a, b)
    _require_few(((b - a) / h + 1) * (2 * np.pi * b / h + 1) * (height / h + 1))
    rings, around, layers = _count(b - a, h), max(12, _count(2 * np.pi * b, h)), _count(height, h)
    r, phi, z = np.meshgrid(
        np.linspace(a, b, rings + 1),
        2 * np.pi * np.arange(around) / around,
        np.linspace(0, height, layers + 1),
        indexing="ij",
    )
    ids = np.arange(r.size, dtype=np.int32).reshape(r.shape)
    turned = np.roll(ids, -1, axis=1)
    ring = [(ids, slice(None, -1)), (ids, slice(1, None)), (turned, slice(1, None)), (turned, slice(None, -1))]
    corners = [grid[part, :, :-1] for grid, part in ring] + [grid[part, :, 1:] for grid, part in ring]
    tets, _ = smallest_index_split(np.stack([c.ravel() for c in corners], axis=1), HEX_FACES)
    nodes = np.stack([r * np.cos(phi), r * np.sin(phi), z], axis=-1).reshape(-1, 3)
    return TetMesh(_along(nodes, axis), tets, orient=True)


def sphere(radius: float, size: float, *, center: ArrayLike = (0.0, 0.0, 0.0)) -> TetMesh:
    """A ball with edges of about `size` [m]: the icosahedron's 20 tets cut evenly, each shell blown up to a sphere."""
    r, h = _positives(radius=radius, size=size)
    _require_few(4.2 * (r / h + 1) ** 3)
    n = _count(r, h)
    corners, faces = icosahedron()
    weights, local = _edgewise_tets(n)
    shell = 1.0 - weights[:, 0]
    # Sorted corners make neighbours cut their common face in the same way.
    flat = np.einsum("pk,fkx->fpx", weights[:, 1:], corners[np.sort(faces, axis=1)])
    direction = flat / np.maximum(np.linalg.norm(flat, axis=2, keepdims=True), 1e-300)
    nodes = (direction * (r * shell)[:, None]).reshape(-1, 3)
    tets = (local[None] + len(weights) * np.arange(len(faces))[:, None, None]).reshape(-1, 4)
    return _merged(nodes, tets, 1e-7 * r, vector(center, "center"))


def hollow_sphere(
    inner: float, outer: float, size: float, *, octant: bool = False, center: ArrayLike = (0.0, 0.0, 0.0)
) -> TetMesh:
    """A ball with a concentric cavity; edges of about `size` [m] through the wall and on the outside.

    `octant=True` gives the eighth with x, y, z >= 0, whose nodes on the three symmetry planes have that coordinate
    exactly zero.
    """
    a, b, h = _positives(inner=inner, outer=outer, size=size)
    _require_order(a, b)
    _require_few(12.6 * (b / h + 1) ** 2 * (b * np.log(b / a) / h + 1))
    # Layers grow with the radius as the triangles do, so that the tets near the cavity are not flatter than the others.
    layers = _count(b * np.log(b / a), h)
    if octant:
        weights, triangles = _edgewise_triangles(_count(b * np.pi / 2, h))
        sphere_points, faces = np.sin(np.pi / 2 * weights), triangles
    else:
        weights, triangles = _edgewise_triangles(_count(b * _ICOSAHEDRON_EDGE, h))
        corners, big = icosahedron()
        sphere_points = np.einsum("pk,fkx->fpx", weights, corners[big]).reshape(-1, 3)
        faces = (triangles[None] + len(weights) * np.arange(len(big))[:, None, None]).reshape(-1, 3)
        same = coinciding(sphere_points, 1e-7)
        keep, compact = np.unique(same[faces], return_inverse=True)
        sphere_points, faces = sphere_points[keep], compact.reshape(-1, 3).astype(np.int32)
    direction = sphere_points / np.linalg.norm(sphere_points, axis=1, keepdims=True)
    nodes = np.vstack([direction * radius for radius in np.geomspace(a, b, layers + 1)])
    tets, _ = smallest_index_split(_prisms(faces, len(direction), layers), PRISM_FACES)
    return TetMesh(nodes + vector(center, "center"), tets, orient=True)


def terrain(x: ArrayLike, y: ArrayLike, heights: ArrayLike) -> SurfaceMesh:
    """Ground that is looked at from above: heights (nx, ny) [m] over places x (nx,) and y (ny,) [m] that rise.

    It is open: what is below it is behind it (`pliant.Solid`), and beside it there is nothing.

    >>> ground = terrain([0, 1, 2], [0, 1], [[0, 0], [0.1, 0.1], [0, 0]])
    >>> len(ground.nodes), len(ground.triangles), ground.is_closed
    (6, 4, False)
    """
    from pliant.shape.surface import SurfaceMesh

    places = [as_numbers(own) for own in (x, y)]
    z = as_numbers(heights)
    for name, own in zip("xy", places, strict=True):
        if own.ndim != 1 or len(own) < 2 or not np.isfinite(own).all() or not (np.diff(own) > 0).all():
            raise InputError(f"{name} of a terrain is {own}", remedy="give at least two numbers that rise [m]")
    counts = len(places[0]), len(places[1])
    if z.shape != counts or not np.isfinite(z).all():
        raise InputError(f"heights of a terrain have shape {z.shape}", remedy=f"give finite heights {counts} [m]")
    nodes = np.stack([*np.meshgrid(*places, indexing="ij"), z], axis=-1).reshape(-1, 3)
    k = np.arange(nodes.shape[0]).reshape(counts)
    a, b, c, d = (own.reshape(-1) for own in (k[:-1, :-1], k[1:, :-1], k[1:, 1:], k[:-1, 1:]))
    return SurfaceMesh(nodes, np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)]))


def _kuhn_paths() -> list[IntArray]:
    """The six monotone paths from (0, 0, 0) to (1, 1, 1) along edges of the unit cube, each (4, 3)."""
    return [
        np.vstack([np.zeros(3, int), np.cumsum(np.eye(3, dtype=int)[list(p)], axis=0)]) for p in permutations(range(3))
    ]


def _grid_index(ijk: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.asarray((ijk[:, 0] * (counts[1] + 1) + ijk[:, 1]) * (counts[2] + 1) + ijk[:, 2])


def _disc(rings: int) -> tuple[FloatArray, IntArray]:
    """Unit disc: points (1 + 3 n (n + 1), 2) on concentric rings of 6 k points, and its triangles."""
    points, triangles = [np.zeros((1, 2))], []

    def index(k: int, step: NDArray[np.int64]) -> NDArray[np.int64]:
        return 1 + 3 * k * (k - 1) + step % (6 * k) if k else 0 * step

    for k in range(1, rings + 1):
        phi = np.pi / 3 * np.arange(6 * k) / k
        points.append(k / rings * np.column_stack([np.cos(phi), np.sin(phi)]))
        for sector in range(6):
            out, inn = sector * k + np.arange(k), sector * (k - 1) + np.arange(k)
            triangles.append(np.column_stack([index(k - 1, inn), index(k, out), index(k, out + 1)]))
            out, inn = out[: k - 1], inn[: k - 1]
            triangles.append(np.column_stack([index(k - 1, inn), index(k, out + 1), index(k - 1, inn + 1)]))
    return np.vstack(points), np.vstack(triangles).astype(np.int32)


def _prisms(triangles: IntArray, points: int, layers: int) -> IntArray:
    """Prisms (layers * t, 6) between copies of a triangulation whose nodes follow each other layer by layer."""
    lower = np.vstack([triangles + k * points for k in range(layers)])
    return np.hstack([lower, lower + points]).astype(np.int32)


def icosahedron() -> tuple[FloatArray, IntArray]:
    """Corners (12, 3) on the unit sphere and faces (20, 3)."""
    golden = (1 + 5**0.5) / 2
    base = np.array([[0, s, t * golden] for s in (-1, 1) for t in (-1, 1)])
    corners = np.vstack([np.roll(base, k, axis=1) for k in range(3)]) / np.hypot(1, golden)
    close = corners @ corners.T > 0.4
    faces = [
        (i, j, k) for i in range(12) for j in range(i) for k in range(j) if close[i, j] and close[j, k] and close[i, k]
    ]
    return corners, np.array(faces, dtype=np.int32)


def _edgewise_triangles(n: int) -> tuple[FloatArray, IntArray]:
    """A triangle cut into n^2: barycentric weights of its points (p, 3) and triangles as indices of these."""
    i, j = np.meshgrid(np.arange(n + 1), np.arange(n + 1), indexing="ij")
    inside = i + j <= n
    ids = np.full((n + 2, n + 2), -1)
    ids[:-1, :-1][inside] = np.arange(inside.sum())
    i, j = i[inside], j[inside]
    up = np.column_stack([ids[i, j], ids[i + 1, j], ids[i, j + 1]])
    down = np.column_stack([ids[i + 1, j], ids[i + 1, j + 1], ids[i, j + 1]])
    triangles = np.vstack([up, down])
    weights = np.column_stack([n - i - j, i, j]) / n
    return weights, triangles[(triangles >= 0).all(axis=1)].astype(np.int32)


def _edgewise_tets(n: int) -> tuple[FloatArray, IntArray]:
    """A tet cut into n^3 (Freudenthal): weights of its points (p, 4) and tets as indices of these.

    Points are the integers n >= y1 >= y2 >= y3 >= 0; tets are Kuhn's paths between them.
    """
    y = np.stack(np.meshgrid(*[np.arange(n + 1)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    y = y[(y[:, 0] >= y[:, 1]) & (y[:, 1] >= y[:, 2])]
    ids = np.full((n + 2,) * 3, -1)
    ids[tuple(y.T)] = np.arange(len(y))
    tets = np.vstack([np.column_stack([ids[tuple((y + step).T)] for step in path]) for path in _kuhn_paths()])
    weights = np.column_stack([n - y[:, 0], y[:, 0] - y[:, 1], y[:, 1] - y[:, 2], y[:, 2]]) / n
    return weights, tets[(tets >= 0).all(axis=1)].astype(np.int32)


def _merged(nodes: FloatArray, tets: IntArray, tolerance: float, offset: FloatArray) -> TetMesh:
    """A mesh of pieces whose common nodes appear several times."""
    keep, compact = np.unique(coinciding(nodes, tolerance)[tets], return_inverse=True)
    return TetMesh(nodes[keep] + offset, compact.reshape(-1, 4), orient=True)


def _along(nodes: FloatArray, axis: str) -> FloatArray:
    """Nodes made along z, turned so that they lie along x or y (cyclic, hence without reflection)."""
    if axis not in ("x", "y", "z"):
        raise InputError(f"axis is {axis!r}", remedy="use 'x', 'y' or 'z'")
    return np.roll(nodes, {"z": 0, "x": 1, "y": 2}[axis], axis=1)


def _count(length: float, size: float) -> int:
    return max(1, round(length / size))


def _require_few(nodes: float) -> None:
    """Refuse what would fill the memory: mostly a length in the wrong unit."""
    if not nodes <= MOST_NODES:
        raise InputError(
            f"this asks for about {nodes:.2g} nodes, more than {MOST_NODES:.2g}",
            remedy="check the units of size and lengths (metres), or give a larger size",
        )


def _positives(**lengths: float) -> list[float]:
    return [number(value, name, unit="m", least=1e-9, most=1e9) for name, value in lengths.items()]


def _positive(value: FloatArray, name: str) -> FloatArray:
    if not ((value > 0) & (value < 1e9)).all():
        raise InputError(f"{name} is {value}", remedy="give positive lengths in metres")
    return value


def _require_order(inner: float, outer: float) -> None:
    if inner >= outer:
        raise InputError(f"inner radius {inner} m >= outer radius {outer} m", remedy="make the inner one smaller")
