"""A page served to a browser: opening, drawing again and again, closing."""

from __future__ import annotations

import contextlib
import io
import os
import socket
import sys
import threading
import time
import traceback
import webbrowser
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Any

from pliant.checks import whole
from pliant.errors import InputError
from pliant.exchange import stop_signals
from pliant.view.page.door import EVERYWHERE, Door
from pliant.view.page.guarded import listening_socket, start_server
from pliant.view.page.helm import Helm, Visitor
from pliant.view.page.palette import BRAND
from pliant.view.page.signs import Signs, uuid_of

FRAMES = 40.0
"""The robot is sent to the browser at most so many times per second; the panel every tenth time."""


class ServedPage(ABC):
    """A page in the browser; what is on it, and what moves behind it, is for its kinds to say.

    The page is served to this machine unless told otherwise, to those who have its address with the token in it, and loads
    nothing from outside. One visitor steers, the first to come; others look on until the first hands over or leaves, and can
    only press an emergency stop.
    """

    def __init__(self, title: str) -> None:
        if not isinstance(title, str):
            raise InputError(f"title is {title!r}", remedy="give a line of text")
        self.title = title
        self.helm = Helm(self._tell_visitors)
        """Who is here, and who steers."""
        self._steered: Visitor | None = None
        self._signs: Signs | None = None
        self._address = ""
        self.server: Any = None
        """The viser server while the page is open: add to its scene whatever you like."""
        self.frames = 0
        """How often the robot has been sent to the browser."""
        self._closing = threading.Event()
        self._threads: list[threading.Thread] = []

    @abstractmethod
    def _warm_up(self) -> None:
        """What must not be waited for once somebody looks: kernels that compile."""

    @abstractmethod
    def _furnish(self) -> None:
        """Put everything on `server` and start what moves."""

    @abstractmethod
    def _draw_once(self, whole: bool) -> None:
        """Send the robot as it is now; with the panel, where `whole` says so."""

    @abstractmethod
    def _end(self) -> None:
        """Stop what moves."""

    def _works(self) -> tuple[Callable[[], None], ...]:
        """What runs in threads of its own while the page is open."""
        return (self._draw,)

    def _for_all(self) -> tuple[Any, ...]:
        """Handles of controls that also those may use who only look on."""
        return ()

    def _gizmos(self) -> tuple[Any, ...]:
        """Handles of what one drags in the scene."""
        return ()

    def _let_go(self) -> None:  # noqa: B027 (most hold nothing)
        """Somebody else steers: what a mouse held is let go of."""

    def open(self, *, port: int = 8080, host: str = "127.0.0.1") -> str:
        """Serve the page from now on, in threads of its own; returns its address, with the token that it asks for.

        host: the interface to serve on, by its address or name; "0.0.0.0" for all of them, the default for this machine only.
        Where the port is taken, the next free one is used: the address tells.
        """
        if self.server is not None:
            raise InputError("the page is already open", remedy="close it first")
        if self._closing.is_set():
            raise InputError("the page is closed", remedy="make a new one")
        port = whole(port, "port", least=1, most=65535)
        if not isinstance(host, str) or not host:
            raise InputError(f"host is {host!r}", remedy='give an address of this machine, such as "127.0.0.1"')
        listening, door = listening_socket(host, port), Door(host)
        try:
            self._warm_up()
        except BaseException:
            listening.close()
            raise
        self.server = _dressed(start_server(door, self.helm, listening, host=host, port=port, label="pliant"))
        shown = "127.0.0.1" if host in EVERYWHERE else f"[{host}]" if ":" in host else host
        self._address = f"http://{shown}:{listening.getsockname()[1]}/?token={door.token}"
        self._furnish()
        self.helm.for_all.update(uuid_of(handle) for handle in self._for_all())
        self._signs = Signs(self.server, self.helm, self._gizmos())
        for work in self._works():
            self._threads.append(threading.Thread(target=work, name=f"pliant page {work.__name__}", daemon=True))
            self._threads[-1].start()
        return self.address

    @property
    def address(self) -> str:
        """Where the open page is, with its token: who has it can look at the robot, and steer it where nobody else does."""
        if self.server is None:
            raise InputError("the page is not open", remedy="open() it first")
        return self._address

    def _tell_visitors(self) -> None:
        """Somebody came, left, or steers now."""
        if self.helm.steering is not self._steered:
            self._steered = self.helm.steering
            self._let_go()
        if self._signs is not None:
            self._signs.post()

    def serve(self, *, port: int = 8080, host: str = "127.0.0.1", browser: bool = True) -> None:
        """Open the page, show it in the browser where there is a display, and wait until Ctrl-C, SIGTERM or SIGHUP; port,
        host: see `open`."""
        with stop_signals(), self, contextlib.suppress(KeyboardInterrupt):
            address = self.open(port=port, host=host)
            print(f"{self.title or 'the robot'} is at {address}   (Ctrl-C ends)", flush=True)
            if host in EVERYWHERE:
                print(f"from elsewhere: {address.replace('127.0.0.1', socket.gethostname(), 1)}", flush=True)
            if browser and _has_display():
                webbrowser.open(address)
            while True:
                time.sleep(3600.0)

    def close(self) -> None:
        """End the simulation and the server; a closed page is not opened again."""
        self._closing.set()
        self._end()
        for thread in self._threads:
            thread.join(timeout=10.0)
        self._threads.clear()
        if self.server is not None:
            with contextlib.redirect_stdout(io.StringIO()):
                self.server.stop()
            self.server = None

    def __enter__(self) -> ServedPage:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _draw(self) -> None:
        """Send the latest state again and again until the page closes."""
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


def _dressed(server: Any) -> Any:
    """The server as our pages look."""
    server.request_share_url = lambda *_, **__: None  # no tunnel to the outside
    server.gui.configure_theme(show_logo=False, show_share_button=False, brand_color=BRAND, control_width="large")
    server.gui.main_panel.dock_right()
    server.scene.configure_environment_map(None)  # a browser that draws in software needs ten seconds to make one
    server.scene.add_light_ambient("/daylight", color=(222, 226, 232), intensity=1.6)
    return server


def _has_display() -> bool:
    """Whether a browser could show up."""
    if sys.platform in ("win32", "darwin"):
        return True
    return bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
