"""A word to the user while kernels compile: which one, of how many, and how much longer it will take.

Numba compiles a kernel when it is first called, so nobody knows beforehand what a program will need. For the jobs of the
command line it was counted: `kernels.json` beside this file has, for each job, its kernels and what each took to compile
(`python benchmarks/count_kernels.py` writes it). Those of them that are not in the cache are left to do.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import sys
import time
from pathlib import Path
from typing import Any

from numba.core import event, types

COUNTED = Path(__file__).with_name("kernels.json")
SILENCE = 5.0
"""Seconds between two lines, where they cannot be written over each other."""
LEARNING = 2.0
"""Seconds of compilation, as counted, after which the speed of this machine is known well enough."""


def kernel_name(function: Any, signature: Any) -> str:
    """A kernel with the types of its arguments, in short: `body._tet_kernels.assemble#1f2e3d4c`."""
    digest = hashlib.blake2b(" ".join(map(_spelled, signature)).encode(), digest_size=4).hexdigest()
    return f"{function.__module__.removeprefix('pliant.')}.{function.__qualname__}#{digest}"


def _spelled(kind: Any) -> str:
    """A type of numba in a spelling of our own, which does not change with numba's."""
    if isinstance(kind, types.Array):
        return f"{_spelled(kind.dtype)}{kind.ndim}{kind.layout}{'' if kind.mutable else '!'}"
    if isinstance(kind, types.BaseTuple):  # type: ignore[attr-defined]
        return f"({' '.join(map(_spelled, kind))})"
    return f"record{kind.size}" if isinstance(kind, types.Record) else str(kind)


def missing_kernels(job: str) -> dict[str, float]:
    """Seconds by kernel of those that a job needs and the cache does not have; nothing for a job that was not counted."""
    needed = counted_kernels(job)
    cached = {where: _cached(where) for where in {name.partition("#")[0] for name in needed}}
    return {name: seconds for name, seconds in needed.items() if name not in cached[name.partition("#")[0]]}


def counted_kernels(job: str) -> dict[str, float]:
    """Seconds by kernel of all that a job needs, where that was counted."""
    table = json.loads(COUNTED.read_text()) if COUNTED.exists() else {"kernels": {}, "jobs": {}}
    kernels = list(table["kernels"].items())
    return dict(kernels[k] for k in table["jobs"].get(job, ()))


def _cached(where: str) -> set[str]:
    """Names of what the cache has of a kernel, `module.function`, for this machine."""
    module, _, function = where.rpartition(".")
    try:
        dispatcher = getattr(importlib.import_module(f"pliant.{module}"), function)
        machine = dispatcher.targetctx.codegen().magic_tuple()
        index = dispatcher._cache._cache_file._load_index()
    except (ImportError, AttributeError, OSError):  # it was renamed since, or numba keeps its cache otherwise
        return set()
    return {kernel_name(dispatcher.py_func, key[0]) for key in index if key[1] == machine}


class CompileProgress(event.Listener):  # type: ignore[misc]
    """Tells on a stream (stderr) what is being compiled: on one line of a terminal, elsewhere by a line every few seconds."""

    def __init__(self, stream: Any = None) -> None:
        self.job = ""
        """What is run, as `kernels.json` names it."""
        self.count = 0
        """Kernels begun since the last announcement."""
        self._stream = stream
        self._left: dict[str, float] = {}
        self._counted = False
        self._now = self._done = 0.0
        self._depth = 0
        self._began = self._spoke = 0.0

    @property
    def total(self) -> int | None:
        """Kernels that it will be: those begun, and those left; None where nobody has counted."""
        return self.count + len(self._left) if self._counted else None

    def on_start(self, event: event.Event) -> None:
        """A kernel is begun, or one that it calls."""
        self._depth += 1
        function = event.data["dispatcher"].py_func
        if not (getattr(function, "__module__", "") or "").startswith("pliant"):
            return
        if self.count == 0:
            self._announce()
        seconds = self._left.pop(self._expected(kernel_name(function, event.data["args"])), None)
        if self._depth == 1:
            self.count += 1
            self._now = seconds or 0.0
            self._tell(function.__name__)
        elif seconds is not None:  # it is compiled along with its caller, and will not be begun again
            self.count += 1
            self._now += seconds

    def on_end(self, event: event.Event) -> None:
        """It is compiled."""
        self._depth -= 1
        if self._depth or not self.count:
            return
        self._done += self._now
        self._now = 0.0
        if self._terminal:
            self._say("\r" + " " * 78 + "\r")
        if self._counted and not self._left:
            self._say(f"pliant: {self.count} kernels compiled in {time.perf_counter() - self._began:.0f} s\n")
            self.count = 0

    def _announce(self) -> None:
        self._began, self._done = time.perf_counter(), 0.0
        self._left = missing_kernels(self.job)
        self._counted = bool(self._left)
        seconds = f"about {sum(self._left.values()):.0f} s, " if self._counted else ""
        number = f"{len(self._left)} " if self._counted else ""
        self._say(f"pliant: compiling {number}kernels for this machine ({seconds}each only once) ...\n")

    def _expected(self, name: str) -> str:
        """The kernel as it was counted, or as nearly: with other types of its arguments."""
        if name in self._left:
            return name
        where = name.partition("#")[0]
        return next((other for other in self._left if other.partition("#")[0] == where), name)

    def _tell(self, function: str) -> None:
        now = time.perf_counter()
        if not self._terminal and now - self._spoke < SILENCE:
            return
        self._spoke = now
        if self.total is None:
            words = f"kernel {self.count}, {now - self._began:.0f} s so far"
        else:
            words = f"kernel {self.count} of {self.total}, about {self._seconds_left():.0f} s left"
        self._say(f"\r  {words}: {function:<30.30}" if self._terminal else f"pliant: {words}\n")

    def _seconds_left(self) -> float:
        """By what was counted, and by how fast this machine has been since."""
        left, elapsed = self._now + sum(self._left.values()), time.perf_counter() - self._began
        return left * (elapsed / self._done if self._done > LEARNING else 1.0)

    @property
    def _terminal(self) -> bool:
        return bool((self._stream or sys.stderr).isatty())

    def _say(self, text: str) -> None:
        print(text, end="", file=self._stream or sys.stderr, flush=True)


PROGRESS = CompileProgress()
event.register("numba:compile", PROGRESS)


def expect_kernels_of(job: str) -> None:
    """Say what will be run, such as "run diamond", so that it is known how many kernels that needs."""
    PROGRESS.job = job
