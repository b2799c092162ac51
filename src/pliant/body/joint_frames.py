"""The frames of joints as a body: what springs, dampers and stops in joints do, and what ports on joints hold on to."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.body.body import Array, Body, Ids, Supports
from pliant.body.joint import Joint
from pliant.body.joint_motion import FRAME, angle, misalignment, way
from pliant.errors import InputError

BOTH = 2 * FRAME


class JointFrames(Body):
    """Two frames of four nodes for every joint, without mass; those of joint k are the nodes 8 k to 8 k + 7, first a's, then
    b's (see `joint_motion`). Its energy is that of the joints' springs and stops."""

    deforms: ClassVar[bool] = False

    def __init__(self, joints: Sequence[Joint], points: Array, size: float) -> None:
        """points (j, 3) [m]: the pivots; size [m]: of the frames."""
        self.joints, self.size = tuple(joints), size
        tips = np.array([_axes(joint.axis) for joint in joints]).reshape(-1, 3, 3)
        frames = points[:, None] + size * np.concatenate([np.zeros((len(points), 1, 3)), tips], axis=1)
        self.rest = np.concatenate([frames, frames], axis=1).reshape(-1, 3)
        self._turning, self._shifting, self._swinging = (
            np.array([k for k, joint in enumerate(joints) if joint.motion == motion and joint.has_law], np.int64)
            for motion in ("angle", "way", "ball")
        )
        lawful = np.sort(np.concatenate([self._turning, self._shifting, self._swinging]))
        self._first = np.full(len(joints), -1, np.int64)
        a, b = np.tril_indices(BOTH)
        self._first[lawful] = len(a) * np.arange(len(lawful))
        self.rows = (BOTH * lawful[:, None] + a).reshape(-1)
        self.cols = (BOTH * lawful[:, None] + b).reshape(-1)
        self._law = {
            name: np.array([getattr(joint, name) for joint in joints], float)
            for name in ("stiffness", "damping", "rest", "stop")
        }
        self._limits = np.array([joint.limits for joint in joints]).reshape(-1, 2)
        self.supports = Supports()
        self.mass_weights, self.load_masses = np.zeros(len(self.rows)), np.zeros(len(self.rest))
        self.mass_damping = self.stiffness_damping = 0.0

    def nodes_of(self, joint: int) -> Ids:
        """The eight nodes of a joint."""
        return np.arange(BOTH * joint, BOTH * (joint + 1))

    def accumulate(self, x: Array, force: Array, blocks: Array, *, exact: float = 0.0, warped: float = 0.0) -> float:
        """See `Body.accumulate`; the warped tangent leaves out how motions curve, so that it is never negative."""
        energy = 0.0
        p, out = x.reshape(-1, BOTH, 3), force.reshape(-1, BOTH, 3)
        for ids, (delta, slope, curvature) in self._motions(p):
            value, pull, stiff = self._law_of(ids, delta)
            energy += float(value.sum())
            out[ids] += pull[:, None, None] * slope
            if exact or warped:
                curved = exact + warped if ids is self._swinging else exact
                matrices = _scaled((exact + warped) * stiff, _square(slope)) + _scaled(curved * pull, curvature)
                self._add(ids, matrices, blocks)
        return energy

    def _law_of(self, ids: Ids, delta: Array) -> tuple[Array, Array, Array]:
        """Energies of joints at their motions, first and second slope, (j,) each: k delta of a ball, whose delta is 1 - cos."""
        k, stop = self._law["stiffness"][ids], self._law["stop"][ids]
        if ids is self._swinging:
            return k * delta, k, np.zeros(len(ids))
        low, high = self._limits[ids].T
        beyond = np.where(delta > high, delta - high, np.where(delta < low, delta - low, 0.0))
        off = delta - self._law["rest"][ids]
        return 0.5 * (k * off**2 + stop * beyond**2), k * off + stop * beyond, k + stop * (beyond != 0.0)

    @property
    def is_damped_inside(self) -> bool:
        """See `Body.is_damped_inside`."""
        return bool(self._law["damping"].any())

    def add_damping(self, x: Array, scale: float, blocks: Array) -> None:
        """See `Body.add_damping`: c H^T H of every damper."""
        for ids, (_, slope, curvature) in self._motions(x.reshape(-1, BOTH, 3)):
            c = scale * self._law["damping"][ids]
            if not c.any():
                continue
            self._add(ids, _scaled(c, curvature if ids is self._swinging else _square(slope)), blocks)

    def _motions(self, p: Array) -> list[tuple[Ids, tuple[Array, Array, Array]]]:
        """Joints that have a law, by kind, and their motions with slopes and curvatures."""
        out = []
        if len(self._turning):
            out.append((self._turning, angle(p[self._turning])))
        if len(self._shifting):
            out.append((self._shifting, way(p[self._shifting], self.size)))
        if len(self._swinging):
            out.append((self._swinging, misalignment(p[self._swinging], self.size)))
        return out

    def _add(self, ids: Ids, matrices: Array, blocks: Array) -> None:
        """Matrices (j, 8, 3, 8, 3) of joints to their blocks."""
        a, b = np.tril_indices(BOTH)
        places = self._first[ids][:, None] + np.arange(len(a))
        blocks[places.reshape(-1)] += matrices.transpose(0, 1, 3, 2, 4)[:, a, b].reshape(-1, 3, 3)

    def embed(self, points: ArrayLike, max_distance: float | None = None) -> tuple[Ids, Array]:
        """Frames of joints carry nothing."""
        raise InputError("a joint carries no points", remedy="attach the port to one of its bodies")

    def contains(self, points: Array) -> NDArray[np.bool_]:
        """See `Body.contains`: nothing."""
        return np.zeros(len(points), bool)

    def inverted_elements(self, x: Array) -> Ids:
        """See `Body.inverted_elements`: there are none."""
        return np.empty(0, np.int64)


def _scaled(factors: Array, matrices: Array) -> Array:
    return np.asarray(factors[:, None, None, None, None] * matrices)


def _square(slope: Array) -> Array:
    return np.asarray(np.einsum("jmi,jnk->jmink", slope, slope))


def _axes(axis: Array) -> Array:
    """Unit vectors e_1, e_2, e_3 = axis, right-handed, as rows."""
    other = np.eye(3)[np.abs(axis).argmin()]
    first = np.cross(other, axis)
    first /= np.linalg.norm(first)
    return np.array([first, np.cross(axis, first), axis])
