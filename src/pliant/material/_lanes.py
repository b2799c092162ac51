"""How kernels evaluate a law at many points at once: rows of lanes.

A *lane* is one material point (one integration point of one element); LANES of them are worked on together. All their
numbers live in one flat array `work`: row r of quantity Q, lane l at work[(Q + r) * LANES + l]. Every loop runs over the
lanes with rows at constant offsets, the one form that LLVM turns into vector instructions without help: the distance
between any two accesses is known, and the trip count (`count`, the lanes in use) is not, so the loop is not unrolled away.
Two more things LLVM needs: to see that count <= LANES (every lane kernel begins with `count = min(count, LANES)`, or the
check for negative indices stays in the loop), and at most about thirty rows written per loop, or the loops over rows are
not unrolled; larger ones are cut in three by functions that are inlined with literal rows.
"""

from __future__ import annotations

from typing import Final

LANES: Final = 16

F: Final = 0  # deformation gradient, 9 rows, row-major
P: Final = 9  # first Piola-Kirchhoff stress, 9
C: Final = 18  # stiffness dP/dF, 81
PARAMETERS: Final = 99  # the law's parameters (law.py), 5
ENERGY: Final = 104  # energy density, 1
R: Final = 105  # polar rotation, 9
G: Final = 114  # resistance of the rotation against turning, 9
INVARIANTS: Final = 123  # I1, I2, J
COFACTOR: Final = 126  # dJ/dF, 9
SECOND: Final = 135  # dI2/dF, 9
DERIVATIVES: Final = 144  # of the energy by the invariants: 1, 2, J, 11, 12, 1J, 22, 2J, JJ
THETA: Final = 153  # the law's dilation, 1
SLOPE: Final = 154  # dtheta/dF, 9
SCALE: Final = 163  # factor of a term to be added, 1
TURN: Final = 164  # how R answers a turn of the frame: 3 axes of 9
ROWS: Final = 191  # first row that is free for the caller
