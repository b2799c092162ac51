"""The page's server behind a door: nobody gets to it who is not let in, and nothing gets through that a visitor may not say.

The server (viser) answers everybody. All that it hears comes through one function of the library below it,
`websockets.asyncio.server.serve`; while it starts, ours stands in its place, so that every request goes past the `Door` and
every message past the `Helm`. A server that has not been started through it is not left running.
"""

from __future__ import annotations

import asyncio
import contextlib
import io
import logging
import socket
import sys
import threading
from collections.abc import Awaitable, Callable, Iterator
from contextvars import ContextVar
from typing import Any

from pliant.errors import InputError, PageError
from pliant.view.page.door import Door
from pliant.view.page.helm import Helm, Visitor

VISITOR: ContextVar[Visitor] = ContextVar("pliant visitor")
"""Whose message is being handled, in the server's own thread."""
PATIENCE = 60.0
"""Seconds that the server has to start."""
PORTS = 1000
"""So many ports are tried, one after the other."""
MOST_LINES = 20
"""So many different things are told of strangers."""
_starting = threading.Lock()


def listening_socket(host: str, port: int) -> socket.socket:
    """A socket that listens on an interface of this machine, at the port or the next free one."""
    try:
        family, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)[0]
        with socket.socket(family, socket.SOCK_STREAM) as probe:
            probe.bind((place[0], 0, *place[2:]))
    except (OSError, UnicodeError) as error:
        raise InputError(
            f"host is {host!r}, which is no address of this machine ({getattr(error, 'strerror', None) or error})",
            remedy="leave it out for this machine only, or give the address of one of its interfaces, or 0.0.0.0 for all",
        ) from error
    for candidate in range(port, min(port + PORTS, 65536)):
        with contextlib.suppress(OSError):
            return socket.create_server((place[0], candidate, *place[2:]), family=family, backlog=100)
    raise PageError(f"no port from {port} on is free", remedy="give another port")


def start_server(door: Door, helm: Helm, listening: socket.socket, **options: Any) -> Any:
    """A viser server on a listening socket, behind a door, steered by one visitor at a time."""
    import viser

    gate = _Gate(door, helm, listening)
    try:
        with _starting, gate.in_place():
            server = _in_time(lambda: viser.ViserServer(verbose=False, **options))
        if not gate.in_use:
            with contextlib.redirect_stdout(io.StringIO()):
                server.stop()
            raise PageError(
                f"viser {viser.__version__} starts in a way that pliant cannot guard, so the page is not served",
                remedy="install a version that it can: pip install 'viser>=1.1,<1.2'",
            )
    except PageError:
        listening.close()
        raise
    return server


def _in_time(start: Callable[[], Any]) -> Any:
    """What a function gives, in a thread of its own: a server that fails on its way up waits for itself for ever."""
    found: list[Any] = []
    problems: list[BaseException] = []

    def work() -> None:
        try:
            found.append(start())
        except BaseException as problem:
            problems.append(problem)

    thread = threading.Thread(target=work, name="pliant page start", daemon=True)
    with contextlib.redirect_stdout(io.StringIO()):  # it would print a banner of its own
        thread.start()
        thread.join(PATIENCE)
    if not found:
        cause = problems[0] if problems else None
        raise PageError(
            f"the server of the page does not start ({cause or f'nothing happened in {PATIENCE:.0f} s'})",
            remedy="install its packages anew: pip install --force-reinstall 'viser>=1.1' 'websockets>=13.1'",
        ) from cause
    return found[0]


