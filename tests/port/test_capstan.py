"""Friction of cables: the capstan formula, dissipation over cycles, memory, and where it is refused."""

from __future__ import annotations

import numpy as np
import pytest

from pliant import Cable, Capstan, Corotational, Dynamics, Inverse, Point, Robot, State, Statics, TetBody, make
from pliant.errors import InputError

MESH = make.box((0.1, 0.016, 0.016), (10, 2, 2))
POINTS = [
    (0.005, 0.008, 0.010),
    (0.03, 0.008, 0.014),
    (0.055, 0.008, 0.009),
    (0.08, 0.008, 0.014),
    (0.095, 0.008, 0.01),
]
PULL = (-0.02, 0.008, 0.014)


def arm(port=None, damping=(0.0, 0.0), **given):
    body = TetBody(MESH, Corotational(E=300e3, nu=0.4), fixed=MESH.where(x_below=0), damping=damping)
    robot = Robot(body, gravity=(0, 0, -9.81))
    robot.sense("tip", Point(near=(0.1, 0.008, 0.008)))
    if port is not None:
        robot.impose("tendon", port, **given)
    return robot


def cable(friction, slip=1e-6):
    return Capstan(POINTS, pull=PULL, friction=friction, slip=slip)


@pytest.mark.parametrize("friction", [0.1, 0.5])
def test_the_tied_end_has_the_tension_of_the_capstan_formula(friction):
    """Round an arc of fixed points and tied to a soft end: T_end = T_0 exp(-mu total angle), falling at each bend."""
    mesh = make.box((0.12, 0.06, 0.02), (12, 6, 2))
    body = TetBody(mesh, Corotational(E=200e3, nu=0.4), fixed=mesh.where(x_below=0.08))
    robot = Robot(body)
    turn = np.linspace(0, np.pi / 2, 10)
    arc = np.stack([0.02 + 0.04 * np.sin(turn), 0.01 + 0.04 * (1 - np.cos(turn)), np.full(10, 0.01)], axis=1)
    points = [*arc, (0.115, 0.05, 0.01)]
    port = Capstan(points, pull=(-0.01, 0.01, 0.01), friction=friction, slip=1e-6)
    robot.impose("cable", port, effort=4.0)
    state = Statics(robot).solve().require().state
    where = robot.ports["cable"].attachment.positions(state.x)
    angles = port.angles(where)
    assert angles.sum() > np.pi / 2
    tensions = port.tensions(robot.effort(state, "cable"))
    assert tensions == pytest.approx(4.0 * np.exp(-friction * np.concatenate([[0.0], np.cumsum(angles)])), rel=1e-6)
    for _ in range(3):
        robot.set_effort("cable", 3.9)
        state = Statics(robot).solve(state).require().state
    held = port.tensions(robot.effort(state, "cable"))
    assert held[-1] > tensions[-1] * 0.975  # released a little, the cable sticks and the end keeps more of its tension


def cycle(friction, given):
    """Work in at the pull minus work on the nodes at each increment, with the tensions at its end [J], and the states."""
    robot = arm(cable(friction), displacement=0.0)
    port, statics = cable(friction), Statics(robot)
    state = statics.solve().require().state
    lost, states = [], [state]
    for value in given:
        robot.set_displacement("tendon", value)
        after = statics.solve(state).require().state
        efforts = robot.effort(after, "tendon")
        change = robot.displacement(after, "tendon") - robot.displacement(state, "tendon")
        here, there = (robot.ports["tendon"].attachment.positions(s.x) for s in (state, after))
        shortened = segment_lengths(here) - segment_lengths(there)
        work_on_nodes = float(port.tensions(efforts) @ shortened)
        lost.append(float(efforts[0] * change[0]) - work_on_nodes)
        state = after
        states.append(state)
    return np.array(lost), states, robot


def segment_lengths(p):
    return np.linalg.norm(np.diff(np.concatenate([[PULL], p]), axis=0), axis=1)


CYCLE = [*np.linspace(0.0, 0.008, 9)[1:], *np.linspace(0.008, 0.002, 7)[1:], *np.linspace(0.002, 0.008, 7)[1:]]


