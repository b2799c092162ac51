"""What moves a lattice from outside: loads, given motions, motors, and laws of springs."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant.errors import InputError
from pliant.motion.explicit.signals import Signal


@dataclass(frozen=True, eq=False)
class Load:
    """A force [N] on each of some nodes, (3,) or one per node [k, 3], times a signal."""

    nodes: ArrayLike
    force: ArrayLike
    signal: Signal | None = None


@dataclass(frozen=True, eq=False)
class GivenMotion:
    """Nodes that move as rest + direction * signal(t): direction (3,) or one per node [k, 3] [m]."""

    nodes: ArrayLike
    direction: ArrayLike
    signal: Signal


@dataclass(frozen=True, eq=False)
class Motor:
    """Turns the nodes of a hub about an axis that is fixed in a base.

    hub: nodes that the motor holds, at least three, such as the inner end of a leg. axis (3,), point (3,) [m]: of the axle, at
    rest. base: nodes, at least three, not on one line, that carry the motor and feel the opposite force and torque (a stiff
    part of the body around the axle); without one the axle is fixed in the world. speed [rad/s], phase [rad]: the angle is
    phase + speed (t - start / 2) after `start` seconds, in which it is brought up smoothly from zero. stiffness [N/m]: with
    which every hub node is held (default: that of the node against its neighbours).
    """

    hub: ArrayLike
    axis: ArrayLike
    point: ArrayLike
    base: ArrayLike | None = None
    speed: float = 0.0
    phase: float = 0.0
    start: float = 0.1
    stiffness: float | None = None

    def __post_init__(self) -> None:
        axis, point = np.asarray(self.axis, float), np.asarray(self.point, float)
        good = axis.shape == (3,) and point.shape == (3,) and np.isfinite(point).all() and np.isfinite(axis).all()
        if not good:
            raise InputError(
                f"a motor with axis {self.axis} through {self.point}", remedy="give three finite numbers each"
            )
        if not np.linalg.norm(axis) > 0:
            raise InputError("the axis of a motor is zero", remedy="give a direction such as (0, 0, 1)")
        if not (np.isfinite((self.speed, self.phase, self.start)).all() and self.start >= 0):
            raise InputError(
                f"a motor with speed {self.speed}, phase {self.phase}, start {self.start}",
                remedy="give finite numbers, start >= 0 s",
            )


@dataclass(frozen=True)
class SpringLaw:
    """Tension of springs by a table: tension / (k L) at rising strains l / L - 1, linear between and beyond.

    A linear spring has tension = strain. Example, slack under pressure: SpringLaw((-1, 0, 1), (0, 0, 1)).
    """

    strain: tuple[float, ...]
    tension: tuple[float, ...]

    def __post_init__(self) -> None:
        strain, tension = np.asarray(self.strain, float), np.asarray(self.tension, float)
        good = strain.ndim == 1 and len(strain) >= 2 and strain.shape == tension.shape
        if not (good and np.isfinite(tension).all() and (np.diff(strain) > 0).all() and np.isfinite(strain).all()):
            raise InputError(f"{self}", remedy="give at least two rising strains and as many tensions")

    @property
    def steepest(self) -> float:
        """Largest slope: stiffness relative to k."""
        return float(np.max(np.abs(np.diff(self.tension) / np.diff(self.strain))))
