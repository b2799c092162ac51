"""A robot: bodies, ports in roles, gravity."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.algebra.condensed import Condensed
from pliant.body import Body
from pliant.body.body import Tangent
from pliant.checks import as_numbers
from pliant.errors import InputError, PliantError
from pliant.port import Attachment, Cable, Port
from pliant.robot.roles import Limits, LimitsLike, Role
from pliant.robot.state import State
from pliant.robot.system import System

Array = NDArray[np.float64]


class Robot:
    """Bodies with named ports, in a field of gravity.

    Ports are added by what they are for: `actuate` (a controller decides the effort), `effect` (the displacement is to follow a
    target), `impose` (the effort or the displacement is given: a load, a pressure, a pulled cable) and `sense` (looked at
    only). Adding a port after the first state has been made starts the robot anew: states made before do not fit it.

    >>> import pliant as pl
    >>> mesh = pl.make.box((0.1, 0.02, 0.02), (10, 2, 2))
    >>> body = pl.TetBody(mesh, pl.Corotational(E=300e3, nu=0.4), density=1100, fixed=mesh.where(x_below=0))
    >>> robot = pl.Robot(body, gravity=(0, 0, -9.81))
    >>> robot.impose("load", pl.Force((0.1, 0.01, 0.01), direction=(0, 0, -1)), effort=0.01)  # [N]
    >>> robot.sense("tip", pl.Point(near=(0.1, 0.01, 0.01)))
    >>> state = pl.Statics(robot).solve().require().state
    >>> (1e3 * (robot.displacement(state, "tip") - (0.1, 0.01, 0.01))).round(1)  # [mm]
    array([-0.4,  0. , -8.8])
    >>> robot.linearize(state).names
    ('load', 'tip.x', 'tip.y', 'tip.z')
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
        self.displacements: dict[str, Array] = {}
        self._attachments: dict[str, Attachment] = {}
        self._efforts: dict[str, Array] = {}

    def actuate(
        self,
        name: str,
        port: Port,
        *,
        effort: LimitsLike | None = None,
        displacement: LimitsLike | None = None,
        effort_rate: float | None = None,
        displacement_rate: float | None = None,
        body: int = 0,
    ) -> None:
        """Add an actuator: a port whose effort a controller decides.

        effort, displacement: limits (low, high) in the port's units; without, the effort is limited by what the port can do
        (a cable pulls, 0 to infinity), where one number is the upper limit. effort_rate, displacement_rate: how fast they may
        change, per second. Until a controller decides, the effort is zero, or the limit next to zero.
        """
        attachment = self._attached(name, port, body)
        limits = Limits.checked(
            name, len(port.row_names), effort, displacement, effort_rate, displacement_rate, able=port.effort_range
        )
        _require_no_inner_law(name, port)
        _check_efforts(name, attachment, limits.effort[:, 0], limits.effort[:, 1])
        self._add(name, port, attachment, Role.ACTUATOR)
        self.limits[name] = limits
        self._efforts[name] = np.clip(0.0, limits.effort[:, 0], limits.effort[:, 1])

    def effect(self, name: str, port: Port, *, weight: ArrayLike | None = None, body: int = 0) -> None:
        """Add an effector: a port whose displacement is to follow a target.

        weight: per row, how much its error counts; by default 1, and half the robot's size [m] per radian for angles, so that
        turning the robot by an angle counts like the way that its ends go.
        """
        attachment = self._attached(name, port, body, loaded=False)
        _require_no_inner_law(name, port)
        rows = len(port.row_names)
        units = port.row_units or (port.displacement_unit,) * rows
        default = np.where(np.array(units) == "rad", 0.5 * self.size, 1.0)
        weights = default if weight is None else as_numbers(weight)
        if weights.shape not in ((), (1,), (rows,)) or not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise InputError(
                f"weight of {name!r} is {weight!r}", remedy=f"give a finite weight, not negative, or {rows} of them"
            )
        self._add(name, port, attachment, Role.EFFECTOR)
        self.weights[name] = np.broadcast_to(weights, (rows,)).copy()

    @property
    def size(self) -> float:
        """The longest extent at rest, along x, y or z [m]."""
        return float(np.ptp(np.concatenate([body.rest for body in self.bodies]), axis=0).max())

    def impose(
        self,
        name: str,
        port: Port,
        effort: ArrayLike | None = None,
        *,
        displacement: ArrayLike | None = None,
        effort_limits: LimitsLike | None = None,
        body: int = 0,
    ) -> None:
        """Add a port whose effort or whose displacement is given (the forward problem): exactly one of them, one value per row
        in the port's unit.

        A given displacement (for a `Frame`: position and quaternion) is held by whatever effort it takes within
        `effort_limits` (low, high), by default what the port can do at all: a cable pulls and does not push, so it may hang
        slack. `robot.effort(state, name)` tells the effort of a state.
        """
        attachment = self._attached(name, port, body)
        if (effort is None) == (displacement is None):
            raise InputError(
                f"{name!r} has {'no' if effort is None else 'both'} effort and displacement",
                remedy="impose exactly one of effort= and displacement=",
            )
        if effort is not None:
            if effort_limits is not None:
                raise InputError(
                    f"{name!r} has an effort and limits of it", remedy="effort_limits= is for displacement="
                )
            value = _effort(name, port, effort)
            _check_efforts(name, attachment, value, value)
            self._add(name, port, attachment, Role.IMPOSED)
            self._efforts[name] = value
            return
        assert displacement is not None
        aim = _displacement(name, port, displacement)
        limits = Limits.checked(name, port.given_rows, effort_limits, able=port.effort_range)
        _check_efforts(name, attachment, limits.effort[:, 0], limits.effort[:, 1])
        self._add(name, port, attachment, Role.DRIVEN)
        self.limits[name], self.displacements[name] = limits, aim
        self._efforts[name][: port.given_rows] = np.clip(0.0, limits.effort[:, 0], limits.effort[:, 1])

    def sense(self, name: str, port: Port, *, body: int = 0) -> None:
        """Add a port that is only looked at: its effort is zero."""
        self._add(name, port, self._attached(name, port, body, loaded=False), Role.SENSOR)

    def set_effort(self, name: str, effort: ArrayLike) -> None:
        """Change the effort of an actuator or an imposed port; states made afterwards, and motions, take it over."""
        self._require_name(name)
        if self.roles[name] not in (Role.ACTUATOR, Role.IMPOSED):
            raise InputError(
                f"{name!r} is a {self.roles[name].name.lower()}, which has no effort to set",
                remedy="add it with impose(effort=) or actuate",
            )
        value = _effort(name, self.ports[name], effort)
        _check_efforts(name, self._attachments[name], value, value)
        self._efforts[name] = value

    def set_displacement(self, name: str, displacement: ArrayLike) -> None:
        """Change the displacement of a port that was imposed with one; motions and controllers take it over."""
        self._require_name(name)
        if self.roles[name] is not Role.DRIVEN:
            raise InputError(
                f"{name!r} has no displacement to set", remedy="add it with impose(name, port, displacement=...)"
            )
        self.displacements[name] = _displacement(name, self.ports[name], displacement)

    def move_pull(self, name: str, position: ArrayLike) -> None:
        """Pull a cable from another place in space [3] [m] from now on; motions and controllers take it over.

        Its displacement changes at once: delta = L_rest - L counts the length taken in from the first place.
        """
        self._require_name(name)
        port, attachment = self.ports[name], self._attachments[name]
        if not isinstance(port, Cable):
            raise InputError(f"{name!r} is a {type(port).__name__}, not a cable", remedy="choose a Cable with pull=")
        try:
            moved = port.with_pull(position)
        except InputError as error:
            raise InputError(f"port {name!r}: {error.what}", remedy=error.remedy) from error
        self.ports[name] = moved
        attachment.replace_port(moved)

    def attachment(self, name: str) -> Attachment:
        """How a port is attached to its body: the nodes that carry its points, and the port as the body sees it."""
        self._require_name(name)
        return self._attachments[name]

    def named(self, role: Role) -> tuple[str, ...]:
        """Names of the ports in a role, in the order in which they were added."""
        return tuple(name for name, own in self.roles.items() if own is role)

    def _require_name(self, name: str) -> None:
        if not isinstance(name, str) or name not in self.ports:
            raise InputError(
                f"there is no port {name!r}", remedy=f"choose one of {', '.join(self.ports) or 'none yet'}"
            )

    def _attached(self, name: str, port: Port, body: int, *, loaded: bool = True) -> Attachment:
        """A port on its body, where name, port and place are usable; nothing is recorded yet."""
        if not isinstance(name, str) or not name:
            raise InputError(f"the name of a port is {name!r}", remedy="give a text that is not empty")
        if name in self.ports:
            raise InputError(f"there is already a port {name!r}", remedy="give each port a name of its own")
        if not isinstance(port, Port):
            raise InputError(
                f"{name!r} is a {type(port).__name__}, not a port", remedy="give a pliant.port, such as Force"
            )
        if not (isinstance(body, (int, np.integer)) and 0 <= body < len(self.bodies)):
            raise InputError(
                f"port {name!r} is on body {body!r}", remedy=f"bodies are numbered 0 to {len(self.bodies) - 1}"
            )
        try:
            attachment = Attachment(port, self.bodies[body], int(self._first_nodes[body]), loaded=loaded)
            attachment.rest_port.check_place(self.bodies[body])
            return attachment
        except PliantError as error:
            raise InputError(f"port {name!r}: {error.what}", remedy=error.remedy, **error.evidence) from error

    def _add(self, name: str, port: Port, attachment: Attachment, role: Role) -> None:
        # a load on fixed nodes goes into the support, and a sensor may look at anything
        if role not in (Role.IMPOSED, Role.SENSOR) and not self._can_move(attachment):
            raise InputError(
                f"port {name!r} is on fixed nodes only (node {attachment.entry_nodes[0]} and others), where nothing can move",
                remedy="choose a place that is free to move, or sense(...) to look at it only",
                nodes=attachment.entry_nodes,
            )
        self.ports[name], self.roles[name], self._attachments[name] = port, role, attachment
        self._efforts[name] = np.zeros(len(port.row_names))
        self.__dict__.pop("system", None)

    def _can_move(self, attachment: Attachment) -> bool:
        """Whether any node of a port is neither fixed nor prescribed."""
        held = [
            first + ids
            for first, body in zip(self._first_nodes, self.bodies, strict=False)
            for ids in (body.supports.fixed, body.supports.prescribed)
        ]
        return bool(np.setdiff1d(attachment.entry_nodes, np.concatenate(held)).size)

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
        """Efforts given to all port rows, [m]; for ports with a given displacement a first guess."""
        return np.concatenate([np.empty(0), *self._efforts.values()])

    def rest(self) -> State:
        """The robot as it was made: no load, no velocity; the efforts are those imposed."""
        pose = self.system.assembly.rest()
        memory = {name: self._attachments[name].port.first_memory() for name in self.system.remembering}
        return State(pose, np.zeros_like(pose.x), self.efforts, memory=memory)

    def displacement(self, state: State, name: str) -> Array:
        """delta of one port at this state, [rows], in its unit: a position for `Point` and `Center`, a length, a volume ...;
        rotations of a `Frame` are those from rest."""
        self._require_name(name)
        self.system.require_fits(state)
        return self._attachments[name].displacement_from_rest(state.x)

    def reading(self, state: State, name: str) -> Array:
        """Where one port is, said as a target: the displacement, or for a `Frame` position and quaternion wxyz [7]."""
        self._require_name(name)
        self.system.require_fits(state)
        attachment = self._attachments[name]
        return attachment.rest_port.reading(attachment.positions(state.x))

    def effort(self, state: State, name: str) -> Array:
        """Effort of one port at this state, [rows], in its unit."""
        self._require_name(name)
        self.system.require_fits(state)
        return state.efforts[self.system.slices[name]]

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
        self.system.face(state.pose)
        _, gradient = self.system.evaluate(state.pose, state.efforts)
        return self.system.support_force(gradient)

    def linearize(self, state: State, *, tangent: Tangent = "exact", step: float | None = None) -> Condensed:
        """The condensed model of all ports at this state: statics, or one backward Euler step of `step` seconds."""
        return self.system.condense(state, tangent=tangent, step=step)


