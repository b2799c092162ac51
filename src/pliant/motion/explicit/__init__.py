"""Explicit stepping of spring lattices: many small steps, each only forces and sums, for millions of springs.

    Explicit        a lattice through time: gravity, damping, contact, actuation, motors, recordings, energies
    Ramp, Thermal, Sine, Pneumatic, Table
                    functions of time: strains of materials, factors of loads, given motions
    Load, GivenMotion, Motor, SpringLaw
                    what drives a lattice
    Population, Material
                    many robots of one lattice in one call: materials per cell, phases, seeds, fitness
    run_many        robots that have nothing in common, in one call
    Springs         masses and springs from arrays of your own

Two layouts in memory stand behind one interface (`layouts`): a grid for voxel lattices and lists of neighbours for any
other. Forces are summed per node in a fixed order, so a result does not depend on the number of threads.
"""

from pliant.motion.explicit.drives import GivenMotion, Load, Motor, SpringLaw
from pliant.motion.explicit.explicit import Explicit
from pliant.motion.explicit.lives import Material, PopulationRun
from pliant.motion.explicit.many import ManyRuns, run_many
from pliant.motion.explicit.population import Population
from pliant.motion.explicit.result import Energies, ExplicitRun, RunStatus
from pliant.motion.explicit.signals import Pneumatic, Ramp, Signal, Sine, Table, Thermal
from pliant.motion.explicit.springs import Springs

__all__ = [
    "Energies",
    "Explicit",
    "ExplicitRun",
    "GivenMotion",
    "Load",
    "ManyRuns",
    "Material",
    "Motor",
    "Pneumatic",
    "Population",
    "PopulationRun",
    "Ramp",
    "RunStatus",
    "Signal",
    "Sine",
    "SpringLaw",
    "Springs",
    "Table",
    "Thermal",
    "run_many",
]
