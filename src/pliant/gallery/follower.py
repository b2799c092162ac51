"""Robots that follow targets: how to build one, what it can follow, and what to report of a run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

import numpy as np

from pliant.control.trajectory import Recorded, Trajectory
from pliant.device import Feed, Guard, opened_drive
from pliant.device.opened import drive_address
from pliant.device.wiring import Kind, require_kind
from pliant.errors import InputError
from pliant.gallery.exhibit import Choices, Exhibit, Showing
from pliant.motion import Statics
from pliant.robot import Robot, State
from pliant.robot.roles import Role
from pliant.shape import TetMesh, read
from pliant.view import Figure, Page, draw_bodies

Paths = Mapping[str, Trajectory]
"""A trajectory for every effector, by name."""


@dataclass(frozen=True)
class Report:
    """What a run along paths gives: the state at its end, figures, and the limits that were met on the way."""

    state: State
    figures: tuple[Figure, ...]
    limits: tuple[str, ...] = ()


def no_paths(robot: Robot, hanging: State) -> dict[str, Paths]:
    """Nothing to follow: a robot without effectors."""
    return {}


@dataclass(frozen=True)
class Follower(Exhibit):
    """A robot of the gallery that follows targets, or is held in balance under loads.

    build: the robot, on its own mesh or on another one in the same place [m]; one without a mesh has no `placed`.
    paths: what its effectors can follow from where it hangs, by name; the first is its own.
    report: the run without a page along some paths (empty for a robot without effectors).
    placed: an outside mesh of this robot, in metres as its authors laid it, moved to where `build` wants it.
    rate: decisions per second [Hz] that its trajectories are meant for.
    build_on_springs: the same robot on a spring lattice in place of tets, where there is one.
    commands: what a drive of its actuators can be told, those with limits and rates; the first is its own.
    theory: values of a state beside what theory says about them, for its page.
    """

    title: str
    build: Callable[[TetMesh | None], Robot]
    report: Callable[[Robot, State, Paths], Report]
    paths: Callable[[Robot, State], dict[str, Paths]] = no_paths
    placed: Callable[[TetMesh], TetMesh] | None = None
    rate: float = 50.0
    build_on_springs: Callable[[TetMesh | None], Robot] | None = None
    commands: tuple[Kind, ...] = ()
    theory: Callable[[Robot, State], Sequence[Figure]] | None = None

    def show(self, choices: Choices) -> Showing:
        """See `Exhibit`: along the chosen path."""
        robot, hanging, paths, _ = self._prepared(choices)
        report = self.report(robot, hanging, paths)

        def draw(path: Path) -> None:
            draw_bodies(robot, report.state, path, title=self.title)

        met = (f"limits met on the way: {', '.join(report.limits)}",) if report.limits else ()
        return Showing(report.figures, draw, met)

    def page(self, choices: Choices) -> Page:
        """See `Exhibit`; it begins with the trajectory that was asked for, else with its own; a drive that was not asked to
        go anywhere waits for a hand."""
        kind = None if choices.drive is None else self.chosen_command(choices.drive, choices.command)
        robot, _, chosen, paths = self._prepared(choices)
        if choices.trajectory is not None and chosen:
            paths = {choices.trajectory: chosen, **paths}
        with ExitStack() as opened:
            feed = None
            if choices.drive is not None and kind is not None:
                guard = Guard.of_robot(robot, kind)
                drive = opened.enter_context(opened_drive(choices.drive, robot, kind))
                feed = opened.enter_context(Feed(guard, drive, file=choices.record))
            start = choices.trajectory or (next(iter(paths), None) if feed is None else None)
            page = Page(
                robot, paths=paths, rate=self.rate, title=self.title, start=start, feed=feed, theory=self.theory
            )
            opened.pop_all()  # from here on it is the page that closes them
        return page

    def chosen_command(self, drive: str, command: str | None) -> Kind:
        """What a drive is told; refuses, before anything is built, a drive that does not exist or that cannot be guarded."""
        drive_address(drive)
        if not self.commands:
            raise InputError("this robot has no actuators to drive", remedy="leave out --drive")
        kind = self.commands[0] if command is None else require_kind(command)
        if kind not in self.commands:
            raise InputError(
                f"the actuators of this robot have no limits of their {kind}, and nothing leaves for a drive without",
                remedy=f"give --command {self.commands[0]}, or leave out --command",
            )
        return kind

    def _prepared(self, choices: Choices) -> tuple[Robot, State, Paths, dict[str, Paths]]:
        """The robot where it hangs, what it is to follow, and all that it can follow."""
        if choices.gait is not None:
            raise InputError("this robot has no gaits", remedy="leave out --gait")
        if choices.trajectory is not None and self.paths is no_paths:
            raise InputError("this robot follows nothing", remedy="leave out --trajectory")
        if choices.trajectory is not None and choices.trajectory.endswith(".csv"):
            Recorded.read(choices.trajectory)  # what is wrong with a file is said before anything is built
        robot = self.built_from(choices.mesh, "tets" if choices.body is None else choices.body)
        hanging = Statics(robot).solve().require().state
        known = self.paths(robot, hanging)
        return robot, hanging, self.chosen_paths(robot, hanging, choices.trajectory, known), known

    def built_from(self, mesh: str | PathLike[str] | None = None, body: str = "tets") -> Robot:
        """The robot, on its own mesh or on that of a file: tets in millimetres, as its authors laid them.

        body: "tets", or "springs" for a lattice in the same shape.
        """
        build = self._builder(body)
        if mesh is None:
            return build(None)
        if self.placed is None:
            raise InputError("this robot has its own mesh only", remedy="leave out --mesh")
        shape = read(mesh, "mm")
        if not isinstance(shape, TetMesh):
            raise InputError(f"{mesh} has no tets", remedy="fill it: pliant mesh FILE --unit mm --fill SIZE --out FILE")
        return build(self.placed(shape))

    def _builder(self, body: str) -> Callable[[TetMesh | None], Robot]:
        if body not in ("tets", "springs"):
            raise InputError(f"there is no body {body!r}", remedy="choose one of: tets, springs")
        if body == "tets":
            return self.build
        if self.build_on_springs is None:
            raise InputError("this robot is not there on springs", remedy="leave out --body")
        return self.build_on_springs

    def chosen_paths(
        self, robot: Robot, hanging: State, choice: str | None = None, known: dict[str, Paths] | None = None
    ) -> Paths:
        """What to follow: the robot's own path (None), one of its paths by name, or a CSV file for its only effector; known:
        its paths, where somebody has them already."""
        known = self.paths(robot, hanging) if known is None else known
        if choice is None:
            return next(iter(known.values()), {})
        if choice in known:
            return known[choice]
        effectors = robot.named(Role.EFFECTOR)
        if not effectors:
            raise InputError("this robot follows nothing", remedy="leave out --trajectory")
        if choice.endswith(".csv") and len(effectors) == 1:
            path = Recorded.read(choice)
            _require_near(choice, path, robot, hanging)
            return {effectors[0]: path}
        names = ", ".join(known)
        raise InputError(f"there is no trajectory {choice!r}", remedy=f"choose one of: {names}; or give a .csv file")


def _require_near(name: str, path: Trajectory, robot: Robot, hanging: State) -> None:
    """Refuse a path that begins far from the robot: most likely it is in millimetres."""
    size, start = float(np.ptp(hanging.x, axis=0).max()), path.position(0.0)[:3]
    away = float(np.linalg.norm(start - hanging.x, axis=1).min())
    if away > 5 * size:
        raise InputError(
            f"{name} begins at {start.tolist()} m, {away:.3g} m from the robot, which is {size:.3g} m long",
            remedy="give coordinates in metres",
        )
