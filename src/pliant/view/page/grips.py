"""Targets in the scene: what one grabs with the mouse, and where the effector is."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pliant.port import Port
from pliant.robot import Robot
from pliant.view.page.palette import EFFECTOR, TARGET
from pliant.view.page.session import Session
from pliant.view.page.snapshot import Snapshot

Array = NDArray[np.float64]


class Grip:
    """Three arrows around the target of a point, which a mouse can drag; a sphere at the target and one at the effector."""

    def __init__(self, scene: Any, session: Session, name: str, rows: slice) -> None:
        """rows: of the effector's displacement that are the position x, y, z."""
        self._session, self._effector, self._rows = session, name, rows
        self._dragged = False
        size, path = session.size, f"/targets/{name}/{rows.start}"
        here = session.snapshot.wish.targets[name][rows]
        self.gizmo = scene.add_transform_controls(
            path, scale=0.22 * size, line_width=4.0, disable_rotations=True, depth_test=False, position=here
        )
        self._aim = scene.add_icosphere(f"{path}/aim", 0.022 * size, color=TARGET, cast_shadow=False)
        self._tip = scene.add_icosphere(f"{path}_tip", 0.026 * size, color=EFFECTOR, opacity=0.7, position=here)
        self.gizmo.on_update(self._moved)

    async def _moved(self, event: Any) -> None:
        """The mouse has grabbed, moved or let go of the target; async, so that events stay in order."""
        self._dragged = event.phase != "end"
        wanted = self._session.snapshot.wish.targets[self._effector].copy()
        wanted[self._rows] = event.target.position
        self._session.aim(self._effector, wanted)

    def draw(self, snapshot: Snapshot, robot: Robot) -> None:
        """Show the effector, and the target unless a mouse holds it."""
        self._tip.position = robot.displacement(snapshot.state, self._effector)[self._rows]
        target = snapshot.wish.targets[self._effector][self._rows]
        if not self._dragged and not np.array_equal(target, self.gizmo.position):
            self.gizmo.position = target


def position_rows(port: Port) -> list[slice]:
    """The rows of a port that are positions in space, three by three; the others have sliders."""
    names = [name.rpartition(".")[2] for name in port.row_names]
    if port.displacement_unit != "m":
        return []
    return [slice(k, k + 3) for k in range(len(names) - 2) if names[k : k + 3] == ["x", "y", "z"]]


def grips_of(scene: Any, session: Session) -> list[Grip]:
    """One for every point that an effector of the robot has."""
    ports = session.robot.ports
    return [Grip(scene, session, name, rows) for name in session.effectors for rows in position_rows(ports[name])]
