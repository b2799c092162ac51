"""Colours and readable units of the page."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

Rgb = tuple[int, int, int]

BRAND: Rgb = (20, 110, 150)
BODY: Rgb = (72, 160, 196)
GHOST: Rgb = (120, 130, 140)
TARGET: Rgb = (228, 87, 46)
EFFECTOR: Rgb = (28, 60, 92)
CAVITY: Rgb = (255, 190, 110)
HELD: Rgb = (112, 118, 126)
SLACK: Rgb = (84, 90, 98)
TAUT: Rgb = (214, 48, 49)
STICKS: Rgb = (46, 139, 87)
REGIONS: tuple[Rgb, ...] = (BODY, TARGET, (240, 162, 2), (138, 169, 54), (142, 94, 162), (214, 96, 140))
"""Of the regions 0, 1, 2 ... of a lattice, in turn."""
STAGES: tuple[str, ...] = ("#146e96", "#e4572e", "#8aa936", "#8e5ea2", "#f0a202")

UNITS = {
    "N": (1.0, "N"),
    "Pa": (1e-3, "kPa"),
    "N m": (1e3, "mN m"),
    "m": (1e3, "mm"),
    "m^3": (1e6, "ml"),
    "rad": (float(np.rad2deg(1.0)), "°"),
}


def readable(unit: str) -> tuple[float, str]:
    """Factor and name of the unit in which people read a quantity in SI units: mm for m, kPa for Pa ..."""
    return UNITS.get(unit, (1.0, unit))


def mixed(low: Rgb, high: Rgb, share: float) -> Rgb:
    """A colour between two, by a share of 0 to 1."""
    t = float(np.clip(share, 0.0, 1.0))
    r, g, b = (round((1 - t) * a + t * c) for a, c in zip(low, high, strict=True))
    return r, g, b


def stress_colours(count: int) -> NDArray[np.uint8]:
    """So many colours from low to high stress, [count, 3]."""
    from matplotlib import colormaps

    return np.asarray(np.round(255 * colormaps["turbo"](np.linspace(0.08, 0.95, count))[:, :3]), np.uint8)


def hexadecimal(colour: ArrayLike) -> str:
    """As a web page writes it: #rrggbb."""
    return "#" + "".join(f"{int(c):02x}" for c in np.asarray(colour))


def rounded(value: float) -> float:
    """The next larger number with a single digit 1, 2 or 5.

    >>> [rounded(value) for value in (0.013, 3.0, 70.0)]
    [0.02, 5.0, 100.0]
    """
    power = 10.0 ** np.floor(np.log10(max(value, 1e-30)))
    return float(next(step * power for step in (1.0, 2.0, 5.0, 10.0) if step * power >= value * (1 - 1e-9)))
