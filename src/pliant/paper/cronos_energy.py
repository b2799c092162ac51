"""Energy of a beam of springs that is pulled, comes to rest, and is let go (clay2021, fig. 7).

As in the paper: for 500 ms the tip is pulled and damping is on; then both are taken away and the beam swings under gravity
for a second. Drift and ripple of that second are relative to its largest kinetic energy. The paper calls its integrator
Euler's; only the semi-implicit (symplectic) one keeps energy: the forward one gains it at any step.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.body import SpringBody
from pliant.motion.explicit import Energies, Explicit, ExplicitRun, Load
from pliant.motion.explicit.explicit import Integrator
from pliant.shape import Lattice

Array = NDArray[np.float64]

LENGTH, THROUGH, E = 0.16, 4, 1e6
"""Of the beam [m], its cells through a tenth of that, and its modulus [Pa]."""
PULL, DAMPING = 0.05, 30.0
"""On the tip [N], and a rate [1/s]: 30 halves a velocity in 23 ms."""
RELAXED, WINDOW = 0.5, 1.0
"""Seconds with damping, and without."""
CASES: dict[str, tuple[Integrator, float]] = {
    "verlet": ("verlet", 0.5),
    "verlet_half_step": ("verlet", 0.25),
    "semi_implicit": ("semi-implicit", 0.5),
    "rk4": ("rk4", 0.5),
}
"""Integrators, and their steps relative to their own longest stable ones."""
FORWARD = {0.1: 0.008, 0.01: 0.06}
"""Steps of forward Euler's method, which has no stable one, relative to Verlet's limit, and seconds to watch it for."""


def beam() -> SpringBody:
    """The beam along x, clamped at x = 0."""
    size = LENGTH / 10 / THROUGH
    lattice = Lattice.block((10 * THROUGH, THROUGH, THROUGH), size)
    return SpringBody(lattice, E, fixed=lattice.where(x_below=size / 4))


@dataclass(frozen=True, eq=False)
class Released:
    """Energies [J] before and after the beam is let go at 500 ms, and how the run ended."""

    before: Energies
    after: Energies
    run: ExplicitRun

    @property
    def drift(self) -> float:
        """Fitted slope of the total energy times 1 s."""
        return self.after.drift()

    @property
    def ripple(self) -> float:
        """Largest deviation from the fitted line."""
        return self.after.ripple()


def released(integrator: Integrator, fraction: float, window: float = WINDOW) -> Released:
    """The beam at a step relative to the integrator's limit; forward Euler starts from where Verlet came to rest."""
    body = beam()
    tip = np.flatnonzero(body.rest[:, 0] > LENGTH * (1 - 1e-6))
    load = Load(tip, (0.0, 0.0, -PULL / len(tip)))
    settling: Integrator = "verlet" if integrator == "forward" else integrator
    explicit = _explicit(body, settling, 0.5 if integrator == "forward" else fraction)
    explicit.damping = DAMPING
    explicit.replace_loads([load])
    before = explicit.run(RELAXED, energy_every=50).require()
    if integrator == "forward":
        forward = _explicit(body, "forward", fraction)
        forward.x, forward.v = explicit.x, explicit.v
        explicit = forward
    explicit.damping = 0.0
    explicit.replace_loads(())
    after = explicit.run(window, energy_every=max(1, round(min(5e-4, window / 400) / explicit.step)))
    assert before.energies is not None
    assert after.energies is not None
    return Released(before.energies, after.energies, after)


def _explicit(body: SpringBody, integrator: Integrator, fraction: float) -> Explicit:
    limit = Explicit(body, integrator=integrator).limit
    return Explicit(body, integrator=integrator, step=fraction * limit, gravity=(0.0, 0.0, -9.81))


def forward_gain_time(fraction: float, energy: float, window: float | None = None) -> tuple[Released, float]:
    """Forward Euler's method at a step relative to Verlet's limit, and the seconds in which it adds so much energy [J].

    A step h multiplies the energy of a mode by 1 + (omega h)^2: the time goes with 1 / h. window [s]: to watch it for.
    """
    result = released("forward", fraction, FORWARD[fraction] if window is None else window)
    above = np.flatnonzero(result.after.total - result.after.total[0] > energy)
    return result, float(result.after.times[above[0]] - result.after.times[0]) if len(above) else float("nan")
