"""A cable with friction where it bends, for plants."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.checks import number
from pliant.port._cable_kernels import add_shortening_curvature, add_shortening_slope, polyline_length
from pliant.port.cable import Cable
from pliant.port.port import Array, InnerLaw

NOWHERE: Array = np.empty((0, 3))
"""Of a part of the cable that comes from no place in space."""


class Capstan(Cable):
    """A cable with Coulomb friction at its bends: the tension falls by exp(-mu theta_k s_k) at point k (capstan formula).

    theta_k is the angle of the bend and s_k in [-1, 1] the direction of slip, regularized: s_k = z_k / slip, with z_k the slip
    since the anchor of point k, |z_k| <= slip; the anchor follows where it would be more (elastic-plastic). Anchors are
    memory of the `State`, moved by accepted steps only.

    Rows: the cable's own (tension T_0 at the pull, length taken in) and, for every bend k, the length u_k that has slipped
    through it towards the pull, with the effort T_k - T_(k-1), minus the friction there. So the nodes feel T_0 H_0^T plus the
    frictions' own rows, and what is put in at the pull minus the work on the nodes is sum (T_(k-1) - T_k) du_k.

    The efforts of the bends follow from the tension, so only `robot.impose` takes this port, by tension or by length.
    """

    remembers: ClassVar[bool] = True

    def __init__(
        self, points: ArrayLike, pull: ArrayLike | None = None, *, friction: float, slip: float = 1e-5
    ) -> None:
        """friction: coefficient mu; slip [m]: the way on which friction builds up. The rest as in `Cable`."""
        super().__init__(points, pull)
        self.friction = number(
            friction, "friction", least=0.0, remedy="give a coefficient of friction >= 0, such as 0.2"
        )
        self.slip = number(slip, "slip", unit="m", above=0.0, remedy="give a small positive length, such as 1e-5")
        rest = self._way(self.points)
        self._bends = len(rest) - 2
        self._rest_tails = np.array([polyline_length(NOWHERE, rest[k:]) for k in range(1, self._bends + 1)])
        self.row_names = ("", *(f"bend{k}" for k in range(1, self._bends + 1)))

    @property
    def given_rows(self) -> int:
        return 1

    @property
    def target_names(self) -> tuple[str, ...]:
        return ("",)

    def goal(self, target: Array) -> Array:
        return np.concatenate([target, np.zeros(self._bends)])

    def first_memory(self) -> Array:
        """Anchors of all bends: no slip at rest."""
        return np.zeros(self._bends)

    def angles(self, p: Array) -> Array:
        """Angles of the bends [rad] with the points at p, [bends]."""
        along = np.diff(self._way(p), axis=0)
        along /= np.maximum(np.linalg.norm(along, axis=1)[:, None], 1e-300)
        crossed = np.linalg.norm(np.cross(along[1:], along[:-1]), axis=1)
        return np.asarray(np.arctan2(crossed, np.einsum("ki,ki->k", along[1:], along[:-1])))

    @staticmethod
    def tensions(efforts: Array) -> Array:
        """Tension [N] of every segment, from the pull to the tied end, of the port's efforts."""
        return np.asarray(np.cumsum(efforts))

    def inner_law(self, p: Array, efforts: Array, memory: Array) -> InnerLaw:
        """Friction T (1 - exp(-mu theta s)) as a law of the slip: its limits and its secant at the slip of now, with the
        tensions and angles of now."""
        before = np.maximum(self.tensions(efforts)[:-1], 0.0)
        grip = self.friction * self.angles(p)
        s = np.clip((self.displacement(p)[1:] - memory) / self.slip, -1.0, 1.0)
        build_up = grip * s
        # (1 - exp(-x)) / x, which is 1 at x = 0
        share = np.where(np.abs(build_up) > 1e-9, -np.expm1(-build_up) / np.where(build_up == 0, 1.0, build_up), 1.0)
        stiffness = before * grip * share / self.slip
        compliance = np.where(stiffness > 0, 1.0 / np.where(stiffness > 0, stiffness, 1.0), 0.0)
        return InnerLaw(memory, before * np.expm1(-grip), before * np.expm1(grip), compliance)

    def remembered(self, p: Array, memory: Array) -> Array:
        slipped = self.displacement(p)[1:]
        return np.asarray(slipped - np.clip(slipped - memory, -self.slip, self.slip))

    def displacement(self, p: Array) -> Array:
        way = self._way(p)
        tails = np.array([polyline_length(NOWHERE, way[k:]) for k in range(1, self._bends + 1)])
        return np.concatenate([[self.rest_length - self.length(p)], self._rest_tails - tails])

    def slope(self, p: Array) -> Array:
        way = self._way(p)
        out = np.zeros((1 + self._bends, len(p), 3))
        add_shortening_slope(self._pull, p, out[0])
        for k in range(1, self._bends + 1):
            add_shortening_slope(NOWHERE, way[k:], out[k, k - self._ahead :])
        return out

    def curvature(self, p: Array, efforts: Array) -> Array:
        way, count = self._way(p), len(p)
        out = np.zeros((2 * count - 1, 3, 3))
        add_shortening_curvature(self._pull, p, float(efforts[0]), out[:count], out[count:])
        for k in range(1, self._bends + 1):
            first = k - self._ahead
            own, between = out[first:count], out[count + first :]
            add_shortening_curvature(NOWHERE, way[k:], float(efforts[k]), own, between)
        return out
