"""Rigid bodies: ten inertial numbers on four nodes, and what they do."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import pliant as pl
from conftest import random_rotation
from pliant.algebra.rotation import cross_matrix, from_quaternion, logarithm
from pliant.body.inertia import Inertia
from pliant.errors import InputError, PliantError

BOX = pl.solids.box((0.06, 0.04, 0.02))
INERTIA = np.array([1e-4, 2e-4, 2.5e-4])


def test_inertia_of_a_box_is_that_of_the_textbook(rng):
    """m = rho a b c, and m (b^2 + c^2) / 12 about x ..., wherever the box is and however it is turned; exactly."""
    R, shift = random_rotation(rng), np.array([3.0, -2.0, 1.0])
    a, b, c = 0.06, 0.04, 0.02
    middle = BOX.nodes.mean(axis=0)
    turned = pl.SurfaceMesh((BOX.nodes - middle) @ R.T + shift, BOX.triangles)
    found = Inertia.of_solid(turned, 1200.0)
    mass = 1200 * a * b * c
    moments = mass / 12 * np.diag([b * b + c * c, a * a + c * c, a * a + b * b])
    assert found.mass == pytest.approx(mass, rel=1e-12)
    assert found.center == pytest.approx(shift, rel=1e-12)
    assert found.moments == pytest.approx(R @ moments @ R.T, rel=1e-9, abs=1e-9 * moments.max())


def test_mass_on_four_nodes_is_that_of_the_body(rng):
    """v . M v / 2 of the four nodes equals m v^2 / 2 + w . I w / 2 for any motion of the whole, and M is positive."""
    R = random_rotation(rng)
    principal = np.array([2.0, 3.0, 4.5]) * 1e-4
    body = pl.RigidBody(mass=0.7, center=(0.1, -0.2, 0.3), inertia=R @ np.diag(principal) @ R.T)
    M = body.mass().toarray()
    assert np.linalg.eigvalsh(M).min() > 0
    for _ in range(5):
        v, w = rng.normal(size=(2, 3))
        nodes = v + np.cross(w, body.rest - (0.1, -0.2, 0.3))
        energy = 0.35 * v @ v + 0.5 * w @ R @ np.diag(principal) @ R.T @ w
        assert 0.5 * nodes.ravel() @ M @ nodes.ravel() == pytest.approx(energy, rel=1e-12)
    assert body.load_masses.sum() == pytest.approx(0.7)
    assert body.load_masses @ body.rest / 0.7 == pytest.approx([0.1, -0.2, 0.3])


def test_points_and_surface_are_carried_exactly(rng):
    """Any point, inside or far away, goes where the rigid motion takes it; so does the drawn surface."""
    body = pl.RigidBody(BOX, density=1000.0)
    R, t = random_rotation(rng), rng.normal(size=3)
    x = body.rest @ R.T + t
    points = 5.0 * rng.normal(size=(20, 3))
    nodes, weights = body.embed(points)
    assert np.einsum("pk,pki->pi", weights, x[nodes]) == pytest.approx(points @ R.T + t, abs=1e-11)
    surface = body.surface()
    assert np.array_equal(surface.triangles, BOX.triangles)
    assert surface.positions(x) == pytest.approx(BOX.nodes @ R.T + t, abs=1e-12)
    assert body.contains(np.array([body.rest[0], [1.0, 0, 0]])).tolist() == [True, False]


def test_a_free_body_falls():
    """Backward Euler: after n steps from rest, z has fallen g h^2 n (n + 1) / 2, and nothing turns."""
    robot = pl.Robot(pl.RigidBody(BOX, density=1000.0), gravity=(0, 0, -9.81))
    state, h = robot.rest(), 1e-3
    for _ in range(10):
        state = pl.Dynamics(robot, h, scheme="euler").step(state).require().state
    fall = 9.81 * h * h * 55
    assert state.x - robot.rest().x == pytest.approx(np.tile([0, 0, -fall], (4, 1)), abs=1e-12)
    assert not robot.is_supported


@pytest.mark.parametrize("method", ["linearized", "newton"])
def test_a_free_body_about_its_middle_axis_keeps_momentum_and_energy_at_the_order_of_the_scheme(method):
    """The tumbling body: angular momentum is kept to rounding, energy within 1e-3 for a second; its error shrinks at second
    order or faster."""
    body = pl.RigidBody(mass=1.0, center=(0, 0, 0), inertia=(1e-3, 2e-3, 2.5e-3))
    robot = pl.Robot(body)
    spin = np.array([0.02, 3.0, 0.03])
    start = robot.rest()
    start = pl.State(start.pose, np.cross(spin, start.x), start.efforts)

    def numbers(state):
        momentum = robot.equations.momentum(state.v)
        return 0.5 * np.vdot(state.v, momentum), np.cross(state.x, momentum).sum(axis=0)

    energy, momentum = numbers(start)
    assert energy == pytest.approx(0.5 * spin @ (np.array([1e-3, 2e-3, 2.5e-3]) * spin), rel=1e-12)
    errors = []
    for h in (4e-3, 2e-3):
        dynamics, state = pl.Dynamics(robot, h, method=method, tolerance=1e-10), start
        for _ in range(round(1.0 / h)):
            state = dynamics.step(state).require().state
        after = numbers(state)
        assert np.linalg.norm(after[1] - momentum) < 1e-10 * np.linalg.norm(momentum)
        errors.append(abs(after[0] / energy - 1))
    assert np.log2(errors[0] / errors[1]) > 1.8
    assert errors[1] < 1e-3


def test_a_body_that_does_not_turn_only_shifts():
    """A force beside its centre moves it as a whole; it needs no inertia, and four of its coordinates are one."""
    tip = pl.RigidBody(BOX, mass=0.1, center=BOX.nodes.mean(axis=0), turns=False)
    robot = pl.Robot(tip)
    robot.impose("push", pl.Force(BOX.nodes[0], direction=(1, 0, 0)), effort=0.5)
    state = pl.Dynamics(robot, 0.01).step(robot.rest()).require().state
    assert robot.equations.assembly.coordinate_count == 1
    assert state.x - tip.rest == pytest.approx(np.tile([0.5 / 0.1 * 1e-4, 0, 0], (4, 1)), abs=1e-15)


def test_a_fixed_body_stays_and_tells_what_holds_it():
    """Nothing moves a fixed body: its clamp has its weight, and a robot of nothing else is refused."""
    with pytest.raises(PliantError, match="every node is held"):
        pl.Robot(pl.RigidBody(BOX, density=1000.0, fixed=True)).rest()
    beside = pl.RigidBody(mass=0.1, center=(1, 0, 0), inertia=(1e-3,) * 3)
    base = pl.RigidBody(BOX, density=1000.0, fixed=True)
    robot = pl.Robot({"base": base, "loose": beside}, gravity=(0, 0, -9.81))
    held = robot.wrench(robot.rest(), "base")
    assert held.force == pytest.approx([0, 0, 9.81 * 0.048])
    with pytest.raises(InputError, match="no node of 'loose' is fixed"):
        robot.wrench(robot.rest(), "loose")


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "needs mass, centre and inertia"),
        ({"density": 1000.0}, "needs a surface"),
        ({"surface": BOX, "density": -1.0}, "density"),
        ({"surface": BOX, "density": np.nan}, "density"),
        ({"surface": BOX, "density": 1.0, "mass": 1.0}, "nothing else that weighs"),
        ({"mass": 1.0, "center": (0, 0, np.nan), "inertia": (1, 1, 1)}, "center"),
        ({"mass": 1.0, "center": (0, 0, 0), "inertia": (1, 1)}, "inertia"),
        ({"mass": 1.0, "center": (0, 0, 0), "inertia": (1, 1, 0)}, "turns=False"),
        ({"mass": 1.0, "center": (0, 0, 0), "inertia": (1, 1, 3)}, "sum of the two others"),
        ({"mass": 0.0, "center": (0, 0, 0), "inertia": (1, 1, 1)}, "mass"),
        ({"surface": pl.SurfaceMesh(np.eye(3), [[0, 1, 2]]), "density": 1.0}, "open|closed"),
    ],
)
def test_bodies_that_cannot_be_are_refused(given, said):
    """One error each, that names what is wrong."""
    with pytest.raises(PliantError, match=said):
        pl.RigidBody(**given)


def spun_by_euler(moment, time):
    """The orientation (3, 3) of a body of INERTIA under a constant moment seen from itself, by Euler's equations and scipy."""

    def slope(_, y):
        R, w = y[:9].reshape(3, 3), y[9:]
        return np.concatenate([(R @ cross_matrix(w)).ravel(), (moment - np.cross(w, INERTIA * w)) / INERTIA])

    start = np.concatenate([np.eye(3).ravel(), np.zeros(3)])
    return solve_ivp(slope, (0, time), start, rtol=1e-11, atol=1e-13).y[:9, -1].reshape(3, 3)


@pytest.mark.parametrize("method", ["linearized", "newton"])
def test_a_moment_that_follows_spins_a_body_as_euler_says(method):
    """About an axis of the body that is no principal one: within 1e-3 rad after 0.4 s, and second order in the step."""
    axis, moment = np.array([0.6, 0.0, 0.8]), 2e-3
    true, errors = spun_by_euler(moment * axis, 0.4), []
    for h in (4e-3, 2e-3):
        robot = pl.Robot(pl.RigidBody(mass=0.1, center=(0, 0, 0), inertia=INERTIA))
        robot.impose("motor", pl.Moment("whole", axis=axis), effort=moment)
        robot.sense("pose", pl.Frame("whole"))
        dynamics, state = pl.Dynamics(robot, h, method=method), robot.rest()
        for _ in range(round(0.4 / h)):
            state = dynamics.step(state).require().state
        R = from_quaternion(robot.displacement(state, "pose", as_target=True)[3:])
        errors.append(np.linalg.norm(logarithm(R @ true.T)))
    assert np.linalg.norm(logarithm(true)) > 1.0
    assert errors[1] < 1e-3
    assert 1.7 < np.log2(errors[0] / errors[1]) < 2.3
