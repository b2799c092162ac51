"""A step through time as a minimum, for line searches that cannot go wrong."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.body import Pose
from pliant.robot.equations import Equations, Evaluation
from pliant.robot.time_step import TimeStep

Array = NDArray[np.float64]


class Increment:
    """What a step through time from a state minimizes, its Hessian being A / (tau sigma):

    Phi(x) = Pi(x) + sigma / (2 tau) |v+ - vb|^2_M + sigma / 2 |v+|^2_D,    v+ = (x - xb) / sigma,

    D taken where the step says: at the start with backward Euler, else about at the end.
    """

    def __init__(self, equations: Equations, x: Array, step: TimeStep) -> None:
        """x (n, 3) [m]: where the nodes are at the start."""
        self.step, self._equations = step, equations
        self.damping = equations.damping_blocks(x if step.damped_at is None else step.damped_at)

    def at(self, pose: Pose, here: Evaluation) -> tuple[float, Array, float]:
        """Phi, its gradient on the nodes (n, 3) and the largest force in it [N], from Pi and its gradient at the same pose."""
        step = self.step
        v = step.velocity(pose.x)
        inertia = self._equations.momentum(v - step.vb) / step.tau
        drag = self._equations.times_blocks(self.damping, v)
        value = here.potential + 0.5 * step.sigma * float(np.vdot(v - step.vb, inertia) + np.vdot(v, drag))
        largest = max(float(np.abs(part).max()) for part in (inertia, here.gradient, drag))
        return value, here.gradient + inertia + drag, largest
