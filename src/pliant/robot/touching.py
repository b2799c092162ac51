"""What a robot touches: made from what a user says, and read from a state."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.body import Body, RigidBody, TetBody
from pliant.body.surface import CarriedSurface
from pliant.checks import number, require_kind_of
from pliant.contact import (
    BallSide,
    MeshSide,
    Obstacle,
    ObstacleSide,
    OwnWall,
    Remembered,
    Side,
    SixNodePatches,
    Sphere,
    Touch,
)
from pliant.errors import InputError
from pliant.robot.extra import NO_ROWS, ExtraRows
from pliant.robot.places import Places
from pliant.robot.state import State
from pliant.shape import SurfaceMesh
from pliant.shape.topology import unique_edges

Array = NDArray[np.float64]

FRICTION = 0.5
"""Coulomb's coefficient between bodies where none is said."""


@dataclass(frozen=True)
class ContactReport:
    """Contacts of one touch: points (c, 3) [m], ways out of what the body touches (c, 3), gaps (c,) [m], forces on the body
    (c, 3) [N], and which slide (c,); the others stick, or are open, where there is no force (`robot.contacts(...,
    open_too=True)`)."""

    points: Array
    normals: Array
    gaps: Array
    forces: Array
    slides: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.points)

    @property
    def state(self) -> NDArray[np.str_]:
        """Of each contact: "open", "sticking" or "sliding", (c,)."""
        return np.where(self.forces.any(axis=1), np.where(self.slides, "sliding", "sticking"), "open")

    @property
    def normal_forces(self) -> Array:
        """Force along the normal of each contact, (c,) [N]."""
        return np.asarray(np.einsum("ci,ci->c", self.forces, self.normals))

    @property
    def friction_forces(self) -> Array:
        """Force across the normal of each contact, (c, 3) [N]."""
        return np.asarray(self.forces - self.normal_forces[:, None] * self.normals)

    @property
    def force(self) -> Array:
        """The sum of all forces on the body, (3,) [N]."""
        return np.asarray(self.forces.sum(axis=0))

    def moment(self, about: Array) -> Array:
        """The moment of all forces on the body about a point (3,) [m], (3,) [N m]."""
        return np.asarray(np.cross(self.points - about, self.forces).sum(axis=0))


def touching(
    places: Places,
    joined: frozenset[frozenset[str]],
    name: str,
    other: Obstacle | Body | str,
    body: str | Body | None,
    friction: float | None,
    surface: SurfaceMesh | Sphere | None,
    other_surface: SurfaceMesh | Sphere | None,
    spacing: float | None,
) -> Touch:
    """The record of a touch, or an InputError that says what is wrong."""
    who = f"touch {name!r}"
    own = places.number(body, who)
    if spacing is not None:
        spacing = number(spacing, f"spacing of {who}", unit="m", above=0.0)
    mu = None if friction is None else number(friction, f"friction of {who}", least=0.0)
    if isinstance(other, Obstacle):
        if other_surface is not None:
            raise InputError(f"{who} has an other_surface of an obstacle", remedy="give Solid(surface) as the obstacle")
        side = _side(places, own, who, surface, spacing)
        touch = Touch(name, places.names[own], side, ObstacleSide(other), other.friction if mu is None else mu)
    else:
        if not isinstance(other, Body) and other not in places.names:
            raise InputError(
                f"{who} is with {other!r}, a {type(other).__name__}",
                remedy="give an obstacle (Plane, Sphere or Solid of a surface), or a body of the robot",
            )
        number_of_other = places.number(other, who)
        names = places.names[own], places.names[number_of_other]
        if own == number_of_other:
            return _with_itself(
                places, own, who, name, surface or other_surface, spacing, FRICTION if mu is None else mu
            )
        if frozenset(names) in joined:
            raise InputError(
                f"{who} is between {names[0]!r} and {names[1]!r}, which a joint or a tie holds together",
                remedy="leave it out: joined bodies do not touch each other",
            )
        sides = [
            _side(places, k, who, shape, spacing, among_bodies=True)
            for k, shape in ((own, surface), (number_of_other, other_surface))
        ]
        touch = Touch(name, names[0], sides[0], sides[1], FRICTION if mu is None else mu, names[1])
    touch.seen(np.concatenate([one.rest for one in places.bodies]))  # an obstacle that is none raises here
    return touch


