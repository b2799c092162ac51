"""The points of a body that may touch something."""

from __future__ import annotations

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.rotation import nearest_rotation
from pliant.body import Body
from pliant.body.surface import CarriedSurface
from pliant.contact.obstacles import Gaps, Obstacle, Sphere
from pliant.errors import InputError

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


class Near(NamedTuple):
    """Points of a skin that are close to an obstacle: their numbers (c,), the nodes (c, j) and weights (c, j) that carry them,
    where they are (c, 3) [m], their gaps, and the weights (c, j) of the points whose distance the gap is."""

    ids: Ids
    nodes: Ids
    weights: Array
    points: Array
    gaps: Gaps
    lifting: Array

    def chosen(self, which: NDArray[np.bool_]) -> Near:
        """Some of them."""
        gaps = Gaps(*(part[which] for part in self.gaps))
        return Near(
            self.ids[which], self.nodes[which], self.weights[which], self.points[which], gaps, self.lifting[which]
        )


class Skin(Protocol):
    """What a touch needs to know of a body."""

    edge: float
    """Mean distance of neighbouring points [m]: what is small beside it is no matter."""
    keeps_points: bool
    """Whether a point is the same piece of material at every step, so that it can stick to a place."""

    def near(self, obstacle: Obstacle, x: Array, ahead: Array) -> Near:
        """All points, with the nodes of the robot at x (n, 3), and how far from the obstacle they are; ahead (n, 3): where the
        nodes go in the step if nothing stops them."""


class PointSkin:
    """Points of the surface of a body, each carried by nodes of the robot."""

    keeps_points = True

    def __init__(self, surface: CarriedSurface, x: Array, first_node: int, spacing: float | None) -> None:
        """x (n, 3): the nodes of the body at rest; first_node: of the body among those of the robot; spacing [m]: points closer
        to one that is there already are left out."""
        used = np.unique(surface.triangles)
        if not len(used):
            raise InputError("the body has no surface to touch with", remedy="give surface=, or choose another body")
        p = surface.positions(x)
        edges = p[surface.triangles] - p[surface.triangles[:, [1, 2, 0]]]
        self.edge = float(np.linalg.norm(edges, axis=2).mean())
        chosen = used if spacing is None else used[_thinned(p[used], spacing)]
        self._nodes, self._weights = first_node + surface.nodes[chosen], surface.weights[chosen]
        if spacing is not None:
            self.edge = max(self.edge, spacing)

    def near(self, obstacle: Obstacle, x: Array, ahead: Array) -> Near:
        """See `Skin`."""
        points = np.einsum("cj,cji->ci", self._weights, x[self._nodes])
        gaps = obstacle.gaps(points)
        return Near(np.arange(len(points)), self._nodes, self._weights, points, gaps, self._weights)


class BallSkin:
    """A ball on a rigid body, round as it is: it touches in one point, another piece of its surface at every step.

    The gap is that of the center less the radius, however the ball turns. What must not slip is the piece of the surface that
    is down in the middle of the step: it comes back to where it was, but for the third power of the turn.
    """

    keeps_points = False

    def __init__(self, ball: Sphere, body: Body, first_node: int) -> None:
        """ball: its center and radius [m] at rest."""
        *center, self.radius = ball.encoded()[1]
        self.edge = self.radius
        self._rest, self._first, self._center = body.rest, first_node, np.array(center)

    def near(self, obstacle: Obstacle, x: Array, ahead: Array) -> Near:
        """See `Skin`."""
        nodes = self._first + np.arange(len(self._rest))
        here, half = x[nodes], 0.5 * (x[nodes] + ahead[nodes])
        lifting = self._weights_of(self._center - self._rest[0])
        far, normal, place = (part[0] for part in obstacle.gaps((lifting @ here)[None]))
        turned = nearest_rotation((half[1:] - half[0]).T @ np.linalg.inv(self._frame))
        weights = self._weights_of(self._center - self._rest[0] - self.radius * (turned.T @ normal))
        gaps = Gaps(np.array([far - self.radius]), normal[None], place[None])
        return Near(
            np.zeros(1, np.int64), nodes[None], weights[None], (weights @ here)[None], gaps, lifting[None]
        )  # fmt: skip

    @property
    def _frame(self) -> Array:
        return np.asarray((self._rest[1:] - self._rest[0]).T)

    def _weights_of(self, arm: Array) -> Array:
        """Weights of the four nodes (4,) that carry a point, as seen from the first at rest (3,) [m]."""
        tips = np.linalg.solve(self._frame, arm)
        return np.concatenate([[1.0 - tips.sum()], tips])


def _thinned(points: Array, spacing: float) -> Ids:
    """Numbers of points that are at least so far from each other, the first come first."""
    from scipy.spatial import cKDTree

    tree, left = cKDTree(points), np.ones(len(points), bool)
    for k in range(len(points)):
        if left[k]:
            close = tree.query_ball_point(points[k], spacing)
            left[close] = False
            left[k] = True
    return np.flatnonzero(left)
