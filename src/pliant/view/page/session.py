"""A robot that steps at a rate in a thread of its own, and takes wishes from others while it does."""

from __future__ import annotations

import contextlib
import time
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import as_numbers, number
from pliant.control import Inverse
from pliant.control.trajectory import Trajectory
from pliant.device import Feed
from pliant.device.wiring import commanded_ports
from pliant.errors import InputError
from pliant.motion import Status, settled
from pliant.robot import Robot, State
from pliant.robot.roles import Role
from pliant.view.page.paced import Paced
from pliant.view.page.poses import with_position
from pliant.view.page.rows import measures_of
from pliant.view.page.snapshot import Record, Snapshot
from pliant.view.page.stepping import Following, Outcome, Stepping, Wish, stepping_of

Array = NDArray[np.float64]
Paths = Mapping[str, Mapping[str, Trajectory]]
"""By the name of a path: a trajectory for every effector that follows it."""


HANGS = "where it hangs by itself"


class Session(Paced):
    """The simulation behind a page.

    Every method may be called from any thread. `snapshot` is what there is to see now. Nothing raises while it runs: a step
    that fails keeps the last good state and says so in the snapshot.
    """

    def __init__(
        self,
        robot: Robot,
        paths: Paths | None = None,
        *,
        rate: float = 50.0,
        feed: Feed | None = None,
        begin: State | None = None,
        decides: Callable[[Robot], Inverse] | None = None,
    ) -> None:
        """paths: what the effectors can follow; rate: steps per second [Hz] at most; feed: of a drive that is to do what the
        robot does; begin: where it is at first, by default settled; decides: makes the inverse that decides."""
        if not isinstance(robot, Robot):
            raise InputError(f"a {type(robot).__name__} is no robot", remedy="give a Robot")
        if feed is not None and not isinstance(feed, Feed):
            raise InputError(f"feed is a {type(feed).__name__}", remedy="give a Feed of a drive, or leave it out")
        super().__init__(number(rate, "rate", unit="Hz", above=0.0, most=1e6, remedy="give a positive rate in Hz"))
        self.robot, self.paths = robot, checked_paths(paths)
        self.feed, self._decides = feed, decides
        self._made_for = robot.row_names
        self.snapshot: Snapshot
        self._require_effectors()
        if begin is not None:
            robot.require_fits(begin)
        first = settled(robot) if begin is None else None
        self._is_loose = first is not None and first.status is Status.LOOSE
        self.hanging: State = begin or (first.state if self._is_loose else first.require().state)  # type: ignore[union-attr]
        self._told = (
            "as it was put" if begin is not None else "as it was made: nothing holds it" if self._is_loose else HANGS
        )
        span = self.hanging.x.max(axis=0) - self.hanging.x.min(axis=0)
        rigid = (np.ptp(body.outline, axis=0).max() for body in robot.bodies if not body.deforms)
        self.size = float(max(span.max(), *rigid, 1e-9))
        self.record = Record()
        self._stepping = self._new_stepping()
        self.loads = self._stepping.loads
        self._home = Wish(
            {name: robot.displacement(self.hanging, name, as_target=True) for name in robot.named(Role.EFFECTOR)},
            {name: robot.effort(self.hanging, name)[: robot.ports[name].port.given_rows] for name in self.loads},
            {name: robot.ports[name].displacement.copy() for name in robot.named(Role.HELD)},
            {name: own.obstacle.pose for name, own in robot.touches.items() if own.obstacle is not None},
        )
        self.measures = [measure for name in self.effectors for measure in measures_of(robot, name)]
        self._require_paths()
        self._speed = 1.0
        self._begin()

    def _require_effectors(self) -> None:
        effectors = self.robot.named(Role.EFFECTOR)
        for path, trajectories in self.paths.items():
            unknown = [name for name in trajectories if name not in effectors]
            if unknown:
                raise InputError(
                    f"path {path!r} is for {unknown[0]!r}, which is no effector",
                    remedy=f"choose one of: {', '.join(effectors) or 'none: this robot follows nothing'}",
                )

    def _require_paths(self) -> None:
        """Paths must give what their effectors take."""
        for path, trajectories in self.paths.items():
            for name, trajectory in trajectories.items():
                try:
                    with_position(self.robot.ports[name].port, self._home.targets[name], trajectory.position(0.0))
                except InputError as error:
                    raise InputError(f"path {path!r} of {name!r}: {error.what}", remedy=error.remedy) from error

    def _begin(self) -> None:
        """Everything as at first."""
        for name, displacement in self._home.displacements.items():
            self.robot.set_displacement(name, displacement)
        for name, pose in self._home.obstacles.items():
            self.robot.move_obstacle(name, pose[:3], pose[3:])
        self._stepping = self._new_stepping()
        self._wish, self._path_time = self._home, 0.0
        self._path: str | None = None
        self._clock, self._count, self._running = 0.0, 0, False
        self._recent: deque[float] = deque(maxlen=60)
        self.record.clear()
        self._outcome = Outcome(self.hanging, True, "LOOSE" if self._is_loose else "READY", self._told)
        self._publish()

    def _new_stepping(self) -> Stepping:
        kind = "effort" if self.feed is None else self.feed.drive.wiring.kind
        return stepping_of(self.robot, self.size, 1.0 / self.rate, kind, self._decides)

    @property
    def follows(self) -> bool:
        """Whether effectors follow targets (and efforts are decided), rather than efforts being given."""
        return isinstance(self._stepping, Following)

    @property
    def effectors(self) -> tuple[str, ...]:
        """Names of what can be given a target."""
        return self.robot.named(Role.EFFECTOR) if self.follows else ()

    def warm_up(self) -> None:
        """Make one step and forget it, so that the first real one does not wait for kernels to be compiled."""
        with self._turn, contextlib.suppress(Exception):  # what it raises, the first real step will tell
            self._new_stepping().step(self.hanging, self._home, 1.0 / self.rate)

    def start(self) -> None:
        """Step from now on, in a thread of its own."""
        with self._changed:
            super().start()
            self._publish()

    def pause(self) -> None:
        """No step from now on; waits for the one under way."""
        with self._turn, self._changed:
            super().pause()
            self._recent.clear()
            self._publish()

    def reset(self) -> None:
        """Back to where the robot hangs, targets at its effectors, loads as at first; goes on running if it did."""
        with self._turn, self._changed:
            running = self._running
            self._begin()
            self._running = running
            self._publish()
            self._changed.notify_all()

    def aim(self, name: str, target: ArrayLike) -> None:
        """Give an effector a target by hand (a `Frame`: position and quaternion wxyz); leaves the path that it followed."""
        if not _has(self._home.targets, name):
            names = ", ".join(self._home.targets) or "none"
            raise InputError(f"there is no effector {name!r}", remedy=f"choose one of: {names}")
        value = self.robot.ports[name].port.as_target(_numbers(target, f"the target of {name!r}"))
        with self._changed:
            self._path = None
            self._wish = replace(self._wish, targets={**self._wish.targets, name: value})
            self._publish()
            self._changed.notify_all()

    def load(self, name: str, effort: ArrayLike) -> None:
        """Give a load another effort [given rows], in its unit."""
        if not isinstance(name, str) or name not in self.loads:
            raise InputError(f"{name!r} is no load here", remedy=f"choose one of: {', '.join(self.loads) or 'none'}")
        given, shape = _numbers(effort, f"the effort of {name!r}"), self._home.efforts[name].shape
        if given.shape not in ((), (1,), shape) or not np.isfinite(given).all():
            raise InputError(f"effort of {name!r} is {effort}", remedy=f"give finite numbers, one or {shape[0]}")
        value = np.array(np.broadcast_to(given, shape))
        with self._changed:
            self._wish = replace(self._wish, efforts={**self._wish.efforts, name: value})
            self._publish()
            self._changed.notify_all()

    def give(self, name: str, displacement: ArrayLike) -> None:
        """Give a held port another displacement, said as a target of it."""
        if not _has(self._home.displacements, name):
            names = ", ".join(self._home.displacements) or "none"
            raise InputError(f"{name!r} has no displacement to give here", remedy=f"choose one of: {names}")
        value = self.robot.ports[name].port.as_target(_numbers(displacement, f"the displacement of {name!r}"))
        if not np.isfinite(value).all():
            raise InputError(f"displacement of {name!r} is {displacement}", remedy="give finite numbers")
        with self._changed:
            self._wish = replace(self._wish, displacements={**self._wish.displacements, name: value})
            self._publish()
            self._changed.notify_all()

    def push(self, name: str, pose: ArrayLike) -> None:
        """Put the obstacle of a touch elsewhere: position [m] and quaternion wxyz (7,); it takes its time to go there."""
        if not _has(self._home.obstacles, name):
            names = ", ".join(self._home.obstacles) or "none"
            raise InputError(f"there is no obstacle {name!r}", remedy=f"choose one of: {names}")
        value = _numbers(pose, f"the pose of {name!r}")
        if value.shape != (7,) or not np.isfinite(value).all() or np.linalg.norm(value[3:]) < 1e-9:
            raise InputError(f"pose of {name!r} is {pose}", remedy="give a position [m] and a quaternion wxyz")
        value = np.concatenate([value[:3], value[3:] / np.linalg.norm(value[3:])])
        with self._changed:
            self._wish = replace(self._wish, obstacles={**self._wish.obstacles, name: value})
            self._publish()
            self._changed.notify_all()

    def follow(self, path: str | None) -> None:
        """Follow one of the paths from its start, again and again; None: targets by hand."""
        if path is not None and not _has(self.paths, path):
            raise InputError(f"there is no path {path!r}", remedy=f"choose one of: {', '.join(self.paths) or 'none'}")
        with self._changed:
            self._path, self._path_time = path, 0.0
            self._publish()
            self._changed.notify_all()

    @property
    def speed(self) -> float:
        """How fast paths are followed, relative to their own speed."""
        return self._speed

    @speed.setter
    def speed(self, speed: float) -> None:
        self._speed = number(speed, "speed", above=0.0, most=1e6, remedy="give a positive factor")

    def advance(self) -> Snapshot:
        """One step now, in this thread; holds the last good state where it fails."""
        with self._turn:
            interval = 1.0 / self.rate
            try:
                with self._changed:
                    self._follow_path(interval)
                    before, wish = self._outcome, self._wish
                self.robot.require_unchanged(self._made_for, "page")
                outcome = self._stepping.step(before.state, wish, interval)
                fault = False
            except Exception as error:  # a page must outlive whatever a robot or a port of one's own does
                remedy = f"{type(error).__name__}: {error}; the last good state is held, press Reset"
                outcome = replace(self._outcome, ok=False, word="FAULT", remedy=remedy, active=(), times={})
                fault = True
            with self._changed:
                self._outcome, self._running = outcome, self._running and not fault
                self._count += 1
                self._clock += interval
                self._recent.append(time.perf_counter())
                snapshot = self._publish()
                self.record.add(self._clock, snapshot.errors, outcome.times)
            if self.feed is not None and outcome.ok:
                self.feed.wish(self._command(outcome.state))
            return snapshot

    def _command(self, state: State) -> Array:
        """What the drive is told: efforts or displacements of the ports that it moves."""
        read = (
            self.robot.effort
            if self.feed is None or self.feed.drive.wiring.kind == "effort"
            else self.robot.displacement
        )
        return np.concatenate(
            [read(state, name)[: self.robot.ports[name].port.given_rows] for name in commanded_ports(self.robot)]
        )

    def _follow_path(self, interval: float) -> None:
        """Move the targets of the path's effectors on by one interval."""
        if self._path is None:
            return
        targets = dict(self._wish.targets)
        for name, trajectory in self.paths[self._path].items():
            position = trajectory.position(_folded(trajectory, self._path_time))
            targets[name] = with_position(self.robot.ports[name].port, targets[name], position)
        self._wish = replace(self._wish, targets=targets)
        self._path_time += self._speed * interval

    def _publish(self) -> Snapshot:
        state = self._outcome.state
        if self._is_its_robot():
            errors = {m.label: m.of(self.robot, state, self._wish.targets[m.effector]) for m in self.measures}
        else:  # nothing can be asked any more; the next step tells why
            errors = dict(self.snapshot.errors)
        self.snapshot = Snapshot(self._outcome, self._wish, errors, self._count, self._clock, self._running, self._path)
        return self.snapshot

    def _is_its_robot(self) -> bool:
        """Whether the robot has the ports that it had when the session was made."""
        return self.robot.row_names is self._made_for

    def measured_rate(self) -> float:
        """Steps per second [Hz] of late; 0 where none was made in the last second."""
        recent = list(self._recent)
        if len(recent) < 2 or time.perf_counter() - recent[-1] > 1.0:
            return 0.0
        return (len(recent) - 1) / max(recent[-1] - recent[0], 1e-9)

    def _has_work(self) -> bool:
        return self._running and self._needs_step()

    def _needs_step(self) -> bool:
        """Whether there is anything to do: a robot in balance whose loads have not changed rests."""
        if self._stepping.always or self._count == 0 or not self._is_its_robot():
            return True
        now, ports = self._outcome.state, self.robot.ports
        return any(
            (self.robot.effort(now, name)[: len(value)] != value).any() for name, value in self._wish.efforts.items()
        ) or any((ports[name].displacement != value).any() for name, value in self._wish.displacements.items())

    def _take_turn(self) -> None:
        if self._running:
            self.advance()

    def _rest(self) -> None:
        if self.feed is not None:
            self.feed.keep(self._outcome.ok)


