"""A sensor of bending: rotations of parts, weighted and summed."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.body import Body
from pliant.checks import as_numbers, number
from pliant.errors import InputError
from pliant.port._flex_kernels import flex, place_flex
from pliant.port.frame import Frame
from pliant.port.port import Array, Placing, Port, as_direction
from pliant.port.region import Where, as_where, located_together


class Flex(Port):
    """A flex sensor: a linear function of the rotations of parts (sections of a rod) as seen from a base part (koehler2023).

        delta = sum c_i alpha_i + c_0,    alpha_i = a . log(R_b^T R_i)

    R: the rotation of a part from rest, that of the best fit to its points; a: an axis that goes along with the base. With the
    spins w of the parts, d alpha_i = a . J(log) R_b^T (w_i - w_b). The unit is what the coefficients make of radians. Rotations
    seen from the base jump beyond half a turn. It has no effort: `robot.sense` only.

    >>> import pliant as pl
    >>> rod = pl.RodBody(pl.Curve([(0, 0, 0), (0.3, 0, 0)]), pl.Section.circle(2e-3), E=70e9, nu=0.33, density=2700, count=10,
    ...     fixed="start")
    >>> robot = pl.Robot(rod)
    >>> robot.impose("load", pl.Force((0.3, 0, 0), direction=(0, 1, 0)), effort=0.01)  # [N]
    >>> robot.sense("strip", pl.Flex({"0.6": 2.0, "0.4": -2.0}, axis=(0, 0, 1), base="start", offset=1.5, unit="V"))
    >>> state = pl.Statics(robot).solve().require().state
    >>> robot.displacement(state, "strip").round(4)  # 2 (alpha_6 - alpha_4) + 1.5
    array([1.5033])
    """

    effort_unit: ClassVar[str] = ""
    displacement_unit: ClassVar[str] = "rad"
    sensed_only: ClassVar[bool] = True

    def __init__(
        self,
        parts: dict[str, float] | Sequence[tuple[Where, float]],
        *,
        axis: ArrayLike,
        base: Where | None = None,
        offset: float = 0.0,
        unit: str = "rad",
    ) -> None:
        """parts: names of rigid parts or of sections with their coefficients c_i [unit/rad], or pairs (where, c_i) with where
        as in `Frame`; axis (3,): of the rotations, at rest; base: what they are seen from, by default the ground; offset: c_0
        [unit]. On several bodies: `body=` one per part, that of the base last."""
        pairs = list(parts.items()) if isinstance(parts, dict) else list(parts)
        if not pairs or not all(isinstance(pair, tuple) and len(pair) == 2 for pair in pairs):
            raise InputError(f"the parts of a Flex are {parts!r}", remedy="give {part: coefficient}, at least one")
        self.coefficients = as_numbers([c for _, c in pairs])
        bad = np.flatnonzero(~np.isfinite(self.coefficients))
        if len(bad):
            raise InputError(f"coefficient {bad[0]} of a Flex is {pairs[bad[0]][1]!r}", remedy="give a finite number")
        self._regions = [as_where(where, "part") for where, _ in pairs]
        if base is not None:
            self._regions.append(as_where(base, "base"))
        self.axis, self.offset = as_direction(axis, "axis"), number(offset, "offset")
        if not isinstance(unit, str):
            raise InputError(f"the unit of a Flex is {unit!r}", remedy="give a text, such as 'V'")
        self.row_units = (unit,)
        self._ends, self._arms = np.zeros(0, np.int64), np.empty((0, 3))

    @property
    def effort_units(self) -> tuple[str, ...]:
        return ("",)

    def seen_by(self, body: Body) -> Flex:
        """With the parts' places on this body as points."""
        attached = copy(self)
        attached.points, attached.nodes, own = located_together(self._regions, body, "Flex")
        regions = [
            Frame(attached.points[part], rows="rx ry rz").seen_by(body).points for part in own
        ]  # each has a rotation
        attached._ends = np.array([0, *(part.stop for part in own)], np.int64)
        attached._arms = np.concatenate([(points - points.mean(axis=0)) / len(points) for points in regions])
        return attached

    def displacement(self, p: Array) -> Array:
        return np.array([self._measured(p)[0]])

    def slope(self, p: Array) -> Array:
        return self._measured(p)[1][None]

    def _measured(self, p: Array) -> tuple[float, Array]:
        """delta, and its slope by the points (k, 3)."""
        slope = np.zeros((len(p), 3))
        value = flex(np.ascontiguousarray(p), self._ends, self._arms, self.axis, self.coefficients, slope)
        return self.offset + float(value), slope

    def placed(self, on: Placing, x: Array) -> tuple[Array, Array, Array] | None:
        out = np.empty((len(self.points), 3)), np.empty(1), np.empty((1, on.entries, 3))
        own = self._ends, self._arms, self.axis, self.coefficients, self.offset
        place_flex(on.begin, on.nodes, on.weights, on.slots, *own, x, *out)
        return out
