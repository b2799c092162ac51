"""What running a robot of the gallery gives."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.robot import Robot, State
from pliant.view import Figure


@dataclass(frozen=True)
class Exhibit:
    """A robot at the end of its run, and the figures to report."""

    title: str
    robot: Robot
    state: State
    figures: tuple[Figure, ...]
