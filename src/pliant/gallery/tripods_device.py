"""The haptic device `tripods` as it would stand on a desk: simulated, with sensors that are not ideal, and a hand.

It is not the model that anybody decides by: one half more elements, rods that are 5 % stiffer and damped, motors that are
within 2 % after 22 ms. Its motors have encoders, its rods strips that feel how much they bend; each strip sits a little
elsewhere, and feels its rod a little unevenly along its length. A controller is told angles of the rods' ends (encoder steps)
and counts of an ADC, nothing else; what a camera would see of the handle is there for whoever judges.

A hand holds the handle through a spring, or rigidly (the arm of the paper); it leaves the turn about y to itself. The paper
gives neither the hand nor how the strips fail but for what calibration leaves, 4.6 % of the range: `PLAY` and `BOW` are
chosen so that as much is left here, two thirds of it by hysteresis.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pliant.analysis import Table
from pliant.analysis.calibration import Candidates, corners
from pliant.body import RodBody
from pliant.device import BendSensor, Encoder, Sensor, SimulatedPlant
from pliant.device.wiring import Kind
from pliant.gallery.tripods import (
    CAPSTAN,
    COUNT,
    ENCODER,
    HANDLE,
    MOTORS,
    PAPER,
    SENSOR_BEGIN,
    SENSOR_LENGTH,
    SENSORS,
    SETTLING,
    Design,
    E,
    build,
    pose,
    sensed_sections,
)
from pliant.port import Flex, Frame, Port
from pliant.robot import Robot

Array = NDArray[np.float64]
Motion = Callable[[float], ArrayLike]

HAND = "hand"
ROWS = "x y z rx rz"
"""What a hand holds: all but the turn about y."""
GRIP = np.array([1 / 2000.0] * 3 + [1 / 5.0] * 2)
"""Compliance of a firm grip: [m/N] and [rad/(N m)]."""
PLAY, BOW, NOISE = 0.09, 0.9, 0.003
"""Of a strip, as shares of its range: width of its hysteresis, how far from straight it is, standard deviation of its noise."""
CORNER = 0.8
"""Angles of the corners that a calibration goes to [rad]."""
RANGE = 0.52
"""How far a strip bends each way [rad]."""


def robot(
    elements: int = 21,
    *,
    design: Design = PAPER,
    modulus: float = 1.05 * E,
    damping: tuple[float, float] = (2.0, 0.002),
    seed: int = 1,
) -> Robot:
    """What stands on the desk, without motors' lag and hand: elements per rod; modulus [Pa]; seed: of where the strips sit."""
    bare = build(design, elements=elements, modulus=modulus, sensors={})
    body = bare.bodies[0]
    assert isinstance(body, RodBody)
    return build(design, elements=elements, modulus=modulus, damping=damping, sensors=strips(design, body, seed))


def strips(design: Design, rods: RodBody, seed: int) -> dict[str, Port]:
    """What the strips feel [rad]: bends along the rods over about their length, up to 5 mm off their place, each part of a
    rod by a weight of its own between 0.85 and 1.15."""
    rng = np.random.default_rng(seed)
    out: dict[str, Port] = {}
    per_rod = len(rods.lengths) // COUNT
    for k, name in enumerate(SENSORS):
        places = np.concatenate([[0.0], np.cumsum(rods.lengths[k * per_rod : (k + 1) * per_rod])])
        begin = SENSOR_BEGIN + rng.uniform(-0.005, 0.005)
        end = begin + SENSOR_LENGTH
        inside = np.flatnonzero((places >= begin) & (places <= end))
        weights = rng.uniform(0.85, 1.15, len(inside) - 1)
        share = np.zeros(len(places))
        share[inside[1:]] += weights
        share[inside[:-1]] -= weights
        parts = {f"{k}.{j}": float(share[j]) for j in np.flatnonzero(share)}
        out[name] = Flex(parts, axis=design.axis(k), base=f"{k}.start")
    return out


def sensors(*, play: float = PLAY, bow: float = BOW, noise: float = NOISE) -> dict[str, Sensor]:
    """Encoders of the motors, and strips that are a little different each."""
    encoders: dict[str, Sensor] = {name: Encoder(ENCODER, CAPSTAN) for name in MOTORS}
    signs = (1.0, -0.7, 0.8, -1.0, 0.9, -0.8)
    felt = {
        name: BendSensor(-RANGE, RANGE, bow=bow * sign, play=play, noise=noise)
        for name, sign in zip(SENSORS, signs, strict=True)
    }
    return encoders | felt


def device(
    h: float = 0.004,
    *,
    hand: Motion | None = None,
    grip: ArrayLike = GRIP,
    on_desk: Robot | None = None,
    camera: bool = False,
    seed: int = 0,
    given: Mapping[str, Sensor] | None = None,
    start: ArrayLike | None = None,
    kind: Kind = "displacement",
) -> SimulatedPlant:
    """The device. h [s]: its step; hand: targets (7,) of the handle by time, None: nobody holds it; grip (5,): compliance of
    the hand [m/N, rad/(N m)], zeros for an arm; camera: measure the handle's pose, too; seed: of noise; given: sensors;
    start (6,): of the motors; kind: "effort" for motors that are told torques, or are off."""
    made = robot() if on_desk is None else on_desk
    motions = {}
    if hand is not None:
        reach = PAPER.attachment * np.concatenate([np.eye(3), -np.eye(3)])
        made.impose(HAND, Frame(reach, rows=ROWS), displacement=pose(), compliance=grip, body=HANDLE)
        motions[HAND] = hand
    return SimulatedPlant(
        made, h, kind=kind, settling=SETTLING / np.log(50.0), scheme="euler", seed=seed,
        sensors=sensors() if given is None else given, motions=motions,
        measures=(*MOTORS, *SENSORS, *(("pose",) if camera else ())), start=start,
    )  # fmt: skip


def candidates(model: Robot, design: Design = PAPER) -> dict[str, Candidates]:
    """What the strips may feel, in a model of the device: the sections of their rods within their length."""
    rods = model.bodies[0]
    assert isinstance(rods, RodBody)
    return {
        name: Candidates(tuple(sensed_sections(rods, k)), tuple(design.axis(k).tolist()), f"{k}.start", "rods")
        for k, name in enumerate(SENSORS)
    }


def calibration_run(
    plant: SimulatedPlant, *, angle: float = CORNER, speed: float = 2.0, every: float = 0.05, seed: int = 0,
    most: int | None = None
) -> Table:  # fmt: skip
    """What encoders and strips say on the way through all corners of +-angle [rad] at a speed [rad/s], every so many seconds;
    most: corners, all by default."""
    seconds, places = corners(np.full(COUNT, -angle), np.full(COUNT, angle), speed=speed, seed=seed)
    last = seconds[-1] if most is None else seconds[most]
    rows = []
    for time in np.arange(every, last, every):
        for step in np.arange(plant.time + plant.motion.h, time + 1e-9, plant.motion.h):
            goal = np.array([np.interp(step, seconds, own) for own in places.T])
            plant.advance(goal, step + 1e-9)
        measured = plant.measure().values
        rows.append(dict(zip(plant.wiring.measurements, measured.tolist(), strict=False)))
    return Table.of_rows(rows)
