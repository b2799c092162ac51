"""How far a long run is: a bar with the time left on a terminal, a function's business, or nothing."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

Progress = bool | Callable[[float], None] | None
"""A bar on stderr (True), none (False), one on a terminal only (None), or a function that is told the share done, 0 to 1."""


@contextmanager
def shown(progress: Progress, total: float, words: str = "simulating") -> Iterator[Callable[[float], None]]:
    """A function to call with every piece of work that is done, of `total` in all; it may be called from any thread."""
    if callable(progress):
        yield _told(progress, total)
        return
    if not (progress or (progress is None and sys.stderr.isatty())):
        yield lambda piece: None
        return
    from rich.console import Console
    from rich.progress import Progress as Bar

    console = Console(stderr=True)
    with Bar(console=console, transient=console.is_terminal) as bar:
        task = bar.add_task(words, total=total)
        yield lambda piece: bar.advance(task, piece)


def _told(tell: Callable[[float], None], total: float) -> Callable[[float], None]:
    done, lock = 0.0, threading.Lock()

    def advance(piece: float) -> None:
        nonlocal done
        with lock:
            done += piece
            tell(min(done / total, 1.0))

    return advance
