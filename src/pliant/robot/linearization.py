"""What belongs to one point of a robot's motion: the equations there, and how all ports move together about it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.condensed import Condensed
from pliant.robot.diagnosis import moved_believably
from pliant.robot.equations import Times
from pliant.robot.extra import ExtraRows
from pliant.robot.factored import Factored
from pliant.robot.state import State

Array = NDArray[np.float64]


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
        self._compliance = factored.condense(rows, factored.force())
        W, efforts = factored.scale * self._compliance.W, factored.loads.efforts
        slices = dict(equations.slices)
        if len(extra):
            slices["extra"] = slice(len(names), len(names) + len(extra))
            names = (*names, *(f"extra.{k}" for k in range(len(extra))))
        faced = zip(equations.attachments, factored.placed, strict=True)
        references = {name: port.reference for name, port in faced if port.reference is not None}
        free = there + factored.led(factored.placed, extra) + self._compliance.shift - W @ efforts
        times.mark("condense")
        negatives = factored.report.negatives
        self.model = Condensed(
            W, free, delta, efforts, names, slices, state.time, sequence, factored.definite and not negatives,
            times.seconds, references, negatives
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

    def follow(self, efforts: Array, *, largest_move: float = np.inf) -> tuple[State, float]:
        """The state that the model leads to with these total efforts (m + k,).

        largest_move [m]: where a node would move farther, or the elements would be distorted beyond belief (`Distortion`),
        only a part of the way is gone, and that part of the change of efforts made, since no linear model is good farther
        out. Returns the state and that part, usually 1, and 0 where no part of the way is believed.
        """
        model, at, state = self.model, self._at, self.state
        motion = self._compliance.resume(at.scale * (efforts - model.efforts))
        share = min(1.0, largest_move / max(at.way_of(motion), 1e-300))
        pose, share = moved_believably(at.equations.assembly, at.pose, motion, share, state.x)
        if share < 1.0:
            efforts = model.efforts + share * (efforts - model.efforts)
        if at.step is None:
            return state.moved(pose, efforts), share
        return at.step.ended(state, pose, efforts, smooth=share == 1.0), share
