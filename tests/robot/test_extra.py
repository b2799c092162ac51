"""Rows that come and go: their compliance, how they are followed, held by steps, and what they cost to bring in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from pliant import Cable, Corotational, Dynamics, ExtraRows, NeoHookean, Point, Robot, State, Statics, TetBody, make
from pliant.errors import InputError
from pliant.motion import Status
from pliant.motion.held import Held
from pliant.robot import equations as equations_module

G = 9.81
MESH = make.box((0.1, 0.016, 0.016), (8, 2, 2))


def arm(*, rigid=False, law=None):
    """An arm clamped at one end, with a taut cable, and with its other end rigid if wanted."""
    law = NeoHookean(E=200e3, nu=0.4) if law is None else law
    end = {"end": MESH.where(x_above=0.1)} if rigid else {}
    body = TetBody(MESH, law, density=1100, fixed=MESH.where(x_below=0), damping=(0.5, 0.02), rigid=end)
    robot = Robot(body, gravity=(0, 0, -G))
    cable = Cable([(x, 0.008, 0.014) for x in np.linspace(0.005, 0.095, 5)], pull=(-0.02, 0.008, 0.014))
    robot.impose("rope", cable, effort=1.0)
    robot.sense("tip", Point(near=(0.1, 0.008, 0.008)))
    return robot


def some_rows(rng, count=4, each=3, **options):
    """Rows on nodes of the free half, some of them at the very end, with weights that sum to one."""
    nodes = rng.choice(np.flatnonzero(MESH.nodes[:, 0] > 0.05), (count, each))
    nodes[0, 0] = np.flatnonzero(MESH.nodes[:, 0] > 0.099)[0]
    weights = rng.uniform(0.2, 1.0, (count, each))
    directions = rng.normal(size=(count, 3))
    return ExtraRows.of(
        nodes,
        weights / weights.sum(axis=1, keepdims=True),
        directions / np.linalg.norm(directions, axis=1, keepdims=True),
        **options,
    )


def pushed(rows, efforts, **options):
    """The arm in equilibrium with the same forces on its nodes by ports: a `Point` with an effort at every node."""
    robot = arm(**options)
    force = rows.force(np.asarray(efforts), len(MESH.nodes))
    for k, node in enumerate(np.unique(rows.nodes)):
        robot.impose(f"node {k}", Point(near=MESH.nodes[node]), effort=force[node])
    return Statics(robot, tolerance=1e-12).solve().require().state


@pytest.mark.parametrize("rigid", [False, True])
def test_compliance_of_extra_rows_is_the_slope_of_the_equilibrium(rigid, rng):
    """W of ports and extra rows against central differences of equilibria with the same forces brought on by ports."""
    robot, rows = arm(rigid=rigid), some_rows(rng)
    state = Statics(robot, tolerance=1e-12).solve().require().state
    model = robot.linearize(state, extra=rows).model
    assert model.names[-4:] == ("extra.0", "extra.1", "extra.2", "extra.3")
    assert model.slices["extra"] == slice(4, 8)
    assert model.delta[4:] == pytest.approx(rows.at(state.x), abs=1e-15)
    assert np.abs(model.W - model.W.T).max() <= 1e-10 * np.abs(model.W).max()
    assert np.abs(model.W[:4, :4] - robot.linearize(state).model.W).max() <= 1e-12 * np.abs(model.W).max()
    size = 1e-4
    for column in range(4):
        ends = [
            replace(state, pose=pushed(rows, sign * size * np.eye(4)[column], rigid=rigid).pose) for sign in (1, -1)
        ]
        moved = [
            np.concatenate([*(robot.displacement(end, name) for name in robot.ports), rows.at(end.x)]) for end in ends
        ]
        slope = (moved[0] - moved[1]) / (2 * size)
        assert np.abs(slope - model.W[:, 4 + column]).max() < 1e-5 * np.abs(slope).max()


def test_a_model_under_efforts_of_extra_rows_is_consistent(rng):
    """At an equilibrium that extra rows hold, the model predicts with their efforts where they are, and W is the same slope."""
    robot, rows = arm(), some_rows(rng)
    efforts = np.array([0.02, -0.01, 0.03, 0.01])
    given = some_rows(np.random.default_rng(7), limits=np.stack([efforts, efforts], axis=1))
    state = Statics(robot, tolerance=1e-12).solve(extra=given).require().state
    assert state.extra == pytest.approx(efforts)
    assert np.abs(state.x - pushed(rows, efforts).x).max() < 1e-9
    model = robot.linearize(state, extra=given).model
    assert model.efforts[4:] == pytest.approx(efforts)
    assert model.predicted(model.efforts) == pytest.approx(model.delta, abs=1e-10)


def test_extra_rows_are_followed(rng):
    """follow with their efforts: the state carries them, the model's displacements come true, the rest to second order."""
    robot, rows = arm(), some_rows(rng)
    state = Statics(robot, tolerance=1e-12).solve().require().state
    errors = []
    for size in (0.01, 0.005):
        here = robot.linearize(state, extra=rows)
        efforts = np.concatenate([state.efforts, size * np.array([1.0, -0.5, 1.0, 0.5])])
        after, share, *_ = here.follow(efforts)
        assert share == 1.0
        assert np.array_equal(after.extra, efforts[4:])
        assert np.array_equal(after.efforts, efforts[:4])
        assert rows.at(after.x) == pytest.approx(here.model.predicted(efforts)[4:], abs=1e-12)
        errors.append(np.abs(after.x - pushed(rows, efforts[4:]).x).max())
    assert errors[0] < 1e-3
    assert errors[1] < 0.3 * errors[0]


