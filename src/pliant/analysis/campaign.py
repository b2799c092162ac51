"""Many jobs on any executor; what is finished stays finished."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, Executor, Future, ProcessPoolExecutor, wait
from contextlib import ExitStack, contextmanager
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TextIO

from pliant.checks import whole
from pliant.errors import FileError, InputError, MissingExtraError, PliantError
from pliant.exchange import usable_cores

Job = Mapping[str, Any]
Rows = list[dict[str, float]]
Work = Callable[..., Rows]

ATTEMPTS = 3
"""Times that a job may take its worker down with it before the campaign ends."""
ONE_THREAD = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Workers share the cores: each computes with one thread."""


class Campaign:
    """Jobs of one kind: `work(**job)` for each, wherever an executor runs it.

    work is a function at the top of a module and gives rows {name: number}; a job is {name: text, numbers, lists}. Rows come
    back in the order of the jobs, whoever computed them and in whatever order. With a `journal` every finished job is written
    down at once; with `resume` those that are there are not done again. A worker process that dies takes nothing along: what
    it had not finished is done again by others, and only a job that kills its worker three times ends the campaign.
    """

    def __init__(self, name: str, work: Work, jobs: Sequence[Job]) -> None:
        self.name, self.work, self.jobs = name, work, [dict(job) for job in jobs]
        try:
            told = json.dumps([f"{work.__module__}.{work.__qualname__}", self.jobs], sort_keys=True)
        except TypeError as error:
            raise InputError(
                f"a job of {name} is not plain: {error}", remedy="give texts, numbers and lists"
            ) from error
        self.digest = hashlib.sha256(told.encode()).hexdigest()[:16]

    def run(
        self,
        *,
        executor: Executor | None = None,
        workers: int | None = None,
        journal: Path | None = None,
        resume: bool = False,
        show: bool = True,
    ) -> list[Rows]:
        """The rows of every job, in order. executor: by default processes of this machine, as many as `workers` or cores;
        show: a bar with the time left on a terminal."""
        done: dict[int, Rows] = self._known(journal) if resume and journal is not None else {}
        with ExitStack() as open_things:
            book = None if journal is None else open_things.enter_context(self._opened(journal, done))
            tell = open_things.enter_context(_bar(self.name, len(self.jobs), show))
            tell(len(done))
            for number, rows in self._results(done, executor, workers):
                done[number] = rows
                if book is not None:
                    _write_line(book, {"job": number, "rows": rows})
                tell(len(done))
        return [done[k] for k in range(len(self.jobs))]

    def _results(
        self, done: Mapping[int, Rows], executor: Executor | None, workers: int | None
    ) -> Iterator[tuple[int, Rows]]:
        """Number and rows of every job that is not done, as they come."""
        left, deaths = [k for k in range(len(self.jobs)) if k not in done], 0
        while left:
            try:
                with _lent(executor, workers) as pool:
                    for number, rows in self._gathered(pool, left):
                        left.remove(number)
                        deaths = 0
                        yield number, rows
            except BrokenExecutor as error:
                deaths += 1
                if executor is not None or deaths >= ATTEMPTS:
                    raise InputError(
                        f"{self.name}: a worker died {deaths} times without finishing a job (next: {self.jobs[left[0]]})",
                        remedy="look at what that job does; finished ones are in the journal, resume goes on from there",
                    ) from error

    def _gathered(self, pool: Executor, numbers: Sequence[int]) -> Iterator[tuple[int, Rows]]:
        waiting: dict[Future[Rows], int] = {pool.submit(self.work, **self.jobs[k]): k for k in numbers}
        try:
            while waiting:
                ended, _ = wait(waiting, return_when=FIRST_COMPLETED)
                # what others finished before a worker died is not lost with it
                for future in sorted(ended, key=lambda one: (one.exception() is not None, waiting[one])):
                    yield waiting.pop(future), future.result()
        finally:
            for future in waiting:
                future.cancel()

    def _opened(self, journal: Path, done: Mapping[int, Rows]) -> TextIO:
        """The journal, begun anew with what is done: a line that was cut off does not stay."""
        journal.parent.mkdir(parents=True, exist_ok=True)
        fresh = journal.with_suffix(".part")
        with open(fresh, "w") as book:
            _write_line(book, {"campaign": self.name, "jobs": len(self.jobs), "digest": self.digest})
            for number, rows in done.items():
                _write_line(book, {"job": number, "rows": rows})
        os.replace(fresh, journal)
        return open(journal, "a")

    def _known(self, journal: Path) -> dict[int, Rows]:
        """What a journal says is finished; a line that was cut off by the end of its process does not count."""
        if not journal.is_file():
            return {}
        lines = []
        for text in journal.read_text().splitlines():
            try:
                lines.append(json.loads(text))
            except ValueError:
                break
        if not lines or lines[0].get("digest") != self.digest:
            raise FileError(
                f"{journal} is of other work than {self.name}",
                remedy="leave out --resume to begin anew, or give another folder", path=journal,
            )  # fmt: skip
        return {int(line["job"]): line["rows"] for line in lines[1:]}


def _write_line(book: TextIO, record: Mapping[str, Any]) -> None:
    book.write(json.dumps(record) + "\n")
    book.flush()
    os.fsync(book.fileno())


@contextmanager
def _lent(executor: Executor | None, workers: int | None) -> Iterator[Executor]:
    """An executor that somebody has, or processes of our own with one thread each."""
    if executor is not None:
        yield executor
        return
    count = len(usable_cores()) if workers is None else whole(workers, "workers", least=1)
    before = {name: os.environ.get(name) for name in ONE_THREAD}
    os.environ.update(dict.fromkeys(ONE_THREAD, "1"))
    pool = ProcessPoolExecutor(count, mp_context=get_context("spawn"))
    try:
        yield pool
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        for name, value in before.items():
            os.environ.pop(name) if value is None else os.environ.update({name: value})


@contextmanager
def _bar(name: str, total: int, show: bool) -> Iterator[Callable[[int], None]]:
    """A bar with the time left, on a terminal only."""
    if not (show and sys.stderr.isatty()):
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    columns = TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn()
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(name, total=total)
        yield lambda done: bar.update(task, completed=done)


@contextmanager
def cluster(address: str | None) -> Iterator[Executor | None]:
    """The workers of a Dask scheduler as an executor ("tcp://host:8786"); None for processes of this machine."""
    if address is None:
        yield None
        return
    try:
        from distributed import Client
    except ImportError as error:
        raise MissingExtraError(
            "--scheduler needs Dask, which is not installed", remedy="pip install 'pliant[cluster]'"
        ) from error
    try:
        client = Client(address, timeout="10s", set_as_default=False)
    except (OSError, ValueError) as error:
        raise PliantError(f"no scheduler answers at {address}", remedy="start one: dask scheduler") from error
    with client:
        yield client.get_executor(retries=ATTEMPTS)
