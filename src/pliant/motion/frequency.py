"""The frequency of a recorded motion, in two ways that know nothing of each other."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.errors import InputError

Array = NDArray[np.float64]


def peak_frequency(times: ArrayLike, values: ArrayLike, *, above: float = 0.0) -> float:
    """Frequency [Hz] of the strongest oscillation, by a Fourier transform with a Hann window.

    The peak lies between two lines of the spectrum; a parabola through the logarithms of the three highest lines finds it to
    about a thousandth of their distance 1 / duration when the record has at least four periods. above [Hz]: lines below are
    left out (a slow drift). A record without motion raises. times [s]: evenly spaced, [s]; values: [s].

    >>> t = np.arange(0, 2.0, 1e-3)
    >>> round(peak_frequency(t, np.sin(2 * np.pi * 7.3 * t)), 2)
    7.3
    """
    t, y = _checked(times, values, least=8)
    _require_motion(np.ptp(y) > 1e-14 * np.abs(y).max(), "a record without motion")
    window = np.hanning(len(y))
    fine = 4 * len(y)
    spectrum = np.abs(np.fft.rfft((y - y.mean()) * window, fine))
    lines = np.fft.rfftfreq(fine, t[1] - t[0])
    spectrum[lines < above] = 0.0
    k = int(np.argmax(spectrum[1:-1])) + 1
    _require_motion(spectrum[k] > 0.0, f"a record without motion at {above} Hz or above")
    low, middle, high = np.log(np.maximum(spectrum[k - 1 : k + 2], 1e-300))
    bend = low - 2.0 * middle + high
    shift = 0.5 * (low - high) / bend if bend < 0 else 0.0
    return float((k + shift) * lines[1])


def crossing_frequency(times: ArrayLike, values: ArrayLike) -> float:
    """Frequency [Hz] by counting how often a motion crosses the middle between its extremes.

    Crossings upwards and crossings downwards are counted apart, (crossings - 1) / (time from the first to the last), so that
    a middle that is a little off does not matter; their times are interpolated. Right for motions with one clear frequency:
    each wiggle through the middle counts.

    >>> t = np.arange(0, 2.0, 1e-3)
    >>> round(crossing_frequency(t, np.sin(2 * np.pi * 7.3 * t)), 2)
    7.3
    """
    t, y = _checked(times, values, least=3)
    centered = y - 0.5 * (y.max() + y.min())
    below = np.signbit(centered)
    found = []
    for upwards in (True, False):
        before = np.flatnonzero((below[:-1] == upwards) & (below[1:] != upwards))
        if len(before) < 2:
            raise InputError(
                f"a motion with {len(before)} zero crossings of a kind", remedy="record two periods or more"
            )
        share = centered[before] / (centered[before] - centered[before + 1])
        crossings = t[before] + share * (t[1] - t[0])
        found.append((len(crossings) - 1) / (crossings[-1] - crossings[0]))
    return float(np.mean(found))


def _require_motion(there: bool | np.bool_, otherwise: str) -> None:
    if not there:
        raise InputError(otherwise, remedy="record a node and a coordinate that move, for two periods or more")


def _checked(times: ArrayLike, values: ArrayLike, least: int) -> tuple[Array, Array]:
    t, y = np.asarray(times, float), np.asarray(values, float)
    if t.ndim != 1 or t.shape != y.shape or len(t) < least or not (np.isfinite(t).all() and np.isfinite(y).all()):
        raise InputError(
            f"times of shape {t.shape} and values of shape {y.shape}",
            remedy=f"give {least} or more finite samples of one coordinate",
        )
    steps = np.diff(t)
    if not (steps > 0).all() or np.ptp(steps) > 1e-6 * steps.mean():
        raise InputError("the times are not evenly spaced", remedy="record every n steps of a run with one step")
    return t, y
