"""Runs of the ball: in closed loop with a plant that slips by Coulomb's law."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from pliant.algebra.rotation import exponential, from_quaternion, logarithm, to_quaternion
from pliant.control import Inverse, InverseStep
from pliant.device import SimulatedPlant
from pliant.gallery import ball_robot
from pliant.material import NeoHookean
from pliant.robot import Robot, Role, State
from pliant.shape import TetMesh

Array = NDArray[np.float64]

SPEED, LEAD, SETTLE = 0.020, 0.005, 20
"""Of the target [m/s]; how far it may lead [m]; steps for which it waits while the ball comes to rest."""
TRUST = 0.2
"""Share of the way to where the ball was measured that its model goes in one step."""
PLANT_SIZE, PLANT_STEP, PLANT_LAW = 0.0125, 0.010, NeoHookean(E=20e3, nu=0.45)
"""Of the plant: the edge of its tets [m], its time step [s], its law."""


@dataclass
class RigidRoll:
    """Where the effectors of a rigid ball are that rolls: after a way s the surface has turned by s / height about the axle."""

    home: Mapping[str, Array]
    ahead: Array
    height: float
    way: float = 0.0

    def target(self, robot: Robot, state: State, seconds: float) -> dict[str, Array]:
        """The targets so much later, never far ahead of where the ball is."""
        start = self.home["center"]
        gone = float((robot.displacement(state, "center") - start) @ self.ahead)
        self.way = min(self.way + SPEED * seconds, gone + LEAD)
        turn = exponential(self.way / self.height * np.cross((0.0, 0.0, 1.0), self.ahead))
        center = start + self.way * self.ahead
        return {name: center + turn @ (place - start) for name, place in self.home.items()}


@dataclass(frozen=True)
class Rolled:
    """A run: ways along the heading, ways aside and errors of the centre on the ground [s] [m], angles turned [s] [degrees] of
    the plant, the decisions, the plant at its end, and how many of its steps failed."""

    ways: Array
    aside: Array
    errors: Array
    angles: Array
    steps: Sequence[InverseStep]
    end: State
    failures: int

    @property
    def frozen(self) -> float:
        """Share of decisions in which nothing could be decided, or contacts could not stick."""
        return float(np.mean([not step.ok or "sticking" in step.relaxed for step in self.steps]))


def plant_robot(heading: float, friction: float, mesh: TetMesh | None = None) -> Robot:
    """The plant: a coarser mesh, another law, friction of its own."""
    mesh = ball_robot.shape(PLANT_SIZE) if mesh is None else mesh
    return ball_robot.build(mesh, law=PLANT_LAW, friction=friction, heading=heading)


def driven(model: Robot, inverse: Inverse, plant_of: Robot, heading: float, distance: float, longest: int) -> Rolled:
    """Roll a plant so far [m], by so many decisions at most. Each step the model goes towards the pose that was measured of the
    plant; the plant gets pressure and moduli; nothing else is shared."""
    loop = _Loop(model, inverse, plant_of)
    ahead, aside = ball_robot.directions(heading)
    axle = np.cross((0.0, 0.0, 1.0), ahead)
    names = model.named(Role.EFFECTOR)
    home = {name: model.displacement(loop.state, name) for name in names}
    for _ in range(SETTLE):
        loop.step(home)
        home = {name: model.displacement(loop.state, name) for name in names}
    ground = float(model.touches[ball_robot.TOUCH].side.at(loop.state.x).points[:, 2].min())
    roll = RigidRoll(home, ahead, float(home["center"][2]) - ground)
    start, turn, angle = loop.center, loop.turn, 0.0
    ways, sides, errors, angles, steps = [], [], [], [], []
    for _ in range(longest):
        loop.look()
        steps.append(loop.step(roll.target(model, loop.state, inverse.h or 0.0)))
        gone, now = loop.center - start, loop.turn
        angle += float(np.degrees(logarithm(now @ turn.T) @ axle))
        turn = now
        ways.append(float(gone @ ahead))
        sides.append(float(gone @ aside))
        errors.append(float(np.linalg.norm((gone - roll.way * ahead)[:2])))
        angles.append(angle)
        if ways[-1] >= distance:
            break
    return Rolled(
        np.array(ways), np.array(sides), np.array(errors), np.array(angles), steps, loop.plant.state,
        loop.plant.failures
    )  # fmt: skip


class _Loop:
    """A model that decides, and a plant that does as it is told."""

    def __init__(self, model: Robot, inverse: Inverse, plant_of: Robot) -> None:
        self._model, self._inverse, self._robot = model, inverse, plant_of
        self._names = model.named(Role.ACTUATOR)
        self.plant = SimulatedPlant(plant_of, PLANT_STEP, commands=self._names, measures=["pose"])
        self.state = model.rest()
        self._time = 0.0

    @property
    def _pose(self) -> Array:
        """What is measured of the plant, (7,)."""
        return self._robot.displacement(self.plant.state, "pose", as_target=True)

    @property
    def center(self) -> Array:
        """Of the plant (3,) [m]: for the record."""
        return self._robot.displacement(self.plant.state, "center")

    @property
    def turn(self) -> Array:
        """The rotation of the plant (3, 3)."""
        return from_quaternion(self._pose[3:])

    def look(self) -> None:
        """Put the model nearer to where the plant was measured. Its height is its own: it does not sag as the plant does, and
        pressing it into the ground would be an impact in every step."""
        own, seen = self._model.displacement(self.state, "pose", as_target=True), self._pose
        here = from_quaternion(own[3:])
        turn = exponential(TRUST * logarithm(from_quaternion(seen[3:]) @ here.T)) @ here
        place = own[:3] + TRUST * (seen[:3] - own[:3]) * (1.0, 1.0, 0.0)
        self.state = self._model.placed(self.state, "pose", np.concatenate([place, to_quaternion(turn)]))

    def step(self, targets: Mapping[str, Array]) -> InverseStep:
        """Decide and act."""
        step = self._inverse.step(self.state, **targets)  # type: ignore[arg-type]
        # contacts that cannot all stick where they did, would not in the next step either: they begin anew
        after = replace(step.state, contacts={}) if "sticking" in step.relaxed else step.state
        self.state, self._time = after, self._time + (self._inverse.h or 0.0)
        self.plant.advance(np.concatenate([step.efforts[name] for name in self._names]), self._time + 1e-9)
        return step
