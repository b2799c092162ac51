"""A plant behind a bus, and the process it runs in."""

from __future__ import annotations

import multiprocessing
import signal
import time
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pliant.device.audit import Audit, Verdict
from pliant.device.can_link import CanLink
from pliant.device.frames import COMMAND, COMMAND_TIMEOUT, MEASUREMENT, RESUME, STOP, Message, Reception
from pliant.device.link import Link
from pliant.device.plant import SimulatedPlant
from pliant.device.serial_link import SerialLink
from pliant.device.wiring import Wiring
from pliant.errors import InputError, PliantError
from pliant.exchange import Mailbox

MOST_STEPS = 5
"""Steps that a plant makes up for in one turn: more, and it would be deaf for too long."""

REPORT = np.dtype(
    [
        ("plant_time", "f8"),
        ("slow", "i8"),
        ("commands", "i8"),
        ("out_of_bounds", "i8"),
        ("too_fast", "i8"),
        ("not_numbers", "i8"),
        ("worst_excess", "f8"),
        ("worst_rate_excess", "f8"),
        ("lost", "i8"),
        ("damaged", "i8"),
        ("late", "i8"),
        ("faults", "i8"),
        ("failures", "i8"),
        ("stops", "i8"),
        ("timeouts", "i8"),
        ("finished", "i8"),
    ]
)
"""What a plant server tells, in numbers."""


@dataclass(frozen=True)
class PlantReport:
    """What a plant server saw: its time [s], how often it could not keep up, the verdict on all commands that arrived,
    counts of its bus (`DriveStatus`), steps that failed, stops, how often commands stayed away."""

    plant_time: float
    slow: int
    verdict: Verdict
    lost: int
    damaged: int
    late: int
    faults: int
    failures: int
    stops: int
    timeouts: int
    finished: bool


class PlantServer:
    """Runs a plant in real time at the far end of a bus: takes commands, gives measurements, and checks on its own that
    no command outside the bounds or rates ever arrives. What breaks a limit is counted and not obeyed.

    Told to stop, or without a command that it can obey for `timeout`, its motors go back to where they were at the beginning,
    until it is told to resume, or such a command comes.
    """

    def __init__(
        self,
        plant: SimulatedPlant,
        link: Link,
        low: ArrayLike,
        high: ArrayLike,
        rate: ArrayLike,
        *,
        interval: float,
        timeout: float = COMMAND_TIMEOUT,
    ) -> None:
        """low, high, rate [rows]: the limits to check; interval [s]: between measurements; timeout [s]: how long a command is
        obeyed that no other follows."""
        if link.wiring != plant.wiring:
            raise InputError("the link has another wiring than the plant", remedy="make it with plant.wiring")
        if not interval > 0:
            raise InputError(f"interval is {interval} s", remedy="give a positive time between measurements")
        if not timeout > 0:
            raise InputError(f"timeout is {timeout} s", remedy="give a positive time, longer than between commands")
        rows = len(plant.wiring.commands)
        self.plant, self.link, self.interval, self.timeout = plant, link, interval, timeout
        self.audit = Audit(np.broadcast_to(low, rows), high, rate)
        self.slow = 0
        self.stops = 0
        self.timeouts = 0
        """How often commands stayed away."""
        self._command = plant.motors.copy()
        self._resting = plant.motors.copy()
        self._arrived = np.zeros(rows)
        self._reception = Reception(link.status)
        self._outgoing = Message(MEASUREMENT, len(plant.wiring.measurements))
        self._restarts = 0
        self._stopped = False
        self._obeyed = np.nan
        self._alone = False
        self._sequence = 0
        self._zero = np.nan
        self._due = -np.inf

    def turn(self, now: float) -> None:
        """One turn of its loop at this time [s]: take what came, go on to now, send a measurement where one is due."""
        if np.isnan(self._zero):
            self._zero = now
        self._take(now)
        if not self._alone and now - self._obeyed > self.timeout:
            self._alone = True
            self.timeouts += not self._stopped
        steps = (now - self._zero - self.plant.time) / self.plant.motion.h
        if steps > MOST_STEPS + 1:
            # what cannot be made up for is dropped: the plant's time stands still instead of running after
            self.slow += 1
            self._zero += (steps - MOST_STEPS) * self.plant.motion.h
        rests = self._stopped or self._alone
        self.plant.advance(self._resting if rests else self._command, now - self._zero)
        if now >= self._due:
            self._due = now + self.interval if now - self._due > self.interval else self._due + self.interval
            measurement = self.plant.measure()
            self._outgoing.values[:] = measurement.values
            self.link.send(self._outgoing, self._sequence, now)
            self._sequence += 1

    def _take(self, now: float) -> None:
        for _ in range(1000):
            message = self.link.receive()
            if message is None:
                return
            if message.kind == STOP:
                self.stops += not self._stopped
                self._stopped = True
            elif message.kind == RESUME:
                self._stopped = False
            elif message.kind == COMMAND and self._reception.accept(message, now):
                if self._reception.restarts > self._restarts:
                    self._restarts = self._reception.restarts
                    self.audit.begin_anew()
                self._arrived[:] = message.values
                if self.audit.see(self._arrived, self._reception.time):
                    self._command[:] = self._arrived
                    self._obeyed, self._alone = now, False

    def report(self) -> tuple[Any, ...]:
        """The numbers of `REPORT`."""
        verdict, status = self.audit.verdict, self.link.status
        return (
            self.plant.time, self.slow, verdict.commands, verdict.out_of_bounds, verdict.too_fast, verdict.not_numbers,
            verdict.worst_excess, verdict.worst_rate_excess, status.lost, status.damaged, status.late, status.faults,
            self.plant.failures, self.stops, self.timeouts, 0
        )  # fmt: skip


