"""What is to be decided: whose efforts are sought, what is wanted of whom, what is given, within which limits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.algebra.condensed import Condensed
from pliant.checks import require_kind_of
from pliant.control.correction import Correction
from pliant.errors import InputError
from pliant.robot import Robot, Role, State

Array = NDArray[np.float64]

FARTHEST = 1e6
"""Targets beyond this are no targets, in whatever unit."""


class NotANumberError(InputError):
    """A target, or an interval, that is not a usable number."""


class ModelNumbers(NamedTuple):
    """What a decision needs of a condensed model: W (m, m), delta_free (m,), the efforts (m,) that it was made with, the
    references of relative ports in a row (9 r,), and trust (n,): how far from those efforts it reaches."""

    W: Array
    delta_free: Array
    efforts: Array
    references: Array
    trust: Array


class Wanted:
    """Ports that are to be somewhere: `parts` has them by name, with which of the rows (e,) each has; rows: where those are
    among the rows of all ports; labels and turns (u,): of the targets (t,), and where quaternions begin in them.

    How targets become displacements: `sources` (e, 3) has, per row, the place in the targets, where its port's reference is
    among those of the model (-1: it has none, and the row is the target itself), and which entry of the rotation vector it is.
    """

    def __init__(self, robot: Robot, names: tuple[str, ...], references: Mapping[str, int]) -> None:
        """references: where each relative port's reference begins among all of them."""
        rows: list[int] = []
        sources: list[tuple[int, int, int]] = []
        turns: list[int] = []
        self.parts: dict[str, slice] = {}
        self.labels: tuple[str, ...] = ()
        for name in names:
            mounted, first = robot.ports[name], len(self.labels)
            port, own = mounted.attachment.port, range(mounted.rows.start, mounted.rows.stop)
            self.parts[name] = slice(len(rows), len(rows) + len(own))
            self.labels += tuple(f"{name}.{part}" if part else name for part in port.target_names)
            rows += own
            places = port.goal_places or [(k, -1) for k in range(len(own))]
            sources += [(first + place, references[name] if axis >= 0 else -1, axis) for place, axis in places]
            turns += sorted({first + place for place, axis in places if axis >= 0})
        self.rows, self.turns = np.array(rows, np.int64), np.array(turns, np.int64)
        self.sources = np.array(sources, np.int64).reshape(-1, 3)


