"""Soft and rigid things that fall on hilly ground: contact of all with all, with forces in newtons.

A soft ball and a soft block of silicone, a rigid box, a rigid ball, and a rubber rod fall from 30 to 100 mm, roll down into a
hollow and come to rest on each other. The ground is a mesh from heights, fixed in space. At the end the ground carries the
weight of all, and nothing has sunk into anything by more than a hundredth of an edge.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pliant.body import Body, RigidBody, RodBody, Section, TetBody
from pliant.contact import MeshSide, Solid, Sphere, Touch
from pliant.gallery.exhibit import Choices, Exhibit, Showing, require_only
from pliant.material import Corotational
from pliant.motion import Dynamics
from pliant.robot import Robot, State
from pliant.shape import Curve, SurfaceMesh, make, solids
from pliant.view import Figure, Page, draw_bodies

Array = NDArray[np.float64]

WIDTH, HOLLOW, HILLS = 0.30, 0.030, 0.004
"""Of the ground: its width, how deep it is in the middle, how high its hills are [m]."""
LAW, DENSITY, DAMPING = Corotational(E=80e3, nu=0.4), 1070.0, (2.0, 0.004)
"""Silicone: its law, density [kg/m^3], damping by mass [1/s] and by stiffness [s]."""
FRICTION, STEP, TIME = 0.5, 0.005, 1.5
"""Coulomb's coefficient everywhere, time step [s], and how long a run is [s]."""


BALL = Sphere(center=(0.045, -0.03, 0.100), radius=0.012)
"""The rigid ball, round as it is, where it is at first."""


def ground(count: int = 25) -> SurfaceMesh:
    """A hollow with small hills, looked at from above."""
    x = np.linspace(-0.5 * WIDTH, 0.5 * WIDTH, count)
    far = (x[:, None] ** 2 + x[None, :] ** 2) / (0.5 * WIDTH) ** 2
    hills = HILLS * np.cos(60.0 * x)[:, None] * np.cos(50.0 * x)[None, :]
    return make.terrain(x, x, HOLLOW * far + hills)


def things() -> dict[str, Body]:
    """What falls, where it is at first."""
    ball = make.sphere(0.018, 0.009, center=(-0.035, 0.0, 0.075))
    block = (
        make.box((0.04, 0.03, 0.02), (3, 2, 2), center=(0, 0, 0)).rotated((1, 0, 0), 0.3).translated((0.03, 0.03, 0.07))
    )
    box = (
        make.box((0.03, 0.03, 0.03), (1, 1, 1), center=(0, 0, 0)).rotated((0, 1, 0), 0.4).translated((0, -0.035, 0.09))
    )
    line = Curve([(-0.04, 0.035, 0.11), (0.05, 0.02, 0.12)])
    return {
        "soft ball": TetBody(ball, LAW, density=DENSITY, damping=DAMPING),
        "soft block": TetBody(block, LAW, density=DENSITY, damping=DAMPING),
        "rigid box": RigidBody(box.surface(), 700.0, damping=DAMPING[0]),
        "rigid ball": RigidBody(solids.sphere(BALL.radius).translated(BALL.center), 1200.0, damping=DAMPING[0]),
        "rod": RodBody(line, Section.circle(0.012), 2e6, 0.45, DENSITY, count=6, damping=DAMPING),
    }


def build(friction: float = FRICTION) -> Robot:
    """All of it at first; touches are named by what touches what: "soft ball on ground", "rod on rigid box" ..."""
    robot, terrain = Robot(things(), gravity=(0.0, 0.0, -9.81)), Solid(ground(), friction=friction)
    round_ones = {"rigid ball": BALL}
    for name in robot.body_names:
        robot.touch(f"{name} on ground", terrain, body=name, surface=round_ones.get(name))
    for one, other in combinations(robot.body_names, 2):
        first, second = round_ones.get(one), round_ones.get(other)
        robot.touch(f"{one} on {other}", other, body=one, friction=friction, surface=first, other_surface=second)
    return robot


@dataclass(frozen=True)
class Fall:
    """What a run gives: the state at its end, the deepest penetration on dense samples over the mean edge, the mean force of
    the ground over the last third [N], the share of steps that missed Coulomb's law by more than 1e-6, and by how much."""

    state: State
    depth: float
    carried: Array
    missed: float
    worst: float


def fallen(robot: Robot, time: float = TIME, step: float = STEP) -> Fall:
    """Let it all fall for some time [s]."""
    state, motion, count = robot.rest(), Dynamics(robot, step), round(time / step)
    depth, misses, forces = 0.0, [], []
    for k in range(count):
        result = motion.step(state).require()
        state = result.state
        misses.append(result.missed)
        if k % 10 == 9:
            depth = max(depth, *(sampled_depth(touch, state.x) for touch in robot.touches.values()))
        if 3 * k >= 2 * count:
            forces.append(carried(robot, state))
    return Fall(state, depth, np.mean(forces, axis=0), float((np.array(misses) > 1e-6).mean()), max(misses))


def carried(robot: Robot, state: State) -> Array:
    """The force of the ground on all (3,) [N]."""
    own = (robot.contacts(state, name).force for name in robot.touches if name.endswith("on ground"))
    return np.asarray(sum(own, np.zeros(3)))


def sampled_depth(touch: Touch, x: Array, per_triangle: int = 6) -> float:
    """How deep random places of both surfaces are in the other side, at most, over its mean edge; contacts know nothing of
    them."""
    rng, out = np.random.default_rng(0), 0.0
    sides = [touch.side, touch.against]
    for side, other in (sides, sides[::-1]):
        if isinstance(side, MeshSide):
            corners = side.positions(x)[side.facets.triangles]
            samples = np.einsum("qa,tai->tqi", rng.dirichlet(np.ones(3), per_triangle), corners).reshape(-1, 3)
            hits = other.at(x).hits(samples, None, np.zeros(len(samples)))
            out = max(out, -float(hits.distances.min()) / side.edge)
    return out


class Drop(Exhibit):
    """See `Exhibit`."""

    title = "soft and rigid things fall on hilly ground"

    def show(self, choices: Choices) -> Showing:
        """See `Exhibit`."""
        require_only(choices, "what falls")
        robot = build()
        run = fallen(robot)
        weight = 9.81 * sum(float(body.load_masses.sum()) for body in robot.bodies)
        figures = (
            Figure("drop.ground_force", float(run.carried[2]), "N", weight, "weight of all"),
            Figure("drop.deepest_over_edge", run.depth, ""),
            Figure("drop.missed_share", run.missed, ""),
            Figure("drop.worst_miss", run.worst, ""),
        )

        def draw(path: Path) -> None:
            draw_bodies(robot, run.state, path, title=self.title)

        return Showing(figures, draw)

    def page(self, choices: Choices) -> Page:
        """See `Exhibit`."""
        require_only(choices, "what falls")
        robot = build()
        return Page(robot, rate=1.0 / STEP, title=self.title, begin=robot.rest())


EXHIBIT = Drop()
