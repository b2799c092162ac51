"""What everything in the gallery has: a title, a run that reports figures, and a page to look at."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from pliant.errors import InputError
from pliant.view import Figure
from pliant.view.page import ServedPage


@dataclass(frozen=True)
class Choices:
    """What a user asks for; None: what the robot has by itself.

    trajectory: what its effectors follow, a name or a CSV file. mesh: a file with another mesh of it, in millimetres. body:
    "tets" or "springs". gait: how it moves, a name. drive: what moves with its page, see `device.opened_drive`; command: what
    that is told, "displacement" or "effort" (by default what the robot has limits of); record: a file for all that it is told
    (MCAP).
    """

    trajectory: str | None = None
    mesh: Path | None = None
    body: str | None = None
    gait: str | None = None
    drive: str | None = None
    command: str | None = None
    record: Path | None = None


@dataclass(frozen=True)
class Showing:
    """What a run without a page gives: figures, remarks, and a function that saves a picture to a path."""

    figures: tuple[Figure, ...]
    draw: Callable[[Path], None]
    remarks: tuple[str, ...] = ()


class Exhibit(ABC):
    """A robot of the gallery."""

    title: str
    records: bool = False
    """Whether its run without a page can be recorded (`Choices.record`)."""

    @abstractmethod
    def show(self, choices: Choices) -> Showing:
        """Run it without a page."""

    @abstractmethod
    def page(self, choices: Choices) -> ServedPage:
        """The page of it, not yet open."""


def require_only(choices: Choices, who: str, *allowed: str) -> None:
    """Refuse what a user asks for that has no effect on it."""
    for option, value in vars(choices).items():
        if value is not None and option not in allowed:
            raise InputError(f"{who} has no --{option}", remedy=f"leave out --{option}")
