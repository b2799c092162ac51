"""A robot: bodies, ports in roles, gravity."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.body import Body, Joint, Tie, jointed
from pliant.body.body import Tangent
from pliant.checks import as_numbers, number
from pliant.contact import Obstacle, Sphere, Touch
from pliant.errors import InputError, SupportError
from pliant.port import Attachment, Cable, Frame, Port
from pliant.robot.diagnosis import diagnosis
from pliant.robot.equations import AT_ONCE, Equations, Loads, Times
from pliant.robot.extra import NO_ROWS, ExtraRows
from pliant.robot.linearization import Linearization
from pliant.robot.mounted import Mounted, Ports, errors_about
from pliant.robot.places import BodyLike, Places, named_bodies, named_joints
from pliant.robot.placing import RigidMotion
from pliant.robot.roles import Limits, LimitsLike, Role
from pliant.robot.state import State
from pliant.robot.time_step import Scheme, TimeStep
from pliant.robot.touching import ContactReport, reported, touching, touching_at
from pliant.robot.wrench import Wrench, on_nodes, on_part
from pliant.shape import SurfaceMesh

Array = NDArray[np.float64]


class Robot:
    """Bodies with named ports, in a field of gravity.

    Ports are added by what they are for: `actuate` (a controller decides the effort), `effect` (the displacement is to follow a
    target), `impose` (the effort or the displacement is given: a load, a pressure, a pulled cable) and `sense` (looked at
    only). `robot.ports[name]` is what there is of one: a `Mounted`. Ports are added first: states, and what was made to control
    the robot, do not fit it any more after another one was added, and say so.

    >>> import pliant as pl
    >>> mesh = pl.make.box((0.1, 0.02, 0.02), (10, 2, 2))
    >>> body = pl.TetBody(mesh, pl.Corotational(E=300e3, nu=0.4), density=1100, fixed=mesh.where(x_below=0))
    >>> robot = pl.Robot(body, gravity=(0, 0, -9.81))
    >>> robot.impose("load", pl.Force((0.1, 0.01, 0.01), direction=(0, 0, -1)), effort=0.01)  # [N]
    >>> robot.sense("tip", pl.Point(near=(0.1, 0.01, 0.01)))
    >>> state = pl.Statics(robot).solve().require().state
    >>> (1e3 * (robot.displacement(state, "tip") - (0.1, 0.01, 0.01))).round(1)  # [mm]
    array([-0.4,  0. , -8.8])
    >>> robot.linearize(state).model.names
    ('load', 'tip.x', 'tip.y', 'tip.z')
    """

    def __init__(
        self,
        *bodies: Body | Mapping[str, Body],
        joints: Sequence[Joint | Tie] | Mapping[str, Joint | Tie] = (),
        gravity: ArrayLike = (0.0, 0.0, 0.0),
        threads: int = 1,
    ) -> None:
        """bodies: one or several, or a mapping of names to them, {"palm": ..., "finger": ...} (without: "body 0",
        "body 1" ...); joints: between them or to the ground, and ties, by name or not ("joint 0" ...); gravity: acceleration
        (3,) [m/s^2], none by default; threads: for the factorization of large models."""
        named = named_bodies(bodies)
        self.bodies, self.body_names = tuple(named.values()), tuple(named)
        self.joints = MappingProxyType(named_joints(joints))
        """Joints and ties by name."""
        self._joined = jointed(named, self.joints)
        self._places = Places(named, self.joints, self._joined.frames)
        self.set_gravity(gravity)
        self.threads = threads
        self._ports = Ports()
        self.row_names: tuple[str, ...] = ()
        """Names of all port rows, in their order: "tendon", "tip.x" ...; another tuple after every port that is added."""
        self._touches: dict[str, Touch] = {}
        self._sequence = 0

    @property
    def touches(self) -> Mapping[str, Touch]:
        """What the robot may touch, by name."""
        return MappingProxyType(self._touches)

    def touch(
        self,
        name: str,
        other: Obstacle | Body | str,
        *,
        body: str | Body | None = None,
        friction: float | None = None,
        surface: SurfaceMesh | Sphere | None = None,
        other_surface: SurfaceMesh | Sphere | None = None,
        spacing: float | None = None,
    ) -> None:
        """Let a body touch an obstacle or another body: their surfaces stay out of each other, and stick or slide by Coulomb's
        law.

        other: an obstacle, or a body of the robot, itself or by name; body: by name or itself, where there are several;
        friction: Coulomb's coefficient, by default the obstacle's, 0.5 between bodies; surface: what the body touches with, at
        rest [m]: a mesh that it carries, or of a `RigidBody` a `Sphere` (round, whatever is drawn), by default its own
        surface; other_surface: the same of the other body; spacing [m]: of the points that are looked at, by default all of
        the surface. Motions through time (`Dynamics`, `settled`, plants) and `Statics.solve` of supported robots know contact.
        """
        if not isinstance(name, str) or not name or name in self._touches:
            raise InputError(f"the name of a touch is {name!r}", remedy="give each touch a text of its own")
        self._touches[name] = touching(
            self._places, self.joined, name, other, body, friction, surface, other_surface, spacing
        )

    def move_obstacle(self, name: str, position: ArrayLike, quaternion: ArrayLike = (1.0, 0.0, 0.0, 0.0)) -> None:
        """Put the obstacle of a touch elsewhere: position (3,) [m] and quaternion wxyz of its own origin, at the end of the
        next step. What sticks to it goes along."""
        self._touches[name] = self._touch_named(name).moved(position, quaternion)

    def set_friction(self, name: str, friction: float) -> None:
        """Change Coulomb's coefficient of a touch; motions take it over from their next step on."""
        mu = number(friction, f"friction of touch {name!r}", least=0.0)
        self._touches[name] = replace(self._touch_named(name), friction=mu)

    def contacts(self, state: State, name: str, *, open_too: bool = False) -> ContactReport:
        """Where a body touches an obstacle or another body at a state, and with which forces on it; open_too: also points that
        are close without touching."""
        return reported(self._touch_named(name), state, open_too)

    def _touch_named(self, name: str) -> Touch:
        if name not in self._touches:
            raise InputError(f"there is no touch {name!r}", remedy=f"choose among {', '.join(self._touches) or 'none'}")
        return self._touches[name]

    def require_untouched(self, what: str, remedy: str) -> None:
        """Raise an InputError where the robot may touch something, for what does not know contact."""
        if self._touches:
            raise InputError(f"{what} does not know contact ({next(iter(self._touches))!r})", remedy=remedy)

    @property
    def ports(self) -> Mapping[str, Mounted]:
        """What there is of every port, by name."""
        return MappingProxyType(self._ports)

    def actuate(
        self,
        name: str,
        port: Port,
        *,
        effort: LimitsLike | None = None,
        displacement: LimitsLike | None = None,
        effort_rate: float | None = None,
        displacement_rate: float | None = None,
        body: BodyLike = None,
    ) -> None:
        """Add an actuator: a port whose effort a controller decides.

        effort, displacement: limits (low, high) in the port's units; without, the effort is limited by what the port can do
        (a cable pulls, 0 to infinity), where one number is the upper limit. effort_rate, displacement_rate: how fast they may
        change, per second. Until a controller decides, the effort is zero, or the limit next to zero. body: the one that it is
        on, by name or itself, where there are several; or one per point of the port (a cable through discs).
        """
        limits = effort, displacement, effort_rate, displacement_rate
        self._add(self._mounted(name, port, body, Role.ACTUATOR, *limits))

    def effect(self, name: str, port: Port, *, weight: ArrayLike | None = None, body: BodyLike = None) -> None:
        """Add an effector: a port whose displacement is to follow a target.

        weight: per row, how much its error counts; by default 1, and half the robot's size [m] per radian for angles, so that
        turning the robot by an angle counts like the way that its ends go.
        """
        mounted = self._mounted(name, port, body, Role.EFFECTOR)
        rows = len(port.row_names)
        default = np.where(np.array(port.displacement_units) == "rad", 0.5 * self.size, 1.0)
        weights = default if weight is None else as_numbers(weight)
        if weights.shape not in ((), (1,), (rows,)) or not (np.isfinite(weights).all() and (weights >= 0).all()):
            raise InputError(
                f"weight of {name!r} is {weight!r}", remedy=f"give a finite weight, not negative, or {rows} of them"
            )
        self._add(replace(mounted, weight=np.broadcast_to(weights, (rows,)).copy()))

    @property
    def size(self) -> float:
        """The longest extent at rest, along x, y or z [m]."""
        return float(np.ptp(np.concatenate([body.outline for body in self.bodies]), axis=0).max())

    @property
    def joined(self) -> frozenset[frozenset[str]]:
        """Pairs of names of bodies that a joint or a tie holds together."""
        return frozenset(frozenset(self.body_names[k] for k in pair) for pair in self._joined.pairs)

    def impose(
        self,
        name: str,
        port: Port,
        effort: ArrayLike | None = None,
        *,
        displacement: ArrayLike | None = None,
        effort_limits: LimitsLike | None = None,
        compliance: ArrayLike | None = None,
        body: BodyLike = None,
    ) -> None:
        """Add a port whose effort or whose displacement is given (the forward problem): exactly one of them, one value per row
        in the port's unit.

        A given displacement (for a `Frame`: position and quaternion) is held by whatever effort it takes within
        `effort_limits` (low, high), by default what the port can do at all: a cable pulls and does not push, so it may hang
        slack. `robot.effort(state, name)` tells the effort of a state. compliance: the displacement is held by springs, a hand
        or a soft mount, that give way by so much per effort, per row: delta = displacement - compliance * effort.
        """
        if (effort is None) == (displacement is None):
            raise InputError(
                f"{name!r} has {'no' if effort is None else 'both'} effort and displacement",
                remedy="impose exactly one of effort= and displacement=",
            )
        if displacement is not None:
            held = self._mounted(name, port, body, Role.HELD, effort_limits).with_displacement(displacement)
            self._add(held.with_compliance(0.0 if compliance is None else compliance))
            return
        if effort_limits is not None or compliance is not None:
            raise InputError(
                f"{name!r} has an effort and {'limits of it' if effort_limits is not None else 'a compliance'}",
                remedy="effort_limits= and compliance= are for displacement=",
            )
        assert effort is not None
        self._add(self._mounted(name, port, body, Role.IMPOSED).with_effort(effort))

    def sense(self, name: str, port: Port, *, body: BodyLike = None) -> None:
        """Add a port that is only looked at: its effort is zero."""
        self._add(self._mounted(name, port, body, Role.SENSOR))

    def set_effort(self, name: str, effort: ArrayLike) -> None:
        """Change the effort of an actuator or an imposed port; states made afterwards, and motions, take it over."""
        mounted = self._ports[name]
        if mounted.role not in (Role.ACTUATOR, Role.IMPOSED):
            raise InputError(
                f"{name!r} is a {mounted.role.name.lower()}, which has no effort to set",
                remedy="add it with impose(effort=) or actuate",
            )
        self._ports[name] = mounted.with_effort(effort)

    def set_displacement(self, name: str, displacement: ArrayLike) -> None:
        """Change the displacement of a port that was imposed with one; motions and controllers take it over."""
        mounted = self._ports[name]
        if mounted.role is not Role.HELD:
            raise InputError(
                f"{name!r} has no displacement to set", remedy="add it with impose(name, port, displacement=...)"
            )
        self._ports[name] = mounted.with_displacement(displacement)

    def set_compliance(self, name: str, compliance: ArrayLike) -> None:
        """Change how far what holds a given displacement gives way per effort (a hand that grips or lets go); motions take it
        over from their next step on."""
        mounted = self._ports[name]
        if mounted.role is not Role.HELD:
            raise InputError(
                f"{name!r} has no displacement that is held", remedy="add it with impose(name, port, displacement=...)"
            )
        self._ports[name] = mounted.with_compliance(compliance)

    def move_pull(self, name: str, position: ArrayLike) -> None:
        """Pull a cable from another place in space (3,) [m] from now on; motions and controllers take it over.

        Its displacement changes at once: delta = L_rest - L counts the length taken in from the first place.
        """
        mounted = self._ports[name]
        if not isinstance(mounted.port, Cable):
            raise InputError(
                f"{name!r} is a {type(mounted.port).__name__}, not a cable", remedy="choose a Cable with pull="
            )
        with errors_about(f"port {name!r}"):
            moved = mounted.port.with_pull(position)
        mounted.attachment.replace_port(moved)
        self._ports[name] = replace(mounted, port=moved)

    def with_roles(self, roles: Mapping[str, Role | None], ports: Mapping[str, Port] | None = None) -> Robot:
        """A robot of the same bodies and gravity whose ports named here have other roles, or other ports in their place.

        A role of None leaves the port out; ports that are not named stay as they are. A port whose effort is given from now on
        begins at none, or at the effort next to that within its limits; one whose displacement is given begins where it is
        at rest, with the same limits of its effort.
        """
        for name in (*roles, *(ports or {})):
            self._ports[name]
        bodies = dict(zip(self.body_names, self.bodies, strict=True))
        other = Robot(bodies, joints=self.joints, gravity=self.gravity, threads=self.threads)
        for name, old in self._ports.items():
            role, port = roles.get(name, old.role), (ports or {}).get(name, old.port)
            if role is not None:
                other._mount_again(old, role, port)
        other._touches = dict(self._touches)
        return other

    def _mount_again(self, old: Mounted, role: Role, port: Port) -> None:
        name, body, same = old.name, old.body, role is old.role
        if role is Role.IMPOSED:
            effort = old.effort[: len(old.able)] if same else np.clip(0.0, *old.able.T)
            self.impose(name, port, effort=effort, body=body)
        elif role is Role.HELD:
            own = old.attachment.port
            aim = old.displacement if same else own.reading(own.points)[: len(own.target_names)]
            give = old.compliance if same else None
            self.impose(name, port, displacement=aim, effort_limits=old.able, compliance=give, body=body)
        elif role is Role.ACTUATOR:
            self.actuate(name, port, effort=old.limits.effort, body=body)
            self._ports[name] = replace(self._ports[name], limits=old.limits, effort=old.effort)
        elif role is Role.EFFECTOR:
            self.effect(name, port, weight=old.weight if same else None, body=body)
        else:
            self.sense(name, port, body=body)

    def named(self, role: Role) -> tuple[str, ...]:
        """Names of the ports in a role, in the order in which they were added."""
        return tuple(name for name, mounted in self._ports.items() if mounted.role is role)

    def _mounted(self, name: str, port: Port, body: BodyLike, role: Role, *limits: Any) -> Mounted:
        """A record of a port on its body, where name, port, place and limits are usable; nothing is added yet."""
        if not isinstance(name, str) or not name:
            raise InputError(f"the name of a port is {name!r}", remedy="give a text that is not empty")
        if name in self._ports:
            raise InputError(f"there is already a port {name!r}", remedy="give each port a name of its own")
        if not isinstance(port, Port):
            raise InputError(
                f"{name!r} is a {type(port).__name__}, not a port", remedy="give a pliant.port, such as Force"
            )
        if port.remembers and role in (Role.ACTUATOR, Role.EFFECTOR):
            raise InputError(
                f"{name!r} is a {type(port).__name__}, whose friction only forward simulation can follow",
                remedy="add it with impose(...) to a plant, and a Cable to the model that a controller decides with",
            )
        if port.sensed_only and role is not Role.SENSOR:
            raise InputError(f"{name!r} is a {type(port).__name__}, a sensor", remedy="add it with sense(...)")
        if port.load_only and role not in (Role.IMPOSED, Role.SENSOR):
            raise InputError(
                f"{name!r} is a {type(port).__name__}, whose displacement is no function of the pose",
                remedy="impose its effort, or take a Hinge or a Frame",
            )
        place = self._places.of(port, body, f"port {name!r}")
        bounds = Limits.checked(name, port.given_rows, *limits, able=port.effort_range)
        effort = np.zeros(len(port.row_names))
        with errors_about(f"port {name!r}"):
            loaded = role not in (Role.EFFECTOR, Role.SENSOR)
            attachment = Attachment(place.port, place.body, place.first_node, loaded=loaded)
            attachment.port.check_place(place.body)
            if role in (Role.ACTUATOR, Role.HELD):
                attachment.port.check_efforts(*bounds.effort.T)
                effort[: port.given_rows] = np.clip(0.0, *bounds.effort.T)
        rows = slice(len(self.row_names), len(self.row_names) + len(effort))
        return Mounted(name, port, attachment, place.name, role, rows, effort, bounds)

    def _add(self, mounted: Mounted) -> None:
        nodes, fixed = mounted.attachment.entry_nodes, self._fixed_nodes
        # a load on fixed nodes goes into the support, and a sensor may look at anything
        if mounted.role not in (Role.IMPOSED, Role.SENSOR) and np.isin(nodes, fixed).all():
            raise InputError(
                f"port {mounted.name!r} is on fixed nodes only (node {nodes[0]} and others), where nothing can move",
                remedy="choose a place that is free to move, or sense(...) to look at it only",
                nodes=nodes,
            )
        self._ports[mounted.name] = mounted
        self.row_names = (*self.row_names, *mounted.labels)
        self.__dict__.pop("equations", None)

    @cached_property
    def _fixed_nodes(self) -> NDArray[np.int64]:
        """Nodes that no coordinate moves."""
        supports = zip(self._places.first_nodes, (body.supports for body in self.bodies), strict=False)
        own = [first + np.concatenate([one.fixed, one.prescribed]) for first, one in supports]
        return np.concatenate([*own, self._joined.held])

    def require_unchanged(self, row_names: tuple[str, ...], what: str) -> None:
        """Raise an InputError where a port was added since `row_names` was looked up, for what was made then."""
        if row_names is not self.row_names:
            added = [name for name in self.row_names if name not in row_names]
            raise InputError(
                f"{added[0] if added else 'a port'!r} was added to the robot after the {what} was made",
                remedy=f"add all ports first, then make the {what}",
            )

    def __repr__(self) -> str:
        ports = ", ".join(f"{name}: {mounted.role.name.lower()}" for name, mounted in self._ports.items())
        return f"Robot({', '.join(map(repr, self.bodies))}; {ports or 'no ports'})"

    @property
    def gravity(self) -> Array:
        """Acceleration [m/s^2], [3], read-only; `set_gravity` changes it."""
        return self._gravity

    def set_gravity(self, gravity: ArrayLike) -> None:
        """Change gravity (3,) [m/s^2]; motions take it over from their next step on."""
        value = as_numbers(gravity)
        if value.shape != (3,) or not np.isfinite(value).all():
            raise InputError(
                f"gravity is {gravity!r}", remedy="give three finite numbers [m/s^2], such as (0, 0, -9.81)"
            )
        value.setflags(write=False)
        self._gravity = value

    @cached_property
    def equations(self) -> Equations:
        """The robot's equations, made at first use; for what moves robots (`pliant.motion`)."""
        return Equations(self.bodies, self._ports, self.threads, self._joined)

    @property
    def is_supported(self) -> bool:
        """Whether supports hold every part of it, which statics needs; without, it moves through time (`settled`)."""
        try:
            self.equations.assembly.require_supported()
        except SupportError:
            return False
        return True

    @property
    def efforts(self) -> Array:
        """Efforts given to all port rows, (m,); for ports with a given displacement a first guess."""
        return np.concatenate([np.empty(0), *(mounted.effort for mounted in self._ports.values())])

    def loads(self, efforts: Array, *, extra: ExtraRows = NO_ROWS, weight: float = 1.0) -> Loads:
        """These efforts (m + k,) and a share of gravity, as equations take them."""
        return Loads(efforts, weight * self._gravity, extra)

    @property
    def remembering(self) -> tuple[str, ...]:
        """Names of the ports that remember (friction), and whose efforts therefore follow a law of their own."""
        return tuple(name for name, own in self._ports.items() if own.port.remembers and own.attachment.loaded)

    def rest(self) -> State:
        """The robot as it was made: no load, no velocity; the efforts are those imposed."""
        pose = self.equations.assembly.rest()
        memory = {name: self._ports[name].attachment.port.first_memory() for name in self.remembering}
        return State(pose, np.zeros_like(pose.x), self.efforts, memory=memory)

    def require_fits(self, state: State, extra: ExtraRows = NO_ROWS) -> None:
        """Raise an InputError unless the state is one of this robot, as it is now, and extra rows are on nodes that it has."""
        assembly = self.equations.assembly
        remedy = "make the state with robot.rest() after all ports have been added"
        nodes, rigid = (assembly.node_count, 3), len(assembly.parts.parts)
        shapes = (state.x.shape, state.v.shape, state.efforts.shape, state.pose.centers.shape)
        if shapes != (nodes, nodes, (len(self.row_names),), (rigid, 3)):
            raise InputError(
                f"the state has {len(state.x)} nodes, {len(state.efforts)} port rows, {len(state.pose.centers)} rigid parts",
                remedy=f"this robot has {nodes[0]}, {len(self.row_names)} and {rigid}: {remedy}",
            )
        known = {name: part.shape for name, part in state.memory.items()}
        if known != {name: self._ports[name].attachment.port.first_memory().shape for name in self.remembering}:
            raise InputError(
                f"the state has a memory of {', '.join(map(repr, known)) or 'no port'}",
                remedy=f"this robot's ports that remember are {', '.join(map(repr, self.remembering)) or 'none'}: {remedy}",
            )
        extra.require_nodes(assembly.node_count)

    def displacement(self, state: State, name: str, *, as_target: bool = False) -> Array:
        """delta of one port at this state, (rows,), in its unit: a position for `Point` and `Center`, a length, a volume ...;
        rotations of a `Frame` are those from rest. as_target: as a target of the port, for a `Frame` position and
        quaternion wxyz (7,)."""
        attachment = self._ports[name].attachment
        self.require_fits(state)
        placed = attachment.at(state.x)
        return attachment.port.reading(placed.p) if as_target else placed.displacement

    def shortfall(self, state: State, name: str, target: Array) -> Array:
        """delta of one port at this state minus the one that a target asks for, (rows,); rotations are those from here."""
        attachment = self._ports[name].attachment
        self.require_fits(state)
        return attachment.faced(state.x).shortfall(target)

    def effort(self, state: State, name: str) -> Array:
        """Effort of one port at this state, (rows,), in its unit."""
        rows = self._ports[name].rows
        self.require_fits(state)
        return state.efforts[rows]

    def nodes_of(self, body: str | Body | None = None) -> slice:
        """Which nodes of a state belong to a body; by name or itself, where there are several."""
        number = self._places.number(body, "what is asked")
        return slice(int(self._places.first_nodes[number]), int(self._places.first_nodes[number + 1]))

    def nodes(self, state: State, body: str | Body | None = None) -> Array:
        """Node positions [m] of one body, (n, 3), as `body.fields(...)` and `body.energy(...)` take them."""
        self.require_fits(state)
        return state.x[self.nodes_of(body)]

    @property
    def prescribed_rest(self) -> Array:
        """Rest positions [m] of the prescribed nodes (on ten-node tets with middles of edges), (k, 3): move them and hand
        them to a motion, as in `Statics(robot).solve(prescribed=robot.prescribed_rest + (0.01, 0, 0))`."""
        assembly = self.equations.assembly
        return np.asarray(assembly.rest_x[assembly.prescribed])

    def placed(self, state: State, frame: str, reading: ArrayLike) -> State:
        """The state moved rigidly to where a `Frame` was measured: position [m] and quaternion wxyz (7,).

        Nodes, velocities, the past and contacts go along, and what sticks to an obstacle sticks to it where it is then. For
        robots that nothing holds: supports stay where they are.
        """
        port = self._ports[frame].port
        if not isinstance(port, Frame):
            raise InputError(f"{frame!r} is a {type(port).__name__}", remedy="give the name of a Frame of the robot")
        assembly = self.equations.assembly
        if len(assembly.sliding) or assembly.held.any():
            raise InputError("supports hold the robot where it is", remedy="only a robot without them can be placed")
        measured = as_numbers(reading)
        if measured.shape != (7,) or not np.isfinite(measured).all() or np.linalg.norm(measured[3:]) < 1e-9:
            raise InputError(
                f"the reading of {frame!r} is {reading!r}", remedy="give a position [m] and a quaternion wxyz (7,)"
            )
        motion = RigidMotion.between(self.displacement(state, frame, as_target=True), measured)
        return motion.state(state, self._touches)

    def _loads_at(self, state: State) -> Loads:
        """All that acts on the robot at a state, what it touches included."""
        rows, forces = touching_at(self._touches, state)
        return self.loads(np.concatenate([state.efforts, forces]), extra=rows)

    def unbalanced(self, state: State) -> float:
        """The largest force out of balance at this state over the largest load on a node."""
        self.require_fits(state)
        equations = self.equations
        here = equations.evaluate(state.pose, self._loads_at(state))
        force = equations.assembly.force_on_coordinates(equations.assembly.slope(state.pose), here.gradient)
        return equations.unbalanced(force, here)

    def reactions(self, state: State) -> Array:
        """Forces [N] that the supports exert on the nodes at an equilibrium, (n, 3): none at nodes that are free or in rigid
        parts, along their normals at sliding ones."""
        self.require_fits(state)
        assembly = self.equations.assembly
        gradient = self.equations.evaluate(state.pose, self._loads_at(state)).gradient
        out = np.where(assembly.held[:, None], gradient, 0.0)
        own, N = gradient[assembly.sliding], assembly.sliding_bases
        out[assembly.sliding] = own - np.einsum("kij,klj,kl->ki", N, N, own)
        return out

    def wrench(self, state: State, name: str) -> Wrench:
        """The force [N] and moment [N m] that a joint or a clamp holds with at an equilibrium.

        On part a of the joint of this name, about its point, its spring and its motor counted; on what is welded to the ground;
        or on the fixed nodes of the body of this name: these about the middle of their nodes.
        """
        self.require_fits(state)
        assembly, (part, side) = self.equations.assembly, self._joined.joints.get(name, (-1, 0))
        if side:
            gradient = self.equations.evaluate(state.pose, self._loads_at(state)).gradient
            gradient[self._places.frames_of(name)] = (
                0.0  # a spring or a motor in the joint is part of what it holds with
            )
            found = on_part(assembly, state.pose, gradient, part)
            return found if side > 0 else -found
        if name in self.joints and name not in self._joined.clamps:
            raise InputError(
                f"{name!r} makes one part of two, which holds itself", remedy="ask a joint that moves, or a fixed body"
            )
        held = self._joined.clamps[name] if name in self.joints else self._held_nodes_of(name)
        if not len(held):
            raise InputError(f"no node of {name!r} is fixed", remedy="ask a fixed body, or a joint")
        return on_nodes(state.x[held], self.reactions(state)[held])

    def _held_nodes_of(self, body: str) -> NDArray[np.int64]:
        own = self.nodes_of(body)
        return np.asarray(own.start + np.flatnonzero(self.equations.assembly.held[own]))

    def linearize(
        self,
        state: State,
        *,
        tangent: Tangent = "exact",
        signed: bool = False,
        h: float | None = None,
        scheme: Scheme = "generalized-alpha",
        extra: ExtraRows = NO_ROWS,
    ) -> Linearization:
        """The robot linearized at this state: in statics, or over one step of h seconds by a scheme (`TimeStep`; from a state
        without a past that is backward Euler).

        Where the exact tangent is not positive definite (past buckling and limit points) the warped one stands in for it, and
        the model says so (`positive_definite`); signed: it is taken as it is, W is indefinite, and the model tells how many
        eigenvalues are negative (`negatives`). extra: rows beside those of the ports; their efforts are those of the state
        where it has as many, else none.
        """
        self.require_fits(state, extra)
        self.equations.unloaded  # noqa: B018 - analysed and factorized once before the clock starts
        times = Times()
        loads = self.loads(state.efforts_with(len(extra)), extra=extra)
        step = None if h is None else TimeStep.of(state, h, scheme)
        pose, chart = (state.pose, None) if step is None else self.equations.begun(state, step)
        found = self.equations.factor(
            pose,
            loads,
            tangent=tangent,
            shares=AT_ONCE,
            signed=signed,
            step=step,
            chart=chart,
            times=times,
            pushed=True,
        )
        if not (found.report.ok or (signed and found.report.usable)):
            raise diagnosis(found)
        self._sequence += 1
        return Linearization(state, found, self.row_names, self._sequence, times)
