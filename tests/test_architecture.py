"""docs/architecture.md is true: its rooms are the folders, their imports are as drawn, its walks are calls that are made."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
from functools import cache
from pathlib import Path

import pytest

import pliant
from test_house import ROOT, imports

PAGE = Path(__file__).parents[1] / "docs" / "architecture.md"
BLOCKS = re.findall(r"^```text\n(.*?)^```$", PAGE.read_text(), re.S | re.M)
DRAWN, WALKS = BLOCKS[1], BLOCKS[2:]
EVERYWHERE = {"errors", "checks"}
"""Under all rooms; files, not folders."""


def drawn_rooms() -> dict[str, str]:
    """What each room leans on, as drawn, by room, from the top down."""
    lines = [re.split(r"  +", line.strip()) for line in DRAWN.splitlines()]
    return {room: leans for room, _, leans in lines}


def real_imports(room: str) -> set[str]:
    """The other rooms that a room imports."""
    return set().union(*(imports(path) for path in (ROOT / room).rglob("*.py"))) - EVERYWHERE - {room}


@cache
def named() -> dict[str, list[object]]:
    """Classes and functions of pliant, by name and by "module.name", where they are defined."""
    found: dict[str, list[object]] = {}
    for info in pkgutil.walk_packages(pliant.__path__, "pliant."):
        if info.name.split(".")[1] in (
            "algebra",
            "exchange",
            "body",
            "port",
            "contact",
            "robot",
            "motion",
            "device",
            "control",
            "analysis",
        ):
            if "explicit" in info.name or "warp" in info.name:
                continue
            module = importlib.import_module(info.name)
            for name, thing in vars(module).items():
                if getattr(thing, "__module__", None) == info.name and callable(thing):
                    found.setdefault(name, []).append(thing)
                    found.setdefault(f"{info.name.rpartition('.')[2]}.{name}", []).append(thing)
    return found


def room_of(thing: object) -> str:
    return thing.__module__.split(".")[1]


def resolved(name: str, room: str = "") -> tuple[object, str]:
    """What is meant by a name of the page, such as `Robot.linearize`, and its room; it must be one thing, or one in a room."""
    owner, _, method = name.partition(".")
    things = named().get(name) or named().get(owner, [])
    if len(things) > 1:
        things = [thing for thing in things if room_of(thing) == room]
    assert len(things) == 1, f"{name} is {len(things)} things"
    thing = things[0]
    room = room_of(thing)
    if name in named() or not method:
        return thing, room
    assert hasattr(thing, method), f"{name} does not exist"
    return getattr(thing, method), room


def source(thing: object) -> str:
    """The text of a function, or of the constructor of a class."""
    return inspect.getsource(thing.__init__ if inspect.isclass(thing) else thing)


def steps(walk: str) -> list[tuple[int, str, str]]:
    """Depth, room and function of every line of a walk."""
    lines = [re.match(r"(\w+)( +)([\w.]+)", line) for line in walk.splitlines()]
    return [(line.start(3), line[1], line[3]) for line in lines]


def test_the_rooms_are_the_folders():
    """All that are drawn are there, and all that are there are drawn."""
    assert set(drawn_rooms()) == {path.parent.name for path in ROOT.glob("*/__init__.py")}


def test_rooms_import_what_is_drawn():
    """Every room leans on those that are named, all of them below it, and on no other."""
    order = list(drawn_rooms())
    for room, leans in drawn_rooms().items():
        below = set(order[order.index(room) + 1 :])
        assert real_imports(room) <= below, f"{room} imports a room above it"
        if leans != "all below":
            assert real_imports(room) == set(leans.split()) - {"-"}, room


@pytest.mark.parametrize("walk", WALKS, ids=lambda walk: steps(walk)[0][2])
def test_walks_are_calls_that_are_made(walk):
    """Each function is in the room that is said, is called by the one it is drawn under, and no call goes up a room."""
    order, above = list(drawn_rooms()), []
    for depth, room, name in steps(walk):
        thing, home = resolved(name, room)
        assert room == home, f"{name} is in {home}"
        while above and above[-1][0] >= depth:
            above.pop()
        if above:
            _, caller_room, caller_name, caller = above[-1]
            assert order.index(caller_room) <= order.index(room), f"{caller_name} calls up to {name}"
            called = re.escape(name.rpartition(".")[2])
            assert re.search(rf"\b{called}\(", source(caller)), f"{caller_name} does not call {name}"
        above.append((depth, room, name, thing))


def test_there_is_a_walk_of_each_kind():
    """The inverse without and with contact, both processes of two rates, and a step forward."""
    assert [steps(walk)[0][2] for walk in WALKS] == [
        "Inverse.step",
        "ContactInverse.step",
        "Turns._follow",
        "model_process._make_models",
        "Dynamics.step",
    ]


def test_other_names_of_the_page_exist():
    """What stands in its sentences in code is there, too."""
    prose = re.sub(r"^```.*?^```$", "", PAGE.read_text(), flags=re.S | re.M)
    said = {name for name in re.findall(r"`([A-Za-z_.]+)`", prose) if name[0].isupper() or "." in name}
    assert len(said) > 10
    for name in said:
        resolved(name)


def test_what_is_not_so_is_found():
    """A function that is not there, and one that is called by nobody there, would be noticed."""
    with pytest.raises(AssertionError, match="does not exist"):
        resolved("Robot.linearise")
    with pytest.raises(AssertionError, match="0 things"):
        resolved("Linearisation.follow")
    with pytest.raises(AssertionError, match="does not call"):
        test_walks_are_calls_that_are_made("robot  Robot.linearize\nalgebra  solve_qp\n".replace("a  s", "a    s"))
    with pytest.raises(AssertionError, match="calls up"):
        test_walks_are_calls_that_are_made("robot    Factored.condense\ncontrol      Inverse.step\n")
