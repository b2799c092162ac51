"""A wall that is rendered by the haptic device, and whether it is stable: for its Z-width."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.analysis.campaign import Rows
from pliant.analysis.zwidth import stable_range
from pliant.control.fixtures import Wall
from pliant.control.haptic_run import render
from pliant.control.haptics import Haptics
from pliant.device import Encoder, Sensor
from pliant.gallery import tripods, tripods_device

Array = NDArray[np.float64]

SOFTEST, STIFFEST = 20.0, 200e3
"""Walls between which the range is looked for [N/m]."""
AT, PRESS = 0.002, 0.006
"""Where the wall is, and where the hand goes [m]."""
GRIP = np.array([1 / 500.0] * 3 + [1 / 2.0] * 2)
TREMBLE = 2e-4
"""A wall that ends with the handle going to and fro by more than this is not stable [m]."""
SECONDS = 1.0


def is_stable(stiffness: float, rate: float, delay: float) -> bool:
    """Whether a handle that a hand (500 N/m) pushes 4 mm into a wall comes to rest within a second, on a device with encoders
    and strips without hysteresis, 5 % stiffer than the model."""
    model = tripods.build(elements=8)
    desk = tripods.build(elements=10, modulus=1.05 * tripods.E, damping=(2.0, 0.002))
    encoders: dict[str, Sensor] = {name: Encoder(tripods.ENCODER, tripods.CAPSTAN) for name in tripods.MOTORS}

    def hand(time: float) -> Array:
        return tripods.pose((PRESS * min(time / 0.2, 1.0), 0.0, 0.0))

    plant = tripods_device.device(1 / rate, on_desk=desk, hand=hand, grip=GRIP, given=encoders)
    deviations = dict.fromkeys(tripods.MOTORS, tripods.ENCODER / tripods.CAPSTAN) | dict.fromkeys(tripods.SENSORS, 0.01)
    haptics = Haptics(model, deviations, fixture=Wall([-1.0, 0, 0, 0, 0], -AT, stiffness=stiffness))
    try:
        found = render(haptics, plant, seconds=SECONDS, rate=rate, model_rate=min(rate, 125.0), delay=delay)
    finally:
        haptics.close()
    end = found.between(0.75 * SECONDS, SECONDS)
    return plant.failures == 0 and float(np.ptp(end.true_x[:, 0])) < TREMBLE


def width(rate: float, delay: float) -> Rows:
    """The softest and the stiffest stable wall [N/m] at a rate [Hz] and a delay of measurements [s]."""
    softest, stiffest = stable_range(lambda stiffness: is_stable(stiffness, rate, delay), SOFTEST, STIFFEST, rounds=5)
    return [{"rate": rate, "delay": delay, "softest": softest, "stiffest": stiffest}]
