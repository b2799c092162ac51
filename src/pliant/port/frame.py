"""Position and orientation of a region."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from pliant.algebra.rotation import (
    cross_matrix,
    from_quaternion,
    logarithm,
    logarithm_curvature,
    logarithm_slope,
    nearest_rotation,
    to_quaternion,
)
from pliant.body import Body
from pliant.errors import InputError
from pliant.port.port import Array, Port
from pliant.port.region import Where, all_pairs, as_where, located

ROWS = ("x", "y", "z", "rx", "ry", "rz")


class Frame(Port):
    """Position [m] and orientation [rad] of a rigid part (exact) or of the best rigid fit to a region of a body; the effort is
    the force [N] and the moment [N m] on it.

    With rest places X_i, the centre c = mean x_i, and A = sum (x_i - c)(X_i - C)^T / k = V R (V symmetric), the orientation is
    R, which fits best in the sense of least squares. The rows are c and

        log(R R_ref^T),    d log = J(log) w,    w = (tr V I - V)^-1 sum y_i x dx_i,    y_i = R (X_i - C) / k

    with R_ref the orientation at the linearization, where J = I: there the rows are the spin and the effort is the moment
    about the axes of space. A moment that keeps its direction in space has no potential: its curvature is that of
    lambda . log(R R_ref^T), at the reference the symmetric part of the load's stiffness; `swirl` has the other. Read without a
    reference (`robot.displacement`), the rotation is that from rest, |log| <= pi.

    Targets are seven numbers: position and unit quaternion wxyz of the rotation from rest (`robot.displacement(state, name,
    as_target=True)` gives those of a state); without rotation rows, one number per row.
    """

    effort_unit: ClassVar[str] = "N, N m"
    displacement_unit: ClassVar[str] = "m, rad"
    relative: ClassVar[bool] = True
    spans: ClassVar[bool] = False

    def __init__(self, where: Where, rows: str | Sequence[str] = ROWS) -> None:
        """where: the name of a rigid part, node indices, or material points [k, 3] [m] at rest, three or more and not on a
        line; rows: those that count, such as "x y z" or "z rx ry"."""
        self._where = as_where(where, "where")
        names = tuple(rows.split()) if isinstance(rows, str) else tuple(rows)
        if not names or not set(names) <= set(ROWS) or len(set(names)) < len(names):
            raise InputError(f"rows are {rows!r}", remedy=f"give some of {' '.join(ROWS)}, each once")
        self.row_names = names
        self.row_units = tuple("rad" if name[0] == "r" else "m" for name in names)
        self._rows = np.array([ROWS.index(name) for name in names])
        self._turns = bool((self._rows >= 3).any())
        self.straight = not self._turns
        self._from = np.eye(3)
        self._arms = np.empty((0, 3))
        self._seen: tuple[Array, Array] | None = None

    def seen_by(self, body: Body) -> Frame:
        """With the region's places on this body as points."""
        attached = copy(self)
        attached._seen = None
        attached.points, attached.nodes = located(self._where, body, "Frame")
        count = len(attached.points)
        attached._arms = (attached.points - attached.points.mean(axis=0)) / count
        spread = np.linalg.svd(attached._arms, compute_uv=False) if count >= 3 else np.zeros(2)
        if self._turns:
            if not spread[1] > 1e-6 * max(spread[0], 1e-300):
                raise InputError(
                    f"Frame of {count} points, all on one line",
                    remedy="an orientation needs three points or more that are not on a line; or rows='x y z'",
                )
            attached.curved_pairs = all_pairs(count)
        return attached

    def orientation(self, p: Array) -> Array:
        """R [3, 3]: the rotation from rest with the points at p [k, 3]; asked again and again with the same."""
        seen = self._seen
        if seen is None or not np.array_equal(seen[0], p):
            self._seen = seen = p.copy(), nearest_rotation(p.T @ self._arms)
        return seen[1]

    def reference(self, p: Array) -> Array:
        return self.orientation(p) if self._turns else np.eye(3)

    def measured_from(self, reference: Array) -> Frame:
        faced = copy(self)
        faced._from = reference
        return faced

    @property
    def target_names(self) -> tuple[str, ...]:
        return ("x", "y", "z", "qw", "qx", "qy", "qz") if self._turns else self.row_names

    def as_target(self, target: ArrayLike) -> Array:
        """See `Port.as_target`; a quaternion whose length is not 1 to 1 % is not a number."""
        value = super().as_target(target)
        if not self._turns:
            return value
        length = float(np.linalg.norm(value[3:]))
        value[3:] /= length if abs(length - 1) < 0.01 else np.nan
        return value

    def goal(self, target: Array) -> Array:
        if not self._turns:
            return target
        rotation = logarithm(from_quaternion(target[3:]) @ self._from.T)
        return np.asarray(np.concatenate([target[:3], rotation])[self._rows])

    @property
    def goal_places(self) -> tuple[tuple[int, int], ...]:
        if not self._turns:
            return tuple((k, -1) for k in range(len(self.row_names)))
        return tuple((int(row), -1) if row < 3 else (3, int(row) - 3) for row in self._rows)

    def reading(self, p: Array) -> Array:
        if not self._turns:
            return self.displacement(p)
        return np.concatenate([p.mean(axis=0), to_quaternion(self.orientation(p))])

    def displacement(self, p: Array) -> Array:
        center = p.mean(axis=0)
        if not self._turns:
            return np.asarray(center[self._rows])
        return np.asarray(np.concatenate([center, self._turn(p)])[self._rows])

    def _turn(self, p: Array) -> Array:
        """log(R R_ref^T), (3,): nothing where it is faced."""
        R = self.orientation(p)
        return np.zeros(3) if R is self._from else logarithm(R @ self._from.T)

    def slope(self, p: Array) -> Array:
        out = np.zeros((6, len(p), 3))
        out[np.arange(3), :, np.arange(3)] = 1 / len(p)
        if self._turns:
            turn = self._turn(p)
            out[3:] = spins = self.spins(p)
            if turn.any():
                out[3:] = np.einsum("rs,skc->rkc", logarithm_slope(turn), spins)
        return np.asarray(out[self._rows])

    def spins(self, p: Array) -> Array:
        """How the region's spin (3,) [rad] goes with its points, [3, k, 3]."""
        R, _, G = self._fit(p)
        return np.asarray(np.einsum("rs,isc->ric", G, cross_matrix(self._arms @ R.T)))

    def swirl(self, p: Array, efforts: Array) -> tuple[Array, Array] | None:
        """Of a moment that keeps its direction in space."""
        moment = np.zeros(6)
        moment[self._rows] = efforts
        return (self.spins(p), 0.5 * cross_matrix(moment[3:])) if moment[3:].any() else None

    def curvature(self, p: Array, efforts: Array) -> Array:
        """With m = G J^T lambda, G = (tr V I - V)^-1, the gradient by A is [m] R; its slope along the nine directions of A."""
        if not self._turns:
            return np.empty((0, 3, 3))
        whole = np.zeros(6)
        whole[self._rows] = efforts
        moment = whole[3:]
        R, V, G = self._fit(p)
        theta = logarithm(R @ self._from.T)
        J, D = logarithm_slope(theta), logarithm_curvature(theta, moment)
        m = G @ J.T @ moment
        along = np.einsum("ai,kj->akij", np.eye(3), R.T)  # dA R^T for dA = e_a e_k^T, where R^T has the columns R e_k
        axial = np.stack(
            [
                along[..., 2, 1] - along[..., 1, 2],
                along[..., 0, 2] - along[..., 2, 0],
                along[..., 1, 0] - along[..., 0, 1],
            ],
            axis=-1,
        )
        spin = axial @ G
        stretch = along - V @ cross_matrix(spin)
        change = (np.einsum("akij,j->aki", stretch, m) - np.einsum("akii,j->akj", stretch, m) + spin @ (D @ J).T) @ G
        # d([m] R) along (b, l), entry (a, k)
        bend = cross_matrix(change) @ R + cross_matrix(m) @ cross_matrix(spin) @ R
        rows, cols = self._arms[self.curved_pairs[:, 0]], self._arms[self.curved_pairs[:, 1]]
        return np.asarray(np.einsum("ck,blak,cl->cab", rows, bend, cols))

    def _fit(self, p: Array) -> tuple[Array, Array, Array]:
        """R, V = A R^T and (tr V I - V)^-1."""
        A, R = p.T @ self._arms, self.orientation(p)
        V = A @ R.T
        V = 0.5 * (V + V.T)
        turning = np.trace(V) * np.eye(3) - V
        # a region crushed to a line has no orientation; NaN is found by the step that crushed it
        usable = np.linalg.det(turning) != 0.0
        return R, V, np.linalg.inv(turning) if usable else np.full((3, 3), np.nan)
