"""Haptics in real time: models from another process, a plant that is not the model, and the safe command when they end."""

from __future__ import annotations

import os
import signal

import numpy as np
import pytest

from pliant.control.fixtures import Point
from pliant.control.haptic_loop import HapticLoop
from pliant.device import Encoder, SimulatedDrive
from pliant.errors import InputError
from pliant.gallery import tripods, tripods_device

DEVIATIONS = dict.fromkeys(tripods.MOTORS, tripods.ENCODER / tripods.CAPSTAN) | dict.fromkeys(tripods.SENSORS, 0.01)


def coarse():
    """The model."""
    return tripods.build(elements=8)


def drive():
    """A plant in this process, held by a soft hand."""
    desk = tripods.build(elements=9, modulus=1.05 * tripods.E, damping=(2.0, 0.002))
    encoders = {name: Encoder(tripods.ENCODER, tripods.CAPSTAN) for name in tripods.MOTORS}
    grip = np.array([1 / 500.0] * 3 + [1 / 2.0] * 2)
    return SimulatedDrive(
        tripods_device.device(0.02, on_desk=desk, hand=lambda time: tripods.pose(), grip=grip, given=encoders)
    )


@pytest.mark.thorough
def test_it_brings_the_handle_to_a_point_and_is_safe_when_its_models_end():
    """By the clock: the sensed handle comes to 4 mm; then the model's process is killed, the guard holds, and the command
    goes to the safe one. Whatever happens, commands keep the guard's bounds."""
    place, commands, killed = np.array([0.004, 0, 0, 0, 0]), [], []
    with HapticLoop(coarse, DEVIATIONS, rate=50.0, fixture=Point(place)) as loop:
        plant = drive()

        def there(time, running):
            commands.append(running.haptics.guard.command.copy())
            return np.abs(running.haptics.observer.x - place).max() < 4e-4 and time > 0.5

        found = loop.run(60.0, plant, watch=there)
        assert np.abs(loop.haptics.observer.x - place).max() < 4e-4
        assert found.models > 5
        assert found.unsent == 0
        assert "OBSERVED" in found.observed
        before = np.abs(loop.haptics.guard.command).max()
        os.kill(loop.process, signal.SIGKILL)
        killed.append(loop.process)

        def safe(time, running):
            commands.append(running.haptics.guard.command.copy())
            return np.abs(running.haptics.guard.command).max() < 0.01

        loop.run(60.0, plant, watch=safe)
        assert before > 0.05
        assert np.abs(loop.haptics.guard.command).max() < 0.01
    assert np.isfinite(commands).all()
    assert np.abs(commands).max() <= tripods.ANGLE


@pytest.mark.thorough
def test_a_drive_that_does_not_measure_enough_is_refused():
    """With the row that it lacks; and one that takes torques."""
    with HapticLoop(coarse, DEVIATIONS, rate=50.0) as loop:
        desk = tripods.build(elements=8)
        blind = tripods_device.device(0.02, on_desk=desk, given={}, kind="effort")
        with pytest.raises(InputError, match="takes efforts"):
            loop.run(1.0, SimulatedDrive(blind))
    with pytest.raises(InputError, match="function of a module"):
        HapticLoop(lambda: coarse(), DEVIATIONS)
