"""What effectors were asked to do in a recording, as paths that can be followed again."""

from __future__ import annotations

import numpy as np

from pliant.control.trajectory import Recorded, Trajectory
from pliant.device import Log
from pliant.errors import InputError
from pliant.robot import Robot, Role


def recorded_paths(log: Log, robot: Robot) -> dict[str, Trajectory]:
    """By effector: its targets as the controller was given them (channel "control"), over the time of the recording [s].

    Targets that were not numbers are left out: the path goes straight from the one before to the one after.
    """
    control = log["control"]
    names = list(control.rows.get("target", ()))
    paths: dict[str, Trajectory] = {}
    for effector in robot.named(Role.EFFECTOR):
        rows = robot.ports[effector].labels
        if not set(rows) <= set(names):
            raise InputError(
                f"the recording has no targets of {effector!r}",
                remedy=f"it has {', '.join(names) or 'none'}: choose the robot that was recorded with --robot",
            )
        places = control["target"][:, [names.index(row) for row in rows]]
        good = np.isfinite(places).all(axis=1)
        times, first = np.unique(control.time[good], return_index=True)
        if len(times) < 2:
            raise InputError(f"the recording has no targets of {effector!r} that are numbers", remedy="record longer")
        paths[effector] = Recorded(times - times[0], places[good][first])
    return paths
