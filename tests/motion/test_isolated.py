"""What nothing acts on keeps its angular momentum; what something acts on has it changed by that."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from test_touching_bodies import momentum, momentum_of_nodes

import pliant as pl
from pliant.motion import Dynamics

LAW = pl.Corotational(E=1e5, nu=0.3)
SPIN = np.array([3.0, 8.0, 5.0])
BODIES = {
    "tets": lambda **o: pl.TetBody(pl.make.box((0.06, 0.02, 0.03), (4, 2, 2)), LAW, density=1000, **o),
    "ten-node": lambda **o: pl.TetBody(pl.make.box((0.06, 0.02, 0.03), (2, 1, 1)), LAW, density=1000, order=2, **o),
    "springs": lambda **o: pl.SpringBody(
        pl.Lattice.voxels(pl.solids.box((0.06, 0.02, 0.03)), 0.01), E=1e5, density=1000, **o
    ),
    "rod": lambda **o: pl.RodBody(
        pl.Curve([(0, 0, 0), (0.1, 0, 0)]), pl.Section.rectangle(0.01, 0.02), 1e6, 0.4, 1000, count=4, **o
    ),
    "rigid": lambda damping=(0.0, 0.0): pl.RigidBody(pl.solids.box((0.06, 0.02, 0.03)), 1000, damping=damping[0]),
}


def tumbling(robot, shaken=0.05):
    """A state in which it turns about its middle and trembles."""
    state, masses = robot.rest(), robot.bodies[0].load_masses
    arms = state.x - masses @ state.x / masses.sum()
    v = np.array([0.2, 0.1, 0.0]) + np.cross(SPIN, arms)
    if not isinstance(robot.bodies[0], pl.RigidBody | pl.RodBody):
        v += shaken * np.random.default_rng(0).normal(size=v.shape)
    return replace(state, v=v)


def about_the_middle(robot, state):
    each, masses = momentum_of_nodes(robot, state), robot.bodies[0].load_masses
    return np.cross(state.x - masses @ state.x / masses.sum(), each).sum(axis=0)


@pytest.mark.parametrize("method", ["linearized", "newton"])
@pytest.mark.parametrize("kind", BODIES)
def test_what_tumbles_freely_keeps_its_angular_momentum(kind, method):
    """To rounding, whatever it damps inside; about its middle also where it falls."""
    for gravity in ((0, 0, 0), (0, 0, -9.81)):
        robot = pl.Robot(BODIES[kind]() if kind == "rigid" else BODIES[kind](damping=(0.0, 0.003)), gravity=gravity)
        state, motion = tumbling(robot), Dynamics(robot, 0.005, method=method)
        begin, first = about_the_middle(robot, state), state
        for _ in range(40):
            state = motion.step(state).require().state
            np.testing.assert_allclose(about_the_middle(robot, state), begin, atol=1e-10 * np.abs(begin).max())
        p, was = momentum(robot, state)[0], momentum(robot, first)[0]
        fallen = robot.bodies[0].load_masses.sum() * 0.2 * np.array(gravity)
        np.testing.assert_allclose(p, was + fallen, atol=1e-9 * np.abs(was + fallen).max())


@pytest.mark.parametrize("kind", BODIES)
def test_drag_takes_angular_momentum(kind):
    """As e^(-a t)."""
    robot = pl.Robot(BODIES[kind](damping=(2.0, 0.0)))
    state, motion = tumbling(robot, shaken=0.0), Dynamics(robot, 0.002)
    begin = np.linalg.norm(about_the_middle(robot, state))
    for _ in range(100):
        state = motion.step(state).require().state
    assert np.linalg.norm(about_the_middle(robot, state)) == pytest.approx(begin * np.exp(-2.0 * 0.2), rel=0.02)


def test_a_force_gives_it_its_moment_and_a_cable_does_not():
    """A cable inside a body pulls on it without moving it; a force at its end turns it by r x F t."""
    for acts in (False, True):
        robot = pl.Robot(BODIES["tets"]())
        robot.impose("cable", pl.Cable([(0.0, 0.015, 0.01), (0.06, 0.015, 0.01)]), effort=0.5)
        if acts:
            robot.impose("push", pl.Force((0.06, 0.01, 0.015), direction=(0, 0, 1)), effort=1e-3)
        state, motion = robot.rest(), Dynamics(robot, 0.002)
        for _ in range(40):
            state = motion.step(state).require().state
        turned = about_the_middle(robot, state)
        if acts:
            np.testing.assert_allclose(turned, [0.0, -0.03 * 1e-3 * 0.08, 0.0], atol=0.1 * 0.03 * 1e-3 * 0.08)
        else:
            np.testing.assert_allclose(turned, 0.0, atol=1e-14)
            np.testing.assert_allclose(momentum(robot, state)[0], 0.0, atol=1e-12)


def test_backward_euler_takes_its_share():
    """It is for coming to rest."""
    robot = pl.Robot(BODIES["tets"]())
    state, motion = tumbling(robot, shaken=0.0), Dynamics(robot, 0.01, scheme="euler")
    begin = np.linalg.norm(about_the_middle(robot, state))
    for _ in range(50):
        state = motion.step(state).require().state
    assert np.linalg.norm(about_the_middle(robot, state)) < 0.9 * begin
