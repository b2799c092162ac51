"""A plant behind a bus in a process of its own."""

from __future__ import annotations

import multiprocessing
import time
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from multiprocessing.context import SpawnProcess
from multiprocessing.util import Finalize
from types import TracebackType
from typing import Any

from numpy.typing import ArrayLike

from pliant.checks import number, require_importable, require_kind_of, row_of_numbers, shown
from pliant.device.can_link import CanLink
from pliant.device.frames import COMMAND_TIMEOUT
from pliant.device.link import Link
from pliant.device.plant import SimulatedPlant
from pliant.device.plant_report import REPORT, PlantReport, numbers_of, report_of
from pliant.device.serial_link import SerialLink
from pliant.device.server import PlantServer
from pliant.device.wiring import Wiring
from pliant.errors import InputError, PliantError, PliantWarning
from pliant.exchange import Flags, Mailbox, start_shielded, stay_shielded


@dataclass(frozen=True)
class BusAddress:
    """Where a bus is, for both of its ends: python-can's interface and channel ("udp_multicast", "239.74.163.2"), or
    interface="serial" and a port."""

    interface: str
    channel: str
    options: tuple[tuple[str, Any], ...] = ()

    def link(self, wiring: Wiring) -> Link:
        """One end of it."""
        try:
            options = dict(self.options)
            if self.interface == "serial":
                return SerialLink(wiring, self.channel, **options)
            return CanLink(wiring, self.interface, self.channel, **options)
        except (TypeError, ValueError) as error:
            if isinstance(error, InputError):
                raise
            raise InputError(
                f"{shown(self.options)} are no options of {shown(self.interface)} ({error})",
                remedy="give pairs of a name and a value, such as (('port', 43113),)",
            ) from error


class PlantProcess:
    """A `PlantServer` in a process of its own; `report()` tells at any time what it has seen so far.

    Where the plant cannot keep up with the clock, or a second controller is on its bus, the next `report` or `close` warns,
    once. The process is started by spawning: a script that makes one needs `if __name__ == "__main__":`.
    """

    def __init__(
        self,
        build: Callable[[], SimulatedPlant],
        bus: BusAddress,
        low: ArrayLike,
        high: ArrayLike,
        rate: ArrayLike,
        *,
        interval: float = 0.005,
        timeout: float = COMMAND_TIMEOUT,
        ready_within: float = 180.0,
    ) -> None:
        """build: a function that can be imported and makes the plant over there; the rest as for `PlantServer`. Returns
        when the plant runs, or raises what kept it from running."""
        given = {"low": low, "high": high, "rate": rate}
        limits = tuple(row_of_numbers(value, name).tolist() for name, value in given.items())
        interval, timeout = (
            number(interval, "interval", unit="s", above=0.0),
            number(timeout, "timeout", unit="s", above=0.0),
        )
        ready_within = number(ready_within, "ready_within", unit="s", above=0.0)
        require_importable(build, "plant")
        require_kind_of(bus, "bus", BusAddress)
        self._mailbox, self._end = Mailbox(REPORT), Flags(1)
        self._told: set[str] = set()
        context = multiprocessing.get_context("spawn")
        answer, far = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_serve,
            args=(build, bus, limits, (interval, timeout), self._mailbox.name, self._end.name, far),
            daemon=True,
        )
        # whoever forgets to close it must not wait for ever for a process that waits for it
        Finalize(self, _ended, args=(self._process, self._end), exitpriority=10)
        start_shielded(self._process)
        far.close()
        try:
            said = answer.recv() if answer.poll(ready_within) else "it did not start in time"
        except EOFError:
            said = "its process ended"
        if not isinstance(said, Wiring):
            self.close()
            raise InputError(f"the plant does not run: {said}", remedy="make it in this process to see where it fails")
        self.wiring = said
        """The rows on the bus, for the drive at this end."""

    @property
    def pid(self) -> int:
        """Number of the process."""
        return self._process.pid or 0

    def report(self) -> PlantReport:
        """What the server has seen so far."""
        record = self._mailbox.blank()
        self._mailbox.read(record)
        report = report_of(record)
        self._complain(report)
        return report

    def _complain(self, report: PlantReport) -> None:
        for kind, text in report.complaints().items():
            if kind not in self._told:
                self._told.add(kind)
                warnings.warn(text, PliantWarning, stacklevel=4)

    def close(self, within: float = 10.0) -> PlantReport | None:
        """End the process; the last report, None where it was closed before."""
        if not self._mailbox.counters.size:
            return None
        _ended(self._process, self._end, within)
        record = self._mailbox.blank()
        self._mailbox.read(record)
        self._mailbox.close()
        self._end.close()
        report = report_of(record)
        self._complain(report)
        return report

    def __enter__(self) -> PlantProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _ended(process: SpawnProcess, end: Flags, within: float = 10.0) -> None:
    """Let it end, and see to it."""
    if not end.counters.size or process.pid is None:
        return
    end.values[0] = 1.0
    process.join(within)
    if process.exitcode is None:
        process.kill()
        process.join()


def _serve(
    build: Callable[[], SimulatedPlant],
    bus: BusAddress,
    limits: tuple[Any, ...],
    times: tuple[float, float],
    mailbox_name: str,
    end_name: str,
    answer: Any,
) -> None:
    """The process: builds, answers with its wiring or with what went wrong, and runs until it is told to stop or left alone."""
    # a stop signal goes to all processes of a terminal, and the controller still needs its plant then
    stay_shielded()
    interval, timeout = times
    try:
        plant = build()
        link = bus.link(plant.wiring)
        server = PlantServer(plant, link, *limits, interval=interval, timeout=timeout)
        # the first step compiles or loads kernels, which must not count as being slow
        plant.motion.step(plant.state)
    except PliantError as error:
        answer.send(str(error))
        return
    with Mailbox(REPORT, mailbox_name) as mailbox, Flags(1, end_name) as end:
        record = mailbox.blank()
        server.forget()
        answer.send(plant.wiring)
        parent = multiprocessing.parent_process()
        told = 0.0
        pause = min(interval, plant.motion.h) / 4
        while not end.values[0] and (parent is None or parent.is_alive()):
            now = time.monotonic()
            server.turn(now)
            if now - told > 0.05:
                record[...] = numbers_of(server)
                mailbox.write(record)
                told = now
            time.sleep(pause)
        record[...] = numbers_of(server)
        record["finished"] = 1
        mailbox.write(record)
    link.close()