def test_over_a_time_step_extra_rows_do_what_the_step_does(rng):
    """linearize(h=) with extra rows predicts the linearized step of dynamics in which they have those efforts."""
    robot = arm()
    efforts = np.array([0.02, -0.01, 0.03, 0.01])
    rows = some_rows(rng)
    given = ExtraRows.of(rows.nodes, rows.weights, rows.directions, limits=np.stack([efforts, efforts], axis=1))
    state = robot.rest()
    here = robot.linearize(state, h=0.01, extra=rows)
    after = here.follow(np.concatenate([state.efforts, efforts])).state
    step = Dynamics(robot, 0.01).step(state, extra=given).require().state
    assert step.extra == pytest.approx(efforts)
    assert np.abs(step.x - after.x).max() < 1e-12
    assert rows.at(step.x) == pytest.approx(
        here.model.predicted(np.concatenate([state.efforts, efforts]))[4:], abs=1e-12
    )


def test_held_extra_rows_are_held_points():
    """Three extra rows that hold a node where it is do what an imposed displacement of a Point there does."""
    node = int(np.linalg.norm(MESH.nodes - (0.1, 0.008, 0), axis=1).argmin())
    place = MESH.nodes[node]
    rows = ExtraRows.of(np.full((3, 1), node), np.ones((3, 1)), np.eye(3), displacement=place)
    state = Statics(arm(), tolerance=1e-11).solve(extra=rows).require().state
    other = arm()
    other.impose("nail", Point(near=place), displacement=place)
    held = Statics(other, tolerance=1e-11).solve().require().state
    assert np.abs(state.x - held.x).max() < 1e-9
    assert state.extra == pytest.approx(other.effort(held, "nail"), abs=1e-7)
    assert state.x[node] == pytest.approx(place, abs=1e-10)


def test_a_floor_pushes_an_arm_and_a_ceiling_that_it_does_not_touch_is_not_there():
    """An arm that hangs down is held at the floor's height by a force upwards; rows that it does not touch have none."""
    robot = arm()
    robot.set_effort("rope", 0.0)
    free = Statics(robot).solve().require().state
    ends = np.flatnonzero(MESH.nodes[:, 0] > 0.099)
    low = free.x[ends, 2].min()
    up, count = np.tile([0, 0, 1.0], (len(ends), 1)), len(ends)
    floor = ExtraRows.of(ends[:, None], np.ones((count, 1)), up, origins=low + 0.002, limits=(0, np.inf))
    state = Statics(robot).solve(extra=floor).require().state
    assert (state.extra >= 0).all()
    assert state.extra.sum() > 0.01
    assert floor.at(state.x).min() >= -1e-9
    assert np.abs(state.extra * floor.at(state.x)).max() < 1e-10
    weight = G * robot.equations.masses.sum()
    assert robot.reactions(state)[:, 2].sum() + state.extra.sum() == pytest.approx(weight, rel=0.2)
    ceiling = ExtraRows.of(ends[:, None], np.ones((count, 1)), -up, origins=-0.1, limits=(0, np.inf))
    untouched = Statics(robot).solve(extra=ceiling).require().state
    assert not untouched.extra.any()
    assert np.abs(untouched.x - free.x).max() < 1e-9


