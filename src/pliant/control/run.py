"""What a run of the control loop was like."""

from __future__ import annotations

from dataclasses import dataclass

from pliant.control.pace import Rights, Timing


@dataclass(frozen=True, repr=False)
class Run:
    """What a run of the control loop was like; printed, it says so in a few lines.

    timing: of every period (of the first hour); commands: how many there were; missed: how many periods had none; unsent:
    commands that the drive did not take; models: how many came; processes: how many made them (more than one: it was replaced);
    keepers_lost: how often the process that looks after those died; statuses: how often each `DecisionStatus`; events: how
    often each of the guard's words; rights: what the system gave; interrupted: whether it was ended by an emergency stop.
    """

    timing: Timing
    commands: int
    missed: int
    unsent: int
    models: int
    processes: int
    keepers_lost: int
    statuses: dict[str, int]
    events: dict[str, int]
    rights: Rights
    interrupted: bool

    def __repr__(self) -> str:
        seconds = self.timing.duration
        rate = f", {self.models / seconds:.0f} per second" if seconds > 0 else ""
        ended = ", ended by an emergency stop" if self.interrupted else ""
        lost = {"not taken by the drive": self.unsent, "keepers lost": self.keepers_lost}
        lines = [
            f"<Run of {seconds:.3f} s: {self.commands} commands, {self.missed} missed{_counted(lost)}{ended}",
            f"  {self.timing.in_words()}",
            f"  models    {self.models}{rate}, by {self.processes} process{'es' if self.processes > 1 else ''}",
            f"  statuses {_counted(self.statuses, ' none')[1:]}",
            f"  events   {_counted(self.events, ' none')[1:]}",
            f"  rights    {self.rights}>",
        ]
        return "\n".join(lines)


def _counted(counts: dict[str, int], nothing: str = "") -> str:
    """What happened, with its counts, behind a comma each."""
    return "".join(f", {count} {word}" for word, count in counts.items() if count) or (nothing and f",{nothing}")
