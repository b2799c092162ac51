"""Several bodies as one place for ports: each point on a body of its own."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.body.body import Array, Body, Ids, Supports
from pliant.errors import InputError


class Several(Body):
    """Bodies for the points of a port, one each, in the numbering of the whole: a cable through discs, a force between two.

    It carries points and nothing else: it has no energy and no mass.
    """

    deforms: ClassVar[bool] = False

    def __init__(self, bodies: Sequence[Body], first_nodes: Sequence[int], rest: Array) -> None:
        """first_nodes: number of the first node of each among those of the whole, which are at rest (n, 3) [m]."""
        self.bodies, self.first_nodes, self.rest = tuple(bodies), tuple(first_nodes), rest
        self.rows = self.cols = np.empty(0, np.int64)
        self.supports = Supports()
        self.mass_weights, self.load_masses = np.empty(0), np.zeros(len(rest))
        self.mass_damping = self.stiffness_damping = 0.0

    def accumulate(self, x: Array, force: Array, blocks: Array, *, exact: float = 0.0, warped: float = 0.0) -> float:
        """See `Body.accumulate`: nothing."""
        return 0.0

    def embed(self, points: ArrayLike, max_distance: float | None = None) -> tuple[Ids, Array]:
        """See `Body.embed`: each point by the body that it is on."""
        places = np.atleast_2d(np.asarray(points, float))
        if len(places) != len(self.bodies):
            raise InputError(
                f"a port of {len(places)} points is on {len(self.bodies)} bodies",
                remedy="give body= one body per point",
            )
        found = [
            (first + nodes[0], weights[0])
            for point, body, first in zip(places, self.bodies, self.first_nodes, strict=True)
            for nodes, weights in [body.embed(point[None], max_distance)]
        ]
        width = max(len(nodes) for nodes, _ in found)
        nodes, weights = np.zeros((len(found), width), np.int64), np.zeros((len(found), width))
        for k, (own, shares) in enumerate(found):
            nodes[k, : len(own)], weights[k, : len(own)] = own, shares
        return nodes, weights

    def parts(self, count: int) -> list[tuple[Body, int]]:
        """See `Body.parts`."""
        if count != len(self.bodies):
            raise InputError(
                f"a port of {count} regions is on {len(self.bodies)} bodies", remedy="give body= one body per region"
            )
        return list(zip(self.bodies, self.first_nodes, strict=True))

    def contains(self, points: Array) -> NDArray[np.bool_]:
        """See `Body.contains`: where any of them has material."""
        return np.asarray(np.any([body.contains(points) for body in self.bodies], axis=0))

    def inverted_elements(self, x: Array) -> Ids:
        """See `Body.inverted_elements`: none of its own."""
        return np.empty(0, np.int64)
