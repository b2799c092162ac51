"""The centre of a body or of a region of it."""

from __future__ import annotations

from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike

from pliant.body import Body
from pliant.checks import as_array
from pliant.errors import InputError
from pliant.port.port import Array, Port


class Center(Port):
    """Position of the centre of some nodes [m]; the effort is a force [N] shared by them in the same proportion.

    kind="mass": weighted by the integral of the density times the node's shape function, so that all nodes together give the
    exact centre of mass (at order 2 corners weigh less than nothing: choose whole regions); "geometric": all nodes alike.
    """

    effort_unit: ClassVar[str] = "N"
    displacement_unit: ClassVar[str] = "m"
    straight = True
    spans: ClassVar[bool] = False

    row_names = ("x", "y", "z")

    def __init__(self, nodes: ArrayLike | None = None, kind: Literal["mass", "geometric"] = "mass") -> None:
        """nodes: indices of the body's nodes, as `mesh.where(...)` gives; None: all of them."""
        if kind not in ("mass", "geometric"):
            raise InputError(f"kind is {kind!r}", remedy="choose 'mass' or 'geometric'")
        self._nodes = None if nodes is None else np.atleast_1d(as_array(nodes))
        if self._nodes is not None and (not self._nodes.size or not np.issubdtype(self._nodes.dtype, np.integer)):
            raise InputError(f"nodes are {nodes!r}", remedy="give node indices, as mesh.where(...) does")
        self._kind = kind
        self._weights = np.empty(0)

    def seen_by(self, body: Body) -> Center:
        """With the body's nodes as points and their shares as weights."""
        ids = np.arange(body.node_count) if self._nodes is None else self._nodes
        bad = ids[(ids < 0) | (ids >= body.node_count)]
        if len(bad):
            raise InputError(f"centre of node {bad[0]}", remedy=f"the body has nodes 0 to {body.node_count - 1}")
        attached = Center(ids, self._kind)
        attached.points = body.rest[ids]
        weights = body.load_masses[ids] if self._kind == "mass" else np.ones(len(ids))
        attached._weights = weights / weights.sum()
        return attached

    def displacement(self, p: Array) -> Array:
        return np.asarray(self._weights @ p)

    def slope(self, p: Array) -> Array:
        return np.asarray(self._weights[None, :, None] * np.eye(3)[:, None, :])
