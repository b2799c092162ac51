"""Robots to start from, one file each, and their registry.

cantilever   a silicone beam clamped at one end: deflection beside beam theory
"""

from __future__ import annotations

from collections.abc import Callable

from pliant.gallery import cantilever
from pliant.gallery.exhibit import Exhibit

all_robots: dict[str, Callable[[], Exhibit]] = {"cantilever": cantilever.run}

__all__ = ["Exhibit", "all_robots"]
