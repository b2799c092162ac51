"""The three applications of clay2021, fig. 1: robots of the gallery."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from pliant.gallery import Choices, find
from pliant.paper.paper import Reproduction

APPLICATIONS = (("expander", "swell"), ("multigait", "walk"), ("multigait", "undulate"), ("flexipod", "trot"))
"""Robots and their gaits."""
TOLD = {
    "growth": "growth",
    "body_lengths": "lengths",
    "frictionless_share": "without_friction",
    "inverted_cells": "inverted",
    "springs": "springs",
}
"""Of their figures, and what they are called here."""


def applications(out: Path | None) -> Reproduction:
    """Each from rest: how far it swells or goes, and stills of it."""
    figures, drawn = [], []
    for name, gait in APPLICATIONS:
        showing = find(name).show(Choices(gait=gait))
        for figure in showing.figures:
            what = figure.name.split(".")[1]
            if what in TOLD:
                figures.append(replace(figure, name=f"cronos.{name}_{gait}_{TOLD[what]}"))
        if out is not None:
            drawn.append(out / f"cronos_{name}_{gait}.png")
            showing.draw(drawn[-1])
    lines = [
        "fig. 1: the thermal actuator, the pneumatic walker in two gaits and the runner on motors, robots of the gallery",
        "  (pliant run expander | multigait | flexipod), 20 s of the walkers; the paper gives no numbers.",
    ]
    return Reproduction(figures, lines, drawn)
