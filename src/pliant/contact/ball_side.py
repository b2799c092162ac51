"""A rigid body that touches as a ball, round as it is."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.rotation import nearest_rotation
from pliant.body import Body
from pliant.contact.obstacles import Sphere
from pliant.contact.side import Carried, Hits

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


class BallSide:
    """A ball on a rigid body: as points it is its center, with the radius around, and touches with another piece of its surface
    at every step; as a wall it is round.

    The gap is that of the center less the radius, however the ball turns. What must not slip is the piece of the surface that
    touches in the middle of the step: it comes back to where it was, but for the third power of the turn.
    """

    keeps_points, is_flat, count, edges = False, False, 1, None

    def __init__(self, ball: Sphere, body: Body, first_node: int) -> None:
        """ball: its center and radius [m] at rest."""
        self.ball = ball
        *center, self.radius = ball.encoded()[1]
        self.edge, self.center = self.radius, np.array(center)
        self.rest, self.nodes = body.rest, first_node + np.arange(len(body.rest))
        self._inverse = np.linalg.inv((body.rest[1:] - body.rest[0]).T)

    def at(self, x: Array) -> PlacedBall:
        """See `Side`."""
        return PlacedBall(self, x)

    def turned(self, x: Array) -> Array:
        """The rotation (3, 3) of the body with the nodes of the robot at x (n, 3) [m]."""
        own = x[self.nodes]
        return nearest_rotation((own[1:] - own[0]).T @ self._inverse)

    def weights(self, material: Array) -> Array:
        """Weights of the four nodes (c, 4) that carry material points, by where they are at rest (c, 3) [m]."""
        tips = (material - self.rest[0]) @ self._inverse.T
        return np.concatenate([1.0 - tips.sum(axis=1, keepdims=True), tips], axis=1)


class PlacedBall:
    """See `PlacedSide`. A material point is where it is at rest (3,) [m]; there is one face."""

    normals, is_bounded = None, True

    def __init__(self, side: BallSide, x: Array) -> None:
        self._side, self._x, self.margin = side, x, side.radius
        self.points = self.moved(x)

    def moved(self, ahead: Array) -> Array:
        """See `PlacedSide`."""
        return np.asarray(self._side.weights(self._side.center[None]) @ ahead[self._side.nodes])

    def touching(self, ids: Ids, normals: Array, ahead: Array) -> tuple[Carried, Array]:
        """See `PlacedSide`."""
        side = self._side
        turned = side.turned(0.5 * (self._x + ahead))
        lifting = side.weights(np.broadcast_to(side.center, normals.shape))
        center = Carried(np.tile(side.nodes, (len(ids), 1)), lifting, np.zeros((len(ids), 3)))
        return center, side.weights(side.center - side.radius * normals @ turned)

    def drift(self, ahead: Array) -> tuple[Array, float]:
        """See `PlacedSide`: a ball that turns stays where it is."""
        return (self.moved(ahead) - self.points)[0], 0.0

    def hits(self, points: Array, normals: Array | None, reach: Array, ids: Ids | None = None) -> Hits:
        """See `PlacedSide`."""
        away = points - self.points
        far = np.linalg.norm(away, axis=1)
        ways = np.where(far[:, None] > 0.0, away / np.maximum(far, 1e-300)[:, None], (0.0, 0.0, 1.0))
        return Hits(far - self._side.radius, ways, np.zeros(len(points), np.int64), self._material(ways))

    def crossed(self, points: Array, steps: Array) -> Hits:
        """See `PlacedSide`."""
        own = Sphere(center=tuple(self.points[0].tolist()), radius=self._side.radius)
        far, ways, _ = own.crossed(points, steps)
        return Hits(far, ways, np.zeros(len(points), np.int64), self._material(ways))

    def carried(self, faces: Ids, materials: Array) -> Carried:
        """See `PlacedSide`."""
        nodes = np.tile(self._side.nodes, (len(faces), 1))
        return Carried(nodes, self._side.weights(materials), np.zeros((len(faces), 3)))

    def material(self, faces: Ids, points: Array) -> Array:
        """See `PlacedSide`."""
        return self.hits(points, None, np.empty(0)).materials

    def _material(self, ways: Array) -> Array:
        return np.asarray(self._side.center + self._side.radius * ways @ self._side.turned(self._x))
