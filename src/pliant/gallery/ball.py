"""A soft ball rolls by the moduli of its cells, in closed loop with a plant that slips (coevoet2019, figs. 4 and 7)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.algebra.rotation import exponential
from pliant.control.trajectory import Recorded
from pliant.errors import InputError
from pliant.gallery import ball_robot
from pliant.gallery.ball_rolling import SPEED, Rolled, driven, plant_robot
from pliant.gallery.exhibit import Choices, Exhibit, Showing, require_only
from pliant.gallery.follower import Paths
from pliant.robot import Robot, Role, State
from pliant.shape import TetMesh, read
from pliant.view import Figure, Page, draw_bodies
from pliant.view.figures import bounded

CIRCUMFERENCE = 2 * np.pi * ball_robot.RADIUS
HEADINGS = ("0", "90", "180", "270")
OWN_HEADING = "270"
PLANT_FRICTION, LONGEST = 0.6, 900
"""Of the plant on the ground (the model's contacts stick); decisions in a run, at most."""


class Ball(Exhibit):
    """See `Exhibit`. The trajectory is the heading, in degrees from x: 0, 90, 180 or 270 (its own)."""

    title = "a soft ball rolls by the stiffness of its cells"

    def show(self, choices: Choices) -> Showing:
        """See `Exhibit`: one circumference on a plant that is another ball."""
        heading, mesh = self._asked(choices)
        model = ball_robot.build(mesh, heading=heading)
        plant = plant_robot(heading, PLANT_FRICTION)
        run = driven(model, ball_robot.inverse(model), plant, heading, 1.01 * CIRCUMFERENCE, LONGEST)

        def draw(path: Path) -> None:
            draw_bodies(plant, run.end, path, title=self.title)

        return Showing((*_figures(run), *_times(model, run)), draw)

    def page(self, choices: Choices) -> Page:
        """See `Exhibit`: the model rolls along its heading; drag its centre."""
        heading, mesh = self._asked(choices)
        robot = ball_robot.build(mesh, heading=heading)
        inverse, state = ball_robot.inverse(robot), robot.rest()
        for _ in range(20):
            home = {name: robot.displacement(state, name) for name in robot.named(Role.EFFECTOR)}
            state = inverse.step(state, **home).require().state  # type: ignore[arg-type]
        return Page(
            robot, rate=1.0 / ball_robot.STEP, title=self.title, begin=state, start="roll",
            paths={"roll": rigid_paths(robot, state, heading)}, decides=ball_robot.inverse
        )  # fmt: skip

    def _asked(self, choices: Choices) -> tuple[float, TetMesh | None]:
        """The heading [degrees], and the mesh where it is not its own."""
        require_only(choices, "a ball", "trajectory", "mesh")
        name = OWN_HEADING if choices.trajectory is None else choices.trajectory
        if name not in HEADINGS:
            raise InputError(f"there is no heading {name!r}", remedy=f"choose among {', '.join(HEADINGS)}")
        if choices.mesh is None:
            return float(name), None
        mesh = read(choices.mesh, "mm")
        if not isinstance(mesh, TetMesh):
            raise InputError(f"{choices.mesh} has no tets", remedy="fill it: pliant mesh FILE --fill SIZE --out FILE")
        return float(name), ball_robot.placed(mesh)


def rigid_paths(robot: Robot, state: State, heading: float, distance: float = CIRCUMFERENCE) -> Paths:
    """Where the effectors of a rigid ball would be that rolls so far [m] at its speed."""
    ahead, _ = ball_robot.directions(heading)
    home = {name: robot.displacement(state, name) for name in robot.named(Role.EFFECTOR)}
    height = float(home["center"][2] - state.x[:, 2].min())
    ways = np.linspace(0.0, distance, 200)
    axle = np.cross((0.0, 0.0, 1.0), ahead)
    out = {}
    for name, place in home.items():
        arm = place - home["center"]
        rows = [home["center"] + way * ahead + exponential(way / height * axle) @ arm for way in ways]
        out[name] = Recorded(ways / SPEED, np.array(rows))
    return out


def _figures(run: Rolled) -> list[Figure]:
    return [
        bounded("robosoft.ball_distance_m", float(run.ways[-1]), "m", CIRCUMFERENCE, "higher", "circumference"),
        bounded("ball.turn", float(run.angles[-1]), "degrees", 300.0, "higher", "bound"),
        Figure("ball.aside", 1e3 * float(np.abs(run.aside).max()), "mm", better="lower"),
        Figure("ball.error_median", 1e3 * float(np.median(run.errors)), "mm", better="lower"),
        Figure("ball.error_max", 1e3 * float(run.errors.max()), "mm", better="lower"),
        Figure("ball.decisions", len(run.steps), "steps"),
        Figure("ball.frozen", run.frozen, "of steps", better="lower"),
    ]


def _times(model: Robot, run: Rolled) -> list[Figure]:
    """Medians of what a step takes."""
    made = [step for step in run.steps if step.contact is not None]
    stages = {name: 1e3 * float(np.median([step.times[name] for step in made])) for name in made[0].times}
    rows = [len(step.contact.problem.d) - len(step.contact.problem.course) for step in made if step.contact is not None]
    qps = float(np.mean([step.contact.qps for step in made if step.contact is not None]))
    return [
        Figure("ball.coordinates", 3 * len(model.bodies[0].rest), "", 3003, "coevoet2019"),
        Figure("ball.contact_rows", float(np.mean(rows)), "", 39, "coevoet2019"),
        Figure("ball.W", stages["condense"], "ms", 79.56, "coevoet2019", better="lower"),
        Figure("ball.search", stages["search"], "ms", 10.67, "coevoet2019", better="lower"),
        Figure("ball.qps", qps, "QPs"),
    ]


EXHIBIT = Ball()
