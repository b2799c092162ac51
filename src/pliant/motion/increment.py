"""A step of backward Euler as a minimum, for line searches that cannot go wrong."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.body import Pose
from pliant.robot import State
from pliant.robot.equations import Equations, Evaluation

Array = NDArray[np.float64]


class Increment:
    """What a step of h seconds from a state minimizes, its Hessian being A / h^2:

    Phi(x) = Pi(x) + 1/(2 h^2) |x - x0 - h v0|^2_M + 1/(2 h) |x - x0|^2_D,    D taken at the start.
    """

    def __init__(self, equations: Equations, state: State, h: float) -> None:
        self.h, self.damping = h, equations.damping_blocks(state.pose)
        self._equations, self._state = equations, state

    def at(self, pose: Pose, here: Evaluation) -> tuple[float, Array, float]:
        """Phi, its gradient on the nodes (n, 3) and the largest force in it [N], from Pi and its gradient at the same pose."""
        moved = pose.x - self._state.x
        jump = moved - self.h * self._state.v
        inertia = self._equations.momentum(jump) / self.h**2
        drag = self._equations.times_blocks(self.damping, moved) / self.h
        value = here.potential + 0.5 * float(np.vdot(jump, inertia) + np.vdot(moved, drag))
        largest = max(float(np.abs(part).max()) for part in (inertia, here.gradient, drag))
        return value, here.gradient + inertia + drag, largest
