"""Rows of `work` (see material/_lanes.py) that tet elements have beyond those of the material laws, and moving them about."""

# mypy: allow-untyped-defs, allow-untyped-calls
from __future__ import annotations

from typing import Final

from pliant.algebra.compiled import inlined
from pliant.material._lanes import LANES, ROWS

CORNERS: Final = ROWS  # gradients of the four barycentric coordinates, 4 x 3
POSITIONS: Final = ROWS + 12  # of the nodes, 10 x 3
GRADIENTS: Final = ROWS + 42  # of the shape functions at this point, 10 x 3
FORCES: Final = ROWS + 72  # on the nodes, 10 x 3
WEIGHT: Final = ROWS + 102  # integration weight times volume
CONTRACTED: Final = ROWS + 103  # w C . grad N_b, 27
BACK: Final = ROWS + 130  # gradient of the shape function b at hand, 3
FORE: Final = ROWS + 133  # and of a, 3
BULK: Final = ROWS + 136  # the modulus k of the turned stiffness
PAIRS: Final = ROWS + 137  # stiffness of each pair of nodes, 55 x 9
ALL_ROWS: Final = ROWS + 137 + 495


@inlined
def bring(count, rows, work, place):
    """Copy three rows, whose number is found at run time, to rows at a `place` that the compiler knows."""
    source = work[rows * LANES : (rows + 3) * LANES]
    for l in range(count):
        for j in range(3):
            work[(place + j) * LANES + l] = source[j * LANES + l]


@inlined
def take(count, place, work, rows):
    """The way back of `bring`."""
    target = work[rows * LANES : (rows + 3) * LANES]
    for l in range(count):
        for j in range(3):
            target[j * LANES + l] = work[(place + j) * LANES + l]
