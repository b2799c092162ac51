"""What a sensor makes of what is there: encoders, and bending sensors that are not ideal."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from pliant.checks import number, whole
from pliant.errors import InputError


class Sensor(ABC):
    """A sensor of one scalar. It follows the truth, step by step, since what it says may depend on the way there, and is read
    when somebody asks."""

    unit: str = ""

    def follow(self, truth: float) -> None:
        """Take in what is there now."""
        self.truth = truth

    @abstractmethod
    def read(self, random: np.random.Generator) -> float:
        """What it says."""


class Encoder(Sensor):
    """An angle in steps [rad] of a motor that turns `ratio` times as far as what is asked for.

    >>> encoder = Encoder(np.deg2rad(0.1), ratio=6.42)
    >>> encoder.follow(0.1)
    >>> float(np.rad2deg(6.42 * encoder.read(np.random.default_rng(0))).round(6))  # of 36.7839 degrees
    36.8
    """

    unit = "rad"

    def __init__(self, step: float, ratio: float = 1.0) -> None:
        self.step = number(step, "step", unit="rad", above=0.0) / number(ratio, "ratio", above=0.0)
        """At what is asked for [rad]."""
        self.truth = 0.0

    def read(self, random: np.random.Generator) -> float:
        return self.step * round(self.truth / self.step)


class Play:
    """Hysteresis of play (backlash): the output stays until the input has crossed a gap, then follows on its side of it.

    y <- min(max(y, x - width / 2), x + width / 2)
    """

    def __init__(self, width: float) -> None:
        self.width = number(width, "width of the play", least=0.0)
        self._now: float | None = None

    def __call__(self, x: float) -> float:
        if x != x:
            return x
        half = 0.5 * self.width
        last = x if self._now is None else self._now
        self._now = min(max(last, x - half), x + half)
        return self._now


class BendSensor(Sensor):
    """A resistive sensor of bending behind an ADC: counts that grow with what it feels, but not straight, later on the way
    back, and with noise.

    With u = (truth - low) / (high - low), the share of its range,

        counts = round(2^bits (margin + (1 - 2 margin) (g(p(u)) + noise))),    g(u) = u + bow u (1 - u),    p: `Play`

    within 0 and 2^bits - 1; beyond its range it goes on straight. g is monotone for |bow| < 1.
    """

    unit = "counts"

    def __init__(
        self,
        low: float,
        high: float,
        *,
        bow: float = 0.0,
        play: float = 0.0,
        noise: float = 0.0,
        bits: int = 12,
        margin: float = 0.1,
    ) -> None:
        """low, high [unit of the truth]: where its range begins and ends; bow; play: width, and noise: standard deviation, as
        shares of the range; margin: of the ADC's range that is left free on each side."""
        self.low, self.high = number(low, "low"), number(high, "high")
        if not self.low < self.high:
            raise InputError(f"low is {low}, high is {high}", remedy="give low < high")
        self.bow = number(bow, "bow")
        if not abs(self.bow) < 1:
            raise InputError(f"a bow of {bow} is not monotone", remedy="give one between -1 and 1")
        self.noise = number(noise, "noise", least=0.0)
        self.counts = 2 ** whole(bits, "bits", most=32)
        self.margin = number(margin, "margin", least=0.0)
        if not self.margin < 0.5:
            raise InputError(f"a margin of {margin} leaves nothing", remedy="give less than 0.5")
        self._play = Play(play)
        self._felt = 0.0

    def follow(self, truth: float) -> None:
        self._felt = self._play((truth - self.low) / (self.high - self.low))

    def read(self, random: np.random.Generator) -> float:
        u = self._felt
        inside = min(max(u, 0.0), 1.0)
        shown = u + self.bow * inside * (1 - inside) + self.noise * random.standard_normal()
        level = self.counts * (self.margin + (1 - 2 * self.margin) * shown)
        return float(np.clip(round(level), 0, self.counts - 1)) if np.isfinite(level) else float("nan")
