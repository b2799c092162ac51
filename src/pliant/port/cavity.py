"""A pressure chamber."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from pliant.algebra.rotation import cross_matrix
from pliant.body import Body, TetBody
from pliant.errors import InputError
from pliant.port.port import Array, Port
from pliant.shape import SurfaceMesh


class Cavity(Port):
    """A closed surface inside a body: pressure [Pa] that inflates it, and the gain of the enclosed volume [m^3].

    V = 1/6 sum over triangles of p0 . (p1 x p2). The pressure follows the surface as it moves: its force p dV/dp stays
    normal to it, and its curvature p d2V/dp2 is part of the exact tangent. The vertices need not be nodes of the body.
    """

    effort_unit: ClassVar[str] = "Pa"
    displacement_unit: ClassVar[str] = "m^3"

    def __init__(self, surface: SurfaceMesh) -> None:
        """surface: the wall of the cavity, closed, oriented either way."""
        if not isinstance(surface, SurfaceMesh):
            raise InputError(
                f"a Cavity needs a SurfaceMesh, not a {type(surface).__name__}",
                remedy="read it with pliant.SurfaceMesh.read(...), or take a component of mesh.surface()",
            )
        surface.require_closed()
        self.points = np.asarray(surface.nodes)
        triangles = surface.triangles.astype(np.int64)
        self.rest_volume = _volume(self.points, triangles)
        if self.rest_volume < 0:
            triangles, self.rest_volume = triangles[:, ::-1].copy(), -self.rest_volume
        if self.rest_volume == 0:
            raise InputError("the cavity encloses no volume", remedy="give a closed surface that is not flat")
        self.triangles = triangles
        directed = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
        low, high = directed.min(axis=1), directed.max(axis=1)
        keys, self._edge = np.unique(low * len(self.points) + high, return_inverse=True)
        self._forward = directed[:, 0] > directed[:, 1]
        self._opposite = np.concatenate([triangles[:, 2], triangles[:, 0], triangles[:, 1]])
        self.curved_pairs = np.stack([keys % len(self.points), keys // len(self.points)], axis=1)

    def seen_by(self, body: Body) -> Cavity:
        """On ten-node tets with every triangle cut twice in four, so that the middles of edges take their share of the
        pressure: on the corners alone it would be a load that quadratic elements answer with false stresses."""
        if not isinstance(body, TetBody) or body.order == 1:
            return self
        surface = SurfaceMesh(self.points, self.triangles)
        return Cavity(_subdivided(_subdivided(surface)))

    def volume(self, p: Array) -> float:
        """Enclosed volume [m^3] with the vertices at p [k, 3]."""
        return _volume(p, self.triangles)

    def displacement(self, p: Array) -> Array:
        return np.array([self.volume(p) - self.rest_volume])

    def slope(self, p: Array) -> Array:
        a, b, c = (p[self.triangles[:, k]] for k in range(3))
        out = np.zeros((1, len(p), 3))
        np.add.at(out[0], self.triangles[:, 0], np.cross(b, c) / 6)
        np.add.at(out[0], self.triangles[:, 1], np.cross(c, a) / 6)
        np.add.at(out[0], self.triangles[:, 2], np.cross(a, b) / 6)
        return out

    def curvature(self, p: Array, efforts: Array) -> Array:
        """d2V / dp_a dp_b = -[p_c] / 6 for each triangle (a, b, c) that has the edge a -> b."""
        blocks = -cross_matrix(p[self._opposite]) * (efforts[0] / 6)
        blocks[~self._forward] *= -1  # the transpose of a cross matrix
        out = np.zeros((len(self.curved_pairs), 3, 3))
        np.add.at(out, self._edge, blocks)
        return out


def _subdivided(surface: SurfaceMesh) -> SurfaceMesh:
    """Every triangle cut in four through the middles of its edges."""
    t = surface.triangles.astype(np.int64)
    count = len(surface.nodes)
    ends = np.sort(np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]), axis=1)
    edges, number = np.unique(ends, axis=0, return_inverse=True)
    ab, bc, ca = (count + number.reshape(3, -1)[k] for k in range(3))
    a, b, c = t.T
    quarters = [(a, ab, ca), (ab, b, bc), (ca, bc, c), (ab, bc, ca)]
    nodes = np.concatenate([surface.nodes, surface.nodes[edges].mean(axis=1)])
    return SurfaceMesh(nodes, np.concatenate([np.stack(q, axis=1) for q in quarters]))


def _volume(p: Array, triangles: np.typing.NDArray[np.int64]) -> float:
    a, b, c = (p[triangles[:, k]] for k in range(3))
    return float(np.einsum("ti,ti->", a, np.cross(b, c)) / 6)
