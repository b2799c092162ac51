"""Functions of time that drive springs, loads and given motions: values without unit unless what they drive has one.

Each is evaluated inside the compiled loop, and here in Python by calling it:

>>> round(float(Sine(amplitude=0.2, frequency=5.0, phase=0.0)(0.05)), 9)
0.2
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import as_numbers
from pliant.errors import InputError
from pliant.motion.explicit import _signal_kernels as kernels
from pliant.motion.explicit.tables import Signals

Array = NDArray[np.float64]


class Signal(ABC):
    """A function of time [s]."""

    @abstractmethod
    def encoded(self) -> tuple[int, tuple[float, ...], Array]:
        """Kind, numbers, and a table of times and values [t, 2] (empty for most)."""

    @property
    @abstractmethod
    def lowest(self) -> float:
        """No value is below."""

    def __call__(self, time: ArrayLike) -> Array:
        """Values at times [s]."""
        table, out = packed([self]), np.empty(1)
        times = np.asarray(time, dtype=float)
        values = np.empty(times.size)
        for i, t in enumerate(times.ravel()):
            kernels.evaluate(table, float(t), out)
            values[i] = out[0]
        return values.reshape(times.shape)

    def _require(self, good: bool, remedy: str) -> None:
        if not good:
            raise InputError(f"{self}", remedy=remedy)

    @staticmethod
    def _finite(*values: float) -> bool:
        """Whether all of them are finite numbers."""
        found = [as_numbers(value) for value in values]
        return all(each.shape == () and bool(np.isfinite(each)) for each in found)


@dataclass(frozen=True)
class Ramp(Signal):
    """From `start` to `end` in `duration` [s], beginning at `delay` [s]; constant before and after."""

    end: float
    duration: float = 0.0
    start: float = 0.0
    delay: float = 0.0

    def __post_init__(self) -> None:
        numbers = (self.end, self.duration, self.start, self.delay)
        self._require(self._finite(*numbers) and self.duration >= 0, "give finite numbers, duration >= 0")

    @property
    def lowest(self) -> float:
        """See `Signal`."""
        return min(self.start, self.end)

    def encoded(self) -> tuple[int, tuple[float, ...], Array]:
        """See `Signal`."""
        return kernels.RAMP, (self.start, self.end, self.duration, self.delay), np.empty((0, 2))


@dataclass(frozen=True)
class Thermal(Signal):
    """Warming up: amplitude (1 - exp(-(t - delay) / lag)), zero before `delay` [s]."""

    amplitude: float
    lag: float
    delay: float = 0.0

    def __post_init__(self) -> None:
        good = self._finite(self.amplitude, self.lag, self.delay) and self.lag > 0
        self._require(good, "give finite numbers, lag > 0 s")

    @property
    def lowest(self) -> float:
        """See `Signal`."""
        return min(0.0, self.amplitude)

    def encoded(self) -> tuple[int, tuple[float, ...], Array]:
        """See `Signal`."""
        return kernels.EXPONENTIAL, (self.amplitude, self.lag, self.delay), np.empty((0, 2))


@dataclass(frozen=True)
class Sine(Signal):
    """offset + amplitude sin(2 pi frequency t + phase), frequency in Hz, phase in rad."""

    amplitude: float
    frequency: float
    phase: float = 0.0
    offset: float = 0.0

    def __post_init__(self) -> None:
        self._require(self._finite(self.amplitude, self.frequency, self.phase, self.offset), "give finite numbers")

    @property
    def lowest(self) -> float:
        """See `Signal`."""
        return self.offset - abs(self.amplitude)

    def encoded(self) -> tuple[int, tuple[float, ...], Array]:
        """See `Signal`."""
        return kernels.SINE, (self.amplitude, self.frequency, self.phase, self.offset), np.empty((0, 2))


@dataclass(frozen=True)
class Pneumatic(Signal):
    """A chamber behind a valve that opens `frequency` times per second for a share `duty` of the time.

    While it is open the value approaches `amplitude`, while it is shut zero, both with the time constant `lag` [s]. It opens
    for the first time at phase / (2 pi frequency), phase in rad.
    """

    amplitude: float
    frequency: float
    phase: float = 0.0
    duty: float = 0.5
    lag: float = 0.05

    def __post_init__(self) -> None:
        good = self._finite(self.amplitude, self.frequency, self.phase, self.duty, self.lag)
        good = good and self.frequency > 0 and 0 < self.duty < 1 and self.lag >= 0
        self._require(bool(good), "give frequency > 0 Hz, 0 < duty < 1, lag >= 0 s")

    @property
    def lowest(self) -> float:
        """See `Signal`."""
        return min(0.0, self.amplitude)

    def encoded(self) -> tuple[int, tuple[float, ...], Array]:
        """See `Signal`."""
        return kernels.PULSE, (self.amplitude, self.frequency, self.phase, self.duty, self.lag), np.empty((0, 2))


@dataclass(frozen=True)
class Table(Signal):
    """Linear between given times [s] and values; constant outside them, or repeated with a `period` [s]."""

    times: tuple[float, ...]
    values: tuple[float, ...]
    period: float = 0.0

    def __post_init__(self) -> None:
        times, values = np.asarray(self.times, float), np.asarray(self.values, float)
        good = times.ndim == 1 and times.shape == values.shape and len(times) > 0
        good = good and bool(np.isfinite(times).all() and np.isfinite(values).all() and (np.diff(times) > 0).all())
        self._require(good and np.isfinite(self.period), "give as many finite values as rising times")

    @property
    def lowest(self) -> float:
        """See `Signal`."""
        return float(min(self.values))

    def encoded(self) -> tuple[int, tuple[float, ...], Array]:
        """See `Signal`."""
        return kernels.TABLE, (self.period,), np.column_stack([self.times, self.values])


def require_strain(signal: Signal | None, name: str) -> None:
    """A strain of rest lengths stays above -1, where a spring has no length."""
    if isinstance(signal, Signal) and not signal.lowest > -1.0:
        raise InputError(
            f"the strain of {name} reaches {signal.lowest:g}: rest lengths L (1 + strain) would be zero or negative",
            remedy="keep offset - amplitude above -1, such as an amplitude of 0.2",
        )


def packed(signals: Sequence[Signal]) -> Signals:
    """Signals as arrays for the kernels."""
    codes = [signal.encoded() for signal in signals]
    numbers = np.zeros((len(codes), 6))
    for row, (_, values, _) in zip(numbers, codes, strict=True):
        row[: len(values)] = values
    tables = np.concatenate([np.empty((0, 2)), *(table for _, _, table in codes)])
    start = np.concatenate([[0], np.cumsum([len(table) for _, _, table in codes])]).astype(np.int64)
    kind = np.array([kind for kind, _, _ in codes], dtype=np.int64)
    return Signals(kind, numbers, start, np.ascontiguousarray(tables[:, 0]), np.ascontiguousarray(tables[:, 1]))
