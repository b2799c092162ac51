"""Random points on the creases, on the surface and inside a solid."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.errors import MeshError
from pliant.shape.lattice_solid import Side, Solid
from pliant.shape.surface import SurfaceMesh
from pliant.shape.topology import FloatArray, unique_rows

CREASE = np.cos(np.radians(35.0))
"""Two triangles with a smaller cosine between their normals meet in a crease."""
CORNER = np.cos(np.radians(35.0))
"""A crease that turns by more than this ends in a corner."""
SCAN = 4
"""Lines per spacing along which a solid without a surface is searched for its boundary."""

Draw = Callable[[int], FloatArray]


@dataclass(frozen=True, eq=False)
class Samples:
    """A shape to draw from: `draw(k)` gives k random points [m]; `measure` is its length [m], area [m^2] or volume [m^3]."""

    draw: Draw
    measure: float


def corners_of(surface: SurfaceMesh) -> tuple[FloatArray, FloatArray]:
    """Corners [k, 3] of a surface, where creases meet, end or turn, and its creases as segments [e, 2, 3] [m]."""
    directed = surface.triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    pairs = np.sort(directed, axis=1)
    first, group = unique_rows(pairs)
    order = np.argsort(group, kind="stable")
    twice = np.flatnonzero(np.bincount(group) == 2)
    at = np.searchsorted(group[order], twice)
    one, other = order[at] // 3, order[at + 1] // 3
    sharp = np.einsum("ij,ij->i", surface.normals[one], surface.normals[other]) < CREASE
    creases = pairs[first[twice[sharp]]]
    if len(creases) == 0:
        return np.empty((0, 3)), np.empty((0, 2, 3))
    ends, segments = creases.ravel(), surface.nodes[creases]
    direction = segments[:, 1] - segments[:, 0]
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    away = np.stack([direction, -direction], axis=1).reshape(-1, 3)
    degree = np.bincount(ends, minlength=len(surface.nodes))
    total = np.zeros((len(surface.nodes), 3))
    np.add.at(total, ends, away)
    # Two directions away from a node that goes straight on cancel: |a + b|^2 = 2 + 2 cos.
    straight = (degree == 2) & ((total**2).sum(axis=1) <= 2 - 2 * CORNER)
    return surface.nodes[(degree > 0) & ~straight], segments


def on_creases(segments: FloatArray, rng: np.random.Generator) -> Samples:
    """Points on segments [e, 2, 3], uniform in length."""
    lengths = np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1)
    share = np.cumsum(lengths) / lengths.sum()

    def draw(count: int) -> FloatArray:
        chosen = segments[np.searchsorted(share, rng.random(count)).clip(max=len(segments) - 1)]
        t = rng.random((count, 1))
        return np.asarray((1 - t) * chosen[:, 0] + t * chosen[:, 1])

    return Samples(draw, float(lengths.sum()))


def on_surface(solid: Solid, spacing: float, rng: np.random.Generator) -> Samples:
    """Points on the boundary of a solid, uniform in area on a surface; on a function where lines along the axes cross it."""
    if solid.surface is None:
        return _on_crossings(solid, spacing, rng)
    surface = solid.surface
    corners, share = surface.nodes[surface.triangles], np.cumsum(surface.areas) / surface.area

    def draw(count: int) -> FloatArray:
        a, b, c = corners[np.searchsorted(share, rng.random(count)).clip(max=len(corners) - 1)].transpose(1, 0, 2)
        r, t = np.sqrt(rng.random((count, 1))), rng.random((count, 1))
        return np.asarray((1 - r) * a + r * (1 - t) * b + r * t * c)

    return Samples(draw, surface.area)


def _on_crossings(solid: Solid, spacing: float, rng: np.random.Generator) -> Samples:
    """Boundary points of a function, found by bisection; the area by Cauchy's formula for lines along three axes."""
    step = spacing / SCAN
    low, counts = solid.bounds[0] - step, np.ceil(solid.extent / step).astype(np.int64) + 3
    offset = rng.random(3) * step
    axes = [low[c] + offset[c] + step * np.arange(counts[c]) for c in range(3)]
    grid = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    inside = solid.inside(grid.reshape(-1, 3)).reshape(grid.shape[:3])
    found = []
    for axis in range(3):
        here, there = np.take(inside, range(counts[axis] - 1), axis), np.take(inside, range(1, counts[axis]), axis)
        index = np.argwhere(here != there)
        a = grid[tuple(index.T)]
        b = a.copy()
        b[:, axis] += step
        within = here[tuple(index.T)]
        for _ in range(30):
            middle = (a + b) / 2
            same = (solid.inside(middle) == within)[:, None]
            a, b = np.where(same, middle, a), np.where(same, b, middle)
        found.append(np.where(within[:, None], a, b))
    pool = np.concatenate(found)
    if len(pool) == 0:
        raise MeshError(f"no part of the solid is as thick as {step:.3g} m", remedy="give a smaller spacing")
    # A patch of area A is crossed by (|n_x| + |n_y| + |n_z|) A / step^2 lines, 3/2 on average over directions.
    return Samples(lambda count: pool[rng.integers(len(pool), size=count)], len(pool) * step**2 / 1.5)


def inside(solid: Solid, rng: np.random.Generator) -> Samples:
    """Points inside a solid, uniform in volume."""
    boxes = solid.boxes
    usable = boxes.middles(boxes.sides != Side.OUTSIDE)

    def trial(count: int) -> tuple[FloatArray, NDArray[np.bool_]]:
        points = usable[rng.integers(len(usable), size=count)] + boxes.size * (rng.random((count, 3)) - 0.5)
        return points, solid.inside(points)

    share = float(trial(50_000)[1].mean())
    if share == 0.0:
        raise MeshError("no random point lies inside the solid", remedy="check its bounds and its units")

    def draw(count: int) -> FloatArray:
        found: list[FloatArray] = []
        missing = count
        while missing > 0:
            points, good = trial(int(1.05 * missing / share) + 16)
            found.append(points[good][:missing])
            missing -= len(found[-1])
        return np.concatenate(found)

    volume = share * len(usable) * boxes.size**3 if solid.surface is None else solid.surface.volume
    return Samples(draw, volume)
