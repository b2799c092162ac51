"""What belongs to one point of a robot's motion: the equations there, and how all ports move together about it."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.condensed import Condensed
from pliant.robot.diagnosis import moved_believably
from pliant.robot.equations import Times
from pliant.robot.extra import ExtraRows
from pliant.robot.factored import Factored
from pliant.robot.state import State

Array = NDArray[np.float64]


class Followed(NamedTuple):
    """Where efforts have led: the state; share of the change of efforts that was made; balance: share of the motion that brings
    forces into balance that was gone; both 1 where the whole way is believed, 0 where no part of it is; length: of the motion,
    (dq^T A dq)^1/2 [J^1/2]; way: how far it moves a node at most [m]; corrected: whether forces were to balance."""

    state: State
    share: float
    balance: float
    length: float
    way: float
    corrected: bool = True


class Linearization:
    """A robot linearized at a state, in statics or over one step of h seconds; `Robot.linearize` makes one.

    state, h, and

    model    the condensed model delta = W lambda + delta_free of all port rows, and of extra rows: numbers of its own
    solve    the motion of the nodes that forces cause
    follow   the state that efforts lead to

    `solve` and `follow` stand on the robot's memory; once the robot was linearized elsewhere they raise an InputError.

    Statics: W = H K^-1 H^T, delta_free = delta + H K^-1 (g - f). A step through time (`TimeStep`: tau, sigma, xb, vb), which is
    the one that `Dynamics` takes: W = tau sigma H A^-1 H^T with A = M + tau D + tau sigma K, and delta_free = delta + H A^-1
    (sigma M (vb - v) + tau sigma (g - f - D v)), v = (x - xb) / sigma. Backward Euler: tau = sigma = h, vb the velocity, v = 0.
    """

    def __init__(self, state: State, factored: Factored, names: tuple[str, ...], sequence: int, times: Times) -> None:
        self.state, self._at = state, factored
        self.h = None if factored.step is None else factored.step.h
        equations, extra = factored.equations, factored.loads.extra
        rows = equations.rows.at(factored.placed, factored.T, extra)
        found_at = factored.found_at
        there = np.concatenate([*(port.displacement for port in factored.placed), extra.at(found_at)])
        delta = there if found_at is state.x else self._measured(extra)
        times.mark("ports")
        self._compliance = factored.condense(rows)
        W, efforts = factored.scale * self._compliance.W, factored.loads.efforts
        slices = equations.slices
        if len(extra):
            slices = slices | {"extra": slice(len(names), len(names) + len(extra))}
            names = (*names, *(f"extra.{k}" for k in range(len(extra))))
        faced = ((name, factored.placed[k].reference) for k, name in equations.relative)
        references = {name: reference for name, reference in faced if reference is not None}
        free = there + factored.led(factored.placed, extra) + self._compliance.shift - W @ efforts
        times.mark("condense")
        negatives = factored.report.negatives
        unbalanced = np.nan if self.h is not None else equations.unbalanced(self._compliance.force, factored.here)
        self.model = Condensed(
            W, free, delta, efforts, names, slices, state.time, sequence, factored.definite and not negatives,
            times.seconds, references, negatives, self._compliance.length, unbalanced,
            factored.report.smallest_ratio
        )  # fmt: skip

    def _measured(self, extra: ExtraRows) -> Array:
        """delta of all rows at the state, (m + k,); relative ports are measured as in the model."""
        placed = zip(self._at.equations.attachments.values(), self._at.placed, strict=True)
        here = [attachment.at(self.state.x, port.reference).displacement for attachment, port in placed]
        return np.concatenate([*here, extra.at(self.state.x)])

    def solve(self, force: Array) -> Array:
        """Motion of the nodes (n, 3) [m] that forces on them (n, 3) [N] cause: K^-1 f, or tau sigma A^-1 f over a time step."""
        step = self._at.scale * self._at.solve(force)
        return self._at.equations.assembly.motion_of_nodes(self._at.T, step)

    def matrix(self) -> Any:
        """K, or A over a time step, on the free coordinates: a scipy matrix in compressed columns, to look at."""
        return self._at.matrix()

    def follow(
        self,
        efforts: Array,
        *,
        largest_move: float = np.inf,
        kept: Array | None = None,
        corrected: bool = True,
        smooth: bool = True,
    ) -> Followed:
        """The state that the model leads to with these total efforts (m + k,).

        largest_move [m]: where a node would move farther, forces are brought into balance first, and the efforts change by as
        much as fits into what is left, since no linear model is good farther out. kept (m + k,): the efforts with which they
        are brought into balance, those that hold what is held; by default as they are. Unless corrected, forces are left
        out of balance as they are. Where elements would be distorted beyond belief (`Distortion`), only a part of that is gone.
        smooth: whether the motion is, of a step through time (`TimeStep.ended`).
        """
        own, at = self.model.efforts, self._at
        kept = own if kept is None else kept
        motion, length = self._compliance.resumed(at.scale * (efforts - own))
        share, balance, way = 1.0, 1.0, at.way_of(motion)
        if not (corrected and way <= largest_move):
            into, length_in = self._compliance.resumed(at.scale * (kept - own))
            if not corrected:
                motion, efforts, kept = motion - into, own + (efforts - kept), own
                into, length_in = np.zeros_like(into), 0.0
            first, rest = at.way_of(into), at.way_of(motion - into)
            balance = min(1.0, largest_move / max(first, 1e-300))
            share = min(1.0, max(0.0, largest_move - balance * first) / max(rest, 1e-300))
            motion, length = (
                balance * into + share * (motion - into),
                balance * length_in + share * (length + length_in),
            )
            way = balance * first + share * rest
        pose, part = moved_believably(at.equations.assembly, at.pose, motion, 1.0, self.state.x)
        efforts = own + part * (balance * (kept - own) + share * (efforts - kept))
        if at.step is None:
            after = self.state.moved(pose, efforts)
        else:
            after = at.step.ended(self.state, pose, efforts, smooth=smooth and part * share == 1.0)
        return Followed(after, part * share, part * balance, part * length, part * way, corrected)
