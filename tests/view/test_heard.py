"""What visitors do is heard in order, with the value that a control had then."""

import asyncio
import threading
from types import SimpleNamespace

from pliant.errors import InputError
from pliant.view.page.heard import heard


class _Client:
    def __init__(self):
        self.told = []

    def add_notification(self, title, text, **_):
        self.told.append((title, text))


def _press(control, callback, values, client=None, client_id=1):
    """Set the control to each value in turn, as the page's server does: a task for each message, started in order."""

    async def say(value):
        control.value = value
        await callback(SimpleNamespace(target=control, client=client, client_id=client_id))

    async def all_of_them():
        await asyncio.gather(*(say(value) for value in values))

    asyncio.run(all_of_them())


def test_presses_keep_their_order_and_their_values():
    """A hundred presses while the first one is still being worked on: each is heard once, as it was, in order."""
    seen, go_on, done = [], threading.Event(), threading.Event()

    def slow(value):
        go_on.wait()
        seen.append(value)
        if len(seen) == 100:
            done.set()

    _press(SimpleNamespace(value=None), heard(slow), range(100))
    assert not seen
    go_on.set()
    assert done.wait(60)
    assert seen == list(range(100))


def test_a_stop_does_not_wait_for_the_robot():
    """A step that takes long keeps later wishes for the robot waiting, but not those in another lane."""
    go_on, stopped, moved = threading.Event(), threading.Event(), threading.Event()
    robot = heard(lambda _: (go_on.wait(), moved.set()))
    stop = heard(lambda _: stopped.set(), lane="drive")
    control = SimpleNamespace(value=True)

    async def both():
        for callback in (robot, stop):
            await callback(SimpleNamespace(target=control, client=None, client_id=1))
        await asyncio.to_thread(stopped.wait, 60)

    asyncio.run(both())
    assert stopped.is_set()
    assert not moved.is_set()
    go_on.set()
    assert moved.wait(60)


def test_what_the_page_sets_itself_is_no_wish():
    """A control that the page moves (after a reset) calls nothing."""
    seen = []
    _press(SimpleNamespace(value=None), heard(seen.append), [1, 2], client_id=None)
    assert not seen


def test_a_wish_that_cannot_be_met_is_told_and_the_next_is_heard():
    """Errors of ours say what and the remedy; others their kind; none ends the lane."""
    client, done = _Client(), threading.Event()

    def fussy(value):
        if value == 0:
            raise InputError("no", remedy="ask again")
        if value == 1:
            raise ZeroDivisionError("by nothing")
        done.set()

    _press(SimpleNamespace(value=None), heard(fussy), [0, 1, 2], client)
    assert done.wait(60)
    (_, first), (_, second) = client.told
    assert "ask again" in first
    assert second == "ZeroDivisionError: by nothing"
