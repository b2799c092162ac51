"""Compiled dispatch: from the number of a law to its energy, stress, stiffness and dilation."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from typing import Final

import numpy as np

from pliant.algebra.compiled import kernel
from pliant.material._invariant_kernels import add_cofactor_slope, find_invariants
from pliant.material._lanes import (
    COFACTOR,
    ENERGY,
    INVARIANTS,
    LANES,
    PARAMETERS,
    ROWS,
    SCALE,
    SLOPE,
    THETA,
    C,
    F,
    P,
    R,
)
from pliant.material._polar_kernels import rotate
from pliant.material.corotational import respond_corotational
from pliant.material.linear import respond_linear
from pliant.material.mooney_rivlin import respond_mooney_rivlin
from pliant.material.neo_hookean import respond_neo_hookean
from pliant.material.st_venant_kirchhoff import respond_st_venant_kirchhoff

LINEAR: Final = 0
COROTATIONAL: Final = 1


@kernel
def respond(law, work, count, level):
    """Fill energy and stress, at level 2 also the stiffness, of `count` lanes of one law."""
    if law == LINEAR:
        respond_linear(work, count, level)
    elif law == COROTATIONAL:
        respond_corotational(work, count, level)
    elif law == 2:
        respond_st_venant_kirchhoff(work, count, level)
    elif law == 3:
        respond_neo_hookean(work, count, level)
    else:
        respond_mooney_rivlin(work, count, level)


@kernel
def dilate(law, work, count):
    """Fill the law's dilation theta and its slope dtheta/dF.

    tr F - 3 (linear), tr(R^T F) - 3 (corotational), tr G (St. Venant-Kirchhoff), J - 1 (rubbers).
    """
    count = min(count, LANES)
    if law == COROTATIONAL:
        rotate(work, count)
    elif law > 2:
        find_invariants(work, count)
    for l in range(count):
        theta = -3.0
        for t in range(9):
            f = work[(F + t) * LANES + l]
            if law == LINEAR:
                slope = 1.0 if t % 4 == 0 else 0.0
            elif law == COROTATIONAL:
                slope = work[(R + t) * LANES + l]
            elif law == 2:
                slope = f
            else:
                slope = work[(COFACTOR + t) * LANES + l]
            work[(SLOPE + t) * LANES + l] = slope
            theta += slope * f
        if law == 2:
            theta *= 0.5
        elif law > 2:
            theta = work[(INVARIANTS + 2) * LANES + l] - 1.0
        work[THETA * LANES + l] = theta


@kernel
def add_dilation_curvature(law, work, count):
    """C += scale d2theta/dF2 with the factor in the row SCALE; after `dilate` at the same F. Of the laws whose stiffness is C
    (not the corotational one's, which is turned: body/_tet_kernels.py)."""
    count = min(count, LANES)
    if law == 2:
        for t in range(9):
            diagonal = work[(C + 10 * t) * LANES : (C + 10 * t + 1) * LANES]
            scale = work[SCALE * LANES : (SCALE + 1) * LANES]
            for l in range(count):
                diagonal[l] += scale[l]
    elif law > 2:
        add_cofactor_slope(work, count)


@kernel
def respond_many(law, parameters, gradients, energy, stress, stiffness):
    """The response of one law at many gradients [m, 9]; fills energy [m], stress [m, 9] and stiffness [m, 81]."""
    work = np.empty(ROWS * LANES)
    for begin in range(0, gradients.shape[0], LANES):
        count = min(LANES, gradients.shape[0] - begin)
        for l in range(count):
            for t in range(9):
                work[(F + t) * LANES + l] = gradients[begin + l, t]
            for t in range(parameters.shape[0]):
                work[(PARAMETERS + t) * LANES + l] = parameters[t]
        respond(law, work, count, 2)
        for l in range(count):
            energy[begin + l] = work[ENERGY * LANES + l]
            for t in range(9):
                stress[begin + l, t] = work[(P + t) * LANES + l]
            for t in range(81):
                stiffness[begin + l, t] = work[(C + t) * LANES + l]


@kernel
def dilate_many(law, gradients, theta, slope):
    """The dilation of one law at many gradients [m, 9]; fills theta [m] and slope [m, 9]."""
    work = np.empty(ROWS * LANES)
    for begin in range(0, gradients.shape[0], LANES):
        count = min(LANES, gradients.shape[0] - begin)
        for l in range(count):
            for t in range(9):
                work[(F + t) * LANES + l] = gradients[begin + l, t]
        dilate(law, work, count)
        for l in range(count):
            theta[begin + l] = work[THETA * LANES + l]
            for t in range(9):
                slope[begin + l, t] = work[(SLOPE + t) * LANES + l]
