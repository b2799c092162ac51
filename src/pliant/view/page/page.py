"""A robot on a page in the browser."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
import time
import traceback
import webbrowser
from collections.abc import Mapping
from types import TracebackType
from typing import Any

from pliant.body import TetBody
from pliant.control.trajectory import Trajectory
from pliant.device import Feed
from pliant.errors import InputError, PliantError
from pliant.robot import Robot
from pliant.view.page.loads import Range
from pliant.view.page.palette import BRAND
from pliant.view.page.panel import Panel
from pliant.view.page.scene import Scene
from pliant.view.page.session import Session
from pliant.view.page.skin import skins_of

FRAMES = 40.0
"""The robot is sent to the browser at most so many times per second; the panel every tenth time."""


class Page:
    """A robot to look at and to play with in the browser: drag its targets, load it, watch its controller.

    >>> from pliant.view import Page                                   # doctest: +SKIP
    >>> Page(robot, paths={"circle": {"tip": circle}}).serve()         # doctest: +SKIP

    A robot with actuators and effectors follows its targets by the inverse, quasi-statically; any other is held in balance
    under efforts that sliders give. The page is served to this machine only and loads nothing from outside.
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
    ) -> None:
        """paths: what the effectors can follow, by name: a trajectory per effector; start: the one to begin with (None: by
        hand); rate: steps per second [Hz] at most; loads: range (low, high) of the effort of a load, by name; feed: of a drive
        that is to do what the robot does: the page then has an emergency stop, and ends with the drive in its safe state."""
        self.session = Session(robot, paths, rate=rate, feed=feed)
        if start is not None:
            self.session.follow(start)
        self.title, self._loads = title, loads
        self.server: Any = None
        """The viser server while the page is open: add to its scene whatever you like."""
        self.frames = 0
        """How often the robot has been sent to the browser."""
        self._closing = threading.Event()
        self._threads: list[threading.Thread] = []

    def open(self, *, port: int = 8080) -> str:
        """Serve the page from now on, in threads of its own; returns its address.

        Where the port is taken, the next free one is used: the address tells.
        """
        if self.server is not None:
            raise InputError("the page is already open", remedy="close it first")
        if not 0 < port < 65536:
            raise InputError(f"port is {port}", remedy="give one of 1 to 65535")
        self._warm_up()
        self.server = _server(port)
        self._scene = Scene(self.server, self.session)
        self._panel = Panel(self.server.gui, self.session, self._scene, self.title, self._loads)
        self.session.start()
        for work in (self._draw, self._judge_mesh):
            self._threads.append(threading.Thread(target=work, name=f"pliant page {work.__name__}", daemon=True))
            self._threads[-1].start()
        return self.address

    def _warm_up(self) -> None:
        """A step and a stress before anyone looks, so that kernels are not compiled while the page stands still."""
        self.session.warm_up()
        for skin in skins_of(self.session.robot):
            skin.stress(self.session.hanging.x)

    @property
    def address(self) -> str:
        """Where the open page is."""
        if self.server is None:
            raise InputError("the page is not open", remedy="open() it first")
        return f"http://127.0.0.1:{self.server.get_port()}"

    def serve(self, *, port: int = 8080, browser: bool = True) -> None:
        """Open the page, show it in the browser where there is a display, and wait until Ctrl-C."""
        with self:
            address = self.open(port=port)
            print(f"{self.title or 'the robot'} is at {address}   (Ctrl-C ends)", flush=True)
            if browser and _has_display():
                webbrowser.open(address)
            with contextlib.suppress(KeyboardInterrupt):
                while True:
                    time.sleep(3600.0)

    def close(self) -> None:
        """End the simulation and the server; a closed page is not opened again."""
        self._closing.set()
        self.session.end()
        if self.session.feed is not None:
            self.session.feed.close()
        for thread in self._threads:
            thread.join(timeout=10.0)
        self._threads.clear()
        if self.server is not None:
            with contextlib.redirect_stdout(io.StringIO()):
                self.server.stop()
            self.server = None

    def __enter__(self) -> Page:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _draw(self) -> None:
        """Send the latest snapshot again and again until the page closes."""
        turn, told, due = 0, False, time.perf_counter()
        while not self._closing.wait(max(due - time.perf_counter(), 0.0)):
            due = max(due + 1.0 / FRAMES, time.perf_counter())
            try:
                self._draw_once(whole=turn % 10 == 0)
            except Exception:  # one drawing that fails must not be the last
                if not told:
                    traceback.print_exc()
                told = True
            turn += 1

    def _draw_once(self, whole: bool) -> None:
        """The robot as it is now; with the panel, where `whole` says so."""
        snapshot = self.session.snapshot
        self.frames += self._scene.draw(snapshot)
        if whole:
            self._panel.draw(snapshot)

    def _judge_mesh(self) -> None:
        """Tell, once, how much too stiff four-node tets are on this mesh."""
        texts, worst = [], 1.0
        for body in self.session.robot.bodies:
            if isinstance(body, TetBody):
                try:
                    error = body.discretization_error()
                    worst = max(worst, error.worst) if body.order == 1 else worst
                    texts.append(f"{error}{'' if body.order == 1 else ' (this body has ten-node tets)'}")
                except PliantError as problem:
                    texts.append(f"the discretization error is not known: {problem}")
        if not self._closing.is_set():
            self._panel.tell_mesh(texts, worst)


def _server(port: int) -> Any:
    """A server for this machine only."""
    import viser

    with contextlib.redirect_stdout(io.StringIO()):  # it would print a banner of its own
        server = viser.ViserServer(host="127.0.0.1", port=port, label="pliant", verbose=False)
    server.request_share_url = lambda *_, **__: None  # a client could ask for a tunnel to the outside
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=BRAND, control_width="large")
    server.gui.main_panel.dock_right()
    server.scene.configure_environment_map(environment_intensity=0.35)
    return server


def _has_display() -> bool:
    """Whether a browser could show up."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
