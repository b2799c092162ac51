"""Robots to start from, one file each, and their registry.

cantilever   a silicone beam clamped at one end: deflection beside beam theory
    diamond      the four-legged silicone robot of largilliere2015: its top follows a square
"""

from __future__ import annotations

from collections.abc import Callable

from pliant.gallery import cantilever, diamond
from pliant.gallery.exhibit import Exhibit

all_robots: dict[str, Callable[[], Exhibit]] = {"cantilever": cantilever.run, "diamond": diamond.run}

__all__ = ["Exhibit", "all_robots"]