BLOCK = make.box((0.04, 0.04, 0.02), (4, 4, 2))
FEET = [int(np.linalg.norm(BLOCK.nodes - p, axis=1).argmin()) for p in ((0, 0, 0), (0.04, 0, 0), (0.02, 0.04, 0))]


def block():
    body = TetBody(BLOCK, Corotational(E=200e3, nu=0.4), density=1100, damping=(0.0, 0.02))
    return Robot(body, gravity=(0, 0, -G))


def floor_under(nodes, height=-0.01):
    """One row per node: how high it is above a floor [m], and never less than nothing."""
    nodes = np.atleast_1d(nodes)
    up = np.tile([0.0, 0.0, 1.0], (len(nodes), 1))
    return ExtraRows.of(nodes[:, None], np.ones((len(nodes), 1)), up, origins=height, limits=(0, np.inf))


@pytest.mark.parametrize("method", ["linearized", "newton"])
def test_a_block_falls_on_three_rows_and_rests(method):
    """It falls freely, lands, never goes below nor is pulled, and ends with its weight on the three, by their levers."""
    robot, floor = block(), floor_under(FEET)
    motion, state = Dynamics(robot, 0.005, method=method), robot.rest()
    masses = robot.equations.masses
    for k in range(200):
        state = motion.step(state, extra=floor).require().state
        assert (state.extra >= 0).all(), "a floor does not pull"
        assert floor.at(state.x).min() > -1e-8
        if k == 6:
            assert not state.extra.any()
            assert masses @ (state.x - robot.rest().x)[:, 2] / masses.sum() == pytest.approx(
                -0.5 * G * 0.005**2 * (7**2 + 1)
            )
    assert np.abs(state.v).max() < 1e-9
    assert state.extra.sum() == pytest.approx(G * masses.sum(), rel=1e-9)
    middle = masses @ state.x / masses.sum()
    assert state.extra @ state.x[FEET] == pytest.approx(
        [*(state.extra.sum() * middle[:2]), -0.01 * state.extra.sum()], rel=1e-6
    )
    alone = motion.step(state).require().state
    assert alone.extra.shape == (0,)
    assert alone.v[:, 2].max() < 0, "without its floor it falls again"


def test_another_number_of_rows_at_every_step(monkeypatch):
    """A floor whose rows are those that are near: k changes from step to step, states carry k efforts, and there is one
    symbolic analysis for all."""
    made, plain = [], equations_module.Cholesky
    monkeypatch.setattr(equations_module, "Cholesky", lambda *a, **o: made.append(1) or plain(*a, **o))
    robot = block()
    motion, state = Dynamics(robot, 0.005), robot.rest()
    bottom, counts = BLOCK.where(z_below=0), set()
    for _ in range(120):
        near = bottom[state.x[bottom, 2] < -0.01 + 0.002 + 0.005 * np.abs(state.v[bottom, 2])]
        floor = floor_under(near)
        state = motion.step(state, extra=floor).require().state
        assert len(state.extra) == len(near)
        assert (state.extra >= 0).all()
        counts.add(len(near))
        robot.linearize(state, h=0.005, extra=floor_under(bottom[: 1 + len(counts)]))
    assert len(counts) > 1
    assert len(made) == 1
    assert state.extra.sum() == pytest.approx(G * robot.equations.masses.sum(), rel=1e-6)


def test_efforts_of_extra_rows_survive_the_disk(tmp_path):
    """save and load keep them, and a state without them has none."""
    robot, floor = block(), floor_under(FEET, 0.0)
    state = Dynamics(robot, 0.005).step(robot.rest(), extra=floor).require().state
    assert state.extra.sum() > 0
    state.save(tmp_path / "state")
    assert np.array_equal(State.load(tmp_path / "state").extra, state.extra)
    assert robot.rest().extra.shape == (0,)


