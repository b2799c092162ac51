"""Small plants for the tests, importable by other processes."""

from __future__ import annotations

import numpy as np

from pliant import Cable, Corotational, NeoHookean, Point, Robot, TetBody, make
from pliant.device import SimulatedPlant

MESH = make.box((0.1, 0.016, 0.016), (8, 2, 2))
WAYS = {"up": (0.008, 0.014), "down": (0.008, 0.002)}
LIMIT = 8.0


def route(name: str) -> Cable:
    """A cable along the arm."""
    y, z = WAYS[name]
    return Cable([(x, y, z) for x in np.linspace(0.005, 0.095, 5)], pull=(-0.02, y, z))


def arm(law=None, *, order: int = 1, mesh=MESH) -> Robot:
    """An arm clamped at one end with a cable above and one below."""
    law = Corotational(E=300e3, nu=0.4) if law is None else law
    body = TetBody(mesh, law, density=1100, order=order, fixed=mesh.where(x_below=0), damping=(0.0, 0.02))
    robot = Robot(body, gravity=(0, 0, -9.81))
    for name in WAYS:
        robot.actuate(name, route(name), effort=(0.0, LIMIT), displacement=(-0.01, 0.02), effort_rate=20.0)
    robot.effect("tip", Point(near=(0.1, 0.008, 0.008)))
    return robot


def arm_plant() -> SimulatedPlant:
    """The arm as a plant of another law and modulus, commanded by tensions, with noise."""
    return SimulatedPlant(arm(NeoHookean(E=310e3, nu=0.4)), 0.01, settling=0.02, noise=1e-5, seed=3)


def broken_plant() -> SimulatedPlant:
    """One that cannot be made."""
    return SimulatedPlant(arm(), 0.01, settling=-1.0)
