"""Rows that come and go: contacts, and whatever else acts on a robot for a step or two."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import as_numbers
from pliant.contact import Contacts
from pliant.errors import InputError

Array = NDArray[np.float64]
Ids = NDArray[np.int64]


@dataclass(frozen=True)
class ExtraRows:
    """k rows beside those of the ports, another k at every step if need be; each is straight: it has no curvature.

        delta_r = d_r . sum_j w_rj x_(n_rj) - o_r,    and the nodes feel  w_rj d_r lambda_r

    nodes (k, j), weights (k, j), directions (k, 3), origins o (k,) [m]. In motions a row is held at its `displacement` (k,)
    [m] by an effort [N] within `limits` (k, 2): with (0, inf) and 0 it pushes and never pulls. The last 3 c rows are those of
    contacts, normal and two tangents each, with Coulomb's `friction` (c,) between them.
    """

    nodes: Ids
    weights: Array
    directions: Array
    origins: Array
    displacement: Array
    limits: Array
    friction: Array = field(default_factory=lambda: np.empty(0))

    @classmethod
    def of(
        cls,
        nodes: ArrayLike,
        weights: ArrayLike,
        directions: ArrayLike,
        *,
        origins: ArrayLike = 0.0,
        displacement: ArrayLike = 0.0,
        limits: ArrayLike = (-np.inf, np.inf),
    ) -> ExtraRows:
        """From what a user has; limits: (low, high) for all rows, or one such pair per row."""
        ids, d = np.atleast_2d(np.asarray(nodes)), np.atleast_2d(as_numbers(directions))
        w, count = np.atleast_2d(as_numbers(weights)), len(ids)
        if not (np.issubdtype(ids.dtype, np.integer) and w.shape == ids.shape and d.shape == (count, 3)):
            raise InputError(
                f"extra rows have nodes {ids.shape}, weights {w.shape} and directions {d.shape}",
                remedy="give nodes (k, j) as whole numbers, weights (k, j) and directions (k, 3)",
            )
        if (ids < 0).any():
            raise InputError(f"extra rows are on node {ids.min()}", remedy="give nodes from 0 on")
        o, given = _spread(origins, "origins", (count,)), _spread(displacement, "displacement", (count,))
        pairs = _spread(limits, "limits", (count, 2))
        if not all(np.isfinite(part).all() for part in (w, d, o, given)) or not (pairs[:, 0] <= pairs[:, 1]).all():
            raise InputError(
                "extra rows have a number that is none, or limits that contradict", remedy="look at what is given"
            )
        return cls(ids.astype(np.int64), w, d, o, given, pairs)

    def __len__(self) -> int:
        return len(self.nodes)

    def with_contacts(self, contacts: Sequence[Contacts]) -> ExtraRows:
        """These rows, and then those of contacts: gaps that stay open or close, and slips since the anchors."""
        parts = [_rows_of(own) for own in contacts if len(own)]
        if len(self) or not parts:
            parts.insert(0, self)
        if len(parts) == 1:
            return parts[0]
        width = max(part.nodes.shape[1] for part in parts)
        nodes = [np.pad(part.nodes, ((0, 0), (0, width - part.nodes.shape[1]))) for part in parts]
        weights = [np.pad(part.weights, ((0, 0), (0, width - part.weights.shape[1]))) for part in parts]
        others = (
            np.concatenate([getattr(part, name) for part in parts])
            for name in ("directions", "origins", "displacement", "limits", "friction")
        )
        return ExtraRows(np.concatenate(nodes), np.concatenate(weights), *others)

    def require_nodes(self, count: int) -> None:
        """Raise an InputError where a row is on a node that a robot of so many does not have."""
        if len(self) and self.nodes.max() >= count:
            raise InputError(
                f"extra rows are on node {self.nodes.max()}", remedy=f"this robot's nodes are 0 to {count - 1}"
            )

    @property
    def vectors(self) -> Array:
        """The slope of each row by its nodes, (k, j, 3)."""
        return self.weights[:, :, None] * self.directions[:, None, :]

    def at(self, x: Array) -> Array:
        """delta with the nodes at x, (k,) [m]."""
        if not len(self):
            return np.empty(0)
        places = np.einsum("kj,kji->ki", self.weights, x[self.nodes])
        return np.asarray(np.einsum("ki,ki->k", self.directions, places) - self.origins)

    def force(self, efforts: Array, node_count: int) -> Array:
        """What efforts (k,) [N] do to the nodes, (n, 3) [N]."""
        out = np.zeros((node_count, 3))
        np.add.at(out, self.nodes, efforts[:, None, None] * self.vectors)
        return out


def _rows_of(contacts: Contacts) -> ExtraRows:
    """Of every contact a normal and two tangents: the gap and the slips (`Contacts`). What is deep comes out in steps."""
    count = len(contacts)
    limits = np.tile([[0.0, np.inf], [-np.inf, np.inf], [-np.inf, np.inf]], (count, 1))
    given = np.zeros((count, 3))
    given[:, 0] = contacts.depths
    weights = np.stack([contacts.lifting, contacts.weights, contacts.weights], axis=1)
    return ExtraRows(
        np.repeat(contacts.nodes, 3, axis=0), weights.reshape(3 * count, -1), contacts.frames.reshape(-1, 3),
        contacts.origins.reshape(-1), given.reshape(-1), limits, contacts.friction
    )  # fmt: skip


def _spread(value: ArrayLike, what: str, shape: tuple[int, ...]) -> Array:
    """Numbers for all rows, from one for all or one each."""
    found = as_numbers(value)
    if found.shape not in (shape, shape[1:]):
        raise InputError(
            f"{what} of extra rows have shape {found.shape}",
            remedy=f"give them as {shape}, or {shape[1:]} for all rows",
        )
    out: Array = np.broadcast_to(found, shape).copy()
    return out


NO_ROWS = ExtraRows.of(np.empty((0, 1), int), np.empty((0, 1)), np.empty((0, 3)))
