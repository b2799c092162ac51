"""The gripper picks things up: a rigid box and a soft ball, held by friction alone.

The thing stands on the floor between the pads of the `gripper`. Its closing tendons are pulled, the palm is lifted by 50 mm and
stays there; then the tendons are let go slowly until the thing slips. Two upright pads hold a weight W by friction as long as
the normal forces on them add up to

    N >= W / mu,

so what they add up to when it slips is the weight over the coefficient, but for pads that are not quite upright.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from pliant.body import Body, RigidBody, TetBody
from pliant.contact import Plane
from pliant.device import Recorder, contact_channel, contact_record
from pliant.errors import InputError
from pliant.gallery import gripper
from pliant.gallery.exhibit import Choices, Exhibit, Showing, require_only
from pliant.gallery.gripper import GRASP, SIDES
from pliant.material import Corotational
from pliant.motion import Dynamics
from pliant.robot import Robot, Role, State
from pliant.shape import make, solids
from pliant.view import Figure, Page, draw_bodies

THINGS = ("box", "ball")
SIZE = 0.040
"""Of the thing: edge of the box, diameter of the ball [m]."""
BOX_DENSITY, BALL_DENSITY = 700.0, 1070.0
"""[kg/m^3]"""
BALL_LAW = Corotational(E=80e3, nu=0.4)
FRICTION, SLIPPERY, ON_FLOOR = 0.6, 0.05, 0.5
"""Coulomb's coefficients: of the pads, of pads that do not hold, of the floor."""
TENSION, LIFT = 4.0, 0.050
"""Of the closing tendons [N], and how far the palm is lifted [m]."""
CLOSED, LIFTED, HELD, LET_GO = 1.0, 2.2, 7.2, 10.2
"""Times at which each act ends [s]."""
STEP, DAMPING = 0.010, (1.0, 0.002)
"""Time step [s]; damping of pads and leaves by mass [1/s] and by stiffness [s]."""
SLIPS = 0.99
"""The thing slips when the pads carry less than this share of its weight."""


def thing(name: str) -> Body:
    """What is grasped, where it stands at first."""
    if name == "box":
        return RigidBody(solids.box((SIZE,) * 3, at=np.array(GRASP) - 0.5 * SIZE), BOX_DENSITY, damping=DAMPING[0])
    if name == "ball":
        mesh = make.sphere(0.5 * SIZE, 0.007, center=GRASP)
        return TetBody(mesh, BALL_LAW, density=BALL_DENSITY, damping=(DAMPING[0], 2 * DAMPING[1]))
    raise InputError(f"there is no {name!r} to grasp", remedy=f"choose among {', '.join(THINGS)}")


def build(name: str = "box", friction: float = FRICTION) -> Robot:
    """The gripper with a thing on the floor: its tendons are pulled by given forces, its palm goes where it is told. Touches:
    "left", "right" (the thing on the pads) and "floor"."""
    robot = gripper.build(lifted=True, damping=DAMPING, beside={"thing": thing(name)})
    robot = robot.with_roles(dict.fromkeys(gripper.TENDONS, Role.IMPOSED) | dict.fromkeys(SIDES))
    for side in SIDES:
        robot.touch(side, f"{side}_pad", body="thing", friction=friction)
    robot.touch("floor", Plane(offset=GRASP[2] - 0.5 * SIZE, friction=ON_FLOOR), body="thing")
    return robot


@dataclass(frozen=True)
class Moment:
    """A step of a run: the state, how far the palm and the thing have risen [m], the sum of the normal forces of both pads and
    what they carry [N]."""

    state: State
    palm: float
    rise: float
    grip: float
    carried: float

    @property
    def sunk(self) -> float:
        """How far the thing is behind the palm [m]."""
        return self.palm - self.rise


def acted(robot: Robot, until: float = LET_GO, step: float = STEP) -> Iterator[Moment]:
    """Close, lift, hold, let go slowly; to the time `until` [s]."""
    motion, state, own = Dynamics(robot, step), robot.rest(), robot.nodes_of("thing")
    start = state.x[own, 2].mean()
    for k in range(1, round(until / step) + 1):
        tension, palm = plan(k * step)
        for side in SIDES:
            robot.set_effort(f"{side}_close", tension)
        robot.set_displacement("height", palm)
        state = motion.step(state).require().state
        pads = [robot.contacts(state, side) for side in SIDES]
        grip = float(sum(pad.normal_forces.sum() for pad in pads))
        carried = float(sum(pad.force[2] for pad in pads))
        yield Moment(state, palm, float(state.x[own, 2].mean() - start), grip, carried)


