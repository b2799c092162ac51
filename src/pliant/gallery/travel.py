"""How far a robot of the gallery goes: one run from rest with stills, and its figures beside a run without friction."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pliant.gallery.exhibit import Showing
from pliant.motion import ExplicitRun
from pliant.view import Figure, Moving, draw_stills
from pliant.view.figures import bounded

Array = NDArray[np.float64]

DURATION = 20.0
"""Of a run [s]."""
SAMPLES = 100
"""Looks at the robot in a run: at inverted cells, and for stills."""


@dataclass(frozen=True, eq=False)
class Travel:
    """A run from rest, looked at now and then."""

    times: Array
    """Of the looks [s], [s]; the first is at rest."""
    places: Array
    """Of all nodes [s, n, 3] [m]."""
    distance: Array
    """Of the center of mass from where it began [m], [3]; forwards is x."""
    turn: float
    """Of the robot about the vertical at the end, to its left [degrees]."""
    length: float
    """Of the robot at rest [m]."""
    inverted: int
    """Cells turned inside out, the most at any look."""
    run: ExplicitRun
    """The last piece of the run."""
    seconds: float
    """That all of it took."""

    @property
    def lengths(self) -> float:
        """Body lengths forwards."""
        return float(self.distance[0] / self.length)


def travel(moving: Moving, duration: float = DURATION, samples: int = SAMPLES) -> Travel:
    """Let a robot go from where it is for `duration` [s] of simulated time."""
    engine, body = moving.engine, moving.body
    times, places, seconds, inverted = [engine.time], [engine.x], 0.0, 0
    for _ in range(samples):
        run = engine.run(duration / samples, progress=False).require()
        seconds += run.seconds
        inverted = max(inverted, len(body.inverted_elements(run.x)))
        times.append(run.time)
        places.append(run.x)
    distance = moving.middle(places[-1]) - moving.middle(places[0])
    return Travel(
        np.array(times), np.array(places), distance, _turn(moving, places[-1]), moving.length, inverted, run, seconds
    )


def _turn(moving: Moving, x: Array) -> float:
    """Rotation about z of the best fit to the nodes [degrees]."""
    rest, now = moving.body.rest - moving.middle(moving.body.rest), x - moving.middle(x)
    weights = moving.body.masses
    along = float(weights @ (rest[:, 0] * now[:, 0] + rest[:, 1] * now[:, 1]))
    across = float(weights @ (rest[:, 0] * now[:, 1] - rest[:, 1] * now[:, 0]))
    return float(np.rad2deg(np.arctan2(across, along)))


def travelled(
    name: str, build: Callable[[float], Moving], friction: float, title: str, still_times: tuple[float, ...]
) -> Showing:
    """Figures and stills, at some times [s], of a robot that `build` makes for a coefficient of friction."""
    moving = build(friction)
    gone, slipped = travel(moving), travel(build(0.0))
    springs, steps = len(moving.engine.springs.springs), round(gone.run.time / gone.run.step)
    source = f"in {DURATION:.0f} s"
    figures = (
        Figure(f"{name}.distance", 1e3 * float(gone.distance[0]), "mm", better="higher"),
        bounded(f"{name}.body_lengths", gone.lengths, "lengths", 1.0, "higher", source),
        bounded(
            f"{name}.frictionless_share", abs(slipped.lengths / gone.lengths), "x", 0.1, "lower", "of that, with mu = 0"
        ),
        Figure(f"{name}.sideways", 1e3 * float(gone.distance[1]), "mm"),
        Figure(f"{name}.turn", gone.turn, "degrees"),
        bounded(f"{name}.inverted_cells", gone.inverted, "cells", 0.0, "lower", "none"),
        Figure(f"{name}.body_length", 1e3 * gone.length, "mm"),
        Figure(f"{name}.mass", 1e3 * float(moving.body.masses.sum()), "g"),
        Figure(f"{name}.springs", springs, "springs"),
        Figure(f"{name}.springs_per_point", springs / moving.body.node_count, "springs"),
        Figure(f"{name}.step", 1e6 * moving.engine.step, "us"),
        Figure(f"{name}.seconds_per_second", gone.seconds / DURATION, "s/s", better="lower"),
        Figure(f"{name}.springs_per_second", springs * steps / gone.seconds / 1e6, "M/s", better="higher"),
    )
    chosen = [int(np.abs(gone.times - time).argmin()) for time in still_times]

    def draw(path: Path) -> None:
        draw_stills(moving, gone.times[chosen].tolist(), list(gone.places[chosen]), path, title=title)

    return Showing(figures, draw)
