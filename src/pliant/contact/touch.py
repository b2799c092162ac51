"""A body and an obstacle that it may touch."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.algebra.rotation import from_quaternion
from pliant.checks import as_numbers
from pliant.contact.contacts import Contacts, Remembered, tangent_frames
from pliant.contact.obstacles import Obstacle
from pliant.contact.skin import Near, Skin
from pliant.errors import InputError

Array = NDArray[np.float64]

CLOSE = 0.05
"""Points closer than this share of the skin's edge may touch in a step, however slow they are."""
LATEST = 0.2
"""What is deeper than `CLOSE` comes out by no more than this share of the skin's edge per step."""


@dataclass(frozen=True)
class Touch:
    """A skin of a body (its name) and an obstacle, with Coulomb's friction, and the pose of the obstacle: position (3,) [m] and
    rotation (3, 3)."""

    name: str
    body: str
    skin: Skin
    obstacle: Obstacle
    friction: float
    position: Array = field(default_factory=lambda: np.zeros(3))
    rotation: Array = field(default_factory=lambda: np.eye(3))

    def moved(self, position: ArrayLike, quaternion: ArrayLike) -> Touch:
        """The same with the obstacle elsewhere: position (3,) [m] and quaternion wxyz of its origin."""
        p, q = as_numbers(position), as_numbers(quaternion)
        if p.shape != (3,) or q.shape != (4,) or not (np.isfinite(p).all() and np.linalg.norm(q) > 1e-9):
            raise InputError(
                f"obstacle {self.name!r} is moved to {position!r}, {quaternion!r}",
                remedy="give a position of three numbers [m] and a quaternion wxyz",
            )
        return replace(self, position=p, rotation=from_quaternion(q / np.linalg.norm(q)))

    def near(self, x: Array, ahead: Array | None = None) -> Near:
        """All points of the skin with the nodes at x (n, 3), and how far from the obstacle where it is they are; ahead (n, 3):
        where the nodes go in a step if nothing stops them."""
        here, there = ((p - self.position) @ self.rotation for p in (x, x if ahead is None else ahead))
        near = self.skin.near(self.obstacle, here, there)
        gaps = near.gaps._replace(normals=self._out(near.gaps.normals), places=self._at(near.gaps.places))
        return near._replace(points=self._at(near.points), gaps=gaps)

    def contacts(self, x: Array, ahead: Array, memory: Remembered) -> Contacts:
        """The points that may touch in a step, with the nodes at x (n, 3) before it and at `ahead` (n, 3) where nothing stops
        them, on from what is remembered."""
        near = self.near(x, ahead)
        moved = np.einsum("cj,cji->ci", near.lifting, (ahead - x)[near.nodes])
        approach = np.einsum("ci,ci->c", near.gaps.normals, moved)
        close = near.gaps.distances + np.minimum(2.0 * approach, 0.0) <= CLOSE * self.skin.edge
        return self._on_from(near.chosen(close), x, memory)

    def _on_from(self, near: Near, x: Array, memory: Remembered) -> Contacts:
        frames = tangent_frames(np.ascontiguousarray(near.gaps.normals))
        anchors, forces, fresh = near.points.copy(), np.zeros((len(near.ids), 3)), np.ones(len(near.ids), bool)
        heights = np.einsum("cj,cji,ci->c", near.lifting, x[near.nodes], near.gaps.normals)
        deep = near.gaps.distances < -CLOSE * self.skin.edge
        depths = np.where(deep, np.minimum(near.gaps.distances + LATEST * self.skin.edge, 0.0), 0.0)
        _, here, there = np.intersect1d(near.ids, memory.ids, assume_unique=True, return_indices=True)
        forces[here] = np.einsum("crk,ck->cr", frames[here], memory.forces[there])
        if self.skin.keeps_points:
            anchors[here], fresh[here] = self._at(memory.anchors[there]), False
        return Contacts(
            near.ids, near.nodes, near.weights, near.lifting, near.gaps.distances, frames, heights, depths, anchors, forces,
            fresh, np.full(len(near.ids), self.friction)
        )  # fmt: skip

    def remembered(self, contacts: Contacts, forces: Array, x: Array) -> Remembered:
        """After a step that ended with the nodes at x (n, 3) and forces (c, 3) [N] along the frames: anchors are where points
        were after the first step, stay there where they stick, and go along where they slide."""
        holds = forces[:, 0] > 0.0
        sideways = np.linalg.norm(forces[:, 1:], axis=1)
        slides = sideways >= (1.0 - 1e-9) * contacts.friction * forces[:, 0]
        points = np.einsum("cj,cji->ci", contacts.weights, x[contacts.nodes])
        anchors = np.where((slides | contacts.fresh)[:, None], points, contacts.anchors)
        in_space = np.einsum("cr,crk->ck", forces, contacts.frames)
        local = (anchors - self.position) @ self.rotation
        return Remembered(contacts.ids[holds], in_space[holds], contacts.frames[holds, 0], local[holds], slides[holds])

    def _at(self, local: Array) -> Array:
        return np.asarray(self.position + local @ self.rotation.T)

    def _out(self, local: Array) -> Array:
        return np.asarray(local @ self.rotation.T)
