"""Irregular lattices: best-candidate points in a solid, joined by the edges of their Delaunay tets.

Points come in four rounds, each keeping away from all before: corners, creases, surface, inside. So the lattice ends where
the solid does, and has its volume. Constants by homogenization per tet t of volume V_t: each of its edges carries
s_t = 6 E V_t / (sum of its six edge lengths), and a spring's constant is the sum of s_t over its tets, / L. That is exact for a
tet whose edges point everywhere alike; points of an irregular lattice give way a little, by a stable factor `RELAXATION`,
by which the constants are divided.

Not for large strains: from about 10 % on, single points of an irregular lattice snap through the faces of their neighbours,
and the lattice goes soft where it is compressed. Voxel lattices, with twice the springs per point, stand several times that.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.checks import number
from pliant.errors import InputError, MeshError
from pliant.shape import lattice_samples as samples
from pliant.shape.best_candidate import best_candidates
from pliant.shape.lattice_solid import Solid
from pliant.shape.manifold import without_hinges
from pliant.shape.topology import TET_EDGES, FloatArray, IntArray, oriented_tets, tet_volumes

RELAXATION = 0.923
"""Modulus of a best-candidate lattice with constants per tet, over that which the constants stand for."""
CROWDED = 0.5
"""A round ends when its best candidate is nearer than this share of the spacing."""
FLAT = 1e-4
"""Tets of less volume than this share of their longest edge cubed are left out: they stiffen nothing."""
PROBES = np.concatenate([np.full((1, 4), 0.25), 0.125 + 0.5 * np.eye(4)])
"""Where a tet is asked whether it is inside: its middle and half-way to its corners."""
MOST_POINTS = 2_000_000


def scattered_points(solid: Solid, spacing: float, seed: int, candidates: int, neighbours: int) -> FloatArray:
    """Best-candidate points [n, 3] of about this spacing [m] on and in a solid."""
    rng = np.random.default_rng(seed)
    points = np.empty((0, 3))
    options = {"candidates": candidates, "neighbours": neighbours, "closest": CROWDED * spacing}
    if solid.surface is not None:
        corners, segments = samples.corners_of(solid.surface)
        points = _apart(corners, CROWDED * spacing)
        if len(segments):
            creases = samples.on_creases(segments, rng)
            count = max(round(creases.measure / spacing) - len(points), 1)
            points = best_candidates(points, creases.draw, count, spacing, 1, **options)  # type: ignore[arg-type]
    skin = samples.on_surface(solid, spacing, rng)
    count = max(round(skin.measure / spacing**2) - len(points), 4)
    points = best_candidates(points, skin.draw, count, spacing, 2, **options)  # type: ignore[arg-type]
    inner = samples.inside(solid, rng)
    count = round(inner.measure / spacing**3 - len(points) / 2)
    if count > 0:
        points = best_candidates(points, inner.draw, count, spacing, 3, **options)  # type: ignore[arg-type]
    return points


def checked_spacing(solid: Solid, spacing: float | None) -> float:
    """The spacing [m] if it suits the solid, else an error."""
    spacing = number(spacing, "spacing", unit="m", above=0.0, remedy="give a positive distance in metres")
    if solid.extent.min() < spacing:
        raise InputError(
            f"points {spacing:.3g} m apart in a solid that is {solid.extent.min():.3g} m thick",
            remedy="give a smaller spacing, or check the units",
        )
    if float(np.prod(solid.extent / spacing)) > MOST_POINTS:
        raise InputError(
            f"spacing {spacing:.3g} m in a solid {solid.extent.max():.3g} m wide asks for "
            f"{np.prod(solid.extent / spacing):.2g} points",
            remedy="give a larger spacing, or check the unit that the part was read with",
        )
    return float(spacing)


def spacing_for(solid: Solid, count: int, seed: int) -> float:
    """The spacing [m] at which a solid gets about so many points: V / h^3 + A / (2 h^2) of them."""
    if not isinstance(count, (int, np.integer)) or count < 8:
        raise InputError(f"count is {count}", remedy="give a whole number of points, at least 8")
    rng = np.random.default_rng(seed)
    volume = samples.inside(solid, rng).measure
    first = (volume / count) ** (1 / 3)
    area = samples.on_surface(solid, first, rng).measure
    roots = np.roots([count, 0.0, -area / 2, -volume][:4])
    return float(roots[np.isreal(roots)].real.max())


def _apart(points: FloatArray, distance: float) -> FloatArray:
    """The first of points [n, 3] that are at least this far apart [m]."""
    kept: list[FloatArray] = []
    for point in points:
        if all(np.linalg.norm(point - other) >= distance for other in kept):
            kept.append(point)
    return np.array(kept).reshape(-1, 3)


def tets_inside(solid: Solid, points: FloatArray, longest: float) -> tuple[FloatArray, IntArray]:
    """Points and tets of the Delaunay tetrahedralization that are inside a solid and have no edge longer than that [m].

    Points that no tet is left at are dropped, and so are tets that hang on the others by an edge or a corner.
    """
    from scipy.spatial import Delaunay

    tets = oriented_tets(points, Delaunay(points).simplices.astype(np.int32))
    lengths = edge_lengths(points, tets)
    keep = (lengths.max(axis=1) <= longest) & (tet_volumes(points, tets) > FLAT * lengths.max(axis=1) ** 3)
    tets = tets[keep]
    probes = np.einsum("qk,tkc->tqc", PROBES, points[tets]).reshape(-1, 3)
    inside = solid.inside(probes).reshape(-1, len(PROBES))
    tets = tets[inside[:, 0] & (inside.sum(axis=1) >= 4)]
    if len(tets) == 0:
        raise MeshError("no tet of the lattice lies inside the solid", remedy="give a smaller spacing, below its walls")
    return without_hinges(points, tets)


def edge_lengths(points: FloatArray, tets: NDArray[np.integer]) -> FloatArray:
    """Lengths [m] of the six edges of every tet, [t, 6]."""
    ends = points[tets[:, TET_EDGES]]
    return np.asarray(np.linalg.norm(ends[:, :, 0] - ends[:, :, 1], axis=2))


def tet_shares(points: FloatArray, tets: IntArray, relaxation: float) -> FloatArray:
    """What each tet adds to the springs on its edges per modulus [m], [t, 6]: 6 V / (sum L) / L / relaxation."""
    lengths = edge_lengths(points, tets)
    total = 6.0 * tet_volumes(points, tets) / lengths.sum(axis=1)
    return np.asarray(total[:, None] / lengths / relaxation)