def _require_no_inner_law(name: str, port: Port) -> None:
    if port.remembers:
        raise InputError(
            f"{name!r} is a {type(port).__name__}, whose friction only forward simulation can follow",
            remedy="add it with impose(...) to a plant, and a Cable to the model that a controller decides with",
        )


def _check_efforts(name: str, attachment: Attachment, low: Array, high: Array) -> None:
    try:
        attachment.port.check_efforts(low, high)
    except InputError as error:
        raise InputError(f"port {name!r}: {error.what}", remedy=error.remedy, **error.evidence) from error


def _acceleration(gravity: ArrayLike) -> Array:
    value = as_numbers(gravity)
    if value.shape != (3,) or not np.isfinite(value).all():
        raise InputError(f"gravity is {gravity!r}", remedy="give three finite numbers [m/s^2], such as (0, 0, -9.81)")
    value.setflags(write=False)
    return value


def _effort(name: str, port: Port, effort: ArrayLike) -> Array:
    """One finite effort per row of a port that is given one; zero for the others."""
    rows = port.given_rows
    value = as_numbers(effort)
    if value.shape not in ((), (1,), (rows,)) or not np.isfinite(value).all():
        raise InputError(
            f"effort of {name!r} is {effort!r}", remedy=f"give {rows} finite value(s) [{port.effort_unit}]"
        )
    out = np.zeros(len(port.row_names))
    out[:rows] = value
    return out


def _displacement(name: str, port: Port, displacement: ArrayLike) -> Array:
    """A finite displacement, said as a target of the port."""
    try:
        value = port.as_target(displacement)
    except InputError as error:
        raise InputError(f"displacement of {name!r}: {error.what}", remedy=error.remedy) from error
    if not np.isfinite(value).all():
        raise InputError(
            f"displacement of {name!r} is {displacement}", remedy=f"give finite values [{port.displacement_unit}]"
        )
    return value
