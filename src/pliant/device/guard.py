"""The last thing before a drive."""

from __future__ import annotations

from enum import IntFlag

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import per_row, require_kind_of, row_of_numbers, single
from pliant.device import _guard_kernels as places
from pliant.device._guard_kernels import MEMORY, OPTIONS, block_size, guard_block
from pliant.device.wiring import Kind, require_kind
from pliant.errors import InputError
from pliant.robot import Robot, Role

Array = NDArray[np.float64]

PATIENCE = 1000
"""Calls in a row that a clock must run forwards, behind the latest time seen, before the guard believes that it was set
back."""


class Event(IntFlag):
    """What a guard did to a command; several may hold at once."""

    BOUNDED = places.BOUNDED
    RATE_LIMITED = places.RATE_LIMITED
    NOT_A_NUMBER = places.NOT_A_NUMBER
    HELD = places.HELD
    RAMPING = places.RAMPING
    STOPPED = places.STOPPED
    RECOVERED = places.RECOVERED
    CLOCK = places.CLOCK


EVENT_WORDS: dict[int, str] = {
    Event.BOUNDED: "bounded",
    Event.RATE_LIMITED: "rate-limited",
    Event.NOT_A_NUMBER: "not-a-number",
    Event.HELD: "stale-held",
    Event.RAMPING: "ramping",
    Event.STOPPED: "stopped",
    Event.RECOVERED: "recovered",
    Event.CLOCK: "clock-behind",
}
"""The word for every flag, as it is recorded."""


def event_words(flags: int) -> tuple[str, ...]:
    """The words for what a guard's flags say: `event_words(3)` is `("bounded", "rate-limited")`."""
    return tuple(word for flag, word in EVENT_WORDS.items() if flags & flag)


