"""Robots: the condensed model against the nonlinear statics, states on disk, bad input."""

from __future__ import annotations

import numpy as np
import pytest

from hollow import hollow_box
from pliant import Cavity, Corotational, Force, NeoHookean, Point, Robot, State, Statics, TetBody, solids
from pliant.errors import FileError, InputError, InvertedElementError, NotPositiveDefiniteError, SupportError
from pliant.robot.diagnosis import diagnosis

CAVITY = solids.box((0.04, 0.01, 0.01), at=(0.01, 0.005, 0.005))
MESH = hollow_box((0.06, 0.02, 0.02), (6, 4, 4), CAVITY)


def loaded_robot(order=1, rigid=False, efforts=(0.05, 0.03, 2e3)):
    """A cantilever with a force, a force between two points and an embedded chamber, all loaded."""
    tip = {"tip": MESH.where(x_above=0.06)} if rigid else {}
    body = TetBody(MESH, NeoHookean(E=1e5, nu=0.4), order=order, fixed=MESH.where(x_below=0), rigid=tip)
    robot = Robot(body, gravity=(0, 0, -9.81))
    robot.impose("push", Force((0.055, 0.01, 0.02), direction=(0.2, 1, -0.3)), effort=efforts[0])
    robot.impose("pull", Force((0.05, 0.002, 0.018), towards=(0.01, 0.01, 0.019)), effort=efforts[1])
    robot.impose("air", Cavity(CAVITY), effort=efforts[2])
    robot.sense("tip", Point(near=(0.06, 0.01, 0.01)))
    return robot


@pytest.mark.parametrize(("order", "rigid"), [(1, False), (2, False), (1, True)])
def test_compliance_is_the_slope_of_the_equilibrium(order, rigid, capsys):
    """W equals central differences of the converged nonlinear statics by each effort; the warped one's error is printed."""
    robot = loaded_robot(order, rigid)
    statics = Statics(robot, tolerance=1e-12)
    state = statics.solve().require().state
    model = robot.linearize(state).model
    assert np.abs(model.W - model.W.T).max() <= 1e-10 * np.abs(model.W).max()
    assert model.delta == pytest.approx(model.predicted(model.efforts), rel=1e-7)
    for column, (name, size) in enumerate({"push": 1e-4, "pull": 1e-4, "air": 2.0}.items()):
        effort = model.efforts[column]
        ends = []
        for sign in (1, -1):
            robot.set_effort(name, effort + sign * size)
            end = statics.solve(state).require().state
            ends.append(np.concatenate([robot.displacement(end, name) for name in robot.ports]))
        robot.set_effort(name, effort)
        slope = (ends[0] - ends[1]) / (2 * size)
        assert np.abs(slope - model.W[:, column]).max() < 1e-4 * np.abs(slope).max()
    warped = robot.linearize(state, tangent="warped").model.W
    with capsys.disabled():
        print(
            f"\n  W of the warped tangent is off by up to {100 * np.abs(warped / model.W - 1)[:3, :3].max():.0f} %",
            end="",
        )


def test_rows_are_named_and_sliced():
    """W's rows carry the ports' names."""
    model = loaded_robot().linearize(loaded_robot().rest()).model
    assert model.names == ("push", "pull", "air", "tip.x", "tip.y", "tip.z")
    assert list(model.rows("tip", "air")) == [3, 4, 5, 2]
    assert set(model.times) == {"assemble", "ports", "factor", "condense"}


def test_condensed_step_predicts_the_dynamic_step():
    """With a time step, delta = W lambda + delta_free is what a linearized backward Euler step does."""
    from pliant import Dynamics

    robot = loaded_robot(efforts=(0.0, 0.0, 0.0))
    state = robot.rest()
    model = robot.linearize(state, h=0.01).model
    robot.set_effort("push", 0.02)
    robot.set_effort("air", 300.0)
    after = Dynamics(robot, 0.01).step(state).require().state
    predicted = model.predicted(robot.efforts)
    assert robot.displacement(after, "tip") == pytest.approx(predicted[3:], abs=1e-9)


