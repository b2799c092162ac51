"""Contact: what robots touch, where, and what they remember of it; geometry only.

Plane, Sphere, Solid    obstacles
MeshSide, BallSide      a body in contact: points that may touch, and a wall to the points of others
ObstacleSide            an obstacle where it is, a wall only
OwnWall                 a body as a wall to its own points
OneWay                  points of one side against the wall of the other
EdgeWay                 sharp edges of one side against those of the other
Touch                   a body and an obstacle, or two bodies, with friction
Contacts                the points that are close in a step: normals, gaps, anchors
Remembered              what a state keeps of them
"""

from pliant.contact.ball_side import BallSide
from pliant.contact.contacts import Contacts, Remembered
from pliant.contact.mesh_side import MeshSide, SixNodePatches
from pliant.contact.obstacle_side import ObstacleSide
from pliant.contact.obstacles import Gaps, Obstacle, Plane, Solid, Sphere
from pliant.contact.one_way import OneWay
from pliant.contact.own_wall import OwnWall
from pliant.contact.side import Side
from pliant.contact.touch import Touch

__all__ = [
    "BallSide",
    "Contacts",
    "Gaps",
    "MeshSide",
    "Obstacle",
    "ObstacleSide",
    "OneWay",
    "OwnWall",
    "Plane",
    "Remembered",
    "Side",
    "SixNodePatches",
    "Solid",
    "Sphere",
    "Touch",
]
