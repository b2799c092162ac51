"""How far a joint has gone: its angle or its way as a function of its two frames, with slope and curvature.

A joint has a frame of four nodes on each side, which coincide at rest: the pivot p_0 and tips p_1, p_2, p_3 at a distance l
along directions e_1, e_2 and the axis e_3; those of the other side are p_4 ... p_7. All that is measured is made of dot
products of differences of nodes, s = (A p) . (B p) with numbers A, B (8,), whose slope is A_n (B p) + B_n (A p) and whose
curvature (A_m B_n + B_m A_n) I is the same everywhere.
"""

from __future__ import annotations

import numpy as np

from pliant.body._joint_kernels import find_angles
from pliant.body.body import Array

FRAME = 4
"""Nodes of a frame."""


def _difference(end: int, begin: int) -> Array:
    out = np.zeros(2 * FRAME)
    out[end], out[begin] = 1.0, -1.0
    return out


class Product:
    """s = (A p) . (B p) of the eight nodes of joints, p (..., 8, 3)."""

    def __init__(self, A: Array, B: Array) -> None:
        self._A, self._B = A, B
        self.curvature = np.outer(A, B) + np.outer(B, A)
        """Times I: the second slope (8, 8)."""

    def at(self, p: Array) -> tuple[Array, Array]:
        """s (...) and its slope (..., 8, 3)."""
        a, b = (np.einsum("n,...ni->...i", part, p) for part in (self._A, self._B))
        slope = np.einsum("n,...i->...ni", self._A, b) + np.einsum("n,...i->...ni", self._B, a)
        return np.einsum("...i,...i->...", a, b), slope


WAY = Product(_difference(0, 4), _difference(7, 4))
APART = sum(np.outer(d, d) for d in (_difference(k, 0) - _difference(4 + k, 4) for k in (1, 2, 3)))
"""Of sum_k |(p_k - p_0) - (p_4+k - p_4)|^2 / 2, the second slope over I, (8, 8)."""


def angle(p: Array, *, curved: bool = True) -> tuple[Array, Array, Array]:
    """theta = atan2(s, c) (...) [rad] of frames p (..., 8, 3), slope (..., 8, 3) and curvature (..., 8, 3, 8, 3), empty where
    it is not asked for: how far the first tip of a has turned about the axis of b, -pi to pi. s and c are its products with the
    tips of b."""
    shape = p.shape[:-2]
    frames = np.ascontiguousarray(p).reshape(-1, 2 * FRAME, 3)
    angles, slopes = np.empty(len(frames)), np.empty(frames.shape)
    curvatures = np.empty((len(frames) if curved else 0, 2 * FRAME, 3, 2 * FRAME, 3))
    find_angles(frames, angles, slopes, curvatures)
    if curved:
        curvatures = curvatures.reshape(*shape, *curvatures.shape[1:])
    return angles.reshape(shape), slopes.reshape(p.shape), curvatures


def way(p: Array, size: Array | float) -> tuple[Array, Array, Array]:
    """(p_0 - p_4) . e_3 (...) [m] of frames of a size l (...) [m], slope and curvature: how far a is along b's axis."""
    s, ds = WAY.at(p)
    scale = 1.0 / np.broadcast_to(np.asarray(size, float), s.shape)
    curved = np.einsum("...,mn,ij->...minj", scale, WAY.curvature, np.eye(3))
    return scale * s, scale[..., None, None] * ds, curved


def misalignment(p: Array, size: Array | float) -> tuple[Array, Array, Array]:
    """1 - cos(angle) (...) = sum_k |e_k - e_k'|^2 / 4 of frames of a size l (...) [m], slope and curvature, which is the same
    everywhere and never negative."""
    scale = 0.5 / np.broadcast_to(np.asarray(size, float) ** 2, p.shape[:-2])
    slope = np.einsum("...,mn,...ni->...mi", scale, APART, p)
    curved = np.einsum("...,mn,ij->...minj", scale, APART, np.eye(3))
    return 0.5 * np.einsum("...mi,...mi->...", slope, p), slope, curved
