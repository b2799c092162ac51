"""Contact: what robots touch, where, and what they remember of it; geometry only.

Plane, Sphere, Solid    obstacles
Skin                    the points of a body that may touch
Touch                   a skin and an obstacle, with friction
Contacts                the points that are close in a step: normals, gaps, anchors
Remembered              what a state keeps of them
"""

from pliant.contact.contacts import Contacts, Remembered
from pliant.contact.obstacles import Gaps, Obstacle, Plane, Solid, Sphere
from pliant.contact.skin import BallSkin, PointSkin, Skin
from pliant.contact.touch import Touch

__all__ = [
    "BallSkin",
    "Contacts",
    "Gaps",
    "Obstacle",
    "Plane",
    "PointSkin",
    "Remembered",
    "Skin",
    "Solid",
    "Sphere",
    "Touch",
]
