"""Beams of springs that swing: the frequency of the recorded motion beside the eigenvalue (clay2021, fig. 5 and 8).

The paper pulls at the tip, waits with damping on until the beam rests, lets go and records. Here the rest under the pull
is found by statics; then the explicit engine runs without damping.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.body import SpringBody
from pliant.motion import Statics, crossing_frequency, natural_modes, peak_frequency
from pliant.motion.explicit import Explicit
from pliant.motion.explicit.explicit import Integrator
from pliant.paper.cronos_beams import HEIGHT, MODULUS, Beam, lattice_frequency
from pliant.port import Force
from pliant.robot import Robot, State
from pliant.shape import Lattice

Array = NDArray[np.float64]

COARSE = 4
"""Cells through the height of beams that swing."""
SMALL = 1e-3
"""Deflection of the tip relative to the length, small: the paper's is "a fraction of a millimetre"."""
PERIODS = 5
STEP = 0.9
"""Step relative to the longest stable one."""
INTEGRATORS: tuple[Integrator, ...] = ("semi-implicit", "verlet", "rk4")
GRAVITY = 9.81


@dataclass(frozen=True, eq=False)
class Swing:
    """A recorded motion of the tip beside its eigenvalue: times [s], heights [m], frequencies [Hz]."""

    eigenvalue: float
    times: Array
    heights: Array

    @property
    def fft(self) -> float:
        """By Fourier transform."""
        return peak_frequency(self.times, self.heights)

    @property
    def crossings(self) -> float:
        """By counting zero crossings, as the paper does."""
        return crossing_frequency(self.times, self.heights)


def let_go(beam: Beam, integrator: Integrator = "verlet", through: int = COARSE) -> Swing:
    """The beam pulled down at its tip by a thousandth of its length, then let go."""
    body = beam.whole(through)
    eigenvalue = lattice_frequency(beam, through)
    explicit = _explicit(body, integrator)
    explicit.x = _pulled(beam, body).x
    return _recorded(explicit, eigenvalue, _tip(body))


def _pulled(beam: Beam, body: SpringBody) -> State:
    """Rest under a force on the end that deflects a beam of Euler and Bernoulli by SMALL."""
    end = body.rest[body.rest[:, 0] > (1 - 1e-6) * beam.length]
    force = 3 * MODULUS * beam.width * HEIGHT**4 / 12 / beam.length**2 * SMALL
    robot = Robot(body)
    robot.impose("pull", Force(end, direction=(0, 0, -1)), effort=force)
    return Statics(robot).solve().require().state


def _explicit(body: SpringBody, integrator: Integrator = "verlet", gravity: float = 0.0) -> Explicit:
    limit = Explicit(body, integrator=integrator).limit
    return Explicit(body, integrator=integrator, step=STEP * limit, gravity=(0.0, 0.0, -gravity))


def _tip(body: SpringBody) -> int:
    return int(np.argmax(body.rest @ (1.0, 1e-3, 1e-3)))


def _recorded(explicit: Explicit, eigenvalue: float, tip: int) -> Swing:
    every = max(1, int(1 / eigenvalue / explicit.step / 200))
    run = explicit.run(PERIODS / eigenvalue, record=[tip], every=every).require()
    return Swing(eigenvalue, run.times, run.positions[:, 0, 2])


LENGTH = 10.0
"""Of the beam of fig. 8 [m]; its height and width are a tenth, E follows from the load."""


@dataclass(frozen=True, eq=False)
class Sagging:
    """A beam that hangs under its own weight.

    load: w L^3 / (E I), w the weight per length. sag: how far the tip hangs down, relative to the length. at_rest: lowest
    frequencies of the straight beam without its weight, [2] [Hz]; swing: about the equilibrium, with the eigenvalue there.
    """

    load: float
    sag: float
    at_rest: Array
    hanging: Array
    swing: Swing

    @property
    def error_at_rest(self) -> float:
        """Of the eigenvalue of the straight beam, relative to what the motion shows."""
        return float(self.swing.fft / self.at_rest[0] - 1)

    @property
    def error_hanging(self) -> float:
        """Of the eigenvalue about the equilibrium."""
        return float(self.swing.fft / self.hanging[0] - 1)


def sagging(load: float, *, from_straight: bool = False) -> Sagging:
    """The beam under a load, swinging by a thousandth of its length about where it hangs; or (from_straight) let go when it
    is straight, so that it swings as far as it sags."""
    body, robot, state = _hanging(load)
    straight, about = natural_modes(Robot(body), 2).frequencies, natural_modes(robot, 2, state)
    tip = _tip(body)
    explicit = _explicit(body, gravity=GRAVITY)
    if not from_straight:
        shape = about.shapes[0]
        explicit.x = state.x + shape * (SMALL * LENGTH / np.abs(shape[tip]).max())
    swing = _recorded(explicit, float(about.frequencies[0]), tip)
    return Sagging(load, float(body.rest[tip, 2] - state.x[tip, 2]) / LENGTH, straight, about.frequencies, swing)


def _hanging(load: float) -> tuple[SpringBody, Robot, State]:
    size, density = LENGTH / 10 / COARSE, 1000.0
    lattice = Lattice.block((10 * COARSE, COARSE, COARSE), size, origin=(0.0, -LENGTH / 20, -LENGTH / 20))
    E = 12 * density * GRAVITY * LENGTH**3 / (LENGTH / 10) ** 2 / load
    root = lattice.where(x_below=size / 4)
    middle = np.setdiff1d(np.flatnonzero(np.isclose(lattice.points[:, 1], 0.0)), root)
    body = SpringBody(
        lattice, E, density, fixed=root, sliding=[(middle, (0, 1, 0))]
    )  # in the plane: no sideways bending
    robot = Robot(body, gravity=(0.0, 0.0, -GRAVITY))
    return body, robot, Statics(robot, load_steps=4).solve().require().state


def load_that_shifts(share: float) -> float:
    """The load under which the eigenvalue about the equilibrium is higher by a share than that of the straight beam."""
    from scipy.optimize import brentq

    def difference(load: float) -> float:
        body, robot, state = _hanging(load)
        about, straight = natural_modes(robot, 1, state), natural_modes(Robot(body), 1)
        return float(about.frequencies[0] / straight.frequencies[0] - 1 - share)

    return float(brentq(difference, 0.1, 4.0, xtol=1e-3))