def _with_itself(
    places: Places,
    k: int,
    who: str,
    name: str,
    surface: SurfaceMesh | Sphere | None,
    spacing: float | None,
    friction: float,
) -> Touch:
    """The record of a touch of body k with itself."""
    if isinstance(places.bodies[k], RigidBody):
        raise InputError(
            f"{who} is of {places.names[k]!r} with itself, which is rigid", remedy="give another body, or an obstacle"
        )
    side = _side(places, k, who, surface, spacing, among_bodies=True)
    assert isinstance(side, MeshSide)
    return Touch(name, places.names[k], side, OwnWall(side), friction, places.names[k])


def _side(
    places: Places,
    k: int,
    who: str,
    surface: SurfaceMesh | Sphere | None,
    spacing: float | None,
    *,
    among_bodies: bool = False,
) -> Side:
    """What body k touches with."""
    own, first = places.bodies[k], int(places.first_nodes[k])
    rigid = isinstance(own, RigidBody)
    if isinstance(surface, Sphere):
        if not rigid:
            raise InputError(f"{who} has a Sphere on a {type(own).__name__}", remedy="a Sphere is for a RigidBody")
        return BallSide(surface, own, first)
    carried, patches = own.surface(), None
    if surface is None and isinstance(own, TetBody) and own.order == 2:
        carried, patches = _with_middles(own)
    if surface is not None:
        require_kind_of(surface, "surface", SurfaceMesh)
        carried = CarriedSurface(*own.embed(surface.nodes), surface.triangles.astype(np.int64))
    try:
        side = MeshSide(carried, own.rest, first, spacing, flat_points=not (rigid and among_bodies), patches=patches)
    except InputError as error:
        raise InputError(f"{who}: {error.what}", remedy=error.remedy) from error
    if among_bodies and not side.facets.is_closed:
        raise InputError(
            f"{who}: the surface of {places.names[k]!r} is open, so that nothing is inside",
            remedy="give a closed surface=; open ones are for obstacles (Solid)",
        )
    return side


def _with_middles(body: TetBody) -> tuple[CarriedSurface, SixNodePatches]:
    """The surface of a ten-node body with the middles of its edges, which carry all of an even pressure."""
    points, triangles = body.mesh.nodes, body.mesh.boundary_triangles()[0]
    edges, own = unique_edges(triangles, np.array([[0, 1], [1, 2], [2, 0]]))
    ids, weights = body.embed(points[edges].mean(axis=1))
    middles = ids[np.arange(len(ids)), weights.argmax(axis=1)]
    six = np.concatenate([triangles, middles[own]], axis=1).astype(np.int64)
    quarters = np.array([[0, 3, 5], [3, 1, 4], [5, 4, 2], [3, 4, 5]])
    places = np.concatenate([np.eye(3), 0.5 * (np.eye(3) + np.eye(3)[[1, 2, 0]])])
    patches = SixNodePatches(np.repeat(six, 4, axis=0), np.tile(places[quarters], (len(six), 1, 1)))
    return CarriedSurface.of_nodes(six[:, quarters].reshape(-1, 3)), patches


def reported(touch: Touch, state: State, open_too: bool) -> ContactReport:
    """What a state knows of a touch; open_too: and points that are close, without a force."""
    memory = state.contacts.get(touch.name, Remembered.nothing())
    seen, sign = touch.seen(state.x, ids=memory.ids, normals=memory.normals), touch.sign(memory.ids)[:, None]
    known = ContactReport(seen.points, sign * memory.normals, seen.gaps, sign * memory.forces, memory.slides)
    if not open_too:
        return known
    near = touch.seen(state.x, touch.close)
    new = ~np.isin(near.ids, memory.ids)
    count = int(new.sum())
    return ContactReport(
        np.concatenate([known.points, near.points[new]]),
        np.concatenate([known.normals, near.normals[new]]),
        np.concatenate([known.gaps, near.gaps[new]]),
        np.concatenate([known.forces, np.zeros((count, 3))]),
        np.concatenate([known.slides, np.zeros(count, bool)]),
    )


def touching_at(touches: Mapping[str, Touch], state: State) -> tuple[ExtraRows, Array]:
    """Rows of what a state touches, and the forces (k,) [N] that it remembers along them."""
    found = tuple(
        touch.contacts(state.x, state.x, state.contacts[name])
        for name, touch in touches.items()
        if name in state.contacts
    )
    if not found:
        return NO_ROWS, np.empty(0)
    return NO_ROWS.with_contacts(found), np.concatenate([part.forces.reshape(-1) for part in found])
