"""A drive that takes every command and does nothing with it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pliant.device import Drive, Measurement


class Sink(Drive):
    """Takes every command and does nothing with it."""

    def send(self, command: NDArray[np.float64], now: float) -> bool:
        self.status.sent += 1
        return True

    def read(self) -> Measurement | None:
        return None

    def stop(self) -> None: ...

    def resume(self) -> None: ...

    def close(self) -> None: ...
