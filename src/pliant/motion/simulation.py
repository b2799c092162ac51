"""A run through time, for scripts."""

from __future__ import annotations

import csv
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from pliant.checks import as_numbers, number
from pliant.errors import InputError
from pliant.motion.dynamics import Dynamics
from pliant.motion.integrator_damping import SwingDamping, warn_of_integrator_damping
from pliant.motion.result import StepResult
from pliant.motion.statics import Statics
from pliant.robot import Robot, State

Array = NDArray[np.float64]
Callback = Callable[["Simulation"], bool | None]


@dataclass
class Recording:
    """Signals over time: `time` [s] and one array [steps, rows] per recorded port; damping: what the time step alone took from
    the lowest swings, None for equilibria."""

    names: tuple[str, ...]
    damping: SwingDamping | None = None
    _times: list[float] = field(default_factory=list)
    _rows: dict[str, list[Array]] = field(default_factory=dict)

    def append(self, simulation: Simulation) -> None:
        """Take down the current state."""
        self._times.append(simulation.state.time)
        for name in self.names:
            row = simulation.robot.displacement(simulation.state, name)
            self._rows.setdefault(name, []).append(row)

    @property
    def time(self) -> Array:
        """Times of the records [s], [steps]."""
        return np.array(self._times)

    def __getitem__(self, name: str) -> Array:
        """Displacements of a port, [steps, rows], in its unit."""
        if name not in self._rows:
            raise InputError(f"{name!r} was not recorded", remedy=f"choose among {', '.join(self.names) or 'nothing'}")
        return np.array(self._rows[name])

    def __len__(self) -> int:
        return len(self._times)

    def write(self, path: str | PathLike[str]) -> None:
        """Write as CSV: time, then a column per row of every port."""
        columns = [f"{name}[{row}]" for name in self.names for row in range(self[name].shape[1])]
        with open(path, "w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["time", *columns])
            for k, time in enumerate(self._times):
                writer.writerow([time, *(value for name in self.names for value in self._rows[name][k])])


class Simulation:
    """A robot in time: dynamics with a time step, or a sequence of equilibria.

    >>> from pliant.shape import make
    >>> from pliant.body import TetBody
    >>> from pliant.material import Corotational
    >>> from pliant.port import Point
    >>> mesh = make.box((0.1, 0.02, 0.02), (8, 2, 2))
    >>> beam = TetBody(mesh, Corotational(E=1e6, nu=0.3), fixed=mesh.where(x_below=0), damping=(0.0, 0.02))
    >>> robot = Robot(beam, gravity=(0, 0, -9.81))
    >>> robot.sense("tip", Point(near=(0.1, 0.01, 0.01)))
    >>> simulation = Simulation(robot, h=0.02)
    >>> record = simulation.run(0.2, record=["tip"])
    >>> len(record), bool(record["tip"][-1, 2] < 0.01)
    (11, True)
    """

    def __init__(self, robot: Robot, *, h: float, motion: Dynamics | Statics | None = None) -> None:
        """h: time step [s]. motion: how to step, of this robot and with this step; default: `Dynamics(robot, h)`.
        With a `Statics`, every step is an equilibrium and time only counts."""
        self.robot = robot
        self.h = number(h, "the time step", unit="s", above=0.0, remedy="give a positive step, such as 0.01")
        self.motion = motion if motion is not None else Dynamics(robot, h)
        if self.motion.robot is not robot or (isinstance(self.motion, Dynamics) and self.motion.h != self.h):
            raise InputError(
                "the motion is of another robot or has another time step", remedy="make it with the same ones"
            )
        self.state: State = robot.rest()
        self.last: StepResult | None = None
        self._damping: SwingDamping | None = None

    def step(self) -> StepResult:
        """Advance by one time step; a step that fails leaves the state as it was."""
        equilibrium = isinstance(self.motion, Statics)
        result = self.motion.solve(self.state) if equilibrium else self.motion.step(self.state)  # type: ignore[union-attr]
        if result.ok:
            self.state = replace(result.state, time=self.state.time + self.h)
        self.last = result
        return result

    def run(
        self,
        seconds: float,
        *,
        record: Iterable[str] = (),
        callback: Callback | None = None,
        progress: bool | None = None,
    ) -> Recording:
        """Advance by so many seconds; the recording has the start and every step.

        callback: called after each step with the simulation; may change efforts; ends the run by returning True.
        progress: a bar on stderr; by default on a terminal only. A step that fails raises. The first run warns where the time
        step damps the lowest swing more than the material does; what it does is in the recording (`damping`).
        """
        steps = _whole_steps(seconds, self.h)
        names = tuple(record)
        for name in names:
            self.robot.ports[name]
        if isinstance(self.motion, Dynamics) and self.last is None:
            self._damping = warn_of_integrator_damping(self.robot, self.state, self.h, self.motion.scheme)
        recording = Recording(names, self._damping)
        recording.append(self)
        for _ in self._counted(steps, progress):
            self.step().require()
            recording.append(self)
            if callback is not None and callback(self):
                break
        return recording

    def _counted(self, steps: int, progress: bool | None) -> Iterable[int]:
        if progress or (progress is None and sys.stderr.isatty()):
            from rich.console import Console
            from rich.progress import track

            console = Console(stderr=True)
            return track(range(steps), description="simulating", console=console, transient=console.is_terminal)
        return range(steps)


def _whole_steps(seconds: float, h: float) -> int:
    """How many steps of h make up so many seconds; an InputError where they do not."""
    found = as_numbers(seconds)
    if found.shape != () or not (np.isfinite(found) and found > 0.5 * h):
        raise InputError(f"a run of {seconds!r} s", remedy=f"give at least one time step of {h} s")
    steps = round(seconds / h)
    if abs(steps * h - seconds) > 1e-6 * seconds:
        below = max(1, int(seconds / h))
        raise InputError(
            f"a run of {seconds} s is {seconds / h:.4g} time steps of {h} s",
            remedy=f"give a whole number of steps, such as {below * h:.6g} or {(below + 1) * h:.6g} s",
        )
    return steps
