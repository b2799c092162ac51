"""Angular momentum of what nothing acts on from outside: a step through time keeps it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from pliant.body import Assembly
from pliant.port import Attachment
from pliant.robot._isolated_kernels import add_spin, moment_about_center, put_mean
from pliant.robot.begun import moment_of
from pliant.robot.extra import ExtraRows
from pliant.robot.state import State

Array = NDArray[np.float64]
Ids = NDArray[np.int64]
Flags = NDArray[np.bool_]

NOTHING = 1e-9
"""Forces that add up to less than this share of themselves, and moments of them, are inner ones."""


class Isolated:
    """The pieces of a robot that no support holds, and those of them that nothing else acts on in a step.

    A step is a chord of a motion that turns, its forces are those of one place and act over a way, and damping of what is
    strained has a moment of its own: with the length of the step angular momentum is lost, or won. Where nothing acts on a
    piece, or on pieces that touch, from outside, what it is to be is known: that of before. Of all velocities that have it, and
    the same linear momentum, those after the step are nearest in kinetic energy that differ by a spin of the whole,

        v <- v + w x (x - c),    w = I^-1 (L0 - L),    L = sum (x - c) x M v,    I = tr(S) 1 - S,    S = sum r M r^T

    with c the centre of mass, r = x - c. Uniform gravity does nothing to it. And once nothing acts on a piece any more, its
    centre has the acceleration of gravity: forces of the past go on to act in a step of second order, and would move pieces
    aside that have let go of each other. What supports, drag, obstacles, or ports with a force or a moment act on is left.
    """

    def __init__(
        self, assembly: Assembly, attachments: Sequence[Attachment], momentum: Callable[[Array], Array]
    ) -> None:
        """attachments: of all ports, in the order of their rows; momentum: M v (n, 3) [kg m/s] of velocities (n, 3)."""
        self._attachments, self._momentum = attachments, momentum
        pieces = [nodes for nodes, _ in assembly.loose_pieces()]
        self.count = len(pieces)
        """How many pieces nothing holds."""
        self._piece = np.full(assembly.node_count, -1)
        for k, nodes in enumerate(pieces):
            self._piece[nodes] = k
        self._always = np.zeros(self.count, bool)
        first = 0
        for body in assembly.bodies:
            own = self._piece[first : first + body.node_count]
            if body.mass_damping or body.supports.unturned:
                self._always[own[own >= 0]] = True
            first += body.node_count

    @cached_property
    def _masses(self) -> Array:
        """The sums of the rows of M (n,) [kg]."""
        return np.ascontiguousarray(self._momentum(np.ones((len(self._piece), 3)))[:, 0])

    def kept(self, before: State, after: State, extra: ExtraRows, gravity: Array) -> State:
        """The state after a step with the angular momentum of before, where nothing acts from outside on its way.

        Both states have efforts of extra rows (k,), those of contacts last; gravity (3,) [m/s^2]."""
        if not self.count or self._always.all():
            return after
        at_end, acted = self._groups(after, extra)
        group = at_end
        if before.efforts.any() or before.extra.any():
            was, acted_before = self._groups(before, extra)
            group, acted = _both(at_end, was), acted | acted_before
        group = np.where(_spread(group, acted), -1, group)
        if (group < 0).all():
            return after
        masses, v, past = self._masses, after.v.copy(), after.past
        momenta = [(state.x, self._momentum(state.v)) for state in (before, after)]
        weighted = self._momentum(after.x)
        for one in np.unique(group[group >= 0]):
            _put_back(self._nodes(group == one), masses, momenta, weighted, v)
        if past is not None:
            a, lagging = past.acceleration.copy(), past.lagging.copy()
            for one in np.unique(at_end[group >= 0]):
                nodes = self._nodes((at_end == one) & (group >= 0))
                put_mean(nodes, masses, gravity, a)
                put_mean(nodes, masses, gravity, lagging)
            past = replace(past, acceleration=a, lagging=lagging)
        return replace(after, v=v, past=past)

    def _nodes(self, chosen: Flags) -> Ids:
        """The nodes of some pieces (p,)."""
        return np.flatnonzero(np.append(chosen, False)[self._piece])

    def _groups(self, state: State, extra: ExtraRows) -> tuple[Ids, Flags]:
        """Which group each piece is in, with those that it touches (p,), and what something acts on from outside (p,)."""
        group, acted = np.arange(self.count), self._always.copy()
        for attachment, rows in zip(self._attachments, _rows(self._attachments), strict=True):
            efforts = state.efforts[rows]
            if efforts.any():
                pieces = np.unique(self._piece[attachment.entry_nodes])
                if not self._is_inner(attachment, state.x, efforts):
                    acted[pieces[pieces >= 0]] = True
                self._join(group, acted, pieces)
        known = len(state.extra) == len(extra)  # or they are forces of rows that are gone
        bearing = np.flatnonzero(state.extra) if known else np.empty(0, np.int64)
        if len(bearing):
            weights = extra.weights[bearing]
            pieces, carries = self._piece[extra.nodes[bearing]], weights != 0.0
            inner = (bearing >= len(extra) - 3 * len(extra.friction)) & (np.abs(weights.sum(axis=1)) < NOTHING)
            acts = carries & ~(inner & (~carries | (pieces >= 0)).all(axis=1))[:, None]
            acted[pieces[acts & (pieces >= 0)]] = True
            ends = np.where(carries, pieces, self.count).min(axis=1), np.where(carries, pieces, -1).max(axis=1)
            for pair in np.unique(np.stack(ends, axis=1)[inner], axis=0):
                self._join(group, acted, pair)
        return group, acted

    def _join(self, group: Ids, acted: Flags, pieces: Ids) -> None:
        """Make one group of pieces that act on each other; one that is held (-1) acts from outside."""
        own = pieces[pieces >= 0]
        if len(own):
            acted[own] |= len(own) < len(pieces)
            group[np.isin(group, group[own])] = group[own].min()

    def _is_inner(self, attachment: Attachment, x: Array, efforts: Array) -> bool:
        """Whether the forces of a port add up to nothing, and their moments too."""
        forces, arms = np.tensordot(efforts, attachment.faced(x).slopes, 1), x[attachment.entry_nodes]
        arms = arms - arms.mean(axis=0)
        most = float(np.abs(forces).sum())
        net, moment = np.abs(forces.sum(axis=0)).max(), np.abs(np.cross(arms, forces).sum(axis=0)).max()
        return bool(net <= NOTHING * most and moment <= NOTHING * most * np.abs(arms).max())


def _put_back(nodes: Ids, masses: Array, momenta: Sequence[tuple[Array, Array]], weighted: Array, v: Array) -> None:
    """Add the spin that some nodes (k,) lack after a step to velocities v (n, 3). masses (n,); momenta: x and M v of all nodes
    (n, 3) before it and after; weighted: M x after it (n, 3)."""
    center, product, had = np.empty(3), np.empty((3, 3)), []
    for x, own in momenta:
        moment_about_center(nodes, masses, x, own, center, product)
        had.append(moment_of(product))
    x = momenta[-1][0]
    if not moment_about_center(nodes, masses, x, weighted, center, product) > 0.0:
        return
    size = np.trace(product)
    values, axes = np.linalg.eigh(size * np.eye(3) - 0.5 * (product + product.T))
    turns = values > NOTHING * size  # nodes in a line, or a single one, turn about nothing
    spin = axes[:, turns] @ (axes[:, turns].T @ (had[0] - had[1]) / values[turns])
    add_spin(nodes, x, center, spin, v)


def _both(one: Ids, other: Ids) -> Ids:
    """Groups (p,) that are joined by one or the other."""
    out: Ids = one.copy()
    for k, group in enumerate(other):
        out[out == out[k]] = out[group]
    return out


def _spread(group: Ids, acted: Flags) -> Flags:
    """Which pieces (p,) are in a group of which one is acted on."""
    return np.asarray(np.isin(group, group[acted]))


def _rows(attachments: Sequence[Attachment]) -> list[slice]:
    out, first = [], 0
    for attachment in attachments:
        out.append(slice(first, first + attachment.row_count))
        first += attachment.row_count
    return out