class _Gate:
    """Stands in for `serve` while the server starts."""

    def __init__(self, door: Door, helm: Helm, listening: socket.socket) -> None:
        self._door, self._helm, self._listening = door, helm, listening
        self._serve: Callable[..., Any] = lambda: None
        self.in_use = False
        self._told: set[str] = set()

    @contextlib.contextmanager
    def in_place(self) -> Iterator[None]:
        """In place of `serve` for a while."""
        import websockets.asyncio.server as library

        self._serve = library.serve
        library.serve = self  # type: ignore[assignment,misc]
        try:
            yield
        finally:
            library.serve = self._serve  # type: ignore[misc]

    def __call__(self, handler: Any, host: Any = None, port: Any = None, **options: Any) -> Any:
        """Serve, but past the door. Where it is not the page's server that asks, as ever."""
        if not str(getattr(handler, "__module__", "")).startswith("viser."):
            return self._serve(handler, host, port, **options)
        self.in_use = True
        options["process_request"] = self._past_door(options.get("process_request"))
        options["logger"] = _quiet_logger(self._tell)
        return self._serve(self._past_helm(handler), sock=self._listening, **options)

    def _past_door(self, inner: Callable[..., Any] | None) -> Callable[..., Any]:
        """Requests of HTTP, those for a socket too."""
        from websockets.datastructures import Headers
        from websockets.http11 import Response

        def respond(connection: Any, request: Any) -> Any:
            verdict = self._door.examine(request.path, request.headers)
            if not verdict.enters:
                self._tell(f"a visitor of the page was refused: {verdict.value}")
            answer = self._door.answer(verdict, request.path, request.headers)
            if answer is not None:
                return Response(answer.status, answer.status.phrase, Headers(answer.headers), answer.body)
            given = None if inner is None else inner(connection, request)
            if isinstance(given, Response):
                given.headers.update(self._door.precautions(request.headers))
            return given

        return respond

    def _past_helm(self, inner: Callable[[Any], Awaitable[None]]) -> Callable[[Any], Awaitable[None]]:
        """A visitor's socket, for as long as it is open."""

        async def handle(connection: Any) -> None:
            asyncio.get_running_loop().set_exception_handler(self._tell_problem)
            visitor = self._helm.enter()
            VISITOR.set(visitor)
            try:
                await inner(Seat(connection, visitor, self._helm, self._tell))
            finally:
                self._helm.leave(visitor)

        return handle

    def _tell_problem(self, loop: Any, context: dict[str, Any]) -> None:
        problem = context.get("exception")
        said = context.get("message", "") if problem is None else f"{type(problem).__name__}: {problem}"
        self._tell(f"a message of a visitor could not be handled ({said})")

    def _tell(self, line: str) -> None:
        """To the terminal, every line once: a stranger must not be able to fill it, or to write on it."""
        line = "".join(letter if letter.isprintable() else "?" for letter in line[:300])
        if line not in self._told and len(self._told) < MOST_LINES:
            self._told.add(line)
            print(f"pliant: {line}", file=sys.stderr, flush=True)


class Seat:
    """A visitor's connection as the server sees it: it hears only what the visitor may say, and what it can understand."""

    def __init__(self, connection: Any, visitor: Visitor, helm: Helm, tell: Callable[[str], None]) -> None:
        from viser._messages import Message

        self._connection, self._visitor, self._helm, self._tell = connection, visitor, helm, tell
        self._understood = Message.deserialize

    async def recv(self, *_: Any, **__: Any) -> bytes:
        """The next message that counts."""
        while True:
            raw = await self._connection.recv()
            try:
                message = self._understood(raw)
                said = vars(message)
            except Exception as problem:  # whatever a stranger may send
                self._tell(f"a message of a visitor was not understood ({type(problem).__name__})")
                continue
            if self._helm.allows(self._visitor, type(message).__name__, said):
                return bytes(raw)

    def __getattr__(self, name: str) -> Any:
        if name.startswith("recv"):
            raise AttributeError(f"messages are heard by recv() only, not by {name}()")
        return getattr(self._connection, name)


GREETING = "opening handshake failed"
"""Of somebody who spoke no HTTP or hung up: he has not come in, which is all there is to know."""


def _quiet_logger(tell: Callable[[str], None]) -> logging.Logger:
    """A logger that tells problems of connections in a line."""

    class Line(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            problem = record.exc_info[1] if record.exc_info else None
            if record.levelno >= logging.ERROR and record.getMessage() != GREETING:
                tell(f"a connection to the page failed: {record.getMessage()} ({type(problem).__name__})")

    logger = logging.Logger("pliant page")
    logger.addHandler(Line())
    return logger