def test_rows_where_nothing_moves_hold_nothing():
    """A row on a fixed node has no compliance: whatever it asks for, it gets no effort, and the rest is as without it."""
    robot = arm()
    fixed = MESH.where(x_below=0)[:2]
    rows = ExtraRows.of(fixed[:, None], np.ones((2, 1)), np.tile([0, 0, 1.0], (2, 1)), origins=0.1, limits=(0, np.inf))
    state = Statics(robot).step(robot.rest(), extra=rows).require().state
    assert np.isfinite(state.extra).all()
    assert np.abs(state.x - Statics(robot).step(robot.rest()).require().state.x).max() < 1e-12


def test_rows_that_are_far_off_are_reached_in_parts():
    """A floor 70 mm above the end of the arm: one linearized step is not believed, a few parts of it are; a floor far below
    is no way to go."""
    robot = arm()
    robot.set_effort("rope", 0.0)
    ends = np.flatnonzero(MESH.nodes[:, 0] > 0.099)
    above, below = floor_under(ends, 0.07), floor_under(ends, -0.07)
    state = robot.rest()
    result = Dynamics(robot, 0.01).step(state, extra=above).require()
    assert result.status is Status.SHORTENED
    assert result.iterations <= 8
    assert above.at(result.state.x).min() > -1e-9
    assert (result.state.extra >= 0).all()
    efforts = state.efforts_with(len(ends))
    assert Held(robot, state, above).way_to_go(state.pose, efforts) == pytest.approx(above.at(state.x))
    assert not Held(robot, state, below).way_to_go(state.pose, efforts).any()
    steps = Statics(robot, load_steps=4).solve(extra=above).require().state
    assert steps.extra.sum() == pytest.approx(Statics(robot).solve(extra=above).require().state.extra.sum(), rel=1e-6)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"nodes": [[0.5], [1.5]]}, "nodes"),
        ({"nodes": [0, 1]}, r"nodes \(1, 2\)"),
        ({"nodes": [[-1], [1]]}, "node -1"),
        ({"weights": [[1.0, 1.0], [1.0, 1.0]]}, r"weights \(2, 2\)"),
        ({"weights": [["a"], [1.0]]}, "weights"),
        ({"directions": [[0, 0, 1.0]]}, r"directions \(1, 3\)"),
        ({"directions": [[0, 0], [0, 1]]}, r"directions \(2, 2\)"),
        ({"directions": [[0, 0, np.nan], [0, 0, 1]]}, "number that is none"),
        ({"origins": [0.0, 0.0, 0.0]}, r"origins .*\(3,\)"),
        ({"displacement": [[0.0], [0.0]]}, r"displacement .*\(2, 1\)"),
        ({"displacement": np.inf}, "number that is none"),
        ({"limits": (1.0, 0.0)}, "limits that contradict"),
        ({"limits": (np.nan, 0.0)}, "limits that contradict"),
        ({"limits": (0.0, 1.0, 2.0)}, r"limits .*\(3,\)"),
    ],
)
def test_rows_that_make_no_sense_are_refused(change, message):
    """Each wrong shape and each number that is none raises an InputError that names it."""
    given = {"nodes": [[0], [1]], "weights": [[1.0], [1.0]], "directions": [[0, 0, 1.0], [0, 1.0, 0]]} | change
    with pytest.raises(InputError, match=message):
        ExtraRows.of(given.pop("nodes"), given.pop("weights"), given.pop("directions"), **given)


def test_rows_on_nodes_that_there_are_not_are_refused():
    """A row on node 9999 of a robot of 81 is an InputError wherever rows are taken."""
    robot, rows = arm(), floor_under([9999])
    for use in (
        lambda: robot.linearize(robot.rest(), extra=rows),
        lambda: Statics(robot).solve(extra=rows),
        lambda: Statics(robot).step(robot.rest(), extra=rows),
        lambda: Dynamics(robot, 0.01).step(robot.rest(), extra=rows),
        lambda: Dynamics(robot, 0.01, method="newton").step(robot.rest(), extra=rows),
    ):
        with pytest.raises(InputError, match="node 9999"):
            use()
