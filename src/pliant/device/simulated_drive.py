"""A drive whose plant is in the same process, in simulated time."""

from __future__ import annotations

import numpy as np

from pliant.device.drive import Array, Drive, Measurement
from pliant.device.plant import SimulatedPlant


class SimulatedDrive(Drive):
    """A plant in this process: `send(command, now)` lets it go on to `now` with the command of before, as a real one
    would have, and then gives it the new one. Time is whatever the caller says; the first `now` is the plant's time
    zero, and before it there is nothing to read."""

    def __init__(self, plant: SimulatedPlant) -> None:
        super().__init__(plant.wiring)
        self.plant = plant
        self._command = plant.motors.copy()
        self._resting = plant.motors.copy()
        self._zero = np.nan
        self._seen = -1.0
        self._stopped = False

    def send(self, command: Array, now: float) -> bool:
        if not np.isfinite(now):
            self.status.fail(f"the time is {now}")
            return False
        if np.isnan(self._zero):
            self._zero = now
        try:
            self.plant.advance(self._resting if self._stopped else self._command, now - self._zero)
            if np.shape(command) != self._command.shape or not np.isfinite(command).all():
                self.status.fail("the command is not a number for every row")
                return False
            self._command[:] = command
        except Exception as error:  # a plant that fails must not end the loop that it judges
            self.status.fail(error)
            return False
        self.status.sent += 1
        return True

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
