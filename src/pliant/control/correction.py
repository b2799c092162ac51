"""The outer loop: what the effectors were measured to miss is added to their targets."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.control._correction_kernels import learn
from pliant.device.checks import as_count, as_positive

Array = NDArray[np.float64]


class Correction:
    """An integral correction of targets: target' = target + c,  dc/dt = gain (p - measured - c),  |c| <= limit per row.

    p is where the model says that the effectors are. Where the target is within reach, that is target + c, so c is the integral
    of gain (target - measured): what another stiffness of the robot leaves over is taken out. Out of reach, or while limits of
    rates keep the effectors away, c stops at what the model is wrong by: it does not wind up. It stands still while `held` is
    true (the guard does something, nothing was measured).
    """

    def __init__(self, rows: int, gain: float, limit: float) -> None:
        """rows: of all effectors; gain [1/s]: its inverse is the time in which an error goes; limit: of the correction, in the
        effectors' unit."""
        rows = as_count("rows", rows, least=1, most=100_000)
        gain, limit = self.gain, self.limit = as_positive("gain", gain, "1/s"), as_positive("limit", limit)
        self.value = np.zeros(rows)
        self._adjusted = np.zeros(rows)
        learn(self.value, self.value, 0.0, limit, self.value)  # loads it, not in the loop

    def adjust(
        self, target: Array, measured: Array, interval: float, *, predicted: Array | None = None, held: bool = False
    ) -> Array:
        """The target to decide for [e] (the same array each time); what is measured and is not a number changes nothing.
        predicted [e]: p (`Commander.predicted`), by default the corrected target."""
        if not held:
            if predicted is None:
                np.add(target, self.value, out=self._adjusted)
                predicted = self._adjusted
            learn(predicted, measured, self.gain * interval, self.limit, self.value)
        np.add(target, self.value, out=self._adjusted)
        return self._adjusted
