"""The outer loop: what the effectors were measured to miss is added to their targets."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import InputError

Array = NDArray[np.float64]


class Correction:
    """An integral correction of targets: target' = target + c,  dc/dt = gain (target - measured),  |c| <= limit per row.

    The model has another stiffness than the robot; where the effectors are measured, this takes out what remains. It does not
    wind up: at a limit, the integral stands still in that row, and it stands still as a whole while `held` is true (the
    controller meets a limit, the model is stale, nothing was measured).
    """

    def __init__(self, rows: int, gain: float, limit: float) -> None:
        """rows: of all effectors; gain [1/s]: its inverse is the time in which an error goes; limit: of the correction, in the
        effectors' unit."""
        if not (np.isfinite(gain) and gain > 0 and np.isfinite(limit) and limit > 0):
            raise InputError(f"gain is {gain} 1/s and limit {limit}", remedy="give two positive numbers")
        self.gain, self.limit = gain, limit
        self.value = np.zeros(rows)
        self._change = np.zeros(rows)

    def adjust(self, target: Array, measured: Array, interval: float, *, held: bool = False) -> Array:
        """The target to decide for [e] (the same array each time); what is measured and is not a number changes nothing."""
        if not held:
            np.subtract(target, measured, out=self._change)
            self._change *= self.gain * interval
            if np.isfinite(self._change).all():
                self.value += self._change
                np.clip(self.value, -self.limit, self.limit, out=self.value)
        np.add(target, self.value, out=self._change)
        return self._change

    def reset(self, value: ArrayLike = 0.0) -> None:
        """Forget what was learned, or start from it."""
        self.value[:] = value
