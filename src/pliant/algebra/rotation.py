"""Rotations in space: vectors, matrices and quaternions (wxyz)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Array = NDArray[np.float64]


def cross_matrix(a: ArrayLike) -> Array:
    """[a] with [a] b = a x b, for vectors of shape [..., 3]; shape [..., 3, 3]."""
    v = np.asarray(a, dtype=float)
    out = np.zeros((*v.shape[:-1], 3, 3))
    out[..., 0, 1], out[..., 0, 2], out[..., 1, 2] = -v[..., 2], v[..., 1], -v[..., 0]
    out[..., 1, 0], out[..., 2, 0], out[..., 2, 1] = v[..., 2], -v[..., 1], v[..., 0]
    return out


def exponential(theta: ArrayLike) -> Array:
    """Rotation matrix by the angle |theta| [rad] about theta [3] (Rodrigues).

    >>> exponential([0, 0, np.pi / 2]).round(12) + 0.0
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    v = np.asarray(theta, dtype=float)
    angle = float(np.linalg.norm(v))
    K = cross_matrix(v)
    half = np.sinc(angle / (2 * np.pi))  # sin(angle / 2) / (angle / 2)
    rotation: Array = np.eye(3) + np.sinc(angle / np.pi) * K + 0.5 * half * half * K @ K
    return rotation


def nearest_rotation(matrix: ArrayLike) -> Array:
    """The rotation closest to a 3x3 matrix: takes out the rounding that products of rotations collect."""
    U, _, Vt = np.linalg.svd(np.asarray(matrix, dtype=float))
    U[:, 2] *= np.sign(np.linalg.det(U @ Vt))
    rotation: Array = U @ Vt
    return rotation
