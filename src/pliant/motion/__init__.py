"""How a robot moves when its efforts are given: to equilibrium, or through time.

    Statics         Newton and load steps until the forces balance and the equilibrium is stable, or one linearized step
    Dynamics        implicit steps through time, of second order or backward Euler, one linearization per step or Newton
    natural_modes   frequencies and mode shapes about a state
    stability       whether an equilibrium is stable, and how far it is from losing that
    integrator_damping, swing_damping
                    what a time step alone takes from a swing, and from the lowest ones of a robot
    Simulation      a run for scripts: step, run, record, callbacks, progress
    Explicit        spring lattices by small explicit steps, for millions of springs (see `pliant.motion.explicit`)
    peak_frequency, crossing_frequency
                    of a recorded motion

A step never raises because of what happens inside it: it returns a result with a status, residuals, iterations and times
per stage, and `result.require()` raises. What is wrong before it starts (a state of another robot, nothing that holds the
robot in statics) raises at once.
"""

from typing import TYPE_CHECKING, Any

from pliant.motion.dynamics import Dynamics
from pliant.motion.frequency import crossing_frequency, peak_frequency
from pliant.motion.integrator_damping import SwingDamping, integrator_damping, swing_damping
from pliant.motion.modes import Modes, natural_modes, small_shift
from pliant.motion.result import Status, StepResult
from pliant.motion.settled import beginning, settled
from pliant.motion.simulation import Recording, Simulation
from pliant.motion.stability import Stability, stability
from pliant.motion.statics import Statics

if TYPE_CHECKING:
    from pliant.motion.explicit import Explicit, ExplicitRun

__all__ = [
    "Dynamics",
    "Explicit",
    "ExplicitRun",
    "Modes",
    "Recording",
    "Simulation",
    "Stability",
    "Statics",
    "Status",
    "StepResult",
    "SwingDamping",
    "beginning",
    "crossing_frequency",
    "integrator_damping",
    "natural_modes",
    "peak_frequency",
    "settled",
    "small_shift",
    "stability",
    "swing_damping",
]


def __getattr__(name: str) -> Any:
    """`Explicit` and what belongs to it are loaded when first asked for: not every user has springs."""
    if name in ("Explicit", "ExplicitRun"):
        from pliant.motion import explicit

        return getattr(explicit, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
