"""Count the kernels of every job of the command line, so that a first run can tell how far it is.

    python benchmarks/count_kernels.py                         all jobs, from an empty cache (minutes); writes kernels.json
    python benchmarks/count_kernels.py --check "run diamond"   whether what was counted still holds for a job; 1 if not

A job is run twice, each time in a process of its own: the first compiles what earlier jobs did not need, and measures it; the
second loads from the cache exactly what the job calls.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time

from numba.core import event
from numba.core.registry import CPUDispatcher

from pliant.algebra.compile_progress import COUNTED, counted_kernels, kernel_name
from pliant.gallery import all_robots

JOBS = {
    "mesh --fill": ["mesh", "part.stl", "--fill", "0.005"],
    "check --fill": ["check", "part.stl", "--fill", "0.005"],
    **{f"run {name}": ["run", name, "--no-open", "--port", "18080"] for name in all_robots},
    **{f"run {name} --headless": ["run", name, "--headless"] for name in all_robots},
    "bench qp": ["bench", "qp"],
    "bench inverse": ["bench", "inverse"],
    "bench fem": ["bench", "fem", "--no-large"],
}
"""What is typed, by the name that the command line gives it."""


class Stopwatch(event.Listener):
    """Seconds of every kernel that is compiled by itself."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._depth, self._begin = 0, 0.0

    def on_start(self, event: event.Event) -> None:
        self._begin = self._begin if self._depth else time.perf_counter()
        self._depth += 1

    def on_end(self, event: event.Event) -> None:
        self._depth -= 1
        function = event.data["dispatcher"].py_func
        if self._depth == 0 and function.__module__.startswith("pliant"):
            name = kernel_name(function, event.data["args"])
            self.seconds[name] = round(time.perf_counter() - self._begin, 2)


def run(job: str) -> None:
    """Run a job in this process, pages until they stand; then print what was compiled, and what came from the cache."""
    from pliant import solids
    from pliant.cli import main
    from pliant.view.page import ServedPage

    watch = Stopwatch()
    event.register("numba:compile", watch)
    ServedPage.serve = _stand  # type: ignore[method-assign]
    sys.argv = ["pliant", *JOBS[job]]
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        solids.box((0.04, 0.02, 0.02)).write("part.stl")
        try:
            main()
        except SystemExit as end:
            if end.code:
                raise
    print("\n" + json.dumps({"compiled": watch.seconds, "loaded": loaded()}))


def _stand(page, *, port: int = 8080, host: str = "127.0.0.1", browser: bool = True) -> None:
    """Serve a page until it has nothing new to load for a while."""
    with page:
        page.open(port=port, host=host)
        known = -1
        while known < (known := len(loaded())):
            time.sleep(3.0)


def loaded() -> list[str]:
    """All kernels of pliant that came from the cache."""
    found = set()
    for name, module in list(sys.modules.items()):
        if name.startswith("pliant"):
            for kernel in vars(module).values():
                if isinstance(kernel, CPUDispatcher) and kernel.py_func.__module__.startswith("pliant"):
                    found |= {kernel_name(kernel.py_func, signature) for signature in kernel.stats.cache_hits}
    return sorted(found)


def in_a_process(job: str, **environment: str) -> dict:
    """What `run` prints."""
    command = [sys.executable, __file__, "--run", job]
    said = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, env=os.environ | environment).stdout
    return json.loads(said.splitlines()[-1])


def count() -> None:
    """All jobs, to kernels.json."""
    seconds: dict[str, float] = {}
    jobs = {}
    with tempfile.TemporaryDirectory() as cache:
        for job in JOBS:
            seconds |= in_a_process(job, NUMBA_CACHE_DIR=cache)["compiled"]
            jobs[job] = in_a_process(job, NUMBA_CACHE_DIR=cache)["loaded"]
            print(f"{job}: {len(jobs[job])} kernels", flush=True)
    used = sorted({name for names in jobs.values() for name in names})
    # one that was only ever compiled along with its caller took no time of its own
    kernels = [f'"{name}": {seconds.get(name, 0.0)}' for name in used]
    lists = [f'"{job}": {json.dumps([used.index(name) for name in names])}' for job, names in jobs.items()]
    rows = [",\n  ".join(part) for part in (kernels, lists)]  # a line per kernel and job, so that changes can be read
    COUNTED.write_text(f'{{\n "kernels": {{\n  {rows[0]}\n }},\n "jobs": {{\n  {rows[1]}\n }}\n}}\n')


def check(job: str) -> int:
    """Whether a job still needs what was counted; the kernels must be in the cache."""
    now = in_a_process(job)
    if now["compiled"]:
        now = in_a_process(job)
    before, after = set(counted_kernels(job)), set(now["loaded"])
    for name in sorted(before ^ after):
        print(f"{job}: {name} {'is not needed any more' if name in before else 'was not counted'}")
    return int(before != after)


if __name__ == "__main__":
    match sys.argv[1:]:
        case ["--run", job]:
            run(job)
        case ["--check", job]:
            sys.exit(check(job))
        case _:
            count()
