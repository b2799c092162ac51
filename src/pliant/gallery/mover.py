"""Robots that move by themselves on the explicit engine: how to build one, its gaits, and what to report of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from pliant.errors import InputError
from pliant.gallery.exhibit import Choices, Exhibit, Showing
from pliant.view import MotionPage, Moving
from pliant.view.page import Setting

GRAVITY = (0.0, 0.0, -9.81)
"""[m/s^2]."""


@dataclass(frozen=True)
class Mover(Exhibit):
    """A robot of the gallery that is driven by signals or motors, under gravity, on the ground z = 0.

    build: the robot at rest, for a gait and values of all settings. report: its figures and stills for a gait. gaits: names,
    the first is its own. settings: numbers that the sliders of its page set. regions: what the regions of its lattice are, by
    label. told: what its page says of it with its nodes at x (n, 3) [m] (default: how far it has gone).
    """

    title: str
    build: Callable[[str, Mapping[str, float]], Moving]
    report: Callable[[str], Showing]
    gaits: tuple[str, ...]
    settings: tuple[Setting, ...] = ()
    regions: Mapping[int, str] = field(default_factory=dict)
    told: Callable[[Moving, NDArray[np.float64]], str] | None = None

    def show(self, choices: Choices) -> Showing:
        """See `Exhibit`: the chosen gait from rest."""
        return self.report(self.chosen_gait(choices))

    def page(self, choices: Choices) -> MotionPage:
        """See `Exhibit`."""
        gait = self.chosen_gait(choices)
        return MotionPage(
            self.build, self.gaits, self.settings, title=self.title, gait=gait, told=self.told, regions=self.regions
        )

    def chosen_gait(self, choices: Choices) -> str:
        """The gait that was asked for; what such a robot does not have is refused."""
        for option, value in (
            ("--trajectory", choices.trajectory),
            ("--mesh", choices.mesh),
            ("--body", choices.body),
            ("--drive", choices.drive),
            ("--command", choices.command),
        ):
            if value is not None:
                raise InputError(
                    f"this robot is a lattice of springs that moves by gaits, not by {option}",
                    remedy=f"leave out {option}",
                )
        if choices.gait is None:
            return self.gaits[0]
        if choices.gait not in self.gaits:
            raise InputError(f"there is no gait {choices.gait!r}", remedy=f"choose one of: {', '.join(self.gaits)}")
        return choices.gait
