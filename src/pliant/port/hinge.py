"""The angle of a region about an axis."""

from __future__ import annotations

from copy import copy
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.body import Body
from pliant.errors import InputError
from pliant.port.joint import HingeOnJoint
from pliant.port.port import Array, Ids, Port, as_direction, as_points
from pliant.port.region import Where, all_pairs, as_where, located_together


class Hinge(Port):
    """Torque [N m] on a region about an axis fixed in space, and the angle [rad] by which the region has turned about it.

    With places relative to the axis and across it, X_i at rest and x_i now, the angle of the best planar fit is

        theta = atan2(s, c),    s = sum a . (X_i x x_i),    c = sum X_i . x_i

    between -pi and pi: it jumps beyond half a turn either way. With `against`, delta is the angle of the first region minus
    that of the second, and the torque acts on both, in opposite senses.

    The hinge of a joint, whose axis goes along with its parts, is `Hinge.on(joint)`.
    """

    effort_unit: ClassVar[str] = "N m"
    displacement_unit: ClassVar[str] = "rad"

    def __init__(self, where: Where, *, point: ArrayLike, axis: ArrayLike, against: Where | None = None) -> None:
        """where, against: the name of a rigid part, node indices, or material points [k, 3] [m] at rest; point [3] [m] and
        axis [3]: the axis of the hinge, right-handed."""
        self._regions = [as_where(where, "where")] + ([] if against is None else [as_where(against, "against")])
        self.point, self.axis = as_points(point, "point")[0], as_direction(axis, "axis")
        self._parts: list[tuple[slice, Ids]] = []
        self._across, self._around = np.empty((0, 3)), np.empty((0, 3))

    @staticmethod
    def on(joint: str) -> HingeOnJoint:
        """The torque and the angle of a `Revolute` joint, by its name in the robot."""
        return HingeOnJoint(joint)

    def seen_by(self, body: Body) -> Hinge:
        """With the regions' places on this body as points."""
        attached = copy(self)
        attached.points, attached.nodes, own = located_together(self._regions, body, "Hinge")
        attached._parts = [(part, all_pairs(part.stop - part.start, part.start)) for part in own]
        attached.curved_pairs = np.concatenate([pairs for _, pairs in attached._parts])
        attached._across, attached._around = attached._levers()
        return attached

    def _levers(self) -> tuple[Array, Array]:
        """X_i across the axis and a x X_i, [k, 3], over the sum of X_i^2, so that s and c are sine and cosine at rest."""
        arms = self.points - self.point
        across = arms - np.outer(arms @ self.axis, self.axis)
        for part, _ in self._parts:
            size = float(np.sum(across[part] ** 2))
            if not size > (1e-9 * float(np.abs(arms).max(initial=1e-300))) ** 2:
                raise InputError("Hinge of points on its own axis", remedy="choose points away from the axis")
            across[part] /= size
        return across, np.cross(self.axis, across)

    def _sine_cosine(self, p: Array, part: slice) -> tuple[float, float]:
        moved = p[part] - self.point
        return float(np.vdot(self._around[part], moved)), float(np.vdot(self._across[part], moved))

    def displacement(self, p: Array) -> Array:
        angles = [np.arctan2(*self._sine_cosine(p, part)) for part, _ in self._parts]
        return np.array([angles[0] - sum(angles[1:])])

    def slope(self, p: Array) -> Array:
        out = np.empty((1, len(p), 3))
        for sign, (part, _) in zip((1, -1), self._parts, strict=False):
            s, c = self._sine_cosine(p, part)
            out[0, part] = sign * (c * self._around[part] - s * self._across[part]) / (s * s + c * c)
        return out

    def curvature(self, p: Array, efforts: Array) -> Array:
        """The second derivatives of atan2 by s and c, which are linear in p."""
        out = []
        for sign, (part, pairs) in zip((1, -1), self._parts, strict=False):
            s, c = self._sine_cosine(p, part)
            scale = sign * float(efforts[0]) / (s * s + c * c) ** 2
            u, v = self._around, self._across
            i, j = pairs.T
            mixed = np.einsum("ca,cb->cab", u[i], v[j]) + np.einsum("ca,cb->cab", v[i], u[j])
            same = np.einsum("ca,cb->cab", v[i], v[j]) - np.einsum("ca,cb->cab", u[i], u[j])
            out.append(scale * (2 * s * c * same + (s * s - c * c) * mixed))
        return np.concatenate(out)
