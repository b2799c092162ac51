"""A simulated robot that judges a controller."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.checks import row_of_numbers, single, whole
from pliant.device.drive import Measurement
from pliant.device.sensor import Sensor
from pliant.device.wiring import Kind, Wiring, commanded_ports, measured_ports
from pliant.errors import InputError
from pliant.motion import Dynamics, Status, beginning
from pliant.port import Cable, Capstan, Port
from pliant.robot import Robot, Role, State
from pliant.robot.time_step import Scheme

Array = NDArray[np.float64]


class SimulatedPlant:
    """A robot that sees commands only: `Dynamics` with its own step, motors that need time, slack cables, friction, noise.

    Each motor follows its command with a first-order lag, dm/dt = (c - m) / settling, exactly integrated over a step.
    With kind="effort" the motor's value is the port's effort, within the limits that the robot gives it (a cable: never
    below zero). With kind="displacement" it is the displacement, held by whatever effort that takes within those limits:
    a cable goes slack.

    What is measured goes through `sensors` where they are given: an encoder has steps, a sensor of bending has hysteresis. What
    others do to the robot are `motions` of ports whose displacement is given: a hand that holds it, through a spring where the
    port was imposed with a compliance.

    The robot that is given says what there is and stays as it is. It should not be the model that the controller decides
    with: take another mesh, element order, law or modulus, and damping of its bodies (`gallery.diamond.plant` is an
    example).
    """

    def __init__(
        self,
        robot: Robot,
        h: float = 0.005,
        *,
        kind: Kind = "effort",
        settling: float = 0.01,
        friction: float = 0.0,
        noise: float | Mapping[str, float] = 0.0,
        seed: int = 0,
        commands: Sequence[str] | None = None,
        measures: Sequence[str] | None = None,
        start: ArrayLike | None = None,
        method: str = "linearized",
        scheme: Scheme = "generalized-alpha",
        contact_friction: Mapping[str, float] | None = None,
        sensors: Mapping[str, Sensor] | None = None,
        motions: Mapping[str, Callable[[float], ArrayLike]] | None = None,
    ) -> None:
        """h [s]: its time step; settling [s]: 0 for motors that are at once where they should be; friction: coefficient with
        which commanded cables rub at their bends (`Capstan`); noise: standard deviation of what is measured, in its unit,
        for all ports or by name; commands, measures: names of ports, see `Wiring.of_robot`; start [rows]: where the
        motors are first, by default no effort, or displacements that just take up the slack; method, scheme: of `Dynamics`;
        contact_friction: coefficients of its own of what the robot touches, by name; sensors: of measured ports of one row, by
        name; motions: displacements of given ports by time [s], as targets.

        It begins at rest at time zero; where nothing holds the robot, as it was made.
        """
        self.wiring = Wiring.of_robot(robot, kind, commands=commands, measures=measures)
        self._commanded = commanded_ports(robot) if commands is None else tuple(commands)
        self._measured = measured_ports(robot, self._commanded) if measures is None else tuple(measures)
        h, friction = single(h, "the time step", unit="s"), single(friction, "friction")
        settling = single(settling, "settling", unit="s")
        if not (np.isfinite(settling) and settling >= 0):
            raise InputError(f"settling is {settling} s", remedy="give a time >= 0")
        if not (np.isfinite(friction) and friction >= 0):
            raise InputError(f"friction is {friction}", remedy="give a coefficient >= 0, such as 0.1")
        for name in self._commanded:
            port = robot.ports[name].port
            if kind == "displacement" and len(port.target_names) != port.given_rows:
                raise InputError(
                    f"{name!r} is a {type(port).__name__}, whose displacement is no row of commands",
                    remedy="command it by efforts, or impose it on the robot",
                )
        self.kind = kind
        self.robot = _commanded_by(robot, self._commanded, kind, friction)
        for name, mu in (contact_friction or {}).items():
            self.robot.set_friction(name, mu)
        self._sensors, self._felt = self._rows_of(sensors or {})
        self.motions = dict(motions or {})
        """What others do: displacements of given ports by time [s]; may be changed on the way."""
        ends = np.cumsum([robot.ports[name].port.given_rows for name in self._commanded])
        self._slices = [slice(int(first), int(end)) for first, end in zip([0, *ends[:-1]], ends, strict=True)]
        self._made_of, self._made_for = robot, robot.row_names
        limits = _effort_limits(robot, self._commanded)
        unlimited: Array = np.full_like(limits[0], np.inf)
        self._low, self._high = limits if kind == "effort" else (-unlimited, unlimited)
        self._noise = _deviations(self.robot, self._measured, noise)
        self._random = np.random.default_rng(whole(seed, "seed", least=0))
        self.motion = Dynamics(self.robot, h, method=method, scheme=scheme)
        self._share = 1.0 if settling == 0 else -np.expm1(-h / settling)
        self.motors = self._first_motors(robot, start)
        """Where the motors are [rows], in the unit of commands."""
        self._set_motors()
        self.state: State = beginning(self.robot)
        self.failures = 0
        """Steps that failed and left the state as it was."""
        self.inside = 0
        """Steps after which points were inside of what the robot touches."""
        self.spent = 0.0
        """Seconds that its steps took to compute."""
        self._ticks = 0
        self._measurement = Measurement(np.zeros(len(self.wiring.measurements)))
        self._feel()

    def _rows_of(self, sensors: Mapping[str, Sensor]) -> tuple[dict[int, Sensor], tuple[str, ...]]:
        """Sensors by their rows among what is measured, and the names of their ports; their units go on the wire."""
        rows: dict[int, Sensor] = {}
        units = list(self.wiring.measurement_units)
        for name, sensor in sensors.items():
            if name not in self._measured or self.robot.ports[name].port.given_rows != 1:
                raise InputError(f"a sensor of {name!r}", remedy="give sensors to measured ports of one row")
            row = self.wiring.measurements.index(name)
            rows[row], units[row] = sensor, sensor.unit or units[row]
        self.wiring = replace(self.wiring, measurement_units=tuple(units))
        return rows, tuple(self.wiring.measurements[row] for row in rows)

    def _feel(self) -> None:
        """Every sensor takes in what is there now."""
        for sensor, name in zip(self._sensors.values(), self._felt, strict=True):
            sensor.follow(float(self.robot.displacement(self.state, name)[0]))

    @property
    def time(self) -> float:
        """Seconds since the beginning."""
        return self._ticks * self.motion.h

    def advance(self, command: Array, until: float) -> int:
        """Go on to the last whole step before `until` [s] with this command [rows]; returns the number of steps. Rows of
        the command that are not numbers leave their motors where they are."""
        self._made_of.require_unchanged(self._made_for, "plant")
        steps = max(0, int(np.floor(until / self.motion.h + 1e-9)) - self._ticks) if np.isfinite(until) else 0
        begin = time.monotonic() if steps else 0.0
        for _ in range(steps):
            aim = np.where(np.isfinite(command), command, self.motors)
            self.motors += self._share * (np.clip(aim, self._low, self._high) - self.motors)
            self._set_motors()
            for name, motion in self.motions.items():
                self.robot.set_displacement(name, motion((self._ticks + 1) * self.motion.h))
            result = self.motion.step(self.state)
            if result.ok:
                self.state = result.state
                self.inside += result.status is Status.INSIDE
            else:
                self.failures += 1
            self._ticks += 1
            self._feel()
        if steps:
            self.spent += time.monotonic() - begin
        return steps

    def measure(self) -> Measurement:
        """What the sensors say now, with noise; overwritten by the next call."""
        out = self._measurement
        out.values[:] = self.truth()
        out.values += self._noise * self._random.standard_normal(len(out.values))
        for row, sensor in self._sensors.items():
            out.values[row] = sensor.read(self._random)
        out.time = out.arrived = self.time
        out.sequence += 1
        return out

    def truth(self) -> Array:
        """What they would say if they were ideal, [rows]."""
        return _readings(self.robot, self.state, self._measured)

    def efforts(self) -> Array:
        """Efforts of the commanded rows [rows]: tensions, pressures ..."""
        return np.concatenate(
            [
                self.robot.effort(self.state, name)[: rows.stop - rows.start]
                for name, rows in zip(self._commanded, self._slices, strict=True)
            ]
        )

    def _set_motors(self) -> None:
        give = self.robot.set_effort if self.kind == "effort" else self.robot.set_displacement
        for name, rows in zip(self._commanded, self._slices, strict=True):
            give(name, self.motors[rows])

    def _first_motors(self, robot: Robot, start: ArrayLike | None) -> Array:
        rows = self._slices[-1].stop
        if start is not None:
            first = row_of_numbers(start, "start")
            if first.shape != (rows,) or not np.isfinite(first).all():
                raise InputError(f"start is {start}", remedy=f"give {rows} finite values, one per command row")
            return np.asarray(np.clip(first, self._low, self._high))
        idle: Array = np.clip(0.0, *_effort_limits(robot, self._commanded))
        if self.kind == "effort":
            return idle
        hanging = _commanded_by(robot, self._commanded, "effort", 0.0)
        return _readings(hanging, beginning(hanging), self._commanded)


def pace_in_words(plant_time: float, real_time: float, spent: float, step: float) -> str:
    """A complaint about a plant that computed most of the time and still did not keep up with the clock; nothing for one that
    did, or that was not let. All in seconds: its time, that of the clock, what it computed for, and its step."""
    if real_time < 1.0 or plant_time > 0.9 * real_time or spent < 0.6 * real_time:
        return ""
    each = 1e3 * spent * step / plant_time if plant_time > 0 else np.inf
    return (
        f"the plant cannot keep up: it went at {plant_time / real_time:.2f} of the clock's speed (a step of {1e3 * step:g} ms "
        f"took {each:.3g} ms); give it a larger step, a coarser mesh, or a core of its own"
    )


def _commanded_by(robot: Robot, commanded: Sequence[str], kind: Kind, friction: float) -> Robot:
    """The robot with the commanded ports given by a motor, and everything else that a controller does left to be looked at."""
    given = Role.IMPOSED if kind == "effort" else Role.HELD
    roles: dict[str, Role | None] = dict.fromkeys(robot.named(Role.EFFECTOR), Role.SENSOR)
    roles |= dict.fromkeys(robot.named(Role.ACTUATOR))
    roles |= dict.fromkeys(commanded, given)
    ports = {name: _with_friction(robot.ports[name].port, friction) for name in commanded}
    return robot.with_roles(roles, ports)


def _with_friction(port: Port, friction: float) -> Port:
    if friction == 0 or not isinstance(port, Cable) or isinstance(port, Capstan):
        return port
    return Capstan(port.points, port.pull, friction=friction)


def _effort_limits(robot: Robot, commanded: Sequence[str]) -> tuple[Array, Array]:
    low, high = np.concatenate([robot.ports[name].able for name in commanded]).T
    return low, high


def _readings(robot: Robot, state: State, names: Sequence[str]) -> Array:
    """Displacements of the rows that a user reads, [rows]."""
    parts = [robot.displacement(state, name)[: robot.ports[name].port.given_rows] for name in names]
    return np.concatenate([np.empty(0), *parts])


def _deviations(robot: Robot, measured: Sequence[str], noise: float | Mapping[str, float]) -> Array:
    """Standard deviation per measured row."""
    if isinstance(noise, Mapping):
        unknown = sorted(map(str, set(noise) - set(measured)))
        if unknown:
            raise InputError(f"noise of {unknown[0]!r}, which is not measured", remedy=f"choose among {list(measured)}")
    sizes = {name: single(noise.get(name, 0.0) if isinstance(noise, Mapping) else noise, "noise") for name in measured}
    out = np.concatenate([np.empty(0), *(np.full(robot.ports[name].port.given_rows, sizes[name]) for name in measured)])
    if not (np.isfinite(out).all() and (out >= 0).all()):
        raise InputError(f"noise is {noise}", remedy="give standard deviations >= 0")
    return out
