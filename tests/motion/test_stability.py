"""Which equilibria are stable, and which are found: a column beyond its critical load, with nothing and with its end held."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.optimize import brentq
from scipy.special import ellipe, ellipk

from pliant import Corotational, Force, Point, Robot, Statics, TetBody, make, natural_modes, stability
from pliant.errors import InputError, NotConvergedError, NotPositiveDefiniteError
from pliant.motion import Status

LENGTH, WIDTH, E = 0.2, 0.008, 1e6
CRITICAL = 1.00291 * np.pi**2 * E * WIDTH**4 / 12 / (4 * LENGTH**2)
"""[N] of the mesh; Euler's load is 0.3 % less."""


def column(load, side=0.0):
    """A square column of ten-node tets, clamped at its foot, under a load on its head."""
    mesh = make.box((WIDTH, WIDTH, LENGTH), (2, 2, 40))
    robot = Robot(TetBody(mesh, Corotational(E=E, nu=0.3), fixed=mesh.where(z_below=0), order=2))
    head = mesh.nodes[mesh.where(z_above=LENGTH)]
    robot.impose("load", Force(head, direction=(0, 0, -1)), effort=load)
    robot.impose("side", Force(head, direction=(1, 0, 0)), effort=side)
    robot.sense("head", Point(near=(WIDTH / 2, WIDTH / 2, LENGTH)))
    return robot


def elastica(ratio):
    """Height and sway of the head over the length, of a cantilever under a load on its head, ratio times the critical one."""
    m = brentq(lambda m: (2 * ellipk(m) / np.pi) ** 2 - ratio, 1e-9, 1 - 1e-12)
    return 2 * ellipe(m) / ellipk(m) - 1, 2 * np.sqrt(m) / ellipk(m)


@pytest.mark.parametrize(("ratio", "count"), [(0.98, 0), (1.02, 2), (1.2, 2), (2.0, 2), (3.0, 2), (5.0, 2), (20.0, 4)])
def test_the_straight_column_is_unstable_beyond_its_critical_loads(ratio, count):
    """Asked for any equilibrium, statics finds the straight one and tells: the count of ways to bend out is that of the
    critical loads 1, 9, 25 ... times the first that lie below, in two directions each."""
    robot = column(ratio * CRITICAL)
    result = Statics(robot, branch="any").solve()
    assert robot.displacement(result.state, "head")[:2] == pytest.approx([WIDTH / 2, WIDTH / 2], abs=1e-9)
    assert stability(robot, result.state).excess == count
    assert result.status is (Status.UNSTABLE if count else Status.CONVERGED)
    if count:
        assert stability(robot, result.state).margin == 0.0
        with pytest.raises(NotConvergedError, match="would leave this equilibrium"):
            result.require()
        with pytest.raises(NotPositiveDefiniteError, match=r"not stable|buckles"):
            natural_modes(robot, 1, result.state)


@pytest.mark.parametrize("ratio", [1.02, 1.2, 2.0, 3.0, 5.0, 20.0])
def test_a_column_bends_as_the_elastica(ratio):
    """By default the stable branch is found; up to twice the critical load it is the elastica within 1 % of the length (beyond,
    the column is curved too sharply for a line without thickness)."""
    robot = column(ratio * CRITICAL)
    state = Statics(robot).solve().require().state
    found = stability(robot, state)
    assert found.is_stable
    assert found.margin > 0.0
    head = robot.displacement(state, "head")
    sway = float(np.hypot(*(head[:2] - WIDTH / 2)))
    tolerance = 0.01 if ratio <= 2.0 else 0.03
    assert [head[2] / LENGTH, sway / LENGTH] == pytest.approx(elastica(ratio), abs=tolerance)


def test_a_small_push_decides():
    """At 1.05 times the critical load a micronewton from the side leads to the bent shape in at most thirty iterations."""
    robot = column(1.05 * CRITICAL, side=1e-6)
    result = Statics(robot).solve().require()
    assert result.iterations <= 30
    head = robot.displacement(result.state, "head")
    assert head[0] - WIDTH / 2 > 0.3 * LENGTH
    assert head[1] == pytest.approx(WIDTH / 2, abs=1e-3)


def test_the_margin_is_the_share_of_the_critical_load_that_is_left():
    """1 - P / P_cr for a straight column, nearly: the shape that it swings in is almost the one that it buckles into."""
    for ratio in (0.2, 0.5, 0.9):
        robot = column(ratio * CRITICAL)
        found = stability(robot, Statics(robot).solve().require().state)
        assert found.margin == pytest.approx(1 - ratio, abs=0.02)


def test_a_column_whose_head_is_held_aside_is_stable():
    """What is held counts: with its head kept from swaying the straight column carries eight times as much."""
    robot = column(3.0 * CRITICAL)
    mesh = robot.bodies[0].mesh
    robot.impose("guide", Point(near=(WIDTH / 2, WIDTH / 2, LENGTH), axes="xy"), displacement=(WIDTH / 2, WIDTH / 2))
    result = Statics(robot).solve().require()
    assert stability(robot, result.state).is_stable
    assert np.abs(result.state.x[: len(mesh.nodes)] - mesh.nodes).max() < 1e-3
    tangent = robot.linearize(result.state, signed=True).model
    assert tangent.negatives == 2
    assert not tangent.positive_definite
    guide = tangent.rows("guide")
    assert (np.linalg.eigvalsh(tangent.W[np.ix_(guide, guide)]) < 0).all()
    assert robot.linearize(result.state).model.negatives == 0


def test_the_signed_compliance_is_the_derivative():
    """W of the unstable straight column against differences of its equilibria: minus what a stiff column would have."""
    robot = column(1.5 * CRITICAL)
    state = Statics(robot, branch="any", tolerance=1e-12).solve().state
    model = robot.linearize(state, signed=True).model
    side, head = model.rows("side")[0], model.rows("head")[0]
    assert model.W[head, side] < 0.0
    step = 1e-7
    moved = []
    for sign in (-1, 1):
        robot.set_effort("side", sign * step)
        there = Statics(robot, branch="any", tolerance=1e-12).solve(state).state
        moved.append(robot.displacement(there, "head")[0])
    assert (moved[1] - moved[0]) / (2 * step) == pytest.approx(model.W[head, side], rel=1e-4)


def test_a_branch_that_there_is_not_is_refused():
    with pytest.raises(InputError, match="branch"):
        Statics(column(0.0), branch="bent")
