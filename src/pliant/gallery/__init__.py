"""Robots to start from, one file each, and their registry.

ball         a soft ball of 20 cells that rolls by their stiffness, in closed loop with another ball
cantilever   a silicone beam clamped at one end: deflection beside beam theory
diamond      the four-legged silicone robot of largilliere2015: its top follows a square
drop         soft and rigid things fall on hilly ground, and on each other
expander     a block of springs whose middle part swells
fingers      three fingertips hold and bend a soft beam, and lift a box, by the inverse with contact
finger       a finger closed by one cable
flexipod     a stiff body on four soft legs that motors turn: it runs
grasp        a gripper picks up a box or a ball by friction
gripper      two soft pads on leaves and a rigid palm, opened and closed by tendons
multigait    a four-legged pneumatic walker of five striped actuators
pneunet      a pneumatic bending finger with its cavity
tendon       a continuum robot of rod and discs on six tendons: position and orientation
tripods      a haptic device: a handle on six bent rods that motors turn (koehler2023)
trunk        an elephant's trunk on eight cables
wheel        a soft wheel that rolls by four cables through it, by the inverse with contact (coevoet2019)
"""

from __future__ import annotations

from pliant.errors import InputError
from pliant.gallery import (
    ball,
    cantilever,
    diamond,
    drop,
    expander,
    finger,
    fingers,
    flexipod,
    grasp,
    gripper,
    multigait,
    pneunet,
    tendon,
    tripods,
    trunk,
    wheel,
)
from pliant.gallery.exhibit import Choices, Exhibit, Showing
from pliant.gallery.follower import Follower, Paths, Report
from pliant.gallery.mover import Mover

all_robots: dict[str, Exhibit] = {
    "ball": ball.EXHIBIT,
    "cantilever": cantilever.EXHIBIT,
    "diamond": diamond.EXHIBIT,
    "drop": drop.EXHIBIT,
    "expander": expander.EXHIBIT,
    "finger": finger.EXHIBIT,
    "fingers": fingers.EXHIBIT,
    "flexipod": flexipod.EXHIBIT,
    "grasp": grasp.EXHIBIT,
    "gripper": gripper.EXHIBIT,
    "multigait": multigait.EXHIBIT,
    "pneunet": pneunet.EXHIBIT,
    "tendon": tendon.EXHIBIT,
    "tripods": tripods.EXHIBIT,
    "trunk": trunk.EXHIBIT,
    "wheel": wheel.EXHIBIT,
}


def find(name: str) -> Exhibit:
    """The robot of this name."""
    if name not in all_robots:
        raise InputError(f"there is no robot {name!r}", remedy=f"choose one of: {', '.join(all_robots)}")
    return all_robots[name]


__all__ = ["Choices", "Exhibit", "Follower", "Mover", "Paths", "Report", "Showing", "all_robots", "find"]
