"""Robots put where a frame of theirs was measured."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.algebra.rotation import exponential, to_quaternion
from pliant.errors import InputError
from pliant.motion import Dynamics

TURN = exponential(np.array([0.4, -0.7, 0.9]))


def pair():
    """A soft block that spins onto a rigid one, held by nothing."""
    block = pl.make.box((0.04, 0.03, 0.03), (4, 3, 3))
    soft = pl.TetBody(block, pl.Corotational(E=2e5, nu=0.3), density=1000)
    other = pl.RigidBody(pl.make.box((0.03, 0.03, 0.03), (2, 2, 2)).translated((0.0402, 0.008, 0.004)).surface(), 1000)
    robot = pl.Robot({"soft": soft, "rigid": other})
    robot.touch("hit", "rigid", body="soft", friction=0.5)
    robot.sense("back", pl.Frame(block.where(x_below=0)), body="soft")
    return robot


def colliding(robot, steps):
    state = robot.rest()
    v = state.v.copy()
    v[robot.nodes_of("soft")] = (0.5, 0.1, 0.0)
    state = pl.State(state.pose, v, state.efforts)
    for _ in range(steps):
        state = Dynamics(robot, 0.002).step(state).require().state
    return state


def test_a_placed_robot_moves_on_as_it_would_have():
    """With contacts, velocities and the past: a step and a rigid motion can be changed about."""
    robot = pair()
    state = colliding(robot, 3)
    assert len(robot.contacts(state, "hit")) >= 3
    reading = np.concatenate([(0.1, -0.2, 0.3), to_quaternion(TURN)])
    there = robot.placed(state, "back", reading)
    np.testing.assert_allclose(robot.displacement(there, "back", as_target=True), reading, atol=1e-9)
    edges = np.linalg.norm(np.diff(state.x, axis=0), axis=1)
    np.testing.assert_allclose(np.linalg.norm(np.diff(there.x, axis=0), axis=1), edges, rtol=1e-12)
    np.testing.assert_allclose(np.linalg.norm(there.v, axis=1), np.linalg.norm(state.v, axis=1), rtol=1e-12)
    before, after = (Dynamics(robot, 0.002).step(own).require().state for own in (state, there))
    np.testing.assert_allclose(np.linalg.norm(before.v, axis=1), np.linalg.norm(after.v, axis=1), atol=1e-6)
    forces = [np.linalg.norm(robot.contacts(own, "hit").force) for own in (before, after)]
    assert forces[1] == pytest.approx(forces[0], rel=1e-5)


def test_what_sticks_to_an_obstacle_sticks_to_it_where_the_robot_is_put():
    block = pl.make.box((0.04, 0.03, 0.02), (4, 3, 2))
    body = pl.TetBody(block, pl.Corotational(E=1e5, nu=0.3), density=1000, damping=(0, 0.002))
    robot = pl.Robot(body, gravity=(2.0, 0, -9.81))
    robot.touch("ground", pl.Plane(friction=0.8))
    robot.sense("top", pl.Frame(block.where(z_above=0.02)))
    state, motion = robot.rest(), Dynamics(robot, 0.005)
    for _ in range(30):
        state = motion.step(state).require().state
    here = robot.displacement(state, "top", as_target=True)
    there = robot.placed(state, "top", np.add(here, (0.05, 0.02, 0, 0, 0, 0, 0)))
    after = motion.step(there).require().state
    np.testing.assert_allclose(after.x - state.x - (0.05, 0.02, 0), 0.0, atol=1e-6)
    np.testing.assert_allclose(
        robot.contacts(after, "ground").force, robot.contacts(state, "ground").force, rtol=1e-3, atol=1e-6
    )


def test_what_cannot_be_placed_is_told():
    robot = pair()
    robot.sense("corner", pl.Point(near=(0, 0, 0)), body="soft")
    with pytest.raises(InputError, match="Frame"):
        robot.placed(robot.rest(), "corner", np.zeros(7))
    for bad in (np.zeros(3), np.zeros(7), np.full(7, np.nan)):
        with pytest.raises(InputError, match="quaternion"):
            robot.placed(robot.rest(), "back", bad)
    block = pl.make.box((0.04, 0.03, 0.03), (2, 2, 2))
    held = pl.Robot(pl.TetBody(block, pl.Corotational(E=2e5, nu=0.3), fixed=block.where(x_below=0)))
    held.sense("end", pl.Frame(block.where(x_above=0.04)))
    with pytest.raises(InputError, match="supports"):
        held.placed(held.rest(), "end", (0, 0, 0, 1, 0, 0, 0))
