"""Contact where equations are iterated: equilibria, Newton's steps, and coming to rest."""

from __future__ import annotations

import numpy as np
import pytest
from test_contact import BODIES, G, middle, on_a_slope

import pliant as pl
from pliant.contact import Plane, Sphere
from pliant.errors import NotConvergedError
from pliant.motion import Dynamics, Statics, Status, settled, touching


@pytest.mark.parametrize("kind", BODIES)
def test_newton_steps_slide_and_stick_as_theory_has_it(kind):
    for degrees, pulls in ((25.0, 0.0), (35.0, G * (np.sin(np.radians(35)) - 0.5 * np.cos(np.radians(35))))):
        robot, mass = on_a_slope(kind, degrees, 0.5)
        state, motion, ways = robot.rest(), Dynamics(robot, 0.005, method="newton"), []
        for _ in range(40):
            result = motion.step(state).require()
            assert result.status is Status.CONVERGED
            assert result.penetration < 1e-9
            state = result.state
            ways.append(middle(robot, state)[0])
        assert (ways[-1] - 2 * ways[-11] + ways[-21]) / 0.05**2 == pytest.approx(pulls, rel=0.01, abs=0.01)
        force = robot.contacts(state, "ground").force
        assert force[2] == pytest.approx(mass * G * np.cos(np.radians(degrees)), rel=1e-3)
        assert -force[0] == pytest.approx(mass * (G * np.sin(np.radians(degrees)) - pulls), rel=1e-3)


def beam(friction, obstacle=None, law=None):
    """A soft beam that is clamped at one end and bends down on something."""
    mesh = pl.make.box((0.1, 0.01, 0.01), (16, 2, 2))
    law = law or pl.Corotational(E=2e5, nu=0.3)
    body = pl.TetBody(mesh, law, density=1000, fixed=mesh.where(x_below=0), damping=(0, 0.01))
    robot = pl.Robot(body, gravity=(0, 0, -G))
    robot.touch("floor", obstacle or Plane(offset=-0.02), friction=friction)
    return robot


@pytest.mark.parametrize("obstacle", [Plane(offset=-0.02), Sphere(center=(0.07, 0.005, -0.05), radius=0.04)])
def test_statics_without_friction_is_where_motion_comes_to_rest(obstacle):
    robot = beam(0.0, obstacle)
    balanced = Statics(robot).solve().require()
    assert balanced.status is Status.CONVERGED
    state, motion = robot.rest(), Dynamics(robot, 0.02, scheme="euler")
    for _ in range(150):
        state = motion.step(state).require().state
    np.testing.assert_allclose(balanced.state.x, state.x, rtol=0, atol=2e-8)
    forces = [robot.contacts(one, "floor").force for one in (balanced.state, state)]
    assert np.linalg.norm(forces[0]) > 0.01
    np.testing.assert_allclose(*forces, rtol=1e-4, atol=1e-8)


def test_statics_stays_where_contacts_stick():
    robot = beam(0.8)
    resting = settled(robot).require().state
    assert not robot.contacts(resting, "floor").slides.any()
    again = Statics(robot).solve(resting).require()
    np.testing.assert_allclose(again.state.x, resting.x, rtol=0, atol=1e-8)


def test_statics_on_from_a_state_slides_against_friction():
    """A beam on the floor that is pushed sideways sticks with a small force; with a large one the push is borne by friction
    mu N and the beam."""
    robot = beam(0.3)
    robot.impose("push", pl.Force((0.1, 0.005, 0.005), direction=(0, 1, 0)), effort=0.0)
    resting = settled(robot).require().state
    ways = []
    for effort in (0.001, 0.05):
        robot.set_effort("push", effort)
        result = Statics(robot, load_steps=4).solve(resting).require()
        report = robot.contacts(result.state, "floor")
        ways.append(float((report.points[:, 1]).mean() - robot.contacts(resting, "floor").points[:, 1].mean()))
        sideways = np.linalg.norm(report.friction_forces, axis=1)
        assert (sideways <= 0.3 * report.normal_forces * (1 + 1e-6)).all()
    assert abs(ways[0]) < 1e-6
    assert ways[1] > 1e-4
    assert report.slides.all()
    assert (report.friction_forces[:, 1] < 0.0).all()


