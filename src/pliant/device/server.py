"""A plant behind a bus."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from pliant.checks import number, per_row, require_kind_of
from pliant.device.audit import Audit
from pliant.device.frames import COMMAND, COMMAND_TIMEOUT, MEASUREMENT, RESUME, STOP, Message, Reception, random_origin
from pliant.device.link import Link
from pliant.device.plant import SimulatedPlant
from pliant.errors import InputError

MOST_STEPS = 5
"""Steps that a plant makes up for in one turn: more, and it would be deaf for too long."""
MOST_MESSAGES = 1000
"""Messages that one turn looks at."""
LONGEST_TURN = 0.1
"""Seconds since the last turn that one turn may make up for in moving."""


class PlantServer:
    """Runs a plant in real time at the far end of a bus: takes commands, gives measurements, and checks on its own that
    no command outside the bounds or rates ever arrives. What breaks a limit is counted and not obeyed.

    Told to stop, or without a command that it can obey for `timeout`, its motors go back to where they were at the beginning,
    until it is told to resume, or such a command comes: then they leave their rest at the rates. It obeys one sender at a time;
    what comes from another, or is too old, is counted (`link.status.foreign`, `late`) and not obeyed. `frames` has the rules.
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
        require_kind_of(plant, "plant", SimulatedPlant)
        require_kind_of(link, "link", Link)
        if link.wiring != plant.wiring:
            raise InputError("the link has another wiring than the plant", remedy="make it with plant.wiring")
        rows = len(plant.wiring.commands)
        self.plant, self.link = plant, link
        self.interval = number(interval, "interval", unit="s", above=0.0)
        self.timeout = number(timeout, "timeout", unit="s", above=0.0)
        self.audit = Audit(per_row(low, "low", rows, like="the plant"), high, rate)
        self.slow = 0
        self.stops = 0
        self.timeouts = 0
        """How often commands stayed away."""
        self._command, self._resting, self._wanted = (plant.motors.copy() for _ in range(3))
        self._arrived = np.zeros(rows)
        self._reception = Reception(link.status)
        self._outgoing = Message(MEASUREMENT, len(plant.wiring.measurements))
        self._restarts = 0
        self._stopped = False
        self._stop_time = -np.inf
        self._looked = self._turned = -np.inf
        self._obeyed = np.nan
        self._alone = False
        self._sequence, self._origin = 0, random_origin()
        self._zero, self._first = np.nan, np.inf
        self._due = -np.inf

    @property
    def real_time(self) -> float:
        """Seconds of the clock since the first turn."""
        return self._turned - self._first if self._first < np.inf else 0.0

    def forget(self) -> None:
        """Let go of what waits on the bus: it is of unknown age. Stops among it are obeyed."""
        for _ in range(100 * MOST_MESSAGES):
            message = self.link.receive()
            if message is None:
                return
            if message.kind == STOP:
                self._stop(message, np.nan)

    def turn(self, now: float) -> None:
        """One turn of its loop at this time [s]: take what came, go on to now, send a measurement where one is due."""
        if np.isnan(self._zero):
            self._zero = self._first = now
        self._take(now)
        if not self._alone and now - self._obeyed > self.timeout:
            self._alone = True
            self.timeouts += not self._stopped
        self._move(now)
        if now >= self._due:
            self._due = now + self.interval if now - self._due > self.interval else self._due + self.interval
            measurement = self.plant.measure()
            self._outgoing.values[:] = measurement.values
            self.link.send(self._outgoing, self._sequence, now + self._origin)
            self._sequence += 1

    def _move(self, now: float) -> None:
        """Go on to now, at rest or towards what is wanted; away from rest, and from one sender's commands to another's, at the
        rates by this clock."""
        if self._stopped or self._alone:
            self._command[:] = self._resting
        else:
            since = now - self._turned if self._turned > -np.inf else 0.0
            most = self.audit.rate * min(max(since, 0.0), LONGEST_TURN)
            self._command += np.clip(self._wanted - self._command, -most, most)
        self._turned = now
        steps = (now - self._zero - self.plant.time) / self.plant.motion.h
        if steps > MOST_STEPS + 1:
            # what cannot be made up for is dropped: the plant's time stands still instead of running after
            self.slow += 1
            self._zero += (steps - MOST_STEPS) * self.plant.motion.h
        self.plant.advance(self._command, now - self._zero)

    def _take(self, now: float) -> None:
        for _ in range(MOST_MESSAGES):
            message = self.link.receive()
            if message is None:
                self._looked = now
                return
            if message.kind == STOP:
                self._stop(message, now)
            elif message.kind == RESUME:
                self._resume(message, now)
            elif message.kind == COMMAND and self._reception.accept(message, now, self._looked):
                self._obey(message, now)

    def _stop(self, message: Message, now: float) -> None:
        """Whoever says it."""
        self.stops += not self._stopped
        self._stopped = True
        if self._reception.believes(message, now):
            self._stop_time = max(self._stop_time, self._reception.time_of(message, now))

    def _resume(self, message: Message, now: float) -> None:
        """Only where the sender that is believed says it, after its last stop."""
        if not self._reception.believes(message, now):
            self.link.status.foreign += self._stopped
        elif self._reception.time_of(message, now) < self._stop_time:
            self.link.status.late += 1
        else:
            self._stopped = False

    def _obey(self, message: Message, now: float) -> None:
        """Take over a command, where it keeps the limits."""
        if self._reception.restarts > self._restarts:
            # another clock: nothing of the last one can be compared with it
            self._restarts, self._stop_time = self._reception.restarts, -np.inf
            self.audit.begin_anew()
        self._arrived[:] = message.values
        if self.audit.see(self._arrived, self._reception.time):
            self._wanted[:] = self._arrived
            self._obeyed, self._alone = now, False
