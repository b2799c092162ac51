"""What a robot touches: made from what a user says, and read from a state."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.body import Body, RigidBody
from pliant.body.surface import CarriedSurface
from pliant.checks import number, require_kind_of
from pliant.contact import BallSkin, Obstacle, PointSkin, Remembered, Skin, Sphere, Touch
from pliant.errors import InputError
from pliant.robot.places import Places
from pliant.robot.state import State
from pliant.shape import SurfaceMesh

Array = NDArray[np.float64]


@dataclass(frozen=True)
class ContactReport:
    """Contacts of one touch: points (c, 3) [m], ways out of the obstacle (c, 3), gaps (c,) [m], forces on the robot (c, 3) [N],
    and which slide (c,); the others stick. Points that are not in touch are left out."""

    points: Array
    normals: Array
    gaps: Array
    forces: Array
    slides: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.points)

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
        """The sum of all forces on the robot, (3,) [N]."""
        return np.asarray(self.forces.sum(axis=0))

    def moment(self, about: Array) -> Array:
        """The moment of all forces on the robot about a point (3,) [m], (3,) [N m]."""
        return np.asarray(np.cross(self.points - about, self.forces).sum(axis=0))


def touching(
    places: Places,
    name: str,
    other: Obstacle,
    body: str | Body | None,
    friction: float | None,
    surface: SurfaceMesh | Sphere | None,
    spacing: float | None,
) -> Touch:
    """The record of a touch, or an InputError that says what is wrong."""
    who = f"touch {name!r}"
    if not isinstance(other, Obstacle):
        raise InputError(
            f"{who} is with a {type(other).__name__}", remedy="give an obstacle: Plane, Sphere or Solid of a surface"
        )
    k = places.number(body, who)
    own, first = places.bodies[k], int(places.first_nodes[k])
    skin: Skin
    if isinstance(surface, Sphere):
        if not isinstance(own, RigidBody):
            raise InputError(f"{who} has a Sphere on a {type(own).__name__}", remedy="a Sphere is for a RigidBody")
        skin = BallSkin(surface, own, first)
    else:
        carried = own.surface()
        if surface is not None:
            require_kind_of(surface, "surface", SurfaceMesh)
            carried = CarriedSurface(*own.embed(surface.nodes), surface.triangles.astype(np.int64))
        if spacing is not None:
            spacing = number(spacing, f"spacing of {who}", unit="m", above=0.0)
        try:
            skin = PointSkin(carried, own.rest, first, spacing)
        except InputError as error:
            raise InputError(f"{who}: {error.what}", remedy=error.remedy) from error
    mu = other.friction if friction is None else number(friction, f"friction of {who}", least=0.0)
    touch = Touch(name, places.names[k], skin, other, mu)
    touch.near(np.concatenate([own.rest for own in places.bodies]))  # an obstacle that is none raises here
    return touch


def reported(touch: Touch, state: State) -> ContactReport:
    """What a state knows of a touch."""
    memory = state.contacts.get(touch.name, Remembered.nothing())
    near = touch.near(state.x)
    return ContactReport(
        near.points[memory.ids], memory.normals, near.gaps.distances[memory.ids], memory.forces, memory.slides
    )