def test_a_cycle_of_pull_and_release_dissipates():
    """What goes in at the pull and not to the nodes is never negative, increment by increment, and positive over the cycle."""
    lost, states, robot = cycle(0.3, CYCLE)
    assert lost.min() > 1e-4
    assert lost[8:].sum() > 5e-3
    up, down = robot.effort(states[8 - 2], "tendon")[0], robot.effort(states[8 + 2], "tendon")[0]
    assert up > 1.1 * down  # the same length, on the way in and on the way out


def test_small_increments_store_no_more_than_the_regularization_can():
    """Reversed in steps as short as the slip on which friction builds up: what comes back is less than tension times slip."""
    turn = 0.004 + 2e-6 * np.concatenate([np.arange(1, 6), np.arange(4, -10, -1), np.arange(-9, 5)])
    lost, _, _ = cycle(0.3, [0.004, *turn])
    assert lost.min() < 0
    assert lost.min() > -5.0 * 1e-6
    assert lost[1:].sum() > 0


def test_without_friction_nothing_is_lost():
    """mu = 0 is a Cable: the same state, no friction at any bend, no loss."""
    lost, states, robot = cycle(0.0, CYCLE[:10])
    assert lost == pytest.approx(np.zeros(10), abs=1e-15)
    assert np.array_equal(robot.effort(states[-1], "tendon")[1:], np.zeros(4))
    plain = arm(Cable(POINTS, pull=PULL), displacement=CYCLE[9])
    assert np.abs(Statics(plain).solve().require().state.x - states[-1].x).max() < 1e-8


def test_anchors_are_memory_of_the_state(tmp_path):
    """They move with accepted steps only, survive the disk, and the answer goes on from there; foreign memory is refused."""
    _, states, robot = cycle(0.3, CYCLE[:10])
    state = states[-1]
    assert np.abs(state.memory["tendon"]).min() > 1e-4
    state.save(tmp_path / "state")
    again = State.load(tmp_path / "state.npz")
    assert np.array_equal(again.memory["tendon"], state.memory["tendon"])
    robot.set_displacement("tendon", 0.0065)
    ends = [Statics(robot).solve(start).require().state for start in (state, again)]
    assert np.array_equal(ends[0].x, ends[1].x)
    forgetful = State(state.pose, state.v, state.efforts)
    with pytest.raises(InputError, match="memory of no port"):
        Statics(robot).solve(forgetful)
    failed = Statics(robot, max_iterations=1).solve(state)
    assert not failed.ok
    assert np.array_equal(failed.state.memory["tendon"], state.memory["tendon"])


@pytest.mark.parametrize("method", ["linearized", "newton"])
def test_friction_in_dynamics(method):
    """Pulled slowly with damping, the tensions end near those of statics, lower towards the tied end."""
    robot = arm(cable(0.3, slip=1e-5), damping=(20.0, 0.02), effort=0.0)
    state, motion = robot.rest(), Dynamics(robot, 0.01, method=method)
    for k in range(150):
        robot.set_effort("tendon", 2.0 * min(1.0, (k + 1) / 100))
        state = motion.step(state).require().state
    tensions = Capstan.tensions(robot.effort(state, "tendon"))
    assert (np.diff(tensions) < 0).all()
    still = arm(cable(0.3, slip=1e-5), effort=2.0)
    expected = Capstan.tensions(still.effort(Statics(still).solve().require().state, "tendon"))
    assert tensions == pytest.approx(expected, rel=0.02)


def test_friction_is_for_plants():
    """Actuators, effectors and the inverse refuse it and say what to do instead."""
    robot = arm()
    with pytest.raises(InputError, match=r"'tendon' is a Capstan.*impose"):
        robot.actuate("tendon", cable(0.1), effort=(0, 10))
    with pytest.raises(InputError, match="'tendon' is a Capstan"):
        robot.effect("tendon", cable(0.1))
    robot.actuate("other", Cable(POINTS, pull=PULL), effort=(0, 10))
    robot.effect("goal", Point(near=(0.1, 0.008, 0.008)))
    robot.impose("tendon", cable(0.1), effort=0.0)
    with pytest.raises(InputError, match="'tendon' has friction"):
        Inverse(robot)
    for bad in ({"friction": -0.1}, {"friction": np.nan}, {"friction": 0.1, "slip": 0.0}):
        with pytest.raises(InputError, match=r"friction is|slip is"):
            Capstan(POINTS, **bad)
