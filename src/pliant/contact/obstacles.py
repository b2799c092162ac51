"""Things to touch that are not part of a robot: planes, spheres and solids with Coulomb friction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import as_numbers, number, require_kind_of
from pliant.contact.edges import SharpEdges
from pliant.errors import InputError
from pliant.shape import SurfaceMesh
from pliant.shape.facets import Facets, PlacedFacets

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

    is_flat: ClassVar[bool] = False
    """Whether the nearest place tells all of it."""

    @property
    def corners(self) -> Array:
        """Points that stick out, and that other surfaces must not come over, (k, 3) [m]."""
        return np.empty((0, 3))

    @property
    def corner_normals(self) -> Array:
        """Of the surface at the corners, (k, 3)."""
        return np.empty((0, 3))

    @property
    def bounded(self) -> bool:
        """Whether nothing touches it where it has no corners near."""
        return False

    @property
    def edges(self) -> SharpEdges | None:
        """Where it turns outwards, if it is one of triangles: then it has `facets`, and `nodes` (n, 3) [m]."""
        return None

    @property
    def facets(self) -> PlacedFacets:
        """Its triangles."""
        raise InputError(f"a {type(self).__name__} has no triangles", remedy="ask a Solid")

    @property
    def nodes(self) -> Array:
        """Of its triangles, (n, 3) [m]."""
        return np.empty((0, 3))

    @abstractmethod
    def gaps(self, points: Array, normals: Array | None = None) -> Gaps:
        """How far points (p, 3) [m] are from it; normals (p, 3): of the surfaces that they are on, where known."""

    @abstractmethod
    def crossed(self, points: Array, steps: Array) -> Gaps:
        """Where points (p, 3) [m] outside that go by steps (p, 3) run into it: how far they are from the plane that touches it
        there, infinite where they run into nothing."""

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

    is_flat: ClassVar[bool] = True

    normal: tuple[float, float, float] = (0.0, 0.0, 1.0)
    offset: float = 0.0

    def encoded(self) -> tuple[int, tuple[float, float, float, float]]:
        """See `Obstacle`."""
        n = _vector(self.normal, "normal")
        length = float(np.linalg.norm(n))
        if not length > 0 or not np.isfinite(self.offset):
            raise InputError(f"{self}", remedy="give a normal that is not zero and a finite offset")
        return 0, (n[0] / length, n[1] / length, n[2] / length, self.offset / length)

    def crossed(self, points: Array, steps: Array) -> Gaps:
        """See `Obstacle`."""
        gaps = self.gaps(points)
        speed = np.einsum("pi,pi->p", steps, gaps.normals)
        share = -gaps.distances / np.where(speed < 0.0, speed, -1.0)
        meets = (speed < 0.0) & (gaps.distances >= 0.0) & (share <= 1.0)
        return Gaps(np.where(meets, gaps.distances, np.inf), gaps.normals, points + share[:, None] * steps)

    def gaps(self, points: Array, normals: Array | None = None) -> Gaps:
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

    def crossed(self, points: Array, steps: Array) -> Gaps:
        """See `Obstacle`: the first share t of the step with |p + t s - c| = r, from without or, of a bowl, from within."""
        *center, radius = self.encoded()[1]
        away, side = points - np.array(center), -1.0 if self.inside else 1.0
        a, b = np.einsum("pi,pi->p", steps, steps), np.einsum("pi,pi->p", away, steps)
        c = np.einsum("pi,pi->p", away, away) - radius**2
        root = b * b - a * c
        t = (-b - side * np.sqrt(np.maximum(root, 0.0))) / np.maximum(a, 1e-300)
        meets = (root >= 0.0) & (side * c >= 0.0) & (t >= 0.0) & (t <= 1.0)
        out = np.where(meets[:, None], (away + np.where(meets, t, 0.0)[:, None] * steps) / radius, (0.0, 0.0, 1.0))
        far = side * (np.einsum("pi,pi->p", out, away) - radius)
        return Gaps(np.where(meets, far, np.inf), side * out, np.array(center) + radius * out)

    def gaps(self, points: Array, normals: Array | None = None) -> Gaps:
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
    def facets(self) -> PlacedFacets:
        """See `Obstacle`."""
        return Facets(self.nodes, self.surface.triangles).at(self.nodes)

    @cached_property
    def edges(self) -> SharpEdges:
        """See `Obstacle`."""
        return SharpEdges.of(self.facets)

    @property
    def nodes(self) -> Array:
        """See `Obstacle`."""
        return np.asarray(self.surface.nodes, float)

    @cached_property
    def _sticking_out(self) -> NDArray[np.bool_]:
        return ~self.facets.flat

    @property
    def corners(self) -> Array:
        """See `Obstacle`: all nodes that are not within a flat part of the surface."""
        return self.nodes[self._sticking_out]

    @property
    def corner_normals(self) -> Array:
        """See `Obstacle`."""
        return self.facets.node_normals[self._sticking_out]

    def gaps(self, points: Array, normals: Array | None = None) -> Gaps:
        """See `Obstacle`."""
        hits = self.facets.hits(points, normals)
        return Gaps(hits.distances, hits.normals, self.facets.places(hits.triangles, hits.shares))

    def crossed(self, points: Array, steps: Array) -> Gaps:
        """See `Obstacle`."""
        found, shares = self.facets.crossed(points, steps, np.arange(len(points)))
        places, ways = self.facets.places(found, shares), self.facets.normals[found]
        far = np.einsum("pi,pi->p", ways, points - places)
        return Gaps(np.where(found >= 0, far, np.inf), ways, places)


def _vector(value: ArrayLike, name: str) -> Array:
    vector = as_numbers(value)
    if vector.shape != (3,) or not np.isfinite(vector).all():
        raise InputError(f"{name} is {value}", remedy="give three finite numbers")
    return vector
