"""Bodies: nodes -> energy, force, stiffness, mass.

A `Body` owns nodes and knows what their displacement costs; `TetBody` is the solid one, of four-node or ten-node tets,
`SpringBody` a lattice of springs, `RigidBody` a frame of four nodes, `RodBody` curves with a `Section`, of many such frames.
An `Assembly` joins bodies and says which of their coordinates are free: fixed, prescribed, sliding and tied
nodes, and a tree of rigid parts. Joints (`Weld`, `Revolute`, `Ball`, `Slide`) and `Tie` make that tree (`jointed`).

Matrices are lists of 3x3 blocks, one per pair of coupled nodes; a body tells once where its blocks sit and then only
fills in their values.
"""

from pliant.body.assembly import Assembly, Pose, Slope
from pliant.body.body import Body, Supports
from pliant.body.fields import Fields
from pliant.body.joint import Ball, Joint, Place, Revolute, Slide, Tie, Weld
from pliant.body.jointed import Jointed, jointed
from pliant.body.parts import Part
from pliant.body.rigid import RigidBody
from pliant.body.rods import RodBody
from pliant.body.section import Section
from pliant.body.several import Several
from pliant.body.springs import SpringBody
from pliant.body.surface import CarriedSurface
from pliant.body.tets import TetBody

all_bodies: tuple[type[Body], ...] = (TetBody, SpringBody, RigidBody, RodBody)

all_joints: tuple[type[Joint], ...] = (Weld, Revolute, Ball, Slide)

__all__ = [
    "Assembly",
    "Ball",
    "Body",
    "CarriedSurface",
    "Fields",
    "Joint",
    "Jointed",
    "Part",
    "Place",
    "Pose",
    "Revolute",
    "RigidBody",
    "RodBody",
    "Section",
    "Several",
    "Slide",
    "Slope",
    "SpringBody",
    "Supports",
    "TetBody",
    "Tie",
    "Weld",
    "all_bodies",
    "all_joints",
    "jointed",
]
