"""How a decision ended."""

from __future__ import annotations

from enum import Enum


class DecisionStatus(Enum):
    """How a decision ended; the value is the explanation with its remedy. In recordings it is its `code`."""

    SOLVED = "on its way: the efforts are optimal for the model, and forces balance to 1 %"
    RELAXED = "the limits contradict each other; those named in `relaxed` were dropped, effort limits never are"
    HELD = "the target or the interval is not a usable number; the last efforts are held"
    FAILED = "the model cannot be made here; the last efforts are held"
    SLOWED = "on its way: the step was shortened, taken back, or forces do not balance to 1 % yet; go on"
    NOT_CONVERGED = "the iteration limit was reached; raise max_iterations or move the target in smaller parts"
    REACHED = "at rest: the effectors are at their targets, in balance and stable"
    CLOSEST = (
        "at rest: no step from here brings the effectors closer to their targets; `distance` says how far off they are"
    )
    LIMITED = "at rest: what is named in `active` keeps the effectors from their targets"
    UNSTABLE = (
        "the robot would leave this state by itself; begin from a stable one, such as Statics(robot).solve() finds"
    )

    @property
    def ok(self) -> bool:
        """Whether a decision was made."""
        return self.at_rest or self in (DecisionStatus.SOLVED, DecisionStatus.RELAXED, DecisionStatus.SLOWED)

    @property
    def at_rest(self) -> bool:
        """Whether the robot is where it stays as long as it is asked for the same."""
        return self in (DecisionStatus.REACHED, DecisionStatus.CLOSEST, DecisionStatus.LIMITED)

    @property
    def code(self) -> int:
        """Its number, as recorded: 0 for SOLVED, 1 for RELAXED ..."""
        return CODES[self]


CODES = {status: code for code, status in enumerate(DecisionStatus)}
