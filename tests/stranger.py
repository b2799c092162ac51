"""Somebody who talks to an open page without a browser, and keeps to no rules."""

from __future__ import annotations

import socket
from urllib.parse import parse_qs, urlsplit

import msgspec
import viser
from websockets.sync.client import connect

PROTOCOL = f"viser-v{viser.__version__}"
CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": [1.0, 0.0, 0.0, 0.0], "position": [0.0, 0.0, 1.0], "fov": 0.6, "near": 0.01,
    "far": 10.0, "image_height": 100, "image_width": 100, "look_at": [0.0, 0.0, 0.0], "up_direction": [0.0, 0.0, 1.0],
}  # fmt: skip
"""What a browser says first: where it looks from."""
HANDSHAKE = {
    "Connection": "Upgrade",
    "Upgrade": "websocket",
    "Sec-WebSocket-Version": "13",
    "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Protocol": PROTOCOL,
}
"""Headers that ask for a socket."""


def place(address):
    """Host and port of an address."""
    parts = urlsplit(address)
    return parts.hostname, parts.port


def token(address):
    """What an address has to show."""
    return parse_qs(urlsplit(address).query).get("token", [""])[0]


def asked(address, path="/", headers=(), *, raw=None):
    """Status and text of what a request for a path is answered, with exactly these headers (pairs), or with raw bytes."""
    given = raw is not None
    if not given:
        pairs = headers.items() if isinstance(headers, dict) else headers
        raw = f"GET {path} HTTP/1.1\r\n{''.join(f'{key}: {value}' + chr(13) + chr(10) for key, value in pairs)}\r\n".encode()
    with socket.create_connection(place(address), timeout=30) as line:
        line.sendall(raw)
        if given:
            line.shutdown(socket.SHUT_WR)  # nothing more comes: it must not be waited for
        answer = b""
        while b"\r\n\r\n" not in answer and (more := line.recv(65536)):
            answer += more
        if answer.startswith(b"HTTP/1.1 101"):
            return 101, answer.decode(errors="replace")
        while more := line.recv(65536):
            answer += more
    text = answer.decode(errors="replace")
    return int(text.split(" ", 2)[1]) if text else 0, text


def joined(address, *, camera=True, **options):
    """A socket of a visitor who has the address; camera: as a browser that has drawn."""
    host, port = place(address)
    options.setdefault("origin", f"http://{host}:{port}")
    options.setdefault("close_timeout", 1.0)  # who leaves does not wait for what is still being said
    known = f"/?token={token(address)}" if token(address) else "/"
    line = connect(f"ws://{host}:{port}{known}", subprotocols=[PROTOCOL], max_size=None, **options)
    if camera:
        say(line, CAMERA)
    return line


def say(line, message):
    """Send a message as the page's script does."""
    line.send(msgspec.msgpack.encode(message))


def press(handle, value=True):
    """The message of a control being used."""
    return {"type": "GuiUpdateMessage", "uuid": handle._impl.uuid, "updates": {"value": value}}


def drag(gizmo, position, phase="Update"):
    """The message of a target being dragged."""
    message = {"type": f"TransformControls{phase if phase == 'Update' else 'Drag' + phase}Message", "name": gizmo.name}
    if phase == "Update":
        message |= {"wxyz": [1.0, 0.0, 0.0, 0.0], "position": [float(x) for x in position]}
    return message | {"owner": ""}