def test_a_ball_and_a_wheel_on_level_ground_come_to_rest():
    radius = 0.02
    ball = pl.RigidBody(mass=0.05, center=(0, 0, radius), inertia=0.4 * 0.05 * radius**2 * np.ones(3))
    robot = pl.Robot(ball, gravity=(0, 0, -G))
    robot.touch("ground", Plane(offset=-0.01), surface=Sphere(center=(0, 0, radius), radius=radius))
    result = settled(robot).require()
    np.testing.assert_allclose(robot.contacts(result.state, "ground").force, [0, 0, 0.05 * G], rtol=1e-9, atol=1e-12)
    wheel = pl.TetBody(pl.make.tube(0.015, 0.02, 0.015, 0.006), pl.Corotational(E=5e5, nu=0.3), damping=(0, 0.015))
    robot = pl.Robot(wheel, gravity=(0, -G, 0))
    robot.touch("ground", Plane(normal=(0, 1, 0), offset=-0.0201, friction=0.8))
    result = settled(robot).require()
    assert result.status is Status.CONVERGED
    assert robot.contacts(result.state, "ground").force[1] == pytest.approx(wheel.load_masses.sum() * G, rel=1e-6)


def test_what_rolls_on_is_told_with_what_to_do():
    wheel = pl.TetBody(pl.make.tube(0.015, 0.02, 0.015, 0.006), pl.Corotational(E=5e5, nu=0.3), damping=(0, 0.015))
    robot = pl.Robot(wheel, gravity=G * np.array([np.sin(0.5), -np.cos(0.5), 0.0]))
    robot.touch("ground", Plane(normal=(0, 1, 0), offset=-0.0201, friction=0.8))
    result = settled(robot)
    assert result.status in (Status.NOT_CONVERGED, Status.LOOSE)
    if result.status is Status.NOT_CONVERGED:
        assert isinstance(result.cause, NotConvergedError)
        assert "'ground'" in str(result.cause)
        assert "Dynamics" in result.cause.remedy
        assert Dynamics(robot, 0.005).step(result.state).ok


def test_what_bears_bodies_bears_what_they_touch():
    """A fixed table with a box on it: the force that holds the table is the weight of both, and nothing is out of balance."""
    robot = pl.Robot(
        {
            "table": pl.RigidBody(pl.solids.box((0.1, 0.1, 0.01)), density=1000, fixed=True),
            "box": pl.RigidBody(pl.solids.box((0.04, 0.04, 0.02)).translated((0.03, 0.03, 0.01)), density=1000),
        },
        gravity=(0, 0, -G),
    )
    robot.touch("lies", "table", body="box")
    state = settled(robot).require().state
    weight = 1000 * (0.1 * 0.1 * 0.01 + 0.04 * 0.04 * 0.02) * G
    assert robot.wrench(state, "table").force[2] == pytest.approx(weight, rel=1e-5)
    assert robot.reactions(state).sum(axis=0)[2] == pytest.approx(weight, rel=1e-5)
    assert robot.unbalanced(state) < 1e-5


@pytest.mark.parametrize("load_steps", [1, 8])
def test_an_equilibrium_presses_on_a_body_where_it_touches_it(load_steps):
    """A soft block is pushed down and sideways on a lever that a hinge holds: that bears the moment of the contact forces."""
    mesh = pl.make.box((0.02, 0.02, 0.02), (1, 1, 1)).translated((0.02, 0.0, 0.0))
    block = pl.TetBody(mesh, pl.Corotational(E=1e5, nu=0.3), density=1000, prescribed=mesh.where(z_above=0.02))
    lever = pl.RigidBody(pl.solids.box((0.12, 0.06, 0.01)).translated((0, -0.02, -0.01)), density=1000)
    hinge = pl.Revolute("lever", point=(0, 0, -0.005), axis=(0, 1, 0), stiffness=1e-3)
    robot = pl.Robot({"block": block, "lever": lever}, joints={"hinge": hinge}, gravity=(0, 0, 0))
    robot.impose("angle", pl.Hinge.on("hinge"), displacement=0.0)
    robot.touch("presses", "lever", body="block", friction=0.0)
    there = np.array(robot.prescribed_rest) + np.array([0.03, 0, -0.001])
    result = Statics(robot, load_steps=load_steps).solve(robot.rest(), prescribed=there).require()
    moment = -robot.contacts(result.state, "presses").moment(np.array([0, 0, -0.005]))[1]
    assert moment > 0.1
    assert robot.effort(result.state, "angle")[0] == pytest.approx(-moment, rel=1e-4)


def test_settled_says_where_contact_is_rough(monkeypatch):
    """A rest whose forces miss Coulomb's law by more than is allowed is not called converged."""
    robot = beam(0.8)
    assert settled(robot).status is Status.CONVERGED
    monkeypatch.setattr(touching, "MISSED", -1.0)
    result = settled(robot)
    assert result.status is Status.ROUGH
    assert result.ok
