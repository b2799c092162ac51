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
    """The rotation closest to a 3x3 matrix: takes out the rounding that products of rotations collect.

    NaN where the matrix is not finite: a step that went astray is found by who took it, not here.
    """
    given = np.asarray(matrix, dtype=float)
    if not np.isfinite(given).all():
        return np.full((3, 3), np.nan)
    U, _, Vt = np.linalg.svd(given)
    U[:, 2] *= np.sign(np.linalg.det(U @ Vt))
    rotation: Array = U @ Vt
    return rotation


def logarithm(rotation: ArrayLike) -> Array:
    """The rotation vector theta [3] [rad] of a rotation matrix, |theta| <= pi: the inverse of `exponential`.

    >>> logarithm(exponential([0.3, -0.2, 0.1])).round(12)
    array([ 0.3, -0.2,  0.1])
    """
    w, *axis = to_quaternion(rotation)
    sine = float(np.linalg.norm(axis))
    angle = 2.0 * np.arctan2(sine, w)
    vector: Array = np.asarray(axis) * (angle / sine if sine > 1e-12 else 2.0)
    return vector


def to_quaternion(rotation: ArrayLike) -> Array:
    """The unit quaternion wxyz [4], w >= 0, of a rotation matrix (Shepperd 1978: divides by the largest component)."""
    R = np.asarray(rotation, dtype=float)
    trace = float(np.trace(R))
    squares = np.array([trace, R[0, 0], R[1, 1], R[2, 2]])
    k = int(squares.argmax())
    q = np.empty(4)
    if k == 0:
        q[:] = 1 + trace, R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]
    else:
        i, j, l = k - 1, k % 3, (k + 1) % 3
        q[0], q[k] = R[l, j] - R[j, l], 1 + 2 * R[i, i] - trace
        q[1 + j], q[1 + l] = R[j, i] + R[i, j], R[l, i] + R[i, l]
    q /= np.linalg.norm(q)
    return q if q[0] >= 0 else -q


def from_quaternion(quaternion: ArrayLike) -> Array:
    """The rotation matrix of a unit quaternion wxyz [4].

    >>> from_quaternion([np.sqrt(0.5), 0, 0, np.sqrt(0.5)]).round(12) + 0.0
    array([[ 0., -1.,  0.],
           [ 1.,  0.,  0.],
           [ 0.,  0.,  1.]])
    """
    w, *axis = np.asarray(quaternion, dtype=float)
    K = cross_matrix(axis)
    rotation: Array = np.eye(3) + 2 * w * K + 2 * K @ K
    return rotation


def logarithm_slope(theta: ArrayLike) -> Array:
    """J [3, 3] with d log(R) = J dw for a spin dR = [dw] R, at theta = log(R): J = I - [theta]/2 + c [theta]^2,
    c = (1 - t/2 cot(t/2)) / t^2, t = |theta| < 2 pi."""
    K = cross_matrix(theta)
    slope: Array = np.eye(3) - 0.5 * K + _logarithm_factors(theta)[0] * K @ K
    return slope


def logarithm_curvature(theta: ArrayLike, row: ArrayLike) -> Array:
    """D [3, 3] with d(J^T row) = D dtheta, J = `logarithm_slope(theta)`, for a fixed vector `row` [3]."""
    t, b = np.asarray(theta, dtype=float), np.asarray(row, dtype=float)
    c, growth = _logarithm_factors(t)
    K, turned = cross_matrix(t), np.cross(t, b)
    square = -cross_matrix(turned) - K @ cross_matrix(b)  # d([theta]^2 b) / dtheta
    curvature: Array = -0.5 * cross_matrix(b) + c * square + growth * np.outer(np.cross(t, turned), t)
    return curvature


def _logarithm_factors(theta: ArrayLike) -> tuple[float, float]:
    """c(t) of `logarithm_slope`, and c'(t) / t."""
    t = float(np.linalg.norm(np.asarray(theta, dtype=float)))
    if t < 0.05:  # the closed forms cancel there
        return 1 / 12 + t**2 / 720 + t**4 / 30240, 1 / 360 + t**2 / 7560 + t**4 / 201600
    cot, sine = 1 / np.tan(t / 2), np.sin(t / 2)
    c = (1 - t / 2 * cot) / t**2
    return c, (-0.5 * (cot - t / 2 / sine**2) / t**2 - 2 * c / t) / t
