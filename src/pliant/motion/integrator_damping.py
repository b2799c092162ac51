"""How much a time step alone damps motion: implicit steps lose energy that no material takes."""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.body import Pose
from pliant.errors import PliantError, PliantWarning
from pliant.motion.modes import natural_modes
from pliant.robot import Robot, State
from pliant.robot.state import Past
from pliant.robot.time_step import Scheme, TimeStep

Array = NDArray[np.float64]

WORTH_A_WORD = 0.05
"""Damping ratio of the integrator from which a run tells of it: an amplitude falls by a quarter with every swing."""


def integrator_damping(frequency: ArrayLike, h: float, scheme: Scheme = "generalized-alpha") -> Array:
    """Damping ratio that a scheme with a step h [s] gives to a free swing of a frequency [Hz].

    A step multiplies the swing by z = exp(s h); the ratio is -Re s / |s|. Backward Euler has z = 1 / (1 - i omega h): 5 % at 63
    steps per swing, 0.18 at 17. The second-order scheme has it from its own coefficients, and takes a hundredth of that.

    >>> integrator_damping(6.0, 0.01).round(4), integrator_damping(6.0, 0.01, "euler").round(2)
    (np.float64(0.0019), np.float64(0.18))
    """
    given = np.asarray(frequency, dtype=float)
    s = np.array([np.log(_per_step(2 * np.pi * float(f), h, scheme)) for f in given.ravel()]).reshape(given.shape)
    size = np.abs(s)
    return np.asarray(-s.real / np.where(size > 0, size, 1.0))


def _per_step(omega: float, h: float, scheme: Scheme) -> complex:
    """What a step multiplies a swing x'' = -omega^2 x by: the largest eigenvalue of the step from (x, v, and the accelerations
    of its past) to those after it, found by steps from unit vectors."""
    x, v, a, c = np.eye(4)
    none = np.empty(0)
    pose = Pose(x, none, none)
    begin = State(pose, v, none, past=Past(h, pose, a, c))
    step = TimeStep.of(begin, h, scheme)
    later = (step.xb + step.sigma * step.vb) / (1 + step.scale * omega**2)
    end = step.ended(begin, Pose(later, none, none), none)
    past = end.past if end.past is not None else Past(h, pose, np.zeros(4), np.zeros(4))
    values = np.linalg.eigvals(np.array([end.x, end.v, past.acceleration, past.lagging]))
    swinging = values[values.imag >= 0]
    return complex(swinging[np.abs(swinging).argmax()])


@dataclass(frozen=True)
class SwingDamping:
    """What the time step alone does to the lowest swings of a robot: frequencies (k,) [Hz] and damping ratios (k,)."""

    frequencies: Array
    ratios: Array

    def __str__(self) -> str:
        each = (f"{f:.3g} Hz: {ratio:.2g}" for f, ratio in zip(self.frequencies, self.ratios, strict=True))
        return "damping ratios of the lowest swings by the time step alone: " + (", ".join(each) or "none")


def swing_damping(robot: Robot, h: float, scheme: Scheme = "generalized-alpha", count: int = 3) -> SwingDamping:
    """Of the lowest elastic modes at rest, without the material's own damping; of fewer, or none, where a robot is too small
    for so many or not stable at rest."""
    free = 0 if robot.is_supported else 6
    for modes in range(count, 0, -1):
        try:
            found = natural_modes(robot, free + modes).frequencies
        except PliantError:
            continue
        swings = found[found > 0]
        return SwingDamping(swings, integrator_damping(swings, h, scheme))
    return SwingDamping(np.empty(0), np.empty(0))


def warn_of_integrator_damping(robot: Robot, state: State, h: float, scheme: Scheme) -> SwingDamping:
    """Tell where the lowest swing of a robot, or its spin, is damped by the step more than by its material."""
    damping = swing_damping(robot, h, scheme)
    told = [text for text in (_of_swing(robot, damping, h), _of_spin(robot, state, h, scheme)) if text]
    if told:
        how = "backward Euler" if scheme == "euler" else "the time step"
        warnings.warn(
            f"with steps of {h:g} s {' and '.join(told)} by {how} alone; take smaller steps where the motion itself "
            "matters, not only where it comes to rest",
            PliantWarning,
            stacklevel=3,
        )
    return damping


def _of_swing(robot: Robot, damping: SwingDamping, h: float) -> str:
    """The lowest elastic mode at rest, unless the material damps it more."""
    if not len(damping.frequencies):
        return ""
    frequency, ratio = float(damping.frequencies[0]), float(damping.ratios[0])
    omega = 2 * np.pi * frequency
    own = min(0.5 * (body.mass_damping / omega + body.stiffness_damping * omega) for body in robot.bodies)
    if ratio <= max(WORTH_A_WORD, own):
        return ""
    return f"the lowest swing, {frequency:.3g} Hz (omega h = {omega * h:.2g}), has a damping ratio of {ratio:.2g}"


def _of_spin(robot: Robot, state: State, h: float, scheme: Scheme) -> str:
    """The spin of a robot that nothing holds."""
    if robot.is_supported:
        return ""
    omega = _spin(robot, state)
    lost = 1 - abs(_per_step(omega, h, scheme)) ** (1 / h)
    if lost <= WORTH_A_WORD:
        return ""
    return f"a spin of {omega:.3g} rad/s (omega h = {omega * h:.2g}) loses at least {100 * lost:.0f} % in a second"


def _spin(robot: Robot, state: State) -> float:
    """Angular velocity [rad/s] of the whole about its centre of mass."""
    mass = np.concatenate([body.load_masses for body in robot.bodies])
    arms = state.x - mass @ state.x / mass.sum()

    def angular_momentum(v: Array) -> Array:
        return np.asarray(np.cross(arms, robot.equations.momentum(v)).sum(axis=0))

    inertia = np.array([angular_momentum(np.cross(axis, arms)) for axis in np.eye(3)])
    return float(np.linalg.norm(np.linalg.solve(inertia, angular_momentum(state.v))))