def test_a_linearization_of_the_past_is_not_followed():
    """Linearized at A, then at B: what was made at A is refused, not misused; its model, numbers of its own, stays."""
    from pliant import Dynamics

    robot = loaded_robot()
    state = Statics(robot).solve().require().state
    here = robot.linearize(state)
    good, share, *_ = here.follow(here.model.efforts)
    assert share == 1.0
    assert np.abs(good.x - state.x).max() < 1e-9
    force = np.full_like(state.x, 1e-3)
    for other in (
        lambda: Dynamics(robot, 0.01).step(state),
        lambda: robot.linearize(state, h=0.01),
        lambda: robot.linearize(robot.rest()),
        lambda: Statics(robot).solve(robot.rest()),
    ):
        here = robot.linearize(state)
        moved, W = here.solve(force), here.model.W.copy()
        other()
        with pytest.raises(InputError, match="of the past"):
            here.follow(here.model.efforts)
        with pytest.raises(InputError, match="of the past"):
            here.solve(force)
        assert (here.model.W == W).all()
        assert robot.linearize(state).solve(force) == pytest.approx(moved, rel=1e-9)


def test_a_linearization_solves_for_forces():
    """K u = f on the nodes that are free, by differences of equilibria."""
    robot = loaded_robot()
    state = Statics(robot, tolerance=1e-12).solve().require().state
    rows = robot.ports["tip"].rows
    here = robot.linearize(state)
    attachment = robot.ports["tip"].attachment
    force = np.zeros_like(state.x)
    force[attachment.entry_nodes] = attachment.at(state.x).slopes[0]
    moved = here.solve(force)
    seen = np.einsum("rei,ei->r", attachment.at(state.x).slopes, moved[attachment.entry_nodes])
    assert seen == pytest.approx(here.model.W[rows, rows.start], rel=1e-9)


def test_states_of_another_robot_are_refused():
    """A state made before a port was added, or of another order, is refused by everything that takes a state."""
    from pliant import Dynamics, natural_modes

    robot, other = loaded_robot(), loaded_robot(order=2)
    old = robot.rest()
    robot.sense("late", Point(near=(0.03, 0.01, 0.02)))
    for state in (old, other.rest()):
        for action in (
            lambda s: robot.linearize(s),
            lambda s: Statics(robot).solve(s),
            lambda s: Statics(robot).step(s),
            lambda s: Dynamics(robot, 0.01).step(s),
            lambda s: robot.displacement(s, "tip"),
            lambda s: robot.reactions(s),
            lambda s: natural_modes(robot, 2, s),
        ):
            with pytest.raises(InputError, match="the state has"):
                action(state)


def test_a_refused_port_leaves_no_trace():
    """After a bad effort, a point far outside or a wrong shape the same name can be used, and other ports are as before."""
    robot = loaded_robot()
    before = robot.efforts
    for port, effort, message in (
        (Point(near=(0, 0, 0)), float("nan"), "effort of 'new' is nan"),
        (Point(near=(0, 0, 0)), [1.0, 2.0], "effort of 'new'"),
        (Point(near=(1, 0, 0)), 0.0, "port 'new': "),
    ):
        with pytest.raises(InputError, match=message):
            robot.impose("new", port, effort=effort)
    assert np.array_equal(robot.efforts, before)
    robot.impose("new", Point(near=(0, 0, 0)), effort=[0.1, 0.2, 0.3])
    assert robot.efforts[-3:] == pytest.approx([0.1, 0.2, 0.3])


def test_gravity_can_be_changed_but_not_by_accident():
    """set_gravity takes effect; the attribute is read-only."""
    robot = loaded_robot(efforts=(0.0, 0.0, 0.0))
    hanging = robot.displacement(Statics(robot).solve().require().state, "tip")[2]
    with pytest.raises((ValueError, AttributeError)):
        robot.gravity[2] = 0.0
    robot.set_gravity((0, 0, 0))
    assert robot.displacement(Statics(robot).solve().require().state, "tip")[2] == pytest.approx(0.01)
    assert hanging < 0.0095


