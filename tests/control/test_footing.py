"""Steps from equilibrium to equilibrium: balance, stability, progress, and where robots rest."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import pliant as pl
from pliant import Cable, Corotational, Force, Inverse, Point, Robot, Statics, TetBody, make, stability
from pliant.control import DecisionStatus, Question
from pliant.control.footing import BALANCED, Footing
from pliant.control.motors import count_excess
from pliant.control.standing import Standing

MESH = make.box((0.1, 0.008, 0.008), (16, 1, 1))


def strip(*, effort=(0.0, 3.0), gravity=(0, 0, -9.81), push=2.0, **limits):
    """A slender arm: a tendon on each of two sides, and a force at the tip that buckles it from 0.11 N on."""
    body = TetBody(MESH, Corotational(E=1e6, nu=0.3), density=1000, fixed=MESH.where(x_below=0))
    robot = Robot(body, gravity=gravity)
    for name, z in (("up", 0.007), ("down", 0.001)):
        cable = Cable([(0.01, 0.004, z), (0.09, 0.004, z)], pull=(-0.02, 0.004, z))
        robot.actuate(name, cable, effort=effort, **limits)
    if push:
        robot.actuate("push", Force((0.1, 0.004, 0.004), direction=(-1, 0, 0)), effort=(0, push))
    robot.effect("tip", Point(near=(0.1, 0.004, 0.004)))
    return robot


def settled_tip(robot):
    state = Statics(robot).solve().require().state
    return state, robot.displacement(state, "tip")


def steps(inverse, state, target, count):
    """So many steps towards a target."""
    for _ in range(count):
        step = inverse.step(state, interval=0.02, tip=target)
        yield step
        state = step.state


@pytest.mark.parametrize("kind", ["effort", "displacement"])
def test_out_of_reach_it_comes_to_rest_in_balance_and_stable(kind):
    """Whatever is asked, in the end nothing moves, forces balance, the robot is stable with what its motors hold, and the word
    says why it is not there; a target within reach is reached from there, exactly."""
    robot = strip(push=0.0, effort=(0.0, 1.0))
    inverse = Inverse(robot, kind=kind)
    robot.set_effort("up", 0.3)
    _, reachable = settled_tip(robot)
    robot.set_effort("up", 0.0)
    state, home = settled_tip(robot)
    for off in ((0.0, 0.0, 0.2), (-0.3, 0.0, 0.0), (0.05, 0.08, 0.05), (0.0, 0.0, -0.2)):
        *_, before, step = steps(inverse, state, home + np.array(off), 150)
        state = step.state
        assert step.status in (DecisionStatus.LIMITED, DecisionStatus.CLOSEST)
        assert np.abs(state.efforts - before.state.efforts).max() < 1e-6
        assert robot.unbalanced(state) < 1e-6
        assert step.unbalanced < 1e-6
        assert (step.status is DecisionStatus.LIMITED) == bool(step.active)
        if kind == "effort":
            assert stability(robot, state).is_stable
        assert step.distance == pytest.approx(np.linalg.norm(robot.displacement(state, "tip") - home - off), abs=1e-8)
        *_, step = steps(inverse, state, reachable, 80)
        assert step.status is DecisionStatus.REACHED
        assert np.linalg.norm(robot.displacement(step.state, "tip") - reachable) < 1e-5 * robot.size
        state = step.state


def test_it_stops_with_a_margin_before_stability_is_lost():
    """A force pushes the arm on its tip, to bring it nearer to its root: beyond Euler's load the straight arm is unstable. The
    inverse stops before, names stability, and what it says of the margin is what is left."""
    robot = strip(gravity=(0, 0, 0))
    state, home = settled_tip(robot)
    words = []
    for step in steps(Inverse(robot), state, home - np.array([0.03, 0.0, 0.0]), 120):
        words.append(step.status)
        assert step.unbalanced <= BALANCED or step.status is DecisionStatus.SLOWED
    assert words[-1] is DecisionStatus.LIMITED
    assert step.active == ("stability",)
    assert step.state.efforts[robot.ports["push"].rows][0] < 0.25
    found = stability(robot, step.state)
    assert found.is_stable
    assert 0.0 < step.margin < 0.1
    assert step.distance > 0.02


def test_green_is_a_promise():
    """On the way to far targets: a step that is SOLVED, or at rest, leaves at most 1 % of the largest load out of balance."""
    robot = strip(push=0.0)
    inverse, rng = Inverse(robot), np.random.default_rng(5)
    state, home = settled_tip(robot)
    seen = set()
    for _ in range(4):
        for step in steps(inverse, state, home + 0.04 * rng.normal(size=3), 25):
            seen.add(step.status)
            true = robot.unbalanced(step.state)
            if step.status is not DecisionStatus.SLOWED:
                assert true <= 1.05 * BALANCED
            assert true <= 2 * max(step.unbalanced, 0.5 * BALANCED), "what is expected is not far off"
            state = step.state
    assert {DecisionStatus.SOLVED, DecisionStatus.SLOWED} <= seen


def test_a_load_that_changes_on_the_way_is_no_mistake():
    """Efforts that a user changes on a state wake a robot that rests, and it comes to rest again in balance."""
    robot = strip(push=0.0)
    robot.impose("hand", Force((0.1, 0.004, 0.004), direction=(0, 1, 0)), effort=0.0)
    state, home = settled_tip(robot)
    inverse = Inverse(robot)
    *_, step = steps(inverse, state, home + np.array([0, 0, 0.06]), 150)
    assert step.status.at_rest
    efforts = step.state.efforts.copy()
    efforts[robot.ports["hand"].rows] = 0.05
    pushed = replace(step.state, efforts=efforts)
    *_, after = steps(inverse, pushed, home + np.array([0, 0, 0.06]), 150)
    assert after.status.at_rest
    assert robot.displacement(after.state, "tip")[1] - home[1] > 1e-3
    assert robot.unbalanced(after.state) < 1e-6
    assert after.state.efforts[robot.ports["hand"].rows] == pytest.approx([0.05])


def test_another_state_is_a_new_beginning():
    """An answer depends on the steps that led to its state, not on what else was asked of the inverse."""
    robot = strip(push=0.0)
    state, home = settled_tip(robot)
    fresh, used = Inverse(robot), Inverse(robot)
    for _ in steps(used, state, home + np.array([0.0, 0.1, 0.3]), 30):
        pass
    a, b = (inverse.step(state, tip=home + np.array([0, 0, 0.004])) for inverse in (fresh, used))
    np.testing.assert_array_equal(a.state.x, b.state.x)
    np.testing.assert_array_equal(a.state.efforts, b.state.efforts)


def test_an_unstable_beginning_is_told():
    """A straight column beyond its critical load: no decision, and the remedy."""
    robot = strip(gravity=(0, 0, 0))
    robot.set_effort("push", 0.4)
    straight = Statics(robot, branch="any").solve()
    assert straight.status.name == "UNSTABLE"
    step = Inverse(robot).step(straight.state, tip=robot.displacement(straight.state, "tip"))
    assert step.status is DecisionStatus.UNSTABLE
    assert not step.ok
    with pytest.raises(pl.errors.NotConvergedError, match="begin from a stable one"):
        step.require()


def test_the_count_of_ways_down_is_that_of_dense_eigenvalues():
    """n-(K) - n-(W_hh) is the number of negative eigenvalues of K on the motions that keep the held rows."""
    robot = strip(gravity=(0, 0, 0))
    robot.set_effort("push", 1.5)
    state = Statics(robot, branch="any").solve().state
    here = robot.linearize(state, signed=True)
    K = here.matrix().toarray()
    K = K + np.tril(K, -1).T if np.allclose(K, np.tril(K)) else K
    rows = np.arange(len(robot.row_names))
    free = np.linalg.eigvalsh(K)
    assert here.model.negatives == (free < 0).sum() > 1
    none = np.empty(0, int)
    assert count_excess(here.model, none, np.empty((0, 2))) == here.model.negatives
    equations = robot.equations
    placed = [a.faced(state.x) for a in equations.attachments.values()]
    H = equations.rows.at(placed, equations.assembly.slope(state.pose))
    dense = np.zeros((len(rows), len(K)))
    for row in rows:
        part = slice(H.indptr[row], H.indptr[row + 1])
        np.add.at(dense[row], H.indices[part], H.data[part])
    for held in ([0], [0, 1], [2], [3, 4, 5], [0, 1, 2, 4]):
        _, _, V = np.linalg.svd(dense[held])
        Z = V[len(held) :].T
        wide = np.tile([-np.inf, np.inf], (len(held), 1))
        assert count_excess(here.model, np.array(held), wide) == (np.linalg.eigvalsh(Z.T @ K @ Z) < 0).sum()


def test_what_a_model_for_decisions_keeps():
    """Past a limit point, motors that hold displacements decide by a model that is positive definite over them and moves the
    effectors per length as the true one does; before, by the model itself."""
    robot = strip(gravity=(0, 0, 0))
    question = Question(robot)
    footing = Footing(question, kind="displacement", tangent="exact", largest_move=0.05)
    begin = footing.arrive(robot.rest()).model
    assert footing.motors.for_decisions(begin) is begin
    robot.set_effort("push", 0.4)
    state = Statics(robot, branch="any").solve().state
    model = robot.linearize(state, signed=True).model
    assert model.negatives
    other = footing.motors.for_decisions(model)
    a, e = question.sought, question.wanted.rows
    assert np.linalg.eigvalsh(other.W[np.ix_(a, a)])[0] > 0
    np.testing.assert_allclose(
        other.W[np.ix_(e, a)] @ np.linalg.inv(other.W[np.ix_(a, a)]),
        model.W[np.ix_(e, a)] @ np.linalg.inv(model.W[np.ix_(a, a)]),
        rtol=1e-6,
        atol=1e-9,
    )
    np.testing.assert_allclose(other.predicted(other.efforts), model.predicted(footing.motors.kept(model)), atol=1e-12)
    assert footing.standing is Standing.FIRM


def test_poses_are_found_strictly_within_their_limits(rng):
    """Random targets, in reach and out of it: efforts and displacements are within their limits to 1e-9, forces balance, and
    the word says what is in the way."""
    robot = strip(push=0.0, effort=(0.0, 0.6), displacement=(-0.004, 0.0025))
    state, home = settled_tip(robot)
    inverse, seen = Inverse(robot), set()
    for _ in range(12):
        step = inverse.solve_pose(state, tip=home + 0.03 * rng.normal(size=3)).require()
        seen.add(step.status)
        assert step.status.at_rest
        assert robot.unbalanced(step.state) < 1e-6
        for name in ("up", "down"):
            effort, length = float(step.efforts[name][0]), float(robot.displacement(step.state, name)[0])
            assert -1e-9 <= effort <= 0.6 + 1e-9
            assert -0.004 - 1e-9 <= length <= 0.0025 + 1e-9
        assert (step.status is DecisionStatus.LIMITED) == bool(step.active and step.distance > 1e-6)
    assert DecisionStatus.LIMITED in seen
