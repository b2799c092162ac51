"""A page served to a browser on this machine: opening, drawing again and again, closing."""

from __future__ import annotations

import contextlib
import io
import os
import sys
import threading
import time
import traceback
import webbrowser
from abc import ABC, abstractmethod
from collections.abc import Callable
from types import TracebackType
from typing import Any

from pliant.errors import InputError
from pliant.exchange import stop_signals
from pliant.view.page.palette import BRAND

FRAMES = 40.0
"""The robot is sent to the browser at most so many times per second; the panel every tenth time."""


class ServedPage(ABC):
    """A page in the browser; what is on it, and what moves behind it, is for its kinds to say.

    The page is served to this machine only and loads nothing from outside.
    """

    def __init__(self, title: str) -> None:
        self.title = title
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
        self._furnish()
        for work in self._works():
            self._threads.append(threading.Thread(target=work, name=f"pliant page {work.__name__}", daemon=True))
            self._threads[-1].start()
        return self.address

    @property
    def address(self) -> str:
        """Where the open page is."""
        if self.server is None:
            raise InputError("the page is not open", remedy="open() it first")
        return f"http://127.0.0.1:{self.server.get_port()}"

    def serve(self, *, port: int = 8080, browser: bool = True) -> None:
        """Open the page, show it in the browser where there is a display, and wait until Ctrl-C, SIGTERM or SIGHUP."""
        with stop_signals(), self, contextlib.suppress(KeyboardInterrupt):
            address = self.open(port=port)
            print(f"{self.title or 'the robot'} is at {address}   (Ctrl-C ends)", flush=True)
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


def _server(port: int) -> Any:
    """A server for this machine only."""
    import viser

    with contextlib.redirect_stdout(io.StringIO()):  # it would print a banner of its own
        server = viser.ViserServer(host="127.0.0.1", port=port, label="pliant", verbose=False)
    server.request_share_url = lambda *_, **__: None  # a client could ask for a tunnel to the outside
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
