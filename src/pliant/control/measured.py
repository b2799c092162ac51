"""What is measured of the effectors."""

from __future__ import annotations

import numpy as np

from pliant.device import Measurement, Wiring


class Measured:
    """The effectors as they were measured last: values [e], NaN before they ever were and in rows that are not measured."""

    def __init__(self, wiring: Wiring, rows: tuple[str, ...]) -> None:
        """wiring: of the drive or plant that measures; rows: of the effectors, by their names."""
        names = wiring.measurements
        self._places = [(k, names.index(row)) for k, row in enumerate(rows) if row in names]
        self.arrived = -np.inf
        """When the last measurement came [s]."""
        self.values = np.full(len(rows), np.nan)

    def take(self, measurement: Measurement | None) -> None:
        """Take over what came, if anything did."""
        if measurement is not None:
            self.arrived = measurement.arrived
            for k, place in self._places:
                self.values[k] = measurement.values[place]

    def age(self, now: float) -> float:
        """Seconds since the last measurement came, infinite before the first."""
        return now - self.arrived
