"""What is inside of what it touches is told wherever it would pass for a result."""

from __future__ import annotations

import numpy as np
import pytest

import pliant as pl
from pliant.contact import Plane
from pliant.device import SimulatedPlant
from pliant.errors import NotConvergedError
from pliant.motion import Dynamics, Statics, Status, beginning, settled

BOX = pl.make.box((0.04, 0.03, 0.02), (1, 1, 1))


def between(gap):
    """A rigid block, 20 mm high, between a floor and a lid."""
    robot = pl.Robot(pl.RigidBody(BOX.surface(), density=1000), gravity=(0, 0, -9.81))
    robot.touch("floor", Plane())
    robot.touch("lid", Plane(normal=(0, 0, -1), offset=-gap))
    return robot


def test_what_rests_inside_has_not_settled():
    """Between walls that are too close: a status of its own, that names them, and no beginning for anything."""
    result = settled(between(0.012))
    assert result.status is Status.CRUSHED
    assert not result.ok
    assert result.penetration > 1e-3
    with pytest.raises(NotConvergedError, match="'floor', 'lid'"):
        result.require()
    with pytest.raises(NotConvergedError):
        beginning(between(0.012))
    assert settled(between(0.021)).status is Status.CONVERGED


def test_a_step_inside_is_one_to_go_on_from_but_not_clean():
    """What starts inside comes out: no step raises, and none is called clean until it is out."""
    robot = between(1.0)
    robot.move_obstacle("floor", (0, 0, 0.01))
    state, motion, statuses = robot.rest(), Dynamics(robot, 0.005), []
    for _ in range(30):
        result = motion.step(state).require()
        state = result.state
        statuses.append(result.status)
    assert statuses[0] is Status.INSIDE
    assert not statuses[0].clean
    assert statuses[-1].clean
    assert settled(robot).status is Status.CONVERGED, "it comes out on the way"


def test_every_clean_status_is_ok():
    """And those that are ok and not clean are told apart."""
    assert {status for status in Status if status.ok and not status.clean} == {Status.ROUGH, Status.INSIDE}
    assert all(status.ok for status in Status if status.clean)


def test_a_plant_counts_steps_inside():
    """An obstacle jumps into it: its steps go on, and are counted until it is out."""
    robot = between(1.0)
    robot.actuate("push", pl.Force((0.04, 0.015, 0.01), direction=(1, 0, 0)), effort=(0, 1))
    plant = SimulatedPlant(robot, 0.005)
    plant.advance(np.zeros(1), 0.05)
    assert plant.inside == 0
    plant.robot.move_obstacle("floor", (0, 0, 0.01))
    plant.advance(np.zeros(1), 0.1)
    counted = plant.inside
    assert counted > 0
    plant.advance(np.zeros(1), 0.6)
    assert plant.failures == 0
    final = plant.inside
    plant.advance(np.zeros(1), 0.7)
    assert plant.inside == final, "it is out"


CUBE, LAW = pl.make.box((0.02, 0.02, 0.02), (1, 1, 1)), pl.Corotational(E=1e5, nu=0.3)


def clamped_into(other):
    """A soft cube whose clamp is 0.5 mm deep in a plane, or in the clamp of a second cube below it."""
    cube = pl.TetBody(CUBE, LAW, density=1000, fixed=CUBE.where(z_below=0))
    if other == "plane":
        robot = pl.Robot({"cube": cube}, gravity=(0, 0, -9.81))
        robot.touch("clamp", Plane(offset=0.0005), body="cube")
        return robot
    lower = CUBE.translated((0.0, 0.0, -0.0195))
    second = pl.TetBody(lower, LAW, density=1000, fixed=lower.where(z_above=0.0005))
    robot = pl.Robot({"cube": cube, "second": second}, gravity=(0, 0, -9.81))
    robot.touch("clamp", "second", body="cube")
    return robot


@pytest.mark.parametrize("other", ["plane", "body"])
def test_what_is_held_on_both_sides_is_no_contact(other):
    """Nothing can move it: steps and equilibria are those of robots that do not touch."""
    robot = clamped_into(other)
    alone = pl.Robot(dict(zip(robot.body_names, robot.bodies, strict=True)), gravity=(0, 0, -9.81))
    for method in ("linearized", "newton"):
        here = Dynamics(robot, 0.005, method=method).step(robot.rest()).require().state
        there = Dynamics(alone, 0.005, method=method).step(alone.rest()).require().state
        assert not len(robot.contacts(here, "clamp"))
        np.testing.assert_allclose(here.x, there.x, atol=1e-12)
    rest = Statics(robot).solve()
    assert rest.status is Status.CONVERGED
    np.testing.assert_allclose(rest.state.x, Statics(alone).solve().require().state.x, atol=1e-9)
