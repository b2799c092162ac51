"""A soft wheel rolls by its cables: its centre is led along a track, and it finds out how (coevoet2019, figs. 5 and 6)."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from pliant.control import Inverse
from pliant.control.trajectory import Waypoints
from pliant.errors import InputError
from pliant.gallery import wheel_robot
from pliant.gallery.exhibit import Choices, Exhibit, Showing, require_only
from pliant.gallery.rolling import SPEED, Course, Rolled, driven, plant_of, replayed, rolled, settled
from pliant.gallery.tracks import TRACKS, Slope
from pliant.robot import Robot
from pliant.shape import TetMesh, read
from pliant.view import Figure, Page, draw_bodies
from pliant.view.figures import bounded

DISTANCE, DRIVEN = 0.130, 4.5
"""Of a run in the model [m]: more than a circumference; of one with a plant [s]."""


class Wheel(Exhibit):
    """See `Exhibit`. The trajectory is the name of a track: flat, up, down, platform, terrain, or back (flat, backwards)."""

    title = "a soft wheel rolls by its cables"

    def show(self, choices: Choices) -> Showing:
        """See `Exhibit`: in the model, in closed loop with plants that slip, and replayed without looking."""
        name, mesh = self._asked(choices)
        track, under, speed = _track(name), wheel_robot.under(mesh), -SPEED if name == "back" else SPEED
        robot = wheel_robot.build(track, mesh)
        lengths: list[list[float]] = []
        run = rolled(
            robot,
            wheel_robot.inverse(robot),
            Course(track, under, speed),
            DISTANCE,
            watch=lambda step: lengths.append([float(own[0]) for own in step.displacements.values()]),
        )
        figures = [*_figures(name, run), *_times(run)]
        for mu in (0.8, 0.3):
            plant = plant_of(track, mu)
            loop = driven(robot, wheel_robot.inverse(robot), plant, Course(track, under, speed), DRIVEN)
            figures.append(
                bounded(f"wheel.{name}_behind_mu{mu:g}", 1e3 * float(loop.behind.max()), "mm", 10.0, "lower", "bound")
            )
            figures.append(Figure(f"wheel.{name}_dropped_mu{mu:g}", loop.dropped, "steps", better="lower"))
        blind = replayed(plant_of(track, 0.8), lengths, Course(track, wheel_robot.under(), speed))
        figures.append(Figure(f"wheel.{name}_replayed", 1e3 * blind, "mm", 1e3 * float(run.ways[-1]), "the model's"))

        def draw(path: Path) -> None:
            draw_bodies(robot, run.states[-2], path, title=self.title, view=(60, -90))

        return Showing(tuple(figures), draw, _remarks(run))

    def page(self, choices: Choices) -> Page:
        """See `Exhibit`: drag its centre, or tilt the ground."""
        name, mesh = self._asked(choices)
        track = _track(name)
        robot = wheel_robot.build(track, mesh)
        course = Course(track, wheel_robot.under(mesh))
        state = settled(robot, wheel_robot.inverse(robot), course)
        ends = []
        for way in (0.0, 0.5 * DISTANCE, DISTANCE):
            place, normal = track.place(course.origin + (-way if name == "back" else way), 0.0, course.under)
            ends.append(place + course.clearance * normal)
        paths = {"there and back": {"center": Waypoints([*ends, *reversed(ends[:-1])], SPEED)}}
        return Page(
            robot, rate=1.0 / wheel_robot.STEP, title=self.title, begin=state, paths=paths, start="there and back",
            decides=_decides
        )  # fmt: skip

    def _asked(self, choices: Choices) -> tuple[str, TetMesh | None]:
        """The track, and the mesh where it is not its own."""
        require_only(choices, "a wheel", "trajectory", "mesh")
        name = "flat" if choices.trajectory is None else choices.trajectory
        if name not in (*TRACKS, "back"):
            raise InputError(f"there is no track {name!r}", remedy=f"choose among {', '.join((*TRACKS, 'back'))}")
        if choices.mesh is None:
            return name, None
        mesh = read(choices.mesh, "mm")
        if not isinstance(mesh, TetMesh):
            raise InputError(f"{choices.mesh} has no tets", remedy="fill it: pliant mesh FILE --fill SIZE --out FILE")
        return name, wheel_robot.placed(mesh)


def _track(name: str) -> Slope:
    return TRACKS["flat" if name == "back" else name]  # type: ignore[return-value]


def _decides(robot: Robot) -> Inverse:
    return wheel_robot.inverse(robot)


def _figures(name: str, run: Rolled) -> list[Figure]:
    """How it rolled in its model."""
    way = 1e3 * abs(float(run.ways[-1]))
    friction, slope = float(run.along.mean() / run.normal.mean()), {"up": 5.0, "down": -5.0}.get(name)
    return [
        bounded("robosoft.wheel_distance_m", 1e-3 * way, "m", 2 * np.pi * wheel_robot.RADIUS, "higher", "circumference"),
        Figure(f"wheel.{name}_angle_over_way", run.slip, "", 1.0, "R angle / distance"),
        Figure(f"wheel.{name}_friction_over_normal", friction, "", None if slope is None else np.tan(np.radians(slope)),
               "" if slope is None else "tan(slope)"),
        bounded(f"wheel.{name}_dropped_limits", run.dropped, "of steps", 0.01, "lower", "bound"),
        bounded(f"wheel.{name}_outside_cone", run.outside / max(run.bore, 1), "of contacts", 0.12, "lower", "bound"),
        Figure(f"wheel.{name}_error_max", 1e3 * float(run.errors.max()), "mm", better="lower"),
    ]  # fmt: skip


def _times(run: Rolled) -> list[Figure]:
    """Medians of what a step takes."""
    stages = {name: 1e3 * float(np.median([step.times[name] for step in run.steps])) for name in run.steps[0].times}
    qps = float(np.mean([step.contact.qps for step in run.steps if step.contact is not None]))
    total = sum(value for name, value in stages.items() if name != "search")
    return [
        Figure("wheel.step", total, "ms", better="lower"),
        Figure("wheel.W", stages["condense"], "ms", better="lower"),
        Figure("wheel.search", stages["search"], "ms", better="lower"),
        Figure("wheel.qps", qps, "QPs"),
    ]


def _remarks(run: Rolled) -> tuple[str, ...]:
    """Limits that were dropped on the way, and in how many steps."""
    names = [name for step in run.steps for name in step.relaxed]
    return tuple(f"dropped in {names.count(name)} steps: {name}" for name in sorted(set(names)))


EXHIBIT = Wheel()