class Guard:
    """Nothing leaves for a drive but what passes here: numbers, within bounds, changing no faster than allowed.

    Per row: low <= command <= high and |change| <= rate * elapsed, elapsed being the time since the latest `now` seen, at
    most `longest`. A clock that stands still or runs backwards therefore lets nothing change (event "clock-behind"); one
    that has been set back is believed after it ran forwards for 1000 calls. What is wanted and is not a number changes
    nothing.

    The model may be old: up to `stale` seconds its commands are followed, up to `hold` the last one is kept, beyond that the
    command goes to `safe`, at a speed that takes it from one bound to the other in `ramp` seconds, or at `rate` where that is
    slower. Commands that are not numbers for longer than `hold` have the same end. Both recover by themselves. `stop` sends the
    command to `safe` at `rate`, and it stays there until `release`.

    `check` neither waits, nor raises, nor makes arrays. It is not for several threads at once.

    >>> guard = Guard([0.0], [10.0], rate=5.0, safe=0.0, longest=1.0)
    >>> [event_words(guard.check(np.array([12.0]), now, 0.0)) for now in (0.0, 1.0)]
    [('bounded', 'rate-limited'), ('bounded', 'rate-limited')]
    >>> guard.command
    array([5.])
    """

    def __init__(
        self,
        low: ArrayLike,
        high: ArrayLike,
        rate: ArrayLike,
        safe: ArrayLike,
        *,
        stale: float | None = None,
        hold: float = 0.2,
        ramp: float = 1.0,
        longest: float = 0.1,
        start: ArrayLike | None = None,
    ) -> None:
        """low, high [rows]: bounds, finite; rate [rows]: largest change per second; safe [rows]: where to go when in
        doubt; stale, hold [s]: see above, stale is half of hold by default; ramp [s]; longest [s]: the longest time since
        the last call that one call may make up for; start [rows]: the command of now, `safe` by default. One value stands
        for all rows."""
        self.kind: Kind | None = None
        """What the commands are, where that is known (`of_robot`)."""
        lowest = row_of_numbers(low, "low")
        rows = len(lowest)
        if not rows:
            raise InputError("the guard has no rows", remedy="give low and high, a number per command")
        self.block = np.zeros(block_size(rows))
        """Everything in one array, for the compiled kernel; the others are parts of it."""
        self.low, self.high, self.rate, self._ramp_rate, self.safe, self.command = self.block[: 6 * rows].reshape(
            6, rows
        )
        options = self.block[6 * rows :]
        self._options, self._memory = options[:OPTIONS], options[OPTIONS : OPTIONS + MEMORY]
        self.low[:] = lowest
        self.high[:] = per_row(high, "high", rows, like="low")
        self.rate[:] = per_row(rate, "rate", rows, like="low")
        self.safe[:] = per_row(safe, "safe", rows, like="low")
        self.command[:] = per_row(safe if start is None else start, "start", rows, like="low")
        self._check_rows()
        self.hold = single(hold, "hold", unit="s")
        self.stale = self.hold / 2 if stale is None else single(stale, "stale", unit="s")
        ramp, longest = single(ramp, "ramp", unit="s"), single(longest, "longest", unit="s")
        if not 0 <= self.stale <= self.hold < np.inf:
            raise InputError(f"stale is {stale} s and hold is {hold} s", remedy="give 0 <= stale <= hold")
        if not (0 < ramp < np.inf and 0 < longest < np.inf):
            raise InputError(f"ramp is {ramp} s, longest is {longest} s", remedy="give positive times")
        self._options[:] = self.stale, self.hold, longest, PATIENCE
        self._ramp_rate[:] = (self.high - self.low) / ramp
        self._wanted = np.full(rows, np.nan)
        self.stopped = False
        self._warm_up()

    @classmethod
    def of_robot(
        cls,
        robot: Robot,
        kind: Kind = "effort",
        *,
        rate: ArrayLike | None = None,
        safe: ArrayLike | None = None,
        hold: float = 0.2,
        ramp: float = 1.0,
    ) -> Guard:
        """A guard with the limits of the robot's actuators, in their order; rate and safe where the robot does not say or
        zero (or the bound next to it) is not safe."""
        require_kind(kind)
        require_kind_of(robot, "robot", Robot)
        names = robot.named(Role.ACTUATOR)
        if not names:
            raise InputError("the robot has no actuators", remedy="add one with robot.actuate(...)")
        limits = [robot.ports[name].limits for name in names]
        for name, own in zip(names, limits, strict=True):
            if not np.isfinite(getattr(own, kind)).all():
                raise InputError(
                    f"actuator {name!r} has no limits of its {kind}", remedy=f"give robot.actuate {kind}=(low, high)"
                )
            if rate is None and not np.isfinite(getattr(own, f"{kind}_rate")).all():
                raise InputError(
                    f"actuator {name!r} has no {kind}_rate",
                    remedy="give it to robot.actuate, or rate= [per second] here",
                )
        low, high = np.concatenate([getattr(own, kind) for own in limits]).T
        rates = np.concatenate([getattr(own, f"{kind}_rate") for own in limits]) if rate is None else rate
        guard = cls(low, high, rates, np.clip(0.0, low, high) if safe is None else safe, hold=hold, ramp=ramp)
        guard.kind = kind
        return guard

    def __repr__(self) -> str:
        what = f"{len(self.low)} rows of {self.kind or 'commands'}"
        return f"<Guard of {what}, stale {self.stale:g} s, hold {self.hold:g} s{', stopped' if self.stopped else ''}>"

    def check(self, wanted: ArrayLike, now: float, model_age: float) -> int:
        """Let a command through as far as it may: `command` is what may leave; returns flags (`Event`), zero for unchanged.

        wanted [rows]; now [s]: of a clock that does not jump, such as `time.monotonic()`; model_age [s]: how old the model is
        that the command was decided with.
        """
        try:
            np.copyto(self._wanted, wanted, casting="same_kind")
        except (TypeError, ValueError):
            self._wanted.fill(np.nan)
        try:
            clock, age = float(now), float(model_age)
        except (TypeError, ValueError, OverflowError):
            clock = age = np.nan
        flags, _ = guard_block(self._wanted, self.block, len(self.low), clock, age, bool(self.stopped), False)
        return int(flags)

    def stop(self) -> None:
        """Emergency stop: from the next `check` on the command goes to `safe`, and stays until `release`."""
        self.stopped = True

    def release(self) -> None:
        """End an emergency stop: commands are followed again, from where the command is, within the rates."""
        self.stopped = False

    def _check_rows(self) -> None:
        for name in ("low", "high", "rate", "safe", "command"):
            values = getattr(self, name)
            endless = np.flatnonzero(~(np.abs(values) < 1e300))
            if len(endless):
                raise InputError(
                    f"{name} of row {endless[0]} is {values[endless[0]]}",
                    remedy="give the guard finite numbers",
                    row=int(endless[0]),
                )
        for what, wrong in (
            ("low is above high", self.low > self.high),
            ("rate is not positive", ~(self.rate > 0)),
            ("safe is outside the bounds", (self.safe < self.low) | (self.safe > self.high)),
            ("start is outside the bounds", (self.command < self.low) | (self.command > self.high)),
        ):
            if wrong.any():
                row = int(np.flatnonzero(wrong)[0])
                raise InputError(f"{what} in row {row}", remedy="correct the limits of that row", row=row)

    def _warm_up(self) -> None:
        """Load the compiled kernel now, not in the loop."""
        before = self.command.copy()
        self.check(self._wanted, 0.0, 0.0)
        self.command[:] = before
        self._memory[:] = 0.0