def test_nodes_of_each_body():
    """Positions of one of two bodies, as its fields take them."""
    far = TetBody(MESH.translated((0, 0.1, 0)), NeoHookean(E=1e5, nu=0.4), fixed=MESH.where(x_below=0))
    robot = Robot(loaded_robot().bodies[0], far, gravity=(0, 0, -9.81))
    state = Statics(robot).solve().require().state
    assert np.abs(robot.nodes(state, far)[:, 1].mean() - 0.11) < 1e-3
    assert np.isfinite(far.fields(robot.nodes(state, "body 1")).stress).all()


def test_states_survive_the_disk(tmp_path):
    """save and load give the same arrays, without pickle."""
    robot = loaded_robot(rigid=True)
    state = Statics(robot).solve().require().state
    state.save(tmp_path / "state.npz")
    again = State.load(tmp_path / "state.npz")
    for a, b in ((state.x, again.x), (state.pose.rotations, again.pose.rotations), (state.efforts, again.efforts)):
        assert np.array_equal(a, b)
    state.save(tmp_path / "plain")
    assert np.array_equal(State.load(tmp_path / "plain").x, state.x)
    whole = (tmp_path / "state.npz").read_bytes()
    for content in (b"nothing", b"", whole[: len(whole) // 2]):
        (tmp_path / "other.npz").write_bytes(content)
        with pytest.raises(FileError, match="holds no robot state"):
            State.load(tmp_path / "other.npz")


def test_nothing_fixed_is_said():
    """Statics of a free body raises a SupportError before anything is solved, linearize one that names the cause."""
    robot = Robot(TetBody(MESH, Corotational(E=1e5, nu=0.3)))
    with pytest.raises(SupportError, match="nothing is fixed"):
        Statics(robot).solve()
    with pytest.raises(SupportError, match="nothing is fixed"):
        robot.linearize(robot.rest())


def test_a_body_that_can_still_slide_is_said():
    """Sliding on one plane only leaves motions in the plane: not positive definite, named, in statics a result."""
    robot = Robot(TetBody(MESH, Corotational(E=1e5, nu=0.3), sliding=[(MESH.where(x_below=0), (1, 0, 0))]))
    result = Statics(robot).solve()
    assert not result.ok
    with pytest.raises(NotPositiveDefiniteError, match="free"):
        result.require()


def test_inverted_elements_are_said():
    """A failed factorization of a state with elements inside out names them."""
    robot = Robot(TetBody(MESH, Corotational(E=1e5, nu=0.3), fixed=MESH.where(x_below=0)))
    state = robot.rest()
    state.x[:] *= [0.2, 1, -1]
    cause = diagnosis(robot.equations.factor(state.pose, robot.loads(state.efforts)))
    assert isinstance(cause, InvertedElementError)
    assert cause.evidence["tets"][0] == 0
    state.x[5] = np.nan
    cause = diagnosis(robot.equations.factor(state.pose, robot.loads(state.efforts)))
    assert "node 5 is at" in str(cause)


@pytest.mark.parametrize(
    ("action", "message"),
    [
        (lambda r: r.impose("push", Point(near=(0, 0, 0)), effort=0), "already a port 'push'"),
        (lambda r: r.impose("new", "rope", effort=0), "is a str, not a port"),
        (lambda r: r.impose("new", Point(near=(0, 0, 0)), effort=0, body="leg"), "is on body 'leg'"),
        (lambda r: r.impose("new", Point(near=(0, 0, 0)), effort=float("nan")), "effort of 'new' is nan"),
        (lambda r: r.set_effort("psh", 1.0), "no port 'psh'"),
        (lambda r: Robot(), "at least one body"),
        (lambda r: r.set_effort("tip", 1.0), "is a sensor, which has no effort"),
        (lambda r: r.displacement(r.rest(), "tpi"), "no port 'tpi'"),
        (lambda r: r.linearize(r.rest()).model.rows("tpi"), "no port 'tpi'"),
        (lambda r: r.linearize(r.rest(), tangent="exakt"), "tangent is 'exakt'"),
        (lambda r: r.linearize(r.rest(), h=-0.1), "time step is -0.1"),
        (lambda r: Robot(r.bodies[0], gravity=(0, 1)), "gravity is"),
    ],
)
def test_bad_input_is_named(action, message):
    """Each mistake in describing a robot raises an InputError that names it."""
    with pytest.raises(InputError, match=message):
        action(loaded_robot())
