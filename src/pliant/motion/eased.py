"""Stretch that a step leaves behind, taken out with the tangent that is there."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from pliant.body import Pose
from pliant.robot.factored import Factored

Array = NDArray[np.float64]
Evaluate = Callable[[Pose], tuple[float, Array]]
"""Value and gradient on the nodes (n, 3) of what is minimized, at a pose."""

MOST = 10
"""Solves with one tangent."""
TRIALS = 3
"""Points that are looked at along each."""
LEVEL = 0.1
"""The share of its first slope that counts as none along a direction."""


def eased(at: Factored, step: Array, gradient: Array, allowed: Array, evaluate: Evaluate) -> Array:
    """A step of the coordinates (nc, 3) from a point, and further ones by the same tangent, as long as the value falls and
    forces out of balance are halved; gradient (n, 3): at the point; allowed (nc, 1): force that counts as none [N].

    A slender body that was bent along straight lines is stretched. A Newton step from there takes that out, but for laws that
    are not linear in the stretch not all of it, and what is left makes the body so stiff in bending that the next step goes
    hardly anywhere. The tangent of the stretched body is stiff in bending, so with it only the stretch goes: a solve and an
    evaluation or two in place of a factorization each (chord method; Kelley 1995, section 5.4).
    """
    done, value, gradient = _lowest(at, np.zeros_like(step), step, gradient, evaluate)[:3]
    off = at.imbalance(gradient, allowed)
    for _ in range(MOST):
        way = at.solve(-at.scale * gradient)
        there, reached, slope, part = _lowest(at, done, way, gradient, evaluate)
        left = at.imbalance(slope, allowed)
        if not (reached < value and (left < 0.5 * off or (part < 1.0 and left < off))):
            break
        done, value, gradient, off = there, reached, slope, left
    return done


def _lowest(
    at: Factored, begin: Array, way: Array, gradient: Array, evaluate: Evaluate
) -> tuple[Array, float, Array, float]:
    """Coordinates (nc, 3) from those where the gradient is known on, along a way: the whole of it, or where the slope has
    become about level by the rule of false position; value and gradient there, and the part of the way."""
    first, part = float(np.vdot(at.on_coordinates(gradient), way)), 1.0
    for trial in range(TRIALS):
        there = begin + part * way
        value, slopes = evaluate(at.moved(there))
        slope = float(np.vdot(at.on_coordinates(slopes), way))
        if slope <= LEVEL * abs(first) or trial == TRIALS - 1:
            break
        part *= max(0.1, first / (first - slope)) if np.isfinite(slope) else 0.5
    return there, value, slopes, part
