"""A moment that follows the part that it acts on."""

from __future__ import annotations

from copy import copy
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.algebra.rotation import cross_matrix
from pliant.body import Body
from pliant.port.frame import Frame
from pliant.port.port import Array, Port, as_direction
from pliant.port.region import Where, as_where


class Moment(Port):
    """Moment [N m] about an axis that goes along with a rigid part (or with the best rigid fit to a region of a body).

    The moment on the part is lambda R a, with R its rotation from rest and a the axis at rest. The row is the turn about that
    axis since the linearization, with its orientation R_ref there,

        delta = (R_ref a) . log(R R_ref^T)

    whose slope at the linearization is the spin about the axis. A turn about a carried axis is no function of the pose: it can
    be read (from rest: a . log R), but not given or wanted. So the moment has no potential either, but where parts turn in one
    plane only; the tangent has the symmetric part of the load's stiffness, which is that of a moment that turns half as far as
    the part (semi-tangential, Argyris et al. 1978), and Newton's method takes the other from `swirl`.

    >>> import pliant as pl
    >>> strip = pl.Section.rectangle(0.02, 0.001)
    >>> rod = pl.RodBody(pl.Curve([(0, 0, 0), (0.5, 0, 0)]), strip, E=2e9, nu=0.3, density=1200, count=12, fixed="start")
    >>> robot = pl.Robot(rod)
    >>> robot.impose("bend", pl.Moment("end", axis=(0, 1, 0)), effort=np.pi * 2e9 * strip.Iy / 0.5)  # half a circle
    >>> state = pl.Statics(robot, load_steps=4).solve().require().state
    >>> bool(abs(rod.centreline(state.x)[-1, 2] + 2 * 0.5 / np.pi) < 1e-8)  # its diameter below [m]
    True
    """

    effort_unit: ClassVar[str] = "N m"
    displacement_unit: ClassVar[str] = "rad"
    relative: ClassVar[bool] = True
    spans: ClassVar[bool] = False
    load_only: ClassVar[bool] = True
    row_units = ("rad",)

    def __init__(self, where: Where, *, axis: ArrayLike) -> None:
        """where: the name of a rigid part, node indices, or material points [k, 3] [m] at rest, three or more and not on a
        line; axis [3]: of the moment at rest, right-handed."""
        self._frame = Frame(as_where(where, "where"), rows="rx ry rz")
        self.axis = as_direction(axis, "axis")
        self._carried = self.axis

    def seen_by(self, body: Body) -> Moment:
        """With the region's places on this body as points."""
        attached = copy(self)
        attached._frame = frame = self._frame.seen_by(body)
        attached.points, attached.nodes, attached.curved_pairs = frame.points, frame.nodes, frame.curved_pairs
        return attached

    def reference(self, p: Array) -> Array:
        return self._frame.reference(p)

    def measured_from(self, reference: Array) -> Moment:
        faced = copy(self)
        faced._frame, faced._carried = self._frame.measured_from(reference), reference @ self.axis
        return faced

    def displacement(self, p: Array) -> Array:
        return np.array([self._carried @ self._frame.displacement(p)])

    def slope(self, p: Array) -> Array:
        return np.asarray(np.tensordot(self._carried, self._frame.slope(p), 1)[None])

    def curvature(self, p: Array, efforts: Array) -> Array:
        return self._frame.curvature(p, float(efforts[0]) * self._carried)

    def swirl(self, p: Array, efforts: Array) -> tuple[Array, Array] | None:
        moment = float(efforts[0]) * (self._frame.orientation(p) @ self.axis)
        return (self._frame.spins(p), -0.5 * cross_matrix(moment)) if efforts[0] else None
