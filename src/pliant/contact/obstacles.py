"""Things to touch that are not part of a robot: planes, spheres and solids with Coulomb friction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import as_numbers, number, require_kind_of
from pliant.contact.nearest import NearestOnSurface
from pliant.errors import InputError
from pliant.shape import SurfaceMesh

Array = NDArray[np.float64]


class Gaps(NamedTuple):
    """Of points: how far from an obstacle they are, negative inside, (p,) [m]; the way out of it, (p, 3), and the place of the
    obstacle that is nearest, (p, 3) [m]."""

    distances: Array
    normals: Array
    places: Array


@dataclass(frozen=True, kw_only=True)
class Obstacle(ABC):
    """Something that points cannot pass, with Coulomb's friction.

    Implicit steps (`Robot.touch`) hold the law of contact exactly: no penetration at the end of a step, and stick or slip.

    In explicit steps a node that is d deep inside is pushed out with stiffness * d - 2 damping sqrt(stiffness m) * speed,
    never pulled. Friction takes away its sliding velocity as long as that needs no more than friction times the normal force
    (stick), and acts with just that force where it would (slip).
    """

    friction: float = 0.5
    """Coulomb's coefficient."""
    stiffness: float | None = None
    """In explicit steps, of each node against the obstacle [N/m]; default: that of the node against its neighbours."""
    damping: float = 0.0
    """In explicit steps, of the normal motion, relative to the critical one."""

    def __post_init__(self) -> None:
        for name, value in (
            ("friction", self.friction),
            ("damping", self.damping),
            ("stiffness", 0.0 if self.stiffness is None else self.stiffness),
        ):
            number(value, f"{name} of an obstacle", least=0.0)

    @abstractmethod
    def gaps(self, points: Array) -> Gaps:
        """How far points (p, 3) [m] are from it."""

    def encoded(self) -> tuple[int, tuple[float, float, float, float]]:
        """Kind and shape for the kernels of explicit steps."""
        raise InputError(
            f"explicit steps know no {type(self).__name__}", remedy="give them a Plane or a Sphere, or use Dynamics"
        )


@dataclass(frozen=True)
class Plane(Obstacle):
    """A half-space: points stay where normal . x >= offset [m].

    >>> Plane(normal=(0, 0, 2), offset=0.2).gaps(np.array([[0.0, 0.0, 0.3]])).distances
    array([0.2])
    """

    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    offset: float = 0.0

    def encoded(self) -> tuple[int, tuple[float, float, float, float]]:
        """See `Obstacle`."""
        n = _vector(self.normal, "normal")
        length = float(np.linalg.norm(n))
        if not length > 0 or not np.isfinite(self.offset):
            raise InputError(f"{self}", remedy="give a normal that is not zero and a finite offset")
        return 0, (n[0] / length, n[1] / length, n[2] / length, self.offset / length)

    def gaps(self, points: Array) -> Gaps:
        """See `Obstacle`."""
        *normal, offset = self.encoded()[1]
        n = np.array(normal)
        distances = points @ n - offset
        return Gaps(distances, np.broadcast_to(n, points.shape), points - distances[:, None] * n)


@dataclass(frozen=True)
class Sphere(Obstacle):
    """A ball that points stay out of, or a bowl that they stay in (`inside`)."""

    center: tuple[float, float, float] = (0.0, 0.0, 0.0)
    radius: float = 1.0
    inside: bool = False

    def encoded(self) -> tuple[int, tuple[float, float, float, float]]:
        """See `Obstacle`."""
        c = _vector(self.center, "center")
        number(self.radius, "radius", unit="m", above=0.0, remedy="give a positive radius")
        return 2 if self.inside else 1, (c[0], c[1], c[2], self.radius)

    def gaps(self, points: Array) -> Gaps:
        """See `Obstacle`."""
        *center, radius = self.encoded()[1]
        away = points - np.array(center)
        length = np.linalg.norm(away, axis=1)
        out = np.where(length[:, None] > 0.0, away / np.maximum(length, 1e-300)[:, None], (0.0, 0.0, 1.0))
        places = np.array(center) + radius * out
        return Gaps(radius - length, -out, places) if self.inside else Gaps(length - radius, out, places)


@dataclass(frozen=True, eq=False)
class Solid(Obstacle):
    """What a surface encloses, or, where it is open, what is behind it (terrain): its triangles look at what may touch it.

    >>> import pliant as pl
    >>> ball = Solid(pl.solids.sphere(0.05))
    >>> ball.gaps(np.array([[0.0, 0.0, 0.06], [0.0, 0.0, 0.04]])).distances.round(3)
    array([ 0.01, -0.01])
    """

    surface: SurfaceMesh

    def __post_init__(self) -> None:
        super().__post_init__()
        require_kind_of(self.surface, "surface", SurfaceMesh)

    @cached_property
    def _nearest(self) -> NearestOnSurface:
        return NearestOnSurface(self.surface.nodes, self.surface.triangles)

    def gaps(self, points: Array) -> Gaps:
        """See `Obstacle`."""
        return Gaps(*self._nearest.gaps(points))


def _vector(value: ArrayLike, name: str) -> Array:
    vector = as_numbers(value)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InputError(f"{name} is {value}", remedy="give three finite numbers")
    return vector
