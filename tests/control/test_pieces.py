"""Pieces of one problem: ports that are held, or let go at their limits."""

from __future__ import annotations

import numpy as np
import pytest

from pliant import Cable, Corotational, Force, Inverse, Point, Robot, Statics, TetBody, make
from pliant.control import Question
from pliant.control.decider import Decider

MESH = make.box((0.1, 0.016, 0.016), (8, 2, 2))


def mixed(given=0.003, limits=(0, 20)):
    """An arm whose left tendon has a given length, and whose upper one is decided on."""
    body = TetBody(MESH, Corotational(E=300e3, nu=0.4), fixed=MESH.where(x_below=0))
    robot = Robot(body)
    for name, (y, z) in {"up": (0.008, 0.014), "left": (0.014, 0.010)}.items():
        cable = Cable([(x, y, z) for x in np.linspace(0.005, 0.095, 5)], pull=(-0.02, y, z))
        if name == "up":
            robot.actuate(name, cable, effort=(0, 20))
        else:
            robot.impose(name, cable, displacement=given, effort_limits=limits)
    robot.effect("tip", Point(near=(0.1, 0.008, 0.008), axes="yz"))
    return robot


def prepared(robot, wanted):
    """A decider with a model of the robot where it is at rest under its loads, and what is wanted on its desk."""
    state = Statics(robot).solve().require().state
    model = robot.linearize(state).model
    decider = Decider(Question(robot))
    decider.desk.course.wanted[:] = wanted
    decider.desk.holding.wanted[:] = decider.question.goal_of_given(model.references)
    return decider, model


def decided(decider, model):
    decider.efforts[:] = model.efforts[decider.question.sought]
    decider.displacements[:] = model.delta[decider.question.sought]
    status = decider.decide(decider.question.numbers(model), -1.0)
    return status, decider.all_efforts(model.efforts)


def objective(decider, model, efforts):
    """What is minimized: tracking of the whole model, and work."""
    asked, problem = decider.desk.asked, decider.desk.problem
    error = asked.S * (model.predicted(efforts)[asked.e] - decider.desk.course.wanted)
    own = efforts[asked.a]
    work = own @ model.W[np.ix_(asked.a, asked.a)] @ own
    return 0.5 * (error @ error + decider.energy * problem.norms[0] / problem.norms[1] * work) / problem.norms[0]


@pytest.mark.parametrize("given", [0.003, -0.02])
def test_objectives_of_two_pieces_can_be_compared(given):
    """Scales and weights are those of the whole model, held or let go: the objective of each piece is the same function of the
    efforts, and the piece that agrees with itself is a minimum over the efforts of the actuator."""
    decider, model = prepared(mixed(given), (0.008, 0.012))
    status, efforts = decided(decider, model)
    assert status.ok
    scale, norms = decider.desk.problem.scale.copy(), decider.desk.problem.norms.copy()
    best = objective(decider, model, efforts)
    wanted = decider.desk.asked.e
    assert decider.predicted() == pytest.approx(model.predicted(efforts)[wanted], rel=1e-9)
    sought = decider.question.sought
    limits = decider.question.given_limits
    for change in (0.98, 1.02):
        other = efforts.copy()
        other[sought] *= change
        other = model.efforts_holding(decider.question.given.rows, decider.desk.holding.wanted, limits, other)
        assert objective(decider, model, other) > best
    piece = decider.desk.holding.let_go.copy()
    decider.desk.holding.let_go[:] = 0 if piece.any() else -1
    again, efforts_again = decided(decider, model)
    assert again.ok
    assert (decider.desk.holding.let_go == piece).all(), "it finds its way back"
    assert efforts_again == pytest.approx(efforts, rel=1e-9, abs=1e-12)
    np.testing.assert_array_equal(decider.desk.problem.scale, scale)
    np.testing.assert_array_equal(decider.desk.problem.norms, norms)


def test_a_slack_cable_and_a_weak_one():
    """Of a cable that would have to push the effort is zero and it is longer than asked; one at its strength gives way."""
    for given, limits, effort in ((-0.02, (0, 20), 0.0), (0.02, (0, 1.0), 1.0)):
        robot = mixed(given, limits)
        decider, model = prepared(robot, (0.008, 0.012))
        _, efforts = decided(decider, model)
        rows = decider.question.given.rows
        assert efforts[rows] == pytest.approx([effort])
        short = model.predicted(efforts)[rows] - decider.desk.holding.wanted
        assert short[0] > 0 if effort == 0 else short[0] < 0


def test_rows_that_do_the_same_are_held_together():
    """Two cables in one place with the same given length: neither is refused, and they share the effort."""
    robot = mixed(0.003)
    robot.impose("twin", robot.ports["left"].port, displacement=0.003)
    step = Inverse(robot).solve_pose(tip=(0.009, 0.010)).require()
    left, twin = (robot.effort(step.state, name)[0] for name in ("left", "twin"))
    assert left == pytest.approx(twin, rel=1e-6)
    assert left > 0.1
    assert robot.displacement(step.state, "left") == pytest.approx([0.003], abs=1e-7)


def test_an_imposed_load_beside_a_given_length():
    """What is given and what is imposed are both in the model that decides."""
    robot = mixed(0.003)
    robot.impose("load", Force((0.1, 0.008, 0.008), direction=(0, 0, -1)), effort=0.02)
    step = Inverse(robot).solve_pose(tip=(0.0085, 0.0095))
    assert robot.displacement(step.state, "left") == pytest.approx([0.003], abs=1e-7)
    assert robot.effort(step.state, "load") == pytest.approx([0.02])
