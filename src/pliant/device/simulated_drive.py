"""A drive whose plant is in the same process, in simulated time."""

from __future__ import annotations

import time
import warnings

import numpy as np

from pliant.checks import require_kind_of
from pliant.device.drive import Array, Drive, Measurement
from pliant.device.plant import SimulatedPlant, pace_in_words
from pliant.errors import PliantWarning

MOST_STEPS = 2
"""Steps that a plant makes up for in one call, beyond those of the time since the last one."""
LONGEST = 0.1
"""Seconds since the last call that are gone through at once, where time is the clock's."""
OFF_CLOCK = 0.5
"""Seconds by which a caller's time may differ from the clock's to be taken for it."""


class SimulatedDrive(Drive):
    """A plant in this process: `send(command, now)` lets it go on to `now` with the command of before, as a real one
    would have, and then gives it the new one. Time is whatever the caller says; the first `now` is the plant's present, and
    before it there is nothing to read.

    Where time is the clock's (`time.monotonic()`), a plant that is too slow, or that was held up, does not run after it: what
    it cannot make up for in a few steps is left out (`dropped` [s]), and a plant that cannot keep up is warned of, once.
    """

    def __init__(self, plant: SimulatedPlant) -> None:
        require_kind_of(plant, "plant", SimulatedPlant)
        super().__init__(plant.wiring)
        self.plant = plant
        self.dropped = 0.0
        """Seconds that the plant has left out."""
        self._command = plant.motors.copy()
        self._resting = plant.motors.copy()
        self._zero = np.nan
        self._first, self._left = np.nan, np.nan
        self._begun = (plant.time, plant.spent)
        self._told = False
        self._seen = -1.0
        self._stopped = False

    def send(self, command: Array, now: float) -> bool:
        try:
            now = float(now)
            if not np.isfinite(now):
                raise ValueError(f"the time is {now}")
            if np.isnan(self._zero):
                self._zero, self._first, self._left = now - self.plant.time, now, now
            self._go_on(now)
            if np.shape(command) != self._command.shape or not np.isfinite(command).all():
                raise ValueError("the command is not a number for every row")
            self._command[:] = command
        except Exception as error:  # a plant that fails must not end the loop that it judges
            self.status.fail(error)
            return False
        self.status.sent += 1
        return True

    def _go_on(self, now: float) -> None:
        """Let the plant go on to now, or as far as it may."""
        begin = time.monotonic()
        if abs(now - begin) < OFF_CLOCK:
            due = now - self._zero - self.plant.time
            most = min(max(now - self._left, 0.0), LONGEST) + MOST_STEPS * self.plant.motion.h
            if due > most:
                self.dropped += due - most
                self._zero += due - most
            self._tell_if_slow(now - self._first)
        self.plant.advance(self._resting if self._stopped else self._command, now - self._zero)
        self._left = now + time.monotonic() - begin

    def _tell_if_slow(self, real_time: float) -> None:
        if self._told:
            return
        plant_time, spent = self.plant.time - self._begun[0], self.plant.spent - self._begun[1]
        text = pace_in_words(plant_time, real_time, spent, self.plant.motion.h)
        if text:
            self._told = True
            warnings.warn(f"{text} (PlantProcess)", PliantWarning, stacklevel=4)

    def read(self) -> Measurement | None:
        if np.isnan(self._zero) or self.plant.time <= self._seen:
            return None
        self._seen = self.plant.time
        measurement = self.plant.measure()
        measurement.time = measurement.arrived = self.plant.time + self._zero
        self.status.received += 1
        return measurement

    def stop(self) -> None:
        """The motors go back to where they were at the beginning."""
        self._stopped = True

    def resume(self) -> None:
        self._stopped = False

    def close(self) -> None:
        """There is nothing to let go of."""
