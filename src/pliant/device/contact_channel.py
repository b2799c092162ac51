"""Contact forces in a recording: the resultants of every touch of a robot, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.device.channel import TIME, Channel
from pliant.errors import InputError
from pliant.robot import Robot, State

FORCE_ROWS = ("x", "y", "z")


def contact_channel(robot: Robot, name: str = "contacts") -> Channel:
    """A channel with the time [s] and, for every touch T of the robot: "T force" (3,) [N] on its body, "T moment" (3,) [N m]
    about the origin of space, "T normal" [N], the sum of its normal forces, and how many points are "T sticking"
    and "T sliding"."""
    if not robot.touches:
        raise InputError("a robot that touches nothing has no contacts to record", remedy="robot.touch(...) first")
    fields: list[tuple[Any, ...]] = [(TIME, "f8")]
    for touch in robot.touches:
        fields += [(f"{touch} force", "f8", (3,)), (f"{touch} moment", "f8", (3,)), (f"{touch} normal", "f8")]
        fields += [(f"{touch} sticking", "i8"), (f"{touch} sliding", "i8")]
    units = {TIME: "s"}
    for touch in robot.touches:
        units |= {f"{touch} force": "N", f"{touch} moment": "N m", f"{touch} normal": "N"}
    rows = {f"{touch} {what}": FORCE_ROWS for touch in robot.touches for what in ("force", "moment")}
    return Channel(name, np.dtype(fields), units, rows)


def contact_record(channel: Channel, robot: Robot, state: State) -> NDArray[np.void]:
    """The record of a state, for a ring of the channel."""
    record = np.zeros(1, channel.dtype)
    record[TIME] = state.time
    for touch in robot.touches:
        found = robot.contacts(state, touch)
        record[f"{touch} force"], record[f"{touch} moment"] = found.force, found.moment(np.zeros(3))
        record[f"{touch} normal"] = found.normal_forces.sum()
        for state_of_points in ("sticking", "sliding"):
            record[f"{touch} {state_of_points}"] = np.count_nonzero(found.state == state_of_points)
    return record
