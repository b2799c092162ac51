"""Nodes that follow others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pliant.body._assembly_kernels import follow_ties, load_masters
from pliant.body.body import Array, Ids
from pliant.body.joining import Joining
from pliant.body.joint import Tie
from pliant.errors import InputError


@dataclass(frozen=True, eq=False)
class Ties:
    """Nodes (t,) that are carried by others, their masters: x = sum w x_m over masters[begin[k]:begin[k + 1]]. All are in the
    numbering of the whole, and no master is tied itself."""

    tied: Ids
    begin: Ids
    masters: Ids
    weights: Array

    def follow(self, x: Array) -> None:
        """Put the tied nodes of positions or motions (n, 3) where their masters carry them."""
        if len(self.tied):
            follow_ties(self.tied, self.begin, self.masters, self.weights, x)

    def on_masters(self, force: Array) -> Array:
        """Forces (n, 3) with those on tied nodes handed over to their masters."""
        if not len(self.tied):
            return force
        out = np.array(force)
        load_masters(self.tied, self.begin, self.masters, self.weights, out)
        return out

    def numbers(self, node_count: int) -> Ids:
        """Which tie each node has, (n,); -1: none."""
        out = np.full(node_count, -1, np.int64)
        out[self.tied] = np.arange(len(self.tied))
        return out


NO_TIES = Ties(np.empty(0, np.int64), np.zeros(1, np.int64), np.empty(0, np.int64), np.empty(0))


def all_ties(joining: Joining, ties: Mapping[str, Tie]) -> Ties:
    """All ties as one, or an InputError that names the node that is held twice."""
    if not ties:
        return NO_TIES
    tied: list[Ids] = []
    counts: list[Ids] = []
    masters: list[Ids] = []
    weights: list[Array] = []
    for name, tie in ties.items():
        who = f"tie {name!r}"
        number, nodes = joining.nodes(tie.a, who)
        other = joining.body(tie.b, who)
        if number == other:
            raise InputError(
                f"{who} ties {joining.names[other]!r} to itself", remedy="tie nodes of one body to another one"
            )
        busy = nodes[joining.owner[nodes] != -2]
        if len(busy):
            raise InputError(
                f"{who}: node {busy[0] - joining.begin[number]} of {joining.names[number]!r} is held in another way already",
                remedy="leave it out of the tie, for example with numpy.setdiff1d(nodes, held)",
            )
        own, shares = joining.bodies[other].embed(joining.rest[nodes], tie.max_distance)
        used = shares != 0.0
        joining.owner[nodes] = -3
        tied.append(nodes)
        counts.append(used.sum(axis=1))
        masters.append(joining.begin[other] + own[used])
        weights.append(shares[used])
    every = np.concatenate(tied)
    chained = np.intersect1d(every, np.concatenate(masters))
    if len(chained):
        number = int(np.searchsorted(joining.begin, chained[0], side="right") - 1)
        raise InputError(
            f"node {chained[0] - joining.begin[number]} of {joining.names[number]!r} is tied, and others are tied to it",
            remedy="tie all of them to the same body, or leave the shared nodes out of one of the ties",
        )
    begin = np.concatenate([[0], np.cumsum(np.concatenate(counts))]).astype(np.int64)
    return Ties(every, begin, np.concatenate(masters).astype(np.int64), np.concatenate(weights))
