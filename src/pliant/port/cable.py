"""A cable (tendon) through a body."""

from __future__ import annotations

from copy import copy
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError
from pliant.port._cable_kernels import (
    add_shortening_curvature,
    add_shortening_slope,
    curve_cable,
    place_cable,
    polyline_length,
)
from pliant.port.port import Array, Couplings, Placing, Port, as_points


class Cable(Port):
    """A cable that slides without friction through points of a body: tension [N] and the length taken in [m].

    delta = L_rest - L with L = sum |p_(k+1) - p_k|, the way from the pull point (where there is one, a place in space) through
    the points to the last, where the cable is tied. Positive tension pulls; a cable cannot push, so its effort is never
    negative (unless it `pushes`). The same tension acts along the whole cable. When the pull point moves (`with_pull`,
    `robot.move_pull`), L_rest stays that of the place where it was first.

    >>> import pliant as pl
    >>> mesh = pl.make.box((0.1, 0.02, 0.02), (10, 2, 2))
    >>> robot = pl.Robot(pl.TetBody(mesh, pl.Linear(E=300e3, nu=0.4), fixed=mesh.where(x_below=0)))
    >>> tendon = pl.Cable([(0.01, 0.01, 0.018), (0.09, 0.01, 0.018)], pull=(-0.02, 0.01, 0.018))
    >>> robot.impose("tendon", tendon, effort=0.5)  # [N]
    >>> state = pl.Statics(robot).solve().require().state
    >>> bool(robot.displacement(state, "tendon")[0] > 5e-4)  # half a millimetre of cable comes in
    True
    """

    effort_unit: ClassVar[str] = "N"
    displacement_unit: ClassVar[str] = "m"

    effort_range = (0.0, np.inf)

    def __init__(self, points: ArrayLike, pull: ArrayLike | None = None, *, pushes: bool = False) -> None:
        """points [k, 3]: material points at rest [m], in order from the motor to the tied end; pull [3]: the place in
        space that the cable comes from, None where it runs between points of the body only (at least two); pushes: whether
        it is a stiff wire, which can be pushed as well (its tension may be negative)."""
        if pushes:
            self.effort_range = (-np.inf, np.inf)
        self.points = as_points(points, "cable points")
        self._pull = np.empty((0, 3)) if pull is None else as_points(pull, "pull")[:1]
        if pull is None and len(self.points) < 2:
            raise InputError(
                "a cable with one point and no pull point has no length", remedy="give pull= or more points"
            )
        self._ahead = len(self._pull)
        lengths = np.linalg.norm(np.diff(self._way(self.points), axis=0), axis=1)
        short = np.flatnonzero(lengths < 1e-9)
        if len(short):
            raise InputError(
                f"segment {short[0]} of the cable has length zero",
                remedy="leave out repeated points",
                segment=int(short[0]),
            )
        self.rest_length = float(lengths.sum())
        k = np.arange(len(self.points))
        self.curved_pairs = np.concatenate([np.stack([k, k], axis=1), np.stack([k[1:], k[:-1]], axis=1)])

    def with_pull(self, position: ArrayLike) -> Cable:
        """The same cable, as long as it was, pulled from another place [3] [m]."""
        if self.pull is None:
            raise InputError("a cable without a pull point has none to move", remedy="make it with pull=")
        place = as_points(position, "pull")
        if len(place) != 1:
            raise InputError(f"{len(place)} places to pull from", remedy="give one of three coordinates")
        moved = copy(self)
        moved._pull = place
        return moved

    @property
    def pull(self) -> Array | None:
        """The place in space that the cable comes from [m], [3]."""
        return self._pull[0] if len(self._pull) else None

    def _way(self, p: Array) -> Array:
        return np.concatenate([self._pull, p])

    def length(self, p: Array) -> float:
        """Length of the cable [m] with its points at p [k, 3]."""
        return float(polyline_length(self._pull, p))

    def displacement(self, p: Array) -> Array:
        return np.array([self.rest_length - self.length(p)])

    def slope(self, p: Array) -> Array:
        out = np.zeros((1, len(p), 3))
        add_shortening_slope(self._pull, p, out[0])
        return out

    def curvature(self, p: Array, efforts: Array) -> Array:
        """d2 delta = -(I - t t^T) / l on both ends of each segment, the opposite between them."""
        out = np.zeros((2 * len(p) - 1, 3, 3))
        add_shortening_curvature(self._pull, p, float(efforts[0]), out[: len(p)], out[len(p) :])
        return out

    def placed(self, on: Placing, x: Array) -> tuple[Array, Array, Array] | None:
        if type(self) is not Cable:
            return None
        out = np.empty((len(self.points), 3)), np.empty(1), np.empty((1, on.entries, 3))
        place_cable(on.begin, on.nodes, on.weights, on.slots, self._pull, self.rest_length, x, *out)
        return out

    def curved(self, on: Couplings, p: Array, efforts: Array, out: Array) -> bool:
        if type(self) is not Cable:
            return False
        curve_cable(on.pairs, on.slots, on.weights, self._pull, p, float(efforts[0]), out)
        return True
