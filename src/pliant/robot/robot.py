"""A robot: bodies, ports in roles, gravity."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.algebra.condensed import Condensed
from pliant.body import Body
from pliant.body.body import Tangent
from pliant.errors import InputError, PliantError
from pliant.port import Attachment, Port
from pliant.robot.roles import Limits, Role
from pliant.robot.state import State
from pliant.robot.system import System

Array = NDArray[np.float64]


class Robot:
    """Bodies with named ports, in a field of gravity.

    Ports are added by what they are for: `actuate` (a controller decides the effort), `effect` (the displacement is to follow a
    target), `impose` (the effort is given: a load, a pressure) and `sense` (looked at only). Adding a port after the first
    state has been made starts the robot anew: states made before do not fit it.
    """

    def __init__(self, *bodies: Body, gravity: ArrayLike = (0.0, 0.0, 0.0), threads: int = 1) -> None:
        """gravity: acceleration [m/s^2], [3], none by default; threads: for the factorization of large models."""
        if not bodies or not all(isinstance(body, Body) for body in bodies):
            raise InputError("a robot needs at least one body", remedy="give bodies such as TetBody(mesh, law)")
        self.bodies = bodies
        self._first_nodes = np.concatenate([[0], np.cumsum([body.node_count for body in bodies])]).astype(int)
        self._gravity = _acceleration(gravity)
        self.threads = threads
        self.ports: dict[str, Port] = {}
        self.roles: dict[str, Role] = {}
        self.limits: dict[str, Limits] = {}
        self.weights: dict[str, Array] = {}
        self._attachments: dict[str, Attachment] = {}
        self._efforts: dict[str, Array] = {}

    def actuate(
        self,
        name: str,
        port: Port,
        *,
        effort: ArrayLike | None = None,
        displacement: ArrayLike | None = None,
        effort_rate: float | None = None,
        displacement_rate: float | None = None,
        body: int = 0,
    ) -> None:
        """Add an actuator: a port whose effort a controller decides.

        effort, displacement: limits (low, high) in the port's units, None for none (a cable: effort=(0, ...)); effort_rate,
        displacement_rate: how fast they may change, per second. Until a controller decides, the effort is zero, or the limit
        next to zero.
        """
        _require_port(name, port)
        limits = Limits.checked(name, len(port.row_names), effort, displacement, effort_rate, displacement_rate)
        self._add(name, port, body, Role.ACTUATOR)
        self.limits[name] = limits
        self._efforts[name] = np.clip(0.0, limits.effort[:, 0], limits.effort[:, 1])

    def effect(self, name: str, port: Port, *, weight: ArrayLike = 1.0, body: int = 0) -> None:
        """Add an effector: a port whose displacement is to follow a target; weight: per row, how much its error counts."""
        _require_port(name, port)
        rows = len(port.row_names)
        weights = np.broadcast_to(np.asarray(weight, dtype=float), (rows,)).copy()
        if not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise InputError(f"weight of {name!r} is {weight}", remedy="give finite weights, not negative")
        self._add(name, port, body, Role.EFFECTOR)
        self.weights[name] = weights

    def impose(self, name: str, port: Port, effort: ArrayLike, *, body: int = 0) -> None:
        """Add a port whose effort is given, one value per row in the port's unit (the forward problem)."""
        _require_port(name, port)
        value = _effort(name, port, effort)
        self._add(name, port, body, Role.IMPOSED)
        self._efforts[name] = value

    def sense(self, name: str, port: Port, *, body: int = 0) -> None:
        """Add a port that is only looked at: its effort is zero."""
        self._add(name, port, body, Role.SENSOR)

    def set_effort(self, name: str, effort: ArrayLike) -> None:
        """Change the effort of an actuator or an imposed port; states made afterwards, and motions, take it over."""
        if name not in self.ports:
            raise InputError(
                f"there is no port {name!r}", remedy=f"choose one of {', '.join(self.ports) or 'none yet'}"
            )
        if self.roles[name] not in (Role.ACTUATOR, Role.IMPOSED):
            raise InputError(
                f"{name!r} is a {self.roles[name].name.lower()}, which has no effort",
                remedy="add it with impose or actuate",
            )
        self._efforts[name] = _effort(name, self.ports[name], effort)

    def effort(self, name: str) -> Array:
        """The effort that an actuator or an imposed port has now, one value per row in the port's unit."""
        if name not in self.ports:
            raise InputError(
                f"there is no port {name!r}", remedy=f"choose one of {', '.join(self.ports) or 'none yet'}"
            )
        return np.array(self._efforts[name])

    def attachment(self, name: str) -> Attachment:
        """How a port is attached to its body: the nodes that carry its points, and the port as the body sees it."""
        if name not in self.ports:
            raise InputError(
                f"there is no port {name!r}", remedy=f"choose one of {', '.join(self.ports) or 'none yet'}"
            )
        return self._attachments[name]

    def named(self, role: Role) -> tuple[str, ...]:
        """Names of the ports in a role, in the order in which they were added."""
        return tuple(name for name, own in self.roles.items() if own is role)

    def _add(self, name: str, port: Port, body: int, role: Role) -> None:
        if name in self.ports:
            raise InputError(f"there is already a port {name!r}", remedy="give each port a name of its own")
        _require_port(name, port)
        if not 0 <= body < len(self.bodies):
            raise InputError(
                f"port {name!r} is on body {body}", remedy=f"bodies are numbered 0 to {len(self.bodies) - 1}"
            )
        try:
            attachment = Attachment(port, self.bodies[body], int(self._first_nodes[body]))
        except PliantError as error:
            raise InputError(f"port {name!r}: {error.what}", remedy=error.remedy, **error.evidence) from error
        self.ports[name], self.roles[name], self._attachments[name] = port, role, attachment
        self._efforts[name] = np.zeros(len(port.row_names))
        self.__dict__.pop("system", None)

    def __repr__(self) -> str:
        ports = ", ".join(f"{name}: {role.name.lower()}" for name, role in self.roles.items())
        return f"Robot({', '.join(map(repr, self.bodies))}; {ports or 'no ports'})"

    @property
    def gravity(self) -> Array:
        """Acceleration [m/s^2], [3], read-only; `set_gravity` changes it."""
        return self._gravity

    def set_gravity(self, gravity: ArrayLike) -> None:
        """Change gravity [m/s^2], [3]; motions take it over from their next step on."""
        self._gravity = _acceleration(gravity)
        self.__dict__.pop("system", None)

    @cached_property
    def system(self) -> System:
        """The robot's equations, built at first use."""
        return System(self.bodies, self.gravity, self._attachments, threads=self.threads)

    @property
    def efforts(self) -> Array:
        """Efforts given to all port rows, [m]."""
        return np.concatenate([np.empty(0), *self._efforts.values()])

    def rest(self) -> State:
        """The robot as it was made: no load, no velocity; the efforts are those imposed."""
        pose = self.system.assembly.rest()
        return State(pose, np.zeros_like(pose.x), self.efforts)

    def displacement(self, state: State, name: str) -> Array:
        """delta of one port at this state, [rows], in its unit: a position for `Point` and `Center`, a length, a volume ..."""
        if name not in self.ports:
            raise InputError(
                f"there is no port {name!r}", remedy=f"choose one of {', '.join(self.ports) or 'none yet'}"
            )
        self.system.require_fits(state)
        return self._attachments[name].displacement(state.x)

    def nodes(self, state: State, body: int = 0) -> Array:
        """Node positions [m] of one body, [n, 3], as `body.fields(...)` and `body.energy(...)` take them."""
        self.system.require_fits(state)
        return state.x[self._first_nodes[body] : self._first_nodes[body + 1]]

    @property
    def prescribed_rest(self) -> Array:
        """Rest positions [m] of the prescribed nodes (on ten-node tets with middles of edges), [k, 3]: move them and hand
        them to a motion, as in `Statics(robot).solve(prescribed=robot.prescribed_rest + (0.01, 0, 0))`."""
        assembly = self.system.assembly
        return np.asarray(assembly.rest_x[assembly.prescribed])

    def reactions(self, state: State) -> Array:
        """Forces [N] that the supports exert on the nodes at an equilibrium, [n, 3]; zero at nodes that are not held.

        Sliding nodes feel the force along their normals.
        """
        self.system.require_fits(state)
        _, gradient = self.system.evaluate(state.pose, state.efforts)
        return self.system.support_force(gradient)

    def linearize(self, state: State, *, tangent: Tangent = "exact", step: float | None = None) -> Condensed:
        """The condensed model of all ports at this state: statics, or one backward Euler step of `step` seconds."""
        return self.system.condense(state, tangent=tangent, step=step)


def _require_port(name: str, port: object) -> None:
    if not isinstance(port, Port):
        raise InputError(f"{name!r} is a {type(port).__name__}, not a port", remedy="give a pliant.port, such as Force")


def _acceleration(gravity: ArrayLike) -> Array:
    value = np.array(gravity, dtype=float)
    if value.shape != (3,) or not np.isfinite(value).all():
        raise InputError(f"gravity is {gravity}", remedy="give three finite numbers [m/s^2], such as (0, 0, -9.81)")
    value.setflags(write=False)
    return value


def _effort(name: str, port: Port, effort: ArrayLike) -> Array:
    """One finite effort per row of a port."""
    rows = len(port.row_names)
    value = np.asarray(effort, dtype=float)
    if value.shape not in ((), (1,), (rows,)) or not np.isfinite(value).all():
        raise InputError(f"effort of {name!r} is {effort}", remedy=f"give {rows} finite value(s) [{port.effort_unit}]")
    return np.array(np.broadcast_to(value, (rows,)))
