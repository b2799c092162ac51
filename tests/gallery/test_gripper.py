"""The gripper: pads that open and close side by side, a palm that can be lifted, and a plant that is not the model."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.contact import Solid
from pliant.gallery import gripper
from pliant.motion import Statics

pytestmark = pytest.mark.thorough


def tilt(robot, state, side):
    """Angle [rad] of a pad's foot about y."""
    x = robot.nodes(state, f"{side}_foot")
    return np.arctan2(*(x[1] - x[0])[[2, 0]])


def test_tendons_close_it_and_open_it():
    """Left and right are mirror images; at 40 mm between the pads, and wide open, they have hardly turned."""
    robot = gripper.build()
    statics = Statics(robot, tolerance=1e-11)
    hanging = statics.solve().require().state
    gaps = {}
    for kind in ("close", "open"):
        for side in gripper.SIDES:
            robot.set_effort(f"{side}_{kind}", 3.0)
        state = statics.solve(hanging).require().state
        for side in gripper.SIDES:
            robot.set_effort(f"{side}_{kind}", 0.0)
        left, right = (float(robot.displacement(state, side)[0]) for side in gripper.SIDES)
        assert abs(left + right) < 1e-6
        gaps[kind] = right - left
        assert max(abs(tilt(robot, state, side)) for side in gripper.SIDES) < 0.03
    assert gaps["close"] < 0.040 < gripper.OPENING < gaps["open"] - 0.010


def test_leaves_carry_the_foot_as_beams_that_are_clamped_at_both_ends_do():
    """A small pull shifts their ends by F / (2 x 12 EI / L^3), F the part of the tension across the leaves, and as
    the foot turns by theta, since one leaf gets shorter and the other longer, by theta L / 2 besides; within 0.3 %."""
    robot = gripper.build(gravity=0.0)
    robot.set_effort("right_close", 0.02)
    state = Statics(robot, tolerance=1e-11).solve().require().state
    near, far = gripper.EYES["close"]
    across, along = far - near, gripper.LEAF - gripper.EYE_DEPTHS["close"]
    force, lift = 0.02 * np.array([across, along]) / np.hypot(across, along)
    EI = gripper.E * gripper.WIDTH * gripper.THICKNESS**3 / 12
    inner, outer = gripper.LEAVES
    moment = force * gripper.LEAF / 2 + lift * (0.5 * (inner + outer) - far)
    theta = 2 * moment * gripper.LEAF / (gripper.E * gripper.WIDTH * gripper.THICKNESS * (outer - inner) ** 2)
    expected = force * gripper.LEAF**3 / (24 * EI) + theta * gripper.LEAF / 2
    ends = np.abs(robot.bodies[1].rest[:, 2] + gripper.LEAF) < 1e-9
    moved = (robot.nodes(state, "leaves") - robot.bodies[1].rest)[ends & (robot.bodies[1].rest[:, 0] > 0), 0]
    assert -moved.mean() == pytest.approx(expected, rel=0.003)


def test_the_palm_can_be_lifted():
    """Everything goes up by the height that is given, in the shape that it has on a palm that stands still; the motor
    carries the whole weight, and what it takes to pull at the joint's spring."""
    still, lifted = gripper.build(), gripper.build(lifted=True)
    robots = {"still": still, "lifted": lifted}
    states = {}
    for name, robot in robots.items():
        for side in gripper.SIDES:
            robot.set_effort(f"{side}_close", 4.0)
        if name == "lifted":
            robot.set_displacement("height", 0.025)
        states[name] = Statics(robot, tolerance=1e-11).solve().require().state
    for body in (*gripper.PADS, "leaves", "palm"):
        there = robots["still"].nodes(states["still"], body) + np.array([0.0, 0.0, 0.025])
        assert np.abs(robots["lifted"].nodes(states["lifted"], body) - there).max() < 1e-8
    weight = 9.81 * sum(body.load_masses.sum() for body in lifted.bodies)
    assert lifted.effort(states["lifted"], "height")[0] == pytest.approx(weight + 0.025 * gripper.LIFT, rel=1e-6)


def test_its_paths_are_followed():
    """Real-time decisions at 50 Hz and converged positions [mm], closing and shifting."""
    robot = gripper.build()
    hanging = Statics(robot).solve().require().state
    for paths in gripper.paths(robot, hanging).values():
        report = gripper.EXHIBIT.report(robot, hanging, paths)
        figures = {figure.name.removeprefix("gripper."): figure.value for figure in report.figures}
        assert figures["realtime_error_max"] < 0.05
        assert figures["converged_error_max"] < 1e-4


def test_the_plant_is_another_robot():
    """Lengths say where the pads are: by them it gets to within 10 um of the model's place. By the model's tensions it stops
    2 to 8 % short of it."""
    robot = gripper.build()
    hanging = Statics(robot).solve().require().state
    for side in gripper.SIDES:
        robot.set_effort(f"{side}_close", 4.0)
    state = Statics(robot).solve(hanging).require().state
    read = {"displacement": robot.displacement, "effort": robot.effort}
    for kind, (least, most) in {"displacement": (0.0, 1e-5), "effort": (1.3e-4, 5.3e-4)}.items():
        plant = gripper.plant(kind=kind)
        assert plant.robot.bodies[3].node_count > robot.bodies[3].node_count
        goal = np.concatenate([read[kind](state, name) for name in plant.wiring.commands])
        home = plant.motors.copy()
        for share in np.linspace(0.02, 1.0, 50):
            plant.advance(home + share * (goal - home), share * 0.5)
        plant.advance(goal, 1.0)
        assert plant.failures == 0
        for k, side in enumerate(gripper.SIDES):
            way, gone = (
                float(x - robot.displacement(hanging, side)[0])
                for x in (robot.displacement(state, side)[0], plant.truth()[k])
            )
            assert abs(way) > 6e-3
            assert least <= abs(way - gone) < most
            assert kind == "displacement" or abs(gone) < abs(way)


def test_it_can_hold_a_box_of_40_mm():
    """Closed by 6 N on a box that does not move: both pads press alike, and friction of 0.6 could carry a box of that size and
    1,200 kg/m^3 twice."""
    robot = gripper.build(damping=(2.0, 0.002))
    box = Solid(pl.solids.box((0.04, 0.04, 0.04), at=gripper.GRASP, centered=True))
    for name in gripper.PADS:
        robot.touch(name, box, body=name, friction=0.6)
    for side in gripper.SIDES:
        robot.set_effort(f"{side}_close", 6.0)
    motion, state = pl.Dynamics(robot, 0.005), robot.rest()
    for _ in range(80):
        state = motion.step(state).require().state
    left, right = (robot.contacts(state, name).force for name in gripper.PADS)
    assert left[0] == pytest.approx(-right[0], rel=1e-2)
    assert 0.6 * (right[0] - left[0]) > 2 * 1200 * 0.04**3 * 9.81
