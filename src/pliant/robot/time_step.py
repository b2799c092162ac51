"""One step through time, of any scheme that there is: the one place that knows their coefficients.

Every scheme here looks back at a point xb and a velocity vb, of the state and of its past, and holds the equations at the end:

    x+ = xb + sigma v+,    v+ = vb + tau a+,    M a+ + D v+ + f(x+) = g + H^T lambda+

so that x+ minimizes Pi(x) + sigma / (2 tau) |v+ - vb|^2_M + sigma / 2 |v+|^2_D with v+ = (x - xb) / sigma (`Increment`), and
one linearization has

    A = M + tau D + tau sigma K_t,    W = tau sigma H A^-1 H^T.

    "euler"               backward Euler: xb = x, vb = v, tau = sigma = h. First order; takes a lot from any swing.
    "generalized-alpha"   (Chung and Hulbert 1993, in the form of Arnold and Bruels 2007, whose forces are those at the end)
                          second order; takes little from what the step resolves and nearly all from what it does not.

With c an acceleration that lags behind a, (1 - am) c+ + am c = (1 - af) a+ + af a, the second is Newmark's method on c:
x+ = x + h v + h^2 ((1/2 - beta) c + beta c+), v+ = v + h ((1 - gamma) c + gamma c+). It lags by (af - am) h; where h changes,
c is taken in between, or beyond. The first step after a state without a past, or one that is much longer than the step before,
is one of backward Euler, whose error at one step is of second order.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pliant.body import Pose
from pliant.checks import number, one_of
from pliant.robot.state import Past, State

Array = NDArray[np.float64]
Scheme = Literal["generalized-alpha", "euler"]

RHO = 0.4
"""What is left after a step of a swing that is much faster than the step, from 0 to 1. Lower values take more from spins and
swings; with 0.8 a stiff body that spins by 0.2 rad per step gains energy, even by Newton's method."""
ALPHA_M, ALPHA_F = (2 * RHO - 1) / (RHO + 1), RHO / (RHO + 1)
GAMMA = 0.5 + ALPHA_F - ALPHA_M
BETA = 0.25 * (0.5 + GAMMA) ** 2
LONGER = 2.0
"""How much longer than the step before a step may be to go on from it."""
KEPT = (1 - ALPHA_F) / (1 - ALPHA_M)
"""How much of an acceleration goes into the one that lags behind, at once."""


def require_scheme(scheme: str) -> Scheme:
    """The scheme, or an InputError where there is none of that name."""
    one_of(scheme, "scheme", get_args(Scheme))
    return scheme  # type: ignore[return-value]


@dataclass(frozen=True)
class TimeStep:
    """A step of h [s] from a state by a scheme: tau and sigma [s], the point xb (n, 3) [m] and the velocity vb (n, 3) [m/s]
    that it looks back at, and what the past adds to the lagging acceleration (n, 3) [m/s^2], None where there is no past.

    damped_at: where the nodes are taken to be for D, (n, 3) [m]: about at the end, since D turns with the body; None with
    backward Euler, which takes them at the start."""

    scheme: Scheme
    h: float
    tau: float
    sigma: float
    xb: Array
    vb: Array
    rest: Array | None = None
    damped_at: Array | None = None

    @classmethod
    def of(cls, state: State, h: float, scheme: Scheme) -> TimeStep:
        """From a state on; without a past it is one of backward Euler."""
        h = number(h, "the time step", unit="s", above=0.0, remedy="give a positive step, or None for statics")
        if require_scheme(scheme) == "euler":
            return cls(scheme, h, h, h, state.x, state.v)
        past, ahead = state.past, state.x + h * state.v
        if past is None or h > LONGER * past.h:
            return cls(scheme, h, h, h, state.x, state.v, None, ahead)
        sigma, a, c = BETA / GAMMA * h, past.acceleration, past.lagging
        if h != past.h:  # c is a of a share of a step ago
            c = a + h / past.h * (c - a)
        rest = (ALPHA_F * a - ALPHA_M * c) / (1 - ALPHA_M)
        xb = state.x + (h - sigma) * state.v + h * (0.5 * h - sigma) * c
        vb = state.v + h * ((1 - GAMMA) * c + GAMMA * rest)
        return cls(scheme, h, GAMMA * KEPT * h, sigma, xb, vb, rest, ahead)

    @property
    def scale(self) -> float:
        """tau sigma [s^2]: A is this times the Hessian of what is minimized."""
        return self.tau * self.sigma

    def velocity(self, x: Array) -> Array:
        """v+ (n, 3) [m/s] with the nodes at x (n, 3) at the end."""
        return (x - self.xb) / self.sigma

    def acceleration(self, x: Array) -> Array:
        """a+ (n, 3) [m/s^2] with the nodes at x (n, 3) at the end."""
        return (self.velocity(x) - self.vb) / self.tau

    def ended(self, state: State, pose: Pose, efforts: Array, *, smooth: bool = True) -> State:
        """The state at the end, at a pose and with efforts (m + k,).

        smooth: whether the motion was. After an impact it was not: the velocity is then that of the way, and there is no past,
        so that the next step cannot make a rebound of it.
        """
        later = replace(state.moved(pose, efforts), time=state.time + self.h)
        if not smooth:
            return replace(later, v=(pose.x - state.x) / self.h)
        v = self.velocity(pose.x)
        if self.scheme == "euler":
            return replace(later, v=v)
        a = (v - self.vb) / self.tau
        lagging = a if self.rest is None else KEPT * a + self.rest
        return replace(later, v=v, past=Past(self.h, state.pose, a, lagging))
