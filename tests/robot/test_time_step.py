"""One step through time: its W against what the step does, the past that a state carries, and who drops it."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from conftest import random_rotation
from pliant import (
    Cable,
    Corotational,
    Dynamics,
    ExtraRows,
    Force,
    Inverse,
    NeoHookean,
    Point,
    Robot,
    State,
    Statics,
    TetBody,
    make,
)
from pliant.errors import InputError
from pliant.robot._begun_kernels import moments, turn
from pliant.robot.state import Past
from pliant.robot.time_step import TimeStep

MESH = make.box((0.06, 0.02, 0.02), (4, 2, 2))
H = 0.004


def pulled(*, rigid=False, held=True, damping=(1.0, 2e-3)):
    """A bar with a force and a cable on it, both loaded, and a point to look at."""
    more = {"fixed": MESH.where(x_below=0)} if held else {}
    more |= {"rigid": {"middle": MESH.where(x_above=0.02, x_below=0.05)}} if rigid else {}
    robot = Robot(TetBody(MESH, NeoHookean(E=1e5, nu=0.4), damping=damping, **more), gravity=(0, 0, -9.81))
    robot.impose("push", Force((0.06, 0.01, 0.02), direction=(0.2, 1, -0.3)), effort=0.05)
    pull = {"pull": (-0.02, 0.01, 0.02)} if held else {}
    robot.impose("rope", Cable([(0.005, 0.01, 0.018), (0.03, 0.01, 0.018), (0.055, 0.01, 0.018)], **pull), effort=0.1)
    robot.sense("tip", Point(near=(0.06, 0.0, 0.0)))
    return robot


def moving(robot: Robot, steps: int = 4) -> State:
    """In the middle of a motion that also turns."""
    state = robot.rest()
    if not robot.is_supported:
        state.v[:] = np.cross([1.0, 2.0, 9.0], state.x - state.x.mean(axis=0))
    for _ in range(steps):
        state = Dynamics(robot, H).step(state).require().state
    return state


CASES = [
    pytest.param({}, id="held"),
    pytest.param({"rigid": True}, id="held with a rigid middle"),
    pytest.param({"held": False}, id="free and spinning"),
    pytest.param({"held": False, "rigid": True}, id="free with a rigid middle"),
]


@pytest.mark.parametrize("scheme", ["generalized-alpha", "euler"])
@pytest.mark.parametrize("options", CASES)
def test_compliance_of_a_step_is_what_the_step_does(options, scheme):
    """In the middle of a motion, W of a step is the slope of the step of Dynamics by each effort, to 1e-6, its delta_free leads
    where that step leads, and follow makes the same state of it, past and all."""
    robot = pulled(**options)
    state = moving(robot)
    assert state.past is not None
    model = robot.linearize(state, h=H, scheme=scheme).model
    straight = [model.names.index(name) for name in model.names if not name.startswith("rope")]
    motion = Dynamics(robot, H, scheme=scheme)

    def reached():
        end = motion.step(state).require().state
        return np.concatenate([robot.displacement(end, name) for name in robot.ports]), end

    for column, (name, size) in enumerate({"push": 1e-2, "rope": 1e-2}.items()):
        ends = []
        for sign in (1, -1):
            robot.set_effort(name, model.efforts[column] + sign * size)
            ends.append(reached()[0])
        robot.set_effort(name, model.efforts[column])
        slope = ((ends[0] - ends[1]) / (2 * size))[straight]
        assert np.abs(slope - model.W[straight, column]).max() < 1e-6 * np.abs(model.W[:, column]).max()
    robot.set_effort("push", 0.3)
    delta, end = reached()
    assert delta[straight] == pytest.approx(model.predicted(robot.efforts)[straight], abs=1e-12)
    after, share, *_ = robot.linearize(state, h=H, scheme=scheme).follow(robot.efforts)
    assert share == 1.0
    assert np.abs(after.x - end.x).max() < 1e-13
    assert np.abs(after.v - end.v).max() < 1e-10
    assert (after.past is None) == (end.past is None) == (scheme == "euler")


@pytest.mark.parametrize("rigid", [False, True])
def test_compliance_of_a_step_at_rest_is_that_of_the_nonlinear_step(rigid):
    """At an equilibrium with a past that rested there, W of all rows is the slope of the step by Newton, to 1e-6."""
    robot = pulled(rigid=rigid)
    still = Statics(robot, tolerance=1e-13).solve().require().state
    none = np.zeros_like(still.x)
    state = replace(still, past=Past(H, still.pose, none, none))
    model = robot.linearize(state, h=H).model
    assert model.delta == pytest.approx(model.predicted(model.efforts), abs=1e-12)
    motion = Dynamics(robot, H, method="newton", tolerance=1e-13)
    for column, name in enumerate(("push", "rope")):
        ends = []
        for sign in (1, -1):
            robot.set_effort(name, model.efforts[column] + sign * 1e-3)
            end = motion.step(state).require().state
            ends.append(np.concatenate([robot.displacement(end, other) for other in robot.ports]))
        robot.set_effort(name, model.efforts[column])
        slope = (ends[0] - ends[1]) / 2e-3
        assert np.abs(slope - model.W[:, column]).max() < 1e-6 * np.abs(model.W[:, column]).max()


@pytest.mark.parametrize("scheme", ["generalized-alpha", "euler"])
def test_the_inverse_decides_by_the_same_compliance(scheme):
    """Where limits leave it free, an inverse with a time step lands where its model says: W and delta_free of the step, which
    Dynamics takes with the efforts that were decided."""
    mesh = make.box((0.06, 0.02, 0.02), (4, 2, 2))
    body = TetBody(mesh, Corotational(E=1e5, nu=0.4), fixed=mesh.where(x_below=0), damping=(0.0, 5e-3))
    robot = Robot(body, gravity=(0, 0, -9.81))
    robot.actuate("lift", Force((0.06, 0.01, 0.02), direction=(0, 0, 1)), effort=(-5, 5))
    robot.effect("tip", Point(near=(0.06, 0.0, 0.0), axes="z"))
    inverse, state = Inverse(robot, h=H, scheme=scheme), robot.rest()
    for k in range(5):
        before, model = state, robot.linearize(state, h=H, scheme=scheme).model
        step = inverse.step(state, tip=1e-4 * k * k).require()
        state = step.state
        assert robot.displacement(state, "tip") == pytest.approx([1e-4 * k * k], abs=1e-9)
        assert model.predicted(state.efforts)[1] == pytest.approx(1e-4 * k * k, abs=1e-9)
    forward = robot.with_roles({"lift": None, "tip": None})
    forward.impose("lift", Force((0.06, 0.01, 0.02), direction=(0, 0, 1)), effort=step.efforts["lift"][0])
    again = Dynamics(forward, H, scheme=scheme).step(replace(before, efforts=before.efforts[:1])).require().state
    assert np.abs(again.x - state.x).max() < 1e-12


def test_a_past_survives_the_disk(tmp_path):
    """A state that was saved in the middle of a motion goes on as it would have."""
    robot = pulled(rigid=True)
    state = moving(robot)
    state.save(tmp_path / "state")
    again = State.load(tmp_path / "state")
    ends = [Dynamics(robot, H).step(begin).require().state for begin in (state, again)]
    assert np.array_equal(ends[0].x, ends[1].x)
    assert np.array_equal(ends[0].past.lagging, ends[1].past.lagging)
    state.without_past().save(tmp_path / "plain")
    assert State.load(tmp_path / "plain").past is None


def test_who_puts_a_state_elsewhere_drops_its_past():
    """At rest, at an equilibrium and after backward Euler there is no past; a motion without one begins with backward Euler."""
    robot = pulled()
    state = moving(robot)
    assert state.at_rest().past is None
    assert state.without_past().past is None
    assert np.array_equal(state.without_past().v, state.v)
    assert Statics(robot).solve(state).require().state.past is None
    assert Dynamics(robot, H, scheme="euler").step(state).require().state.past is None
    plain = Robot(TetBody(MESH, NeoHookean(E=1e5, nu=0.4), fixed=MESH.where(x_below=0)), gravity=(0, 0, -9.81))
    begin = moving(plain, 3).without_past()
    first, euler = (Dynamics(plain, H, scheme=scheme).step(begin).state for scheme in ("generalized-alpha", "euler"))
    assert np.array_equal(first.x, euler.x)
    assert np.array_equal(first.v, euler.v)
    again = moving(plain, 3)
    longer, euler = (
        Dynamics(plain, 3 * H, scheme=scheme).step(again).state for scheme in ("generalized-alpha", "euler")
    )
    assert np.array_equal(longer.x, euler.x), "three times as long as the step before"


def test_a_gap_that_closes_ends_the_past():
    """A bar thrown at a floor: free steps have a past, the step that lands has none and the velocity of its way, and what lies
    on the floor has one again."""
    robot = Robot(TetBody(MESH, Corotational(E=1e5, nu=0.3)), gravity=(0, 0, -9.81))
    feet = MESH.where(z_below=0)
    up = np.tile([0.0, 0.0, 1.0], (len(feet), 1))
    floor = ExtraRows.of(feet[:, None], np.ones((len(feet), 1)), up, origins=-0.005, limits=(0, np.inf))
    for method in ("linearized", "newton"):
        motion, state, landed = Dynamics(robot, 0.005, method=method), robot.rest(), False
        for _ in range(60):
            before, state = state, motion.step(state, extra=floor).require().state
            loose = before.extra if len(before.extra) else np.zeros(len(feet))
            closes = bool(((loose == 0) & (state.extra > 0)).any())
            assert (state.past is None) == closes
            if closes:
                assert np.array_equal(state.v, (state.x - before.x) / 0.005)
                landed = True
        assert landed
        assert state.past is not None


def test_bad_schemes_are_named():
    """A scheme that there is not, wherever one is asked for."""
    robot = pulled()
    robot.actuate("lift", Force((0.06, 0.01, 0.02), direction=(0, 0, 1)), effort=(-5, 5))
    robot.effect("end", Point(near=(0.06, 0.0, 0.0), axes="z"))
    for action in (
        lambda: Dynamics(robot, H, scheme="bdf9"),
        lambda: robot.linearize(robot.rest(), h=H, scheme="bdf9"),
        lambda: Inverse(robot, h=H, scheme="bdf9"),
        lambda: TimeStep.of(robot.rest(), H, "bdf9"),
    ):
        with pytest.raises(InputError, match="scheme is 'bdf9'"):
            action()


def test_kernels_of_parts_that_turn(rng):
    """Sums and turned nodes as NumPy has them, on some of the nodes."""
    x, y, nodes = rng.normal(size=(9, 3)), rng.normal(size=(9, 3)), np.array([1, 2, 5, 8])
    middle, product = np.empty(3), np.empty((3, 3))
    moments(nodes, x, y, middle, product)
    assert middle == pytest.approx(x[nodes].mean(axis=0))
    assert product == pytest.approx((x[nodes] - middle).T @ y[nodes])
    rotation, goal, out = random_rotation(rng), rng.normal(size=3), x.copy()
    turn(nodes, x, middle, rotation, goal, out)
    expected = x.copy()
    expected[nodes] = goal + (x[nodes] - middle) @ rotation.T
    assert out == pytest.approx(expected)
