"""A block whose middle part is a soft thermal actuator: warmed up, it swells to more than twice its volume.

A bar of 90 x 30 x 30 mm lies on the ground under its own weight. Its middle third stands for the silicone with ethanol of
Miriyev, Stack and Lipson 2017 (the first application of clay2021): the rest lengths of its springs grow by `STRAIN`, with the
lag of a body that warms up. The stiffer ends hold the actuator back where they meet.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pliant.body import SpringBody
from pliant.contact import Plane
from pliant.gallery.exhibit import Showing
from pliant.gallery.mover import GRAVITY, Mover
from pliant.gallery.travel import travel
from pliant.motion.explicit import Explicit, Thermal
from pliant.shape import Lattice
from pliant.view import Figure, Moving, draw_stills
from pliant.view.figures import bounded
from pliant.view.page import Setting

Array = NDArray[np.float64]

CELLS, SIZE = (18, 6, 6), 0.005
"""Cells along x, y and z, and their edge [m]."""
E_ENDS, E_SOFT, DENSITY = 200e3, 60e3, 1000.0
"""Young's moduli of the ends and of the actuator [Pa], density [kg/m^3]."""
STRAIN, LAG, DURATION = 0.33, 0.5, 3.0
"""Growth of the rest lengths, time constant of warming up [s], length of the run [s]."""
FRICTION, DAMPING = 0.5, 20.0
"""Coefficient of the ground, rate of the drag on all nodes [1/s]."""
ACTUATOR = 1
"""Label of the part that swells."""


def build(gait: str = "swell", settings: Mapping[str, float] | None = None) -> Moving:
    """The block at rest on the ground; settings: `strain`."""
    strain = {"strain": STRAIN, **(settings or {})}["strain"]
    lattice = Lattice.block(CELLS, SIZE, origin=(-0.5 * CELLS[0] * SIZE, -0.5 * CELLS[1] * SIZE, 0.0))
    lattice = lattice.labelled(lambda centers: np.abs(centers[:, 0]) < CELLS[0] * SIZE / 6)
    body = SpringBody(lattice, {0: E_ENDS, ACTUATOR: E_SOFT}, DENSITY)
    ground = Plane(friction=FRICTION, damping=0.5)
    engine = Explicit(
        body, gravity=GRAVITY, damping=DAMPING, ground=ground, actuation={ACTUATOR: Thermal(strain, LAG)}, threads=1
    )
    return Moving(body, engine)


def corner_volumes(lattice: Lattice, x: Array) -> Array:
    """Determinants of the three edges at every corner of every cube with the points at x, relative to rest, (c, 8).

    They are the Jacobians of the trilinear map at its corners: all positive where no corner is turned inside out.
    """
    edges = np.array([[corner ^ 4, corner ^ 2, corner ^ 1] for corner in range(8)])
    sign = np.array([(-1.0) ** bin(corner).count("1") for corner in range(8)])

    def determinants(points: Array) -> Array:
        corners = points[lattice.cells]
        return np.asarray(sign * np.linalg.det(corners[:, edges] - corners[:, :, None, :]))

    return np.asarray(determinants(x) / determinants(lattice.points))


def cell_volumes(lattice: Lattice, x: Array) -> Array:
    """Volumes [m^3] of the cubes with the points at x, (c,): of the trilinear map, by two Gauss points along each axis."""
    corners = x[lattice.cells]
    share = 0.5 + np.array([-0.5, 0.5]) / np.sqrt(3.0)
    bits = np.array([[corner >> 2 & 1, corner >> 1 & 1, corner & 1] for corner in range(8)])
    total = np.zeros(len(corners))
    for point in np.stack(np.meshgrid(share, share, share, indexing="ij"), axis=-1).reshape(-1, 3):
        ways = np.where(bits, point, 1 - point)
        slopes = np.stack(
            [np.where(bits[:, a], 1.0, -1.0) * np.delete(ways, a, axis=1).prod(axis=1) for a in range(3)], axis=1
        )
        total += np.linalg.det(np.einsum("cka,kb->cab", corners, slopes)) / 8
    return total


def growth(lattice: Lattice, x: Array) -> float:
    """Volume of the actuator with the points at x, relative to rest."""
    inside = lattice.labels == ACTUATOR
    return float(cell_volumes(lattice, x)[inside].sum() / lattice.volumes[inside].sum())


def told(moving: Moving, x: Array) -> str:
    """What the page says of it."""
    return f"the actuator has {growth(moving.body.lattice, x):.2f} times its volume at rest"


def report(gait: str = "swell") -> Showing:
    """How much the actuator grows, and whether any cell is turned inside out on the way."""
    moving = build(gait)
    lattice = moving.body.lattice
    swollen = travel(moving, DURATION, samples=60)
    smallest = min(float(corner_volumes(lattice, x).min()) for x in swollen.places)
    springs, steps = len(lattice.springs), round(swollen.run.time / swollen.run.step)
    figures = (
        bounded("expander.growth", growth(lattice, swollen.places[-1]), "x", 2.0, "higher", "twice its volume"),
        Figure("expander.growth_free", (1 + STRAIN) ** 3, "x"),
        bounded("expander.inverted_cells", swollen.inverted, "cells", 0.0, "lower", "none"),
        bounded("expander.smallest_corner", smallest, "x", 0.0, "higher", "no corner inside out"),
        Figure("expander.springs", springs, "springs"),
        Figure("expander.springs_per_point", springs / moving.body.node_count, "springs"),
        Figure("expander.step", 1e6 * moving.engine.step, "us"),
        Figure("expander.seconds_per_second", swollen.seconds / DURATION, "s/s", better="lower"),
        Figure("expander.springs_per_second", springs * steps / swollen.seconds / 1e6, "M/s", better="higher"),
    )
    chosen = [0, 6, 15, 60]

    def draw(path: Path) -> None:
        draw_stills(moving, swollen.times[chosen].tolist(), list(swollen.places[chosen]), path, title=EXHIBIT.title)

    return Showing(figures, draw)


EXHIBIT = Mover(
    "a block whose middle part is a soft thermal actuator and swells",
    build,
    report,
    ("swell",),
    (Setting("strain", "", 0.0, 0.5, STRAIN),),
    {0: "stiffer ends", ACTUATOR: "the actuator: warmed up, it swells"},
    told,
)
