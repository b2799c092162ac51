"""How a robot moves when its efforts are given: to equilibrium, or through time.

    Statics         Newton with line search and load steps until the forces balance, or one linearized step
    Dynamics        backward Euler, one linearization per step or Newton
    natural_modes   frequencies and mode shapes about a state
    Simulation      a run for scripts: step, run, record, callbacks, progress

A step never raises because of what happens inside it: it returns a result with a status, residuals, iterations and times
per stage, and `result.require()` raises. What is wrong before it starts (a state of another robot, nothing that holds the
robot in statics) raises at once.
"""

from pliant.motion.dynamics import Dynamics
from pliant.motion.modes import Modes, natural_modes
from pliant.motion.result import Status, StepResult
from pliant.motion.simulation import Recording, Simulation
from pliant.motion.statics import Statics

__all__ = ["Dynamics", "Modes", "Recording", "Simulation", "Statics", "Status", "StepResult", "natural_modes"]
