"""How a robot moves when its efforts are given: to equilibrium, or through time.

    Statics         Newton with line search and load steps until the forces balance, or one linearized step
    Dynamics        backward Euler, one linearization per step or Newton
    natural_modes   frequencies and mode shapes about a state
    Simulation      a run for scripts: step, run, record, callbacks, progress
    Explicit        spring lattices by small explicit steps, for millions of springs (see `pliant.motion.explicit`)
    peak_frequency, crossing_frequency
                    of a recorded motion

A step never raises because of what happens inside it: it returns a result with a status, residuals, iterations and times
per stage, and `result.require()` raises. What is wrong before it starts (a state of another robot, nothing that holds the
robot in statics) raises at once.
"""

from pliant.motion.dynamics import Dynamics
from pliant.motion.explicit import Explicit, ExplicitRun
from pliant.motion.frequency import crossing_frequency, peak_frequency
from pliant.motion.modes import Modes, natural_modes
from pliant.motion.result import Status, StepResult
from pliant.motion.simulation import Recording, Simulation
from pliant.motion.statics import Statics

__all__ = [
    "Dynamics",
    "Explicit",
    "ExplicitRun",
    "Modes",
    "Recording",
    "Simulation",
    "Statics",
    "Status",
    "StepResult",
    "crossing_frequency",
    "natural_modes",
    "peak_frequency",
]
