"""What a plant behind a bus has seen so far."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.device.audit import Verdict
from pliant.device.plant import pace_in_words
from pliant.device.server import PlantServer

REPORT = np.dtype(
    [
        ("plant_time", "f8"),
        ("real_time", "f8"),
        ("spent", "f8"),
        ("step", "f8"),
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
        ("foreign", "i8"),
        ("faults", "i8"),
        ("failures", "i8"),
        ("inside", "i8"),
        ("stops", "i8"),
        ("timeouts", "i8"),
        ("finished", "i8"),
    ]
)
"""What a plant server tells, in numbers."""


@dataclass(frozen=True)
class PlantReport:
    """What a plant server saw: its time, that of the clock, what it computed for and its step [s], how often it could not keep
    up, the verdict on all commands that arrived, counts of its bus (`DriveStatus`; foreign: messages of a second controller, or
    too old), steps that failed, stops, how often commands stayed away, whether it is over, and after how many steps points were
    inside of what the robot touches."""

    plant_time: float
    real_time: float
    spent: float
    step: float
    slow: int
    verdict: Verdict
    lost: int
    damaged: int
    late: int
    foreign: int
    faults: int
    failures: int
    stops: int
    timeouts: int
    finished: bool
    inside: int = 0

    def complaints(self) -> dict[str, str]:
        """What a user should know of, by its kind, in words."""
        out = {}
        slow = pace_in_words(self.plant_time, self.real_time, self.spent, self.step)
        if slow:
            out["slow"] = slow
        if self.foreign:
            out["foreign"] = (
                f"{self.foreign} messages that the plant got are from a second controller on the bus, or older than 0.5 s: "
                "they are not obeyed; leave one controller on the bus"
            )
        if self.inside:
            out["inside"] = (
                f"the plant's robot was inside of what it touches after {self.inside} steps: contact forces say little there; "
                "start it apart from obstacles, and move those slowly"
            )
        return out


def numbers_of(server: PlantServer) -> tuple[Any, ...]:
    """The numbers of `REPORT`."""
    verdict, status, plant = server.audit.verdict, server.link.status, server.plant
    return (
        plant.time, server.real_time, plant.spent, plant.motion.h, server.slow, verdict.commands, verdict.out_of_bounds,
        verdict.too_fast, verdict.not_numbers, verdict.worst_excess, verdict.worst_rate_excess, status.lost, status.damaged,
        status.late, status.foreign, status.faults, plant.failures, plant.inside, server.stops, server.timeouts, 0
    )  # fmt: skip


def report_of(record: NDArray[np.void]) -> PlantReport:
    """The report that these numbers make."""
    r = {name: record[name].item() for name in REPORT.names or ()}
    judged = ("commands", "out_of_bounds", "too_fast", "not_numbers", "worst_excess", "worst_rate_excess")
    verdict = Verdict(*(r.pop(name) for name in judged))
    return PlantReport(verdict=verdict, finished=bool(r.pop("finished")), **r)
