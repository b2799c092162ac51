"""Runs of three fingertips: a soft beam is held, moved and bent; a rigid box is lifted and held."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pliant.control import Inverse, InverseStep
from pliant.errors import InputError
from pliant.gallery.exhibit import Choices, Exhibit, Showing, require_only
from pliant.gallery.fingers_robot import FRICTION, STEP, TIPS, build, inverse, targets_at
from pliant.robot import Robot, State
from pliant.view import Figure, Page, draw_bodies
from pliant.view.figures import bounded

Array = NDArray[np.float64]

LIFT, AWAY, BEND = 0.010, 0.005, 0.001
"""Of the beam [m]: how far it is lifted, moved aside, and bent besides."""
BEAM_TIME, BOX_LIFT, BOX_UP, BOX_HOLD = 4.0, 0.020, 1.5, 5.0
"""For how long the beam is moved [s]; how far the box is lifted [m], in which time, and for how long it is held [s]."""


@dataclass(frozen=True)
class Held:
    """A run: errors of what is controlled [s] [m], how far the thing has risen [s] [m], the largest friction over normal force
    of any contact [s], the decisions, and states now and then."""

    errors: Array
    risen: Array
    ratios: Array
    steps: Sequence[InverseStep]
    states: Sequence[State]

    @property
    def dropped(self) -> float:
        """Share of steps in which a limit was dropped."""
        return float(np.mean([bool(step.relaxed) for step in self.steps]))


Targets = Callable[[float], dict[str, Array]]


def held(robot: Robot, decide: Inverse, state: State, targets: Targets, steps: int) -> Held:
    """So many steps along targets, a function of the time [s] since the state."""
    name, errors, risen, ratios, done, states = robot.body_names[0], [], [], [], [], [state]
    own = robot.nodes_of(name)
    height = float(state.x[own, 2].mean())
    for k in range(1, steps + 1):
        step = decide.step(state, **targets(k * STEP))  # type: ignore[arg-type]
        if not step.ok:
            break
        state = step.state
        aims = targets(k * STEP)
        errors.append(max(float(np.linalg.norm(robot.shortfall(state, key, aim)[:3])) for key, aim in aims.items()))
        risen.append(float(state.x[own, 2].mean()) - height)
        ratios.append(max((_ratio(robot, state, tip) for tip in TIPS), default=0.0))
        done.append(step)
        if k % 10 == 0:
            states.append(state)
    return Held(np.array(errors), np.array(risen), np.array(ratios), done, [*states, state])


def _ratio(robot: Robot, state: State, tip: str) -> float:
    found = robot.contacts(state, tip)
    if not len(found):
        return 0.0
    return float((np.linalg.norm(found.friction_forces, axis=1) / found.normal_forces).max())


def gripped(robot: Robot, decide: Inverse, steps: int = 60) -> State:
    """The thing held where it was put."""
    state = robot.rest()
    home = targets_at(robot, state)
    for _ in range(steps):
        state = decide.step(state, **home).require().state  # type: ignore[arg-type]
    return state


def beam_targets(robot: Robot, state: State) -> Targets:
    """From where the beam is held: up, aside and bent more, by shapes that the tips can give it."""
    home = targets_at(robot, state)
    sag = home["middle"] - 0.5 * (home["left end"] + home["right end"])
    side = np.sign(sag[1])

    def targets(time: float) -> dict[str, Array]:
        turn = 2 * np.pi * time / BEAM_TIME
        way = np.array([0.0, AWAY * np.sin(turn), LIFT * 0.5 * (1.0 - np.cos(turn))])
        bend = side * BEND * 0.5 * (1.0 - np.cos(turn))
        shares = {"left end": -1 / 3, "middle": 2 / 3, "right end": -1 / 3}
        return {name: home[name] + way + np.array([0.0, share * bend, 0.0]) for name, share in shares.items()}

    return targets


def box_targets(robot: Robot, state: State) -> Targets:
    """From where the box is held: straight up, and held there."""
    home = targets_at(robot, state)["box"]

    def targets(time: float) -> dict[str, Array]:
        rise = BOX_LIFT * 0.5 * (1.0 - np.cos(np.pi * min(time / BOX_UP, 1.0)))
        return {"box": home + np.array([0.0, 0.0, rise, 0.0, 0.0, 0.0, 0.0])}

    return targets


class Fingers(Exhibit):
    """See `Exhibit`. What is held is said by --body: "beam" or "box"."""

    title = "three fingertips hold a soft beam or a rigid box"

    def show(self, choices: Choices) -> Showing:
        """See `Exhibit`."""
        name = self._thing(choices)
        robot = build(name)
        decide = inverse(robot)
        state = gripped(robot, decide)
        if name == "beam":
            run = held(robot, decide, state, beam_targets(robot, state), round(BEAM_TIME / STEP))
        else:
            run = held(robot, decide, state, box_targets(robot, state), round((BOX_UP + BOX_HOLD) / STEP))
        figures = [
            Figure(f"fingers.{name}_steps", len(run.steps), "steps"),
            bounded(f"robosoft.fingers_{'error' if name == 'beam' else 'box_error'}_mm", 1e3 * float(run.errors.max()),
                    "mm", 0.6, "lower", "bound"),
            bounded(f"fingers.{name}_friction_over_normal", float(run.ratios.max()), "", FRICTION + 1e-6, "lower", "friction"),
            Figure(f"fingers.{name}_dropped_limits", run.dropped, "of steps", better="lower"),
            Figure(f"fingers.{name}_decide", 1e3 * float(np.median([s.times["decide"] for s in run.steps])), "ms"),
        ]  # fmt: skip
        if name == "box":
            least = float(run.risen[round(BOX_UP / STEP) :].min())
            figures.append(Figure("fingers.box_risen", 1e3 * least, "mm", 1e3 * BOX_LIFT, "target, while it is held"))

        def draw(path: Path) -> None:
            at = len(run.states) // 2
            draw_bodies(robot, run.states[at], path, title=self.title, view=(55, -75))

        return Showing(tuple(figures), draw)

    def page(self, choices: Choices) -> Page:
        """See `Exhibit`: drag the points of the beam, or the box."""
        robot = build(self._thing(choices))
        state = gripped(robot, inverse(robot))
        return Page(robot, rate=1.0 / STEP, title=self.title, begin=state, decides=inverse)

    def _thing(self, choices: Choices) -> str:
        require_only(choices, "what three fingertips hold", "body")
        name = "beam" if choices.body is None else choices.body
        if name not in ("beam", "box"):
            raise InputError(f"there is no {name!r} to hold", remedy="choose among beam, box")
        return name


EXHIBIT = Fingers()
