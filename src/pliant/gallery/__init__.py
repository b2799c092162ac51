"""Robots to start from, one file each, and their registry.

cantilever   a silicone beam clamped at one end: deflection beside beam theory
diamond      the four-legged silicone robot of largilliere2015: its top follows a square
finger       a finger closed by one cable
pneunet      a pneumatic bending finger with its cavity
trunk        an elephant's trunk on eight cables
"""

from __future__ import annotations

from pliant.errors import InputError
from pliant.gallery import cantilever, diamond, finger, pneunet, trunk
from pliant.gallery.exhibit import Exhibit, Paths, Report

all_robots: dict[str, Exhibit] = {
    "cantilever": cantilever.EXHIBIT,
    "diamond": diamond.EXHIBIT,
    "finger": finger.EXHIBIT,
    "pneunet": pneunet.EXHIBIT,
    "trunk": trunk.EXHIBIT,
}


def find(name: str) -> Exhibit:
    """The robot of this name."""
    if name not in all_robots:
        raise InputError(f"there is no robot {name!r}", remedy=f"choose one of: {', '.join(all_robots)}")
    return all_robots[name]


__all__ = ["Exhibit", "Paths", "Report", "all_robots", "find"]
