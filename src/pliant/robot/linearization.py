"""What belongs to one point of a robot's motion: the equations there, and how all ports move together about it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.condensed import Condensed
from pliant.robot.diagnosis import moved_believably
from pliant.robot.equations import Times
from pliant.robot.factored import Factored
from pliant.robot.state import State

Array = NDArray[np.float64]


class Linearization:
    """A robot linearized at a state, in statics or over one backward Euler step of h seconds; `Robot.linearize` makes one.

    state, h, and

    model    the condensed model delta = W lambda + delta_free of all port rows, and of extra rows: numbers of its own
    solve    the motion of the nodes that forces cause
    follow   the state that efforts lead to

    `solve` and `follow` stand on the robot's memory; once the robot was linearized elsewhere they raise an InputError.

    Statics: W = H K^-1 H^T, delta_free = delta + H K^-1 (g - f). A step h of backward Euler, with
    A v+ = M v + h (g - f) + h H^T lambda: W = h^2 H A^-1 H^T, delta_free = delta + h H A^-1 (M v + h (g - f)).
    """

    def __init__(self, state: State, factored: Factored, names: tuple[str, ...], sequence: int, times: Times) -> None:
        self.state, self.h, self._at = state, factored.h, factored
        equations, h, extra = factored.equations, factored.h, factored.loads.extra
        rows = equations.rows.at(factored.placed, factored.T, extra)
        delta = np.concatenate([*(port.displacement for port in factored.placed), extra.at(state.x)])
        times.mark("ports")
        gradient = factored.here.gradient
        force = -gradient if h is None else h * (equations.momentum(state.v) - h * gradient)
        self._compliance = factored.condense(rows, force)
        W, efforts = factored.scale * self._compliance.W, factored.loads.efforts
        slices = dict(equations.slices)
        if len(extra):
            slices["extra"] = slice(len(names), len(names) + len(extra))
            names = (*names, *(f"extra.{k}" for k in range(len(extra))))
        faced = zip(equations.attachments, factored.placed, strict=True)
        references = {name: port.reference for name, port in faced if port.reference is not None}
        free = delta + self._compliance.shift - W @ efforts
        times.mark("condense")
        negatives = factored.report.negatives
        self.model = Condensed(
            W, free, delta, efforts, names, slices, state.time, sequence, factored.definite and not negatives,
            times.seconds, references, negatives
        )  # fmt: skip

    def solve(self, force: Array) -> Array:
        """Motion of the nodes (n, 3) [m] that forces on them (n, 3) [N] cause: K^-1 f, or h^2 A^-1 f over a time step."""
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
        model = self.model
        motion = self._compliance.resume(self._at.scale * (efforts - model.efforts))
        share = min(1.0, largest_move / max(self._at.way_of(motion), 1e-300))
        pose, share = moved_believably(self._at.equations.assembly, self.state.pose, motion, share)
        if share < 1.0:
            efforts = model.efforts + share * (efforts - model.efforts)
        return self.state.moved(pose, efforts, self.h), share
