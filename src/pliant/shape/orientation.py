"""Making the triangles of a surface look the right way: outer shells outward, cavities inward."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from pliant.errors import SurfaceError
from pliant.shape.topology import FloatArray, IntArray, unique_rows
from pliant.shape.tree import TriangleTree

if TYPE_CHECKING:
    from pliant.shape.surface import SurfaceMesh


def oriented_triangles(surface: SurfaceMesh) -> IntArray:
    """Triangles (t, 3) with neighbours in agreement and, for closed parts, the sign that their nesting asks for."""
    triangles, part = _agreeing(surface.triangles)
    shells = [triangles[part == k] for k in range(part.max() + 1)]
    for k, shell in enumerate(shells):
        if not _closed(shell):
            continue
        depth = sum(_inside(surface.nodes, shell, other) for j, other in enumerate(shells) if j != k and _closed(other))
        # Even depth is an outer shell (positive volume), odd depth a cavity.
        if (_volume(surface.nodes, shell) < 0.0) != (depth % 2 == 1):
            triangles[part == k] = shell[:, ::-1]
    return triangles


def _agreeing(triangles: IntArray) -> tuple[IntArray, NDArray[np.intp]]:
    """Triangles flipped so that neighbours across manifold edges agree, and the part each belongs to.

    Spreads over the dual graph, one ring of neighbours at a time.
    """
    result = triangles.copy()
    edges = result[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2)
    _, group = unique_rows(np.sort(edges, axis=1))
    forward = edges[:, 0] < edges[:, 1]
    order = np.argsort(group, kind="stable")
    pairs = np.flatnonzero(np.bincount(group) == 2)
    first = order[np.searchsorted(group[order], pairs)]
    second = order[np.searchsorted(group[order], pairs) + 1]
    a, b = first // 3, second // 3
    differ = forward[first] == forward[second]
    links: list[list[tuple[int, bool]]] = [[] for _ in triangles]
    for i, j, d in zip(a.tolist(), b.tolist(), differ.tolist(), strict=True):
        links[i].append((j, d))
        links[j].append((i, d))
    part = np.full(len(triangles), -1, dtype=np.intp)
    flip = np.zeros(len(triangles), dtype=bool)
    count = 0
    for seed in range(len(triangles)):
        if part[seed] >= 0:
            continue
        part[seed] = count
        stack = [seed]
        while stack:
            i = stack.pop()
            for j, d in links[i]:
                if part[j] < 0:
                    part[j], flip[j] = count, flip[i] ^ d
                    stack.append(j)
                elif flip[j] != flip[i] ^ d:
                    raise SurfaceError(
                        f"triangles {i} and {j} cannot be oriented alike: the surface is one-sided",
                        remedy="repair it in a mesh editor",
                    )
        count += 1
    result[flip] = triangles[flip][:, ::-1]
    return result, part


def _closed(triangles: IntArray) -> bool:
    edges = np.sort(triangles[:, [[0, 1], [1, 2], [2, 0]]].reshape(-1, 2), axis=1)
    _, group = unique_rows(edges)
    return bool((np.bincount(group) % 2 == 0).all())


def _volume(nodes: FloatArray, triangles: IntArray) -> float:
    a, b, c = nodes[triangles].transpose(1, 0, 2)
    return float(np.einsum("ij,ij->", a - nodes[triangles[0, 0]], np.cross(b - a, c - a))) / 6.0


def _inside(nodes: FloatArray, shell: IntArray, other: IntArray) -> bool:
    """Whether one shell lies inside another, asked at one node that they do not share."""
    free = np.setdiff1d(shell, other)
    point = nodes[free[:1]] if len(free) else nodes[shell[:1]].mean(axis=1)
    return bool(abs(TriangleTree.of(nodes, other).winding(point)[0]) > 0.5)
