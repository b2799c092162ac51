"""One inverse controller, whatever a robot is made of."""

from __future__ import annotations

import numpy as np
import pytest

from pliant.body import RigidBody, RodBody, Section, SpringBody, TetBody, Weld
from pliant.control import DecisionStatus, Inverse
from pliant.material import Corotational
from pliant.motion import Statics
from pliant.port import Cable, Point
from pliant.robot import Robot
from pliant.robot.roles import Role
from pliant.shape import Curve, Lattice, make, solids

LENGTH, OFFSET = 0.10, 0.008
CORNERS = [OFFSET * np.array(sign) for sign in ((1, 1), (-1, 1), (-1, -1), (1, -1))]
PLACES = (0.03, 0.06, 0.09)


def of_tets():
    """A bar of silicone."""
    mesh = make.box((LENGTH, 0.02, 0.02), (10, 2, 2), origin=(0, -0.01, -0.01))
    body = TetBody(mesh, Corotational(E=300e3, nu=0.4), density=1100, fixed=mesh.where(x_below=0))
    return Robot({"bar": body}, gravity=(0, 0, -9.81)), ["bar"] * 3, "bar"


def of_springs():
    """The same bar as a lattice."""
    lattice = Lattice.voxels(solids.box((LENGTH, 0.02, 0.02), at=(0, -0.01, -0.01)), 0.005)
    body = SpringBody(lattice, 300e3, 1100.0, fixed=lattice.where(x_below=1e-6))
    return Robot({"bar": body}, gravity=(0, 0, -9.81)), ["bar"] * 3, "bar"


def of_a_rod():
    """A wire with discs, about as stiff in bending as the bar."""
    wire = RodBody(
        Curve([(0, 0, 0), (LENGTH, 0, 0)]), Section.circle(1e-3), E=60e9, nu=0.3, density=6450, count=10, fixed="start"
    )
    discs = {f"disc{k}": disc(place) for k, place in enumerate(PLACES)}
    joints = [Weld(name, ("wire", f"0.{round(10 * x / LENGTH)}")) for name, x in zip(discs, PLACES, strict=True)]
    return Robot({"wire": wire, **discs}, joints=joints, gravity=(0, 0, -9.81)), list(discs), "wire"


def of_a_mixture():
    """Silicone at the base, its end welded to a wire that has a disc on it."""
    mesh = make.box((0.06, 0.02, 0.02), (6, 2, 2), origin=(0, -0.01, -0.01))
    soft = TetBody(mesh, Corotational(E=300e3, nu=0.4), density=1100, fixed=mesh.where(x_below=0))
    wire = RodBody(Curve([(0.06, 0, 0), (LENGTH, 0, 0)]), Section.circle(1e-3), E=60e9, nu=0.3, density=6450, count=4)
    joints = [Weld(("wire", "start"), ("soft", mesh.where(x_above=0.06))), Weld("disc", ("wire", "0.3"))]
    bodies = {"soft": soft, "wire": wire, "disc": disc(PLACES[2])}
    return Robot(bodies, joints=joints, gravity=(0, 0, -9.81)), ["soft", "soft", "disc"], "wire"


def disc(x):
    """What tendons go through, at a place along the robot [m]."""
    return RigidBody(solids.cylinder(0.012, 0.002, at=(x - 0.001, 0, 0), axis=(1, 0, 0), segments=16), density=1200)


def cabled(make_it):
    """The robot with four tendons along its corners and its tip as the effector; the same words for all of them."""
    robot, through, last = make_it()
    for k, (y, z) in enumerate(CORNERS):
        way = Cable([(x, y, z) for x in PLACES], pull=(-0.01, y, z))
        robot.actuate(f"tendon{k}", way, effort=(0.0, 5.0), displacement=(-0.03, 0.03), body=through)
    robot.effect("tip", Point(near=(LENGTH, 0, 0), axes="yz"), body=last)
    return robot


@pytest.mark.parametrize("make_it", [of_tets, of_springs, of_a_rod, of_a_mixture])
def test_the_same_controller_moves_them_all(make_it):
    """Places of the tip under hidden tensions are reached to 1e-8 m, by converged poses and by steps, and the nonlinear balance
    under what was decided is there to 1e-6 m; a place out of reach ends at rest, closest or at a limit."""
    robot = cabled(make_it)
    statics, inverse = Statics(robot, tolerance=1e-11), Inverse(robot)
    hanging = statics.solve().require().state
    home = robot.displacement(hanging, "tip")
    for pulls in ((0.3, 0.0, 0.0, 0.1), (0.0, 0.2, 0.4, 0.0)):
        for name, pull in zip(robot.named(Role.ACTUATOR), pulls, strict=True):
            robot.set_effort(name, pull)
        target = robot.displacement(statics.solve(hanging).require().state, "tip")
        for name in robot.named(Role.ACTUATOR):
            robot.set_effort(name, 0.0)
        assert np.linalg.norm(target - home) > 2e-3
        pose = inverse.solve_pose(hanging, tip=target).require()
        assert pose.status is DecisionStatus.REACHED
        assert pose.distance < 1e-8
        state = hanging
        for share in np.linspace(0.1, 1.0, 10):
            state = inverse.step(state, tip=home + share * (target - home)).require().state
        for _ in range(10):
            step = inverse.step(state, tip=target).require()
            state = step.state
        assert step.distance < 1e-8
        for name, effort in step.efforts.items():
            robot.set_effort(name, effort)
        there = robot.displacement(statics.solve(state).require().state, "tip")
        for name in robot.named(Role.ACTUATOR):
            robot.set_effort(name, 0.0)
        assert np.linalg.norm(there - target) < 1e-6
    away = inverse.solve_pose(hanging, tip=home + np.array([3 * LENGTH, 0.0]), max_iterations=400)
    assert away.status in (DecisionStatus.CLOSEST, DecisionStatus.LIMITED)
    assert away.distance > LENGTH
