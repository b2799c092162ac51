"""Targets as numbers: places, poses (position and quaternion wxyz) and plain values, on the way from one to another."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.rotation import exponential, from_quaternion, logarithm, to_quaternion
from pliant.errors import InputError
from pliant.port import Port

Array = NDArray[np.float64]

TURNS = ("rx", "ry", "rz")


def is_pose(port: Port) -> bool:
    """Whether targets of a port are a position and a quaternion."""
    return port.target_names[3:] == ("qw", "qx", "qy", "qz")


def between(port: Port, start: Array, end: Array, share: float) -> Array:
    """The target at a share of the way from one to another; a pose turns about the axis of the whole turn."""
    out = np.asarray(start + share * (end - start))
    if is_pose(port):
        R = from_quaternion(start[3:])
        turn = logarithm(from_quaternion(end[3:]) @ R.T)
        out[3:] = to_quaternion(exponential(share * turn) @ R)
    return out


def with_position(port: Port, target: Array, position: Array) -> Array:
    """A target moved to where a path is: by the coordinates that it has, or as a whole where the path gives all of it.

    A pose keeps its orientation on a path of positions; a port that counts x and z takes those of three coordinates.
    """
    names = port.target_names
    if len(position) == len(names):
        return np.array(position, dtype=float)
    places = [names.index(axis) if axis in names else -1 for axis in "xyz"]
    if len(position) != 3 or max(places) < 0:
        said = ", ".join(name for name in names if name) or "a single value"
        raise InputError(f"a path of {len(position)} numbers for a target of {len(names)} ({said})",
                         remedy="give a trajectory of as many numbers")  # fmt: skip
    out = np.array(target, dtype=float)
    for value, place in zip(position, places, strict=True):
        if place >= 0:
            out[place] = value
    return out


def row_value(port: Port, target: Array, row: int) -> float:
    """What a target says of one row: a number, or the rotation from rest about an axis [rad]."""
    if not is_pose(port):
        return float(target[row])
    name = port.row_names[row]
    if name in TURNS:
        return float(logarithm(from_quaternion(target[3:]))[TURNS.index(name)])
    return float(target["xyz".index(name)])


def with_row_value(port: Port, target: Array, row: int, value: float) -> Array:
    """The target with another value in one row; the inverse of `row_value`."""
    out = np.array(target, dtype=float)
    if not is_pose(port):
        out[row] = value
        return out
    name = port.row_names[row]
    if name not in TURNS:
        out["xyz".index(name)] = value
        return out
    turn = logarithm(from_quaternion(out[3:]))
    turn[TURNS.index(name)] = value
    out[3:] = to_quaternion(exponential(turn))
    return out
