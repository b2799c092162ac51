"""Grounds that a wheel rolls on, and where along them its centre is to be: y is up, z the axle, +x forwards."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.contact import Obstacle, Plane, Solid
from pliant.robot import Robot
from pliant.shape import SurfaceMesh, make

Array = NDArray[np.float64]

TOUCH = "ground"
"""The name of the touch."""


class Track(ABC):
    """A ground under a wheel whose axle is at the origin, `under` [m] below it at first."""

    @abstractmethod
    def obstacle(self, under: float, friction: float) -> Obstacle:
        """The ground."""

    @abstractmethod
    def place(self, way: float, time: float, under: float) -> tuple[Array, Array]:
        """The place (3,) [m] on it after a way [m] from below the axle on, at a time [s], and the normal there (3,)."""

    def way_of(self, point: Array, time: float, under: float) -> float:
        """How far along it a point (3,) [m] is."""
        here, n = self.place(0.0, time, under)
        return float((point - here) @ np.array([n[1], -n[0], 0.0]))

    def pose(self, time: float) -> tuple[Array, Array]:
        """Where the ground is at a time [s]: position [m] and quaternion wxyz; most stay."""
        return np.zeros(3), np.array([1.0, 0.0, 0.0, 0.0])

    def move(self, robot: Robot, time: float) -> None:
        """Put the ground there."""
        robot.move_obstacle(TOUCH, *self.pose(time))


@dataclass(frozen=True)
class Slope(Track):
    """A plane that rises by an angle [degrees] forwards."""

    angle: float = 0.0

    def tilt(self, time: float) -> float:
        """[rad]."""
        return float(np.radians(self.angle))

    def obstacle(self, under: float, friction: float) -> Obstacle:
        """See `Track`."""
        n = _normal(self.tilt(0.0))
        return Plane(normal=(float(n[0]), float(n[1]), 0.0), offset=-under, friction=friction)

    def place(self, way: float, time: float, under: float) -> tuple[Array, Array]:
        """See `Track`."""
        n = _normal(self.tilt(time))
        return way * np.array([n[1], -n[0], 0.0]) - under * n, n


@dataclass(frozen=True)
class Platform(Slope):
    """A plane that tilts to and fro about the axle's first place: by `swing` [degrees], `frequency` times per second [Hz]."""

    swing: float = 5.0
    frequency: float = 0.1

    def tilt(self, time: float) -> float:
        """See `Slope`."""
        return float(np.radians(self.swing) * np.sin(2 * np.pi * self.frequency * time))

    def pose(self, time: float) -> tuple[Array, Array]:
        """See `Track`."""
        half = 0.5 * self.tilt(time)
        return np.zeros(3), np.array([np.cos(half), 0.0, 0.0, np.sin(half)])


@dataclass(frozen=True)
class Terrain(Track):
    """A mesh of waves along the way, so high [m] and so long [m], which begin in a trough."""

    height: float = 0.002
    length: float = 0.1
    reach: tuple[float, float] = (-0.06, 0.26)
    width: float = 0.06

    def _height(self, x: float | Array) -> Array:
        return np.asarray(0.5 * self.height * (1.0 - np.cos(2 * np.pi * np.asarray(x) / self.length)))

    def obstacle(self, under: float, friction: float) -> Obstacle:
        """See `Track`."""
        x, y = np.arange(*self.reach, 0.0025), np.linspace(-0.5, 0.5, 5) * self.width
        flat = make.terrain(x, y, np.repeat(self._height(x)[:, None], len(y), axis=1))
        nodes = np.column_stack([flat.nodes[:, 0], flat.nodes[:, 2] - under, -flat.nodes[:, 1]])
        return Solid(SurfaceMesh(nodes, flat.triangles), friction=friction)

    def place(self, way: float, time: float, under: float) -> tuple[Array, Array]:
        """See `Track`; the way is that along x."""
        rise = 0.5 * self.height * 2 * np.pi / self.length * np.sin(2 * np.pi * way / self.length)
        n = np.array([-rise, 1.0, 0.0]) / np.hypot(1.0, rise)
        return np.array([way, float(self._height(way)) - under, 0.0]), n


def _normal(angle: float) -> Array:
    return np.array([-np.sin(angle), np.cos(angle), 0.0])


TRACKS: dict[str, Track] = {
    "flat": Slope(),
    "up": Slope(5.0),
    "down": Slope(-5.0),
    "platform": Platform(),
    "terrain": Terrain(),
}
"""By name."""
