"""A four-legged pneumatic walker of soft silicone: five striped actuators, driven one by one, on two gaits.

After the multigait robot of Shepherd et al. 2011, as a lattice of springs (the second application of clay2021): a plate of
150 x 90 x 10 mm, a spine with four legs that go out to its corners. In the upper half of each leg and of the spine, stripes
grow under pressure, across which they are long; the lower half does not, so that legs and spine curl down. Nothing else
moves the robot: there are gravity, the ground with Coulomb's friction, and five valves.

walk       left and right legs in turns, half a period apart
undulate   left and right legs together: hind legs with the spine, front legs nearly half a period later

Forwards is +x. Phases and shares of the period were found by random search for distance (as clay2021 tuned its robots by
eye); with mu = 0 the center of mass does not move.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pliant.body import SpringBody
from pliant.contact import Plane
from pliant.gallery.exhibit import Showing
from pliant.gallery.mover import GRAVITY, Mover
from pliant.gallery.travel import travelled
from pliant.motion.explicit import Explicit, Pneumatic
from pliant.shape import Lattice
from pliant.view import Moving
from pliant.view.page import Setting

Array = NDArray[np.float64]

SIZE, LAYERS = 0.005, 2
"""Edge of a cell [m], cells through the thickness."""
SPINE = (0.035, 0.015)
"""Half the length and half the width of the spine [m]."""
LEG_ROOT, LEG_LENGTH, LEG_WIDTH, LEG_ANGLE = (0.020, 0.005), 0.060, 0.018, np.deg2rad(35.0)
"""Where the axis of a leg begins (x, y) [m], its length and width [m], its direction from x [rad]."""
E, DENSITY = 100e3, 1000.0
"""Young's modulus [Pa], density [kg/m^3]."""
FRICTION, DAMPING = 0.8, 5.0
"""Coefficient of the ground, rate of the drag on all nodes [1/s]."""
STILLS = (0.0, 3.8, 8.0, 12.2, 16.4, 20.0)
"""Times of the pictures [s], at different moments of a period."""
LEGS = {"front left": 1, "front right": 2, "hind left": 3, "hind right": 4}
SPINE_LABEL = 5
"""Labels of the five actuators; 0 is what only follows."""


@dataclass(frozen=True)
class Gait:
    """How the five valves open: frequency [Hz], strain of the stripes, share of the period that a valve is open, and when it
    opens, as a share of the period; for front legs, hind legs and spine. `alternating`: right legs half a period later."""

    frequency: float
    strain: tuple[float, float, float]
    duty: tuple[float, float, float]
    opens: tuple[float, float, float]
    lag: float
    alternating: bool

    def signals(self, tempo: float = 1.0) -> dict[int, Pneumatic]:
        """The strain of each actuator over time, by its label; tempo: factor on the frequency."""
        out = {}
        for label in (*LEGS.values(), SPINE_LABEL):
            group = 2 if label == SPINE_LABEL else (label - 1) // 2
            late = 0.5 if self.alternating and label in (2, 4) else 0.0
            phase = 2 * np.pi * ((self.opens[group] + late) % 1.0)
            frequency = tempo * self.frequency
            out[label] = Pneumatic(self.strain[group], frequency, phase, self.duty[group], self.lag)
        return out


GAITS = {
    "walk": Gait(4.0, (0.29, 0.55, 0.54), (0.523, 0.4, 0.39), (0.278, 0.0, 0.62), 0.02, True),
    "undulate": Gait(2.95, (0.55, 0.457, 0.545), (0.617, 0.693, 0.715), (0.424, 0.0, 0.957), 0.02, False),
}


def plan(points: Array) -> NDArray[np.bool_]:
    """Whether points (n, 3) [m] are within the outline: the spine and four legs."""
    x, y = np.abs(points[:, 0]), np.abs(points[:, 1])
    c, s = np.cos(LEG_ANGLE), np.sin(LEG_ANGLE)
    along = c * (x - LEG_ROOT[0]) + s * (y - LEG_ROOT[1])
    across = c * (y - LEG_ROOT[1]) - s * (x - LEG_ROOT[0])
    leg = (along > 0) & (along < LEG_LENGTH) & (np.abs(across) < LEG_WIDTH / 2)
    return np.asarray(leg | ((x < SPINE[0]) & (y < SPINE[1])))


def labels(centers: Array) -> NDArray[np.int64]:
    """The actuator that cells with these centers (c, 3) [m] belong to: every other column of the upper half."""
    x, y, z = centers.T
    stripe = (z > LAYERS * SIZE / 2) & (np.floor(np.abs(x) / SIZE).astype(int) % 2 == 1)
    leg = 1 + 2 * (x < 0) + (y < 0)
    in_spine = (np.abs(x) < SPINE[0] - SIZE) & (np.abs(y) < SPINE[1])
    return np.where(stripe, np.where(in_spine, SPINE_LABEL, leg), 0).astype(np.int64)


def build(gait: str = "walk", settings: Mapping[str, float] | None = None) -> Moving:
    """The robot at rest on the ground z = 0; settings: `friction`, `tempo` (factor on the gait's frequency)."""
    given = {"friction": FRICTION, "tempo": 1.0, **(settings or {})}
    bounds = ((-0.075, -0.060, 0.0), (0.075, 0.060, LAYERS * SIZE))
    lattice = Lattice.voxels(plan, SIZE, bounds=bounds).labelled(labels)
    body = SpringBody(lattice, E, DENSITY)
    engine = Explicit(
        body,
        gravity=GRAVITY,
        damping=DAMPING,
        ground=Plane(friction=given["friction"], damping=0.5),
        actuation=GAITS[gait].signals(given["tempo"]),
        threads=1,
    )
    return Moving(body, engine)


def report(gait: str = "walk") -> Showing:
    """How far it goes, with and without friction."""
    title = f"{EXHIBIT.title}: {gait}"
    return travelled("multigait", lambda mu: build(gait, {"friction": mu}), FRICTION, title, STILLS)


EXHIBIT = Mover(
    "a four-legged pneumatic walker of five striped actuators",
    build,
    report,
    tuple(GAITS),
    (Setting("friction", "", 0.0, 1.5, FRICTION), Setting("tempo", "x", 0.25, 1.25, 1.0)),
    {
        0: "silicone",
        **{label: f"{name} leg: grows under air" for name, label in LEGS.items()},
        SPINE_LABEL: "spine: the same",
    },
)
