"""What every visitor is told about who steers: a line, a button, and controls that are grey for those who look on."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Sequence
from typing import Any

from pliant.view.page.guarded import VISITOR
from pliant.view.page.heard import heard
from pliant.view.page.helm import Helm, Visitor
from pliant.view.page.status import CALM, CARE, GOOD, block

STILL = {"active_axes": (False, False, False), "disable_axes": True, "disable_sliders": True, "disable_rotations": True}
"""What makes a target in the scene one that cannot be dragged."""


class Signs:
    """The line and the button of each visitor, at the top of the panel; nothing where somebody is alone and steers.

    They only show what is so: whether a visitor's message counts is for the `Helm` to say.
    """

    def __init__(self, server: Any, helm: Helm, gizmos: Sequence[Any] = ()) -> None:
        """gizmos: handles of what one drags in the scene."""
        self._server, self._helm, self._gizmos = server, helm, tuple(gizmos)
        self._lock = threading.RLock()
        self._put_up: dict[int, tuple[Any, Any]] = {}
        self._greyed: dict[int, bool] = {}
        server.on_client_connect(self._came)

    async def _came(self, client: Any) -> None:
        """A browser has drawn its first picture; async, so that it is known whose it is."""
        visitor = VISITOR.get(None)
        if visitor is None:
            return
        visitor.client = client
        line = client.gui.add_html("", order=-2.0, visible=False)
        button = client.gui.add_button("Take over", order=-1.0, visible=False)
        visitor.own.add(uuid_of(button))
        button.on_click(heard(lambda _: self._pressed(visitor), lane="helm"))
        with self._lock:
            self._put_up[visitor.number] = line, button
        self.post()

    def _pressed(self, visitor: Visitor) -> None:
        if self._helm.steering is visitor:
            self._helm.let_go(visitor)
        else:
            self._helm.take(visitor)

    def post(self) -> None:
        """Tell every visitor how things are."""
        with self._lock:
            here = {visitor.number: visitor for visitor in self._helm.visitors}
            for number in set(self._put_up) - set(here):
                del self._put_up[number]
                self._greyed.pop(number, None)
            for number, (line, button) in self._put_up.items():
                steering = self._helm.steering
                steers = steering is here[number]
                line.content = sign_text(here[number], steering, len(here))
                line.visible = not (steers and len(here) == 1)
                button.label = "Hand over" if steers else "Take over"
                button.visible = (steers and len(here) > 1) or steering is None
                self._grey(here[number], not steers)

    def _grey(self, visitor: Visitor, grey: bool) -> None:
        """Show shared controls as ones that this visitor cannot use, or can.

        They are shared by all, so the server has no call for this: it is said to this visitor's browser alone.
        """
        if self._greyed.get(visitor.number, False) == grey:
            return
        self._greyed[visitor.number] = grey
        with contextlib.suppress(
            AttributeError, ImportError
        ):  # it is for the eye only: without it nothing is less guarded
            from viser._messages import GuiUpdateMessage, SceneNodeUpdateMessage

            say = visitor.client._websock_connection.queue_message
            for uuid in set(self._server.gui._gui_input_handle_from_uuid) - self._helm.for_all:
                say(GuiUpdateMessage(uuid, {"disabled": grey}))
            for gizmo in self._gizmos:
                say(SceneNodeUpdateMessage(gizmo.name, {k: v if grey else getattr(gizmo, k) for k, v in STILL.items()}))


def sign_text(visitor: Visitor, steering: Visitor | None, count: int) -> str:
    """The line for a visitor among `count`."""
    others = f"{count - 1} other{'s' if count > 2 else ''} look{'' if count > 2 else 's'} on"
    if steering is visitor:
        colour, word, rest = GOOD, "You steer", f"; {others}." if count > 1 else "."
    elif steering is None:
        colour, word, rest = CARE, "Nobody steers", ": take over to use the controls."
    else:
        colour, word = CALM, "You look on"
        rest = f": visitor {steering.number} steers. Ask there for a hand-over; then you can take over here."
    return block(f'<span class="pliant-helm" style="color:{colour};font-weight:700">{word}</span>{rest}')


def uuid_of(handle: Any) -> str:
    """The name by which messages speak of a control."""
    return str(handle._impl.uuid)
