"""What goes wrong on the ground: a status with its remedy, no NaN, and the next step goes on."""

from __future__ import annotations

import numpy as np
import pytest
from test_contact import BODIES, G, on_a_slope

import pliant as pl
from pliant.contact import Plane, Sphere
from pliant.errors import InputError
from pliant.motion import Dynamics, Status

METHODS = ("linearized", "newton")


def went_on(robot, method, events, steps=50):
    """Statuses and depths of steps through whatever happens at them; everything stays a number."""
    state, motion, statuses, depths = robot.rest(), Dynamics(robot, 0.005, method=method), [], []
    for k in range(steps):
        events.get(k, lambda: None)()
        result = motion.step(state)
        assert np.isfinite(result.state.x).all()
        assert np.isfinite(result.state.v).all()
        assert result.ok or result.error().remedy
        if not result.ok:
            assert result.state is state
        state = result.state
        statuses.append(result.status)
        depths.append(result.penetration)
    return statuses, depths


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", BODIES)
def test_what_starts_inside_is_told_and_comes_out(kind, method):
    robot, _ = on_a_slope(kind, 0.0, 0.5)
    robot.move_obstacle("ground", (0, 0, 0.01))
    statuses, depths = went_on(robot, method, {})
    assert statuses[0] is Status.INSIDE
    assert "obstacle" in statuses[0].value
    assert depths[-1] < 1e-9
    assert statuses[-1] in (Status.STEPPED, Status.CONVERGED)


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", BODIES)
def test_an_obstacle_that_jumps_into_the_robot_is_told_and_left(kind, method):
    robot, _ = on_a_slope(kind, 0.0, 0.5)
    jumps = {5: lambda: robot.move_obstacle("ground", (0, 0, 0.012))}
    statuses, depths = went_on(robot, method, jumps)
    assert statuses[5] is Status.INSIDE
    assert max(depths[5:7]) > 1e-3
    assert depths[-1] < 1e-9
    assert all(status.ok for status in statuses)


@pytest.mark.parametrize("kind", ["tets", "springs", "rigid"])
def test_what_is_crushed_goes_on_once_it_is_let_go(kind):
    """A lid comes down to half the height in one step, and later goes up again: it gives way, or the steps fail meanwhile."""
    robot, _ = on_a_slope(kind, 0.0, 0.5)
    robot.touch("lid", Plane(normal=(0, 0, -1), offset=-0.03))
    events = {
        5: lambda: robot.move_obstacle("lid", (0, 0, -0.02)),
        15: lambda: robot.move_obstacle("lid", (0, 0, 0.1)),
    }
    statuses, depths = went_on(robot, "linearized", events, 60)
    assert any(status in (Status.INSIDE, Status.ROUGH) or not status.ok for status in statuses[5:15])
    assert statuses[-1].ok
    assert depths[-1] < 1e-9


def test_a_ball_that_appears_inside_a_soft_block_is_told():
    robot, _ = on_a_slope("ten-node", 0.0, 0.5)
    robot.touch("ball", Sphere(center=(0.02, 0.015, 1.0), radius=0.02))
    events = {
        5: lambda: robot.move_obstacle("ball", (0, 0, -0.975)),
        20: lambda: robot.move_obstacle("ball", (0, 0, 0)),
    }
    statuses, _ = went_on(robot, "linearized", events, 40)
    assert Status.INSIDE in statuses[5:8]
    assert statuses[-1].ok


@pytest.mark.parametrize("pose", [((np.nan, 0, 0),), ((0, 0),), ((0, 0, 0), (0, 0, 0, 0)), ((0, 0, 0), (1, 0, 0))])
def test_obstacles_are_moved_to_places_only(pose):
    robot = pl.Robot(BODIES["rigid"](), gravity=(0, 0, -G))
    robot.touch("ground", Plane())
    with pytest.raises(InputError, match="position"):
        robot.move_obstacle("ground", *pose)
