"""Things to touch: planes and spheres with Coulomb friction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from pliant.checks import as_numbers, number
from pliant.errors import InputError
from pliant.motion.explicit.springs import Array


@dataclass(frozen=True, kw_only=True)
class Obstacle(ABC):
    """Something that nodes cannot pass.

    A node that is d deep inside is pushed out with stiffness * d - 2 damping sqrt(stiffness m) * speed, never pulled. Friction
    takes away its sliding velocity as long as that needs no more than friction times the normal force (stick), and acts
    with just that force where it would (slip).
    """

    friction: float = 0.5
    """Coulomb's coefficient."""
    stiffness: float | None = None
    """Of each node against the obstacle [N/m]; default: that of the node against its neighbours."""
    damping: float = 0.0
    """Of the normal motion, relative to the critical one."""

    def __post_init__(self) -> None:
        for name, value in (
            ("friction", self.friction),
            ("damping", self.damping),
            ("stiffness", 0.0 if self.stiffness is None else self.stiffness),
        ):
            number(value, f"{name} of an obstacle", least=0.0)

    @abstractmethod
    def encoded(self) -> tuple[int, tuple[float, float, float, float]]:
        """Kind and shape for the kernels."""


@dataclass(frozen=True)
class Plane(Obstacle):
    """A half-space: nodes stay where normal . x >= offset [m]."""

    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    offset: float = 0.0

    def encoded(self) -> tuple[int, tuple[float, float, float, float]]:
        """See `Obstacle`."""
        n = _vector(self.normal, "normal")
        length = float(np.linalg.norm(n))
        if not length > 0 or not np.isfinite(self.offset):
            raise InputError(f"{self}", remedy="give a normal that is not zero and a finite offset")
        return 0, (n[0] / length, n[1] / length, n[2] / length, self.offset / length)


@dataclass(frozen=True)
class Sphere(Obstacle):
    """A ball that nodes stay out of, or a bowl that they stay in (`inside`)."""

    center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    radius: float = 1.0
    inside: bool = False

    def encoded(self) -> tuple[int, tuple[float, float, float, float]]:
        """See `Obstacle`."""
        c = _vector(self.center, "center")
        number(self.radius, "radius", unit="m", above=0.0, remedy="give a positive radius")
        return 2 if self.inside else 1, (c[0], c[1], c[2], self.radius)


def _vector(value: ArrayLike, name: str) -> Array:
    vector = as_numbers(value)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InputError(f"{name} is {value}", remedy="give three finite numbers")
    return vector