def checked_paths(paths: Paths | None) -> dict[str, dict[str, Trajectory]]:
    """By name, a trajectory for every effector that follows it."""
    given = {} if paths is None else paths
    if not isinstance(given, Mapping):
        raise InputError(f"paths are a {type(given).__name__}", remedy=PATHS_REMEDY)
    for name, path in given.items():
        if not isinstance(name, str) or not isinstance(path, Mapping) or not path:
            raise InputError(f"path {name!r} is {path!r}", remedy=PATHS_REMEDY)
        for effector, trajectory in path.items():
            if not isinstance(effector, str) or not isinstance(trajectory, Trajectory):
                raise InputError(f"path {name!r} of {effector!r} is a {type(trajectory).__name__}", remedy=PATHS_REMEDY)
    return {name: dict(path) for name, path in given.items()}


PATHS_REMEDY = 'give a trajectory per effector, by name: {"round": {"tip": Circle(...)}}'


def _has(known: Mapping[str, object], name: object) -> bool:
    return isinstance(name, str) and name in known


def _numbers(value: ArrayLike, what: str) -> Array:
    """Numbers that somebody gave, NaN among them too; what is none is named."""
    found = as_numbers(value)
    if found.shape == () and np.isnan(found) and not isinstance(value, float | np.floating | np.ndarray):
        raise InputError(f"{what} is {value!r}", remedy="give numbers")
    return found


def _folded(trajectory: Trajectory, time: float) -> float:
    """A time within the trajectory: round and round where it ends where it began, back and forth otherwise."""
    duration = trajectory.duration
    closed = np.allclose(trajectory.position(0.0), trajectory.position(duration), atol=1e-9)
    if closed:
        return float(time % duration)
    return float(duration - abs(duration - time % (2 * duration)))
