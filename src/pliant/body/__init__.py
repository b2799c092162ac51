"""Bodies: nodes -> energy, force, stiffness, mass.

A `Body` owns nodes and knows what their displacement costs; `TetBody` is the solid one, of four-node or ten-node tets,
`SpringBody` a lattice of springs.
An `Assembly` joins bodies and says which of their coordinates are free: fixed, prescribed and sliding nodes, rigid parts.

Matrices are lists of 3x3 blocks, one per pair of coupled nodes; a body tells once where its blocks sit and then only
fills in their values.
"""

from pliant.body.assembly import Assembly, Pose
from pliant.body.body import Body, Supports
from pliant.body.fields import Fields
from pliant.body.springs import SpringBody
from pliant.body.tets import TetBody

all_bodies: tuple[type[Body], ...] = (TetBody, SpringBody)

__all__ = ["Assembly", "Body", "Fields", "Pose", "SpringBody", "Supports", "TetBody", "all_bodies"]
