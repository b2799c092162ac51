"""Whether an equilibrium is stable, and how far it is from losing that."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from pliant.motion.held import Held
from pliant.motion.modes import natural_modes
from pliant.robot import Robot, State
from pliant.robot.extra import NO_ROWS


@dataclass(frozen=True)
class Stability:
    """excess: independent ways of motion along which the potential is curved downwards while all that is held is kept, 0 at a
    stable equilibrium; margin: what is left of the stiffness of the softest motion, (f / f0)^2 with its frequency f and the
    one f0 of the same shape without the loads' and stresses' effect on it: 1 far from losing stability, 0 where it is lost.
    """

    excess: int
    margin: float

    @property
    def is_stable(self) -> bool:
        """Whether the robot stays where it is."""
        return self.excess == 0


def stability(robot: Robot, state: State) -> Stability:
    """Of an equilibrium, by the signs of the pivots of its tangent and the inertia rule for what is held (`HeldStep`).

    Lengths and volumes that are given count as held, as far as their efforts are within limits: a robot that is stable on
    given lengths need not be so on given tensions.

    >>> import pliant as pl
    >>> mesh = pl.make.box((0.004, 0.004, 0.1), (1, 1, 12))
    >>> column = pl.Robot(pl.TetBody(mesh, pl.Corotational(E=1e6, nu=0.3), fixed=mesh.where(z_below=0), order=2))
    >>> column.impose("load", pl.Force(mesh.nodes[mesh.where(z_above=0.1)], direction=(0, 0, -1)), effort=0.0026)  # [N]
    >>> found = pl.stability(column, pl.Statics(column).solve().require().state)
    >>> found.is_stable, round(found.margin, 1)  # Euler's load is twice as large: 5.3 mN
    (True, 0.5)
    """
    robot.require_fits(state)
    robot.require_untouched("stability", "ask a robot that touches nothing")
    held = Held(robot, state, NO_ROWS)
    at = robot.equations.factor(state.pose, robot.loads(state.efforts), signed=True)
    if not at.report.usable:
        return Stability(1, 0.0)
    excess = held.linear_step(at, -at.here.gradient, state.efforts).excess
    if excess:
        return Stability(excess, 0.0)
    softest, unloaded = (natural_modes(robot, 1, state, tangent=kind).frequencies[0] for kind in ("exact", "warped"))
    return Stability(0, float((softest / unloaded) ** 2) if unloaded > 0.0 else np.nan)
