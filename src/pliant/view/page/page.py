"""A robot on a page in the browser."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pliant.body import TetBody
from pliant.control import Inverse
from pliant.control.trajectory import Trajectory
from pliant.device import Feed
from pliant.errors import InputError, PliantError
from pliant.robot import Robot, State
from pliant.view.page.grips import Grip
from pliant.view.page.loads import Range, require_ranges
from pliant.view.page.panel import Panel, Theory
from pliant.view.page.scene import Scene
from pliant.view.page.served import ServedPage
from pliant.view.page.session import Session
from pliant.view.page.skin import skins_of
from pliant.view.page.status import MeshLine, mesh_line
from pliant.view.page.touches import DrawnObstacle


class Page(ServedPage):
    """A robot to look at and to play with in the browser: drag its targets, load it, watch its controller.

    >>> from pliant.view import Page                                   # doctest: +SKIP
    >>> Page(robot, paths={"circle": {"tip": circle}}).serve()         # doctest: +SKIP

    A robot with actuators and effectors follows its targets by the inverse, quasi-statically, or through time where it is loose
    or touches something; any other is held in balance under efforts that sliders give. The page is served to this machine only
    and loads nothing from outside.
    """

    def __init__(
        self,
        robot: Robot,
        *,
        paths: Mapping[str, Mapping[str, Trajectory]] | None = None,
        rate: float = 50.0,
        title: str = "",
        loads: Mapping[str, Range] | None = None,
        start: str | None = None,
        feed: Feed | None = None,
        theory: Theory | None = None,
        begin: State | None = None,
        decides: Callable[[Robot], Inverse] | None = None,
    ) -> None:
        """paths: what the effectors can follow, by name: a trajectory per effector; start: the one to begin with (None: by
        hand); rate: steps per second [Hz] at most; loads: range (low, high) of the effort of a load, by name; feed: of a drive
        that is to do what the robot does: the page then has an emergency stop, and closes the feed at its end, which leaves
        the drive at its safe command, stopped, and closed; theory: a function of robot and state that gives values beside what
        theory says, as `Figure`s with references, shown as the robot moves; begin: the state to begin with (settled); decides:
        makes the inverse by which the robot follows its targets."""
        super().__init__(title)
        if theory is not None and not callable(theory):
            raise InputError(f"theory is {theory!r}", remedy="give a function of robot and state")
        self.session = Session(robot, paths, rate=rate, feed=feed, begin=begin, decides=decides)
        if start is not None:
            self.session.follow(start)
        require_ranges(self.session, loads)
        self._loads, self._theory = loads, theory
        self._grips: list[Grip | DrawnObstacle] = []

    def __enter__(self) -> Page:
        return self

    def _warm_up(self) -> None:
        """A step and a stress before anyone looks, so that kernels are not compiled while the page stands still."""
        self.session.warm_up()
        for skin in skins_of(self.session.robot):
            skin.stress(self.session.hanging.x)

    def _furnish(self) -> None:
        self._scene = Scene(self.server, self.session)
        self._grips = [*self._scene.grips, *self._scene.obstacles]
        self._panel = Panel(self.server.gui, self.session, self._scene, self.title, self._loads, self._theory)
        self.session.start()

    def _works(self) -> tuple[Callable[[], None], ...]:
        return self._draw, self._judge_mesh

    def _for_all(self) -> tuple[Any, ...]:
        return () if self._panel.stop is None else (self._panel.stop,)

    def _gizmos(self) -> tuple[Any, ...]:
        return tuple(grip.gizmo for grip in self._grips)

    def _let_go(self) -> None:
        for grip in self._grips:
            grip.let_go()

    def _end(self) -> None:
        self.session.end()
        if self.session.feed is not None:
            self.session.feed.close()

    def _draw_once(self, whole: bool) -> None:
        snapshot = self.session.snapshot
        self.frames += self._scene.draw(snapshot)
        if whole:
            self._panel.draw(snapshot)

    def _judge_mesh(self) -> None:
        """Tell, once, how much too stiff four-node tets are on this mesh."""
        lines = []
        for body in self.session.robot.bodies:
            if isinstance(body, TetBody) and not len(body.supports.fixed) and self.session.robot.joints:
                lines = [MeshLine("How stiff the meshes of joined bodies are is not judged here.", False)]
            elif isinstance(body, TetBody):
                try:
                    lines.append(mesh_line(body.order, body.discretization_error().worst, self.session.follows))
                except PliantError as problem:
                    lines.append(MeshLine(f"How good the mesh is, is not known: {problem}.", False))
        if not self._closing.is_set():
            self._panel.tell_mesh(lines or [MeshLine("There are no tets, whose mesh could be too coarse.", False)])
