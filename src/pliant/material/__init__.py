"""Material laws, one file each: how much energy a deformation costs.

Every law is the same triple, as functions of the deformation gradient F = dx/dX (dimensionless):

    energy     Psi(F)         [J/m^3]
    stress     P = dPsi/dF    [Pa], first Piola-Kirchhoff
    stiffness  C = dP/dF      [Pa]

and is given by the constants a user has: Young's modulus E [Pa] and Poisson's ratio nu. For small strains all laws are
Hooke's law with that E and nu; they differ when the strain is not small:

    Linear              small strain *and* small rotation: a rigid rotation gives forces
    Corotational        small strain, any rotation; the default of the papers and of pliant
    StVenantKirchhoff   any rotation, moderate strain; softens in strong compression
    NeoHookean          rubber, any strain, survives inverted elements (Smith et al. 2018)
    MooneyRivlin        rubber, two shear constants, any strain; infinite energy where an element is inverted

>>> import numpy as np
>>> law = Corotational(E=150e3, nu=0.45)
>>> float(law.stress(np.eye(3) * 1.01)[0, 0].round(3))     # 3 K x 1 %, K = E / (3 (1 - 2 nu))
15000.0
"""

from pliant.material.corotational import Corotational
from pliant.material.law import Law, lame_constants
from pliant.material.linear import Linear
from pliant.material.mooney_rivlin import MooneyRivlin
from pliant.material.neo_hookean import NeoHookean
from pliant.material.st_venant_kirchhoff import StVenantKirchhoff

all_laws: tuple[type[Law], ...] = (Linear, Corotational, StVenantKirchhoff, NeoHookean, MooneyRivlin)

__all__ = [
    "Corotational",
    "Law",
    "Linear",
    "MooneyRivlin",
    "NeoHookean",
    "StVenantKirchhoff",
    "all_laws",
    "lame_constants",
]