@dataclass(frozen=True)
class BusAddress:
    """Where a bus is, for both of its ends: python-can's interface and channel ("udp_multicast", "239.74.163.2"), or
    interface="serial" and a port."""

    interface: str
    channel: str
    options: tuple[tuple[str, Any], ...] = ()

    def link(self, wiring: Wiring) -> Link:
        """One end of it."""
        if self.interface == "serial":
            return SerialLink(wiring, self.channel, **dict(self.options))
        return CanLink(wiring, self.interface, self.channel, **dict(self.options))


class PlantProcess:
    """A `PlantServer` in a process of its own; `report()` tells at any time what it has seen so far.

    The process is started by spawning: a script that makes one needs `if __name__ == "__main__":`.
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
        self._mailbox = Mailbox(REPORT)
        context = multiprocessing.get_context("spawn")
        self._stop = context.Event()
        answer, far = context.Pipe(duplex=False)
        limits = tuple(np.asarray(value, float).tolist() for value in (low, high, rate))
        self._process = context.Process(
            target=_serve,
            args=(build, bus, limits, (interval, timeout), self._mailbox.name, self._stop, far),
            daemon=True,
        )
        self._process.start()
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
        r = {name: record[name].item() for name in REPORT.names or ()}
        verdict = Verdict(
            r["commands"],
            r["out_of_bounds"],
            r["too_fast"],
            r["not_numbers"],
            r["worst_excess"],
            r["worst_rate_excess"],
        )
        return PlantReport(
            r["plant_time"], r["slow"], verdict, r["lost"], r["damaged"], r["late"], r["faults"], r["failures"], r["stops"],
            r["timeouts"], bool(r["finished"])
        )  # fmt: skip

    def close(self, within: float = 10.0) -> PlantReport | None:
        """End the process; the last report, None where it was closed before."""
        if not self._mailbox.counters.size:
            return None
        self._stop.set()
        self._process.join(within)
        if self._process.is_alive():
            self._process.kill()
            self._process.join()
        report = self.report()
        self._mailbox.close()
        return report

    def __enter__(self) -> PlantProcess:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _serve(
    build: Callable[[], SimulatedPlant],
    bus: BusAddress,
    limits: tuple[Any, ...],
    times: tuple[float, float],
    mailbox_name: str,
    stop: Any,
    answer: Any,
) -> None:
    """The process: builds, answers with its wiring or with what went wrong, and runs until it is told to stop or left alone."""
    # an interrupt from the keyboard goes to all processes of a terminal, and the controller still needs its plant then
    signal.signal(signal.SIGINT, signal.SIG_IGN)
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
    mailbox = Mailbox(REPORT, mailbox_name)
    record = mailbox.blank()
    answer.send(plant.wiring)
    parent = multiprocessing.parent_process()
    told = 0.0
    pause = min(interval, plant.motion.h) / 4
    while not stop.is_set() and (parent is None or parent.is_alive()):
        now = time.monotonic()
        server.turn(now)
        if now - told > 0.05:
            record[...] = server.report()
            mailbox.write(record)
            told = now
        time.sleep(pause)
    record[...] = server.report()
    record["finished"] = 1
    mailbox.write(record)
    link.close()
    mailbox.close()
