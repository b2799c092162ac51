"""What joints and clamps hold: a force and a moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.body import Assembly, Pose

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Wrench:
    """A force (3,) [N] and a moment (3,) [N m] about a point (3,) [m]."""

    force: Array
    moment: Array
    point: Array

    def __neg__(self) -> Wrench:
        return Wrench(-self.force, -self.moment, self.point)


def on_part(assembly: Assembly, pose: Pose, gradient: Array, part: int) -> Wrench:
    """What holds a part and all that hangs on it in balance, about its pivot; gradient (n, 3): of the potential [N]."""
    forces, moments = assembly.loads_of_parts(assembly.slope(pose), gradient)
    C = moments[part]
    moment = np.array([C[2, 1] - C[1, 2], C[0, 2] - C[2, 0], C[1, 0] - C[0, 1]])
    return Wrench(forces[part].copy(), moment, pose.centers[part].copy())


def on_nodes(x: Array, reactions: Array) -> Wrench:
    """What holds some nodes at x (k, 3) by reactions (k, 3) [N], about their middle."""
    point = x.mean(axis=0)
    return Wrench(reactions.sum(axis=0), np.cross(x - point, reactions).sum(axis=0), point)
