"""How a decision ended."""

from __future__ import annotations

from enum import Enum


class DecisionStatus(Enum):
    """How a decision ended; the value is the explanation with its remedy. In recordings it is its `code`."""

    SOLVED = "the efforts are optimal for the model"
    RELAXED = "the limits contradict each other; those named in `relaxed` were dropped, effort limits never are"
    HELD = "the target or the interval is not a usable number; the last efforts are held"
    FAILED = "the model cannot be made here; the last efforts are held"
    SLOWED = "the step was shortened: the target is far off or out of reach, or the robot snaps; go on, or move it back"
    NOT_CONVERGED = "the iteration limit was reached; raise max_iterations or move the target in smaller parts"

    @property
    def ok(self) -> bool:
        """Whether a decision was made."""
        return self in (DecisionStatus.SOLVED, DecisionStatus.RELAXED, DecisionStatus.SLOWED)

    @property
    def code(self) -> int:
        """Its number, as recorded: 0 for SOLVED, 1 for RELAXED ..."""
        return CODES[self]


CODES = {status: code for code, status in enumerate(DecisionStatus)}
