"""What a step of a motion returns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum

import numpy as np

from pliant.errors import NotConvergedError, PliantError
from pliant.robot import State


class Status(Enum):
    """How a step ended; the value is the explanation with its remedy."""

    CONVERGED = "the forces balance to the tolerance, and the equilibrium is stable"
    STEPPED = "one linearized step was taken, as asked"
    WARPED = "one linearized step was taken with the warped tangent, because the exact one is not positive definite"
    SHORTENED = (
        "the whole step would have distorted elements beyond belief; it was taken in parts, or only a part of it was"
    )
    ROUGH = (
        "the step was taken, but contact forces miss Coulomb's law by more than 1e-6 of the largest (`missed`); take a shorter "
        "step, or fewer points (spacing=)"
    )
    INSIDE = (
        "the step was taken, but points are inside an obstacle (`penetration`) and come out in the next steps; start apart "
        "from obstacles, and move those by less in a step"
    )
    CRUSHED = (
        "the robot is at rest, but points are inside of what it touches (`penetration`) and do not come out; give it room, or "
        "start apart from obstacles"
    )
    UNSTABLE = (
        "the forces balance, but the robot would leave this equilibrium by itself; ask for branch='stable', lower the load, or "
        "hold what moves away"
    )
    NOT_CONVERGED = "the iteration limit was reached; take more load steps or iterations, or a larger tolerance"
    STALLED = (
        "no step lowers the potential any more; the tolerance is below what rounding allows, or the load buckles it"
    )
    DIVERGED = (
        "elements are stretched beyond what any material can bear: a load is too large, or its unit or that of the "
        "modulus is wrong; the state is the last good one"
    )
    LOOSE = (
        "nothing holds the robot, so it has no rest; add fixed nodes or hold displacements, or let it move (Dynamics)"
    )
    FAILED = "the equations cannot be solved here; the state is the last good one"

    @property
    def ok(self) -> bool:
        """Whether a step was taken that one can go on from; `clean` says whether all that was asked for holds after it."""
        return self.clean or self in (Status.ROUGH, Status.INSIDE)

    @property
    def clean(self) -> bool:
        """Whether the state is what was asked for, contact and all: false where contact forces miss Coulomb's law (ROUGH), or
        points are still inside of what they touch (INSIDE)."""
        return self in (Status.CONVERGED, Status.STEPPED, Status.WARPED, Status.SHORTENED)


@dataclass(frozen=True)
class StepResult:
    """The state after a step and how it came about.

    residual: largest force out of balance [N]; iterations: linear solves; times: seconds per stage; history: the residual
    at each iteration; cause: why it failed, where it did; warped_iterations: how many fell back to the warped tangent;
    turned_iterations: how many went downhill where the potential is curved downwards, as it is beyond buckling; escapes: how
    many unstable equilibria were left on the way to a stable one; margin: how far an equilibrium is from losing stability, its
    smallest pivot over that of the unloaded robot (0 where it is lost; NaN where held rows keep it stable: see `stability`);
    missed: by how much contact forces miss Coulomb's law, over the largest effort; penetration: of the deepest point in an
    obstacle after the step [m].
    """

    status: Status
    state: State
    residual: float
    iterations: int
    times: Mapping[str, float] = field(default_factory=dict)
    history: tuple[float, ...] = ()
    cause: PliantError | None = None
    warped_iterations: int = 0
    turned_iterations: int = 0
    escapes: int = 0
    margin: float = np.nan
    missed: float = 0.0
    penetration: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether a step was taken that one can go on from (`Status.ok`); `status.clean` promises more."""
        return self.status.ok

    def require(self) -> StepResult:
        """Itself if ok; raises the cause, or a NotConvergedError, otherwise."""
        if self.ok:
            return self
        raise self.error()

    def error(self) -> PliantError:
        """Why it is not ok: the cause, or how far it came."""
        if self.cause is not None:
            return self.cause
        return NotConvergedError(
            f"stopped after {self.iterations} iterations with {self.residual:.3g} N out of balance",
            remedy=self.status.value,
            result=self,
        )
