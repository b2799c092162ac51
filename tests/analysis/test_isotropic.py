"""The largest isotropic force: beside linear programs over directions, closed forms, and the paper's findings."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import linprog

from pliant.analysis import isotropic as module
from pliant.analysis import largest_isotropic, strength
from pliant.analysis.isotropic import wrench_polytope
from pliant.control import Inverse
from pliant.errors import InputError
from pliant.gallery import diamond, tripods
from pliant.motion import Statics

NONE = np.empty((0, 3))


def farthest(T, others, A, b, direction):
    """max direction . T z with A z <= b and others z = 0, by a linear program."""
    equal = {"A_eq": others, "b_eq": np.zeros(len(others))} if len(others) else {}
    found = linprog(-(direction @ T), A_ub=A, b_ub=b, bounds=(None, None), **equal)
    assert found.status == 0
    return -found.fun


def least_over_directions(T, others, A, b, rng):
    """The least over directions: a fine set, refined around the least of them until nothing changes by 1e-8."""
    size = len(T)
    units = rng.normal(size=(150, size))
    units /= np.linalg.norm(units, axis=1, keepdims=True)
    values = [farthest(T, others, A, b, u) for u in units]
    out = np.inf
    for k in np.argsort(values)[:2]:
        best, value, reach = units[k], values[k], 0.2
        while reach > 1e-9:
            tries = best + reach * rng.normal(size=(4 * size, size))
            tries /= np.linalg.norm(tries, axis=1, keepdims=True)
            found = [farthest(T, others, A, b, u) for u in tries]
            if min(found) < value:
                best, value = tries[int(np.argmin(found))], min(found)
            else:
                reach /= 2
        out = min(out, value)
    return out


@pytest.mark.parametrize("sense", ["strong", "weak"])
@pytest.mark.parametrize("kind", ["m", "rad"])
@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), pytest.param((0.012, -0.008, 0.01), marks=pytest.mark.thorough)])
def test_no_direction_is_weaker(place, kind, sense, rng):
    """Of the haptic device at two places: within 1e-6 of the least over directions of linear programs."""
    robot = tripods.build(torque=0.15)
    state = Inverse(robot).solve_pose(pose=tripods.pose(place)).require().state
    T, A, b = wrench_polytope(robot, robot.linearize(state).model)
    own = np.array([kind == unit for unit in robot.ports["pose"].port.displacement_units])
    others = T[~own] if sense == "strong" else T[:0]
    radius = largest_isotropic(T[own], T[~own], A, b, sense=sense)
    assert radius > 0
    assert radius == pytest.approx(least_over_directions(T[own], others, A, b, rng), rel=1e-6)


def test_eliminations_agree(rng):
    """One variable that does not show: pairs of rows and vertices give the same radius, to 1e-9, in random polytopes."""
    for _ in range(20):
        G, k, b = rng.normal(size=(14, 3)), rng.normal(size=(14, 1)), rng.uniform(0.5, 2.0, 14)
        box = np.vstack([np.eye(4), -np.eye(4)])
        G, k, b = np.vstack([G, box[:, :3]]), np.vstack([k, box[:, 3:]]), np.concatenate([b, np.full(8, 3.0)])
        one = module._nearest(*module._without_one(G, k[:, 0], b))
        assert one == pytest.approx(module._nearest(*module._without_several(G, k, b)), rel=1e-9)


def test_closed_forms():
    """A box gives its least half width, a slice of it no less than its projection is large, and what cannot be pushed zero."""
    cube = np.vstack([np.eye(3), -np.eye(3)]), np.array([1.0, 2.0, 3.0, 4.0, 0.5, 6.0])
    assert largest_isotropic(np.eye(3), NONE, *cube) == 0.5
    assert largest_isotropic(np.eye(3)[:2], np.eye(3)[2:], *cube) == pytest.approx(0.5, rel=1e-12)
    # a push that takes a moment along: none without, some with
    T, moment = np.array([[1.0, 1.0, 0.0]]), np.array([[1.0, -1.0, 0.0]])
    assert largest_isotropic(T, moment, *cube) == pytest.approx(1.0, rel=1e-12)
    assert largest_isotropic(T, moment, *cube, sense="weak") == pytest.approx(3.0, rel=1e-9)
    assert largest_isotropic(np.vstack([T, T]), NONE, *cube) == 0.0
    assert largest_isotropic(np.eye(3), NONE, np.empty((0, 3)), np.empty(0)) == np.inf
    assert largest_isotropic(np.eye(3)[:1], NONE, np.empty((0, 3)), np.empty(0)) == np.inf
    with pytest.raises(InputError, match="b >= 0"):
        largest_isotropic(np.eye(3), NONE, cube[0], cube[1] - 2.0)


def test_what_holds_the_robot_there_is_what_the_polytope_says():
    """At the corner of the polytope in a direction, the nonlinear device with its handle held gives that force to 15 %, for a
    tenth of it to 2 %: a linearization."""
    from pliant.robot.roles import Role

    robot = tripods.build()
    state = Statics(robot).solve().require().state
    T, A, b = wrench_polytope(robot, robot.linearize(state).model)
    z = linprog(-T[0], A_ub=A, b_ub=b, A_eq=T[1:], b_eq=np.zeros(4), bounds=(None, None)).x
    held = robot.with_roles({"pose": Role.HELD, **dict.fromkeys(tripods.SENSORS)})
    held.set_displacement("pose", robot.displacement(state, "pose", as_target=True))
    for share, tolerance in ((0.1, 0.02), (0.5, 0.15)):
        for name, effort in zip(tripods.MOTORS, share * z, strict=True):
            held.set_effort(name, effort)
        there = Statics(held).solve().require().state
        given = -held.effort(there, "pose")
        assert given[0] == pytest.approx(share * (T[0] @ z), rel=tolerance)


def test_every_robot_has_one():
    """The diamond on four cables pushes its top in no direction by all four: three forces, no moments."""
    robot = diamond.build()
    state = Statics(robot).solve().require().state
    found = strength(robot, robot.linearize(state).model)
    assert found.force >= 0
    assert found.force == pytest.approx(found.force_weak, rel=1e-9)
    assert np.isnan(found.torque)