class Question:
    """A robot's question to whoever decides, the same for `Inverse` and two rates.

    sought (n,)          rows of the actuators, whose efforts are sought
    wanted, weights (e,) where effectors are to be, and how much each of their rows counts
    given, given_limits  displacements that ports are given, and efforts (h, 2) that may hold them
    effort, course       limits (n, 2) of the sought efforts, and of the displacements that go with them
    effort_rate, displacement_rate   how fast those may change per second (n,)
    """

    def __init__(self, robot: Robot, *, touching: bool = False) -> None:
        """An InputError where the robot has no actuator or effector, or friction; touching: whoever decides knows contact."""
        self.robot, self.row_names, ports = robot, robot.row_names, robot.ports
        actuators, effectors, held = (robot.named(role) for role in (Role.ACTUATOR, Role.EFFECTOR, Role.HELD))
        if not actuators or not effectors:
            missing = "actuator" if not actuators else "effector"
            raise InputError(
                f"the robot has no {missing}", remedy="add one with robot.actuate(...) or robot.effect(...)"
            )
        if robot.remembering:
            raise InputError(
                f"{robot.remembering[0]!r} has friction, which the condensed model does not know",
                remedy="decide with a robot that has a Cable instead, and keep the friction for the plant",
            )
        soft = [name for name in held if ports[name].compliance.any()]
        if soft:
            raise InputError(
                f"{soft[0]!r} is held by springs, which decisions do not know",
                remedy="impose it without compliance=, or keep it for the plant",
            )
        if not touching:
            robot.require_untouched(
                "a controller at two rates", "decide by Inverse(robot, h=...) at one rate, which knows contact"
            )
        relative = [name for name, mounted in ports.items() if mounted.attachment.port.relative]
        self.reference_places = {name: 9 * k for k, name in enumerate(relative)}
        self.actuators, self.effectors = actuators, effectors
        self.sought = np.concatenate([np.arange(ports[name].rows.start, ports[name].rows.stop) for name in actuators])
        self.wanted = Wanted(robot, effectors, self.reference_places)
        self.weights = np.concatenate([ports[name].weight for name in effectors])
        self.given = Wanted(robot, held, self.reference_places)
        self.given_limits = np.concatenate([np.empty((0, 2)), *(ports[name].able for name in held)])
        limits = [ports[name].limits for name in actuators]
        self.effort = np.concatenate([limit.effort for limit in limits])
        self.course = np.concatenate([limit.displacement for limit in limits])
        self.effort_rate = np.concatenate([limit.effort_rate for limit in limits])
        self.displacement_rate = np.concatenate([limit.displacement_rate for limit in limits])
        models = {name: ports[name].attachment.port for name in actuators}
        self._boundless = np.full(len(self.sought), np.inf)
        self._wary = [name for name in actuators if models[name].trusted_change(ports[name].effort) is not None]

    @property
    def labels(self) -> tuple[str, ...]:
        """Names of the sought rows."""
        return tuple(self.row_names[k] for k in self.sought)

    @property
    def effector_rows(self) -> tuple[str, ...]:
        """Names of the rows of what is wanted somewhere."""
        return tuple(self.row_names[k] for k in self.wanted.rows)

    def require_current(self, what: str) -> None:
        """Raise an InputError where a port was added since; what: was made of this question."""
        self.robot.require_unchanged(self.row_names, what)

    def require_known_goals(self) -> None:
        """Raise an InputError for ports whose targets only Python understands."""
        for name in (*self.wanted.parts, *self.given.parts):
            port = self.robot.ports[name].port
            if port.goal_places is None:
                raise InputError(
                    f"{name!r} is a {type(port).__name__}, whose targets a controller at two rates does not know",
                    remedy="give the port goal_places, or use Inverse",
                )

    def require_correctable(self, correction: Correction | None) -> None:
        """Raise an InputError where the targets cannot be corrected like this, or are more than displacements."""
        if correction is None:
            return
        require_kind_of(correction, "correction", Correction)
        if len(self.wanted.turns):
            raise InputError(
                "a correction of orientations is not known", remedy="leave it out, or give the Frame rows='x y z'"
            )
        rows = self.effector_rows
        if len(correction.value) != len(rows):
            raise InputError(
                f"the correction has {len(correction.value)} rows",
                remedy=f"give Correction({len(rows)}, ...): {', '.join(rows)}",
            )

    def aims(self, targets: Mapping[str, ArrayLike]) -> dict[str, Array]:
        """The targets of all effectors as numbers, by name."""
        unknown = set(targets) - set(self.effectors)
        if unknown:
            raise InputError(
                f"there is no effector {sorted(unknown)[0]!r}", remedy=f"choose among {', '.join(self.effectors)}"
            )
        aims = {}
        for name in self.effectors:
            if name not in targets:
                raise InputError(f"effector {name!r} has no target", remedy=f"give {name}=... ")
            try:
                aims[name] = self.robot.ports[name].port.as_target(targets[name])
            except InputError as error:
                raise InputError(f"effector {name!r}: {error.what}", remedy=error.remedy) from error
        for name, aim in aims.items():
            if not all(-FARTHEST < value < FARTHEST for value in aim.tolist()):
                raise NotANumberError(
                    f"target of {name!r} is {targets[name]}", remedy="give finite numbers, quaternions of length 1"
                )
        return aims

    def goal(self, aims: Mapping[str, Array], references: Mapping[str, Array]) -> Array:
        """The displacements that targets ask of their rows, (e,), from the references of a model."""
        parts = []
        for name, aim in aims.items():
            port = self.robot.ports[name].attachment.port
            parts.append((port.measured_from(references[name]) if name in references else port).goal(aim))
        return parts[0] if len(parts) == 1 else np.concatenate([np.empty(0), *parts])

    def goal_of_given(self, references: Mapping[str, Array]) -> Array:
        """The displacements that are given, (h,), from the references of a model."""
        return self.goal({name: self.robot.ports[name].displacement for name in self.given.parts}, references)

    def take_given(self, out: Array) -> None:
        """out <- what is given now, as targets in a row."""
        at = 0
        for name in self.given.parts:
            value = self.robot.ports[name].displacement
            out[at : at + len(value)] = value
            at += len(value)

    def targets_given(self) -> Array:
        """What is given now, as targets in a row."""
        out = np.empty(len(self.given.labels))
        self.take_given(out)
        return out

    def give(self, targets: Array) -> None:
        """Give the robot's ports other displacements, all of them as targets in a row; what is no number changes nothing."""
        at = 0
        for name in self.given.parts:
            now = self.robot.ports[name].displacement
            value = targets[at : at + len(now)]
            at += len(now)
            if np.isfinite(value).all() and not np.array_equal(value, now):
                self.robot.set_displacement(name, value)

    def targets_at(self, state: State) -> Array:
        """Where the effectors are at a state, as targets (t,)."""
        return np.concatenate([self.robot.displacement(state, name, as_target=True) for name in self.effectors])

    def aims_of(self, targets: Array) -> dict[str, Array]:
        """Targets of all effectors in a row (t,), by name."""
        ports = [self.robot.ports[name].port for name in self.effectors]
        ends = np.cumsum([len(port.target_names) for port in ports])
        return dict(zip(self.effectors, np.split(targets, ends[:-1]), strict=True))

    def trust(self, efforts: Array) -> Array:
        """How far each sought effort may go from those of a model (m,), (n,): infinitely, but for ports whose model does not
        reach far."""
        if not self._wary:
            return self._boundless
        out: Array = np.full(len(efforts), np.inf)
        for name in self._wary:
            mounted = self.robot.ports[name]
            change = mounted.attachment.port.trusted_change(efforts[mounted.rows])
            if change is not None:
                out[mounted.rows] = change
        return np.asarray(out[self.sought])

    def numbers(self, model: Condensed, trust: Array | None = None) -> ModelNumbers:
        """A model as decisions take it; trust (n,): how far efforts may go from its own, where that is known."""
        references: Array = np.zeros(9 * len(self.reference_places))
        for name, place in self.reference_places.items():
            own = model.references[name].reshape(-1)
            references[place : place + len(own)] = own
        own = self.trust(model.efforts)
        reach = own if trust is None else np.minimum(own, trust)
        return ModelNumbers(model.W, model.delta_free, model.efforts, references, reach)
