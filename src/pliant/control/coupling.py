"""What is asked of the device so that a hand feels a fixture (koehler2023, section VIII-A).

With the pose x (e,) and the hand's wrench w (e,) as they are sensed, and the limits of a fixture that hold, rows N (c, e):

    goal      x + M^-1 N^T (N M^-1 N^T)^-1 (way + stretch)           nearest to x by the rows' weights M = S^2
    wrench    hybrid      P w, P = N^T (N M^-1 N^T)^-1 N M^-1        what pushes against limits stays, the rest is to vanish
              admittance  w, and the goal goes on along what is free by `mobility` (w - P w)

Free space is the hybrid manner without limits: be where the hand is, with no force. An arm that holds the effector off its
goal is answered by ever more (koehler2023, section VIII-C): so the wrench that is assumed is capped, and a `leak`, a small
share of it, is not believed. What was wound up so goes again, within about twice the filter's time constant over the leak; a
rigid limit is then as stiff as the device with its motors held, over the leak.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import as_numbers, number, one_of
from pliant.control.fixtures import Fixture, FreeSpace, Limit
from pliant.errors import InputError

Array = NDArray[np.float64]
Manner = Literal["hybrid", "admittance"]


class Coupling:
    """One fixture, in one manner, and what it remembers: the stretch of its dampers.

    goal, wrench (e,): of the last `ask`; touching: which of its limits held; stretch (c,): of their springs [m, rad]."""

    def __init__(
        self,
        fixture: Fixture,
        weights: Array,
        *,
        manner: Manner = "hybrid",
        mobility: ArrayLike = 0.0,
        cap: ArrayLike = np.inf,
        leak: float = 0.0,
    ) -> None:
        """weights (e,): how rows compare [1/m, and lever per rad]; mobility (e,): of the admittance manner [m/N, rad/(N m)];
        cap (e,): of the wrench that is assumed [N, N m]; leak: see above."""
        self.fixture, self.manner = fixture, one_of(manner, "manner", ("hybrid", "admittance"))
        self._inverse = 1.0 / np.square(weights)
        size = len(weights)
        self.mobility = np.broadcast_to(as_numbers(mobility), (size,)).copy()
        self.cap = np.broadcast_to(np.asarray(cap, float), (size,)).copy()
        if not (self.cap > 0).all() or not (self.mobility >= 0).all():
            raise InputError("a cap or a mobility is negative", remedy="give caps > 0 and mobilities >= 0")
        self.leak = number(leak, "leak", least=0.0, below=1.0)
        self.goal, self.wrench = np.zeros(size), np.zeros(size)
        self.touching: tuple[int, ...] = ()
        self.stretch = np.zeros(0)

    def ask(self, x: Array, wrench: Array, give: Array, interval: float) -> None:
        """goal and wrench for a sensed pose x (e,) and wrench (e,); give (e, e): compliance of the effector with the motors as
        they are, by which is told whether it would leave a wall were it let go; interval [s]: since the last time."""
        limits = self.fixture.limits(x)
        if len(self.stretch) != len(limits):
            self.stretch = np.zeros(len(limits))
        held = [k for k, limit in enumerate(limits) if self._holds(limit, wrench, give)]
        for k in set(self.touching) - set(held):
            self.stretch[k] = 0.0
        self.touching = tuple(held)
        w = (1.0 - self.leak) * np.clip(wrench, -self.cap, self.cap)
        self.goal[:] = x
        if not held:
            self.wrench[:] = 0.0 if self.manner == "hybrid" else w
            if self.manner == "admittance":
                self.goal += self.mobility * w
            return
        N = np.array([limits[k].n for k in held])
        NM = N * self._inverse
        gram = NM @ N.T
        into = np.linalg.solve(
            gram + 1e-9 * np.trace(gram) / len(held) * np.eye(len(held)), NM
        ).T  # M^-1 N^T (N M^-1 N^T)^-1
        for k in held:
            self._yield(k, limits[k], wrench, interval)
        self.goal += into @ np.array([limits[k].way + self.stretch[k] for k in held])
        pressing = N.T @ (into.T @ w)
        if self.manner == "hybrid":
            self.wrench[:] = pressing
        else:
            self.wrench[:] = w
            free = self.mobility * (w - pressing)
            self.goal += free - into @ (N @ free)

    def _holds(self, limit: Limit, wrench: Array, give: Array) -> bool:
        """A wall holds where the effector is beyond it, or would be without it."""
        if not limit.one_sided:
            return True
        pressed = -float(limit.n @ wrench) * float(limit.n @ give @ limit.n)
        return limit.way + pressed > 0.0

    def _yield(self, k: int, limit: Limit, wrench: Array, interval: float) -> None:
        """k s + b ds/dt = push along n, over one interval."""
        push = float(limit.n @ wrench)
        if limit.one_sided:
            push = min(push, 0.0)
        if limit.stiffness == np.inf:
            self.stretch[k] = 0.0
            return
        drag = limit.damping / interval if interval > 0 else 0.0
        self.stretch[k] = (push + drag * self.stretch[k]) / (limit.stiffness + drag)


FREE = FreeSpace()
"""Free space."""
