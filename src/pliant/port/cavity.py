"""A pressure chamber."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from pliant.body import Body, TetBody
from pliant.errors import InputError
from pliant.port._cavity_kernels import add_volume_curvature, add_volume_slope, enclosed_volume
from pliant.port.port import Array, Port
from pliant.port.wall import cut_to_size, volume_form, with_middles
from pliant.shape import SurfaceMesh

Ids = NDArray[np.int64]

MOST_FULL = 0.5
"""Share of a cavity's wall that may have material on both sides: walls need not follow the elements to the last corner."""


class Cavity(Port):
    """A closed surface inside a body: pressure [Pa] that inflates it, and the gain of the enclosed volume [m^3].

    The pressure follows the wall as it moves: its force p dV/dp stays normal to it, and its curvature p d2V/dp2 is part of
    the exact tangent. The wall need not be made of faces of the body's elements. Where it is attached, it is cut to the size
    of these, and on ten-node tets it bends with them, so that a uniform pressure is a uniform load.

    >>> import pliant as pl
    >>> chamber = pl.solids.box((0.02, 0.02, 0.01), centered=True)
    >>> mesh = (pl.solids.box((0.04, 0.04, 0.03), centered=True) - chamber).filled(size=5e-3)
    >>> robot = pl.Robot(pl.TetBody(mesh, pl.NeoHookean(E=100e3, nu=0.4), fixed=mesh.where(z_below=-0.015)))
    >>> robot.impose("air", pl.Cavity(chamber), effort=2e3)  # [Pa]
    >>> state = pl.Statics(robot).solve().require().state
    >>> bool(1e-8 < robot.displacement(state, "air")[0] < 1e-6)  # it grows by less than a millilitre
    True
    """

    effort_unit: ClassVar[str] = "Pa"
    displacement_unit: ClassVar[str] = "m^3"
    spans: ClassVar[bool] = False

    def __init__(self, surface: SurfaceMesh) -> None:
        """surface: the wall of the cavity, closed, oriented either way."""
        if not isinstance(surface, SurfaceMesh):
            raise InputError(
                f"a Cavity needs a SurfaceMesh, not a {type(surface).__name__}",
                remedy="read it with pliant.SurfaceMesh.read(...), or take a component of mesh.surface()",
            )
        surface.require_closed()
        points, triangles = np.array(surface.nodes), surface.triangles.astype(np.int64)
        volume = enclosed_volume(triangles, np.full(len(triangles), 1 / 6), points)
        if volume == 0:
            raise InputError("the cavity encloses no volume", remedy="give a closed surface that is not flat")
        self._set_wall(points, triangles if volume > 0 else triangles[:, ::-1].copy())

    def _set_wall(self, points: Array, patches: Ids) -> None:
        """Patches of three or six points that the wall consists of; all others follows from them."""
        self.points = points
        self.triangles = patches[:, :3]
        self._triples, self._factors = volume_form(patches)
        self.rest_volume = self.volume(points)
        directed = self._triples[:, [[0, 1], [1, 2], [2, 0]]]
        keys = directed.max(axis=2) * len(points) + directed.min(axis=2)
        unique, slots = np.unique(keys, return_inverse=True)
        self._slots = slots.reshape(-1, 3).astype(np.int64)
        self._signs = np.where(directed[:, :, 0] > directed[:, :, 1], 1.0, -1.0)
        self.curved_pairs = np.stack([unique // len(points), unique % len(points)], axis=1)

    def seen_by(self, body: Body) -> Cavity:
        """The same wall cut to the size of the body's elements, with middles of edges on ten-node tets."""
        if body.cell_size is None:
            return self
        self._require_within(body, body.cell_size)
        points, patches = cut_to_size(self.points, self.triangles, 0.75 * body.cell_size)
        if isinstance(body, TetBody) and body.order == 2:
            points, patches = with_middles(points, patches)
        fitted = object.__new__(type(self))
        fitted._set_wall(points, patches)
        return fitted

    def _require_within(self, body: Body, margin: float) -> None:
        """Refuse a wall that reaches out of the body, before it is cut to millions of pieces."""
        lower, upper = self.points.min(axis=0), self.points.max(axis=0)
        low, high = body.rest.min(axis=0), body.rest.max(axis=0)
        if (lower < low - margin).any() or (upper > high + margin).any():
            raise InputError(
                f"the cavity reaches from {_place(lower)} to {_place(upper)} m and the body from {_place(low)} to "
                f"{_place(high)} m",
                remedy="read the cavity with the unit of its file (unit='mm'), in the same frame as the body",
            )

    def check_place(self, body: Body) -> None:
        """Refuse a cavity that is full of the body's material: there is no chamber that could be inflated."""
        corners = self.points[self.triangles]
        normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        area = np.linalg.norm(normal, axis=1)
        step = 0.1 * (body.cell_size or 0.0) * normal / area[:, None]
        middle = corners.mean(axis=1)
        full = body.contains(middle - step) & body.contains(middle + step)
        share = float(area[full].sum() / area.sum())
        if share > MOST_FULL:
            raise InputError(
                f"{100 * share:.0f} % of the cavity's wall have the body's material on both sides",
                remedy="cut the chamber out of the solid first: (solid - chamber).filled(size), or read a mesh that has it",
                share=share,
            )

    def volume(self, p: Array) -> float:
        """Enclosed volume [m^3] with the wall's points at p [k, 3]."""
        return float(enclosed_volume(self._triples, self._factors, p))

    def displacement(self, p: Array) -> Array:
        return np.array([self.volume(p) - self.rest_volume])

    def slope(self, p: Array) -> Array:
        out = np.zeros((1, len(p), 3))
        add_volume_slope(self._triples, self._factors, p, out[0])
        return out

    def curvature(self, p: Array, efforts: Array) -> Array:
        out = np.zeros((len(self.curved_pairs), 3, 3))
        add_volume_curvature(self._triples, self._factors, p, self._slots, self._signs, efforts[0], out)
        return out


def _place(point: Array) -> list[float]:
    return [float(f"{value:.4g}") for value in point]
