"""What it means to reproduce a paper."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from pliant.view import Figure


@dataclass(frozen=True)
class Reproduction:
    """figures: numbers, each with the paper's value where it gives one; lines: what a reader should know besides; plots: the
    files that were drawn."""

    figures: list[Figure]
    lines: list[str] = field(default_factory=list)
    plots: list[Path] = field(default_factory=list)


@dataclass(frozen=True)
class Paper:
    """title: authors, title and year; reproduce(out, data): makes everything, with plots in the folder `out` (None: no plots)
    and measurements of others in the folder `data` (None: what needs them is left out, and the lines say so)."""

    title: str
    reproduce: Callable[[Path | None, Path | None], Reproduction]