def plan(time: float) -> tuple[float, float]:
    """Tension of the closing tendons [N] and height of the palm [m] at a time [s]."""
    pulled = min(time / CLOSED, 1.0) - np.clip((time - HELD) / (LET_GO - HELD), 0.0, 1.0)
    way = np.clip((time - CLOSED - 0.2) / (LIFTED - CLOSED - 0.2), 0.0, 1.0)
    return float(TENSION * pulled), float(LIFT * 0.5 * (1.0 - np.cos(np.pi * way)))


def weight(robot: Robot) -> float:
    """Of the thing [N]."""
    return 9.81 * float(robot.bodies[robot.body_names.index("thing")].load_masses.sum())


@dataclass(frozen=True)
class Grasped:
    """What a run gives: the last state in which the thing is held, how far it has risen at the end of holding and sunk against
    the palm at most while it is held [m], the grip while it is held and when it slips [N], the weight [N]."""

    state: State
    risen: float
    sunk: float
    grip: float
    grip_at_slip: float
    weight: float


def grasped(robot: Robot, watch: Callable[[State], object] = lambda state: None) -> Grasped:
    """The whole run, to where the thing slips; watch: called with every state."""
    held: list[Moment] = []
    at_slip, load = np.nan, weight(robot)
    for moment in acted(robot):
        watch(moment.state)
        if LIFTED <= moment.state.time <= HELD:
            held.append(moment)
        elif moment.state.time > HELD and moment.carried < SLIPS * load:
            at_slip = moment.grip
            break
    last, sunk = held[-1], max(moment.sunk for moment in held)
    return Grasped(last.state, last.rise, sunk, last.grip, at_slip, load)


class Grasp(Exhibit):
    """See `Exhibit`."""

    title = "a gripper picks up a box or a ball"
    records = True

    def show(self, choices: Choices) -> Showing:
        """See `Exhibit`."""
        name = self._thing(choices)
        robot = build(name)
        run = _recorded(robot, choices.record) if choices.record is not None else grasped(robot)
        slippery = build(name, SLIPPERY)
        *_, end = acted(slippery, LIFTED)
        figures = (
            Figure(f"grasp.{name}_risen", 1e3 * run.risen, "mm", 1e3 * LIFT, "height of the palm"),
            Figure(f"grasp.{name}_sunk", 1e3 * run.sunk, "mm"),
            Figure(f"grasp.{name}_grip", run.grip, "N"),
            Figure(f"grasp.{name}_grip_at_slip", run.grip_at_slip, "N", run.weight / FRICTION, "weight over friction"),
            Figure(
                f"grasp.{name}_risen_slippery", 1e3 * end.rise, "mm", 0.0, f"friction {SLIPPERY:g} does not hold it"
            ),
        )

        def draw(path: Path) -> None:
            draw_bodies(robot, run.state, path, title=self.title)

        return Showing(figures, draw)

    def page(self, choices: Choices) -> Page:
        """See `Exhibit`. The thing is held when it opens; lift it with the height, drop it with the tendons."""
        robot = build(self._thing(choices))
        *_, closed = acted(robot, CLOSED)
        loads = {f"{side}_close": (0.0, 2 * TENSION) for side in SIDES}
        return Page(robot, rate=1.0 / STEP, title=self.title, begin=closed.state, loads=loads)

    def _thing(self, choices: Choices) -> str:
        require_only(choices, "a gripper that grasps", "body", "record")
        return "box" if choices.body is None else choices.body


def _recorded(robot: Robot, file: Path) -> Grasped:
    """The run, with the resultants of all touches in a recording."""
    channel = contact_channel(robot)
    with Recorder(file, [channel], origin=0.0, about={"robot": "grasp"}) as recorder:
        ring = recorder.ring(channel.name)
        return grasped(robot, lambda state: ring.push(contact_record(channel, robot, state)))


EXHIBIT = Grasp()
