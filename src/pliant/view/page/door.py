"""Who may come in: the Host and the Origin of a request, and the token that it knows.

A browser lets every web page send requests to this machine. What gives a foreign page away is its Origin; what gives away a
name that was made to point here (DNS rebinding) is the Host; and neither knows the token, which is in the address that is
printed. A request must pass all three, whether it comes from this machine or not.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass
from enum import Enum
from html import escape
from http import HTTPStatus
from ipaddress import ip_address
from typing import Protocol
from urllib.parse import parse_qs

HOST = re.compile(r"(\[[0-9a-f:.]+\]|[0-9a-z._-]+)(?::([0-9]{1,5}))?", re.IGNORECASE)
"""A Host header: a name or an address, perhaps with a port."""
LOCAL = ("localhost", "127.0.0.1", "::1")
EVERYWHERE = ("0.0.0.0", "::")
"""Addresses that stand for every interface of this machine."""


class Fields(Protocol):
    """The headers of a request."""

    def get_all(self, key: str) -> list[str]:
        """All values of a header, in order."""


class Admission(Enum):
    """What becomes of a request; a refusal with its remedy."""

    ENTER = ""
    WELCOME = "it came with the token in its address"
    HOST = "the Host header names another machine; open the page at the address that was printed"
    ORIGIN = "the request came from another web page; open the page at the address that was printed"
    TOKEN = "the token is missing; open the page at the address that was printed, all of it (it ends in ?token=...)"

    @property
    def enters(self) -> bool:
        """Whether it may come in."""
        return self in (Admission.ENTER, Admission.WELCOME)


@dataclass(frozen=True)
class Answer:
    """A whole response of HTTP."""

    status: HTTPStatus
    headers: tuple[tuple[str, str], ...]
    body: bytes


class Door:
    """Lets those in who know the token, by the right name of this machine, from the page itself.

    The token is made anew for every door. The address that carries it works until the page is closed: it answers with a
    cookie, and sends the browser on to an address without it, so that it does not stay in sight.
    """

    def __init__(self, host: str) -> None:
        """host: what the page is served on: an address of this machine, or its name."""
        self.token = secrets.token_urlsafe(32)
        self._names = {host.lower(), *self._own_names(host)}
        self._any_address = host in EVERYWHERE

    @staticmethod
    def _own_names(host: str) -> tuple[str, ...]:
        """Other names under which the same interface is known."""
        if host in LOCAL:
            return LOCAL
        if host in EVERYWHERE:
            import socket

            name = socket.gethostname().lower()
            return (*LOCAL, name, f"{name}.local")
        return ()

    def examine(self, path: str, headers: Fields) -> Admission:
        """Whether a request for a path, with its query, may come in."""
        host = self._host(headers)
        if host is None:
            return Admission.HOST
        if not self._is_from_here(headers, host):
            return Admission.ORIGIN
        if any(self._is_token(given) for given in parse_qs(path.partition("?")[2]).get("token", [])):
            return Admission.WELCOME
        if any(self._is_token(given) for given in _cookies(headers, cookie_name(host))):
            return Admission.ENTER
        return Admission.TOKEN

    def _host(self, headers: Fields) -> str | None:
        """The Host header, where there is one and it is a name of this machine; the port is not ours to judge: a tunnel has
        its own."""
        given = headers.get_all("Host")
        match = HOST.fullmatch(given[0]) if len(given) == 1 else None
        if match is None:
            return None
        name = match[1].strip("[]").lower()
        return given[0] if name in self._names or (self._any_address and _is_address(name)) else None

    @staticmethod
    def _is_from_here(headers: Fields, host: str) -> bool:
        """Whether the page itself asks; a browser tells so of every socket, and of what is not simply opened."""
        origins = headers.get_all("Origin")
        if not origins:
            return not (headers.get_all("Upgrade") or headers.get_all("Sec-WebSocket-Key"))
        return len(origins) == 1 and origins[0].lower() == f"http://{host}".lower()

    def _is_token(self, given: str) -> bool:
        return secrets.compare_digest(given.encode("utf-8", "surrogateescape"), self.token.encode())

    def answer(self, admission: Admission, path: str, headers: Fields) -> Answer | None:
        """What to answer a request in place of the page; None: what it asks for.

        A query is never passed on: with one, the page could be told to listen to another server.
        """
        if not admission.enters:
            return _told(HTTPStatus.FORBIDDEN, "This page is not open to you", f"Refused: {admission.value}.")
        if headers.get_all("Upgrade") or (admission is Admission.ENTER and "?" not in path):
            return None
        host = self._host(headers) or ""
        cookie = f"{cookie_name(host)}={self.token}; Path=/; HttpOnly; SameSite=Strict"
        onward = '<meta http-equiv="refresh" content="0;url=/">'
        return _told(HTTPStatus.OK, "pliant", "The page opens ...", onward, (("Set-Cookie", cookie),))

    def precautions(self, headers: Fields) -> tuple[tuple[str, str], ...]:
        """Headers of the page itself: it talks to nobody but this server, and is shown in no other page."""
        host = self._host(headers) or ""
        return (
            ("Content-Security-Policy", f"connect-src 'self' ws://{host} data: blob:; frame-ancestors 'none'; "
             "object-src 'none'; base-uri 'none'; form-action 'none'"),
            *PRECAUTIONS,
        )  # fmt: skip


PRECAUTIONS = (
    ("X-Frame-Options", "DENY"),
    ("X-Content-Type-Options", "nosniff"),
    ("Referrer-Policy", "no-referrer"),
    ("Cross-Origin-Resource-Policy", "same-origin"),
)


def cookie_name(host: str) -> str:
    """Cookies do not tell ports apart: the name does, so that two pages on one machine have one each."""
    match = HOST.fullmatch(host)
    return f"pliant-{(match[2] if match else None) or 80}"


def _cookies(headers: Fields, name: str) -> list[str]:
    """Values of the cookies of a name."""
    pairs = (pair.partition("=") for line in headers.get_all("Cookie") for pair in line.split(";"))
    return [value.strip() for key, _, value in pairs if key.strip() == name]


def _is_address(name: str) -> bool:
    """Whether it is an address rather than a name: nobody can make an address point elsewhere."""
    try:
        ip_address(name)
    except ValueError:
        return False
    return True


def _told(status: HTTPStatus, title: str, text: str, head: str = "", extra: tuple[tuple[str, str], ...] = ()) -> Answer:
    """A small page of our own."""
    body = (
        f'<!doctype html><html><head><meta charset="utf-8"><title>{escape(title)}</title>{head}</head>'
        f'<body style="font-family:sans-serif;margin:3em;color:#333"><h3>{escape(title)}</h3><p>{escape(text)}</p>'
        "</body></html>"
    ).encode()
    headers = (
        ("Content-Type", "text/html; charset=utf-8"),
        ("Content-Length", str(len(body))),
        ("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'"),
        ("Cache-Control", "no-store"),
        *PRECAUTIONS,
        *extra,
    )
    return Answer(status, headers, body)
